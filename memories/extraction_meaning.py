"""How near a sentence is in meaning to things worth storing; needs a model.

Only the nearness to the best example for and against counts, and only its difference:
the cosines of a small model lie close together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memories.extraction import Meaning

if TYPE_CHECKING:
    from memories.embedder import Embedder, Vector

# Best example for minus best example against, as a cosine: speaks for it from here on.
MARGIN = 0.025
POINTS = 1.0

# kind -> sentences of that kind, in several languages.
FOR: Mapping[str, tuple[str, ...]] = {
    "decision": (
        "We decided to use one message queue instead of two.",
        "The team agreed to drop support for the old format.",
        "Hemos decidido cambiar de proveedor a partir de mayo.",
        "我们决定改用另一个框架。",
        "Договорились перейти на новую схему.",
    ),
    "fix": (
        "The crash came from a missing lock and is solved by taking it earlier.",
        "Root cause: the cache was never cleared after a deployment.",
        "Die Ursache war ein fehlender Index, seitdem läuft es.",
        "원인은 잘못된 경로였고 경로를 고쳐 해결했다.",
    ),
    "preference": (
        "She prefers short answers over long explanations.",
        "The user always wants tests to be written first.",
        "Il préfère recevoir les rapports le lundi.",
        "उन्हें लंबे ईमेल की जगह छोटे संदेश पसंद हैं।",
    ),
    "constraint": (
        "This only works with version 3 or newer and fails on Windows.",
        "Files larger than ten megabytes are never accepted.",
        "この機能は古いブラウザでは使えない。",
    ),
    "commitment": (
        "I promised to send the report by the end of the week.",
        "She will have the draft ready before Friday.",
        "Ho promesso di consegnare tutto entro lunedì.",
    ),
    "opinion": (
        "I think this approach is overrated and will not last.",
        "Acho que essa ferramenta é complicada demais.",
    ),
    "milestone": (
        "Version 2.0 was released on the first of June.",
        "The migration to the new cluster is complete.",
    ),
    "architecture": (
        "The service stores its sessions in memory and its orders in a database.",
        "Requests pass through a gateway that checks the token first.",
    ),
    "fact": (
        "The deadline of the application is the 30th of September.",
        "His sister works as a nurse in Lisbon and has two children.",
        "Last month I moved to a new flat near the river.",
    ),
}
AGAINST = (
    "Let me look at the file and check what it does.",
    "Now I will run the tests again to see if that helped.",
    "Great, that sounds good, thank you so much!",
    "How was your weekend, did anything interesting happen?",
    "The command finished and printed the following lines.",
    "That is nice to hear, keep it up!",
    "Lass mich kurz nachsehen, was da los ist.",
    "让我先看看这个文件。",
    "¡Qué bien, gracias por contármelo!",
)

_anchors: dict[str, tuple[list[str], Vector, Vector]] = {}


def meaning(model: Embedder) -> Meaning:
    """Points of sentences by this model, for `extraction.extract`."""

    def hints(sentences: Sequence[str]) -> list[tuple[str, float]]:
        kinds, positive, negative = _examples(model)
        vectors = model.embed_texts(list(sentences))
        near, far = vectors @ positive.T, vectors @ negative.T
        return [
            (kinds[int(row.argmax())], points(float(row.max() - other.max())))
            for row, other in zip(near, far, strict=True)
        ]

    return hints


def points(margin: float) -> float:
    """Points for a difference of cosines: none at `MARGIN`, at most one either way."""
    return POINTS * max(-1.0, min(1.0, (margin - MARGIN) / MARGIN))


def _examples(model: Embedder) -> tuple[list[str], Vector, Vector]:
    if model.name not in _anchors:
        pairs = [(kind, text) for kind, texts in FOR.items() for text in texts]
        _anchors[model.name] = (
            [kind for kind, _ in pairs],
            model.embed_texts([text for _, text in pairs]),
            model.embed_texts(AGAINST),
        )
    return _anchors[model.name]
