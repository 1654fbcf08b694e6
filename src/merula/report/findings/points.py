"""A nomogram as plain data: what can be read off its scales, without the model behind them."""

from __future__ import annotations

import numpy as np

from merula.answers.explanation.nomograms import PROBABILITIES, Nomogram, Scale
from merula.classify.single_row import shown
from merula.report.findings.result import Points, PointScale

MOST_PLACES, TOTALS = 101, 81  # along a number's range, and along the total
REACH = 0.005, 0.995  # the probabilities the total reaches to


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
    points = scale.points[np.isfinite(scale.points)]
    return float(np.ptp(np.append(points, scale.missing)))


def _scale(scale: Scale) -> PointScale:
    column = scale.column
    if column.kind == "categorical":
        return PointScale(column.name, tuple(scale.shown()), scale.missing)
    is_time = column.unit is not None and column.unit.startswith("datetime")
    kept = np.unique(np.linspace(0, len(scale.values) - 1, MOST_PLACES).round().astype(int)).tolist()
    along = ((shown(column, scale.values[k]) if is_time else scale.values[k], float(scale.points[k])) for k in kept)
    return PointScale(column.name, tuple(scale.shown()), scale.missing, tuple(along))
