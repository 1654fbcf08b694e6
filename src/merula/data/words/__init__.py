"""What words mean: the number in "$1,338.79", the day in "14 Oct 2018", the cell that is empty in "n/a".

Everything here is told from the different words of a column alone, never from its rows; what is decided is a `Reading`, which
is part of the column's schema, so that new rows are read the same way.
"""

from merula.data.words.cleaning import (
    ALWAYS_MISSING,
    AT_ENDS,
    UNSEEN,
    clean,
    gap_spellings,
    other_spellings,
    without_gaps,
)
from merula.data.words.decision import (
    NO_HINTS,
    Hints,
    as_labels,
    as_numbers,
    spelled_as_one,
    time_unit,
    understand,
)

__all__ = [
    "ALWAYS_MISSING",
    "AT_ENDS",
    "NO_HINTS",
    "UNSEEN",
    "Hints",
    "as_labels",
    "as_numbers",
    "clean",
    "gap_spellings",
    "other_spellings",
    "spelled_as_one",
    "time_unit",
    "understand",
    "without_gaps",
]
