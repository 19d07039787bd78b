"""`python -m tests.demo` fills the database of ICM_DB with what a team might keep.

For the browser tests and for the pictures of the documentation; never for a database
that is in use.
"""

from __future__ import annotations

import os
import random
from datetime import datetime, timedelta

CONCEPTS = 200
DAYS = 60
HOSTS = ("claude-code", "codex", "gemini", "cursor")
PROJECTS = ("shop", "billing", "mobile", "infra")
FACTS = (
    "The {project} service runs on Postgres 16 behind pgbouncer.",
    "Deployments of {project} go out from the main branch every Tuesday at 10:00.",
    "The {project} team reviews in pairs; a change needs two approvals.",
    "Tests of {project} need the fake mailer, started with `make mail`.",
    "{project} logs go to Loki; the dashboard is called {project}-overview.",
    "Timeouts of {project} to the payment provider are 8 seconds, two retries.",
    "We decided against GraphQL for {project}: the mobile team prefers REST.",
    "The staging host of {project} is rebuilt every night and loses its data.",
    "Feature flags of {project} live in the table `flags`, cached for 30 seconds.",
    "The on-call rota of {project} changes on Mondays at noon.",
)
KINDS = ("decisions", "errors", "conventions", "context")
RELATIONS = ("depends_on", "part_of", "related_to", "refines", "caused_by")


def main() -> None:
    """Fill the database; the numbers are always the same."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "icm_site.settings"
    import django

    django.setup()
    from django.db import transaction
    from django.utils import timezone

    from icm_site import database

    database.ready()
    now = timezone.now()
    chance = random.Random(7)
    # One commit: each of a thousand would wait for the disk.
    with transaction.atomic():
        _memories(now, chance)
        _review(now)
        _feedback(now)
        _hooks(now, chance)
        _memoir(now, chance)


def _memories(now: datetime, chance: random.Random) -> None:
    from icm_site.caller import Caller
    from memories import store
    from memories.models import MemoryUsage

    for place, (project, fact) in enumerate((p, f) for p in PROJECTS for f in FACTS):
        at = now - timedelta(days=DAYS - 1.4 * place, minutes=place)
        host = HOSTS[place % len(HOSTS)]
        done = store.store(
            topic=f"{KINDS[place % len(KINDS)]}-{project}",
            content=fact.format(project=project),
            importance=("critical", "high", "medium", "medium", "low")[place % 5],
            keywords=[project, "team"],
            caller=Caller(surface="mcp", origin="agent", host=host, project=project),
            created_at=at,
            dedup=False,
            now=at,
        )
        MemoryUsage.objects.filter(memory=done.memory).update(
            weight=round(chance.uniform(0.08, 1.0), 3),
            access_count=chance.randrange(40),
            last_accessed=now - timedelta(days=chance.randrange(40)),
        )


def _review(now: datetime) -> None:
    from icm_site.caller import Caller
    from memories import store, suggestions

    agent = Caller(surface="mcp", origin="agent", host="claude-code", project="shop")
    pairs = (
        ("The pool of the shop has 5 connections.", "The pool of the shop has 20."),
        ("Prices are rounded down to the cent.", "Prices are rounded to the cent."),
        ("Invoices leave at midnight UTC.", "Invoices leave at 02:00 UTC."),
    )
    for old, new in pairs:
        rows = [
            store.store(
                topic="decisions-shop", content=text, caller=agent, dedup=False
            ).memory
            for text in (old, new)
        ]
        suggestions.keep(
            rows[1], rows[0], kind="may_update", score=0.82, reason="another value"
        )
    store.store(
        topic="errors-infra",
        content="CI failed with token ghp_0123456789abcdefghijABCDEFGHIJ012345.",
        caller=agent,
    )
    long = store.store(
        topic="conventions-shop",
        content="Commit messages are written in the past tense and name the ticket.",
        caller=agent,
    ).memory
    store.update(
        long.ulid,
        content="Commit messages are written in the imperative and name the ticket "
        "at the end of the body.",
        caller=Caller(surface="admin", origin="user", details={"user": "owner"}),
    )


def _feedback(now: datetime) -> None:
    from feedback import write
    from icm_site.caller import Caller
    from memories.models import Memory

    wrong = Memory.objects.filter(summary__contains="two retries").first()
    write.record(
        topic="errors-shop",
        context="Calling the payment provider",
        predicted="Two retries after 8 seconds",
        corrected="The payment provider is called without retries since March.",
        reason="Double charges",
        memory=wrong.ulid if wrong else None,
        store_correction=True,
        caller=Caller(surface="mcp", origin="agent", host="codex"),
    )


def _hooks(now: datetime, chance: random.Random) -> None:
    from memories.models import HookEvent, Memory

    ids = list(Memory.objects.values_list("ulid", flat=True)[:20])
    events = ("user-prompt-submit", "session-start", "post-tool-use", "pre-compact")
    rows = []
    for number in range(400):
        event = events[number % len(events)]
        shown = chance.sample(ids, chance.randrange(4)) if number % 4 < 2 else []
        rows.append(
            HookEvent(
                at=now - timedelta(hours=chance.randrange(29 * 24)),
                event=event,
                host=HOSTS[number % 3],
                project=PROJECTS[number % len(PROJECTS)],
                duration_ms=round(chance.lognormvariate(2.6, 0.4), 1),
                injected=shown,
                tokens=60 * len(shown),
                payload_size=chance.randrange(200, 4000),
            )
        )
    HookEvent.objects.bulk_create(rows)


def _memoir(now: datetime, chance: random.Random) -> None:
    from icm_site.caller import Caller
    from icm_site.errors import IcmError
    from memoirs import links, write

    who = Caller(surface="mcp", origin="agent", host="claude-code")
    write.create_memoir("shop-architecture", description="How the shop is built.")
    names = [f"{kind} {n}" for n in range(CONCEPTS // 5) for kind in PARTS]
    for name in names:
        write.add_concept(
            "shop-architecture",
            name=name,
            definition=f"What the {name} of the shop does, and for whom.",
            labels=[f"area:{name.split()[0]}"],
            caller=who,
        )
        write.update_concept(
            "shop-architecture",
            name,
            confidence=round(chance.uniform(0.1, 1.0), 2),
            caller=who,
        )
    for place, name in enumerate(names[1:], 1):
        try:
            links.link(
                "shop-architecture",
                source=name,
                target=names[chance.randrange(max(0, place - 25), place)],
                relation=RELATIONS[place % len(RELATIONS)],
                caller=who,
            )
        except IcmError:
            continue


PARTS = ("service", "queue", "table", "job", "page")

if __name__ == "__main__":
    main()
