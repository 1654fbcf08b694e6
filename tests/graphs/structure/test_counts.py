"""Counts of families: against a count by hand; dense and sorted agree; any number of parents."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from merula.data.encode import code_columns
from merula.graphs.structure import build_scorer
from merula.graphs.structure.family_scores import configurations, count_family


def counted_by_hand(table, child, parents, weights):
    cells, margins = Counter(), Counter()
    for (_, row), weight in zip(table[[child, *parents]].iterrows(), weights, strict=True):
        values = row.tolist()
        if row.notna().all() and weight > 0:
            cells[tuple(values)] += weight
            margins[tuple(values[1:])] += weight
    return sorted(cells.values()), sorted(margins.values())


@pytest.mark.parametrize("small", [False, True], ids=["tables", "sorted keys"])
@pytest.mark.parametrize("seed", range(6))
def test_a_family_is_counted_as_by_hand(random_table, seed, small, monkeypatch):
    if small:
        monkeypatch.setattr("merula.stats.configurations.FEWEST_CELLS", 5)
        monkeypatch.setattr("merula.stats.configurations.CELLS_PER_ROW", 0)
    table = random_table(seed, rows=150, missing=0.1 * (seed % 2))
    weights = np.random.default_rng(seed).integers(0, 3, len(table)).astype(float)
    rows = code_columns(table, weights=weights)
    for child, parents in [(0, []), (1, [0]), (2, [0, 4]), (3, [4, 1, 2]), (4, [0, 1, 2, 3])]:
        found = count_family(rows, child, parents)
        names = table.columns
        cells, margins = counted_by_hand(table, names[child], [names[parent] for parent in parents], weights)
        np.testing.assert_array_equal(np.sort(found.cells), cells)
        np.testing.assert_array_equal(np.sort(found.margins), margins)
        assert found.total == sum(margins)


def test_forty_parents_of_many_levels_need_no_more_room_than_the_rows():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {f"column {position}": np.char.mod("level %d", rng.integers(0, 50, 500)) for position in range(41)}
    )
    rows = code_columns(table)
    found = configurations(rows, list(range(40)))
    assert found.size == 500 and sorted(found.index.tolist()) == list(range(500))
    for score in ("bic", "bdeu", "k2", "log-likelihood"):
        scorer = build_scorer(rows, score)
        value = scorer.local(40, range(40))
        assert np.isfinite(value)
        assert build_scorer(rows, score).with_one_more(40, range(39), [39]) == pytest.approx([value], rel=1e-12)
