"""The operations that make concepts of memories and of projects."""

from __future__ import annotations

from icm_site.caller import Caller
from memoirs import distill, patterns
from memoirs.intake_schemas import (
    DistillParams,
    DistillResult,
    LearnParams,
    LearnResult,
    Pattern,
    PatternsParams,
    PatternsResult,
)


def memoir_distill(params: DistillParams, caller: Caller) -> DistillResult:
    """Turn each memory of a topic into a concept named by its first keyword."""
    done = distill.distill(params.from_topic, into=params.into, caller=caller)
    return DistillResult(
        topic=params.from_topic.strip(),
        memoir=done.memoir.name,
        memories=done.memories,
        created=done.created,
        refined=done.refined,
        unchanged=done.unchanged,
        skipped=done.skipped,
    )


def memory_extract_patterns(params: PatternsParams, caller: Caller) -> PatternsResult:
    """Find groups of memories of a topic that share most keywords.

    When a topic has grown large. With a memoir, each group becomes a concept there.
    """
    found = patterns.extract(
        params.topic,
        least=params.min_cluster_size,
        memoir=params.memoir,
        caller=caller,
    )
    return PatternsResult(
        topic=params.topic.strip(),
        memoir=found.memoir.name if found.memoir else None,
        memories=found.memories,
        patterns=[
            Pattern(
                keywords=cluster.keywords,
                count=len(cluster.memories),
                summary=cluster.summary,
                memory_ids=[memory.ulid for memory in cluster.memories],
                concept=name,
            )
            for cluster, name in found.patterns
        ],
    )


def learn_project(params: LearnParams, caller: Caller) -> LearnResult:
    """Read a project's folder into a memoir: modules, dependencies, entry points.

    Once in a code base that is new to you, and after large changes.
    """
    # Every command imports this module, and none but this one the survey of a project.
    from memoirs import learn

    directory = learn.allowed(params.directory, caller=caller)
    done = learn.learn(directory, name=params.name, caller=caller)
    return LearnResult(
        id=done.memoir.ulid,
        name=done.memoir.name,
        concepts=done.concepts,
        links=done.links,
        added=done.added,
        updated=done.updated,
        removed=done.removed,
        kept=done.kept,
    )
