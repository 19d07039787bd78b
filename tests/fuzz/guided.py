"""Inputs guided by coverage: the parsers of payloads and transcripts under atheris.

Needs the extra `fuzz`.
"""

from __future__ import annotations

import sys


def guided(runs: int) -> int:
    """So many inputs; the process ends with a code that is not 0 at a fault."""
    import atheris

    with atheris.instrument_imports(include=["icm_site.hooks.payload", "memories"]):
        from icm_site.hooks import payload
        from memories import fence, transcripts
    fields = [
        *("prompt", "tool", "tool_input", "command", "error", "output"),
        *("transcript", "messages", "source", "call"),
    ]

    def one(data: bytes) -> None:
        found = payload.read(data)
        if found is not None:
            for name in fields:
                getattr(found, name)
        text = data.decode("utf-8", "replace")
        transcripts.turns(text)
        transcripts.last_words(text)
        assert "</icm-notes" not in fence.harmless(text).lower()

    atheris.Setup([sys.argv[0], f"-runs={runs}", "-max_len=4096"], one)
    atheris.Fuzz()
    return 0
