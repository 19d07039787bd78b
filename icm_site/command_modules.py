"""The commands that are no operations, and the module that does each."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Command -> module, whose `main` takes the arguments that follow the command. Names, so
# that one command imports nothing of another.
COMMANDS: Mapping[str, str] = {
    "backup": "icm_site.backup_command",
    "restore": "icm_site.restore_command",
    "repair": "icm_site.repair_command",
    "export": "icm_site.exchange.export_command",
    "import": "icm_site.exchange.import_command",
    "config": "icm_site.config_command",
    "init": "icm_site.hosts.init_command",
    "uninstall": "icm_site.hosts.uninstall_command",
    "doctor": "icm_site.doctor.command",
    "serve": "icm_site.mcp_server",
    "web": "icm_site.web_command",
    "dashboard": "icm_site.dashboard.command",
    "tui": "icm_site.dashboard.command",
    "bench": "icm_site.benchmarks.storage",
    "bench-quality": "icm_site.benchmarks.quality",
    "bench-latency": "icm_site.benchmarks.latency",
    "bench-scale": "icm_site.benchmarks.scale",
    "bench-format": "icm_site.benchmarks.formats",
    "bench-web": "icm_site.benchmarks.web",
    "bench-recall": "icm_site.benchmarks.recalling",
    "bench-agent": "icm_site.benchmarks.working",
    "bench-agents": "icm_site.benchmarks.sharing",
    "hook": "icm_site.hook_command",
    "resident": "icm_site.resident.command",
    "trust": "icm_site.trust_command",
    "completion": "icm_site.completion",
}


def run(command: str, arguments: Sequence[str]) -> int:
    """Run one of them with the arguments after its name; returns the exit code."""
    from importlib import import_module

    main: Callable[[Sequence[str]], int] = import_module(COMMANDS[command]).main
    return main(arguments)
