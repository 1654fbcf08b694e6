"""Reasons: one row's posterior as the model's own terms, and a whole additive model as a nomogram."""

from merula.answers.explanation.nomograms import Nomogram, nomogram
from merula.answers.explanation.reasons import Derivation, Explanation, Reason, explain, weights_of_evidence

__all__ = ["Derivation", "Explanation", "Nomogram", "Reason", "explain", "nomogram", "weights_of_evidence"]
