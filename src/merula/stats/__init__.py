"""Raw statistics: what was counted, and nothing else. They add; sums of blocks are statistics of all rows."""

from merula.stats.base import Statistic, Wanted, added
from merula.stats.cells import CellCounts, Grid
from merula.stats.collected import Collected
from merula.stats.counts import ClassCounts, LevelCounts, TokenCounts, ValueCounts
from merula.stats.distinct_rows import JointCounts
from merula.stats.families import Families, Family
from merula.stats.kept_rows import Rows
from merula.stats.known import known_weight, sole_values
from merula.stats.moments import FullMoments, Moments
from merula.stats.pairs import PairCounts
from merula.stats.patterns import PatternMoments
from merula.stats.rounded import RoundedCounts

__all__ = [
    "CellCounts",
    "ClassCounts",
    "Collected",
    "Families",
    "Family",
    "FullMoments",
    "Grid",
    "JointCounts",
    "LevelCounts",
    "Moments",
    "PairCounts",
    "PatternMoments",
    "RoundedCounts",
    "Rows",
    "Statistic",
    "TokenCounts",
    "ValueCounts",
    "Wanted",
    "added",
    "known_weight",
    "sole_values",
]
