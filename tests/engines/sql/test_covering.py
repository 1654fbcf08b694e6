"""Few groupings that answer for many needs."""

from itertools import combinations
from math import prod

import numpy as np
import pytest

from merula.engines.sql.covering import MOST_GROUPS, covering
from merula.engines.sql.needs import Counts

NAMES = [f"word {j}" for j in range(8)]


def test_every_need_is_answered_once_by_a_grouping_that_has_its_columns():
    rng = np.random.default_rng(3)
    for _ in range(50):
        sizes = {name: int(rng.integers(1, 400)) for name in NAMES}
        needs = [Counts(tuple(rng.permutation(NAMES)[: rng.integers(1, 4)].tolist()), known=tuple(NAMES[: rng.integers(0, 2)])) for _ in range(20)]  # fmt: skip
        found = covering(needs, sizes, 3)
        answered = [need for _, own in found for need in own]
        assert sorted(answered, key=repr) == sorted(set(needs), key=repr)
        for grouping, own in found:
            for need in own:
                assert set(need.columns) <= set(grouping.columns)
                assert need.known == grouping.known
            groups = 3 * prod(sizes[name] + 1 for name in grouping.columns)
            alone = any(set(need.columns) == set(grouping.columns) for need in own)
            assert groups <= MOST_GROUPS or alone


@pytest.mark.parametrize(("size", "most"), [(1, 2), (2, 9)], ids=["columns", "pairs"])
def test_columns_of_few_levels_take_few_passes(size, most):
    needs = [Counts(some) for some in combinations(NAMES, size)]
    found = covering(needs, dict.fromkeys(NAMES, 5), 4)
    assert len(found) <= most < len(needs)
