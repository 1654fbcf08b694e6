"""How far each column moves the log-odds of the true class, in the mean over rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from merula.classify.base import BayesianClassifier
from merula.explanation.evidence import weights_of_evidence
from merula.findings.result import Contribution
from merula.schema import Label
from merula.table import RowSource, plain_label

Array = NDArray[np.float64]
MOST_ROWS = 1_000  # that are weighed: enough for a mean


def contributions_of(
    model: BayesianClassifier, rows: RowSource, truth: NDArray[np.int64], weights: Array | None
) -> tuple[Contribution, ...]:
    """The mean weight of evidence of each block of columns for the rows' true classes, the most helpful first.

    truth : the place in the model's classes of each row's class. Weights of evidence are those of `explain`: against all
    other classes together.
    """
    chosen = np.unique(np.linspace(0, rows.count - 1, min(rows.count, MOST_ROWS)).round().astype(np.int64))
    chosen = chosen if weights is None else chosen[weights[chosen] > 0]
    (component,) = model.components(rows.take(chosen))
    blocks = list(component.terms)
    terms = np.stack([component.weights.get(key, 1.0) * component.terms[key] for key in blocks], axis=1)
    own = truth[chosen]
    classes = range(len(component.log_prior))
    rivals = {place: [other for other in classes if other != place] for place in classes}
    evidence = np.array(
        [
            weights_of_evidence(component.log_prior, row, place, rivals[place])
            for row, place in zip(terms, own.tolist(), strict=True)
        ]
    )
    mass = np.ones(len(chosen)) if weights is None else weights[chosen]
    labels = [plain_label(label) for label in model.classes_.tolist()]
    found = [_contribution(key, evidence[:, j], own, mass, labels) for j, key in enumerate(blocks)]
    return tuple(sorted(found, key=lambda one: (-round(one.evidence, 12), one.columns)))


def _contribution(
    columns: tuple[str, ...], evidence: Array, truth: NDArray[np.int64], mass: Array, labels: list[Label]
) -> Contribution:
    finite = np.isfinite(evidence)

    def mean(values: Array, among: NDArray[np.bool_]) -> float:
        return float(np.average(values[among], weights=mass[among])) if mass[among].sum() else 0.0

    by_class = {label: mean(evidence, finite & (truth == place)) for place, label in enumerate(labels)}
    decides = float(mass[~finite].sum() / mass.sum())
    return Contribution(columns, mean(evidence, finite), mean(np.abs(evidence), finite), by_class, decides)
