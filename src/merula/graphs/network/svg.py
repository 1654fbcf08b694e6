"""A network for notebooks: one self-contained SVG without scripts, every text escaped; or a table of its variables."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from merula.graphs.factors.joint_text import MOST_ROWS, left_out, shown
from merula.graphs.network.layout import Path
from merula.graphs.network.picture import INK, LINE, MARGIN, PAPER, Area, Picture, Text
from merula.show.html import html_table
from merula.show.numbers import NOTHING
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

INCH = 96  # pixels
POINT = INCH / 72


def as_svg(picture: Picture) -> str:
    """The picture as an SVG that shrinks to the width of its page."""
    corner, width, height = -MARGIN * INCH, picture.width * INCH, picture.height * INCH
    drawn = "".join([*map(_arrow, picture.arcs), *map(_area, picture.areas), *map(_text, picture.texts)])
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' role='img' viewBox='{corner:.0f} {corner:.0f} {width:.0f} {height:.0f}' "
        f"style='width:{width:.0f}px;max-width:100%;height:auto;background:{PAPER};font-family:sans-serif'>{drawn}</svg>"
    )


def _arrow(path: Path) -> str:
    """A line, and the arrow's head as a triangle of its own: marks with ids would clash between drawings of one page."""
    strokes = [(stroke, " ".join(f"{x * INCH:.1f} {y * INCH:.1f}" for x, y in points)) for stroke, points in path]
    x, y = path[-1][1][-1]
    head = f"<path d='M{x * INCH:.1f} {y * INCH:.1f}l-3.5 -8h7z' fill='{LINE}'/>"
    return f"<path d='{''.join(map(''.join, strokes))}' fill='none' stroke='{LINE}' stroke-width='1.2'/>{head}"


def _area(area: Area) -> str:
    x, y, width, height = (f"{value * INCH:.1f}" for value in (area.x, area.y, area.width, area.height))
    border = f"rx='2' fill='none' stroke='{area.color}' stroke-width='{area.thickness * POINT:g}'"
    look = border if area.thickness else f"fill='{area.color}'"
    return f"<rect x='{x}' y='{y}' width='{width}' height='{height}' {look}/>"


def _text(text: Text) -> str:
    size = text.points * POINT
    return f"<text x='{text.x * INCH:.1f}' y='{text.y * INCH + 0.35 * size:.1f}' font-size='{size:.1f}' fill='{INK}' text-anchor='{text.anchor}'>{escape(text.text)}</text>"


def as_table(network: BayesianNetwork) -> str:
    """The first variables with their levels and parents."""
    rows = [["variable", "levels", "parents"]]
    for name in network.variables[:MOST_ROWS]:
        levels = ", ".join(shown(level) for level in network.levels.get(name, ()))
        rows.append([shortened(name, 40), shortened(levels or NOTHING, 60), shortened(", ".join(network.parents(name)) or NOTHING, 60)])  # fmt: skip
    return html_table(repr(network), rows, 3, left_out(len(network.variables)))
