"""Moments of incomplete numeric rows, kept per class and missing pattern, so that EM needs no rows.

The spread about a pattern's mean is kept as a square root: vectors r with Σ r rᵀ = scatter, never more of them than
observed columns. A pattern met once costs one row; a pattern met a million times costs one small triangle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.core.sound import HEAVIEST, all_shaped, are_codes, are_finite, is_number
from merula.data.encode import Encoded, Target
from merula.stats._kernels import incomplete_rows
from merula.stats.base import with_weight
from merula.stats.distinct_rows import distinct_rows
from merula.stats.fading import faded_weights, shares_left
from merula.stats.moments import FullMoments, Means, centred, merge_means, refuse_overflow
from merula.stats.removal import NEVER, unmerge_moments, variance_of

Key = tuple[int, bytes]  # class, observed columns


@dataclass(frozen=True, eq=False)
class Partial:
    """Rows of one class observed in the same columns: weight, mean, and root vectors of the scatter, observed columns only.

    ``rest`` is what rounding cut off the mean, as in `Moments`.
    """

    weight: float
    mean: Array
    root: Array
    rest: Array | float = 0.0

    @property
    def low(self) -> Array:
        """`rest` as an array."""
        return np.broadcast_to(self.rest, self.mean.shape)

    def __add__(self, other: Partial) -> Partial:
        (weight, mean, rest), apart, count = merge_means(self._means, other._means)
        root = np.concatenate([self.root, other.root, (apart * np.sqrt(count))[None, :]])
        return Partial(float(weight), mean, compressed(root), rest)

    def scaled(self, factor: float) -> Partial:
        """The same as if every row had counted so often."""
        weight = np.array(self.weight)
        left = np.sqrt(shares_left(weight, factor))
        return Partial(float(faded_weights(weight, factor)), self.mean, self.root * left, self.rest)

    def less(self, other: Partial, columns: Sequence[str], variance: Array) -> Partial:
        """What is left without another part of columns of this variance: its root vectors are those of the scatter that is left."""
        mine, theirs = ((np.array([one.weight]), one.mean[None], (one.root.T @ one.root)[None], one.low[None]) for one in (self, other))  # fmt: skip
        weight, mean, scatter, rest = unmerge_moments(mine, theirs, columns, variance)
        return Partial(float(weight[0]), mean[0], root_of(scatter[0]), rest[0])

    @property
    def _means(self) -> Means:
        return np.asarray(self.weight), self.mean, self.low


def root_of(scatter: Array) -> Array:
    """Vectors r with Σ r rᵀ = scatter, found in units of each column's own spread."""
    unit = np.sqrt(np.diagonal(scatter))
    safe = np.where(unit > 0, unit, 1.0)
    values, vectors = np.linalg.eigh(scatter / safe[:, None] / safe)
    return compressed(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * unit)


def compressed(root: Array) -> Array:
    """The same scatter from as few vectors as it has columns, without those that are all 0."""
    if len(root) > root.shape[1]:
        root = np.asarray(np.linalg.qr(root, mode="r"))
    return root[root.any(axis=1)]


@dataclass(frozen=True, eq=False)
class PatternMoments:
    """Full moments of the complete rows, and one `Partial` for each class and pattern of observed columns."""

    complete: FullMoments
    partial: dict[Key, Partial]

    def fits(self, classes: int) -> bool:
        known = self.complete.fits(classes) and all(0 <= label < classes for label, _ in self.partial)
        parts = self.partial.values()
        sound = known and all(is_number(part.weight, 0.0, HEAVIEST) for part in parts)
        return sound and all(are_finite(part.mean, part.root, part.low) for part in parts)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.complete.columns

    @classmethod
    def zero(cls, columns: Sequence[str], classes: int) -> PatternMoments:
        return cls(FullMoments.zero(columns, classes), {})

    def update(self, rows: Encoded, target: Target) -> PatternMoments:
        x, target = with_weight(rows.values(self.columns), target)
        incomplete = incomplete_rows(x)
        if not incomplete.any():
            return PatternMoments(self.complete.add_rows(x, target), self.partial)
        refuse_overflow(x, ~np.isinf(x).any(axis=0), self.columns)
        complete = self.complete.add_rows(x[~incomplete], target.take(~incomplete))
        partial = merge(self.partial, _partials(x[incomplete], target.take(incomplete), self.columns))
        return PatternMoments(complete, partial)

    def __add__(self, other: PatternMoments) -> PatternMoments:
        return PatternMoments(self.complete + other.complete, merge(self.partial, other.partial.items()))

    def __sub__(self, other: PatternMoments) -> PatternMoments:
        """What is left, checked against the variance of what is left: of all patterns, for one may have a single row."""
        for key in (key for key in other.partial if key not in self.partial):
            known = ", ".join(repr(name) for name, seen in zip(self.columns, key[1], strict=True) if seen)
            raise InputError(f"no row of the whole knows {known} alone, as one of the part does: the part was never in the whole", remedy=NEVER)  # fmt: skip
        return self._less(other, self._less(other, np.full(len(self.columns), np.inf))._variance)

    def _less(self, other: PatternMoments, variance: Array) -> PatternMoments:
        mine, theirs = self.complete, other.complete
        complete = FullMoments(self.columns, *unmerge_moments(mine._parts, theirs._parts, self.columns, variance))
        left = dict(self.partial)
        for key, part in other.partial.items():
            seen = np.frombuffer(key[1], dtype=np.bool_)
            left[key] = left[key].less(part, tuple(np.array(self.columns)[seen].tolist()), variance[seen])
        return PatternMoments(complete, {key: part for key, part in left.items() if part.weight > 0})

    @property
    def _variance(self) -> Array:
        """The variance of each column over all classes and patterns."""
        shape = (len(self.partial), len(self.columns))
        weight, mean, squares, rest = (np.zeros(shape) for _ in range(4))
        for row, ((_, mask), part) in enumerate(self.partial.items()):
            seen = np.frombuffer(mask, dtype=np.bool_)
            weight[row, seen], mean[row, seen], rest[row, seen] = part.weight, part.mean, part.low
            squares[row, seen] = (part.root * part.root).sum(axis=0)
        alone = self.complete
        every = np.repeat(alone.weight[:, None], len(self.columns), axis=1)
        own = np.diagonal(alone.scatter, axis1=1, axis2=2)
        parts = ((weight, every), (mean, alone.mean), (rest, alone._parts[3]), (squares, own))
        weight, mean, rest, squares = (np.concatenate(pair) for pair in parts)
        return variance_of((weight, mean, rest), squares)

    def scaled(self, factor: float) -> PatternMoments:
        partial = {key: part.scaled(factor) for key, part in self.partial.items()}
        return PatternMoments(self.complete.scaled(factor), partial)

    def with_classes(self, indices: NDArray[np.int64], count: int) -> PatternMoments:
        partial = {(int(indices[label]), mask): part for (label, mask), part in self.partial.items() if indices[label] >= 0}  # fmt: skip
        return PatternMoments(self.complete.with_classes(indices, count), partial)

    def with_columns(self, columns: Sequence[str]) -> PatternMoments:
        order = np.array([self.columns.index(name) for name in columns], dtype=np.int64)
        partial = {}
        for (label, mask), part in self.partial.items():
            observed = np.frombuffer(mask, dtype=np.uint8)
            position = np.cumsum(observed) - 1  # of each observed column within the part
            inner = position[order[observed[order] > 0]]
            partial[label, observed[order].tobytes()] = Partial(
                part.weight, part.mean[inner], part.root[:, inner], part.low[inner]
            )
        return PatternMoments(self.complete.with_columns(columns), partial)

    def state(self) -> dict[str, Any]:
        keys = sorted(self.partial)
        parts = [self.partial[key] for key in keys]
        return {
            "complete": self.complete.state(),
            "class": np.array([label for label, _ in keys], dtype=np.int64),
            "observed": np.array([list(mask) for _, mask in keys], dtype=np.uint8).reshape(
                len(keys), len(self.columns)
            ),
            "weight": np.array([part.weight for part in parts], dtype=np.float64),
            "mean": np.concatenate([part.mean for part in parts] or [np.zeros(0)]),
            "rest": np.concatenate([part.low for part in parts] or [np.zeros(0)]),
            "vectors": np.array([len(part.root) for part in parts], dtype=np.int64),
            "root": np.concatenate([part.root.ravel() for part in parts] or [np.zeros(0)]),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> PatternMoments:
        if not _are_patterns(state):
            raise InputError("the moments of incomplete rows do not fit together")
        partial: dict[Key, Partial] = {}
        mean_at = root_at = 0
        for label, observed, weight, vectors in zip(
            state["class"].tolist(), state["observed"], state["weight"].tolist(), state["vectors"].tolist(), strict=True
        ):
            size = int(observed.sum())
            mean, rest = (state[name][mean_at : mean_at + size] for name in ("mean", "rest"))
            root = state["root"][root_at : root_at + vectors * size].reshape(vectors, size)
            partial[label, observed.tobytes()] = Partial(weight, mean, root, rest)
            mean_at, root_at = mean_at + size, root_at + vectors * size
        return cls(FullMoments.from_state(state["complete"]), partial)


def _are_patterns(state: dict[str, Any]) -> bool:
    """True when a state holds as many numbers as its patterns ask for, each pattern of a class once."""
    count, width = len(state["class"]), len(state["complete"]["columns"])
    shaped = are_codes(state["class"], (count,), np.int64, 0, 2**31) and all_shaped((count,), state["weight"])
    shaped = shaped and are_codes(state["observed"], (count, width), np.uint8, 0, 2)
    if not shaped or not are_codes(state["vectors"], (count,), np.int64, 0, width + 1):
        return False
    sizes = state["observed"].sum(axis=1, dtype=np.int64)
    enough = all_shaped((int(sizes.sum()),), state["mean"], state["rest"])
    keys = {(label, mask.tobytes()) for label, mask in zip(state["class"].tolist(), state["observed"], strict=True)}
    return enough and all_shaped((int(sizes @ state["vectors"]),), state["root"]) and len(keys) == count


def merge(partial: dict[Key, Partial], more: Iterable[tuple[Key, Partial]]) -> dict[Key, Partial]:
    """Both collections of patterns as one."""
    result = dict(partial)
    for key, part in more:
        result[key] = result[key] + part if key in result else part
    return result


def _partials(x: NDArray[Any], target: Target, columns: Sequence[str]) -> Iterable[tuple[Key, Partial]]:
    """The moments of incomplete rows, one class and pattern at a time; rows with nothing observed say nothing."""
    observed, classes, weights = ~np.isnan(x), target.codes, target.weights
    packed = np.packbits(observed, axis=1)
    first, groups = distinct_rows(np.concatenate([classes[:, None].astype(np.int64), packed.astype(np.int64)], axis=1))
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=len(first)))
    for index, start, stop in zip(first, ends - np.diff(ends, prepend=0), ends, strict=True):
        rows, mask = order[start:stop], observed[index]
        if mask.any():
            weight, mean, rest, root = centred(x[rows][:, mask], None if weights is None else weights[rows])
            with np.errstate(over="ignore"):
                fine = np.isfinite((root * root).sum(axis=0))
            refuse_overflow(x[rows][:, mask], fine, [c for c, m in zip(columns, mask, strict=True) if m])
            yield (int(classes[index]), mask.astype(np.uint8).tobytes()), Partial(weight, mean, compressed(root), rest)
