"""Patients to classify, and models whose probabilities are known beforehand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin


class StatedProbability(ClassifierMixin, BaseEstimator):
    """P(second class) is what the row says in one of its columns; nothing is learned but the classes."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> StatedProbability:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        second = np.asarray(X, dtype=float)[:, self.column]
        return np.column_stack([1 - second, second])


class ClassShares(ClassifierMixin, BaseEstimator):
    """P(class) is its share of the training rows, whatever the row says."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ClassShares:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.tile(self.shares_, (len(X), 1))


@pytest.fixture
def stated_probability() -> type[StatedProbability]:
    return StatedProbability


@pytest.fixture
def class_shares() -> type[ClassShares]:
    return ClassShares


@pytest.fixture(scope="session")
def patients() -> SimpleNamespace:
    """120 rows of three overlapping classes, and frequency weights."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, 120)
    measured = rng.normal(size=(120, 2)) + codes[:, None] * [1.0, -0.5]
    return SimpleNamespace(
        columns=("blood pressure", "größe"),
        X=measured,
        y=np.array(["gesund", "krank", "色泽不明"])[codes],
        sick=np.where(codes == 0, "healthy", "ill"),
        weights=rng.integers(1, 4, 120).astype(float),
    )
