"""A network as Mermaid text, with every label written so that it survives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merula.graphs.network.picture import boxes_of
from merula.show.colors import AGAINST, PALE_AGAINST
from merula.show.numbers import percent
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

KNOWN = f"fill:{PALE_AGAINST},stroke:{AGAINST},stroke-width:2px"
LONGEST = 60


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
