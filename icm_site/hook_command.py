"""`icm hook disable` and `icm hook --help`; events are answered by `hook_client`."""

from __future__ import annotations

from collections.abc import Sequence

from icm_site import hook_client


def main(arguments: Sequence[str]) -> int:
    """Take the hooks out of the AI tools, or say what an event's command is given."""
    if arguments[:1] == ["disable"]:
        from icm_site.hosts.uninstall_command import disable_hooks

        return disable_hooks(arguments[1:])
    print(hook_client.USAGE)
    return 0
