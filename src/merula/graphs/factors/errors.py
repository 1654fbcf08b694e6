"""What can go wrong when a distribution is asked."""

from __future__ import annotations

from merula.core import InputError, InPython, as_float
from merula.core.limits import shown_bytes


class ImpossibleEvidenceError(InputError):
    """The evidence has probability 0: nothing can be said given what cannot happen.

    Examples
    --------
    >>> import merula as mr
    >>> mr.JointDistribution("coin", {"heads": 1.0, "tails": 0.0}).given(coin="tails")
    Traceback (most recent call last):
        ...
    merula.graphs.factors.errors.ImpossibleEvidenceError: the evidence coin = 'tails' has probability 0; condition on something that can happen
    """


class TooWideError(InputError, MemoryError):
    """An exact answer would need more table entries than allowed; nothing was computed.

    Attributes
    ----------
    entries, limit : float
        What it would need, and what was allowed.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    >>> network = network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
    >>> network.query(["rain", "wet"], limit=3)
    Traceback (most recent call last):
        ...
    merula.graphs.factors.errors.TooWideError: an exact answer needs tables of 4 entries (32 bytes), the limit is 3 (24 bytes); give more evidence, ask for fewer variables at once, raise limit=, or ask query(…, method='likelihood-weighting')
    """

    def __init__(self, entries: float, limit: float) -> None:
        entries, limit = as_float(entries), as_float(limit)
        super().__init__(
            f"an exact answer needs tables of {entries:.3g} entries ({shown_bytes(8 * entries)}), the limit is {limit:.3g} ({shown_bytes(8 * limit)})",
            where="limit",
            got=limit,
            remedy=(
                "give more evidence, ask for fewer variables at once",
                InPython(", raise limit=, or ask query(…, method='likelihood-weighting')"),
            ),
        )
        self.entries, self.limit = entries, limit


class NoSampleError(InputError):
    """No row was drawn that agrees with the evidence: it is impossible, or too rare for this method and so few draws.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("alarm", ["no", "yes"], [1 - 1e-9, 1e-9])
    >>> network.sample(1, given={"alarm": "yes"}, method="forward", random_state=0)
    Traceback (most recent call last):
        ...
    merula.graphs.factors.errors.NoSampleError: of 500,000 rows drawn, 0 agree with the evidence alarm = 'yes', 1 are wanted; use method='exact' or 'likelihood-weighting'
    """
