"""Text as counted words: what a token is, is decided here and nowhere else."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.data.schema import Label

IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
NO_COUNT = "the matrix of counted words holds a negative or infinite count or NaN; counts of words are numbers from 0"
TOKEN = re.compile(
    rf"[{IDEOGRAPHS}]|(?:(?![{IDEOGRAPHS}])\w){{2,}}"
)  # words of two letters or more; Chinese sign by sign


@dataclass(frozen=True, eq=False)
class Tokens:
    """Counted words of a text column: row r holds ``codes[starts[r]:starts[r + 1]]``, each ``counts`` times.

    ``labels[code]`` is the word; `absent` tells missing texts from empty ones; `source` holds the texts, if there were any.
    """

    starts: NDArray[Any]
    codes: NDArray[Any]
    counts: NDArray[Any]
    labels: Sequence[Label]
    absent: NDArray[np.bool_]
    source: Sequence[str | None] | None = None

    def tile(self, start: int, stop: int) -> Tokens:
        """Some of the rows, without copying their words."""
        return replace(self, starts=self.starts[start : stop + 1], absent=self.absent[start:stop])

    def text(self, row: int) -> str | None:
        """One text, None if it is missing; how many words it has where they were counted elsewhere."""
        if self.source is not None:
            return self.source[row]
        return f"{self.counts[self.starts[row] : self.starts[row + 1]].sum():g} counted words"

    def take(self, indices: NDArray[np.int64]) -> Tokens:
        """Some rows in this order, copied."""
        starts, ends = self.starts[:-1][indices], self.starts[1:][indices]
        lengths = ends - starts
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        within = np.arange(bounds[-1]) - np.repeat(bounds[:-1] - starts, lengths)
        source = None if self.source is None else [self.source[index] for index in indices.tolist()]
        return Tokens(bounds, self.codes[within], self.counts[within], self.labels, self.absent[indices], source)


def words(text: str) -> list[str]:
    """The tokens of a text, in small letters.

    Examples
    --------
    >>> words("Free entry! 免费 text WON to 80086")
    ['free', 'entry', '免', '费', 'text', 'won', 'to', '80086']
    """
    return TOKEN.findall(text.lower())


def tokenise(texts: Iterable[str | None]) -> Tokens:
    """Each text's words, counted."""
    source = list(texts)
    vocabulary: dict[str, int] = {}
    codes, counts, starts = array("i"), array("i"), array("q", [0])
    for text in source:
        for word, count in Counter(words(text)).items() if text is not None else ():
            codes.append(vocabulary.setdefault(word, len(vocabulary)))
            counts.append(count)
        starts.append(len(codes))
    return Tokens(
        np.array(starts, dtype=np.int64),
        np.array(codes, dtype=np.int32),
        np.array(counts, dtype=np.int32),
        tuple(vocabulary),
        np.array([text is None for text in source], dtype=np.bool_),
        source,
    )


def counted_matrix(matrix: Any) -> Tokens:
    """A sparse matrix of counts: its columns are the words, called by their number."""
    return Tokens(
        matrix.indptr,
        matrix.indices,
        matrix.data,
        range(matrix.shape[1]),
        np.zeros(matrix.shape[0], dtype=np.bool_),
    )
