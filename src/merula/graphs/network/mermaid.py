"""A network as Mermaid text, with every label written so that it survives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merula.graphs.network.evidence import read_evidence
from merula.graphs.network.picture import Row, answers, level_rows, said
from merula.show.text import shortened

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

KNOWN = "fill:#f7ddd6,stroke:#c8553d,stroke-width:2px"
LONGEST = 60


def flowchart(network: BayesianNetwork, posteriors: bool, given: Any) -> str:
    """The flowchart: ids that mean nothing to Mermaid, names as quoted labels, arcs from parents to children."""
    known = read_evidence(network._stated(), given) if given else None
    found = answers(network, given, True) if posteriors else {}
    ids = {name: f"v{k}" for k, name in enumerate(network.variables)}
    lines = ["flowchart TD"]
    for name, key in ids.items():
        parts = [escaped(name), *(_line(row) for row in _rows(found.get(name)))]
        if known and name in known.names and name not in found:
            parts.append(escaped(said(known.stated[name])))
        lines.append(f'    {key}["{"<br/>".join(parts)}"]')
    lines += [f"    {ids[parent]} --> {ids[child]}" for parent, child in network.arcs]
    if known and known.names:
        lines += [f"    classDef known {KNOWN}", f"    class {','.join(ids[name] for name in ids if name in known.names)} known"]  # fmt: skip
    return "\n".join(lines)


def _rows(found: Any) -> tuple[Row, ...]:
    """The lines of a variable's posterior: its levels; of a number, its mean and deviation."""
    if found is None:
        return ()
    if hasattr(found, "covariance"):
        return (Row(f"{found.mean:.4g} ± {found.variance**0.5:.3g}"),)
    return level_rows(found)


def _line(row: Row) -> str:
    return escaped(row.label if row.share is None else f"{row.label}: {row.percent}")


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
