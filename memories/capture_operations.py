"""The operation that finds facts in a text and stores them."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from pydantic import Field

from icm_site import conf
from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from icm_site.operation import Params, Result
from memories import known_projects
from memories.driver import raw_connection

# Extraction itself is imported where it is used: every command imports this module.
if TYPE_CHECKING:
    from memories.extraction import Fact
    from memories.transcripts import Turn


class ExtractParams(Params):
    project: str | None = Field(None, description="Project that the facts belong to")
    text: str | None = Field(
        None, description="The text; without it standard input is read"
    )
    transcript: str | None = Field(
        None, description="Transcript file of an AI tool, in place of a text"
    )
    store_raw: bool = Field(
        False, description="Keep the end of the text where no fact is found"
    )
    dry_run: bool = Field(False, description="Show what would be stored, and why")


class FoundFact(Result):
    topic: str
    content: str
    importance: str
    kind: str
    score: float
    reasons: list[str]
    keywords: list[str]


class ExtractResult(Result):
    facts: list[FoundFact]
    ids: list[str]
    new: int
    raw: str | None
    dry_run: bool


def memory_extract(params: ExtractParams, caller: Caller) -> ExtractResult:
    """Find the facts in a text or a transcript and store them, without any LLM.

    Reads prose, the output of compilers, test runners and git, and the transcripts of
    Claude Code, Codex, Gemini, Copilot, OpenCode and Cursor.
    """
    from memories import capture

    if params.project is not None:
        aliases = conf.current().projects.aliases
        name = known_projects.named(raw_connection(), params.project, aliases)
        caller = replace(caller, project=name, cwd="")
    done = capture.capture(
        _turns(params),
        caller=caller,
        store_raw=params.store_raw,
        dry_run=params.dry_run,
    )
    return ExtractResult(
        facts=[_found(fact, caller) for fact in done.facts],
        ids=[row.memory.ulid for row in done.stored],
        new=sum(row.created for row in done.stored),
        raw=done.raw.memory.ulid if done.raw else None,
        dry_run=params.dry_run,
    )


def _turns(params: ExtractParams) -> list[Turn]:
    from memories import capture, transcripts

    if params.transcript and params.text:
        raise InvalidInput("give either --text or --transcript")
    if params.transcript:
        return transcripts.read_file(params.transcript)
    if params.text is not None:
        return capture.read(params.text)
    if sys.stdin.isatty():
        raise InvalidInput("no text: give --text or --transcript, or pipe a text in")
    return capture.read(_standard_input())


def _standard_input() -> str:
    from memories import transcripts

    stream = getattr(sys.stdin, "buffer", None)
    data = stream.read(transcripts.MOST_BYTES + 1) if stream else sys.stdin.read()
    if len(data) > transcripts.MOST_BYTES:
        raise InvalidInput("the text is larger than 32 MiB")
    return data if isinstance(data, str) else str(data, "utf-8", "replace")


def _found(fact: Fact, caller: Caller) -> FoundFact:
    from memories.extraction import topic_of

    values = asdict(fact) | {
        "topic": topic_of(fact, caller.project),
        "content": fact.text,
    }
    return FoundFact.model_validate(values)
