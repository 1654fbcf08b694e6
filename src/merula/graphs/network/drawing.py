"""A network drawn: by matplotlib, as an SVG for notebooks, as Mermaid text. The functions are methods of `BayesianNetwork`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from merula.graphs.factors.joint_text import MOST_ROWS, left_out, shown
from merula.graphs.network.layout import Path
from merula.graphs.network.picture import INK, LINE, MARGIN, PAPER, Area, Picture, Text, boxes_of, picture_of
from merula.show.colors import AGAINST, PALE_AGAINST
from merula.show.html import html_table
from merula.show.numbers import NOTHING, percent
from merula.show.plots import fonts_for, literal, matplotlib
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

LARGEST = 100.0  # inches; larger drawings are scaled down
MOST_IN_NOTEBOOK = 60  # variables
STROKES = {"M": [1], "L": [2], "C": [4, 4, 4]}  # matplotlib's codes
ANCHORS = {"start": "left", "middle": "center", "end": "right"}
INCH = 96  # pixels
POINT = INCH / 72
KNOWN = f"fill:{PALE_AGAINST},stroke:{AGAINST},stroke-width:2px"
LONGEST = 60


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


def flowchart(network: BayesianNetwork, posteriors: bool, given: Any) -> str:
    """The flowchart: ids that mean nothing to Mermaid, names as quoted labels, arcs from parents to children."""
    boxes = boxes_of(network, given, posteriors, LONGEST)
    ids = {name: f"v{k}" for k, name in enumerate(boxes)}
    lines = ["flowchart TD"]
    for name, box in boxes.items():
        rows = (row.label if row.share is None else f"{row.label}: {percent(row.share)}" for row in box.rows)
        lines.append(f'    {ids[name]}["{"<br/>".join(map(escaped, (box.name, *rows)))}"]')
    lines += [f"    {ids[parent]} --> {ids[child]}" for parent, child in network.arcs]
    known = [ids[name] for name, box in boxes.items() if box.known]
    return "\n".join(
        [*lines, *([f"    classDef known {KNOWN}", f"    class {','.join(known)} known"] if known else [])]
    )


def escaped(text: str) -> str:
    """A label inside Mermaid's quotes: letters, digits and spaces as they are, every other ASCII sign by its number.

    Quotes would end the label, brackets and markup would be read, "1." would begin a list, "%%" a comment.

    Examples
    --------
    >>> escaped('größe <b> "色泽"')
    'größe #60;b#62; #34;色泽#34;'
    """
    line = shortened(text, LONGEST, middle=True)
    return "".join(sign if sign.isalnum() or sign == " " or not sign.isascii() else f"#{ord(sign)};" for sign in line)
