"""Scores of families: equal to pgmpy's and pyAgrum's; missing cells; numeric children against least squares."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from merula.data.encode import code_columns
from merula.graphs.structure import build_scorer, score_graph

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # theirs; as an error, one of them ends the interpreter
    import pyagrum
    from pgmpy.structure_score import AIC, BIC, K2, BDeu, LogLikelihood

FAMILIES = [("age", ()), ("größe", ("age",)), ("smoker", ("größe", "age")), ("色泽", ("x ray", "smoker", "age"))]


def local(rows, child, parents, score, size=None):
    indices = rows.positions
    return build_scorer(rows, score, size).local(indices[child], [indices[parent] for parent in parents])


@pytest.mark.parametrize(("child", "parents"), FAMILIES)
@pytest.mark.parametrize(
    ("score", "size", "peer"),
    [
        ("log-likelihood", None, LogLikelihood),
        ("aic", None, AIC),
        ("bic", None, BIC),
        ("k2", None, K2),
        ("bdeu", 7.5, lambda table: BDeu(table, equivalent_sample_size=7.5)),
        ("bdeu", None, lambda table: BDeu(table, equivalent_sample_size=1)),
    ],
)
def test_scores_equal_pgmpy(random_table, child, parents, score, size, peer):
    table = random_table(3, rows=400)
    table = table[table.notna().all(axis=1)]
    # pgmpy keeps configurations that no row has only by their number: the definitions are the same
    expected = peer(table).local_score(child, parents)
    assert local(code_columns(table), child, parents, score, size) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("child", "parents"), FAMILIES)
@pytest.mark.parametrize(
    ("score", "choose"), [("log-likelihood", "useScoreLog2Likelihood"), ("bic", "useScoreBIC"), ("aic", "useScoreAIC")]
)
def test_scores_equal_pyagrum(random_table, child, parents, score, choose):
    """Its K2 and BDeu are left to pgmpy: pyAgrum approximates log Γ."""
    table = random_table(5, rows=400)
    learner = pyagrum.BNLearner(table)
    getattr(learner, choose)()
    expected = learner.score(child, list(parents)) * np.log(2)  # pyAgrum counts in bits
    if score == "aic":  # where it subtracts as many bits as there are parameters, not as many nats
        sizes = table.nunique()
        expected -= (1 - np.log(2)) * (sizes[child] - 1) * np.prod([sizes[parent] for parent in parents])
    assert local(code_columns(table), child, parents, score) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("score", ["log-likelihood", "aic", "bic", "bdeu", "k2"])
def test_candidates_counted_together_score_as_each_alone(random_table, score, missing):
    if missing and score in ("bdeu", "k2"):
        return
    table = random_table(1, missing=missing)
    rows = code_columns(table, weights=np.random.default_rng(1).random(len(table)) if missing else None)
    for parents in ((), (3,), (1, 4)):
        others = [index for index in range(1, 5) if index not in parents]
        together = build_scorer(rows, score).with_one_more(0, parents, others)
        alone = [build_scorer(rows, score).local(0, [*parents, other]) for other in others]
        np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_candidates_counted_by_two_threads_score_the_same(random_table, monkeypatch):
    rows = code_columns(random_table(1))
    alone = build_scorer(rows, n_jobs=1).with_one_more(0, [1], [2, 3, 4])
    monkeypatch.setattr("merula.graphs.structure.family_scores.CELLS_PER_THREAD", 1)
    assert build_scorer(rows, n_jobs=2).with_one_more(0, [1], [2, 3, 4]) == alone


@pytest.mark.parametrize("score", ["log-likelihood", "aic", "bic", "bdeu", "k2"])
def test_a_weight_equals_repeats_and_the_order_of_rows_does_not_matter(random_table, score):
    table = random_table(2)
    weights = np.random.default_rng(2).integers(0, 4, len(table))
    graph = {"age": (), "größe": ("age",), "smoker": ("age", "größe"), "色泽": (), "x ray": ("色泽",)}
    levels = {name: sorted(set(table[name])) for name in table}
    weighted = score_graph(code_columns(table, weights=weights, levels=levels), graph, score)
    repeated = table.loc[table.index.repeat(weights)]
    assert weighted == pytest.approx(score_graph(code_columns(repeated, levels=levels), graph, score), rel=1e-12)
    shuffled = code_columns(repeated.sample(frac=1, random_state=0), levels=levels)
    assert score_graph(shuffled, graph, score) == score_graph(code_columns(repeated, levels=levels), graph, score)


def test_equivalent_graphs_have_equal_scores(random_table):
    rows = code_columns(random_table(4).iloc[:, :3])
    chain = {"age": (), "größe": ("age",), "smoker": ("größe",)}
    back = {"age": ("größe",), "größe": ("smoker",), "smoker": ()}
    for score in ("log-likelihood", "aic", "bic", "bdeu"):
        assert score_graph(rows, chain, score) == pytest.approx(score_graph(rows, back, score), rel=1e-12)


def test_missing_cells_are_averaged_over_the_rows_complete_in_the_family(random_table):
    """n · (1/n_i) Σ log P, less the penalty for n rows, written out with pandas."""
    table = random_table(6, missing=0.15)
    complete = table[["smoker", "age", "色泽"]].dropna()
    cells = complete.groupby(["smoker", "age", "色泽"]).size()
    cells = cells[cells > 0]
    margins = complete.groupby(["age", "色泽"]).size()
    average = sum(count * np.log(count / margins[key[1:]]) for key, count in cells.items()) / len(complete)
    rows, n = code_columns(table), len(table)
    parameters = 2 * 2 * (4 - 1)
    for score, penalty in (("log-likelihood", 0.0), ("aic", 1.0), ("bic", np.log(n) / 2)):
        expected = n * average - penalty * parameters
        assert local(rows, "smoker", ("age", "色泽"), score) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("small", [False, True], ids=["tables", "sorted keys"])
def test_a_parent_gains_on_the_rows_that_have_it(random_table, small, monkeypatch):
    """Both scores from the rows complete in the larger family; deleting a parent is the same with the other sign."""
    if small:
        monkeypatch.setattr("merula.stats.configurations.FEWEST_CELLS", 5)
        monkeypatch.setattr("merula.stats.configurations.CELLS_PER_ROW", 0)
    table = random_table(7, missing=0.15)
    table["age"] = table["age"].fillna("level 0")
    levels = {name: sorted(table[name].dropna().unique()) for name in table}
    rows, n = code_columns(table, levels=levels), len(table)
    for child, parents, other in [(2, [], 1), (2, [0], 3), (2, [3, 4], 1), (0, [1], 2), (3, [1], 0)]:
        part = code_columns(
            table.iloc[:, [child, *parents, other]].dropna(),
            levels={table.columns[p]: levels[table.columns[p]] for p in (child, *parents, other)},
        )
        likelihood = build_scorer(part, "log-likelihood")
        indices = list(range(1, len(parents) + 1))
        gain = (likelihood.local(0, [*indices, len(parents) + 1]) - likelihood.local(0, indices)) * n / part.count
        sizes = rows.cardinalities
        added = (sizes[child] - 1) * (np.prod(sizes[[*parents, other]]) - np.prod(sizes[parents]))
        expected = gain - 0.5 * np.log(n) * added
        scorer = build_scorer(rows)
        assert scorer.gains(child, parents, [other]) == pytest.approx([expected], rel=1e-9)
        assert build_scorer(rows).loss(child, [*parents, other], other) == pytest.approx(-expected, rel=1e-9)


def test_a_family_without_any_complete_row_says_nothing():
    table = pd.DataFrame({"smoker": ["yes", "no", None, None], "cough": [None, None, "y", "n"]})
    rows = code_columns(table)
    assert local(rows, "smoker", ("cough",), "log-likelihood") == pytest.approx(-4 * np.log(2))
    assert local(rows, "smoker", ("cough",), "bic") < local(rows, "smoker", (), "bic")


@pytest.mark.parametrize(
    ("table", "score", "message"),
    [
        ({"smoker": ["yes", None]}, "bdeu", "column 'smoker' lacks 1 of 2 cells, which score='bdeu'"),
        ({"income": [1.5, 2.5]}, "k2", "column 'income' is numeric, which score='k2' cannot count; use score='bic'"),
        ({"smoker": ["yes", "no"]}, "bci", "score is 'bci'.*did you mean 'bic'"),
    ],
)
def test_what_cannot_be_scored_is_refused(table, score, message):
    with pytest.raises(ValueError, match=message):
        build_scorer(code_columns(pd.DataFrame(table)), score)


def test_the_sample_size_belongs_to_bdeu():
    rows = code_columns(pd.DataFrame({"smoker": ["yes", "no"]}))
    with pytest.raises(ValueError, match="equivalent_sample_size= does nothing with score='bic'"):
        build_scorer(rows, "bic", 5.0)
    for size in (0, -1, np.inf, True, "much"):
        with pytest.raises(ValueError, match="expected a number above 0"):
            build_scorer(rows, "bdeu", size)


def test_a_graph_of_other_columns_is_refused():
    rows = code_columns(pd.DataFrame({"smoker": ["yes", "no"]}))
    with pytest.raises(ValueError, match="a node of the graph is 'cough'"):
        score_graph(rows, {"cough": ()})
