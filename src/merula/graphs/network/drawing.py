"""A network drawn: by matplotlib, as an SVG for notebooks, as Mermaid text. The functions are methods of `BayesianNetwork`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merula.graphs.network.mermaid import flowchart
from merula.graphs.network.picture import INK, LINE, MARGIN, Picture, picture_of
from merula.graphs.network.svg import as_svg, as_table
from merula.show.plots import fonts_for, literal, matplotlib

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

LARGEST = 100.0  # inches; larger drawings are scaled down
MOST_IN_NOTEBOOK = 60  # variables
STROKES = {"M": [1], "L": [2], "C": [4, 4, 4]}  # matplotlib's codes
ANCHORS = {"start": "left", "middle": "center", "end": "right"}


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
    width, height = picture.width, picture.height
    with fonts_for(text.text for text in picture.texts):
        if ax is None:
            shrink = min(1.0, LARGEST / max(width, height))
            ax = pyplot.figure(figsize=(width * shrink, height * shrink)).add_axes((0, 0, 1, 1))
        room = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        ax.set(xlim=(-MARGIN, width - MARGIN), ylim=(height - MARGIN, -MARGIN), aspect="equal")
        ax.axis("off")
        _draw(ax, picture, min(room.width / width, room.height / height))
    return ax


def _draw(ax: Any, picture: Picture, scale: float) -> None:
    """Arcs, areas, texts; `scale` is how much smaller than its natural size everything is."""
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
    from matplotlib.path import Path

    for arc in picture.arcs:
        points, codes = [point for _, points in arc for point in points], [code for stroke, _ in arc for code in STROKES[stroke]]  # fmt: skip
        ax.add_patch(FancyArrowPatch(path=Path(points, codes), arrowstyle="-|>", mutation_scale=9 * scale, linewidth=0.9 * scale, color=LINE, shrinkA=0, shrinkB=0, zorder=1))  # fmt: skip
    for area in picture.areas:
        corner, size = (area.x, area.y), (area.width, area.height)
        if area.thickness:
            ax.add_patch(FancyBboxPatch(corner, *size, boxstyle="round,pad=0,rounding_size=0.02", facecolor="none", edgecolor=area.color, linewidth=area.thickness * scale, zorder=2, gid=area.name))  # fmt: skip
        else:
            ax.add_patch(Rectangle(corner, *size, color=area.color, linewidth=0, zorder=2))
    for text in picture.texts:
        ax.text(text.x, text.y, literal(text.text), ha=ANCHORS[text.anchor], va="center", fontsize=text.points * scale, color=INK, zorder=3)  # fmt: skip


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
