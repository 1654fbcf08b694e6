"""Which level a label is: its position among the levels that are known, what stands for missing, and what for unseen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from merula.core import Note
from merula.data.encode.kinds import shown
from merula.data.schema import OTHER, Label


class UnseenLevelWarning(UserWarning):
    """A categorical cell holds a level that fit never saw; it is treated as the `unseen` option says.

    Examples
    --------
    >>> import merula as mr, warnings
    >>> model = mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["yes", "no"])
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     print(model.predict_proba([["green"]]), said[0].category is mr.UnseenLevelWarning)
    [[0.5 0.5]] True
    """


def level_positions(slots: Sequence[Label], levels: tuple[Label, ...]) -> NDArray[np.int64]:
    """Where each slot's label stands among the levels; missing is m (or its own level), unseen is m + 1 (or '(other)', if it is one)."""
    m = len(levels)
    known = {label: position for position, label in enumerate(levels)}
    missing, unseen = known.get(None, m), known.get(OTHER, m + 1)
    return np.array(
        [missing if label is None else known.get(label, unseen) for label in slots] + [unseen], dtype=np.int64
    )


def unseen_note(
    name: str, labels: Sequence[Label], lack: str = ", never seen at fit", treated: str = "treated as missing"
) -> Note:
    """What to know of a column that holds labels which none of its levels is.

    Examples
    --------
    >>> print(unseen_note("sky", ["mauve"]))
    column 'sky' holds level 'mauve', never seen at fit; treated as missing
    """
    return Note(
        UnseenLevelWarning,
        f"column {name!r} holds {'levels' if len(labels) > 1 else 'level'} {shown(labels)}{lack}; {treated}",
        column=name,
    )
