"""Nearest neighbours: the classes of the most similar rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from merula.classify.base import BayesianClassifier
from merula.distributions import NearestNeighbors


class NearestNeighborsClassifier(BayesianClassifier):
    """Nearest neighbours on raw tables: distances for numbers, words, dates and missing cells in one model.

    P(c given x) = K_c / K, and with another class prior ∝ P(c) · K_c / n_c

    K_c is how many of the K nearest rows are of class c, n_c how many of all rows. Rows as far as the K-th share what the
    nearer ones leave, so that the order of rows does not matter; where there are fewer than K rows, all are neighbours.

    Parameters
    ----------
    neighbors : int or "auto"
        K. "auto" takes the number that tells rows best when each is left out in turn: the largest mean of
        log((K_c + ½) / (K + C/2)), C classes, among 1, 2, 3, 4, 5, 7, 10, … 100.
    weights : "uniform" or "distance"
        Whether all neighbours count alike, or 1/distance each (rows at distance 0 then count alone).
    scale : "range" or "none"
        "range" measures numbers in ranges of their column, words by 0 or 1, and gaps by what the other columns say:
        distance² = columns / shared · Σ_shared difference², over the columns that both rows know. "none" is the same sum
        of numbers as they are: scikit-learn's Euclidean distance.
    kinds, levels, class_prior, unseen, n_jobs
        As for `NaiveBayesClassifier`; `unseen` is "missing" or "error".

    Attributes
    ----------
    neighbors_ : int
        K as stated or chosen.
    classes_, schema_, feature_names_in_, class_log_prior_, distributions_
        As for `NaiveBayesClassifier`.

    Notes
    -----
    A sample weight counts rows: K is a mass of neighbours. A column that never varied says nothing. Two rows that share no
    known column are infinitely far apart; a row of which nothing is known gets the class prior.

    With scale="none" and no gaps in the rows learned from, terms are densities: p(x given c) = K_c / (n_c · V_d(r)), V_d(r)
    the volume of the d-dimensional ball that reaches the K-th neighbour (its radius is at least 1e-9 of the table's
    diagonal, so that rows that repeat have a density). Otherwise there is no such volume, which would be common to all
    classes, and terms are log(K_c / K) − log(n_c / n): the posterior is the same, but `log_evidence` and
    `log_likelihood` raise. Rows cannot be sampled.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [["small", 1.2], ["large", 3.4], ["small", None], ["large", 2.9], ["small", 1.4]]
    >>> model = mr.NearestNeighborsClassifier(neighbors=3).fit(rows, ["cat", "dog", "cat", "dog", "cat"])
    >>> model.predict([["small", None], [None, 3.0]])
    array(['cat', 'dog'], dtype='<U3')
    """

    _shaping: ClassVar[tuple[str, ...]] = ("kinds", "levels", "neighbors", "weights", "scale")
    _unseen: ClassVar[tuple[str, ...]] = ("missing", "error")
    _remedy: ClassVar[str] = "more neighbors, or a class prior without zeros, avoid this"

    def __init__(
        self,
        *,
        neighbors: Any = 5,
        weights: Any = "uniform",
        scale: Any = "range",
        kinds: Any = None,
        levels: Any = None,
        class_prior: Any = "empirical",
        unseen: Any = "missing",
        n_jobs: Any = None,
    ) -> None:
        super().__init__(  # shares are as counted
            kinds=kinds, levels=levels, class_prior=class_prior, smoothing=0, unseen=unseen, n_jobs=n_jobs
        )
        self.neighbors = neighbors
        self.weights = weights
        self.scale = scale

    def _default_families(self) -> Mapping[str, Any]:
        return self._for_every_kind(NearestNeighbors(self.neighbors, self.weights, self.scale))

    @property
    def neighbors_(self) -> int:
        """The number of neighbours asked, stated or chosen."""
        return int(self.distributions_[0].neighbors)  # type: ignore[attr-defined]
