"""Index words that may have been meant by a query word which no memory holds.

Such a word is most often misspelt, or a word of another language that is written
nearly alike ("Musik"). Takes any SQLite connection and imports no numpy.
"""

import json
from collections.abc import Collection, Iterator, MutableMapping, Sequence
from string import ascii_lowercase

from icm_site.stem import STEM_LATIN
from memories.scope import Connection

# Shorter words are near too many others. Measured (docs/how-search-works.md).
LEAST_LETTERS = 5
# As many words of a query are looked up.
MOST_WORDS = 8

HAS_TERMS = "SELECT 1 FROM temp.sqlite_master WHERE name = 'memories_terms'"
CREATE_TERMS = """
CREATE VIRTUAL TABLE temp.memories_terms USING fts5vocab(main, memories_fts, row)
"""
# The words that begin alike, and those that differ in the second letter.
NEAR_TERMS = """
SELECT term, doc FROM temp.memories_terms WHERE term >= ?1 AND term < ?2
UNION ALL
SELECT t.term, t.doc FROM json_each(?3) AS c JOIN temp.memories_terms AS t
WHERE t.term = c.value
"""


def guessed(
    connection: Connection,
    terms: Sequence[str],
    holders: Sequence[int],
    spare: Collection[str],
    known: MutableMapping[str, str],
) -> list[str]:
    """For the terms that nothing holds the nearest index words, other than the terms.

    `known`: what was found before, which is added to; "" where there is none.
    """
    missing = [
        term
        for term, count in zip(terms, holders, strict=True)
        if not count and term not in spare and _may_be_misspelt(term)
    ][:MOST_WORDS]
    try:
        for term in missing:
            if term not in known:
                known[term] = _nearest(connection, term)
    # Whatever the driver raises: the words that were spelt well still answer.
    except Exception as error:
        # Loaded when there is something to say, as in arms.attempt.
        import logging

        logger = logging.getLogger(__name__)
        logger.warning("no words were guessed: %s", error)
    found = dict.fromkeys(known.get(term, "") for term in missing)
    return [word for word in found if word and word not in terms]


def _may_be_misspelt(term: str) -> bool:
    return len(term) >= LEAST_LETTERS and term.isascii() and term.isalpha()


def _nearest(connection: Connection, term: str) -> str:
    if not connection.execute(HAS_TERMS).fetchone():
        create_temporary(connection, CREATE_TERMS)
    start = term[:2]
    parameters = (start, f"{start}{{", json.dumps(list(_second_letter(term))))
    found = [
        (not _one_edit(term, word), -rows, word)
        for word, rows in connection.execute(NEAR_TERMS, parameters)
        if is_near(term, word)
    ]
    return min(found)[-1] if found else ""


def _second_letter(term: str) -> Iterator[str]:
    """The words that a wrong, missing, exchanged or added second letter leaves."""
    first, rest = term[0], term[1:]
    yield first + rest[1:]
    yield first + rest[1] + rest[0] + rest[2:]
    for letter in ascii_lowercase:
        yield (first + letter + rest)[:STEM_LATIN]
        yield first + letter + rest[1:]


def is_near(term: str, word: str) -> bool:
    """Whether two index words are one edit apart, as far as their letters are kept."""
    if abs(len(term) - len(word)) > 1 or not (word.isascii() and word.isalpha()):
        return False
    if _one_edit(term, word):
        return True
    # A letter less has let another one in at the end.
    cut = STEM_LATIN - 1
    return (len(term) == STEM_LATIN and _one_edit(term[:cut], word)) or (
        len(word) == STEM_LATIN and _one_edit(term, word[:cut])
    )


def _one_edit(one: str, other: str) -> bool:
    """One letter more, less or in place of another, or two that changed places."""
    if len(one) > len(other):
        one, other = other, one
    same = 0
    while same < len(one) and one[same] == other[same]:
        same += 1
    rest, longer = one[same:], other[same:]
    if len(one) < len(other):
        return rest == longer[1:]
    return rest[1:] == longer[1:] or (
        rest[:2] == longer[1::-1] and rest[2:] == longer[2:]
    )


def create_temporary(connection: Connection, statement: str) -> None:
    """Make a table of this connection alone, over the words of the index."""
    # It lies in memory, yet a connection for reading refuses it as it does any table.
    (reading,) = connection.execute("PRAGMA query_only").fetchone()
    connection.execute("PRAGMA query_only = OFF")
    try:
        connection.execute(statement)
    finally:
        connection.execute(f"PRAGMA query_only = {int(reading)}")
