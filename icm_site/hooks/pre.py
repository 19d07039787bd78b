"""`icm hook pre`: before a tool; a plain call of `icm` needs no question."""

from __future__ import annotations

import sys

from icm_site.hooks import approval
from icm_site.hooks.run import Reply, Run


def answer(run: Run) -> Reply:
    """An approval for what `approval` calls safe, else nothing: the host decides."""
    given = run.payload.tool_input
    command = run.payload.command
    if not command or given.get("env") or given.get("environment"):
        return Reply()
    shell = "powershell" if _is_powershell(run) else "posix"
    refused = approval.refusal(command, shell=shell, cwd=run.cwd, env=run.env)
    return Reply(allow=not refused, note=refused)


def _is_powershell(run: Run) -> bool:
    tool = run.payload.tool.lower()
    return sys.platform == "win32" or "powershell" in tool or tool == "pwsh"
