"""A network as a picture, before anything is drawn: a box for each variable with its probabilities, and arcs.

Everything is placed here once, in inches with y growing downwards; matplotlib and SVG only put it on paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np

from merula.graphs.factors.errors import TooWideError
from merula.graphs.factors.events import is_set
from merula.graphs.factors.joint_text import shown
from merula.graphs.network.evidence import NOTHING_KNOWN, Evidence
from merula.graphs.network.layout import Path, Place, lay_out
from merula.show.colors import AGAINST, FOR, PALE_AGAINST, PALE_FOR
from merula.show.numbers import percent, short
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

NAME_POINTS, ROW_POINTS = 9.0, 7.5
HEAD, ROW, BAR, NUMBER, EDGE, MARGIN = 0.26, 0.165, 0.55, 0.42, 0.08, 0.12  # inches
PAPER, BORDER, LINE, TRACK, INK = "#ffffff", "#9aa7b3", "#5c6770", "#eef1f4", "#1c2126"
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
    def width(self) -> float:
        """The width of its label in inches."""
        return text_width(self.label, ROW_POINTS)


@dataclass(frozen=True, eq=False)
class Box:
    """What is said of a variable: its name, whether something is known of it, its lines."""

    name: str
    known: bool
    rows: tuple[Row, ...]

    @property
    def label_width(self) -> float:
        """What the longest label of a line with a bar takes, in inches."""
        return max((row.width for row in self.rows if row.share is not None), default=0.0)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        alone = max((row.width for row in self.rows if row.share is None), default=0.0)
        lines = self.label_width + BAR + NUMBER + EDGE if self.label_width else 0.0
        width = max(text_width(self.name, NAME_POINTS), alone, lines, 0.5) + 2 * EDGE
        return width, HEAD + ROW * len(self.rows) + (0.05 if self.rows else 0.0)


@dataclass(frozen=True, eq=False)
class Area:
    """A rectangle: filled with a colour, or (where it has a thickness, in points) the border of the variable it names."""

    x: float
    y: float
    width: float
    height: float
    color: str
    thickness: float = 0.0
    name: str = ""


@dataclass(frozen=True, eq=False)
class Text:
    """A text whose middle is at the height y; `anchor` says which of its ends, or its middle, is at x."""

    x: float
    y: float
    text: str
    points: float
    anchor: str = "middle"


@dataclass(frozen=True, eq=False)
class Picture:
    """Arcs, areas above them, texts above these; the upper left corner is at (−MARGIN, −MARGIN)."""

    width: float
    height: float
    arcs: tuple[Path, ...]
    areas: tuple[Area, ...]
    texts: tuple[Text, ...]


def picture_of(network: BayesianNetwork, given: Any = None, bars: bool | None = None) -> Picture:
    """The picture of a network given what is known; `bars` None shows probabilities where there are few variables."""
    boxes = boxes_of(network, given, bars)
    layout = lay_out(network.graph, {name: box.size for name, box in boxes.items()})
    areas, texts = list[Area](), list[Text]()
    for name, place in layout.places.items():
        _draw_box(name, boxes[name], place, areas, texts)
    return Picture(layout.width + 2 * MARGIN, layout.height + 2 * MARGIN, layout.arcs, tuple(areas), tuple(texts))


def _draw_box(name: str, box: Box, place: Place, areas: list[Area], texts: list[Text]) -> None:
    """Paper, a head with the name, a border around both, then a line for each row."""
    left, top = place.x - place.half_width, place.y - place.half_height
    width, height = 2 * place.half_width, 2 * place.half_height
    head, color = HEAD if box.rows else height, PALE_AGAINST if box.known else PALE_FOR
    border, bar = (AGAINST, AGAINST) if box.known else (BORDER, FOR)
    areas += [Area(left, top, width, height, PAPER), Area(left, top, width, head, color)]
    areas.append(Area(left, top, width, height, border, 1.5 if box.known else 0.75, name))
    texts.append(Text(place.x, top + head / 2, box.name, NAME_POINTS))
    begin, room = left + 1.5 * EDGE + box.label_width, width - box.label_width - NUMBER - 3 * EDGE
    for k, row in enumerate(box.rows):
        y = top + HEAD + 0.025 + ROW * (k + 0.5)
        if row.share is None:
            texts.append(Text(place.x, y, row.label, ROW_POINTS))
            continue
        texts.append(Text(left + EDGE, y, row.label, ROW_POINTS, "start"))
        texts.append(Text(left + width - EDGE, y, percent(row.share), ROW_POINTS, "end"))
        for share, filled in ((1.0, TRACK), (row.share, bar)):
            areas.append(Area(begin, y - 0.3 * ROW, room * share, 0.6 * ROW, filled))


def boxes_of(network: BayesianNetwork, given: Any, bars: bool | None, longest: int = LONGEST_NAME) -> dict[str, Box]:
    """What is said of each variable, names and other texts no longer than `longest`."""
    evidence = network._read(given) if given else NOTHING_KNOWN
    found = _answers(network, given, bars)
    return {
        name: Box(shortened(name, longest, middle=True), name in evidence.names, _rows(name, evidence, found, longest))
        for name in network.variables
    }


def _answers(network: BayesianNetwork, given: Any, bars: bool | None) -> Mapping[str, Any]:
    """The posteriors that are shown: none where there are too many variables, or no probabilities."""
    few = len(network.variables) <= FEW and len(network.levels) == len(network.variables)
    if not (few if bars is None else bars):
        return {}
    try:
        return network.posteriors(given)
    except TooWideError:
        if bars:
            raise
        return {}


def _rows(name: str, evidence: Evidence, answers: Mapping[str, Any], longest: int) -> tuple[Row, ...]:
    """The levels of a variable, or what is known of it where they are not shown; of a number, mean and deviation."""
    found = answers.get(name)
    if found is None:
        return (Row(shortened(_said(evidence.stated[name]), longest)),) if name in evidence.names else ()
    if hasattr(found, "covariance"):  # a number
        deviation = float(np.sqrt(found.variance))
        return (Row(f"{short(found.mean)} ± {short(deviation, 3)}" if deviation else f"= {short(found.mean)}"),)
    return _level_rows(found)


def _said(known: Any) -> str:
    """What evidence says of a variable, in short."""
    if isinstance(known, Mapping):
        return "likelihood " + " : ".join(f"{short(value, 3)}" for value in known.values())
    return "in " + ", ".join(sorted(shown(level) for level in known)) if is_set(known) else f"= {shown(known)}"


def _level_rows(distribution: Any) -> tuple[Row, ...]:
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


def text_width(text: str, points: float) -> float:
    """The width of a text in inches, rather more than less: fonts differ."""
    ems = sum(
        1.05 if east_asian_width(sign) in "WF" else 0.36 if sign in NARROW else 0.95 if sign in BROAD else 0.74 if sign.isupper() else 0.64
        for sign in text
    )  # fmt: skip
    return ems * points / 72
