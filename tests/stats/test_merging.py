"""Merged means and squares against those of all rows at once, for any number of axes of groups."""

from __future__ import annotations

import numpy as np
import pytest

from merula.stats.moments import merge_means, merge_moments


def _parts(x, groups, shape, full):
    """Weight, mean, squares (or scatter) and rest of rows in groups, one group at a time."""
    d, size = x.shape[1], int(np.prod(shape))
    weight, mean = np.zeros(size), np.zeros((size, d))
    squares = np.zeros((size, d, d))
    for group in range(size):
        rows = x[groups == group]
        if len(rows):
            weight[group], mean[group] = len(rows), rows.mean(axis=0)
            squares[group] = (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0))
    means = mean.reshape(*shape, d)
    if full:
        return weight.reshape(shape), means, squares.reshape(*shape, d, d), np.zeros_like(means)
    diagonal = np.diagonal(squares, axis1=1, axis2=2).reshape(*shape, d)
    return np.repeat(weight[:, None], d, axis=1).reshape(*shape, d), means, diagonal, np.zeros_like(means)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(3,), (2, 3), ()])
def test_both_parts_together_are_all_rows(shape, full):
    rng = np.random.default_rng(4)
    size = int(np.prod(shape))
    x, groups = rng.normal(1e3, 2.0, size=(400, 2)), rng.integers(0, size, 400)
    groups[:200] = np.minimum(groups[:200], max(size - 2, 0))  # the first part lacks the last group
    merged = merge_moments(_parts(x[:200], groups[:200], shape, full), _parts(x[200:], groups[200:], shape, full))
    for found, expected in zip(merged, _parts(x, groups, shape, full), strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)


def test_many_batches_far_from_zero_do_not_drift():
    x = np.random.default_rng(5).normal(1e9, 1.0, size=(20_000, 1))
    parts = [_parts(row[None, :], np.zeros(1, dtype=int), (1,), False) for row in x]
    total = parts[0]
    for part in parts[1:]:
        total = merge_moments(total, part)
    exact = float(np.mean(x[:, 0] - 1e9))
    assert abs((total[1] - 1e9 + total[3]).item() - exact) < 1e-12
    np.testing.assert_allclose(total[2].item(), np.sum((x - x.mean()) ** 2), rtol=1e-12)


def test_a_part_of_weight_0_changes_nothing_and_its_mean_is_never_looked_at():
    known = np.array([2.0]), np.array([5.0]), np.array([2.0**-60])
    empty = np.array([0.0]), np.array([np.inf]), np.array([np.nan])
    for first, second in ((known, empty), (empty, known)):
        means, apart, count = merge_means(first, second)
        assert [part.tolist() for part in means] == [[2.0], [5.0], [2.0**-60]]
        assert (apart.tolist(), count.tolist()) == ([0.0], [0.0])
