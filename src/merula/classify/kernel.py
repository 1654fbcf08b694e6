"""The Bayes classifier with a multivariate kernel density for each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from merula.classify.base import BayesianClassifier
from merula.distributions import ProductKernel


class KernelBayesClassifier(BayesianClassifier):
    """Kernel density classification on raw tables: all columns together, without assuming a shape.

    P(c given x) ∝ P(c) · Σ_{i of class c} w_i · Π_j K_j(x_j, x_ij) / Σ w_i

    Numbers are spread by a Gaussian kernel, words by Aitchison and Aitken's. (One column at a time, with other kernels and bandwidth rules:
    ``NaiveBayesClassifier(distributions={"numeric": Kernel(…)})``.)

    Parameters
    ----------
    bandwidth : "silverman", "scott" or a number
        h_cj = (4 / (d + 2))^(1/(d + 4)) · σ_cj · n_c^(−1/(d + 4)) over d columns of numbers; Scott's rule is without the first factor;
        or this number for all classes and columns of numbers.
    smoothing : float or MEstimate
        α of the words' kernel: another level weighs λ / (m − 1), λ = α·(m − 1) / (n_c + α·m); for a single column this is Laplace's rule.
    kinds, levels, class_prior, unseen, n_jobs
        As for `NaiveBayesClassifier`; `unseen` is "missing" or "error".

    Notes
    -----
    Where cells are missing, only the rows learned from that hold all that is known of a row are compared with it. The model keeps all its
    rows, and a prediction looks at each of them: time grows with rows learned from × rows asked about.

    Examples
    --------
    >>> import merula as mr
    >>> rows = [[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9], [0.1, 5.0], [0.0, 5.2]]
    >>> model = mr.KernelBayesClassifier(bandwidth=1.0).fit(rows, ["same", "same", "same", "same", "different", "different"])
    >>> model.predict([[5.0, 5.0], [0.0, 5.0], [5.1, None]]).tolist()
    ['same', 'different', 'same']
    """

    _shaping: ClassVar[tuple[str, ...]] = ("kinds", "levels", "bandwidth", "smoothing")
    _unseen: ClassVar[tuple[str, ...]] = ("missing", "error")
    _remedy: ClassVar[str] = "smoothing > 0, and a larger bandwidth, avoid this"

    def __init__(
        self,
        *,
        bandwidth: Any = "silverman",
        kinds: Any = None,
        levels: Any = None,
        class_prior: Any = "empirical",
        smoothing: Any = 1,
        unseen: Any = "missing",
        n_jobs: Any = None,
    ) -> None:
        super().__init__(
            kinds=kinds, levels=levels, class_prior=class_prior, smoothing=smoothing, unseen=unseen, n_jobs=n_jobs
        )
        self.bandwidth = bandwidth

    def _default_families(self) -> Mapping[str, Any]:
        return self._for_every_kind(ProductKernel(self.bandwidth))
