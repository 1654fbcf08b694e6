"""A network for notebooks: one self-contained SVG without scripts, every text escaped; or a table of its variables."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from merula.graphs.factors.joint_text import MOST_ROWS, left_out, shown
from merula.graphs.network.layout import Arc, Place
from merula.graphs.network.picture import (
    BAR_HALF,
    BORDER,
    EDGE,
    HEAD,
    HEADER,
    KNOWN_HEADER,
    LINE,
    NAME_POINTS,
    PAPER,
    ROW,
    ROW_POINTS,
    TRACK,
    Box,
    Picture,
)
from merula.show.html import html_table
from merula.show.plots import AGAINST, FOR
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

INCH = 96  # pixels
MARGIN = 0.1  # inches around the drawing
INK = "#1c2126"


def as_svg(picture: Picture) -> str:
    """The picture as an SVG that shrinks to the width of its page."""
    width, height = picture.layout.width + 2 * MARGIN, picture.layout.height + 2 * MARGIN
    arcs = "".join(_arc(arc) for arc in picture.layout.arcs)
    boxes = "".join(_box(picture.boxes[name], index) for name, index in picture.layout.indices.items())
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' role='img' viewBox='{-MARGIN * INCH:.0f} {-MARGIN * INCH:.0f} {width * INCH:.0f} {height * INCH:.0f}' "
        f"style='width:{width * INCH:.0f}px;max-width:100%;height:auto;background:{PAPER};font-family:sans-serif'>{arcs}{boxes}</svg>"
    )


def _arc(arc: Arc) -> str:
    """A line, and the arrow's head as a triangle of its own: marks with ids would clash between drawings of one page."""
    points = [(x * INCH, y * INCH) for x, y in arc.points]
    way = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for k, (x, y) in enumerate(points[1:]):
        before = points[k]
        middle = (before[1] + y) / 2
        way += f"L{x:.1f} {y:.1f}" if k % 2 == 0 else f"C{before[0]:.1f} {middle:.1f} {x:.1f} {middle:.1f} {x:.1f} {y:.1f}"  # fmt: skip
    x, y = points[-1]
    head = f"<path d='M{x:.1f} {y:.1f}l-3.5 -8h7z' fill='{LINE}'/>"
    return f"<path d='{way}' fill='none' stroke='{LINE}' stroke-width='1.2'/>{head}"


def _box(box: Box, index: Place) -> str:
    left, top = (index.x - index.half_width) * INCH, (index.y - index.half_height) * INCH
    width, height = 2 * index.half_width * INCH, 2 * index.half_height * INCH
    border, stroke = (AGAINST, 2) if box.known else (BORDER, 1)
    band, color = (HEAD * INCH if box.rows else height), KNOWN_HEADER if box.known else HEADER
    parts = [
        _rectangle(left, top, width, height, PAPER),
        _rectangle(left, top, width, band, color),
        f"<rect x='{left:.1f}' y='{top:.1f}' width='{width:.1f}' height='{height:.1f}' rx='2' fill='none' stroke='{border}' stroke-width='{stroke}'/>",
        _text(left + width / 2, top + band / 2, box.name, NAME_POINTS, "middle"),
    ]
    rows = [_row(box, k, left, top + (HEAD + 0.025 + ROW * (k + 0.5)) * INCH, width) for k in range(len(box.rows))]
    return "".join([*parts, *rows])


def _row(box: Box, k: int, left: float, y: float, width: float) -> str:
    row = box.rows[k]
    if row.share is None:
        return _text(left + width / 2, y, row.label, ROW_POINTS, "middle")
    begin, room = (INCH * value for value in box.bar(left / INCH, width / INCH))
    top, height = y - BAR_HALF * INCH, 2 * BAR_HALF * INCH
    bars = _rectangle(begin, top, room, height, TRACK) + _rectangle(begin, top, room * row.share, height, AGAINST if box.known else FOR)  # fmt: skip
    label = _text(left + EDGE * INCH, y, row.label, ROW_POINTS, "start")
    return label + bars + _text(left + width - EDGE * INCH, y, row.percent, ROW_POINTS, "end")


def _rectangle(x: float, y: float, width: float, height: float, color: str) -> str:
    return f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{height:.1f}' fill='{color}'/>"


def _text(x: float, y: float, text: str, points: float, anchor: str) -> str:
    size = points / 72 * INCH
    return f"<text x='{x:.1f}' y='{y + 0.35 * size:.1f}' font-size='{size:.1f}' fill='{INK}' text-anchor='{anchor}'>{escape(text)}</text>"


def as_table(network: BayesianNetwork) -> str:
    """The first variables with their levels and parents."""
    rows = [["variable", "levels", "parents"]]
    for name in network.variables[:MOST_ROWS]:
        levels = ", ".join(shown(level) for level in network.levels.get(name, ()))
        rows.append([shortened(name, 40), shortened(levels or "–", 60), shortened(", ".join(network.parents(name)) or "–", 60)])  # fmt: skip
    return html_table(repr(network), rows, 3, left_out(len(network.variables)))
