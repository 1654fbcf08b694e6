"""Independent categorical columns against counting by hand; Bernoulli is the case of two levels."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from merula.data.schema import Column
from merula.distributions import Bernoulli, Categorical
from merula.distributions.priors import MEstimate

RNG = np.random.default_rng(37)
N = 250
COLUMNS = {
    "色泽": RNG.choice(np.array(["乌黑", "浅白", "青绿", None]), N, p=[0.5, 0.2, 0.1, 0.2]).tolist(),
    "größe": RNG.choice(["klein", "groß"], N).tolist(),
    "eggs": RNG.integers(-1, 3, N).tolist(),
}
SPECIES = RNG.choice(["amsel", "drossel", "zaunkönig"], N)
LABELS = np.unique(SPECIES).tolist()
WEIGHTS = RNG.integers(0, 4, N).astype(float)
FRAME = pd.DataFrame(COLUMNS)


def by_hand(rows, alpha, weights=None, unseen=None):
    """Σ over columns of log (n_cv + α) / (n_c + α·m); a missing cell says nothing."""
    weights = np.ones(N) if weights is None else weights
    result = np.zeros((len(next(iter(rows.values()))), len(LABELS)))
    for name, cells in rows.items():
        train = COLUMNS[name]
        levels = {cell for cell, weight in zip(train, weights, strict=True) if cell is not None and weight > 0}
        for c, label in enumerate(LABELS):
            counts = {
                level: sum(
                    w for cell, y, w in zip(train, SPECIES, weights, strict=True) if cell == level and y == label
                )
                for level in levels
            }
            total = sum(counts.values()) + alpha * len(levels)
            for row, cell in enumerate(cells):
                if cell in levels:
                    result[row, c] += np.log((counts[cell] + alpha) / total)
                elif cell is not None and unseen == "smooth":
                    result[row, c] += np.log(alpha / total)
    return result


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.DataFrame, lambda columns: pd.DataFrame(columns).astype("category")],
    ids=["pandas", "polars", "pandas category"],
)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_log_prob_by_hand(build, read, make, alpha, weights):
    found = build(Categorical(), make(COLUMNS), SPECIES, weights, kinds="categorical", smoothing=alpha)
    rows = read(found, make(COLUMNS), kinds="categorical")
    np.testing.assert_allclose(found.log_prob(rows), by_hand(COLUMNS, alpha, weights), rtol=1e-12, atol=1e-15)
    assert rows.unseen_hits == {}


def test_whole_number_matrices(build, read):
    matrix = np.array([COLUMNS["eggs"], COLUMNS["eggs"][::-1]]).T
    found = build(Categorical(), matrix, SPECIES, kinds="categorical", parts=3)
    new = np.array([[2, -1], [0, 7], [-1000, 1], [10**12, 0]])
    rows = read(found, new, kinds="categorical")
    expected = np.zeros((4, 3))
    for j in (0, 1):
        for c, label in enumerate(LABELS):
            own = matrix[label == SPECIES, j]
            for row, value in enumerate(new[:, j]):
                if value in (-1, 0, 1, 2):
                    expected[row, c] += np.log(((own == value).sum() + 1) / (len(own) + 4))
    np.testing.assert_allclose(found.log_prob(rows), expected, rtol=1e-12)
    assert rows.unseen_hits == {"x0": 2, "x1": 1}


def test_unsmoothed_zeros_are_impossible(build, read):
    found = build(Categorical(), [["klein"], ["groß"]], ["amsel", "drossel"], smoothing=0.0)
    assert found.log_prob(read(found, [["klein"], ["groß"], [None]])).tolist() == [
        [0.0, -np.inf],
        [-np.inf, 0.0],
        [0.0, 0.0],
    ]


@pytest.mark.parametrize("p", [None, {"groß": 0.9, "klein": 0.1}, {"amsel": {"groß": 1.0}, "drossel": {"klein": 1.0}}])
def test_m_estimate(build, p):
    found = build(
        Categorical(),
        pd.DataFrame({"größe": ["klein", "groß", "groß"]}),
        ["amsel", "amsel", "drossel"],
        smoothing=MEstimate(2, p),
    )
    belief = {None: [[0.5, 0.5], [0.5, 0.5]], 2: [[0.9, 0.1], [0.9, 0.1]], 1: [[1, 0], [0, 1]]}[
        p and (2 if "groß" in p else 1)
    ]
    expected = (np.array([[1, 1], [1, 0]]) + 2 * np.array(belief)) / np.array([[4], [3]])
    np.testing.assert_allclose(found.probabilities("größe"), expected.T, rtol=1e-14)


def test_the_familys_own_smoothing_goes_before_the_models(build):
    one = build(Categorical(0.25), FRAME, SPECIES, kinds="categorical", smoothing=3.0)
    two = build(Categorical(), FRAME, SPECIES, kinds="categorical", smoothing=0.25)
    assert [table.tolist() for table in one.log_table] == [table.tolist() for table in two.log_table]
    with pytest.raises(ValueError, match="smoothing is -1"):
        build(Categorical(-1), FRAME, SPECIES, kinds="categorical")


@pytest.mark.parametrize("unseen", ["missing", "smooth", "error"])
def test_unseen_levels(build, read, unseen):
    found = build(Categorical(), FRAME, SPECIES, kinds="categorical", unseen=unseen)
    new = {"色泽": ["乌黑", "紫", None], "größe": ["riesig", "klein", "winzig"], "eggs": [0, 0, 9]}
    rows = read(found, pd.DataFrame(new), kinds="categorical")
    np.testing.assert_allclose(found.log_prob(rows), by_hand(new, 1.0, unseen=unseen), rtol=1e-12)
    assert rows.unseen_hits == {"色泽": 1, "größe": 2, "eggs": 1}


def test_missing_as_a_level(build, read):
    found = build(Categorical(), FRAME, SPECIES, kinds="categorical", missing="level")
    assert found.levels["色泽"] == ("乌黑", "浅白", "青绿", None)
    assert None not in found.levels["größe"]
    log_prob = found.factors()[0].log_prob(read(found, FRAME, kinds="categorical"))
    for c, label in enumerate(LABELS):
        own = [cell for cell, y in zip(COLUMNS["色泽"], SPECIES, strict=True) if y == label]
        expected = [np.log((own.count(cell) + 1) / (len(own) + 4)) for cell in COLUMNS["色泽"]]
        np.testing.assert_allclose(log_prob[:, c], expected, rtol=1e-12)


@pytest.mark.parametrize("missing", ["marginalise", "level"])
def test_factors_add_up(build, read, missing):
    found = build(Categorical(), FRAME, SPECIES, kinds="categorical", missing=missing)
    factors = found.factors()
    assert [factor.columns for factor in factors] == [(name,) for name in COLUMNS]
    total = sum(factor.log_prob(read(found, FRAME, kinds="categorical")) for factor in factors)
    np.testing.assert_allclose(total, found.log_prob(read(found, FRAME, kinds="categorical")), rtol=1e-12)


def test_declared_levels(build):
    found = build(Categorical(), FRAME[["größe"]], SPECIES, levels={"größe": ["klein", "mittel", "groß"]})
    assert found.levels == {"größe": ("klein", "mittel", "groß")}
    n = [(label == SPECIES).sum() for label in LABELS]
    np.testing.assert_allclose(found.probabilities("größe")[1], [1 / (count + 3) for count in n], rtol=1e-12)
    with pytest.raises(ValueError, match=r"column 'größe' holds '(klein|groß)'"):
        build(Categorical(), FRAME[["größe"]], SPECIES, levels={"größe": ["mittel"]})


def test_a_column_with_nothing_in_it_says_nothing(build, read):
    empty = pd.DataFrame({"notes": pd.Series([None, None], dtype=object)})
    found = build(Categorical(), empty, ["amsel", "drossel"])
    assert found.levels == {"notes": ()}
    assert found.log_prob(read(found, empty)).tolist() == [[0.0, 0.0]] * 2
    assert found.parameters_count == 0


def test_an_empty_class_without_smoothing_takes_all_classes_counts(build):
    frame = pd.DataFrame({"größe": ["klein", "groß", "klein", None]})
    found = build(Categorical(), frame, ["amsel", "amsel", "amsel", "drossel"], smoothing=0.0)
    np.testing.assert_allclose(found.probabilities("größe"), [[1 / 3, 1 / 3], [2 / 3, 2 / 3]], rtol=1e-15)


def test_probabilities_sum_to_one(build):
    found = build(Categorical(), FRAME, SPECIES, kinds="categorical", missing="level", smoothing=0.1)
    for name in COLUMNS:
        np.testing.assert_allclose(found.probabilities(name).sum(axis=0), 1.0, rtol=0, atol=1e-15)


def test_parameters_count(build):
    assert build(Categorical(), FRAME, SPECIES, kinds="categorical").parameters_count == 3 * (2 + 1 + 3)


def test_state_round_trip(build, read, reread):
    found = build(Categorical(), FRAME, SPECIES, kinds="categorical", missing="level", smoothing=0.1)
    again = reread(found)
    assert again.levels == found.levels
    assert [type(level) for level in again.levels["eggs"]] == [type(level) for level in found.levels["eggs"]]
    one, two = (part.log_prob(read(part, FRAME, kinds="categorical")) for part in (found, again))
    assert one.tobytes() == two.tobytes()


def test_samples_follow_the_probabilities(build):
    found = build(Categorical(), FRAME, SPECIES, kinds="categorical", missing="level")
    classes = np.repeat([0, 1, 2], 20_000)
    drawn = found.sample(classes, np.random.default_rng(1))
    for name in COLUMNS:
        for c in range(3):
            values = drawn[name][classes == c].tolist()
            counts = [values.count(level) for level in found.levels[name]]
            assert sum(counts) == 20_000
            assert stats.chisquare(counts, 20_000 * found.probabilities(name)[:, c]).pvalue > 1e-6


def test_numbers_are_not_categorical():
    with pytest.raises(
        ValueError, match="column 'wing length' is numeric, but the categorical distribution is for categorical columns"
    ):
        Categorical().encodes(Column("wing length", "numeric"))


# ---------------------------------------------------------------------------------------------------------------------
# Bernoulli


NESTS = (RNG.random(N) < 0.3).tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda cells: np.array(cells)[:, None],
        lambda cells: np.array(cells, dtype=int)[:, None],
        lambda cells: np.array(cells, dtype=float)[:, None],
        lambda cells: pl.DataFrame({"x0": cells}),
    ],
    ids=["bool", "int", "float", "polars"],
)
def test_bernoulli(build, read, make):
    found = build(Bernoulli(), make(NESTS), SPECIES, smoothing=0.5)
    log_prob = found.log_prob(read(found, make(NESTS), kinds="categorical"))
    for c, label in enumerate(LABELS):
        own = np.array(NESTS)[label == SPECIES]
        p = (own.sum() + 0.5) / (len(own) + 1)
        np.testing.assert_allclose(log_prob[:, c], stats.bernoulli(p).logpmf(np.array(NESTS, dtype=int)), rtol=1e-12)
    assert found.parameters_count == 3


def test_both_levels_of_a_bernoulli_column_are_always_there(build):
    found = build(Bernoulli(), np.ones((4, 1), dtype=int), ["amsel", "amsel", "amsel", "drossel"])
    np.testing.assert_allclose(found.probabilities("x0"), [[1 / 5, 1 / 3], [4 / 5, 2 / 3]], rtol=1e-14)


def test_bernoulli_of_two_declared_words(build):
    found = build(
        Bernoulli(),
        pd.DataFrame({"größe": ["klein", "klein"]}),
        ["amsel", "drossel"],
        levels={"größe": ["klein", "groß"]},
    )
    assert found.levels == {"größe": ("klein", "groß")}


@pytest.mark.parametrize(
    ("values", "words"), [([0, 1, 2], "column 'x0' holds 2"), ([0, 1, -1], "column 'x0' holds -1")]
)
def test_a_bernoulli_column_with_a_third_value(build, values, words):
    with pytest.raises(ValueError, match=words):
        build(Bernoulli(), np.array(values)[:, None], ["amsel", "drossel", "amsel"])


def test_bernoulli_needs_exactly_two_levels():
    with pytest.raises(ValueError, match=r"column 'größe' has levels .* exactly two"):
        Bernoulli().encodes(Column("größe", "categorical", levels=("klein", "mittel", "groß"), declared=True))
    with pytest.raises(ValueError, match="column 'visited' is datetime"):
        Bernoulli().encodes(Column("visited", "datetime"))


def looked_up(found, cells):
    """Σ over columns of the log table's row for each cell, one cell after the other; and how many cells are unseen."""
    result, unseen = np.zeros((len(cells), found.log_table[0].shape[1])), {}
    for j, (name, levels) in enumerate(zip(found.columns, found.level_sets, strict=True)):
        for row, cell in enumerate(cells[:, j].tolist()):
            known = len(levels) if cell is None else levels.index(cell) if cell in levels else len(levels) + 1
            unseen[name] = unseen.get(name, 0) + (known == len(levels) + 1)
            result[row] += found.log_table[j][known]
    return result, {name: count for name, count in unseen.items() if count}


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 200])
def test_any_number_of_classes_and_rows(build, read, classes, rows):
    rng = np.random.default_rng(classes * rows)
    words = np.array(["klein", "groß", "mittel", "winzig", None], dtype=object)
    species = rng.integers(0, classes, 400)
    species[:classes] = range(classes)
    found = build(Categorical(), pd.DataFrame(words[rng.choice([0, 1, 4], (400, 7))]), species, unseen="smooth")
    cells = words[rng.integers(0, 5, (rows, 7))]
    expected, unseen = looked_up(found, cells)
    asked = read(found, pd.DataFrame(cells), kinds="categorical")
    np.testing.assert_allclose(found.log_prob(asked), expected, rtol=1e-12)
    assert asked.unseen_hits == unseen


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("order", ["C", "F", "every other row", "backwards"])
def test_matrices_however_they_lie_in_memory(build, read, dtype, order):
    rng = np.random.default_rng(5)
    found = build(Categorical(), rng.integers(3, 7, (300, 6)), rng.integers(0, 4, 300), kinds="categorical")
    cells = rng.integers(1, 9, (150, 6))
    matrix = np.asarray(cells.astype(dtype), order="F" if order == "F" else "C")
    if order == "every other row":
        matrix = np.repeat(matrix, 2, axis=0)[::2]
    if order == "backwards":
        matrix = np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1]
    expected, unseen = looked_up(found, cells.astype(object))
    asked = read(found, matrix, kinds="categorical")
    np.testing.assert_allclose(found.log_prob(asked), expected, rtol=1e-12)
    assert asked.unseen_hits == unseen
    assert set(unseen) == set(found.columns)


def test_few_levels_within_a_wide_range(build, read):
    rng = np.random.default_rng(6)
    levels = np.array([-30_000, -29_999, 0, 17, 30_000])
    found = build(
        Categorical(), levels[rng.integers(0, 5, (20_000, 3))], rng.integers(0, 3, 20_000), kinds="categorical"
    )
    cells = np.concatenate([levels[rng.integers(0, 5, (20_000, 3))], [[1, 17, 0], [2**40, -(2**40), 30_001]]])
    expected, unseen = looked_up(found, cells.astype(object))
    asked = read(found, cells, kinds="categorical")
    np.testing.assert_allclose(found.log_prob(asked), expected, rtol=1e-12)
    assert asked.unseen_hits == unseen == {"x0": 2, "x1": 1, "x2": 1}


def test_a_row_has_the_same_bits_alone_and_among_others(build, read):
    found = build(Categorical(), FRAME, SPECIES, kinds="categorical")
    together = found.log_prob(read(found, FRAME, kinds="categorical"))
    for row in (0, 63, 64, 200):
        alone = found.log_prob(read(found, FRAME.iloc[[row]], kinds="categorical"))
        assert alone.tolist() == together[[row]].tolist()


@pytest.mark.parametrize("classes", [3, 4])
def test_adds_to_whatever_there_is_wherever_it_lies(build, read, classes):
    rng = np.random.default_rng(classes)
    matrix, species = rng.integers(0, 3, (90, 5)), rng.permutation(np.arange(90) % classes)
    found = build(Categorical(), matrix, species, kinds="categorical")
    before = rng.normal(size=(90, classes))
    asked = read(found, matrix, kinds="categorical")
    for out in (before.copy(), np.asfortranarray(before), np.repeat(before, 2, axis=1)[:, ::2]):
        found.add_log_prob(asked, out)
        np.testing.assert_allclose(out, before + looked_up(found, matrix.astype(object))[0], rtol=1e-12)
