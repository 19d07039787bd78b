"""Who is asking: told from the variables that agents give to what they start."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from icm_site import git
from icm_site.caller import Caller
from icm_site.conf import Config
from memories import known_projects
from memories.projects import project_name


class Host(NamedTuple):
    """A program that runs agents: what gives it away, and where its session stands."""

    name: str
    marks: tuple[str, ...]
    session: str = ""


# The first host with a mark wins. A variable that a person may export in a profile
# (CODEX_HOME, GEMINI_API_KEY) is no mark.
HOSTS = (
    # hooks reference of Gemini CLI; its shell tool sets GEMINI_CLI=1
    Host("gemini", ("GEMINI_CLI", "GEMINI_SESSION_ID"), "GEMINI_SESSION_ID"),
    # github.com/cli/cli internal/agents/detect.go, and Codex's own sources
    Host(
        "codex",
        ("CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_CI", "CODEX_CLI"),
        "CODEX_THREAD_ID",
    ),
    Host("copilot", ("COPILOT_CLI",)),
    Host("opencode", ("OPENCODE",)),
    # hooks reference of Cursor; its agent's shell sets CURSOR_AGENT=1
    Host("cursor", ("CURSOR_AGENT", "CURSOR_VERSION", "CURSOR_PROJECT_DIR")),
    # Last: others set these too, to run what was made for Claude Code.
    Host(
        "claude-code",
        ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CLI", "CLAUDE_PROJECT_DIR"),
        "CLAUDE_CODE_SESSION_ID",
    ),
)
SESSION_CHARS = 255
# Surfaces that tell by themselves who is behind them.
_ORIGINS = {"mcp": "agent", "hook": "hook", "admin": "user", "http": "user"}


def find_host(env: Mapping[str, str]) -> Host | None:
    """Return the agent's program that started this process, if one did."""
    if env.get("AGENT") == "amp":  # it sets CLAUDECODE as well
        return Host("amp", ("AGENT",))
    for host in HOSTS:
        if any(env.get(mark, "") not in ("", "0") for mark in host.marks):
            return host
    return None


def detect(
    env: Mapping[str, str],
    *,
    surface: str,
    cwd: str | os.PathLike[str],
    project: str | None = None,
    name: str | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Caller:
    """Return the caller of a process that has these variables and works in `cwd`.

    `surface` is cli, mcp, http, admin or hook. Without `project` it is derived, with
    `name` and `aliases` from the configuration; "" stands for none.
    """
    host = find_host(env)
    if project is None:
        project = project_name(cwd, env=env, name=name, aliases=aliases or {})
    return Caller(
        surface=surface,
        origin=_ORIGINS.get(surface, "agent" if host else "user"),
        host=host.name if host else "",
        agent_session=_session(env, host),
        cwd=os.fspath(cwd),
        project=project or "",
        details=source_details(cwd),
    )


def aliases_in_force(config: Config) -> Mapping[str, str]:
    """Other names of projects: of the database and, before them, of the configuration.

    Read over the open connection, where there is one.
    """
    own = config.projects.aliases
    if "django.db" in sys.modules:
        from django.db import connection

        if connection.connection is not None:
            return {**known_projects.aliases(connection.connection), **own}
    return {**known_projects.of_database(config.database_path), **own}


def _session(env: Mapping[str, str], host: Host | None) -> str:
    """The session's name as a column takes it, whatever bytes the variable has."""
    name = env.get(host.session, "") if host and host.session else ""
    return name.encode("utf-8", "replace").decode()[:SESSION_CHARS]


def source_details(cwd: str | os.PathLike[str]) -> dict[str, str]:
    """Return what else is known of the place: the git commit, if there is one."""
    repository = git.find(cwd)
    commit = git.head_commit(repository) if repository else None
    return {"git_commit": commit} if commit else {}
