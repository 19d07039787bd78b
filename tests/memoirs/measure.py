"""What memoirs cost: `python -m tests.memoirs.measure` prints CPU milliseconds.

A memoir of 1 000 concepts and 5 000 random links, always the same; the median of 25
calls in one process.
"""

from __future__ import annotations

import dataclasses
import os
import random
import statistics
import time
from collections.abc import Callable
from functools import partial

import django

CONCEPTS, LINKS, CALLS = 1_000, 5_000, 25
WORDS = (
    "engine gateway token queue ledger cache index worker service order stock "
    "payment route session user report batch stream event schema"
).split()


def make() -> str:
    """Fill the memoir `m` in bulk; returns the name of one of its concepts."""
    from memoirs import write
    from memoirs.models import Concept, ConceptLink
    from memoirs.relations import Relation

    memoir, _ = write.create_memoir("m")
    chance = random.Random(1)
    concepts = [
        Concept(
            memoir=memoir,
            name=f"{chance.choice(WORDS)}-{n}",
            definition=f"{' '.join(chance.choices(WORDS, k=25))} part {n}",
            labels=[f"domain:{chance.choice(WORDS)}"],
        )
        for n in range(CONCEPTS)
    ]
    for concept in concepts:
        concept.derive()
    made = Concept.objects.bulk_create(concepts)
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < LINKS:
        one, other = chance.sample(range(CONCEPTS), 2)
        pairs[one, other] = None
    kinds = list(Relation)[1:4]
    ConceptLink.objects.bulk_create(
        ConceptLink(source=made[a], target=made[b], relation=chance.choice(kinds))
        for a, b in pairs
    )
    return made[5].name


def calls(name: str) -> dict[str, Callable[[], object]]:
    """What is measured, around one concept."""
    from memoirs import operations, schemas
    from tests.factories import CALLER

    def inspect(depth: int) -> object:
        params = schemas.InspectParams(memoir="m", name=name, depth=depth)
        return operations.memoir_inspect(params, CALLER)

    def search(**given: str) -> object:
        params = schemas.SearchParams.model_validate({"memoir": "m"} | given)
        return operations.memoir_search(params, CALLER)

    def everything() -> object:
        given = {"query": "which queue feeds the ledger worker"}
        params = schemas.SearchAllParams.model_validate(given)
        return operations.search_all(params, CALLER)

    def export(form: str) -> object:
        params = schemas.ExportParams.model_validate({"name": "m", "format": form})
        return operations.memoir_export(params, CALLER)

    found: dict[str, Callable[[], object]] = {
        f"inspect, depth {depth}": partial(inspect, depth) for depth in (1, 2, 3)
    }
    found |= {
        "search, one word": lambda: search(query="ledger"),
        "search, four words": lambda: search(query="queue feeds ledger worker"),
        "search, label": lambda: search(label="domain:cache"),
        "search, nothing found": lambda: search(query="zzzzzz"),
        "search over all": everything,
        "show": lambda: operations.memoir_show(schemas.MemoirParams(name="m"), CALLER),
    }
    for form in ("ai", "ascii", "dot", "json", "mermaid"):
        found[f"export, {form}"] = partial(export, form)
    return found


def median(call: Callable[[], object]) -> float:
    """CPU milliseconds of one call: other programs on the machine do not count."""
    call()
    costs = []
    for _ in range(CALLS):
        start = time.process_time()
        call()
        costs.append((time.process_time() - start) * 1000)
    return statistics.median(costs)


def main() -> None:
    from icm_site import conf, database
    from icm_site.conf_keys import Embeddings

    # Words alone: a model would take most of the time of the search over all.
    conf.use(dataclasses.replace(conf.load(), embeddings=Embeddings(enabled=False)))
    database.ready()
    for name, call in calls(make()).items():
        print(f"{name:24} {median(call):7.1f} ms")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    main()
