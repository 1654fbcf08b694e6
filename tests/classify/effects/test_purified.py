"""Purified effects against a functional analysis of variance by enumeration; and their laws on real and mixed tables."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.classify.effects import tables
from merula.classify.effects._kernels import add_spreads
from merula.classify.effects.marginals import Marginals
from merula.classify.effects.purified import Subject, centred, marginals_for, purified
from merula.classify.log_linear.fitting import Wish, fit_terms
from merula.classify.log_linear.terms import TableTerms
from merula.classify.pooled.reading import ReadAs, Reading
from merula.data.encode import encode_cells, encode_rows, encode_target
from merula.data.schema import Column, Schema

PENGUINS = Path(mr.__file__).parent / "data" / "penguins.csv"
SCHEMA = Schema((Column("wing", "numeric"), Column("色泽", "categorical"), Column("größe", "numeric"), Column("song", "categorical")))  # fmt: skip
WORDS = {"色泽": ("blass", "gelb", "rot"), "song": ("long", "short")}


def birds(gaps=0.15, classes=3, seed=0, n=150):
    """Columns of few values that tell classes apart together, with their classes and weights."""
    rng = np.random.default_rng(seed)
    wing, height = rng.choice([-1.5, 0.25, 2.0], n), rng.choice([1e9, 1e9 + 1, 1e9 + 2.5, 1e9 + 9], n)
    colour, song = rng.integers(0, 3, n), rng.integers(0, 2, n)
    label = (2 * (wing * (height - 1e9 - 1) > 0) + (colour == 1) * song + (rng.random(n) < 0.2)) % classes
    cells = {"wing": wing, "größe": height, "色泽": np.array(WORDS["色泽"], dtype=object)[colour], "song": np.array(WORDS["song"], dtype=object)[song]}  # fmt: skip
    for name, values in cells.items():
        empty = None if values.dtype == object else np.nan
        cells[name] = np.where(rng.random(n) < gaps, empty, values)
    return cells, label, rng.integers(1, 4, n).astype(float)


def encoded(cells, schema=SCHEMA):
    count = len(next(iter(cells.values())))
    return encode_cells(schema, {name: values if values.dtype == float else values.tolist() for name, values in cells.items()}, count)  # fmt: skip


def is_missing(values):
    return np.array([value is None or value != value for value in values])


def marginal(values, weight, only_known=False):
    """The states of a column, missing the last, and the share of each, counted by hand."""
    lost = is_missing(values)
    states = sorted(set(values[~lost].tolist()))
    shares = [weight[[value == state for value in values]].sum() for state in states]
    if only_known:
        return states, np.array(shares) / weight[~lost].sum()
    return [*states, None], np.array([*shares, weight[lost].sum()]) / weight.sum()


def grid_rows(states, schema=SCHEMA):
    """Every combination of states, as encoded rows; columns that are not named are missing."""
    every = list(itertools.product(*states.values()))
    columns = dict(zip(states, zip(*every, strict=True), strict=True))
    cells = {name: np.array([np.nan if v is None else v for v in values]) if schema[name].kind == "numeric" else np.array(values, dtype=object) for name, values in columns.items()}  # fmt: skip
    return encoded(cells, schema)


def by_enumeration(score, shares):
    """For each set of axes U: Σ_{V ⊆ U} (−1)^|U∖V| E[score given x_V], with an axis of length 1 for each column not in U."""
    axes = range(len(shares))

    def mean_given(kept):
        found = score
        for axis in axes:
            if axis not in kept:
                weight = shares[axis].reshape([-1 if k == axis else 1 for k in range(score.ndim)])
                found = (found * weight).sum(axis=axis, keepdims=True)
        return found

    sets = [some for size in range(len(shares) + 1) for some in itertools.combinations(axes, size)]
    return {
        some: sum(
            (-1) ** (len(some) - len(inner)) * mean_given(inner)
            for size in range(len(some) + 1)
            for inner in itertools.combinations(some, size)
        )
        for some in sets
    }


def subject_of(names):
    return Subject(tuple(sorted(names)))


def score_of(parts, rows):
    return centred(sum(weight * part.log_prob(rows) for part, weight in parts))


def check_against_enumeration(parts, cells, weight, tolerance=1e-10, only_known=False, schema=SCHEMA):
    """All effects, on every combination of states, against the analysis of variance of the score."""
    names = list(schema.names)
    marginals = marginals_for([part for part, _ in parts], encoded(cells, schema), weight, names)
    told = {name: marginal(cells[name], weight, only_known) for name in names}
    rows = grid_rows({name: states for name, (states, _) in told.items()}, schema)
    shares = [share for _, share in told.values()]
    score = score_of(parts, rows)
    shape = (*map(len, shares), score.shape[1])
    effects = purified(parts, marginals, score.shape[1])
    found, scale = effects.values(rows), max(1.0, np.abs(score).max())
    assert not any(subject.whole for subject in found)
    for some, expected in by_enumeration(score.reshape(shape), shares).items():
        subject = subject_of(names[axis] for axis in some)
        own = found.get(subject, np.zeros_like(score)) if some else effects.intercept(rows)
        np.testing.assert_allclose(own.reshape(shape), np.broadcast_to(expected, shape), rtol=0, atol=tolerance * scale)
        for axis in some:  # effects have mean 0 along each of their columns
            along = np.tensordot(shares[axis], own.reshape(shape), axes=(0, axis))
            np.testing.assert_allclose(along, 0, atol=tolerance * scale)
    return effects


def terms(cells, label, weight, order, missing="marginalise", rounds=60):
    rows = encoded(cells)
    target = encode_target(label, len(label), weight)
    level_sets = {name: WORDS.get(name) for name in SCHEMA.names}
    return fit_terms(rows, target, level_sets, Wish(order, rounds, missing))[1]


@pytest.mark.parametrize("missing", ["marginalise", "level"])
@pytest.mark.parametrize("order", [1, 2, 3, 4, "gaussian"])
def test_conditional_terms_are_taken_apart_as_by_enumeration(order, missing):
    cells, label, weight = birds()
    part = terms(cells, label, weight, order, missing)
    check_against_enumeration([(part, 0.7)], cells, weight)


@pytest.mark.parametrize("order", [1, 3])
def test_tables_of_files_of_before_are_taken_apart_likewise(order):
    """There, tables say nothing where a column is missing, instead of being averaged over it."""
    cells, label, weight = birds()
    check_against_enumeration([(replace(terms(cells, label, weight, order), shares=None), 0.7)], cells, weight)


@pytest.mark.parametrize("order", [2, 4])
def test_tables_that_turn_numbers_round_are_taken_apart_likewise(order):
    """−x ≤ bound is x ≥ −bound: the cut belongs to the other side."""
    cells, label, weight = birds(seed=3)
    part = terms({**cells, "wing": -(cells["wing"] ** 3)}, label, weight, order)
    signs = [part.signs.tolist()]
    check_against_enumeration([(part, 1.0)], {**cells, "wing": -(cells["wing"] ** 3)}, weight)
    signs.append(terms(cells, label, weight, order).signs.tolist())
    assert any(sign < 0 for some in signs for sign in some)  # else nothing was turned round


def test_two_classes_and_complete_columns():
    cells, label, weight = birds(gaps=0, classes=2, seed=1)
    for order in (2, "gaussian"):
        check_against_enumeration([(terms(cells, label, weight, order), 1.0)], cells, weight)


def test_all_parts_of_a_sum_are_added_up():
    """Tables, the twin, columns by themselves: one effect for each set of columns."""
    cells, label, weight = birds(seed=2)
    frame = pd.DataFrame(cells)
    naive = mr.NaiveBayesClassifier().fit(frame, label, sample_weight=weight)
    parts = [(terms(cells, label, weight, 3), 0.5), (terms(cells, label, weight, "gaussian"), 0.3)]
    parts += [(part, 0.25) for part in naive.distributions_]
    effects = check_against_enumeration(parts, cells, weight)
    assert len({subject.columns for subject in effects.subjects}) == len(effects.subjects)


NUMBERS = Schema((Column("wing", "numeric"), Column("größe", "numeric"), Column("gewicht", "numeric")))


def numbers(gaps, seed=0, n=90):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n)
    x = np.round(rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)) + label[:, None])
    x[rng.random(x.shape) < gaps] = np.nan
    return dict(zip(NUMBERS.names, x.T, strict=True)), label, rng.integers(1, 3, n).astype(float)


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_the_multivariate_normal_is_taken_apart_for_each_pattern(covariance):
    cells, label, weight = numbers(gaps=0.1)
    family = mr.MultivariateGaussian(covariance=covariance)
    model = mr.BayesClassifier(distributions={"numeric": family}).fit(pd.DataFrame(cells), label, sample_weight=weight)
    parts = [(part, 0.6) for part in model.distributions_]
    marginals = marginals_for(model.distributions_, encoded(cells, NUMBERS), weight, NUMBERS.names)
    effects = purified(parts, marginals, 3)
    for size in range(1, 4):
        for known in itertools.combinations(NUMBERS.names, size):
            told = {name: marginal(cells[name], weight, only_known=True) for name in known}
            rows = grid_rows({name: states for name, (states, _) in told.items()}, NUMBERS)
            score, found = score_of(parts, rows), effects.values(rows)
            shape = (*(len(share) for _, share in told.values()), 3)
            for some, expected in by_enumeration(score.reshape(shape), [share for _, share in told.values()]).items():
                subject = subject_of(known[axis] for axis in some)
                own = found.get(subject, np.zeros_like(score)) if some else effects.intercept(rows)
                np.testing.assert_allclose(own.reshape(shape), np.broadcast_to(expected, shape), atol=1e-10)


@pytest.mark.parametrize("kind", ["tables", "twin", "normal"])
def test_effects_of_many_numbers_have_mean_zero_along_each_column(kind):
    """Intervals hold many numbers each, some beyond where the twin stops: their spread counts."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 300)
    x = rng.standard_t(2, size=(300, 3)) @ rng.normal(size=(3, 3)) + label[:, None]
    x[rng.random(x.shape) < (0 if kind == "normal" else 0.1)] = np.nan
    model = {"tables": mr.LogLinearClassifier(3, max_rounds=40), "twin": mr.LogLinearClassifier("gaussian"), "normal": mr.BayesClassifier()}[kind]  # fmt: skip
    model.fit(x, label)
    marginals = marginals_for(model.distributions_, model._encoded(x), None, model.schema_.names)
    assert all(len(shares) < 250 for shares in marginals.shares)
    effects = purified([(part, 1.0) for part in model.distributions_], marginals, 3)
    for j, name in enumerate(model.schema_.names):
        for start in x[:7]:
            rows = np.tile(start, (300, 1))
            rows[:, j] = x[:, j]
            for subject, effect in effects.values(model._encoded(rows)).items():
                if name in subject.columns:
                    np.testing.assert_allclose(effect.mean(axis=0), 0, atol=1e-7 if kind == "twin" else 1e-10)


def test_a_number_that_is_its_own_bound():
    """−x ≤ −2 is x ≥ 2: a cut at 2 would put 2 itself on the wrong side."""
    levels = (None, None)
    values = np.arange(12.0).reshape(1, 4, 3) ** 2
    part = TableTerms(("größe", "wing"), levels, (False, False), np.array([1.0, -1.0]), np.array([0, 1], dtype=np.int32), np.array([1.0, -2.0]), np.array([[0, 1]], dtype=np.int32), values, 1, 0.5)  # fmt: skip
    assert part.fits(3)
    wing = np.append(np.arange(80.0) / 32, np.nan)  # so many that some lie in one interval
    cells = {"wing": wing, "größe": np.resize([0.0, 1.0, 2.0], len(wing))}
    schema = Schema((SCHEMA["wing"], SCHEMA["größe"]))
    check_against_enumeration([(part, 1.0)], cells, np.ones(len(wing)), schema=schema)


def test_normal_columns_have_an_exact_mean():
    """Of a density that is quadratic in x, also where intervals hold many numbers."""
    rng = np.random.default_rng(0)
    x, label = np.append(rng.normal(1e6, 2, 500), np.nan), rng.integers(0, 2, 501)
    model = mr.NaiveBayesClassifier(missing="level").fit(x[:, None], label)
    rows = encode_rows(x[:, None], model.schema_, False, "model")
    marginals = marginals_for(model.distributions_, rows, None, ("x0",))
    assert len(marginals.shares[0]) < 40
    (effect,) = purified([(model.distributions_[0], 1.0)], marginals, 2).values(rows).values()
    np.testing.assert_allclose(effect.mean(axis=0), 0, atol=1e-12)


def dependent(cells, label, weight, weights=None, k=1):
    frame = pd.DataFrame(cells)
    model = mr.KDBClassifier(k, weights=weights).fit(frame, label, sample_weight=weight)
    (component,) = model.fitted_.components
    return model, list(component.factors), encode_rows(frame, model.schema_, True, "model")


def test_columns_with_parents_are_taken_apart_as_by_enumeration():
    cells, label, weight = birds(gaps=0)
    words = {name: cells[name] for name in WORDS} | {
        "wing": np.char.add("wing ", cells["wing"].astype(str)).astype(object)
    }
    schema = Schema(tuple(Column(name, "categorical") for name in words))
    for weights in (None, "conditional"):
        _, parts, _ = dependent(words, label, weight, weights, k=2)
        told = {name: marginal(words[name], weight, only_known=True) for name in words}
        rows = grid_rows({name: states for name, (states, _) in told.items()}, schema)
        marginals = marginals_for([part for part, _ in parts], encoded(words, schema), weight, schema.names)
        effects = purified(parts, marginals, 3)
        score, found = score_of(parts, rows), effects.values(rows)
        shape = (*(len(share) for _, share in told.values()), 3)
        for some, expected in by_enumeration(score.reshape(shape), [share for _, share in told.values()]).items():
            subject = subject_of(schema.names[axis] for axis in some)
            own = found.get(subject, np.zeros_like(score)) if some else effects.intercept(rows)
            np.testing.assert_allclose(own.reshape(shape), np.broadcast_to(expected, shape), atol=1e-10)
        beyond = [effect for subject, effect in found.items() if subject.whole]
        assert all(not effect.any() for effect in beyond)  # nothing is missing, so that nothing is told of it


def test_missing_cells_of_two_columns_of_which_one_is_the_others_parent():
    """Nothing else can tell of the parent, so that the grid has it all."""
    cells, label, weight = birds(gaps=0.2)
    words = {name: cells[name] for name in WORDS}
    schema = Schema(tuple(Column(name, "categorical") for name in words))
    _, parts, _ = dependent(words, label, weight)
    marginals = marginals_for([part for part, _ in parts], encoded(words, schema), weight, schema.names)
    told = {name: marginal(words[name], weight) for name in words}
    rows = grid_rows({name: states for name, (states, _) in told.items()}, schema)
    effects, score = purified(parts, marginals, 3), score_of(parts, rows)
    shape, found = (4, 3, 3), effects.values(rows)
    for some, expected in by_enumeration(score.reshape(shape), [share for _, share in told.values()]).items():
        own = found[subject_of(schema.names[axis] for axis in some)] if some else effects.intercept(rows)
        np.testing.assert_allclose(own.reshape(shape), np.broadcast_to(expected, shape), atol=1e-10)


def test_numbers_that_a_part_reads_as_intervals_are_states_of_a_grid():
    cells, label, weight = birds(gaps=0.2)
    some = {name: cells[name] for name in ("wing", "色泽")}
    schema = Schema((SCHEMA["wing"], SCHEMA["色泽"]))
    model = mr.KDBClassifier(1, numeric="quantile", bins=2).fit(pd.DataFrame(some), label, sample_weight=weight)
    cuts = {"wing": model.schema_["wing"].cuts}
    assert len(cuts["wing"]) == 1
    parts = [(ReadAs(part, Reading(cuts, {})), 0.8) for part in model.distributions_]
    marginals = marginals_for([part for part, _ in parts], encoded(some, schema), weight, schema.names)
    told = {name: marginal(some[name], weight) for name in some}
    rows = grid_rows({name: states for name, (states, _) in told.items()}, schema)
    effects, score = purified(parts, marginals, 3), score_of(parts, rows)
    shape, found = (4, 4, 3), effects.values(rows)
    for names, expected in by_enumeration(score.reshape(shape), [share for _, share in told.values()]).items():
        own = found[subject_of(schema.names[axis] for axis in names)] if names else effects.intercept(rows)
        np.testing.assert_allclose(own.reshape(shape), np.broadcast_to(expected, shape), atol=1e-10)


def test_a_normal_part_may_hold_numbers_between_bounds():
    cells, label, weight = numbers(gaps=0)
    model = mr.BayesClassifier().fit(pd.DataFrame(cells), label, sample_weight=weight)
    bounds = {"wing": (-0.5, 1.0), "gewicht": (-np.inf, 0.25)}
    parts = [(ReadAs(part, Reading({}, bounds)), 1.3) for part in model.distributions_]
    told = {name: marginal(cells[name], weight, only_known=True) for name in NUMBERS.names}
    rows = grid_rows({name: states for name, (states, _) in told.items()}, NUMBERS)
    marginals = marginals_for([part for part, _ in parts], encoded(cells, NUMBERS), weight, NUMBERS.names)
    effects, score = purified(parts, marginals, 3), score_of(parts, rows)
    shape, found = (*(len(share) for _, share in told.values()), 3), effects.values(rows)
    for some, expected in by_enumeration(score.reshape(shape), [share for _, share in told.values()]).items():
        own = found.get(subject_of(NUMBERS.names[axis] for axis in some), np.zeros_like(score)) if some else effects.intercept(rows)  # fmt: skip
        np.testing.assert_allclose(own.reshape(shape), np.broadcast_to(expected, shape), atol=1e-10)


def test_patterns_that_another_thread_forgets_are_still_told():
    """As where one clears what is kept between another's writing and reading it."""

    class Forgetful(dict):
        def __setitem__(self, key, value):
            self.clear()

    cells, label, weight = numbers(gaps=0.2)
    model = mr.BayesClassifier().fit(pd.DataFrame(cells), label, sample_weight=weight)
    rows = encoded(cells, NUMBERS)
    marginals = marginals_for(model.distributions_, rows, weight, NUMBERS.names)
    kept, forgotten = (purified([(part, 1.0) for part in model.distributions_], marginals, 3) for _ in range(2))
    for part in forgotten.parts:
        vars(part)["_kept_patterns"] = Forgetful()
    found, expected = forgotten.values(rows), kept.values(rows)
    for subject in kept.subjects:
        np.testing.assert_array_equal(found[subject], expected[subject])


# ---------------------------------------------------------------------------------------------------------------------
# Additivity on real tables


def hostile(frame, seed=0):
    """The rows with cells missing here and there, levels never met, and numbers far out."""
    rng = np.random.default_rng(seed)
    frame = frame.copy().astype({name: object for name in frame if frame[name].dtype.kind not in "fi"})
    for name in frame:
        is_number = frame[name].dtype.kind in "fi"
        frame[name] = frame[name].astype(float) if is_number else frame[name]
        frame.loc[rng.random(len(frame)) < 0.2, name] = np.nan if is_number else None
        frame.loc[rng.random(len(frame)) < 0.05, name] = 1e12 if is_number else "never met"
        if is_number and name != "visits":
            frame.loc[rng.random(len(frame)) < 0.02, name] = -1e12
    return frame


def penguins():
    frame = pd.read_csv(PENGUINS)
    return frame.drop(columns="species"), frame["species"].to_numpy()


def mixed(n=400, seed=5):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)).round(2), columns=["wing", "größe", "gewicht", "age"])
    frame["visits"] = rng.poisson(4, n).astype(float)
    frame["色泽"] = rng.choice(["blass", "gelb", "rot", "grün"], n)
    frame["song"] = rng.choice(["long", "short"], n)
    label = np.where(frame["wing"] * frame["größe"] + (frame["色泽"] == "rot") > 0.4, "tit", np.where(frame["age"] > 0, "wren", "owl"))  # fmt: skip
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    return frame, label


MODELS = {
    "tables of one": (mr.LogLinearClassifier(order=1, max_rounds=40), penguins),
    "tables of four": (mr.LogLinearClassifier(order=4, max_rounds=60), penguins),
    "tables of six": (mr.LogLinearClassifier(order=6, max_rounds=30, missing="level"), mixed),
    "twin": (mr.LogLinearClassifier(order="gaussian"), penguins),
    "twin, missing a level": (mr.LogLinearClassifier(order="gaussian", missing="level"), mixed),
    "naive": (mr.NaiveBayesClassifier(kinds={"visits": "count"}), mixed),
    "naive, weighted": (mr.NaiveBayesClassifier(weights="conditional", missing="level"), penguins),
    "naive, smooth": (mr.NaiveBayesClassifier(unseen="smooth"), penguins),
    "kernels": (mr.NaiveBayesClassifier(distributions={"numeric": mr.Kernel()}), penguins),
    "normal": (mr.BayesClassifier(kinds="numeric"), lambda: (penguins()[0].select_dtypes("number"), penguins()[1])),
    "normal, missing a level": (mr.BayesClassifier(missing="level"), lambda: (mixed()[0].iloc[:, :5], mixed()[1])),
    "dependent": (mr.KDBClassifier(1, weights="conditional"), penguins),
    "dependent on two": (mr.KDBClassifier(2), mixed),
    "tree": (mr.TANClassifier(unseen="smooth"), mixed),
    "joint table": (mr.BayesClassifier(), lambda: (mixed()[0][["色泽", "song"]], mixed()[1])),
    "kept rows": (mr.KernelBayesClassifier(), penguins),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_effects_add_up_to_the_score(name):
    """In every row, with missing cells, levels never met and numbers far out."""
    model, table = MODELS[name]
    frame, label = table()
    model.fit(frame, label)
    (component,) = model.fitted_.components
    parts = component.factors if component.is_weighted else [(part, 1.0) for part in component.parts]
    fitted = encode_rows(frame, model.schema_, True, "model")
    marginals = marginals_for([part for part, _ in parts], fitted, None, model.schema_.names)
    assert marginals.fits()
    effects = purified(parts, marginals, len(model.classes_))
    for some in (frame, hostile(frame)):
        rows = encode_rows(some, model.schema_, True, "model")
        found = effects.values(rows)
        total = effects.intercept(rows) + sum(found.values())
        largest = np.maximum(1.0, np.max([np.abs(effect).max(axis=1) for effect in found.values()], axis=0))
        gap = np.abs(total - score_of(parts, rows)).max(axis=1)
        assert (gap <= 1e-10 * largest).all()
        if some is frame:
            assert gap.max() <= 1e-10
        assert all(abs(effect.mean(axis=1)).max() <= 1e-9 * largest.max() for effect in found.values())


def test_one_subject_is_what_it_is_among_all():
    frame, label = penguins()
    model = mr.LogLinearClassifier(order=2, max_rounds=40).fit(frame, label)
    rows = encode_rows(frame, model.schema_, True, "model")
    effects = purified([(model.distributions_[0], 1.0)], marginals_for(model.distributions_, rows, None, model.schema_.names), 3)  # fmt: skip
    found = effects.values(rows)
    assert list(found) == list(effects.subjects)
    for subject in effects.subjects[::3]:
        np.testing.assert_array_equal(effects.values(rows, [subject])[subject], found[subject])
    assert [len(subject.columns) for subject in effects.subjects] == sorted(len(subject.columns) for subject in effects.subjects)  # fmt: skip


def test_tables_that_do_not_fit_together_are_asked_some_at_a_time(monkeypatch):
    """With the same bits, and never more numbers at once than may be."""
    frame, label = penguins()
    model = mr.LogLinearClassifier(order=3, max_rounds=40).fit(frame, label)
    rows = encode_rows(frame, model.schema_, True, "model")
    marginals = marginals_for(model.distributions_, rows, None, model.schema_.names)
    whole, apart = (purified([(model.distributions_[0], 0.7)], marginals, 3) for _ in range(2))
    expected, intercept = whole.values(rows), whole.intercept(rows)
    sizes, add_effects = [], tables.kernels.add_effects
    monkeypatch.setattr(tables, "PURIFIED_AT_ONCE", 20 * 27 * 3)
    monkeypatch.setenv("MERULA_MOST_BYTES", "20000")
    monkeypatch.setattr(tables.kernels, "add_effects", lambda read, some, *rest: (sizes.append(some.values.size), add_effects(read, some, *rest)))  # fmt: skip
    found = apart.values(rows)
    for subject in apart.subjects:
        np.testing.assert_array_equal(found[subject], expected[subject])
    np.testing.assert_array_equal(apart.intercept(rows), intercept)
    assert max(sizes) == 20 * 27 * 3 and sum(sizes) == len(model.distributions_[0].tables) * 27 * 3


def test_importances_are_weighted_means_of_spreads():
    frame, label = penguins()
    model = mr.LogLinearClassifier(order=2, max_rounds=40).fit(frame, label)
    rows = encode_rows(frame, model.schema_, True, "model")
    effects = purified([(model.distributions_[0], 1.0)], marginals_for(model.distributions_, rows, None, model.schema_.names), 3)  # fmt: skip
    weight = np.random.default_rng(0).random(len(rows))
    found = effects.importances(rows, weight)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for subject, effect in effects.values(rows).items():
        expected = np.average(effect.max(axis=1) - effect.min(axis=1), weights=weight)
        np.testing.assert_allclose(found[subject], expected, rtol=1e-12)


@pytest.mark.parametrize(("row", "expected"), [([-np.inf, -np.inf], 0.0), ([0.0, -np.inf], np.inf), ([1.0, 0.5], 0.5)])
def test_rows_without_a_possible_class_have_no_spread(row, expected):
    found = np.zeros(1)
    add_spreads(np.array([[row]]), np.ones(1), found)
    assert found.tolist() == [expected]


@pytest.mark.filterwarnings("ignore")
def test_a_part_that_calls_something_impossible_is_left_as_it_is():
    model = mr.NaiveBayesClassifier(smoothing=0).fit([["rot"], ["rot"], ["gelb"]], ["tit", "wren", "wren"])
    rows = encode_rows([["gelb"], ["rot"]], model.schema_, False, "model")
    effects = purified([(model.distributions_[0], 1.0)], marginals_for(model.distributions_, rows, None, ("x0",)), 2)
    (effect,) = effects.values(rows).values()
    assert effects.subjects[0].whole and effect[0].tolist() == [-np.inf, 0.0]


def test_marginals_made_for_another_model_are_refused():
    cells, label, weight = birds()
    part = terms(cells, label, weight, 2)
    other = Marginals.of(encoded(cells), weight, SCHEMA.names, {"wing": [0.123]})
    with pytest.raises(ValueError, match="these are marginals of other parts"):
        purified([(terms({**cells, "wing": cells["wing"] * 1.7}, label, weight, 2), 1.0), (part, 1.0)], other, 3)
