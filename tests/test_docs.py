"""The documentation knows everything there is, and shows only what there is."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from icm_site import __version__, cli, command_line, command_modules
from icm_site.conf_keys import KEYS
from icm_site.registry import COMMANDS, OPERATIONS, TOOLS
from memories import embedder
from memories.origin import HOSTS
from tests import examples, reference
from tests.conftest import Run

PROJECT = Path(__file__).resolve().parent.parent
README = PROJECT / "README.md"
PAGES = [
    README,
    PROJECT / "SECURITY.md",
    *sorted(PROJECT.glob("C*.md")),
    *sorted(PROJECT.glob("docs/*.md")),
]
# Words that stand for options.
OTHER_WORDS = {"help", "version"}
APPS = [app for app in settings.INSTALLED_APPS if (PROJECT / app).is_dir()]
SOURCES = [path for app in APPS for path in PROJECT.glob(f"{app}/**/*.py")]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
# A part of the project in code marks: a file, or a folder with a slash at its end.
PLACE = re.compile(
    rf"`((?:{'|'.join(APPS)}|tests|docs|templates|\.ci)/[\w/.-]*|manage\.py)`"
)

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text_of(name: str) -> str:
    return (PROJECT / name).read_text("utf-8")


def section(page: str, heading: str) -> str:
    """What stands below a heading, up to the next one of its level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    found = re.search(
        rf"^{re.escape(heading)}$(.*?)(?=^#{{1,{level}}} |\Z)", page, re.DOTALL | re.M
    )
    assert found, f"no heading {heading!r}"
    return found[1]


def test_the_readme_is_short() -> None:
    assert len(text_of("README.md").splitlines()) < 150


@pytest.mark.parametrize("part", reference.PARTS)
def test_each_derived_part_has_its_place(part: str) -> None:
    marker = f"<!-- {part}: python -m tests.reference -->"
    assert [page.name for page in PAGES if marker in page.read_text("utf-8")]


@pages
def test_the_derived_parts_are_up_to_date(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == reference.refreshed(text), "run python -m tests.reference"


def test_every_operation_is_documented() -> None:
    table = text_of("docs/architecture.md")
    assert [name for name in OPERATIONS if f"| `{name}` |" not in table] == []


def test_every_tool_and_argument_is_documented() -> None:
    page = text_of("docs/mcp.md")
    for name, (operation, tool) in TOOLS.items():
        body = section(page, f"### `{name}`")
        shown = operation.params.model_fields.keys() - tool.hidden
        assert [field for field in shown if f"`{field}`" not in body] == [], name


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_documented(words: tuple[str, ...]) -> None:
    assert section(text_of("docs/commands.md"), f"### `icm {' '.join(words)}`").strip()


@pytest.mark.parametrize("name", command_modules.COMMANDS)
def test_every_option_of_the_other_commands_is_documented(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    body = section(text_of("docs/commands.md"), f"### `icm {name}`")
    assert cli.main([name, "--help"]) == 0
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", capsys.readouterr().out))
    assert [option for option in options - {"--help"} if f"`{option}" not in body] == []


def test_every_global_option_is_documented() -> None:
    body = section(text_of("docs/commands.md"), "## Global options")
    assert [option for option in cli.GLOBALS if f"`{option}" not in body] == []


def test_every_setting_is_documented() -> None:
    table = section(text_of("docs/user-guide.md"), "## Configuration")
    assert [name for name in KEYS if f"| `{name}` |" not in table] == []


def test_every_variable_is_documented() -> None:
    body = section(text_of("docs/user-guide.md"), "## Variables")
    code = "\n".join(path.read_text("utf-8") for path in SOURCES)
    ours = set(re.findall(r'"(ICM_[A-Z_]+)"', code))
    folders = set(re.findall(r'"((?:XDG_[A-Z_]+|[A-Z]*APPDATA|TMPDIR))"', code))
    hosts = {mark for host in HOSTS for mark in (*host.marks, host.session) if mark}
    missing = [name for name in ours | folders | hosts if f"`{name}`" not in body]
    assert missing == []


def test_every_documented_variable_exists() -> None:
    body = section(text_of("docs/user-guide.md"), "## Variables")
    code = "\n".join(path.read_text("utf-8") for path in SOURCES)
    assert [name for name in re.findall(r"`(ICM_\w+)`", body) if name not in code] == []


@pages
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = [link for link in links(page) if not leads_somewhere(page, link)]
    assert dead == []


def links(page: Path) -> Iterator[str]:
    for link in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if "://" not in link:
            yield link


def leads_somewhere(page: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = page.parent / file if file else page
    if not target.exists():
        return False
    return not anchor or anchor in anchors(target)


def anchors(page: Path) -> set[str]:
    """The anchors that a forge gives to the headings of a page."""
    heads = HEADING.findall(FENCE.sub("", page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pages
def test_every_named_file_exists(page: Path) -> None:
    places = PLACE.findall(page.read_text("utf-8"))
    assert [place for place in places if not (PROJECT / place).exists()] == []


@pages
def test_every_shown_command_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    for words in shown_commands(text):
        check_command(words)
    known = (
        {words[0] for words in COMMANDS} | command_modules.COMMANDS.keys() | OTHER_WORDS
    )
    inline = re.findall(r"`icm ([a-z][\w-]*)", text)
    assert [word for word in inline if word not in known] == []


def shown_commands(page: str) -> Iterator[list[str]]:
    """The arguments of each `icm` in the shell blocks of a page."""
    for language, block in FENCE.findall(page):
        if language == "sh":
            lines = block.replace("\\\n", " ").splitlines()
        elif language == "console":
            lines = [e.command for e in examples.examples(f"```console\n{block}```")]
        else:
            continue
        for line in lines:
            yield from icm_calls(line)


def icm_calls(line: str) -> Iterator[list[str]]:
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    call: list[str] | None = None
    previous = ""
    for word in [*words, ";"]:
        if word in ("&&", ";", "|", "||"):
            if call:
                yield call
            call = None
        elif call is not None:
            call.append(word)
        elif word.endswith("/icm") or (word == "icm" and previous in START):
            call = []
        previous = word
    del previous


# What may stand before the name of the program.
START = ("", "&&", ";", "|", "manage.py", "--")


def check_command(words: list[str]) -> None:
    """Fail unless the command line takes these arguments."""
    rest = without_globals(words)
    if rest[:1] in (["--version"], ["-V"], ["--help"]):
        return
    if rest[0] in command_modules.COMMANDS:
        page = section(text_of("docs/commands.md"), f"### `icm {rest[0]}`")
        assert [w for w in rest if w.startswith("-") and f"`{w}" not in page] == []
        return
    if "--help" not in rest:
        command_line.parser(COMMANDS).parse_args(rest)


def without_globals(words: list[str]) -> list[str]:
    """The arguments without `--db PATH` and the switches beside it."""
    rest, skip = [], False
    for word in words:
        if not skip and word not in cli.GLOBALS:
            rest.append(word)
        skip = word == "--db"
    return rest


def test_ci_runs_the_tests_as_the_readme_does() -> None:
    run = re.compile(r"bin/python\"? (-m pytest .*)$", re.MULTILINE)
    (readme,) = run.findall(text_of("README.md"))
    (ci,) = run.findall(text_of(".ci/run"))
    assert readme == ci


def test_every_dependency_has_its_reason() -> None:
    table = section(text_of("docs/decisions.md"), "## Dependencies")
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    names = [re.split(r"[^\w.-]", line)[0] for line in project["dependencies"]]
    assert [name for name in names if not re.search(rf"\b{name}\b", table)] == []


def test_the_changelog_has_this_version() -> None:
    first = HEADING.findall(text_of("CHANGELOG.md"))[1]
    assert __version__ in first


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(bool(embedder.packaged_reason()), reason="no packaged model here")
@pytest.mark.parametrize("page", examples.PAGES, ids=lambda page: page.name)
def test_the_examples_do_what_they_show(
    page: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ICM_NO_EMBEDDINGS")

    def printed(*arguments: str) -> str:
        done = run(*arguments)
        return done.err + done.out

    for done in examples.replay(page.read_text("utf-8"), printed):
        shown = examples.masked(done.example.shown)
        assert examples.masked(done.printed) == shown, done.example.command
