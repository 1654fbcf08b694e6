"""Terms of log-linear models against their definition in plain Python, asked by few rows and by many."""

from dataclasses import replace

import numpy as np
import pytest

import merula as mr
from merula.classify.log_linear.terms import LOST, QuadraticTerms, TableTerms
from merula.core import InputError
from merula.data.encode import encode_cells
from merula.data.schema import Column, Schema
from merula.distributions.lookups import LARGEST, Lookups, gathered

COLUMNS = ("größe", "wing", "song", "色泽")
SCHEMA = Schema((Column("größe", "numeric"), Column("wing", "numeric"), Column("song", "categorical"), Column("色泽", "categorical")))  # fmt: skip
LEVELS = (None, None, ("long", "short"), ("blass", "gelb", "rot"))
BOUNDS = ([LOST, -1.0, -0.0, 0.7, 2.0], [-3.0, 0.0, 0.5, 1e308], [0.0, 1.0, 2.0], [0.0, 1.0, 2.0])
ROWS = 300


def odd_cells(seed=0):
    """Numbers at the bounds of either sign and just beside them, far away, and missing; words never seen and missing ones."""
    rng = np.random.default_rng(seed)
    bounds = np.array([-1.0, -0.0, 0.0, 0.7, 2.0, -3.0, 0.5, 1e308])
    at = np.concatenate([bounds, -bounds, [np.finfo(float).max, -np.finfo(float).max, np.nan, np.nan]])
    beside = np.concatenate([at, np.nextafter(at[:-4], -np.inf), np.nextafter(at[:-4], np.inf)])
    words = {"song": ["long", "short", None, "none at all"], "色泽": ["blass", "gelb", "rot", None, "violet"]}
    return {name: rng.choice(beside, ROWS) for name in ("größe", "wing")} | {name: [known[k] for k in rng.integers(0, len(known), ROWS)] for name, known in words.items()}  # fmt: skip


def random_tables(seed, classes=2, count=60, order=4):
    """Tables of questions: the first and the third column have gaps that are answers."""
    rng = np.random.default_rng(seed)
    asked = np.repeat(np.arange(4), [len(one) for one in BOUNDS]).astype(np.int32)
    questions = np.array([rng.permutation(len(asked))[:order] for _ in range(count)], dtype=np.int32)
    asks = np.arange(order)[None] < rng.integers(1, order + 1, (count, 1))
    signs = rng.choice([-1.0, 1.0], 4)
    terms = TableTerms(COLUMNS, LEVELS, (True, False, True, False), signs, asked, np.concatenate(BOUNDS), np.where(asks, questions, -1).astype(np.int32), rng.normal(size=(count, 2**order, classes)), count, 0.5)  # fmt: skip
    assert terms.fits(classes)
    return terms


def answer(terms, q, cells, row):
    """Whether a row answers question q with yes; None where it does not know."""
    j = terms.asked[q]
    value, known = cells[terms.columns[j]][row], terms.level_sets[j]
    if known is None:
        if value != value:
            return bool(terms.bounds[q] >= LOST) if terms.gaps[j] else None
        return bool(terms.signs[j] * value <= terms.bounds[q])
    if value not in known:
        return terms.bounds[q] == len(known) if terms.gaps[j] else None
    return known.index(value) == terms.bounds[q]


def plain_tables(terms, cells, weights):
    found = np.zeros((ROWS, terms.class_count))
    of_table = {t: weight for (_, tables), weight in zip(terms.column_sets, weights, strict=True) for t in tables}
    for row in range(ROWS):
        for t, questions in enumerate(terms.tables):
            answers = [answer(terms, q, cells, row) for q in questions if q >= 0]
            if None not in answers:
                found[row] += of_table[t] * terms.values[t, int("".join(str(int(yes)) for yes in answers), 2)]
    return found


def by_many(part, weights, cells):
    """What is added to many rows."""
    tables, others = part.split(weights)
    out, rows = np.zeros((ROWS, part.class_count)), encode_cells(SCHEMA, cells, ROWS)
    for one in (Lookups(gathered(tables)), *others) if tables else others:
        one.add_log_prob(rows, out)
    return out


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_tables_are_looked_up_as_their_questions_are_answered(seed, order, classes):
    terms, cells = random_tables(seed, classes, order=order), odd_cells(seed)
    ones = [1.0] * len(terms.column_sets)
    expected = plain_tables(terms, cells, ones)
    np.testing.assert_allclose(terms.log_prob(encode_cells(SCHEMA, cells, ROWS)), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_many(terms, ones, cells), expected, rtol=1e-12, atol=1e-12)


def test_tables_of_each_set_of_columns_have_their_own_weight():
    terms, cells = random_tables(5), odd_cells()
    weights = np.linspace(0, 2, len(terms.column_sets)).tolist()
    expected, out = plain_tables(terms, cells, weights), np.zeros((ROWS, 2))
    terms.weighted(weights).add_log_prob(encode_cells(SCHEMA, cells, ROWS), out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_many(terms, weights, cells), expected, rtol=1e-12, atol=1e-12)


def test_many_tables_of_two_columns_are_summed_up_in_tables_of_bounded_size():
    rng = np.random.default_rng(0)
    bounds = np.sort(rng.normal(size=(2, 150)), axis=1)
    questions = np.column_stack([rng.integers(0, 150, 400), 150 + rng.integers(0, 150, 400)]).astype(np.int32)
    asked = np.repeat([0, 1], 150).astype(np.int32)
    terms = TableTerms(COLUMNS[:2], (None, None), (True, False), np.array([1.0, -1.0]), asked, bounds.ravel(), questions, rng.normal(size=(400, 4, 2)), 1, 0.5)  # fmt: skip
    tables, others = terms.split([1.0] * len(terms.column_sets))
    assert not others and 1 < len(tables) < 40 and max(table.values.size for table in tables) <= LARGEST
    cells = odd_cells() | {"wing": rng.normal(size=ROWS), "größe": np.append(rng.normal(size=ROWS - 150), bounds[0])}
    ones = [1.0] * len(terms.column_sets)
    np.testing.assert_allclose(by_many(terms, ones, cells), plain_tables(terms, cells, ones), rtol=1e-11, atol=1e-11)


def random_quadratic(seed, classes=2):
    rng = np.random.default_rng(seed)
    words = np.array([[0.0], [0.0], [1.0], [1.0]])

    def weights(of_numbers=1.0):
        return rng.normal(size=(4, classes)) * (1 - words * of_numbers)

    gaps = np.array([[1.0], [0.0], [1.0], [0.0]])
    level_weights = [np.zeros((0, classes))] * 2 + [rng.normal(size=(len(known) + 1, classes)) for known in LEVELS[2:]]
    level_weights[3][-1] = 0.0
    terms = QuadraticTerms(COLUMNS, LEVELS, (True, False, True, False), rng.normal(size=4), np.array([0.5, -2.0, 1.0, 1.0]), weights(0.0), weights(), weights(), weights() * gaps, tuple(level_weights), np.array([[0, 1]], dtype=np.int32), np.array([0.3]), rng.normal(size=(1, classes)), 1.0, 0.5)  # fmt: skip
    assert terms.fits(classes)
    return terms


def plain_quadratic(terms, cells, weights):
    """Σ weight · term, by the words of `QuadraticTerms`."""
    found = np.zeros((ROWS, terms.class_count))
    for row in range(ROWS):
        z = {}
        for j, name in enumerate(terms.columns):
            value, known = cells[name][row], terms.level_sets[j]
            lost = value not in known if known is not None else value != value
            own = terms.constant[j] * (not lost or terms.gaps[j])
            if known is not None:
                own = own + terms.level_weights[j][-1 if lost else known.index(value)]
            elif lost:
                own = own + terms.missing[j]
            else:
                with np.errstate(over="ignore"):
                    away = np.clip((value - terms.center[j]) / terms.scale[j], -5, 5)
                z[j] = round(away * 2**30) / 2**30
                own = own + terms.linear[j] * z[j] + terms.square[j] * z[j] ** 2
            found[row] += weights[j] * own
        for k, (i, j) in enumerate(terms.pairs.tolist()):
            if i in z and j in z:
                found[row] += weights[4 + k] * terms.products[k] * (z[i] * z[j] - terms.middle[k])
    return found


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("weights", [[1.0] * 5, [0.5, 2.0, 0.0, 0.3, 1.5]])
def test_the_twin_adds_what_its_definition_says(classes, weights):
    terms, cells, out = random_quadratic(classes, classes), odd_cells(), np.zeros((ROWS, classes))
    expected = plain_quadratic(terms, cells, weights)
    terms.weighted(weights).add_log_prob(encode_cells(SCHEMA, cells, ROWS), out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_many(terms, weights, cells), expected, rtol=1e-12, atol=1e-12)
    parts = [one.log_prob(encode_cells(SCHEMA, cells, ROWS)) for one in terms.factors()]
    np.testing.assert_allclose(sum(w * part for w, part in zip(weights, parts, strict=True)), expected, rtol=1e-12, atol=1e-12)  # fmt: skip


def test_the_parameters_of_the_twin_are_its_weights_and_a_constant():
    """Of two numbers and two classes: z and z² of each, their product, and one constant."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    model = mr.LogLinearClassifier(order="gaussian").fit(
        x, rng.random(200) < 1 / (1 + np.exp(-x.sum(axis=1) * x[:, 0]))
    )
    (terms,) = model.distributions_
    assert np.all([(array != 0).any(axis=1).all() for array in (terms.linear, terms.square, terms.products)])
    assert terms.parameters_count == 2 + 2 + 1 + 1


def test_what_missing_words_say_stands_in_their_table_alone():
    terms = random_quadratic(0)
    missing = terms.missing.copy()
    missing[2] = 0.5  # of a column of words whose being missing is an answer
    assert not replace(terms, missing=missing).fits(2)


@pytest.mark.parametrize("terms", [random_tables(0), random_quadratic(0)], ids=["tables", "twin"])
def test_infinity_is_refused_by_name(terms):
    cells = odd_cells() | {"wing": np.append(np.zeros(ROWS - 1), -np.inf)}
    with pytest.raises(InputError, match="column 'wing' contains infinity"):
        by_many(terms, [1.0] * len(terms.factors()), cells)
    with pytest.raises(InputError, match="column 'wing' contains infinity"):
        terms.log_prob(encode_cells(SCHEMA, cells, ROWS))
