"""Which function says what a distribution adds, by its type; and why others cannot be said in SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from merula.classify.log_linear.terms import QuadraticTerms, TableTerms
from merula.classify.pooled.known import KnownCells
from merula.classify.pooled.pairs import GainDistribution
from merula.classify.pooled.reading import ReadAs
from merula.classify.sql import columns, conditional, dependent, normals
from merula.classify.sql.terms import Said, Task
from merula.core import InputError
from merula.distributions import (
    CategoricalDistribution,
    DiscretizedDistribution,
    Distribution,
    GaussianDistribution,
    HistogramDistribution,
    JointStudentDistribution,
    MixtureDistribution,
    MultivariateGaussianDistribution,
    StudentDistribution,
    ZeroInflatedDistribution,
)
from merula.distributions.poisson import CountDistribution
from merula.graphs.dependence.columns import DependentColumns
from merula.graphs.dependence.depths import DependentByDepth

Say = Callable[[Any, Sequence[float], Task], list[Said]]
PRESENT: dict[type[Distribution], columns.Of] = {
    GaussianDistribution: columns.gaussian,
    MixtureDistribution: columns.mixture,
    HistogramDistribution: columns.histogram,
    DiscretizedDistribution: columns.discretized,
    ZeroInflatedDistribution: columns.zero_inflated,
    CountDistribution: columns.counts,
    StudentDistribution: columns.student,
}
SAY: dict[type[Distribution], Say] = {
    **{kind: columns.by_column(present) for kind, present in PRESENT.items()},
    CategoricalDistribution: columns.categorical,
    DependentColumns: dependent.dependent,
    DependentByDepth: dependent.dependent,
    MultivariateGaussianDistribution: normals.normals,
    JointStudentDistribution: normals.students,
    TableTerms: conditional.tables_of_questions,
    QuadraticTerms: conditional.quadratic,
    GainDistribution: conditional.gains,
    KnownCells: conditional.known_cells,
    ReadAs: conditional.read_as,
}
ROWS = "compares with training rows, which a statement does not hold"
REFUSED = {
    "KernelDistribution": (
        "is a kernel density, which holds training values",
        "use distributions='mixture', 'histogram' or 'gaussian' for it",
    ),
    "ProductKernelDistribution": (f"is a kernel density, which {ROWS}", "use NaiveBayesClassifier"),
    "NeighborDistribution": (f"{ROWS}", "use NaiveBayesClassifier or AutoBayesClassifier(order=2).portable()"),
    "SimilarRows": (f"has a part that {ROWS}", "take model.portable()"),
    "TokenDistribution": ("counts words of a text, which databases do not part alike", "leave the column out"),
    "JointTable": ("sums over the cells of a joint table", "use TANClassifier or AODEClassifier"),
    "NetworkColumns": (
        "is a network of words and numbers, whose missing cells are summed out by junction trees",
        "use TANClassifier with numeric='mdl'",
    ),
}


def present_of(part: Distribution) -> columns.Of:
    """What a known value of a column of numbers adds."""
    if type(part) not in PRESENT:
        refuse(part)
    return PRESENT[type(part)]


def said_by(part: Distribution, weights: Sequence[float], task: Task) -> list[Said]:
    """The terms of a distribution whose factors have these weights; an error where SQL cannot say them."""
    if type(part) not in SAY:
        refuse(part)
    return SAY[type(part)](part, weights, task)


def refuse(part: Distribution) -> None:
    """An error that says why a distribution cannot be said in SQL, and what to do."""
    name = type(part).__name__
    where = f"column {part.columns[0]!r}" if len(part.columns) == 1 else "the model"
    why, remedy = REFUSED.get(name, (f"is a {name}, of which SQL knows nothing", "score it with predict_proba"))
    raise InputError.at(where, f"cannot be scored in SQL: it {why}", remedy=remedy)
