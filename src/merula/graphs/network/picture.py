"""What a drawing of a network shows, before anything is drawn: a box for each variable with its probabilities, and arcs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

from merula.graphs.factors.errors import TooWideError
from merula.graphs.factors.events import is_set
from merula.graphs.factors.joint_text import shown
from merula.graphs.network.evidence import Evidence, read_evidence
from merula.graphs.network.layout import Layout, lay_out
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

NAME_POINTS, ROW_POINTS = 9.0, 7.5
HEAD, ROW, BAR, NUMBER, EDGE = 0.26, 0.165, 0.55, 0.42, 0.08  # inches
BAR_HALF = 0.3 * ROW
PAPER, HEADER, KNOWN_HEADER, BORDER, LINE, TRACK = "#ffffff", "#e7eef5", "#f7ddd6", "#9aa7b3", "#5c6770", "#eef1f4"
LONGEST_NAME, LONGEST_LEVEL = 26, 14
MOST_LEVELS = 7  # rows of a box; more levels than these are added up in the last
FEW = 20  # variables whose probabilities are shown unless asked otherwise
NARROW, BROAD = set("iljtfrI.,:;!|'() "), set("mwMWQGO@%&—")


@dataclass(frozen=True, eq=False)
class Row:
    """A line in a box: a level and its share, or (share None) a text alone."""

    label: str
    share: float | None = None

    @property
    def percent(self) -> str:
        """The share as a text."""
        return "" if self.share is None else percent(self.share)


@dataclass(frozen=True, eq=False)
class Box:
    """A variable: its name, whether something is known of it, its lines, and how wide its labels are in inches."""

    name: str
    known: bool
    rows: tuple[Row, ...]

    @property
    def label_width(self) -> float:
        """What the longest label of a line with a bar takes."""
        return max((text_width(row.label, ROW_POINTS) for row in self.rows if row.share is not None), default=0.0)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        alone = max((text_width(row.label, ROW_POINTS) for row in self.rows if row.share is None), default=0.0)
        lines = self.label_width + BAR + NUMBER + EDGE if self.label_width else 0.0
        width = max(text_width(self.name, NAME_POINTS), alone, lines, 0.5) + 2 * EDGE
        return width, HEAD + ROW * len(self.rows) + (0.05 if self.rows else 0.0)

    def bar(self, left: float, width: float) -> tuple[float, float]:
        """Where bars begin in a box from `left`, and how long a full one is."""
        return left + 1.5 * EDGE + self.label_width, width - self.label_width - NUMBER - 3 * EDGE


@dataclass(frozen=True, eq=False)
class Picture:
    """The boxes by variable, and where they stand."""

    boxes: dict[str, Box]
    layout: Layout

    @property
    def texts(self) -> list[str]:
        """Everything written, for the choice of fonts."""
        return [text for box in self.boxes.values() for text in (box.name, *(row.label for row in box.rows))]


def picture_of(network: BayesianNetwork, given: Any = None, bars: bool | None = None) -> Picture:
    """The picture of a network given what is known; `bars` None shows probabilities where there are few variables."""
    evidence = read_evidence(network._stated(), given) if given else Evidence({}, {}, {}, {})
    found = answers(network, given, bars)
    boxes = {name: _box(name, evidence, found.get(name)) for name in network.variables}
    return Picture(boxes, lay_out(network.graph, {name: box.size for name, box in boxes.items()}))


def answers(network: BayesianNetwork, given: Any, bars: bool | None) -> Mapping[str, Any]:
    """The posteriors that are shown: none where there are too many variables, or no probabilities."""
    if bars is None and (len(network.variables) > FEW or len(network.levels) < len(network.variables)):
        return {}
    if bars is False:
        return {}
    try:
        return network.posteriors(given)
    except TooWideError:
        if bars:
            raise
        return {}


def _box(name: str, evidence: Evidence, found: Any) -> Box:
    known = name in evidence.names
    if found is None:
        rows: tuple[Row, ...] = (Row(shortened(said(evidence.stated[name]), LONGEST_NAME)),) if known else ()
    elif hasattr(found, "covariance"):  # a number
        deviation = float(np.sqrt(found.variance))
        rows = (Row(f"= {found.mean:.4g}" if not deviation else f"{found.mean:.4g} ± {deviation:.3g}"),)
    else:
        rows = level_rows(found)
    return Box(shortened(name, LONGEST_NAME, middle=True), known, rows)


def said(known: Any) -> str:
    """What evidence says of a variable, in short."""
    if isinstance(known, Mapping):
        return "likelihood " + " : ".join(f"{value:.3g}" for value in known.values())
    if is_set(known):
        return "in " + ", ".join(sorted(shown(level) for level in known))
    return f"= {shown(known)}"


def level_rows(distribution: Any) -> tuple[Row, ...]:
    """A line for each level of one variable; of many levels the most probable, in their order, and the rest together."""
    (labels,) = distribution.levels.values()
    values = distribution.values
    kept = range(len(labels))
    if len(labels) > MOST_LEVELS:
        kept = sorted(np.argsort(-values, kind="stable")[: MOST_LEVELS - 1].tolist())  # type: ignore[assignment]
    rows = [Row(shortened(shown(labels[k]), LONGEST_LEVEL), float(values[k])) for k in kept]
    if len(kept) < len(labels):
        rows.append(Row(f"{len(labels) - len(kept)} others", float(1 - values[list(kept)].sum())))
    return tuple(rows)


def percent(share: float) -> str:
    """A probability as a percentage with one decimal where it tells something.

    Examples
    --------
    >>> percent(0.17676), percent(1.0), percent(0.00001), percent(0.0), percent(0.99999)
    ('17.7 %', '100 %', '< 0.1 %', '0 %', '> 99.9 %')
    """
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 < share < 1 - 1e-12:
        return "> 99.9 %"
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def text_width(text: str, points: float) -> float:
    """The width of a text in inches, rather more than less: fonts differ."""
    ems = sum(
        1.05 if east_asian_width(sign) in "WF" else 0.36 if sign in NARROW else 0.95 if sign in BROAD else 0.74 if sign.isupper() else 0.64
        for sign in text
    )  # fmt: skip
    return ems * points / 72
