"""Hill climbing and tabu search: local optima checked move by move, constraints kept, nothing depends on order."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from merula.data.encode import code_columns
from merula.graphs.structure import arcs_of, build_graph, find_cycle, learn, score_graph, structural_hamming_distance


def neighbours(graph):
    """Every graph that one added, deleted or reversed arc makes of this one."""
    arcs = set(arcs_of(graph))
    changed = [arcs - {arc} for arc in arcs] + [arcs - {arc} | {arc[::-1]} for arc in arcs]
    changed += [arcs | {arc} for arc in permutations(graph, 2) if arc not in arcs and arc[::-1] not in arcs]
    for option in changed:
        other = build_graph(graph, option)
        if find_cycle(other) is None:
            yield other


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu", "k2"])
@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
def test_no_single_change_is_better(random_table, method, score):
    rows = code_columns(random_table(0, rows=300))
    found = learn(rows, method, score)
    here = score_graph(rows, found, score)
    assert arcs_of(found)
    assert all(score_graph(rows, other, score) <= here + 1e-6 for other in neighbours(found))


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_all_graphs_of_four_columns_is_found(random_table, seed):
    rows = code_columns(random_table(seed, rows=300, cardinalities=(2, 3, 2, 3)))
    best = -np.inf
    for choice in product((0, 1, 2), repeat=6):
        pairs = zip(combinations(rows.names, 2), choice, strict=True)
        graph = build_graph(rows.names, [pair if way == 1 else pair[::-1] for pair, way in pairs if way])
        if find_cycle(graph) is None:
            best = max(best, score_graph(rows, graph))
    assert score_graph(rows, learn(rows, "tabu")) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_the_order_of_rows_and_columns_and_the_threads_do_not_matter(random_table, method, missing):
    table = random_table(7, rows=400, missing=missing)
    found = learn(code_columns(table), method)
    moved = table.sample(frac=1, random_state=3)[table.columns[::-1]]
    again = learn(code_columns(moved), method, n_jobs=2)
    assert again == found
    assert list(again) == list(moved.columns)


@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
def test_a_weight_equals_repeats(random_table, method):
    table = random_table(8)
    weights = np.random.default_rng(8).integers(1, 4, len(table))
    repeated = code_columns(table.loc[table.index.repeat(weights)])
    assert learn(code_columns(table, weights=weights), method) == learn(repeated, method)


ARCS = st.lists(
    st.sampled_from(list(permutations(("age", "größe", "smoker", "色泽", "x ray"), 2))), max_size=3, unique=True
)


@settings(max_examples=60, deadline=None)
@given(
    required=ARCS,
    forbidden=ARCS,
    seed=st.integers(0, 5),
    most=st.integers(0, 3),
    method=st.sampled_from(["hill-climb", "tabu", "pc"]),
)
def test_constraints_are_kept_or_refused(required, forbidden, seed, most, method):
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 3, 200)
    names = ("age", "größe", "smoker", "色泽", "x ray")
    table = pd.DataFrame(
        {name: np.where(rng.random(200) < 0.5, base, rng.integers(0, 3, 200)).astype(str) for name in names}
    )
    limit = {} if method == "pc" else {"max_parents": most}
    graph = build_graph(names, required)
    possible = find_cycle(graph) is None and not set(required) & set(forbidden)
    possible &= method == "pc" or max(map(len, graph.values())) <= most
    options = {"required": required, "forbidden": forbidden, **limit}
    if not possible:
        with pytest.raises(ValueError, match="required"):
            learn(code_columns(table), method, **options)
        return
    found = learn(code_columns(table), method, **options)
    assert find_cycle(found) is None
    assert set(required) <= set(arcs_of(found)) and not set(forbidden) & set(arcs_of(found))
    assert method == "pc" or max(map(len, found.values())) <= most


@pytest.mark.parametrize("method", ["hill-climb", "tabu", "pc"])
def test_tiers_send_no_arc_backwards(random_table, method):
    table = random_table(9, rows=500)
    tiers = [["x ray"], ["色泽", "age"], ["größe"]]
    found = learn(code_columns(table), method, tiers=tiers)
    tier = {name: number for number, names in enumerate(tiers) for name in names}
    assert arcs_of(found)
    assert all(tier[parent] <= tier[child] for parent, child in arcs_of(found) if {parent, child} <= set(tier))


def test_a_start_graph_is_where_the_search_starts(random_table):
    rows = code_columns(random_table(10, rows=300))
    found = learn(rows)
    assert learn(rows, start=found) == found
    nonsense = build_graph(rows.names, combinations(rows.names, 2))
    again = learn(rows, start=nonsense)
    assert score_graph(rows, again) > score_graph(rows, nonsense)
    assert learn(rows, start=found, max_parents=4, required=[("age", "x ray")])["x ray"].count("age") == 1


def test_numeric_columns_are_children_of_any_and_parents_of_numeric_ones():
    rng = np.random.default_rng(0)
    smoker = rng.choice(["yes", "no"], 500)
    age = rng.normal(50, 10, 500)
    pressure = 100 + age * (smoker == "yes") + rng.normal(0, 3, 500)
    table = pd.DataFrame({"pressure": pressure, "smoker": smoker, "age": age})
    found = learn(code_columns(table))
    assert set(found["pressure"]) == {"age", "smoker"} and found["smoker"] == ()
    moved = table.sample(frac=1, random_state=0)[["age", "smoker", "pressure"]]
    assert learn(code_columns(moved), "tabu") == found
    scaled = table.assign(pressure=1e6 + 1e-3 * pressure, age=age * 12)
    assert learn(code_columns(scaled)) == found


def causes_and_effects(seed):
    """Three causes, two effects of two causes each, and an effect of both."""
    rng = np.random.default_rng(seed)

    def blurred(values):
        return np.where(rng.random(500) < 0.3, rng.integers(0, 3, 500), values)

    first, second, third = rng.integers(0, 3, (3, 500))
    sums, tops = blurred((first + second) % 3), blurred(np.maximum(second, third))
    return pd.DataFrame([first, second, third, sums, tops, blurred(sums * tops % 3)]).T.astype(str)


LATE_CAUSES = ["z first", "z second", "z third", "m sum", "m top", "a product"]
EARLY_CAUSES = ["a first", "a second", "a third", "m sum", "m top", "z product"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["hill-climb", "tabu"])
def test_names_that_break_ties_the_wrong_way_cost_nothing(seed, method):
    """Alone, a climb whose first arcs are directed by name ends lower than one over whole equivalence classes."""
    late, early = (
        code_columns(causes_and_effects(seed).set_axis(names, axis=1)) for names in (LATE_CAUSES, EARLY_CAUSES)
    )
    found = learn(late, method)
    renamed = dict(zip(LATE_CAUSES, EARLY_CAUSES, strict=True))
    back = {renamed[child]: tuple(renamed[parent] for parent in parents) for child, parents in found.items()}
    assert structural_hamming_distance(back, learn(early, method)) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("merula.graphs.structure.search.PLATEAU", 1)
        patch.setattr("merula.graphs.structure.search.climb_classes", lambda scorer, rules, arcs, decimals, step: arcs)
        assert score_graph(late, learn(late)) < score_graph(late, found) - 1


@pytest.mark.parametrize("seed", range(4))
def test_a_plateau_is_crossed_where_classes_are_not_searched(seed, monkeypatch):
    rows = code_columns(causes_and_effects(seed).set_axis(LATE_CAUSES, axis=1))
    monkeypatch.setattr(
        "merula.graphs.structure.search.climb_classes", lambda scorer, rules, arcs, decimals, step: arcs
    )
    crossed = score_graph(rows, learn(rows))
    monkeypatch.setattr("merula.graphs.structure.search.PLATEAU", 1)
    assert crossed > score_graph(rows, learn(rows)) + 1


@pytest.mark.parametrize("seed", range(3))
def test_missing_cells_do_not_add_arcs(seed):
    """A chain, every fifth cell removed at random: averaged over different rows, BIC would join far columns."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 3, 5000)]
    for _ in range(5):
        columns.append(np.where(rng.random(5000) < 0.5, columns[-1], rng.integers(0, 3, 5000)))
    names = ["age", "größe", "smoker", "色泽", "x ray", "tub"]
    table = pd.DataFrame(columns, index=names).T.astype(str).astype(object)
    holes = table.mask(rng.random(table.shape) < 0.2)
    chain = {name: tuple(names[position - 1 : position]) for position, name in enumerate(names)}
    for method in ("hill-climb", "tabu"):
        assert structural_hamming_distance(learn(code_columns(holes), method), chain) == 0
