"""How far each column moves the log-odds: of the true class, in the mean over rows; and value by value, in points of a nomogram."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from merula.answers.explanation.by_effects import told_effects
from merula.answers.explanation.nomograms import PROBABILITIES, Nomogram, Scale
from merula.answers.explanation.reasons import log_odds, weights_of_evidence
from merula.classify.base import BayesianClassifier
from merula.classify.fitted import FittedModel
from merula.classify.single_row import shown
from merula.core import Array
from merula.data.encode import Encoded, with_cells
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.report.findings.result import Contribution, Points, PointScale

Key = tuple[tuple[str, ...], tuple[str, ...]]  # the columns of a term, and those it depends on
MOST_ROWS, FEW_ROWS = 1_000, 300  # that are weighed: enough for a mean
MOST_PLACES, TOTALS = 101, 81  # along a number's range, and along the total
REACH = 0.005, 0.995  # the probabilities the total reaches to


def contributions_of(
    model: BayesianClassifier, rows: Encoded, truth: NDArray[np.int64], weights: Array | None
) -> tuple[Contribution, ...]:
    """The mean weight of evidence of each term for the rows' true classes, the most helpful first; none for a mixture.

    truth : the index of each row's class among the model's. Weights of evidence are those of `explain`: against all
    other classes together.
    """
    if len(model.fitted_.components) > 1:
        return ()
    chosen = _some_rows(
        len(rows), weights, FEW_ROWS if model.fitted_.effects else MOST_ROWS
    )  # effects may be thousands
    own = truth[chosen]
    blocks: dict[Key, Array] = {}
    for some, log_prior, terms in _unsummed(model, rows.take(chosen)):
        values = np.stack([values for _, values in terms], axis=1)
        evidence = [_for_truth(*row) for row in zip(log_prior, values, own[some].tolist(), strict=True)]
        for (key, _), weight in zip(terms, np.array(evidence).T, strict=True):
            blocks.setdefault(key, np.zeros(len(own)))[some] += weight
    return _ranked(model, blocks, own, _mass(chosen, weights))


def _unsummed(
    model: BayesianClassifier, rows: Encoded
) -> Iterator[tuple[NDArray[np.int64], Array, list[tuple[Key, Array]]]]:
    """Groups of rows, where their sum starts, and its terms; effects, where the model is explained by them."""
    effects = model.fitted_.effects
    if effects:
        for some, start, told in told_effects(model, effects, rows):
            if told:
                yield some, start, [((subject.columns, ()), values) for subject, values in told.items()]
        return
    (component,) = model.fitted_.unsummed(rows)
    start = np.broadcast_to(component.log_prior, (len(rows), len(component.log_prior)))
    yield (
        np.arange(len(rows)),
        start,
        [((term.part.columns, term.part.parents), term.values) for term in component.terms],
    )


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
    if not columns or model.missing == "level":
        return ()
    chosen = _some_rows(len(rows), weights, FEW_ROWS)
    own, encoded = truth[chosen], rows.take(chosen)
    whole, nothing = _log_odds(fitted, encoded, own), [None] * len(chosen)
    moves: dict[Key, Array] = {
        ((name,), ()): _move(_log_odds(fitted, with_cells(encoded, model.schema_[name], nothing), own), whole)
        for name in columns
    }
    return _ranked(model, moves, own, _mass(chosen, weights))


def _move(before: Array, after: Array) -> Array:
    """How far log-odds moved; what was certain and stays so did not."""
    with np.errstate(invalid="ignore"):
        return np.where(before == after, 0.0, after - before)


def _log_odds(fitted: FittedModel, rows: Encoded, truth: NDArray[np.int64]) -> Array:
    """The log-odds of each row's true class against all others."""
    log_joint = fitted.log_joint(rows)
    others = [[k for k in range(log_joint.shape[1]) if k != index] for index in range(log_joint.shape[1])]
    return np.array([log_odds(row, index, others[index]) for row, index in zip(log_joint, truth, strict=True)])


def _some_rows(count: int, weights: Array | None, most: int) -> NDArray[np.int64]:
    """At most so many rows that count, evenly spread."""
    counted = np.arange(count) if weights is None else np.flatnonzero(weights > 0)
    return counted[np.unique(np.linspace(0, len(counted) - 1, min(len(counted), most)).round().astype(np.int64))]


def _mass(chosen: NDArray[np.int64], weights: Array | None) -> Array:
    return np.ones(len(chosen)) if weights is None else weights[chosen]


def _ranked(
    model: BayesianClassifier, evidence: Mapping[Key, Array], truth: NDArray[np.int64], mass: Array
) -> tuple[Contribution, ...]:
    """The contributions, the most helpful first."""
    labels = [plain_label(label) for label in model.classes_.tolist()]
    found = [_contribution(key, weights, truth, mass, labels) for key, weights in evidence.items()]
    return tuple(sorted(found, key=lambda one: (-round(one.evidence, 12), one.columns, one.given)))


def _contribution(
    key: Key, evidence: Array, truth: NDArray[np.int64], mass: Array, labels: list[Label]
) -> Contribution:
    finite = np.isfinite(evidence)

    def mean(values: Array, among: NDArray[np.bool_]) -> float:
        return float(np.average(values[among], weights=mass[among])) if mass[among].sum() else 0.0

    by_class = {label: mean(evidence, finite & (truth == index)) for index, label in enumerate(labels)}
    decides = float(mass[~finite].sum() / mass.sum())
    columns, given = key
    return Contribution(columns, mean(evidence, finite), mean(np.abs(evidence), finite), by_class, decides, given)


# ------------------------------------------------------------------------------------------------------------- nomogram


def points_of(nomogram: Nomogram) -> Points:
    """What a nomogram says, the column with the widest scale first."""
    least, most = (float(nomogram.total_points(p)) for p in REACH)
    return Points(
        nomogram.label,
        nomogram.against,
        tuple(_scale(scale) for scale in sorted(nomogram.scales, key=_span, reverse=True)),
        tuple((p, float(nomogram.total_points(p))) for p in PROBABILITIES),
        tuple((total, float(nomogram.probability(total))) for total in np.linspace(least, most, TOTALS).tolist()),
    )


def _span(scale: Scale) -> float:
    return float(np.ptp(np.append(scale.points[np.isfinite(scale.points)], scale.missing)))


def _scale(scale: Scale) -> PointScale:
    column = scale.column
    if column.kind == "categorical":
        return PointScale(column.name, tuple(scale.shown()), scale.missing)
    is_time = column.unit is not None and column.unit.startswith("datetime")
    kept = np.unique(np.linspace(0, len(scale.values) - 1, MOST_PLACES).round().astype(int)).tolist()
    along = ((shown(column, scale.values[k]) if is_time else scale.values[k], float(scale.points[k])) for k in kept)
    return PointScale(column.name, tuple(scale.shown()), scale.missing, tuple(along))
