"""Named probability tables and what is computed on them: elimination orders, junction trees. They know no model."""

from __future__ import annotations

from merula.factors.cells import read_columns
from merula.factors.conditional import ConditionalDistribution
from merula.factors.errors import ImpossibleEvidenceError, NoSampleError, TooWideError
from merula.factors.joint import JointDistribution
from merula.factors.sampled import SampledDistribution

__all__ = [
    "ConditionalDistribution",
    "ImpossibleEvidenceError",
    "JointDistribution",
    "NoSampleError",
    "SampledDistribution",
    "TooWideError",
    "read_columns",
]
