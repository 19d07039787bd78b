"""Text to the tokens of the packaged model: the likeliest cut of each word."""

from __future__ import annotations

import functools
import re

from memories.e5.weights import Vocabulary

# Stands for a space, at the beginning of a word; no piece has one further inside, so
# that words are cut independently of each other.
MARK = "\u2581"
WORD = re.compile(f"{MARK}?[^{MARK}]+|{MARK}")
SPACES = re.compile("  +")
# How much less likely an unknown character is than the least likely piece.
UNKNOWN = 10.0
WORDS_KEPT = 16_384
# Longer ones are hardly words, and seldom come again.
KEPT_CHARS = 32


class Tokens:
    """The unigram model of SentencePiece over the pieces of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._replaced = vocabulary.replaced
        self._unknown = vocabulary.unknown
        self._scores = vocabulary.scores
        self._pieces = {piece: token for token, piece in enumerate(vocabulary.pieces)}
        del self._pieces[vocabulary.pieces[vocabulary.unknown]]
        self._longest = max(map(len, self._pieces))
        self._least = min(vocabulary.scores) - UNKNOWN
        self._kept = functools.lru_cache(WORDS_KEPT)(self._cut)

    def of(self, text: str) -> list[int]:
        """The tokens of a text, without those for its begin and end."""
        text = SPACES.sub(" ", text.translate(self._replaced))
        if not text.startswith(" "):
            text = " " + text
        found: list[int] = []
        for word in WORD.findall(text.replace(" ", MARK)):
            found += self._kept(word) if len(word) <= KEPT_CHARS else self._cut(word)
        return found

    def _cut(self, word: str) -> list[int]:
        """The pieces with the highest sum of scores (Viterbi's algorithm)."""
        size = len(word)
        best = [0.0] + [float("-inf")] * size
        last = [(0, self._unknown)] * (size + 1)
        for start in range(size):
            here = best[start]
            if here + self._least > best[start + 1]:
                best[start + 1] = here + self._least
                last[start + 1] = (start, self._unknown)
            for end in range(start + 1, min(start + self._longest, size) + 1):
                token = self._pieces.get(word[start:end])
                if token is not None and here + self._scores[token] > best[end]:
                    best[end] = here + self._scores[token]
                    last[end] = (start, token)
        found = []
        while size:
            size, token = last[size]
            found.append(token)
        return found[::-1]
