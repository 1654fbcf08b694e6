"""Named probability tables and what is computed on them: elimination orders, junction trees. They know no model."""

from merula.graphs.factors.conditional import ConditionalDistribution
from merula.graphs.factors.credible import IntervalDistribution
from merula.graphs.factors.errors import ImpossibleEvidenceError, NoSampleError, TooWideError
from merula.graphs.factors.joint import JointDistribution
from merula.graphs.factors.probability_tables import read_columns
from merula.graphs.factors.sampled import SampledDistribution

__all__ = [
    "ConditionalDistribution",
    "ImpossibleEvidenceError",
    "IntervalDistribution",
    "JointDistribution",
    "NoSampleError",
    "SampledDistribution",
    "TooWideError",
    "read_columns",
]
