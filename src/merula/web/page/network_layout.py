"""Where the boxes of a network stand on its page: with the bars of every level, and closed, with the most probable level alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from merula.graphs.factors.joint_text import shown
from merula.graphs.network.layout import Layout, Path, lay_out
from merula.graphs.network.picture import text_width
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network import BayesianNetwork

INCH = 96.0  # pixels
NAME_POINTS, ROW_POINTS = 9.75, 9.0
HEAD, ROW, CLOSED, FOOT = 26, 20, 42, 6  # pixels; script/view_network/boxes.js draws by the same
BAR, NUMBER, EDGE = 56, 46, 8
NARROWEST, WIDEST = 136, 260
NARROWEST_CLOSED, WIDEST_CLOSED = 96, 200
LEVEL_CLOSED = 72  # of a level in a closed box, where its share must stand beside it
MOST_ROWS = 8  # of a box; the page adds up the less probable levels in the last
LONGEST = 40  # signs of a name or level that are measured


def layouts(network: BayesianNetwork) -> dict[str, Any]:
    """Both drawings of the network, in pixels: {"open": …, "closed": …}, variables in their order.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    >>> [len(layouts(network)[kind]["places"]) for kind in ("open", "closed")]
    [1, 1]
    """
    sizes = {name: _open_size(name, [shown(level) for level in levels]) for name, levels in network.levels.items()}
    closed = {name: _closed_size(name, [shown(level) for level in network.levels.get(name, ())]) for name in network.variables}  # fmt: skip
    return {"open": _drawn(network, sizes), "closed": _drawn(network, closed)}


def _open_size(name: str, levels: list[str]) -> tuple[int, int]:
    """Width and height of a box with a row for each level; a number has two, for its mean and its curve."""
    label = max((_pixels(level, ROW_POINTS) for level in levels), default=40)
    width = max(_pixels(name, NAME_POINTS) + 2 * EDGE, label + BAR + NUMBER + 3 * EDGE)
    rows = min(len(levels), MOST_ROWS) if levels else 2
    return _between(width, NARROWEST, WIDEST), HEAD + ROW * rows + FOOT


def _closed_size(name: str, levels: list[str]) -> tuple[int, int]:
    """Width and height of a box with the most probable level, whichever that is, and its share."""
    label = min(max((_pixels(level, ROW_POINTS) for level in levels), default=LEVEL_CLOSED), LEVEL_CLOSED)
    width = max(_pixels(name, NAME_POINTS), label + NUMBER) + 2 * EDGE
    return _between(width, NARROWEST_CLOSED, WIDEST_CLOSED), CLOSED


def _pixels(text: str, points: float) -> int:
    return round(INCH * text_width(shortened(text, LONGEST), points))


def _between(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def _drawn(network: BayesianNetwork, sizes: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Left upper corners with widths and heights, and arcs as paths of SVG in the order of `network.arcs`."""
    layout = lay_out(network.graph, {name: (width / INCH, height / INCH) for name, (width, height) in sizes.items()})
    return {
        "places": [_corner(layout, name, sizes[name]) for name in network.variables],
        "arcs": [_path(arc) for arc in layout.arcs],
        "width": round(INCH * layout.width),
        "height": round(INCH * layout.height),
    }


def _corner(layout: Layout, name: str, size: tuple[int, int]) -> list[int]:
    place = layout.places[name]
    return [round(INCH * (place.x - place.half_width)), round(INCH * (place.y - place.half_height)), *size]


def _path(path: Path) -> str:
    """The strokes of an arc as SVG writes them, in whole pixels."""
    return "".join(
        stroke + " ".join(f"{round(INCH * x)} {round(INCH * y)}" for x, y in stroke_points)
        for stroke, stroke_points in path
    )
