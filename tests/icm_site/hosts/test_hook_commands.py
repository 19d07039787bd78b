"""Installed hook commands: what they run, and their silence when that is gone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from icm_site.hosts import finding, jsonc, program, texts
from icm_site.hosts.catalog import TOOLS
from icm_site.hosts.edits import Item, commands
from icm_site.hosts.program import Program
from icm_site.hosts.shapes import MODES
from tests.icm_site.hosts import homes
from tests.icm_site.hosts.homes import SYSTEMS, Home

SHELLS = [shell for shell in ("sh", "dash", "bash", "zsh") if shutil.which(shell)]
STUB = """#!/bin/sh
cat > /dev/null
printf '%s|' "$@"
"""
HOOK = "icm_site/hook_client.py"


def installed(made: Home) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Tool, event and entry of every hook that init writes."""
    for tool in TOOLS:
        for part in finding.items(tool, made.setup, made.machine, ["hook"]):
            if isinstance(part, Item) and part.kind == "hooks":
                for hook in part.value:
                    yield tool.name, hook.event, dict(hook.entry)


def in_shell(entry: dict[str, Any]) -> list[str]:
    """The commands of an entry that a POSIX shell runs."""
    return [c for c in commands(entry) if c.startswith("if [")]


def run(shell: str, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shell, "-c", command],
        input='{"prompt": "x"}', capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("shell", SHELLS)
def test_without_the_program_no_command_fails_or_says_anything(
    tmp_path: Path, shell: str
) -> None:
    made = homes.with_all_tools(tmp_path)
    ran = 0
    for tool, event, entry in installed(made):
        for command in in_shell(entry):
            done = run(shell, command)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (
                tool,
                event,
            )
            ran += 1
    assert ran == 7 + 5 + 6 + 7 + 6 + 4 + 1 + 3


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("folder", ["plain", "a b", "größe", "$HOME `id` \\ \"x\" 'y'"])
@pytest.mark.parametrize("gone", ["", "python", "hook", "broken"])
def test_a_command_runs_python_with_the_file_wherever_that_is(
    tmp_path: Path, shell: str, folder: str, gone: str
) -> None:
    python, hook = tmp_path / folder / "python", tmp_path / folder / HOOK
    hook.parent.mkdir(parents=True)
    if gone != "hook":
        hook.touch()
    if gone != "python":
        python.write_text("#!/bin/sh\nexit 1\n" if gone == "broken" else STUB)
        python.chmod(0o755)
    command = program.in_sh(Program("icm", str(python), str(hook)), "pre --tool x")
    done = run(shell, command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("" if gone else f"-I|-S|{hook}|pre|--tool|x|")


def test_a_link_to_a_python_that_was_removed_counts_as_gone(tmp_path: Path) -> None:
    hook = tmp_path / HOOK
    hook.parent.mkdir(parents=True)
    hook.touch()
    (tmp_path / "python").symlink_to(tmp_path / "removed")
    made = Program("icm", str(tmp_path / "python"), str(hook))
    done = run("sh", program.in_sh(made, "pre --tool x"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_entry_names_its_verb_and_its_tool_in_the_units_of_the_tool(
    tmp_path: Path, system: str
) -> None:
    made = homes.with_all_tools(tmp_path, system)
    verbs: dict[str, set[str]] = {}
    for tool, event, entry in installed(made):
        found = commands(entry)
        assert found, (tool, event)
        for command in found:
            assert program.is_hook(command)
            match = re.search(
                r"(start|prompt|pre|post|compact|end) --tool (\S+)", command
            )
            assert match
            verbs.setdefault(match[2], set()).add(match[1])
            places = {path.replace("\\", "/") for path in program.files_of(command)}
            assert places == {made.setup.program.python, made.setup.program.hook}
        handler = entry["hooks"][0] if "hooks" in entry else entry
        times = {name: value for name, value in handler.items() if "time" in name}
        (unit, time), *_ = [*times.items(), ("none", 1)]
        if tool == "gemini-cli" or unit == "timeout_ms":
            time //= 1000
        assert 1 <= time <= 60
    every = {"start", "prompt", "pre", "post", "compact", "end"}
    assert verbs == {
        "claude-code": every, "codex-cli": every, "copilot-cli": every,
        "gemini-cli": every - {"pre"}, "cursor": every - {"prompt"},
        "devin": {"start", "prompt", "post", "end"}, "windsurf": {"compact"},
        "amazon-q": {"start", "prompt", "post"},
    }  # fmt: skip


def test_windows_gets_the_words_of_its_shells(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path, "win32")
    found = {tool: commands(entry) for tool, _, entry in installed(made)}
    (claude,) = found["claude-code"]
    assert claude.startswith("if ((Test-Path 'C:/Users/mira h/python') -and")
    assert claude.endswith("; exit 0")
    (cursor,) = found["cursor"]
    assert cursor.startswith('cmd /d /c if exist "C:\\Users\\mira h\\python" if exist')
    assert len(found["copilot-cli"]) == 2


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("icm hook start", True),
        ("/usr/bin/icm hook prompt --tool claude-code", True),
        ('"C:\\Program Files\\icm.exe" hook start', True),
        ("'/a b/icm' hook post", True),
        (program.in_sh(Program("i", "/p", f"/x/{HOOK}"), "pre --tool x"), True),
        (program.in_powershell(Program("i", "C:/p", f"C:/x/{HOOK}"), "pre"), True),
        (program.in_cmd(Program("i", "C:/p", f"C:/x/{HOOK}"), "pre"), True),
        ("icm recall hook", False),
        ("image-icm hook start", False),
        ("my-hook_client.py", False),
        ("python /x/other_site/hook_client.py", False),
        ("", False),
    ],
)
def test_our_hooks_are_told_from_others(command: str, ours: bool) -> None:
    assert program.is_hook(command) is ours


# What agents may run unasked


def rules(word: str) -> list[dict[str, Any]]:
    policy = texts.gemini_policy(Program("/x/icm", "/p", "/h", word))
    found: list[dict[str, Any]] = tomllib.loads(policy)["rule"]
    return found


@pytest.mark.parametrize("word", ["icm", "/opt/a/icm", '"/opt/a b/icm"'])
def test_the_policy_of_gemini_allows_single_commands_alone(word: str) -> None:
    allowed = [rule for rule in rules(word) if rule["decision"] == "allow"]
    assert [rule["commandPrefix"] for rule in allowed] == [
        f"{word} {command}" for command in texts.ALLOWED
    ]
    never = ("purge forget undo import export init uninstall config token web serve "
             "trust hook").split()  # fmt: skip
    assert not {command.split()[0] for command in texts.ALLOWED} & set(never)
    (asked,) = [rule for rule in rules(word) if rule["decision"] == "ask_user"]
    assert asked["priority"] > max(rule["priority"] for rule in allowed)
    for option in ("--db /x", "--output x", "--db=/x"):
        assert re.search(asked["commandRegex"], f"{word} recall x {option}")
    assert not re.search(asked["commandRegex"], f"{word} recall db")


def test_nothing_that_is_written_allows_the_bare_program_or_all_tools(
    tmp_path: Path,
) -> None:
    made = homes.with_all_tools(tmp_path)
    written = "\n".join(
        part.value
        if isinstance(part.value, str)
        else json.dumps(part.value, default=str)
        for tool in TOOLS
        for part in finding.items(tool, made.setup, made.machine, MODES)
        if isinstance(part, Item)
    )
    for bad in (
        *("Bash(icm *)", "Bash(icm:*)", "mcp__icm__*", '"trust"', '"icm *"'),
        *('commandPrefix = "icm"\n', '"alwaysAllow": ["', '"autoApprove": ["'),
    ):
        assert bad not in written, bad


def test_the_text_for_a_tool_names_no_other_tool_and_none_of_its_files() -> None:
    made = Program("/x/icm", "/p", "/h")
    text = texts.instructions(made) + "".join(
        texts.skill(n, made) for n in texts.SKILLS
    )
    for name in ("Claude", "CLAUDE", "Gemini", "GEMINI", "AGENTS", "Codex", "Cursor"):
        assert name not in text


@pytest.mark.parametrize("name", texts.SKILLS)
def test_a_skill_has_the_head_that_every_tool_reads(name: str) -> None:
    made = Program("/x/icm", "/p", "/h")
    for text, called in (
        (texts.skill(name, made), name),
        (texts.skill(name, made, called=f"icm-{name}"), f"icm-{name}"),
        (texts.claude_skill(name, made), name),
    ):
        head = text.split("---\n")[1]
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        assert fields["name"] == called
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", called)
        assert len(fields["description"]) <= 1024 and ": " not in fields["description"]
        assert "{{" not in text and texts.MARK in text


# OpenCode's plugin, in a JavaScript engine

PLUGIN_TEST = """
import * as plugin from {plugin}
const IcmPlugin = plugin.IcmPlugin ?? plugin.default.server
const text = "We chose NATS. " + "x".repeat(30000)
const data = [{{ info: {{ id: "m1", role: "user" }}, parts: [
  {{ type: "text", text }}, {{ type: "reasoning", text: "secret thought" }}] }}]
const client = {{ session: {{ messages: async () => ({{ data }}) }} }}
const hooks = await IcmPlugin({{ client, directory: "/work/teapot" }})
const input = {{ sessionID: "s" }}
const system = {{ system: ["first"] }}
await hooks["experimental.chat.system.transform"](input, system)
await hooks["experimental.chat.system.transform"](input, system)
const parts = [{{ type: "text", text: "q" }}]
const message = {{ message: {{ id: "m", sessionID: "s" }}, parts }}
await hooks["chat.message"](input, message)
const permission = {{ status: "ask" }}
await hooks["permission.ask"]({{ type: "bash", ...input }}, permission)
await hooks["tool.execute.after"]({{ tool: "bash", ...input }}, {{ output: "x" }})
const compacting = {{ context: [] }}
await hooks["experimental.session.compacting"](input, compacting)
const properties = {{ info: {{ id: "s" }} }}
const idle = {{ type: "session.idle", properties: {{ sessionID: "s" }} }}
await hooks.event({{ event: idle }})
if ({ends} === "deleted") {{
  client.session.messages = async () => {{ throw new Error("it is gone") }}
  await hooks.event({{ event: {{ type: "session.deleted", properties }} }})
  await hooks.event({{ event: {{ type: "session.deleted", properties }} }})
}}
if ({ends} === "dispose") await hooks.dispose()
await new Promise((resolve) => setTimeout(resolve, 300))
console.log(JSON.stringify({{ system, message, permission, compacting }}))
"""
ANSWERS = """#!/bin/sh
cat >> "{log}"
echo " $*" >> "{log}"
case "$4" in
  pre) echo '{{"allow": true}}';;
  post) ;;
  *) echo '{{"context": "known"}}';;
esac
"""
node = pytest.mark.skipif(not shutil.which("node"), reason="needs node")


def played(
    tmp_path: Path,
    python: str,
    hook: str,
    *,
    ends: str = "deleted",
    written: Callable[[Program], str] = texts.opencode_plugin,
) -> dict[str, Any]:
    """What OpenCode's objects hold after each hook of the plugin ran."""
    plugin = tmp_path / "icm.mjs"
    plugin.write_text(written(Program("icm", python, hook)))
    script = tmp_path / "play.mjs"
    script.write_text(
        PLUGIN_TEST.format(plugin=json.dumps(plugin.as_uri()), ends=json.dumps(ends))
    )
    done = subprocess.run(
        ["node", str(script)], capture_output=True, text=True, check=True, timeout=60
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@node
def test_the_plugin_does_nothing_once_the_program_is_gone(tmp_path: Path) -> None:
    found = played(tmp_path, "/gone/python", "/gone/hook")
    assert found["system"] == {"system": ["first"]}
    assert len(found["message"]["parts"]) == 1
    assert found["permission"] == {"status": "ask"}
    assert found["compacting"] == {"context": []}


def stubbed(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A program that answers hooks and notes what they were given."""
    python, hook, log = (
        tmp_path / "python",
        tmp_path / "hook_client.py",
        tmp_path / "log",
    )
    python.write_text(ANSWERS.format(log=log))
    python.chmod(0o755)
    hook.touch()
    return python, hook, log


@node
@pytest.mark.parametrize(
    ("written", "tool"),
    [(texts.opencode_plugin, "opencode"), (texts.kilo_plugin, "kilo")],
)
def test_the_plugin_passes_on_what_the_hook_command_answers(
    tmp_path: Path, written: Callable[[Program], str], tool: str
) -> None:
    python, hook, log = stubbed(tmp_path)
    found = played(tmp_path, str(python), str(hook), written=written)
    assert found["system"] == {"system": ["first", "known", "known"]}
    part = found["message"]["parts"][1]
    assert (part["text"], part["synthetic"], part["messageID"]) == ("known", True, "m")
    assert found["permission"] == {"status": "allow"}
    assert found["compacting"] == {"context": ["known"]}
    asked = log.read_text()
    assert asked.count(f"start --tool {tool}") == 1  # once a session
    for verb in ("prompt", "pre", "post", "compact", "end"):
        assert f"{verb} --tool {tool}" in asked
    assert jsonc.read(asked.split("} -I")[0] + "}")["cwd"] == "/work/teapot"


@node
@pytest.mark.parametrize("ends", ["deleted", "dispose", "exit"])
def test_the_plugin_hands_over_what_was_said_once_a_session_ends(
    tmp_path: Path, ends: str
) -> None:
    python, hook, log = stubbed(tmp_path)
    played(tmp_path, str(python), str(hook), ends=ends)
    asked = [line for line in log.read_text().splitlines() if " end --tool" in line]
    assert len(asked) == 1
    given = jsonc.read(asked[0].split("} -I")[0] + "}")
    assert (
        given["hook_event_name"]
        == f"session.{'deleted' if ends == 'deleted' else 'idle'}"
    )
    ((part,),) = [row["parts"] for row in given["messages"]]
    assert (part["type"], len(part["text"])) == ("text", 20_000)
    assert given["session_id"] == "s"


# Cline's files


@pytest.mark.skipif(not SHELLS, reason="needs a shell")
def test_cline_gets_files_that_it_can_run(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    python, hook, log = stubbed(tmp_path / "Mira Hölzl")
    ours = made.setup.program._replace(python=str(python), hook=str(hook))
    made = made._replace(setup=made.setup._replace(program=ours))
    made.init(modes=("hook",))
    folder = made.machine.path("{cline}/hooks")
    assert sorted(path.name for path in folder.iterdir()) == [
        "PostToolUse",
        "SessionShutdown",
        "TaskComplete",
    ]
    for gone in (False, True):
        if gone:
            hook.unlink()
        for path in folder.iterdir():
            done = subprocess.run(
                [str(path)], input="{}", capture_output=True, text=True, check=True
            )
            known = "" if gone or path.name == "PostToolUse" else '{"context": "known"}'
            assert (done.stdout.strip(), done.stderr) == (known, "")
    assert log.read_text().count("end --tool cline") == 2
    made.uninstall()
    assert not folder.exists()


def test_a_file_of_a_persons_own_for_an_event_of_cline_stays(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path)
    own = made.machine.path("{cline}/hooks/PostToolUse")
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\necho mine\n")
    made.init()
    made.uninstall()
    assert own.read_text() == "#!/bin/sh\necho mine\n"


def test_windows_runs_clines_files_by_powershell(tmp_path: Path) -> None:
    made = homes.with_all_tools(tmp_path, "win32")
    made.init(modes=("hook",))
    text = made.machine.path("{cline}/hooks/PostToolUse.ps1").read_text()
    assert "if ((Test-Path 'C:/Users/mira h/python')" in text
    made.uninstall()
