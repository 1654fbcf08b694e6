"""An explanation as aligned text, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from merula.show.text import display_width, pad, shortened

if TYPE_CHECKING:
    from merula.answers.explanation.reasons import Derivation, Explanation, Reason

MOST_CLASSES, LONGEST_LABEL, LONGEST_CLASS = 5, 36, 20
NOTHING = "–"


def number(log_value: float) -> str:
    """exp(log_value) to four digits, however small or large; "impossible" for 0."""
    if log_value == -np.inf:
        return "impossible"
    if abs(log_value) < 600:
        return f"{np.exp(log_value):.4g}"
    exponent = int(np.floor(log_value / np.log(10)))
    return f"{np.exp(log_value - exponent * np.log(10)):.4g}e{exponent:+d}"


def signed(evidence: float) -> str:
    """A weight of evidence: "+1.204", "impossible" for −inf, "certain" for inf."""
    if np.isinf(evidence):
        return "certain" if evidence > 0 else "impossible"
    return f"{round(evidence, 3) + 0.0:+.3f}"


def shown_classes(explanation: Explanation, most: int = MOST_CLASSES) -> list[int]:
    """Which classes to show: all if they are few, else the most probable and those the explanation is about."""
    if len(explanation.classes) <= most:
        return list(range(len(explanation.classes)))
    about = [
        index for index, name in enumerate(explanation.classes) if name in (explanation.label, explanation.against)
    ]
    likely = np.argsort(-explanation.posterior, kind="stable").tolist()
    return sorted([*about, *(index for index in likely if index not in about)][:most])


def heading(explanation: Explanation) -> str:
    """What the weights of evidence speak for."""
    against = "" if explanation.against is None else f" against {shortened(str(explanation.against), LONGEST_CLASS)}"
    return f"evidence for {shortened(str(explanation.label), LONGEST_CLASS)}{against}"


def caption(derivation: Derivation) -> str:
    """A component's name and its share of the posterior."""
    return f"{derivation.name or 'component'} (share {derivation.share:.4g})"


def reason_labels(reason: Reason) -> list[str]:
    """``column = value`` for each column of a block, with the block's exponent behind the first where it has one."""
    exponent = "" if reason.weight == 1 else f" ^{reason.weight:.3g}"
    parts = zip(reason.columns, reason.relations, reason.values, strict=True)
    first, *more = [
        f"{shortened(name, LONGEST_LABEL, middle=True)}{relation}{shortened(value, LONGEST_LABEL)}"
        for name, relation, value in parts
    ]
    return [first + exponent + (" and" if more else ""), *(f"  {label}" for label in more)]


def table_rows(explanation: Explanation, indices: list[int]) -> list[tuple[str, list[str]]]:
    """The lines of an explanation: what they are called, then one cell for each class shown and one for the evidence.

    A line without cells is a caption; a line called "" is a rule.
    """
    lines: list[tuple[str, list[str]]] = []
    several = len(explanation.derivations) > 1
    for part in explanation.derivations:
        if several:
            lines.append((caption(part), []))
        lines.append(("prior", [number(part.log_prior[k]) for k in indices] + [signed(part.prior_log_odds)]))
        for reason in part.reasons:
            cells = [number(reason.log_terms[k]) if reason.known else NOTHING for k in indices]
            first, *more = reason_labels(reason)
            lines.append((first, [*cells, signed(reason.evidence) if reason.known else NOTHING]))
            lines += [(label, []) for label in more]
        if several:
            lines.append(("joint", [number(part.log_joint[k]) for k in indices] + [signed(part.log_odds)]))
    lines.append(("", []))
    if not several:
        lines.append(("joint", [number(explanation.log_joint[k]) for k in indices] + [""]))
    total = "" if several else signed(explanation.derivations[0].log_odds)
    lines.append(("posterior", [f"{explanation.posterior[k]:.4g}" for k in indices] + [total]))
    return lines


def as_text(explanation: Explanation) -> str:
    """The explanation as a table: a line for the prior, for each column, for the product and for the posterior."""
    indices = shown_classes(explanation)
    names = [shortened(str(explanation.classes[k]), LONGEST_CLASS) for k in indices]
    lines = [("P(class given row)", [*names, heading(explanation)]), *table_rows(explanation, indices)]
    first = max(display_width(name) for name, _ in lines)
    widths = [max(display_width(cells[j]) for _, cells in lines if cells) for j in range(len(names) + 1)]
    rule = "─" * (first + sum(width + 2 for width in widths))
    text = []
    for name, cells in lines:
        aligned = "".join("  " + pad(cell, width, right=True) for cell, width in zip(cells, widths, strict=False))
        text.append((pad(name, first) + aligned).rstrip() if name else rule)
    hidden = len(explanation.classes) - len(indices)
    if hidden:
        text.append(f"({hidden} less probable classes not shown)")
    if explanation.zero_evidence:
        text.append("The row is impossible under every class: the posterior is the prior.")
    return "\n".join(text)


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """The explanation as plain data."""
    return {
        "classes": list(explanation.classes),
        "label": explanation.label,
        "against": explanation.against,
        "log_joint": explanation.log_joint.tolist(),
        "posterior": explanation.posterior.tolist(),
        "zero_evidence": explanation.zero_evidence,
        "derivations": [_derivation_dict(part) for part in explanation.derivations],
    }


def _derivation_dict(part: Derivation) -> dict[str, Any]:
    return {
        "name": part.name,
        "share": part.share,
        "log_prior": part.log_prior.tolist(),
        "log_joint": part.log_joint.tolist(),
        "prior_log_odds": part.prior_log_odds,
        "log_odds": part.log_odds,
        "reasons": [
            {
                "columns": list(reason.columns),
                "values": list(reason.values),
                "log_terms": reason.log_terms.tolist(),
                "evidence": reason.evidence,
                "known": reason.known,
                "weight": reason.weight,
            }
            for reason in part.reasons
        ],
    }
