"""Counts of words within classes, by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from merula.core.arrays import Array
from merula.data.encode import Encoded, Target
from merula.data.encode.tokens import NO_COUNT
from merula.data.schema import Label
from merula.stats._kernels import class_weights, count_tokens
from merula.stats.base import OfColumns
from merula.stats.counts import merged_counts


@dataclass(frozen=True, eq=False)
class TokenCounts(OfColumns):
    """For each of several text columns: the words met, each class's count of each word, and the weight of its texts.

    ``labels[j][v]`` belongs to ``counts[j][class, v]``. With `binary`, a text counts once for each word it holds.
    """

    columns: tuple[str, ...]
    binary: bool
    labels: tuple[Sequence[Label], ...]
    counts: tuple[Array, ...]
    present: Array

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int, binary: bool = False) -> TokenCounts:
        """Nothing counted yet."""
        d = len(columns)
        return cls(tuple(columns), binary, ((),) * d, (np.zeros((classes, 0)),) * d, np.zeros((classes, d)))

    def update(self, rows: Encoded, target: Target) -> TokenCounts:
        """See `Statistic.update`."""
        labels, counts, present = [], [], np.zeros_like(self.present)
        for j, name in enumerate(self.columns):
            tokens = rows.tokens(name)
            found = np.zeros((len(self.present), len(tokens.labels)))
            amounts = tokens.starts, tokens.codes, tokens.counts
            if not count_tokens(*amounts, target.codes, target.weights, self.binary, found):
                raise ValueError(NO_COUNT)
            lost = np.where(tokens.absent, 1.0 if target.weights is None else target.weights, 0.0)
            absent = np.bincount(target.codes, weights=lost, minlength=len(found))
            present[:, j] = class_weights(target.codes, target.weights, len(found)) - absent
            labels.append(tokens.labels)
            counts.append(found)
        return self + TokenCounts(self.columns, self.binary, tuple(labels), tuple(counts), present)

    def __add__(self, other: TokenCounts) -> TokenCounts:
        pairs = zip(self.labels, self.counts, other.labels, other.counts, strict=True)
        labels, counts = zip(*(merged_counts(*pair) for pair in pairs), strict=True)
        return TokenCounts(self.columns, self.binary, labels, counts, self.present + other.present)
