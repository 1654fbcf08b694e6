"""What can go wrong when a distribution is asked."""

from __future__ import annotations


class ImpossibleEvidenceError(ValueError):
    """The evidence has probability 0: nothing can be said given what cannot happen.

    Examples
    --------
    >>> import merula as mr
    >>> mr.JointDistribution("coin", {"heads": 1.0, "tails": 0.0}).given(coin="tails")
    Traceback (most recent call last):
        ...
    merula.factors.errors.ImpossibleEvidenceError: the evidence coin = 'tails' has probability 0; condition on something that can happen
    """
