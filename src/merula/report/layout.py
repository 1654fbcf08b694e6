"""What a page is made of: sections with sentences, tables and charts; which format shows them is another matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merula.report.chart import Chart


@dataclass(frozen=True)
class Cell:
    """A cell of a table; `exact` is the number it shows, with all its digits."""

    text: str
    exact: float | None = None


@dataclass(frozen=True)
class Table:
    """A table, which is shown or, `folded`, opened by those who want it; numbers are aligned to the right."""

    title: str
    headers: tuple[str, ...]
    lines: tuple[tuple[Cell, ...], ...]
    folded: bool = False


@dataclass(frozen=True)
class Group:
    """Charts that belong together; `aligned` ones stand below one another with a common scale."""

    title: str
    text: str
    charts: tuple[Chart, ...]
    aligned: bool = False


@dataclass(frozen=True)
class Section:
    """One part of the page; a `headline` is good news, bad or neither, as its `grade` says, `steps` are what to do next, `source` prints its numbers."""

    key: str
    title: str
    sentences: tuple[str, ...]
    headline: str = ""
    grade: str = ""
    steps: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    groups: tuple[Group, ...] = ()
    lines: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    source: str = ""
