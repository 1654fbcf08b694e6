"""Tables from few numbers: noisy-OR and noisy-MAX, where every cause acts by itself and the strongest effect shows.

P(Y ≤ y given x) = Π_i P(Z_i ≤ y given x_i) · P(leak ≤ y), Z_i being what parent i alone would bring about.

References
----------
M. Henrion (1989). Some practical issues in constructing belief networks. Uncertainty in Artificial Intelligence 3, 161–173.
F. J. Díez (1993). Parameter adjustment in Bayes networks: the generalized noisy OR-gate. Proc. UAI-93, 99–105.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from merula.core import Array, InputError, check_probabilities
from merula.core.limits import check_cells
from merula.core.logspace import safe_log

LARGEST_TABLE = 2**24  # cells; 134 MB, and several times that while they are made
MOST_PARENTS = 63  # an array has at most 64 axes


def noisy_max(effects: Sequence[ArrayLike], leak: ArrayLike | None = None) -> Array:
    """P(Y given parents), Y being the highest of the levels that the parents, each by itself, bring about.

    P(Y ≤ y given x) = Π_i P(Z_i ≤ y given x_i) · P(leak ≤ y)

    Parameters
    ----------
    effects : sequence of array
        For each parent, one row per level of the parent: a distribution over the levels of Y, lowest level first. The
        level of a parent that does nothing has the row (1, 0, …).
    leak : array, optional
        The distribution of what is not in the model; by default it does nothing.

    Returns
    -------
    array
        One axis per parent, in their order, the levels of Y last, lowest first.

    Examples
    --------
    >>> season = [[1, 0, 0], [0.5, 0.3, 0.2]]            # rows: winter, summer; levels: none, mild, severe
    >>> contact = [[1, 0, 0], [0.8, 0.2, 0], [0.4, 0.4, 0.2]]
    >>> noisy_max([season, contact])[1].round(2).tolist()
    [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.2, 0.44, 0.36]]
    """
    if not effects and leak is None:
        raise InputError("a noisy-MAX needs at least one parent or a leak", remedy="got neither")
    width = np.size(leak) if leak is not None else _width(effects[0])
    rows = [_distributions(f"parent {index}", effect, width) for index, effect in enumerate(effects)]
    base = _distributions("the leak", [np.eye(width)[0] if leak is None else leak], width)[0]
    _refuse_size([len(row) for row in rows], width)
    reached = _log_at_most(base)
    for index, row in enumerate(rows):
        reached = reached + _log_at_most(row).reshape(
            [-1 if axis == index else 1 for axis in range(len(rows))] + [width]
        )
    return _differences(reached)


def noisy_rows(effects: Sequence[Array], leak: Array, levels: Sequence[NDArray[Any]], count: int) -> Array:
    """P(Y given parents) for each of `count` rows, ``levels[i]`` being the codes of parent i: the table is never made.

    Examples
    --------
    >>> noisy_rows([np.array([[1, 0], [0.1, 0.9]])], np.array([0.5, 0.5]), [np.array([0, 1])], 2).round(2).tolist()
    [[0.5, 0.5], [0.05, 0.95]]
    """
    reached = np.tile(_log_at_most(np.asarray(leak, dtype=np.float64)), (count, 1))
    for effect, codes in zip(effects, levels, strict=True):
        reached += _log_at_most(np.asarray(effect, dtype=np.float64))[codes]
    return _differences(reached)


def _width(effect: ArrayLike) -> int:
    table: Array = np.asarray(effect, dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"parent 0 has an array of {table.ndim} axes", expected="one row per level of the parent")
    return int(table.shape[1])


def _distributions(what: str, rows: Any, width: int) -> Array:
    """Rows that are distributions over the levels of the effect."""
    table: Array = np.asarray(rows, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != width or not table.size:
        raise InputError.at(
            what,
            f"has an array of shape {table.shape}",
            expected=f"one row per level of the parent and {width} columns, one per level of the effect",
        )
    return check_probabilities(table, lambda index: f"row {index[0]} of {what}")


def _refuse_size(sizes: Sequence[int], width: int) -> None:
    what, remedy = (
        f"the full table of {len(sizes)} parents",
        "use fewer parents, or join some of them in a node between",
    )
    if len(sizes) > MOST_PARENTS:
        raise InputError.at(what, f"would have {len(sizes) + 1} axes, at most 64 are possible", remedy=remedy)
    check_cells(prod(sizes) * width, LARGEST_TABLE, what, remedy)


def _log_at_most(rows: Array) -> Array:
    """log P(Z ≤ z), from whichever of P(Z ≤ z) and P(Z > z) is the smaller: neither loses digits."""
    below = np.cumsum(rows, axis=-1)
    above = np.zeros_like(rows)
    above[..., :-1] = np.cumsum(rows[..., :0:-1], axis=-1)[..., ::-1]
    logs: Array = np.where(above < 0.5, np.log1p(-np.minimum(above, 0.5)), safe_log(below))
    logs[..., -1] = 0.0
    return logs


def _differences(reached: Array) -> Array:
    """P(Y = y) = P(Y ≤ y) · (1 − P(Y ≤ y − 1) / P(Y ≤ y)), from logs."""
    below = np.concatenate([np.full_like(reached[..., :1], -np.inf), reached[..., :-1]], axis=-1)
    step = np.where(np.isneginf(reached), 0.0, below - np.where(np.isneginf(reached), 0.0, reached))
    steps: Array = np.exp(reached) * (0.0 - np.expm1(np.minimum(step, 0.0)))
    return steps / steps.sum(axis=-1, keepdims=True)
