"""What an effect is of, and what each kind of part must offer to be shown as effects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from merula.core import Array
from merula.core.threads import BLOCK
from merula.data.encode import Encoded

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Subject:
    """The columns that an effect is of; where it is not purified, `whole` says what it is instead."""

    columns: tuple[str, ...]
    whole: str = ""
    parents: ClassVar[tuple[str, ...]] = ()
    discrete: ClassVar[bool] = True  # it is no density

    @property
    def key(self) -> Any:
        """Its column, or tuple of columns; (columns, what it is) where it is not purified."""
        if self.whole:
            return self.columns, self.whole
        return self.columns[0] if len(self.columns) == 1 else self.columns


class PartEffects(Protocol):
    """The effects of one part of a model, already weighted; what all classes have in common may be left in."""

    @property
    def subjects(self) -> Sequence[Subject]:
        """All that it has an effect of, each once."""

    @property
    def rows_at_once(self) -> int:
        """The most rows that it should be asked to read together."""

    def read(self, rows: Encoded) -> Any:
        """What the methods below need of rows, worked out once."""

    def add_intercept(self, read: Any, out: Array) -> None:
        """Add to `out`, rows × classes, what belongs to no column."""

    def add(self, read: Any, wanted: Places, out: Array) -> None:
        """Add to ``out[wanted[k]]``, rows × classes, the effect of ``subjects[k]``, unless that is −1."""


AT_ONCE = BLOCK  # rows that are read together, unless a part needs more memory for each


def asked_for(wanted: Places) -> Iterator[tuple[int, int]]:
    """The subjects that are wanted, and where each is."""
    some = np.flatnonzero(wanted >= 0)
    return zip(some.tolist(), wanted[some].tolist(), strict=True)
