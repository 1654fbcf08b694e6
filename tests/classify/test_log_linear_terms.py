"""Terms of log-linear models against their definition in plain Python, asked by few rows and by many."""

import itertools
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
MET = {"größe": [-2.0, -0.5, 0.3, 5.0, np.nan], "wing": [-9.0, -1.0, 0.2, 0.4, 3.0], "song": ["long", "short", None], "色泽": ["blass", "gelb", "rot"]}  # fmt: skip


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


def shares_met(terms):
    """How often each of `MET` is met in its column."""
    rng = np.random.default_rng(len(terms.values))
    return {name: (own := rng.random(len(states))) / own.sum() for name, states in MET.items()}


def with_shares(terms):
    """The same with the share of yes to each question, where columns hold `MET` so often."""
    met = shares_met(terms)
    yes = [sum(share * answer(terms, q, MET, k) for k, share in enumerate(met[terms.columns[j]])) for q, j in enumerate(terms.asked)]  # fmt: skip
    found = replace(terms, shares=np.minimum(yes, 1.0))
    assert found.fits(terms.class_count)
    return found


def mean_of(terms, questions, values, known):
    """The mean of a table's values over the columns whose answers are not known: every combination of what is met there."""
    met, columns = shares_met(terms), sorted({int(terms.asked[q]) for q in questions} - set(known))
    total = np.zeros(terms.class_count)
    for states in itertools.product(*(range(len(MET[terms.columns[j]])) for j in columns)):
        at = dict(zip(columns, states, strict=True))
        said = [known[terms.asked[q]][q] if terms.asked[q] in known else answer(terms, q, MET, at[terms.asked[q]]) for q in questions]  # fmt: skip
        chance = np.prod([met[terms.columns[j]][k] for j, k in at.items()])
        total = total + chance * values[int("".join(str(int(yes)) for yes in said), 2)]
    return total


def averaged(terms, t, answers):
    """What a table says of a row, some of whose answers are None: the mean over these, less their share of columns of the mean over all."""
    questions = [q for q in terms.tables[t] if q >= 0]
    columns = {int(terms.asked[q]) for q in questions}
    told = {j: {q: yes for q, yes in zip(questions, answers, strict=True) if terms.asked[q] == j} for j in columns}
    known = {j: own for j, own in told.items() if None not in own.values()}
    lost = 1 - len(known) / len(columns)
    return mean_of(terms, questions, terms.values[t], known) - lost * mean_of(terms, questions, terms.values[t], {})


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
    found, kept = np.zeros((ROWS, terms.class_count)), {}
    of_table = {t: weight for (_, tables), weight in zip(terms.column_sets, weights, strict=True) for t in tables}
    for row in range(ROWS):
        for t, questions in enumerate(terms.tables):
            answers = [answer(terms, q, cells, row) for q in questions if q >= 0]
            if None in answers and terms.shares is not None:
                key = t, tuple(answers)
                kept[key] = averaged(terms, t, answers) if key not in kept else kept[key]
                found[row] += of_table[t] * kept[key]
            elif None not in answers:
                found[row] += of_table[t] * terms.values[t, int("".join(str(int(yes)) for yes in answers), 2)]
    return found


def by_many(part, weights, cells):
    """What is added to many rows."""
    tables, others = part.split(weights)
    out, rows = np.zeros((ROWS, part.class_count)), encode_cells(SCHEMA, cells, ROWS)
    for one in (Lookups(gathered(tables)), *others) if tables else others:
        one.add_log_prob(rows, out)
    return out


@pytest.mark.parametrize("told", [False, True], ids=["files of before", "averaged"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_tables_are_looked_up_as_their_questions_are_answered(seed, order, classes, told):
    terms, cells = random_tables(seed, classes, order=order), odd_cells(seed)
    terms = with_shares(terms) if told else terms
    ones = [1.0] * len(terms.column_sets)
    expected = plain_tables(terms, cells, ones)
    np.testing.assert_allclose(terms.log_prob(encode_cells(SCHEMA, cells, ROWS)), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_many(terms, ones, cells), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("told", [False, True], ids=["files of before", "averaged"])
def test_tables_of_each_set_of_columns_have_their_own_weight(told):
    terms, cells = random_tables(5), odd_cells()
    terms = with_shares(terms) if told else terms
    weights = np.linspace(0, 2, len(terms.column_sets)).tolist()
    expected, out = plain_tables(terms, cells, weights), np.zeros((ROWS, 2))
    terms.weighted(weights).add_log_prob(encode_cells(SCHEMA, cells, ROWS), out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_many(terms, weights, cells), expected, rtol=1e-12, atol=1e-12)
    parts = [part.log_prob(encode_cells(SCHEMA, cells, ROWS)) for part in terms.factors()]
    np.testing.assert_allclose(sum(w * part for w, part in zip(weights, parts, strict=True)), expected, rtol=1e-12, atol=1e-12)  # fmt: skip


def test_questions_that_are_asked_twice_are_answered_alike():
    terms, cells = random_tables(4), odd_cells()
    questions = np.array([[0, 0, 5, 5], [9, 9, 13, 13], [13, 14, 13, 14], [7, 6, 7, 8]], dtype=np.int32)
    terms = with_shares(replace(terms, tables=questions, values=terms.values[:4]))
    expected = plain_tables(terms, cells, [1.0] * len(terms.column_sets))
    np.testing.assert_allclose(terms.log_prob(encode_cells(SCHEMA, cells, ROWS)), expected, rtol=1e-12, atol=1e-12)


def test_nothing_at_all_is_said_of_a_row_of_which_nothing_is_known():
    parts = [part for part in with_shares(random_tables(2, 3)).factors() if not any(part.gaps)]
    nothing = {"größe": [np.nan] * ROWS, "wing": [np.nan] * ROWS, "song": [None] * ROWS, "色泽": ["violet"] * ROWS}
    assert {part.columns for part in parts} == {("wing",), ("色泽",), ("wing", "色泽")}
    for part in parts:
        assert not part.log_prob(encode_cells(SCHEMA, nothing, ROWS)).any()
        assert not by_many(part, [1.0] * len(part.column_sets), nothing).any()


@pytest.mark.parametrize("change", [lambda shares: shares[:-1], lambda shares: shares - 1, lambda shares: shares[::-1].copy(), lambda shares: np.where(shares < 1, 0.7, 1.0), lambda shares: shares * np.nan])  # fmt: skip
def test_shares_that_are_none_are_refused(change):
    terms = with_shares(random_tables(3))
    assert not replace(terms, shares=change(terms.shares)).fits(2)


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
