"""What may be taken of memory: costs are known before anything is allocated, and refused beyond a stated number of bytes."""

from __future__ import annotations

import os

from merula.core.errors import InputError, Message, Part

MOST_BYTES = 2 * 2**30  # that the tables of one model may take, unless the environment says otherwise
VARIABLE = "MERULA_MOST_BYTES"
CELL = 8  # bytes of a number


class TooLargeError(InputError, MemoryError):
    """A model's tables would need more memory than allowed; nothing was counted.

    Attributes
    ----------
    needed, limit : float
        The bytes it would need, and those allowed: 2 GiB, or what the environment variable ``MERULA_MOST_BYTES`` says.

    Examples
    --------
    >>> import merula as mr
    >>> import numpy as np
    >>> mr.BayesClassifier().fit(np.eye(20_000, dtype=np.float32)[:4], ["wren", "tit"] * 2)
    Traceback (most recent call last):
        ...
    merula.core.limits.TooLargeError: 20,000 numeric columns in 2 classes need covariances of 38.4 GB, the limit is 2.15 GB; use covariance='diagonal' or fewer columns, or set MERULA_MOST_BYTES
    """

    def __init__(self, what: str, needed: float, limit: float, remedy: Message, size: str = " of {}") -> None:
        parts: tuple[Part, ...] = (remedy,) if isinstance(remedy, str) else remedy
        super().__init__(
            f"{what}{size.format(shown_bytes(needed))}, the limit is {shown_bytes(limit)}",
            got=needed,
            remedy=(*parts, f", or set {VARIABLE}"),
        )
        self.needed, self.limit = needed, limit


def stated_bytes() -> int | None:
    """What MERULA_MOST_BYTES says, None where it is not set."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    try:
        stated = float(text)
    except ValueError:
        stated = 0.0
    if not 1 <= stated < 2**63:
        raise InputError.of(VARIABLE, text, "a number of bytes from 1, such as 32e9")
    return int(stated)


def most_bytes() -> float:
    """The number of bytes that one model's tables may take."""
    return float(stated_bytes() or MOST_BYTES)


def check_bytes(needed: float, what: str, remedy: Message) -> None:
    """A `TooLargeError` where more is needed than is allowed; `what` is a sentence up to its number of bytes.

    Examples
    --------
    >>> check_bytes(1e6, "a small table needs memory", "make it smaller")
    """
    if needed > MOST_BYTES or VARIABLE in os.environ:
        limit = most_bytes()
        if needed > limit:
            raise TooLargeError(what, needed, limit, remedy)


def at_once(shared: float, each: float, most: int) -> int:
    """How many of `most` workers may be at work at once, one at least, that take so many bytes each beside what they share.

    Examples
    --------
    >>> at_once(1e6, 1e6, 4), at_once(0.0, MOST_BYTES, 4)
    (4, 1)
    """
    left = max(0.0, most_bytes() - shared)
    return max(1, min(most, int(left / max(each, 1.0))))


def check_cells(cells: int, most: int, where: str, remedy: Message) -> None:
    """A `TooLargeError` where a table of numbers has more cells than `most`, or than MERULA_MOST_BYTES holds where it is set.

    Examples
    --------
    >>> check_cells(100, 2**24, "the table of 'rain'", "give it fewer parents")
    """
    limit = stated_bytes() or CELL * most
    if CELL * cells > limit:
        number = f"{cells:,}" if cells < 10**30 else f"{min(cells, 10**300):.3g}"
        needed = float(CELL * min(cells, 10**300))
        raise TooLargeError(f"{where} would have {number} cells", needed, limit, remedy, " ({})")


def shown_bytes(size: float) -> str:
    """A number of bytes as a person reads it.

    Examples
    --------
    >>> shown_bytes(32), shown_bytes(2.5e9)
    ('32 bytes', '2.5 GB')
    """
    units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.3g} {units[0]}"
