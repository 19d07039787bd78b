"""The program that is set up in a tool: its places, and the commands that run it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from icm_site import hook_client

SERVE = "serve"


class Program(NamedTuple):
    """Absolute paths of the command `icm`, of Python, and of the file for hooks.

    `word` is how a person or an agent calls the command in a shell.
    """

    icm: str
    python: str
    hook: str
    word: str = "icm"
    arguments: tuple[str, ...] = ()

    def serve(self) -> list[str]:
        """The arguments that start the MCP server."""
        return [*self.arguments, SERVE]


def running(env: Mapping[str, str]) -> Program:
    """The program of this process."""
    python = _python()
    hook = Path(hook_client.__file__).resolve().as_posix()
    beside = Path(python).with_name("icm.exe" if os.name == "nt" else "icm")
    if not beside.is_file():
        word = f"{_word(python)} -m icm_site.cli"
        return Program(python, python, hook, word, ("-m", "icm_site.cli"))
    icm = beside.as_posix()
    return Program(icm, python, hook, _shell_word(icm, env))


def _python() -> str:
    # Not resolved: the link in a virtual environment is what finds its packages.
    return Path(os.path.abspath(sys.executable)).as_posix()  # noqa: PTH100


def _shell_word(icm: str, env: Mapping[str, str]) -> str:
    """`icm` where a shell outside this virtual environment finds it, else the path."""
    own = os.path.normcase(str(Path(icm).parent))
    folders = env.get("PATH", "").split(os.pathsep)
    elsewhere = os.pathsep.join(f for f in folders if os.path.normcase(f) != own)
    found = shutil.which("icm", path=elsewhere)
    system = sys.prefix == sys.base_prefix
    if system or (found and Path(found).resolve() == Path(icm).resolve()):
        return "icm"
    return _word(icm)


def _word(path: str) -> str:
    return path if re.fullmatch(r"[\w./:+-]+", path) else f'"{path}"'


# Hook commands. Each form does nothing, and succeeds, once the program is gone: an
# environment that was removed must not break the tools that it was set up in.


def in_sh(program: Program, arguments: str) -> str:
    """For POSIX shells."""
    python, hook = _in_double_quotes(program.python), _in_double_quotes(program.hook)
    return (
        f"if [ -x {python} ] && [ -f {hook} ]; then "
        f"{python} -I -S {hook} {arguments} || :; fi"
    )


def in_powershell(program: Program, arguments: str) -> str:
    """For PowerShell."""
    python, hook = (
        "'" + path.replace("'", "''") + "'" for path in (program.python, program.hook)
    )
    return (
        f"if ((Test-Path {python}) -and (Test-Path {hook})) "
        f"{{ & {python} -I -S {hook} {arguments} }}; exit 0"
    )


def in_cmd(program: Program, arguments: str) -> str:
    """For Windows where it is not known which shell runs it: cmd in either."""
    python, hook = (
        '"' + path.replace("/", "\\") + '"' for path in (program.python, program.hook)
    )
    # cmd takes slashes for options in the name of a program.
    return (
        f"cmd /d /c if exist {python} if exist {hook} {python} -I -S {hook} {arguments}"
    )


def _in_double_quotes(text: str) -> str:
    return '"' + re.sub(r'([\\$`"])', r"\\\1", text) + '"'


_FILE = re.compile(r"icm_site[/\\]+hook_client\.py")
_OLDER = re.compile(r"(?:^|[\s\"'/\\])icm(?:\.exe|\.cmd)?[\"']?\s+hook\s+[a-z]", re.I)
_WORD = re.compile(r"\"((?:[^\"\\$`]|\\.)*)\"|'((?:[^']|'')*)'|([^\s\"']+)")


def is_hook(command: str) -> bool:
    """Whether a command is a hook of ours, of this form or the older `icm hook …`."""
    return bool(_FILE.search(command) or _OLDER.search(command))


def files_of(command: str) -> list[str]:
    """The absolute paths that a hook command of ours runs; a bare name is none."""
    paths = []
    for found in _WORD.finditer(command):
        quoted, single, bare = found.groups()
        if quoted is not None:
            # Windows' quotes know no escapes, and sh's paths hold no backslash.
            windows = re.match(r"[A-Za-z]:\\", quoted)
            text = quoted if windows else re.sub(r"\\(.)", r"\1", quoted)
        else:
            text = single.replace("''", "'") if single is not None else bare
        if re.match(r"(?:[A-Za-z]:)?[/\\]", text) and len(text) > 3:
            paths.append(text)
    return list(dict.fromkeys(paths))


def is_gone(path: str) -> bool:
    """Whether an absolute path leads to nothing; a bare name may be on some `PATH`."""
    try:
        return Path(path).is_absolute() and not Path(path).exists()
    except OSError:  # another user's folder: nobody knows
        return False


def is_server(command: object, arguments: object) -> bool:
    """Whether an MCP entry runs our server, from whatever place."""
    words = [command] if isinstance(command, str) else list_of_texts(command)
    words += list_of_texts(arguments)
    if not words or SERVE not in words[1:]:
        return False
    name = words[0].replace("\\", "/").rpartition("/")[2].lower()
    return name in ("icm", "icm.exe", "icm.cmd") or "icm_site.cli" in words


def list_of_texts(value: object) -> list[str]:
    """A list of texts as it is; anything else as an empty one."""
    if not isinstance(value, list | tuple):
        return []
    return [item for item in value if isinstance(item, str)]
