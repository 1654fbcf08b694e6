"""Chow–Liu trees: equal to brute force over all spanning trees; information equal to scikit-learn's."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from merula.data.encode import code_columns
from merula.graphs.structure import arcs_of, chow_liu, pair_information


def information_by_hand(table, one, other, given=None):
    """Σ P log(P(x, y | c) / (P(x | c) P(y | c))) over the complete rows, by scikit-learn class by class."""
    complete = table[[name for name in dict.fromkeys((one, other, given)) if name]].dropna()
    groups = complete.groupby(given) if given else [(None, complete)]
    return sum(mutual_info_score(part[one], part[other]) * len(part) for _, part in groups) / len(complete)


def every_tree(nodes):
    """All spanning trees, from their Prüfer sequences."""
    if len(nodes) == 2:
        yield [tuple(nodes)]
        return
    for sequence in product(range(len(nodes)), repeat=len(nodes) - 2):
        yield [(nodes[one], nodes[other]) for one, other in nx.from_prufer_sequence(list(sequence)).edges]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("columns", [2, 3, 4, 5, 6])
def test_the_tree_is_the_best_of_all_spanning_trees(random_table, columns, seed):
    table = random_table(seed, rows=40, cardinalities=(2, 5, 3, 7, 2, 4)[:columns], missing=0.1 * (seed == 3))
    rows = code_columns(table)
    weight = {
        frozenset(pair): information_by_hand(table, *pair) for pair in product(table, table) if pair[0] != pair[1]
    }
    best = max(sum(weight[frozenset(pair)] for pair in tree) for tree in every_tree(list(table)))
    found = chow_liu(rows)
    assert sum(weight[frozenset(arc)] for arc in arcs_of(found)) == pytest.approx(best, rel=1e-12)
    assert nx.is_arborescence(nx.DiGraph(arcs_of(found)))


@pytest.mark.parametrize("seed", range(3))
def test_conditional_trees_are_the_best_given_the_class(random_table, seed):
    table = random_table(seed, rows=60, cardinalities=(3, 2, 5, 3, 2))
    weight = {
        frozenset(pair): information_by_hand(table, *pair, "age")
        for pair in product(table.columns[1:], repeat=2)
        if pair[0] != pair[1]
    }
    best = max(sum(weight[frozenset(pair)] for pair in tree) for tree in every_tree(list(table.columns[1:])))
    found = chow_liu(code_columns(table), given="age", root="色泽")
    assert set(found) == set(table.columns[1:]) and found["色泽"] == ()
    assert sum(weight[frozenset(arc)] for arc in arcs_of(found)) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("small", [False, True], ids=["tables", "sorted keys"])
@pytest.mark.parametrize("given", [None, "smoker"])
def test_information_equals_scikit_learn(random_table, given, small, monkeypatch):
    if small:
        monkeypatch.setattr("merula.stats.configurations.FEWEST_CELLS", 3)
        monkeypatch.setattr("merula.stats.configurations.CELLS_PER_ROW", 0)
    table = random_table(1, rows=90, missing=0.1)
    found = pair_information(code_columns(table), given)
    for one, other in product(range(5), repeat=2):
        names = table.columns[one], table.columns[other]
        expected = 0.0 if one == other or given in names else information_by_hand(table, *names, given)
        assert found[one, other] == pytest.approx(expected, abs=1e-12)


def test_a_weight_equals_repeats_and_the_order_of_rows_columns_and_threads_does_not_matter(random_table):
    table = random_table(5)
    weights = np.random.default_rng(5).integers(0, 3, len(table))
    repeated = table.loc[table.index.repeat(weights)]
    weighted = pair_information(code_columns(table, weights=weights))
    np.testing.assert_allclose(weighted, pair_information(code_columns(repeated)), rtol=1e-12, atol=1e-15)
    tree = chow_liu(code_columns(table), root="tub" if "tub" in table else None)
    moved = chow_liu(code_columns(table.sample(frac=1, random_state=1)[table.columns[::-1]]), n_jobs=2)
    assert moved == tree


def test_ties_are_broken_by_name():
    same = ["yes", "no", "no", "yes"]
    table = pd.DataFrame({"x ray": same, "age": same, "tub": same, "größe": same})
    expected = {"x ray": ("age",), "age": (), "tub": ("age",), "größe": ("age",)}
    assert chow_liu(code_columns(table)) == expected
    assert chow_liu(code_columns(table[["tub", "größe", "age", "x ray"]])) == expected


def test_columns_that_tell_nothing_stand_alone():
    table = pd.DataFrame({"smoker": ["yes", "no"] * 4, "cough": ["y", "n"] * 4, "planet": ["earth"] * 8})
    table["empty"] = pd.Series([None] * 8, dtype=object)
    assert chow_liu(code_columns(table), root="planet") == {
        "smoker": ("cough",),
        "cough": (),
        "planet": (),
        "empty": (),
    }


def test_columns_of_as_many_levels_as_rows_need_no_square_table():
    rng = np.random.default_rng(0)
    numbers = [f"row {index}" for index in rng.permutation(20_000)]
    table = pd.DataFrame({"id": numbers, "other id": numbers[::-1], "half": [int(n[4:]) < 10_000 for n in numbers]})
    found = pair_information(code_columns(table))
    assert found[0, 1] == pytest.approx(np.log(20_000), rel=1e-12)
    assert found[0, 2] == pytest.approx(np.log(2), rel=1e-12)


def test_numeric_columns_and_unknown_names_are_refused(random_table):
    with pytest.raises(ValueError, match="column 'income' is numeric.*discretise it"):
        chow_liu(code_columns(pd.DataFrame({"income": [1.5, 2.5], "smoker": ["yes", "no"]})))
    rows = code_columns(random_table(0))
    with pytest.raises(ValueError, match="root is 'agee'.*did you mean 'age'"):
        chow_liu(rows, root="agee")
    with pytest.raises(ValueError, match="given is 'class'"):
        chow_liu(rows, given="class")
