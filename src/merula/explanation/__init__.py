"""Reasons: one row's posterior as the model's own terms, and a whole additive model as a nomogram."""

from merula.explanation.evidence import Derivation, Explanation, Reason, explain, weights_of_evidence
from merula.explanation.scales import Nomogram, nomogram

__all__ = ["Derivation", "Explanation", "Nomogram", "Reason", "explain", "nomogram", "weights_of_evidence"]
