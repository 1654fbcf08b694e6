"""What is to be counted, as plain data: an engine may count it without ever seeing a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from merula.core.checks import one_of
from merula.stats.base import Statistic
from merula.stats.counts import LevelCounts
from merula.stats.distinct_rows import JointCounts
from merula.stats.families import Families
from merula.stats.kept_rows import Rows
from merula.stats.moments import FullMoments, Moments
from merula.stats.pairs import PairCounts
from merula.stats.patterns import PatternMoments
from merula.stats.token_counts import TokenCounts
from merula.stats.value_counts import ValueCounts

KNOWN: tuple[type[Statistic], ...] = (
    Families,
    FullMoments,
    JointCounts,
    LevelCounts,
    Moments,
    PairCounts,
    PatternMoments,
    Rows,
    TokenCounts,
    ValueCounts,
)
STATISTICS = {kind.__name__: kind for kind in KNOWN}


@dataclass(frozen=True)
class Wanted:
    """One statistic that is asked for: of which columns, given which parents and, where the source has a target, the class.

    ``options`` are the statistic's own, such as ``binary`` of `TokenCounts`.

    Examples
    --------
    >>> from merula.stats import LevelCounts, Wanted
    >>> wanted = Wanted(LevelCounts, ("sky", "rain"))
    >>> wanted.state()
    {'statistic': 'LevelCounts', 'columns': ['sky', 'rain'], 'parents': [], 'options': {}}
    >>> Wanted.from_state(wanted.state()) == wanted
    True
    """

    statistic: type[Statistic]
    columns: Sequence[str]
    parents: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def zero(self, classes: int) -> Statistic:
        """The statistic with nothing counted yet."""
        start: Callable[..., Statistic] = self.statistic.zero
        parents = {"parents": self.parents} if self.parents else {}
        return start(self.columns, classes, **parents, **self.options)

    def state(self) -> dict[str, Any]:
        """Plain data: the statistic by its name."""
        return {
            "statistic": self.statistic.__name__,
            "columns": list(self.columns),
            "parents": list(self.parents),
            "options": dict(self.options),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Wanted:
        """What `state` asks for."""
        kind = STATISTICS[one_of(state["statistic"], STATISTICS, "a statistic")]
        return cls(kind, tuple(state["columns"]), tuple(state["parents"]), state["options"])
