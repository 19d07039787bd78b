"""`icm serve`: the standard library alone until the client's streams are safe."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from icm_site import mcp_wire, startup
from icm_site.arguments import Parser

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from icm_site.caller import Caller
    from icm_site.conf import Config
    from icm_site.mcp_session import Calls, Session


def main(argv: Sequence[str]) -> int:
    """Serve MCP on stdin and stdout until the input ends; returns the exit code.

    Raises UsageError for a wrong option, InvalidInput for a config file that cannot
    be read.
    """
    try:
        chosen = options(argv)
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    if chosen.print_config:
        print(client_config(launch_command()))
        return 0
    return _serve(chosen)


def options(argv: Sequence[str]) -> Namespace:
    """The options of `icm serve`. Raises UsageError, SystemExit for `--help`."""
    return _parser().parse_args(list(argv))


def _parser() -> Parser:
    parser = Parser(
        prog="icm serve",
        description="Serve the memory to an MCP client on standard input and output.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--compact", action="store_true", help="answer with the shortest text"
    )
    parser.add_argument(
        "--tools",
        choices=["full", "lean"],
        default="full",
        help="list all tools, or only those of everyday use (default: full)",
    )
    parser.add_argument(
        "--print-config",
        action="store_true",
        help="print what to enter in a client, and end",
    )
    return parser


def _serve(chosen: Namespace) -> int:
    # Before anything is imported that may print.
    wire = mcp_wire.take()
    with startup.importing():
        from icm_site import conf, mcp_stdio

        server = build(
            chosen,
            env=os.environ,
            cwd=os.getcwd(),  # noqa: PTH109
            config=conf.current(),
        )
    return mcp_stdio.run(server, wire)


def build(
    chosen: Namespace,
    *,
    env: Mapping[str, str],
    cwd: str,
    config: Config,
    calls: Calls | None = None,
) -> Server[Session]:
    """The server for a client that was started there with these options."""
    from icm_site import conf, mcp_session
    from icm_site.errors import IcmError
    from icm_site.mcp_instructions import instructions
    from memories.origin import aliases_in_force, detect

    def placed(folder: str) -> Caller:
        try:
            own = config if folder == cwd else conf.load(env, folder)
        except IcmError:  # a broken file of that folder names nothing
            own = config
        return detect(
            env,
            surface="mcp",
            cwd=folder,
            name=own.project.name,
            aliases=aliases_in_force(config),
        )

    caller = placed(cwd)
    return mcp_session.build(
        caller=caller,
        placed=placed,
        instructions=instructions(caller.project, config.mcp.instructions),
        compact=chosen.compact or config.mcp.compact,
        lean=chosen.tools == "lean",
        calls=calls,
    )


def launch_command() -> list[str]:
    """The command that starts this server from any folder.

    Not looked up on PATH, where another program of the name may come first.
    """
    started = Path(sys.argv[0])
    beside_python = Path(sys.executable).with_name("icm")
    for place in (started if started.stem == "icm" else beside_python, beside_python):
        found = shutil.which(place)
        if found:
            return [os.path.abspath(found), "serve"]  # noqa: PTH100
    return [sys.executable, "-m", "icm_site.cli", "serve"]


def client_config(command: Sequence[str]) -> str:
    """The entry for a client's JSON file, and the line for Claude Code."""
    entry = {"command": command[0], "args": list(command[1:]), "env": {}}
    return "\n".join(
        [
            json.dumps({"mcpServers": {"icm": entry}}, indent=2, ensure_ascii=False),
            shlex.join(["claude", "mcp", "add", "icm", "--", *command]),
        ]
    )
