"""Tests of independence against SciPy; PC against distributions known exactly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from scipy.stats import chi2 as chi2_law, chi2_contingency

from merula.data.encode import code_columns
from merula.graphs.structure import cpdag, find_cycle, independence_test, learn, pc_stable, read_constraints, skeleton
from merula.graphs.structure.equivalence import structural_hamming_distance
from merula.graphs.structure.graph import build_graph


def deviation_by_scipy(table, one, other, given, test):
    """Statistic and degrees of freedom summed over strata; SciPy wants tables without empty rows and columns."""
    complete = table[[one, other, *given]].dropna()
    statistic, degrees = 0.0, 0
    groups = complete.groupby(list(given)) if given else [((), complete)]
    for _, part in groups:
        counts = pd.crosstab(part[one], part[other]).to_numpy()
        if min(counts.shape) > 1:
            found = chi2_contingency(
                counts, correction=False, lambda_="pearson" if test == "chi2" else "log-likelihood"
            )
            statistic, degrees = statistic + found.statistic, degrees + found.dof
    return statistic, degrees


@pytest.mark.parametrize("small", [False, True], ids=["tables", "sorted keys"])
@pytest.mark.parametrize("test", ["chi2", "g2"])
@pytest.mark.parametrize("given", [(), ("age",), ("age", "x ray"), ("x ray", "色泽", "age")])
def test_statistics_equal_scipy(random_table, given, test, small, monkeypatch):
    if small:
        monkeypatch.setattr("merula.stats.configurations.FEWEST_CELLS", 3)
        monkeypatch.setattr("merula.stats.configurations.CELLS_PER_ROW", 0)
    table = random_table(2, rows=120, missing=0.05)
    found = independence_test(code_columns(table), "größe", "smoker", given, test)
    statistic, degrees = deviation_by_scipy(table, "größe", "smoker", given, test)
    assert found.statistic == pytest.approx(statistic, rel=1e-9)
    assert found.degrees == degrees
    assert found.p_value == pytest.approx(chi2_law.sf(statistic, degrees), rel=1e-9)


def test_a_column_that_cannot_vary_is_independent():
    table = pd.DataFrame({"smoker": ["yes", "no"] * 3, "planet": ["earth"] * 6})
    found = independence_test(code_columns(table), "smoker", "planet")
    assert (found.statistic, found.degrees, found.p_value) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("smoker", "wind"), "a column of the test is 'wind'"),
        (("smoker", "smoker"), "names a column twice"),
        (("smoker", "age"), "column 'age' is numeric"),
    ],
)
def test_bad_tests_are_refused(arguments, message):
    rows = code_columns(pd.DataFrame({"smoker": ["yes", "no"], "age": [1.5, 2.5]}))
    with pytest.raises(ValueError, match=message):
        independence_test(rows, *arguments)


NAMES = ("age", "größe", "smoker", "色泽", "x ray")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(NAMES), st.lists(st.booleans(), min_size=10, max_size=10), st.integers(0, 10**6))
def test_an_exact_distribution_gives_its_equivalence_class(exact_table, order, kept, seed):
    """With weights that are the probabilities of a network × 10¹², every test decides as d-separation does."""
    pairs = [(order[i], order[j]) for i in range(5) for j in range(i + 1, 5)]
    graph = build_graph(NAMES, [pair for pair, keep in zip(pairs, kept, strict=True) if keep])
    table, chances = exact_table(graph, seed)
    rows = code_columns(table[sorted(table)], weights=1e12 * chances)
    found = pc_stable(rows, read_constraints(rows), significance=1e-6)
    assert found.cpdag == cpdag(graph)
    assert structural_hamming_distance(found.graph, graph) == 0


@pytest.mark.parametrize("test", ["chi2", "g2"])
def test_the_order_of_rows_and_columns_and_the_threads_do_not_matter(random_table, test):
    table = random_table(4, rows=600, missing=0.05)
    found = learn(code_columns(table), "pc", test=test)
    moved = table.sample(frac=1, random_state=0)[table.columns[::-1]]
    assert learn(code_columns(moved), "pc", test=test, n_jobs=2) == found


def test_a_weight_equals_repeats(random_table):
    table = random_table(6)
    weights = np.random.default_rng(6).integers(1, 4, len(table))
    assert learn(code_columns(table, weights=weights), "pc") == learn(
        code_columns(table.loc[table.index.repeat(weights)]), "pc"
    )


@pytest.mark.parametrize("seed", range(12))
def test_conflicting_tests_still_give_a_graph_without_cycles(random_table, seed):
    rows = code_columns(random_table(seed, rows=60, cardinalities=(2, 2, 2, 2, 2, 2)))
    found = pc_stable(rows, read_constraints(rows), significance=0.3)
    assert find_cycle(found.graph) is None
    assert skeleton(found.graph) == {frozenset(pair) for pair in found.cpdag.arcs | found.cpdag.edges}
    assert all(parent in found.graph[child] for parent, child in found.cpdag.arcs)


def test_background_knowledge_directs_edges():
    same = ["yes", "no", "no", "yes"] * 20
    rows = code_columns(pd.DataFrame({"fire": same, "smoke": same}))
    assert learn(rows, "pc", forbidden=[("fire", "smoke")]) == {"fire": ("smoke",), "smoke": ()}
    assert learn(rows, "pc", tiers=[["smoke"], ["fire"]]) == {"fire": ("smoke",), "smoke": ()}
    assert learn(rows, "pc", forbidden=[("fire", "smoke"), ("smoke", "fire")]) == {"fire": (), "smoke": ()}


def test_an_edge_without_any_possible_direction_is_dropped():
    """fire → smoke → alarm is required, fire → alarm forbidden: alarm → fire would close a cycle."""
    same = ["yes", "no", "no", "yes"] * 20
    rows = code_columns(pd.DataFrame({"alarm": same, "fire": same, "smoke": same}))
    required, forbidden = [("fire", "smoke"), ("smoke", "alarm")], [("fire", "alarm")]
    found = learn(rows, "pc", required=required, forbidden=forbidden, max_given=0)
    assert found == {"alarm": ("smoke",), "fire": (), "smoke": ("fire",)}


def test_a_required_arc_stays_where_the_tests_see_nothing():
    table = pd.DataFrame({"fire": ["yes", "no"] * 20, "moon": ["full", "full", "new", "new"] * 10})
    assert learn(code_columns(table), "pc") == {"fire": (), "moon": ()}
    assert learn(code_columns(table), "pc", required=[("moon", "fire")]) == {"fire": ("moon",), "moon": ()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "t"}, "test is 't', expected one of 'chi2', 'g2'"),
        ({"significance": 5}, "significance is 5, expected a number between 0 and 1"),
        ({"max_given": -1}, "max_given is -1, expected a whole number from 0"),
    ],
)
def test_bad_options_are_refused(random_table, options, message):
    with pytest.raises(ValueError, match=message):
        learn(code_columns(random_table(0)), "pc", **options)


def test_max_given_limits_the_conditioning_sets():
    rng = np.random.default_rng(0)
    fire = rng.random(2000) < 0.5
    smoke = fire ^ (rng.random(2000) < 0.1)
    alarm = smoke ^ (rng.random(2000) < 0.1)
    rows = code_columns(pd.DataFrame({"alarm": alarm, "fire": fire, "smoke": smoke}))
    assert len(skeleton(learn(rows, "pc", max_given=0, significance=0.001))) == 3
    assert len(skeleton(learn(rows, "pc", significance=0.001))) == 2


def test_numeric_columns_are_refused():
    rows = code_columns(pd.DataFrame({"smoker": ["yes", "no"], "age": [1.5, 2.5]}))
    with pytest.raises(ValueError, match="column 'age' is numeric, which test='g2' cannot count; discretise it"):
        learn(rows, "pc")
