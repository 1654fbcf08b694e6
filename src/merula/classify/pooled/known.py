"""What it says of the class that cells are known at all: the pool's correction of how often parts take rows for each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from merula.core import Array, InputError
from merula.core.sound import all_shaped, are_labels, within
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.distributions.base import Added, IndependentColumns
from merula.distributions.lookups import Axis, Lookup
from merula.distributions.mixed_cells import read_cells

LARGEST = 1e6  # nats


@dataclass(frozen=True, eq=False, repr=False)
class KnownCells(IndependentColumns):
    """Σ_j bias[c, j] over the columns that are known, so that a row of which nothing is known keeps the prior.

    Of columns in ``always``, being missing is an answer, and so known too.
    """

    columns: tuple[str, ...]
    level_sets: tuple[tuple[Label, ...] | None, ...]
    always: tuple[bool, ...]
    bias: Array

    discrete: ClassVar[bool] = True

    @classmethod
    def of(cls, level_sets: Mapping[str, tuple[Label, ...] | None], answered: frozenset[str], bias: Array) -> KnownCells:  # fmt: skip
        """A bias for each class, shared by all columns alike."""
        columns = tuple(sorted(level_sets))
        none = np.zeros((len(bias), len(columns)))
        return cls(columns, tuple(level_sets[name] for name in columns), tuple(name in answered for name in columns), none).with_bias(bias)  # fmt: skip

    def with_bias(self, bias: Array) -> KnownCells:
        """The same with another correction."""
        count = len(self.columns)
        return replace(self, bias=np.repeat(bias[:, None] / max(1, count), count, axis=1))

    @property
    def no_density(self) -> str:
        return "it corrects how often parts take rows for each class, and says nothing of P(row)"

    @property
    def class_count(self) -> int:
        return len(self.bias)

    def known(self, rows: Encoded) -> NDArray[np.bool_]:
        """Whether each cell is known, or being missing an answer: rows × columns."""
        return ~np.isnan(read_cells(rows, self.columns, self.level_sets)) | np.array(self.always)  # type: ignore[no-any-return]

    def add_log_prob(self, rows: Encoded, out: Array) -> None:
        out += self.known(rows) @ self.bias.T

    def split(self, weights: Sequence[float]) -> tuple[tuple[Lookup, ...], tuple[Added, ...]]:
        axes = map(_axis, self.columns, self.level_sets, self.always)
        return tuple(Lookup((axis,), weight * bias[None]) for axis, bias, weight in zip(axes, self.bias.T, weights, strict=True)), ()  # fmt: skip

    @property
    def parameters_count(self) -> int:
        """One for each class but the first."""
        return len(self.bias) - 1

    def sample(self, classes: NDArray[np.int64], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        raise InputError("rows cannot be drawn from a correction")

    def fits(self, classes: int) -> bool:
        d = len(self.columns)
        told = len(self.level_sets) == len(self.always) == d and all(type(one) is bool for one in self.always)
        labelled = all(known is None or are_labels(known) for known in self.level_sets)
        return super().fits(classes) and told and labelled and all_shaped((classes, d), self.bias) and within(-LARGEST, LARGEST, self.bias)  # fmt: skip


def _axis(column: str, levels: tuple[Label, ...] | None, always: bool) -> Axis:
    """One cell for all that is known."""
    parted, known = (np.zeros(0), 1) if levels is None else (levels, len(levels))
    lost = 0 if always else -1
    return Axis(column, parted, np.array([0] * known + [lost, lost]))
