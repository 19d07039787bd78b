"""A project's folder as a memoir; only what `learn` made before is renewed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from icm_site.caller import Caller
from icm_site.errors import InvalidInput
from icm_site.text import cut
from memoirs import relations, validation, write
from memoirs.graph import closes_ring
from memoirs.models import Concept, ConceptLink, Memoir, Origin
from memoirs.project.survey import Item, Survey, survey
from memories.cleaner import Cleaner
from memories.projects import project_name


@dataclass(kw_only=True)
class Learned:
    """What a run did; `kept` concepts of that name belong to someone else."""

    memoir: Memoir
    concepts: int = 0
    links: int = 0
    added: int = 0
    updated: int = 0
    removed: int = 0
    kept: int = 0


def allowed(directory: str, *, caller: Caller) -> Path:
    """The folder that a caller means and may have read.

    A person at the command line may name any folder; an agent only the one it works
    in or one below. Raises InvalidInput.
    """
    here = Path(caller.cwd or ".")
    try:
        path = here / Path(directory).expanduser()
        real = path.resolve()
        path.is_dir()
    # No home for `~name`, a name that is too long, or one with a NUL in it.
    except (RuntimeError, OSError, ValueError):
        raise InvalidInput(f"not a folder: {directory[:200]!r}") from None
    if caller.surface == "cli":
        return path
    if not caller.cwd or not real.is_relative_to(here.resolve()):
        raise InvalidInput(
            f"directory must lie inside the working folder, not {directory[:200]!r}"
        )
    return path


def learn(
    directory: Path,
    *,
    caller: Caller,
    name: str | None = None,
    now: datetime | None = None,
) -> Learned:
    """Survey a folder and bring the memoir of that name in step, all or nothing.

    Concepts and links that others made or changed stay as they are. Raises
    InvalidInput for what is no folder of a project.
    """
    if not directory.is_dir():
        raise InvalidInput(f"not a folder: {directory}")
    root = directory.resolve()
    folder = project_name(root)
    if folder is None:
        raise InvalidInput(f"{directory} is no folder of one project")
    found = survey(root, name=folder)
    if not found.edges:
        raise InvalidInput(f"no project in {directory}: no manifest and no source file")
    now = now or timezone.now()
    clean = Cleaner()
    wanted = validation.name("name", name or found.name, clean)
    with transaction.atomic():
        memoir = _memoir(wanted, found, clean, now)
        done = Learned(memoir=memoir, concepts=len(found.items))
        concepts = _renew_concepts(memoir, found, done, clean, caller, now)
        _renew_links(memoir, found, concepts, done, now)
        write.touch(memoir, now)
    return done


def _memoir(name: str, found: Survey, clean: Cleaner, now: datetime) -> Memoir:
    existing = Memoir.objects.filter(name=name).first()
    if existing is not None:
        return existing
    description = cut(clean(found.description), validation.TEXT_BYTES)
    return Memoir.objects.create(
        name=name, description=description, created_at=now, updated_at=now
    )


def _renew_concepts(
    memoir: Memoir,
    found: Survey,
    done: Learned,
    clean: Cleaner,
    caller: Caller,
    now: datetime,
) -> dict[str, Concept]:
    """Add, update, remove learned concepts; returns concepts by the survey's name."""
    existing = {concept.name: concept for concept in memoir.concepts.all()}
    concepts, fresh = {}, []
    for item in found.items.values():
        made = _concept(memoir, item, clean, now)
        known = existing.get(made.name)
        concepts[item.name] = known or made
        if known is None:
            fresh.append(made)
            existing[made.name] = made
        elif known.origin != Origin.LEARN:
            done.kept += 1
        elif (known.definition, known.labels) != (made.definition, made.labels):
            known.memoir = memoir
            write.revise(
                known,
                operation="learn",
                caller=caller,
                now=now,
                origin=Origin.LEARN,
                definition=made.definition,
                labels=made.labels,
                revision=known.revision + 1,
            )
            done.updated += 1
    Concept.objects.bulk_create(fresh)
    done.added = len(fresh)
    done.removed = _remove_gone(memoir, [c.name for c in concepts.values()])
    return concepts


def _concept(memoir: Memoir, item: Item, clean: Cleaner, now: datetime) -> Concept:
    concept = Concept(
        memoir=memoir,
        name=cut(clean(" ".join(item.name.split())), validation.NAME_BYTES),
        definition=cut(clean(item.definition), validation.TEXT_BYTES),
        labels=[f"kind:{kind}" for kind in item.kinds],
        confidence=1.0,
        origin=Origin.LEARN,
        created_at=now,
        updated_at=now,
    )
    concept.derive()
    return concept


def _remove_gone(memoir: Memoir, names: Iterable[str]) -> int:
    """Erase learned concepts that are no more, unless someone has linked them."""
    linked = ConceptLink.objects.exclude(origin=Origin.LEARN)
    gone = (
        memoir.concepts.filter(origin=Origin.LEARN)
        .exclude(name__in=list(names))
        .exclude(Q(links_out__in=linked) | Q(links_in__in=linked))
    )
    return gone.delete()[1].get("memoirs.Concept", 0)


def _renew_links(
    memoir: Memoir,
    found: Survey,
    concepts: dict[str, Concept],
    done: Learned,
    now: datetime,
) -> None:
    """Remove learned links that no longer hold, add what is missing."""
    links = list(ConceptLink.objects.filter(source__memoir=memoir))
    wanted = {
        (concepts[source].pk, concepts[target].pk, relation): None
        for source, target, relation in found.edges
        if concepts[source].pk != concepts[target].pk
    }
    stale = {
        link.pk
        for link in links
        if link.origin == Origin.LEARN and key(link) not in wanted
    }
    ConceptLink.objects.filter(pk__in=stale).delete()
    kept = [key(link) for link in links if link.pk not in stale]
    fresh = _without_rings([edge for edge in wanted if edge not in set(kept)], kept)
    ConceptLink.objects.bulk_create(
        ConceptLink(
            source_id=source,
            target_id=target,
            relation=relation,
            origin=Origin.LEARN,
            created_at=now,
        )
        for source, target, relation in fresh
    )
    done.links = len(fresh) + len(wanted.keys() & set(kept))


Key = tuple[int, int, str]


def _without_rings(fresh: Iterable[Key], kept: Iterable[Key]) -> list[Key]:
    """The new links but for those that would close a ring with a hand-made one."""
    edges: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for source, target, relation in kept:
        edges[relation].append((source, target))
    taken = []
    for source, target, relation in fresh:
        directional = relation in relations.DIRECTIONAL
        if directional and closes_ring(edges[relation], source, target):
            continue
        edges[relation].append((source, target))
        taken.append((source, target, relation))
    return taken


def key(link: ConceptLink) -> Key:
    """What makes a link unique."""
    return link.source_id, link.target_id, link.relation
