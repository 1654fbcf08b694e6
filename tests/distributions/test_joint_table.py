"""The joint table against a dense table of all cells, with incomplete rows shared out by a dense EM."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from merula.distributions import Categorical, JointCategorical
from merula.distributions.priors import MEstimate

RNG = np.random.default_rng(43)
N = 120
LEVELS = {"色泽": ["乌黑", "浅白", "青绿"], "größe": ["groß", "klein"], "nests": [False, True]}
COMPLETE = {name: RNG.choice(levels, N).tolist() for name, levels in LEVELS.items()}
COMPLETE["nests"] = [bool(cell) for cell in COMPLETE["nests"]]
HOLEY = {
    name: [None if hole else cell for cell, hole in zip(cells, RNG.random(N) < 0.15, strict=True)]
    for name, cells in COMPLETE.items()
}
SPECIES = RNG.choice(["amsel", "drossel"], N)
LABELS = np.unique(SPECIES)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
CELLS = list(product(*LEVELS.values()))


def frame(columns):
    return pd.DataFrame(columns)


def agrees(cell, row):
    return all(mine is None or mine == theirs for mine, theirs in zip(row, cell, strict=True))


def dense_table(columns, alpha, weights=None, steps=1):
    """{class: P of every cell}: (n + α) / Σ (n + α), incomplete rows shared out over the cells they agree with."""
    weights = np.ones(N) if weights is None else weights
    rows = list(zip(*columns.values(), strict=True))
    match = np.array([[agrees(cell, row) for cell in CELLS] for row in rows], dtype=float)
    match[[all(cell is None for cell in row) for row in rows]] = 0.0  # nothing observed, nothing said
    result = []
    for label in LABELS:
        own = weights * (label == SPECIES)
        table = np.full(len(CELLS), 1 / len(CELLS))
        for _ in range(steps):
            share = match * table
            share /= np.where(share.sum(axis=1, keepdims=True) > 0, share.sum(axis=1, keepdims=True), 1.0)
            counts = own @ share + alpha
            table = counts / counts.sum()
        result.append(table)
    return np.array(result)


def by_summing(columns, table):
    """log P of each row's observed part: the sum over all cells that agree."""
    rows = list(zip(*columns.values(), strict=True))
    match = np.array([[agrees(cell, row) for cell in CELLS] for row in rows], dtype=float)
    with np.errstate(divide="ignore"):
        return np.log(match @ table.T)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rows", [COMPLETE, HOLEY], ids=["complete", "missing cells"])
def test_log_prob_is_a_sum_over_cells(build, read, rows, alpha, weights):
    found = build(JointCategorical(), frame(COMPLETE), SPECIES, weights, smoothing=alpha)
    expected = by_summing(rows, dense_table(COMPLETE, alpha, weights))
    np.testing.assert_allclose(found.log_prob(read(found, frame(rows))), expected, rtol=1e-11, atol=1e-12)


def test_the_formula_of_an_observed_part(build, read):
    found = build(JointCategorical(), frame(COMPLETE), SPECIES, smoothing=0.5)
    log_prob = found.log_prob(read(found, frame({"色泽": ["乌黑"], "größe": [None], "nests": [True]})))
    for c, label in enumerate(LABELS):
        own = [
            (colour, nests)
            for colour, nests, y in zip(COMPLETE["色泽"], COMPLETE["nests"], SPECIES, strict=True)
            if y == label
        ]
        expected = (own.count(("乌黑", True)) + 0.5 * 2) / (len(own) + 0.5 * 12)
        assert log_prob[0, c] == pytest.approx(np.log(expected), rel=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_incomplete_rows_are_shared_out(build, read, alpha):
    found = build(JointCategorical(), frame(HOLEY), SPECIES, smoothing=alpha)
    expected = by_summing(HOLEY, dense_table(HOLEY, alpha, steps=3_000))
    np.testing.assert_allclose(found.log_prob(read(found, frame(HOLEY))), expected, rtol=1e-8, atol=1e-9)


def test_nothing_observed_says_nothing(build, read):
    found = build(JointCategorical(), frame(HOLEY), SPECIES)
    empty = pd.DataFrame({name: pd.Series([None, None], dtype=object) for name in LEVELS})
    np.testing.assert_allclose(found.log_prob(read(found, empty)), 0.0, atol=1e-12)


def test_all_cells_sum_to_one(build, read):
    every = pd.DataFrame(CELLS, columns=list(LEVELS))
    for options in ({}, {"smoothing": 0.0}, {"smoothing": MEstimate(3)}):
        for columns in (COMPLETE, HOLEY):
            found = build(JointCategorical(), frame(columns), SPECIES, **options)
            np.testing.assert_allclose(np.exp(found.log_prob(read(found, every))).sum(axis=0), 1.0, atol=1e-12)


def test_m_estimate_is_m_rows_over_all_cells(build, read):
    one = build(JointCategorical(), frame(COMPLETE), SPECIES, smoothing=MEstimate(3))
    two = build(JointCategorical(), frame(COMPLETE), SPECIES, smoothing=3 / 12)
    np.testing.assert_allclose(one.log_prob(read(one, frame(HOLEY))), two.log_prob(read(two, frame(HOLEY))), rtol=1e-12)
    with pytest.raises(ValueError, match=r"MEstimate\(m\) without p"):
        build(JointCategorical(), frame(COMPLETE), SPECIES, smoothing=MEstimate(3, 0.5))


def test_the_familys_own_smoothing_goes_before_the_models(build):
    one, two = (
        build(JointCategorical(0.25), frame(COMPLETE), SPECIES, smoothing=3.0),
        build(JointCategorical(), frame(COMPLETE), SPECIES, smoothing=0.25),
    )
    assert one.log_cell.tolist() == two.log_cell.tolist()


def test_one_column_is_a_categorical_column(build, read):
    column = frame({"色泽": HOLEY["色泽"]})
    one, two = build(JointCategorical(), column, SPECIES), build(Categorical(), column, SPECIES)
    np.testing.assert_allclose(one.log_prob(read(one, column)), two.log_prob(read(two, column)), rtol=1e-12)


@pytest.mark.parametrize("parts", [2, 7])
@pytest.mark.parametrize("columns", [COMPLETE, HOLEY], ids=["complete", "missing cells"])
def test_any_batching_gives_the_same_table(build, read, columns, parts):
    one, two = (
        build(JointCategorical(), frame(columns), SPECIES),
        build(JointCategorical(), frame(columns), SPECIES, parts=parts),
    )
    assert one.log_prob(read(one, frame(HOLEY))).tolist() == two.log_prob(read(two, frame(HOLEY))).tolist()


def test_missing_as_a_level(build, read):
    found = build(JointCategorical(), frame(HOLEY), SPECIES, missing="level")
    assert [levels[-1] for levels in found.levels.values()] == [None] * 3
    log_prob = found.log_prob(read(found, frame(HOLEY)))
    rows = list(zip(*HOLEY.values(), strict=True))
    for c, label in enumerate(LABELS):
        own = [row for row, y in zip(rows, SPECIES, strict=True) if y == label]
        np.testing.assert_allclose(
            log_prob[:, c], [np.log((own.count(row) + 1) / (len(own) + 4 * 3 * 3)) for row in rows], rtol=1e-12
        )


@pytest.mark.parametrize("unseen", ["missing", "smooth"])
def test_unseen_levels(build, read, unseen):
    found = build(JointCategorical(), frame(COMPLETE), SPECIES, unseen=unseen)
    new = {"色泽": ["紫", "乌黑"], "größe": ["klein", "riesig"], "nests": [True, True]}
    rows = read(found, frame(new))
    log_prob = found.log_prob(rows)
    if unseen == "missing":
        known = {"色泽": [None, "乌黑"], "größe": ["klein", None], "nests": [True, True]}
        np.testing.assert_allclose(log_prob, by_summing(known, dense_table(COMPLETE, 1.0)), rtol=1e-11)
    else:
        expected = [1 / ((label == SPECIES).sum() + 12) for label in LABELS]
        np.testing.assert_allclose(np.exp(log_prob), [expected, expected], rtol=1e-11)
    assert rows.unseen_hits == {"色泽": 1, "größe": 1}


def test_declared_levels_widen_the_table(build):
    found = build(JointCategorical(), frame(COMPLETE), SPECIES, levels={"größe": ["klein", "mittel", "groß"]})
    assert found.levels["größe"] == ("klein", "mittel", "groß")
    assert found.parameters_count == 2 * (3 * 3 * 2 - 1)


def test_more_cells_than_an_integer_counts(build, read):
    columns = 90
    matrix = RNG.integers(0, 10, (60, columns))
    y = np.arange(60) % 2
    found = build(
        JointCategorical(),
        matrix,
        y,
        kinds="categorical",
        levels={j: list(range(10)) for j in range(columns)},
        smoothing=MEstimate(2),
    )
    log_prob = found.log_prob(read(found, np.concatenate([matrix[:1], (matrix[:1] + 1) % 10]), kinds="categorical"))
    # the first row was met once by class 0, the second never: α = 2 / 10⁹⁰ is nothing beside 1, and everything beside 0
    empty = np.log(2) - columns * np.log(10) - np.log(32)
    np.testing.assert_allclose(log_prob, [[np.log(1 / 32), empty], [empty, empty]], rtol=1e-12)
    assert found.parameters_count == 2 * (10**columns - 1)


def test_a_class_never_met_is_even(build, read):
    found = build(JointCategorical(), frame(COMPLETE), SPECIES, classes=[*LABELS.tolist(), "meise"], smoothing=0.0)
    np.testing.assert_allclose(
        np.exp(found.log_prob(read(found, pd.DataFrame(CELLS, columns=list(LEVELS))))[:, 2]), 1 / 12, rtol=1e-12
    )


def test_parameters_count(build):
    assert build(JointCategorical(), frame(COMPLETE), SPECIES).parameters_count == 2 * (3 * 2 * 2 - 1)


@pytest.mark.parametrize("columns", [COMPLETE, HOLEY], ids=["complete", "missing cells"])
def test_state_round_trip(build, read, reread, columns):
    found = build(JointCategorical(), frame(columns), SPECIES)
    again = reread(found)
    assert again.levels == found.levels
    assert again.log_prob(read(again, frame(HOLEY))).tobytes() == found.log_prob(read(found, frame(HOLEY))).tobytes()


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_samples_follow_the_probabilities(build, alpha):
    chosen = [
        row for row, colour in enumerate(COMPLETE["色泽"]) if colour != "青绿" or COMPLETE["nests"][row]
    ]  # some cells are empty
    columns = {name: [cells[row] for row in chosen] for name, cells in COMPLETE.items()}
    found = build(JointCategorical(), frame(columns), SPECIES[chosen], smoothing=alpha)
    drawn = found.sample(np.zeros(20_000, dtype=int), np.random.default_rng(3))
    rows = list(zip(*(drawn[name].tolist() for name in LEVELS), strict=True))
    own = [row for row, y in zip(zip(*columns.values(), strict=True), SPECIES[chosen], strict=True) if y == "amsel"]
    expected = {cell: (own.count(cell) + alpha) / (len(own) + 12 * alpha) for cell in CELLS}
    possible = [cell for cell in CELLS if expected[cell] > 0]
    assert set(rows) <= set(possible)
    assert (
        stats.chisquare([rows.count(cell) for cell in possible], [20_000 * expected[cell] for cell in possible]).pvalue
        > 1e-6
    )


def test_factors_is_the_table_itself(build):
    found = build(JointCategorical(), frame(COMPLETE), SPECIES)
    assert found.factors() == (found,)
