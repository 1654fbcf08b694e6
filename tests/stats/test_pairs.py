"""Pairs of columns given the class, against cross tables; mutual information against scikit-learn's; batches and merges."""

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from merula.stats import Family, PairCounts

COLUMNS = ("größe", "色泽", "smoker", "id")


def patients(rows=300, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    size = rng.choice(["klein", "groß"], rows)
    table = pd.DataFrame(
        {
            "größe": size,
            "色泽": np.sort(rng.choice(["青绿", "乌黑", "浅白"], rows)),
            "smoker": np.where(rng.random(rows) < 0.7, size, "selten"),
            "id": [f"patient {index // 2}" for index in range(rows)],
        }
    )
    return table.mask(rng.random(table.shape) < missing), rng.choice(["ill", "well"], rows)


def table_of(found, one, other):
    """{(class, label, label): weight} of one pair."""
    number = list(combinations_with_replacement(found.columns, 2)).index((one, other))
    labels = [found.labels[found.columns.index(name)] for name in (one, other)]
    return {
        (c, labels[0][x], labels[1][y]): weight
        for (pair, x, y), weights in zip(found.cells.tolist(), found.weight.tolist(), strict=True)
        for c, weight in enumerate(weights)
        if pair == number and weight
    }


def by_hand(table, classes, weights, one, other):
    counts = {}
    for x, y, c, weight in zip(table[one], table[other], classes, weights, strict=True):
        if isinstance(x, str) and isinstance(y, str) and weight:
            key = (sorted(set(classes)).index(c), x, y)
            counts[key] = counts.get(key, 0.0) + weight
    return counts


@pytest.mark.parametrize("small", [False, True], ids=["tables", "sorted keys"])
def test_every_pair_is_counted_as_by_hand(collected, small, monkeypatch):
    if small:
        monkeypatch.setattr("merula.stats.configurations.FEWEST_CELLS", 5)
        monkeypatch.setattr("merula.stats.configurations.CELLS_PER_ROW", 0)
    table, classes = patients()
    weights = np.random.default_rng(1).integers(0, 3, len(table)).astype(float)
    found = collected(PairCounts.zero(COLUMNS, 2), table, classes, weights)
    for one, other in combinations_with_replacement(COLUMNS, 2):
        assert table_of(found, one, other) == by_hand(table, classes, weights, one, other)


def test_batches_orders_classes_and_files(collected, same_bits, through_a_file):
    table, classes = patients()
    whole = collected(PairCounts.zero(COLUMNS, 2), table, classes)
    assert same_bits(whole, collected(PairCounts.zero(COLUMNS, 2), table, classes, cuts=(1, 40, 222)))
    assert same_bits(whole, PairCounts.from_state(through_a_file(whole.state())))
    turned = collected(PairCounts.zero(COLUMNS[::-1], 2), table, classes)
    for one, other in combinations_with_replacement(COLUMNS, 2):
        assert table_of(turned.with_columns(COLUMNS), one, other) == table_of(whole, one, other)
    wide = whole.with_classes(np.array([2, 0]), 3)
    np.testing.assert_array_equal(wide.weight[:, [2, 0]], whole.weight)


def test_information_is_that_of_scikit_learn_class_by_class(collected):
    table, classes = patients(missing=0)
    plain = collected(PairCounts.zero(COLUMNS, 1), table, np.zeros(len(table), dtype=int)).information()
    given = collected(PairCounts.zero(COLUMNS, 2), table, classes).information()
    for i, one in enumerate(COLUMNS):
        for j, other in enumerate(COLUMNS):
            alone = 0.0 if i == j else mutual_info_score(table[one], table[other])
            assert plain[i, j] == pytest.approx(alone, abs=1e-12)
            within = [mutual_info_score(part[one], part[other]) * len(part) for _, part in table.groupby(classes)]
            assert given[i, j] == pytest.approx(0.0 if i == j else sum(within) / len(table), abs=1e-12)


def test_pairs_hold_the_families_of_one_parent_or_none(collected):
    table, classes = patients(missing=0)
    found = collected(PairCounts.zero(COLUMNS, 2), table, classes)
    families = found.families([Family(("smoker",)), Family(("色泽", "größe")), Family(("größe", "色泽"))])
    for c, word in enumerate(("ill", "well")):
        part = table[classes == word]
        for parents, child in (([], "smoker"), (["色泽"], "größe"), (["größe"], "色泽")):
            counts = families.table(child)[c]
            for place in np.ndindex(counts.shape):
                names = [*parents, child]
                met = np.logical_and.reduce(
                    [part[name] == families.labels[name][k] for name, k in zip(names, place, strict=True)]
                )
                assert counts[place] == met.sum()
