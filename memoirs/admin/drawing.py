"""The graph of a memoir: the page that draws it, and the JSON it reads and writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext

from icm_site import undoing
from icm_site.caller import Caller
from icm_site.errors import IcmError, InvalidInput
from icm_site.model_admin import caller, own_page, require
from memoirs import export, links, merging, write
from memoirs.admin import taking_back
from memoirs.models import Concept, ConceptLink, Memoir
from memoirs.relations import Relation

# More than this nobody reads as a picture; the lists have all.
DRAWN = 1_000


def page(request: HttpRequest, key: int) -> HttpResponse:
    """The page: a plain list, over which the script draws."""
    require(request, "memoirs.view_memoir")
    memoir = _memoir(key)
    graph = export.load(memoir)
    leaving: dict[int, list[tuple[str, str]]] = {}
    for link in graph.links:
        target = graph.names.get(link.target_id, "")
        leaving.setdefault(link.source_id, []).append((link.relation, target))
    return own_page(
        request,
        "memoirs/graph.html",
        title=memoir.name,
        opts=Memoir._meta,
        memoir=memoir,
        count=len(graph.concepts),
        drawn=DRAWN,
        rows=[(c, leaving.get(c.pk, [])) for c in graph.concepts[:DRAWN]],
        relations=Relation.values,
        words=_words(),
    )


def data(request: HttpRequest, key: int) -> HttpResponse:
    """The whole memoir as JSON: concepts and links by their public ids."""
    require(request, "memoirs.view_memoir")
    return JsonResponse(_graph(_memoir(key)))


def change(request: HttpRequest, key: int) -> HttpResponse:
    """One act of ACTS, given as JSON; answers with what is drawn now, or an error."""
    require(request, "memoirs.change_memoir")
    memoir = _memoir(key)
    if request.method != "POST":
        return JsonResponse({"error": "only POST changes anything"}, status=405)
    try:
        given = _object(request.body)
        note, undo = _done(memoir, given, caller(request))
    except IcmError as error:
        return JsonResponse({"error": error.message}, status=error.status)
    return JsonResponse({**_graph(memoir), "note": note, "undo": undo})


def _done(memoir: Memoir, given: Mapping[str, Any], who: Caller) -> tuple[str, str]:
    """Do what is asked; returns what is said of it, and what takes it back."""
    if given.get("act") == "undo":
        return undoing.ACTS.take_back(_text(given, "undo"), who)
    act = ACTS.get(str(given.get("act")))
    if act is None:
        raise InvalidInput(gettext("There is no such act."))
    rows = partial(taking_back.rows, memoir.pk)
    with undoing.watching(rows, **taking_back.HISTORY) as done:
        note = act(memoir, given, who)
    return note, done.undo


def _memoir(key: int) -> Memoir:
    found = Memoir.objects.filter(pk=key).first() if key < 2**63 else None
    if found is None:
        raise Http404
    return found


def _object(body: bytes) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput("the body is not JSON") from None
    if not isinstance(given, dict):
        raise InvalidInput("the body is not a JSON object")
    return given


def _graph(memoir: Memoir) -> dict[str, Any]:
    concepts = list(memoir.concepts.order_by("id")[:DRAWN])
    ids = {concept.pk: concept.ulid for concept in concepts}
    rows = ConceptLink.objects.filter(source__memoir=memoir).order_by("id")
    return {
        "concepts": [
            {
                "id": concept.ulid,
                "name": concept.name,
                "definition": concept.definition,
                "labels": concept.labels,
                "confidence": concept.confidence,
                "revision": concept.revision,
            }
            for concept in concepts
        ],
        "links": [
            {
                "id": row.ulid,
                "source": ids[row.source_id],
                "target": ids[row.target_id],
                "relation": row.relation,
                "weight": row.weight,
            }
            for row in rows
            if row.source_id in ids and row.target_id in ids
        ],
    }


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text")
    return value


def _concept(
    memoir: Memoir, given: Mapping[str, Any], name: str = "concept"
) -> Concept:
    wanted = _text(given, name)
    for concept in memoir.concepts.all():
        if concept.ulid == wanted:
            return concept
    text = gettext("The concept is not there any more; load the page again.")
    raise InvalidInput(text)


def _ends(memoir: Memoir, given: Mapping[str, Any]) -> dict[str, Any]:
    """Names of the link with an id, as `links` takes them."""
    wanted = _text(given, "link")
    rows = ConceptLink.objects.filter(source__memoir=memoir)
    for row in rows.select_related("source", "target"):
        if row.ulid == wanted:
            return {
                "source": row.source.name,
                "target": row.target.name,
                "relation": row.relation,
            }
    text = gettext("The link is not there any more; load the page again.")
    raise InvalidInput(text)


def _add(memoir: Memoir, given: Mapping[str, Any], who: Caller) -> str:
    made = write.add_concept(
        memoir.name,
        name=_text(given, "name"),
        definition=_text(given, "definition"),
        caller=who,
    )
    return _masked(made.redacted)


def _edit(memoir: Memoir, given: Mapping[str, Any], who: Caller) -> str:
    """What differs from the concept as it is: definition, name, labels, confidence."""
    concept = _concept(memoir, given)
    name, masked = concept.name, set[str]()
    text = _text(given, "definition")
    if text != concept.definition:
        done = write.refine(memoir.name, name, definition=text, caller=who)
        masked.update(done.redacted)
    changed: dict[str, Any] = {}
    if (wanted := _text(given, "name").strip()) != name:
        changed["new_name"] = wanted
    labels = [part.strip() for part in _text(given, "labels").split(",")]
    if (labels := [part for part in labels if part]) != concept.labels:
        changed["labels"] = labels
    confidence = _confidence(given.get("confidence"))
    if confidence != round(concept.confidence, 2):
        changed["confidence"] = confidence
    if changed:
        done = write.update_concept(memoir.name, name, caller=who, **changed)
        masked.update(done.redacted)
    return _masked(sorted(masked))


def _confidence(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        text = gettext("The confidence must be a number from 0 to 1.")
        raise InvalidInput(text)
    return float(value)


def _remove(memoir: Memoir, given: Mapping[str, Any], who: Caller) -> str:
    write.delete_concept(memoir.name, _concept(memoir, given).name)
    return ""


def _merge(memoir: Memoir, given: Mapping[str, Any], who: Caller) -> str:
    done = merging.merge(
        memoir.name,
        _concept(memoir, given).name,
        into=_concept(memoir, given, "into").name,
        caller=who,
    )
    if not done.dropped:
        return ""
    text = gettext("%d links were left out: double, to itself, or in a ring.")
    return text % done.dropped


def _link(memoir: Memoir, given: Mapping[str, Any], who: Caller) -> str:
    links.link(
        memoir.name,
        source=_concept(memoir, given, "source").name,
        target=_concept(memoir, given, "target").name,
        relation=_text(given, "relation"),
        caller=who,
    )
    return ""


def _retype(memoir: Memoir, given: Mapping[str, Any], who: Caller) -> str:
    ends = _ends(memoir, given)
    links.retype(memoir.name, **ends, to=_text(given, "relation"), caller=who)
    return ""


def _unlink(memoir: Memoir, given: Mapping[str, Any], who: Caller) -> str:
    links.delete_link(memoir.name, **_ends(memoir, given))
    return ""


def _masked(kinds: Any) -> str:
    text = gettext("Masked before it was written: %s.")
    return text % ", ".join(kinds) if kinds else ""


ACTS: dict[str, Callable[[Memoir, Mapping[str, Any], Caller], str]] = {
    "add": _add,
    "edit": _edit,
    "remove": _remove,
    "merge": _merge,
    "link": _link,
    "retype": _retype,
    "unlink": _unlink,
}


def _words() -> dict[str, str]:
    """What the script says, in the language of the page."""
    return {
        "deleted": gettext("Deleted."),
        "saved": gettext("Saved."),
        "none": gettext("Nothing fits."),
        "found": gettext("found"),
        "delete": gettext("Delete"),
        "lost": gettext("The server does not answer."),
    }
