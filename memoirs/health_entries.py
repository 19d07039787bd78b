"""The health report: topics of memories, and memoirs that have grown large."""

from __future__ import annotations

from icm_site.caller import Caller
from icm_site.operation import Command, Operation, Tool
from memoirs import listing
from memories import care_texts
from memories.care_operations import health_of_topics
from memories.care_schemas import HealthParams, HealthResult


def memory_health(params: HealthParams, caller: Caller) -> HealthResult:
    """How each topic is: entries, average weight, stale ones, need to consolidate.

    Use it before consolidating, or when recall returns too much of the same.
    """
    del caller
    report = health_of_topics(params.topic)
    if params.topic is not None:
        return report
    names = [memoir.name for memoir in listing.full_memoirs()]
    return report.model_copy(update={"full_memoirs": names})


OPERATIONS = [
    Operation(
        run=memory_health,
        writes=False,
        tool=Tool(
            name="icm_memory_health",
            formats={"text": care_texts.health},
            reads=True,
        ),
        commands=(
            Command(
                words=("health",),
                formats={
                    "human": care_texts.health_table,
                    "json": care_texts.health_json,
                },
                flags={"topic": ("-t", "--topic")},
            ),
        ),
    ),
]
