"""How far each column moves the log-odds: of the true class, on average over rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from merula.answers.explanation.by_effects import told_effects
from merula.answers.explanation.reasons import log_odds, weights_of_evidence
from merula.classify.base import BayesianClassifier
from merula.classify.effects.subjects import Subject
from merula.classify.fitted import FittedModel
from merula.core import Array
from merula.data.encode import Encoded, with_cells
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.report.findings.result import Contribution

Key = tuple[tuple[str, ...], tuple[str, ...], str]  # the columns of a term, those it depends on, and what else it is
MOST_ROWS, FEW_ROWS = 1_000, 300  # that are weighed: enough for a mean
MOST_SETS = 15  # of columns that are told apart


def contributions_of(
    model: BayesianClassifier, rows: Encoded, truth: NDArray[np.int64], weights: Array | None
) -> tuple[Contribution, ...]:
    """The mean weight of evidence of each term or effect for the rows' true classes, the most helpful first; none for a mixture of sums.

    truth : the index of each row's class among the model's. Weights of evidence are those of `explain`: against all
    other classes together.
    """
    if len(model.fitted_.components) > 1 and not model.fitted_.effects:
        return ()
    return _ranked(model, _weighed(model, rows, truth, weights))


def importances_of(
    model: BayesianClassifier, rows: Encoded, truth: NDArray[np.int64], weights: Array | None
) -> tuple[tuple[Contribution, ...], tuple[Contribution, ...]]:
    """How much each set of columns matters to a model that is explained by effects, the strongest first; and the same with all but the largest as one."""
    found = _weighed(model, rows, truth, weights)
    ranked = sorted(_ranked(model, found), key=lambda one: -round(one.strength, 12))
    largest = ranked[: MOST_SETS if len(ranked) > MOST_SETS + 1 else None]
    rest = [found.evidence[one.columns, one.given, one.name] for one in ranked[len(largest) :]]
    if not rest:
        return tuple(ranked), tuple(largest)
    together = replace(found, evidence={((), (), ""): np.sum(rest, axis=0)})
    return tuple(ranked), (*largest, replace(_ranked(model, together)[0], others=len(rest)))


@dataclass(frozen=True, eq=False)
class _Weighed:
    """The weights of evidence of some rows' terms for their true classes, the indices of these, and what each row counts."""

    evidence: Mapping[Key, Array]
    truth: NDArray[np.int64]
    mass: Array


def _weighed(model: BayesianClassifier, rows: Encoded, truth: NDArray[np.int64], weights: Array | None) -> _Weighed:
    """The weights of evidence of some rows, evenly spread."""
    most = FEW_ROWS if model.fitted_.effects else MOST_ROWS  # effects may be thousands
    chosen = some_rows(len(rows), weights, most)
    own = truth[chosen]
    blocks: dict[Key, Array] = {}
    for some, log_prior, terms in _unsummed(model, rows.take(chosen)):
        values = np.stack([values for _, values in terms], axis=1)
        evidence = [_for_truth(*row) for row in zip(log_prior, values, own[some].tolist(), strict=True)]
        for (key, _), weight in zip(terms, np.array(evidence).T, strict=True):
            blocks.setdefault(key, np.zeros(len(own)))[some] += weight
    return _Weighed(blocks, own, _mass(chosen, weights))


def _unsummed(
    model: BayesianClassifier, rows: Encoded
) -> Iterator[tuple[NDArray[np.int64], Array, list[tuple[Key, Array]]]]:
    """Groups of rows, where their sum starts, and its terms; effects, where the model is explained by them."""
    effects = model.fitted_.effects
    if effects:
        for some, start, told in told_effects(model, effects, rows):
            if told:
                yield some, start, [(_key(subject), values) for subject, values in told.items()]
        return
    (component,) = model.fitted_.unsummed(rows)
    start = np.broadcast_to(component.log_prior, (len(rows), len(component.log_prior)))
    yield (
        np.arange(len(rows)),
        start,
        [((term.part.columns, term.part.parents, ""), term.values) for term in component.terms],
    )


def _key(subject: Subject) -> Key:
    """A single column is told by its name, whatever is said of it."""
    return subject.columns, (), subject.whole if len(subject.columns) > 1 else ""


def _for_truth(log_prior: Array, terms: Array, index: int) -> Array:
    """The weights of evidence of a row's terms for its true class, against all others together."""
    return weights_of_evidence(log_prior, terms, index, [other for other in range(len(log_prior)) if other != index])


def given_others(
    model: BayesianClassifier, rows: Encoded, truth: NDArray[np.int64], weights: Array | None
) -> tuple[Contribution, ...]:
    """How far each column that has no term of its own moves the log-odds of the true class once all other columns are known.

    log-odds(class given row) − log-odds(class given the row without the column). Empty where every column has its own
    term, which says the same, and where a missing cell speaks for itself.
    """
    fitted = model.fitted_
    factors = [one for part in fitted.distributions for one in part.factors()]
    shared = [one for one in factors if len(fitted.components) > 1 or len(one.columns) + len(one.parents) > 1]
    columns = dict.fromkeys(name for one in shared for name in (*one.columns, *one.parents))
    if not columns or any(map(model._answers_missing, columns)):
        return ()
    chosen = some_rows(len(rows), weights, FEW_ROWS)
    own, encoded = truth[chosen], rows.take(chosen)
    whole, nothing = _log_odds(fitted, encoded, own), [None] * len(chosen)
    moves: dict[Key, Array] = {
        ((name,), (), ""): _move(_log_odds(fitted, with_cells(encoded, model.schema_[name], nothing), own), whole)
        for name in columns
    }
    return _ranked(model, _Weighed(moves, own, _mass(chosen, weights)))


def _move(before: Array, after: Array) -> Array:
    """How far log-odds moved; what was certain and stays so did not."""
    with np.errstate(invalid="ignore"):
        return np.where(before == after, 0.0, after - before)


def _log_odds(fitted: FittedModel, rows: Encoded, truth: NDArray[np.int64]) -> Array:
    """The log-odds of each row's true class against all others."""
    log_joint = fitted.log_joint(rows)
    others = [[k for k in range(log_joint.shape[1]) if k != index] for index in range(log_joint.shape[1])]
    return np.array([log_odds(row, index, others[index]) for row, index in zip(log_joint, truth, strict=True)])


def some_rows(count: int, weights: Array | None, most: int) -> NDArray[np.int64]:
    """At most so many rows that count, evenly spread."""
    counted = np.arange(count) if weights is None else np.flatnonzero(weights > 0)
    return counted[np.unique(np.linspace(0, len(counted) - 1, min(len(counted), most)).round().astype(np.int64))]


def _mass(chosen: NDArray[np.int64], weights: Array | None) -> Array:
    return np.ones(len(chosen)) if weights is None else weights[chosen]


def _ranked(model: BayesianClassifier, found: _Weighed) -> tuple[Contribution, ...]:
    """The contributions, the most helpful first."""
    labels = [plain_label(label) for label in model.classes_.tolist()]
    every = [_contribution(key, weights, found.truth, found.mass, labels) for key, weights in found.evidence.items()]
    return tuple(sorted(every, key=lambda one: (-round(one.evidence, 12), one.columns, one.given)))


def _contribution(
    key: Key, evidence: Array, truth: NDArray[np.int64], mass: Array, labels: list[Label]
) -> Contribution:
    finite = np.isfinite(evidence)

    def mean(values: Array, among: NDArray[np.bool_]) -> float:
        return float(np.average(values[among], weights=mass[among])) if mass[among].sum() else 0.0

    by_class = {label: mean(evidence, finite & (truth == index)) for index, label in enumerate(labels)}
    decides = float(mass[~finite].sum() / mass.sum())
    columns, given, name = key
    return Contribution(columns, mean(evidence, finite), mean(np.abs(evidence), finite), by_class, decides, given, name)
