"""A network drawn: by matplotlib, as an SVG for notebooks, as Mermaid text. The functions are methods of `BayesianNetwork`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merula.graphs.network.mermaid import flowchart
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
    picture_of,
)
from merula.graphs.network.svg import as_svg, as_table
from merula.show.plots import AGAINST, FOR, fonts_for, literal, matplotlib

if TYPE_CHECKING:
    from merula.graphs.network.layout import Arc, Place
    from merula.graphs.network.network import BayesianNetwork

MARGIN = 0.15  # inches around the drawing
LARGEST = 100.0  # inches; larger drawings are scaled down
MOST_IN_NOTEBOOK = 60  # variables


def plot(network: BayesianNetwork, ax: Any = None, given: Any = None, *, bars: bool | None = None) -> Any:
    """The matplotlib axes with the network drawn: parents above children, a bar for the probability of each level.

    Parameters
    ----------
    ax : matplotlib axes, optional
        Where to draw; by default a new figure of the size that the network needs.
    given : mapping
        What is known, as for `query`: probabilities are then posteriors, and what is known is drawn in another colour.
    bars : None or bool
        Whether probabilities are shown; by default for up to 20 variables.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    >>> network = network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
    >>> ax = network.plot(given={"wet": "yes"})
    >>> [patch.get_gid() for patch in ax.patches if patch.get_gid()]
    ['rain', 'wet']
    """
    pyplot = matplotlib()
    picture = picture_of(network, given, bars)
    width, height = picture.layout.width + 2 * MARGIN, picture.layout.height + 2 * MARGIN
    with fonts_for([*picture.texts, "%±"]):
        if ax is None:
            shrink = min(1.0, LARGEST / max(width, height))
            figure = pyplot.figure(figsize=(width * shrink, height * shrink))
            ax = figure.add_axes((0, 0, 1, 1))
        room = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        ax.set(xlim=(-MARGIN, width - MARGIN), ylim=(height - MARGIN, -MARGIN), aspect="equal")
        ax.axis("off")
        _draw(ax, picture, min(room.width / width, room.height / height))
    return ax


def _draw(ax: Any, picture: Picture, scale: float) -> None:
    """Arcs, then boxes; `scale` is how much smaller than its natural size everything is."""
    for arc in picture.layout.arcs:
        _draw_arc(ax, arc, scale)
    for name, index in picture.layout.indices.items():
        _draw_box(ax, name, picture.boxes[name], index, scale)


def _draw_arc(ax: Any, arc: Arc, scale: float) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points, codes = [arc.points[0]], [Path.MOVETO]
    for k, (x, y) in enumerate(arc.points[1:]):
        before = points[-1]
        if k % 2 == 0:
            if y > before[1] + 1e-6:  # a line of no length has no direction for the arrow's head
                points.append((x, y))
                codes.append(Path.LINETO)
            continue
        middle = (before[1] + y) / 2
        points += [(before[0], middle), (x, middle), (x, y)]
        codes += [Path.CURVE4] * 3
    ax.add_patch(FancyArrowPatch(path=Path(points, codes), arrowstyle="-|>", mutation_scale=9 * scale, linewidth=0.9 * scale, color=LINE, shrinkA=0, shrinkB=0, zorder=1))  # fmt: skip


def _draw_box(ax: Any, name: str, box: Box, index: Place, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    left, top = index.x - index.half_width, index.y - index.half_height
    width, height = 2 * index.half_width, 2 * index.half_height
    edge: dict[str, Any] = {
        "edgecolor": AGAINST if box.known else BORDER,
        "linewidth": (1.6 if box.known else 0.8) * scale,
    }
    style = "round,pad=0,rounding_size=0.05"
    body = FancyBboxPatch((left, top), width, height, boxstyle=style, facecolor=PAPER, zorder=2, gid=name, **edge)
    ax.add_patch(body)
    head = Rectangle((left, top), width, HEAD if box.rows else height, color=KNOWN_HEADER if box.known else HEADER, zorder=2.1, linewidth=0)  # fmt: skip
    ax.add_patch(head)
    head.set_clip_path(body)
    ax.add_patch(FancyBboxPatch((left, top), width, height, boxstyle=style, facecolor="none", zorder=2.2, **edge))
    middle = top + (HEAD if box.rows else height) / 2
    ax.text(index.x, middle, literal(box.name), ha="center", va="center", fontsize=NAME_POINTS * scale, zorder=3)
    for k in range(len(box.rows)):
        _draw_row(ax, box, k, (left, top + HEAD + 0.025 + ROW * (k + 0.5)), width, scale)


def _draw_row(ax: Any, box: Box, k: int, start: tuple[float, float], width: float, scale: float) -> None:
    """One level: its label, its bar, its percentage; or a text alone."""
    from matplotlib.patches import Rectangle

    row, (left, y) = box.rows[k], start
    text = {"va": "center", "fontsize": ROW_POINTS * scale, "zorder": 3}
    if row.share is None:
        ax.text(left + width / 2, y, literal(row.label), ha="center", **text)
        return
    ax.text(left + EDGE, y, literal(row.label), ha="left", **text)
    begin, room = box.bar(left, width)
    for share, color in ((1.0, TRACK), (row.share, AGAINST if box.known else FOR)):
        ax.add_patch(Rectangle((begin, y - BAR_HALF), room * share, 2 * BAR_HALF, color=color, linewidth=0, zorder=2.3))
    ax.text(left + width - EDGE, y, row.percent, ha="right", **text)


def to_mermaid(network: BayesianNetwork, posteriors: bool = False, given: Any = None) -> str:
    """The network as a Mermaid flowchart, the text that GitHub, GitLab, Jupyter and many wikis draw.

    Parameters
    ----------
    posteriors : bool
        Whether each box shows the probabilities of its levels.
    given : mapping
        What is known, as for `query`; it is drawn in another colour.

    Examples
    --------
    >>> import merula as mr
    >>> print(mr.BayesianNetwork([("rain", "wet"), ("sprinkler", "wet")]).to_mermaid())
    flowchart TD
        v0["rain"]
        v1["wet"]
        v2["sprinkler"]
        v0 --> v1
        v2 --> v1
    """
    return flowchart(network, posteriors, given)


def notebook_html(network: BayesianNetwork) -> str:
    """The network for a notebook: a drawing, or a table where there are too many variables for one."""
    return as_table(network) if len(network.variables) > MOST_IN_NOTEBOOK else as_svg(picture_of(network))
