"""What can go wrong when a distribution is asked."""

from __future__ import annotations

from merula.logspace import as_float


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


class TooWideError(MemoryError):
    """An exact answer would need more table entries than allowed; nothing was computed."""

    def __init__(self, entries: float, limit: float) -> None:
        entries, limit = as_float(entries), as_float(limit)
        super().__init__(
            f"an exact answer needs tables of {entries:.3g} entries ({_bytes(entries)}), the limit is {limit:.3g} ({_bytes(limit)}); "
            "give more evidence, ask for fewer variables at once, raise limit=, or ask query(…, method='likelihood-weighting')"
        )
        self.entries, self.limit = entries, limit


class NoSampleError(ValueError):
    """No row was drawn that agrees with the evidence: it is impossible, or too rare for this method and so few draws."""


def _bytes(entries: float) -> str:
    size, units = 8.0 * entries, ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.3g} {units[0]}"
