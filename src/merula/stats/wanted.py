"""What is to be counted, as plain data: an engine may count it without ever seeing a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from merula.stats.base import Statistic


@dataclass(frozen=True)
class Wanted:
    """One statistic that is asked for: of which columns, given which parents and, where the source has a target, the class.

    ``options`` are the statistic's own, such as ``binary`` of `TokenCounts`.

    Examples
    --------
    >>> from merula.stats import LevelCounts, Wanted
    >>> Wanted(LevelCounts, ("sky", "rain")).state()
    {'statistic': 'LevelCounts', 'columns': ['sky', 'rain'], 'parents': [], 'options': {}}
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
