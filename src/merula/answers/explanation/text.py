"""An explanation as aligned text, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merula.answers.explanation.layout import LONGEST_CLASS, lay_out
from merula.show.text import shortened, text_table

if TYPE_CHECKING:
    from merula.answers.explanation.reasons import Derivation, Explanation


def as_text(explanation: Explanation) -> str:
    """The explanation as a table: a line for the prior, for each column, for the product and for the posterior."""
    layout = lay_out(explanation)
    names = (shortened(name, LONGEST_CLASS) for name in layout.classes)
    rows: list[list[str]] = [["P(class given row)", *names, layout.heading]]
    for line in layout.lines:
        first, *more = line.labels if line else [""]
        rows += [[first, *line.cells] if line else [], *([label] for label in more)]
    return text_table("", rows, 1, "\n".join(layout.notes))


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
