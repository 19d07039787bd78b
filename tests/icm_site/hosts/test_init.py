"""Set up, set up again, taken out: the same bytes, for 17 tools on three systems."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from icm_site.errors import Unavailable
from icm_site.hosts import catalog, finding, install, jsonc, manifest, removal
from icm_site.hosts.edits import ALREADY, CONFIGURED, OTHER, RENEWED, STALE, Item
from icm_site.hosts.install import BAD
from icm_site.hosts.shapes import WHOLE
from tests.icm_site.hosts import homes
from tests.icm_site.hosts.homes import HANDS, SYSTEMS, Home

hands = pytest.mark.parametrize("hand", HANDS)
systems = pytest.mark.parametrize("system", SYSTEMS)


def read(path: Path) -> Any:
    text = path.read_text("utf-8-sig")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    return yaml.safe_load(text) if "yaml" in path.suffix or "yml" in path.suffix else (
        jsonc.read(text)
    )  # fmt: skip


def servers(made: Home) -> Iterator[tuple[str, Any]]:
    """Tool and MCP entry, read by parsers that have no part in writing it."""
    for tool in catalog.TOOLS:
        for part in finding.items(tool, made.setup, made.machine, ["mcp"]):
            assert isinstance(part, Item)
            data = read(part.path)
            if part.kind == "yaml-item":
                yield (
                    tool.name,
                    next(i for i in data["mcpServers"] if i["name"] == "icm"),
                )
            else:
                yield tool.name, data[part.key[0]][part.key[1]]


@systems
@hands
def test_init_and_uninstall_leave_every_byte_as_it_was(
    tmp_path: Path, system: str, hand: str
) -> None:
    made = homes.with_all_tools(tmp_path, system)
    homes.fill(made, hand)
    before = made.snapshot()
    theirs = {p: read(p) for t, p in made.targets() if t.kind == "json"}

    done = made.init()
    assert {line.state for line in done.lines} == {CONFIGURED}, done.lines
    assert {line.item.tool for line in done.lines} == set(catalog.BY_NAME)
    check_entries(made, theirs)

    again = made.init()
    assert again.changes == ()
    assert {line.state for line in again.lines} == {ALREADY}

    steps = made.uninstall()
    assert {step.state for step in steps} <= {removal.RESTORED, removal.DELETED}
    assert made.snapshot() == before
    assert not (made.data / manifest.NAME).exists()


@systems
def test_a_home_without_any_file_of_a_tool_is_left_without_one(
    tmp_path: Path, system: str
) -> None:
    made = homes.with_all_tools(tmp_path, system)
    before = made.snapshot()
    made.init()
    made.uninstall()
    assert made.snapshot() == before


def check_entries(made: Home, theirs: dict[Path, Any]) -> None:
    """Every entry runs the program, and what others wrote is as it was."""
    found = dict(servers(made))
    assert found.keys() == set(catalog.BY_NAME) - {"aider"}
    for tool, entry in found.items():
        words = entry["command"]
        words = words if isinstance(words, list) else [words, *entry["args"]]
        assert words == [made.setup.program.icm, "serve"], tool
    for path, old in theirs.items():
        new = read(path)
        for key, value in old.items():
            if not isinstance(value, dict):
                assert new[key] == value
            elif "other" in value:
                assert new[key]["other"] == value["other"]


@pytest.mark.parametrize("hand", [h for h in HANDS if h not in ("empty", "blank")])
def test_without_a_manifest_our_entries_are_found_by_their_content(
    tmp_path: Path, hand: str
) -> None:
    made = homes.with_all_tools(tmp_path)
    homes.fill(made, hand)
    before = {path: read(path) for t, path in made.targets() if t.kind == "json"}
    made.init()
    (made.data / manifest.NAME).unlink()
    made.uninstall()
    ours = made.setup.program
    for path, data in made.snapshot().items():
        if data is not None and ".icm-bak-" not in path:
            text = data.decode()
            assert ours.icm not in text and "hook_client" not in text, path
            assert "icm:start" not in text, path
    if hand != "empty entries":  # whose empty containers cannot be told from ours
        assert {path: read(path) for path in before} == before


@pytest.mark.parametrize("hand", ["plain", "tabs", "crlf", "mark", "comments"])
def test_a_file_that_was_changed_since_loses_our_entries_alone(
    tmp_path: Path, hand: str
) -> None:
    made = homes.with_all_tools(tmp_path)
    homes.fill(made, hand)
    before = made.snapshot()
    made.init()
    kinds = ("json", "hooks")
    edited = {line.item.path for line in made.init().lines if line.item.kind in kinds}
    for path in edited:
        data = path.read_bytes()
        path.write_bytes(data.replace("naïve".encode(), b"changed"))
    steps = {step.path: step for step in made.uninstall()}
    for path in edited:
        assert steps[path].state == removal.REMOVED
        name = str(path.relative_to(made.machine.home()))
        wanted = before[name]
        assert wanted is not None
        assert path.read_bytes() == wanted.replace("naïve".encode(), b"changed"), name
        assert "backup kept" in steps[path].note


WRONG = {
    "json": [b"[]", b'{"%s": []}', b'{"%s": 3}', b'{"%s": {"icm": "x"}}', b"{oops",
             "{}".encode("utf-16"), b'{"a": "\xff"}', b'{"a": 1} {}', b"[" * 9999],
    "hooks": [b'{"hooks": []}', b'{"hooks": "x"}'],
    "toml": [b"mcp_servers = 3", b"[[mcp_servers]]\na = 1", b"oops", b"\xff"],
    "yaml-item": [b"- a", b"mcpServers: {a: 1}", b"mcpServers: 3", b"a: [", b"\x00"],
    "yaml-read": [b"- a", b"read: {a: 1}", b"a: ["],
    "block": [b"\xff\xfe# Mine"],
}  # fmt: skip


@systems
@pytest.mark.parametrize("number", range(max(map(len, WRONG.values()))))
def test_a_file_of_a_wrong_shape_is_named_and_not_touched(
    tmp_path: Path, system: str, number: int
) -> None:
    made = homes.with_all_tools(tmp_path, system)
    for target, path in made.targets():
        if target.kind in WHOLE:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        bad = WRONG[target.kind][number % len(WRONG[target.kind])]
        if target.kind != "hooks" or not path.exists():
            key = target.key[0].encode() if target.key else b""
            path.write_bytes(bad.replace(b"%s", key))
    before = made.snapshot()
    done = made.init()
    bad_lines = [line for line in done.lines if line.item.kind not in WHOLE]
    assert {line.state for line in bad_lines} == {BAD}
    assert all(line.note for line in bad_lines)
    after = made.snapshot()
    assert {path: after[path] for path in before} == before
    made.uninstall()
    assert made.snapshot() == before


def test_one_wrong_shape_does_not_keep_the_others_from_being_set_up(
    tmp_path: Path,
) -> None:
    made = homes.with_all_tools(tmp_path)
    bad = made.machine.path("{gemini}/settings.json")
    bad.write_text('{"mcpServers": {}, "hooks": 7}')
    lines = made.init().lines
    assert {line.item.path for line in lines if line.state == BAD} == {bad}
    assert bad.read_text() == '{"mcpServers": {}, "hooks": 7}'
    assert {line.item.tool for line in lines if line.state == CONFIGURED} >= {
        "codex-cli"
    }


@pytest.mark.parametrize(
    ("variable", "tool", "files"),
    [
        ("CLAUDE_CONFIG_DIR", "claude-code", (".claude.json", "settings.json")),
        ("CODEX_HOME", "codex-cli", ("config.toml", "hooks.json", "AGENTS.md")),
        ("COPILOT_HOME", "copilot-cli", ("mcp-config.json", "hooks/icm.json",
                                         "skills/recall/SKILL.md")),
        ("GEMINI_CLI_HOME", "gemini-cli", (".gemini/settings.json",
                                           ".gemini/policies/icm.toml")),
        ("CLINE_DATA_DIR", "cline", ("settings/cline_mcp_settings.json",)),
        ("CONTINUE_GLOBAL_DIR", "continue", ("config.yaml",)),
        ("XDG_CONFIG_HOME", "opencode", ("opencode/opencode.json",)),
    ],
)  # fmt: skip
def test_a_folder_that_a_variable_moves_is_the_one_that_is_written(
    tmp_path: Path, variable: str, tool: str, files: tuple[str, ...]
) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    made = homes.with_all_tools(tmp_path, **{variable: str(moved)})
    before = made.snapshot()
    made.init()
    for file in files:
        assert (moved / file).is_file(), file
    assert tool in {line.item.tool for line in made.init().lines}
    made.uninstall()
    assert made.snapshot() == before
    assert [p for p in moved.rglob("*") if p.is_file()] == []


def test_only_tools_that_are_here_are_set_up(tmp_path: Path) -> None:
    made = homes.home(tmp_path)
    assert finding.here(made.machine) == []
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "codex").touch(mode=0o755)
    (programs / "gemini").touch(mode=0o644)  # not executable
    made = homes.home(tmp_path, PATH=str(programs))
    assert [tool.name for tool in finding.here(made.machine)] == ["codex-cli"]
    made.init()
    assert made.machine.path("{codex}/config.toml").is_file()
    assert not made.machine.path("{gemini}").exists()


@pytest.mark.parametrize("ending", [".exe", ".cmd", ".ps1"])
def test_programs_on_windows_are_found_by_their_endings(
    tmp_path: Path, ending: str
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / f"claude{ending}").touch()
    made = homes.home(tmp_path, "win32", PATH=f"C:/x;{programs}")
    assert [tool.name for tool in finding.here(made.machine)] == ["claude-code"]


def moved(made: Home) -> Home:
    """The same home after the program moved to another place."""
    ours = made.setup.program
    new = ours._replace(icm="/new/bin/icm", python="/new/bin/python",
                        hook="/new/lib/icm_site/hook_client.py")  # fmt: skip
    return made._replace(setup=made.setup._replace(program=new))


def there(made: Home, folder: Path) -> Home:
    """The same home with a program that is there."""
    ours = made.setup.program
    program = ours._replace(icm=f"{folder}/icm", python=f"{folder}/python",
                            hook=f"{folder}/icm_site/hook_client.py")  # fmt: skip
    for file in (program.icm, program.python, program.hook):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).touch()
    return made._replace(setup=made.setup._replace(program=program))


def test_entries_of_another_program_that_is_there_are_stale_until_forced(
    tmp_path: Path,
) -> None:
    made = there(homes.with_all_tools(tmp_path), tmp_path / "old place")
    homes.fill(made, "comments")
    before = made.snapshot()
    made.init()
    new = moved(made)
    told = new.init()
    stale = [line for line in told.lines if line.state == STALE]
    assert {line.item.kind for line in stale} >= {"json", "toml", "yaml-item", "hooks"}
    assert all("--force" in line.note for line in stale)
    new.init(force=True)
    assert {line.state for line in new.init().lines} == {ALREADY}
    old = made.setup.program
    for path, data in new.snapshot().items():
        if data is not None and ".icm-bak-" not in path:
            assert old.icm.encode() not in data and old.hook.encode() not in data, path
    new.uninstall()
    assert new.snapshot() == before


def test_entries_of_a_program_that_is_gone_are_renewed(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    homes.fill(made, "comments")
    before = made.snapshot()
    made.init()
    new = moved(made)
    kinds = {line.item.kind for line in new.init().lines if line.state == RENEWED}
    assert kinds >= {"json", "toml", "yaml-item", "hooks", "file", "script"}
    assert {line.state for line in new.init().lines} == {ALREADY}
    new.uninstall()
    assert new.snapshot() == before


def test_entries_that_init_did_not_write_are_not_renewed(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    path = made.machine.path("{cursor}/mcp.json")
    path.write_text('{"mcpServers": {"icm": {"command": "/a/icm", "args": ["serve"]}}}')
    (line,) = [line for line in made.init().lines if line.item.path == path]
    assert (line.state, "/a/icm" in path.read_text()) == (STALE, True)


def test_a_path_that_cannot_be_looked_at_is_not_gone(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    made.init()
    path = made.machine.path("{cursor}/mcp.json")
    odd = "/" + "x" * 300 + "/icm"
    entry = {"mcpServers": {"icm": {"command": odd, "args": ["serve"]}}}
    path.write_text(json.dumps(entry))
    (line,) = [line for line in made.init().lines if line.item.path == path]
    assert (line.state, read(path)) == (STALE, entry)


def test_what_a_person_added_to_our_entry_outlives_its_renewal(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    made.init()
    cursor = made.machine.path("{cursor}/mcp.json")
    codex = made.machine.path("{codex}/config.toml")
    cursor.write_text(
        cursor.read_text().replace('"env": {}', '"env": {"ICM_DB": "/x"}')
    )
    codex.write_text(codex.read_text() + 'startup_timeout_sec = 20\n\n[mcp_servers.icm.'
                     'env]\nICM_DB = "/x"\n')  # fmt: skip
    assert {line.state for line in made.init().lines} == {ALREADY}
    moved(made).init(force=True)
    assert read(cursor)["mcpServers"]["icm"]["env"] == {"ICM_DB": "/x"}
    entry = read(codex)["mcp_servers"]["icm"]
    assert entry["env"] == {"ICM_DB": "/x"} and entry["startup_timeout_sec"] == 20
    assert entry["command"] == "/new/bin/icm"


def test_a_server_of_somebody_else_by_our_name_is_left(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    path = made.machine.path("{cursor}/mcp.json")
    path.write_text('{"mcpServers": {"icm": {"command": "image-manager"}}}')
    (line,) = [line for line in made.init().lines if line.item.path == path]
    assert (line.state, "image-manager" in line.note) == (OTHER, True)
    made.uninstall()
    assert "image-manager" in path.read_text()


def test_a_file_of_a_persons_own_in_the_place_of_a_skill_is_left(
    tmp_path: Path,
) -> None:
    made = homes.with_all_tools(tmp_path)
    path = made.machine.path("{claude}/skills/recall/SKILL.md")
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    (line,) = [line for line in made.init().lines if line.item.path == path]
    assert line.state == OTHER
    made.uninstall()
    assert path.read_text() == "mine"


def test_a_text_of_an_older_version_is_replaced_by_itself(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    made.init()
    skill = made.machine.path("{claude}/skills/recall/SKILL.md")
    rules = made.machine.path("{claude}/CLAUDE.md")
    new = made._replace(
        setup=made.setup._replace(program=made.setup.program._replace(word="/new/icm"))
    )
    states = {line.item.path: line.state for line in new.init().lines}
    assert states[skill] == states[rules] == RENEWED
    skill.write_text(skill.read_text() + "mine")
    states = {line.item.path: line.state for line in made.init().lines}
    assert states[skill] == STALE  # a person changed it


@pytest.mark.parametrize(
    "command",
    ["icm hook start", "/usr/local/bin/icm hook start --tool claude-code",
     '"C:/Program Files/icm.exe" hook start', "icm.exe hook start"],
)  # fmt: skip
def test_older_hooks_count_as_there_and_are_taken_out(
    tmp_path: Path, command: str
) -> None:
    made = homes.with_all_tools(tmp_path)
    path = made.machine.path("{claude}/settings.json")
    old = {"type": "command", "command": command}
    theirs = {"type": "command", "command": "/usr/bin/icmhook hook start"}
    path.write_text(
        jsonc.put("", ["hooks", "SessionStart"], [{"hooks": [old, theirs]}])
    )
    made.init()
    groups = read(path)["hooks"]["SessionStart"]
    assert [h["command"] for g in groups for h in g["hooks"]] == [
        command, theirs["command"]
    ]  # fmt: skip
    (made.data / manifest.NAME).unlink()
    made.uninstall()
    assert read(path) == {"hooks": {"SessionStart": [{"hooks": [theirs]}]}}


def test_disabling_hooks_takes_out_nothing_else(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    homes.fill(made, "comments")
    before = made.snapshot()
    made.init()
    made.disable_hooks()
    for path, data in made.snapshot().items():
        if data is not None and ".icm-bak-" not in path:
            assert b"hook_client" not in data, path
    assert dict(servers(made)).keys() == set(catalog.BY_NAME) - {"aider"}
    assert made.machine.path("{claude}/skills/recall/SKILL.md").is_file()
    assert made.disable_hooks() == []
    made.uninstall()
    left = made.snapshot()
    assert {path: left[path] for path in before} == before


def test_links_are_followed_and_permissions_stay(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    real = dotfiles / "claude.json"
    real.write_text('{"a": 1}')
    real.chmod(0o640)
    link = made.machine.path("{claude-json}")
    link.symlink_to(real)
    made.init(modes=("mcp",))
    assert link.is_symlink() and "icm" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    (copy,) = dotfiles.glob("claude.json.icm-bak-*")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o640
    made.uninstall()
    assert link.is_symlink() and real.read_text() == '{"a": 1}'
    assert list(dotfiles.iterdir()) == [real]


class Crash(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("step", range(0, 60, 3))
def test_a_crash_at_any_step_leaves_whole_files_that_can_be_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    made = homes.with_all_tools(tmp_path)
    homes.fill(made, "plain")
    before = made.snapshot()
    calls = 0

    def crashing(original: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == step:
                raise Crash
            return original(*arguments, **named)

        return call

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", crashing(os.fsync))
        patched.setattr(Path, "replace", crashing(Path.replace))
        try:
            made.init()
        except Crash:
            assert calls == step
    whole = made.snapshot()
    for path, data in before.items():
        assert whole[path] == data or (whole[path] or b"").count(b"icm"), path
    made.uninstall()
    left = made.snapshot()
    assert {path: left[path] for path in before} == before
    assert [path for path in left.keys() - before.keys() if left[path]] == []


def test_a_file_that_its_tool_writes_meanwhile_keeps_both(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    path = made.machine.path("{claude-json}")
    path.write_text('{"a": 1}')
    tool = catalog.BY_NAME["claude-code"]
    parts = [p for p in finding.items(tool, made.setup, made.machine, ["mcp"])
             if isinstance(p, Item)]  # fmt: skip
    known = manifest.load(made.data)
    (change,) = install.plan(parts, known).changes
    path.write_text('{"a": 2}')
    install.apply([change], known, now=homes.NOW)
    assert read(path)["a"] == 2 and "icm" in read(path)["mcpServers"]
    made.uninstall()
    assert path.read_text() == '{"a": 2}'


def test_a_manifest_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    made.init()
    (made.data / manifest.NAME).write_text("{oops")
    with pytest.raises(Unavailable, match="cannot be read"):
        made.init()


def test_continue_keeps_its_older_file_in_force(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    made.machine.path("{continue}/config.json").write_text("{}")
    made.init()
    assert not made.machine.path("{continue}/config.yaml").exists()


def test_the_codex_hook_after_each_call_can_be_left_out(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    made = made._replace(setup=made.setup._replace(codex_post=False))
    made.init()
    assert "PostToolUse" not in read(made.machine.path("{codex}/hooks.json"))["hooks"]


def test_files_of_the_project_are_written_only_on_request(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    made = made._replace(machine=made.machine._replace(cwd=work))
    made.init()
    assert list(work.iterdir()) == []
    made = made._replace(setup=made.setup._replace(project=True))
    made.init()
    made_there = [p.relative_to(work).as_posix() for p in work.rglob("*.md*")]
    assert sorted(made_there) == [
        ".cursor/rules/icm.mdc",
        ".devin/rules/icm.md",
        ".github/copilot-instructions.md",
    ]
    (hooks,) = work.rglob("*.json")
    assert hooks.relative_to(work).as_posix() == ".github/hooks/icm.json"
    made.uninstall()
    assert list(work.iterdir()) == []


def test_copilot_passes_on_the_variables_that_place_our_files(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path, XDG_DATA_HOME="/data")
    made = made._replace(setup=made.setup._replace(env=made.machine.env))
    made.init(modes=("mcp",))
    env = read(made.machine.path("{copilot}/mcp-config.json"))["mcpServers"]["icm"][
        "env"
    ]
    assert env == {"HOME": made.machine.env["HOME"], "XDG_DATA_HOME": "/data",
                   "USERPROFILE": made.machine.env["HOME"]}  # fmt: skip
    made.uninstall()


def test_a_program_in_a_folder_that_is_not_utf8_is_said_and_nothing_written(
    tmp_path: Path,
) -> None:
    made = homes.with_all_tools(tmp_path)
    before = made.snapshot()
    odd = made.setup.program._replace(icm="/opt/\udcff/icm")
    made = made._replace(setup=made.setup._replace(program=odd))
    lines = made.init(modes=("mcp",)).lines
    assert {line.state for line in lines if line.item.kind == "json"} == {BAD}
    made.uninstall()
    assert made.snapshot() == before


def test_links_that_lead_nowhere_are_named_or_followed(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    loop = made.machine.path("{claude-json}")
    loop.symlink_to(loop)
    dangling = made.machine.path("{cursor}/mcp.json")
    dangling.symlink_to(tmp_path / "later.json")
    (bad,) = [line for line in made.init().lines if line.state == BAD]
    assert bad.item.path == loop
    assert dangling.is_symlink() and "icm" in (tmp_path / "later.json").read_text()
    made.uninstall()
    assert dangling.is_symlink() and not (tmp_path / "later.json").exists()
