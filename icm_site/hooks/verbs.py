"""The verbs of `icm hook`: a function that answers, one for afterwards, a deadline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from icm_site.hooks import capture, failure, pre, prompt, start
from icm_site.hooks.run import After, Answer, Reply, Run, nothing


def silent(run: Run) -> Reply:
    """A verb that only reads."""
    del run
    return Reply()


class Verb(NamedTuple):
    """`after` runs once the answer is out; `once`: a repeated event is not served.

    `anew`: what the session was shown is about to leave the conversation.
    """

    answer: Answer
    after: After = nothing
    once: bool = True
    anew: bool = False


VERBS: Mapping[str, Verb] = {
    "start": Verb(start.answer),
    "prompt": Verb(prompt.answer),
    # Each of two hooks that are asked for an approval has to give it.
    "pre": Verb(pre.answer, once=False),
    "post": Verb(failure.answer, capture.after_tool),
    "compact": Verb(silent, capture.before_compaction, anew=True),
    "end": Verb(silent, capture.at_end),
}
