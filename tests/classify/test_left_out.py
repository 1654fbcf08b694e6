"""Terms of rows that their model has not seen: by refitting without the row, and by refitting without its fold."""

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.classify.folds import Folds
from merula.classify.left_out import CLOSED, left_out_terms
from merula.data.encode import encode_rows, encode_target
from merula.graphs.dependence import estimates

LEVELS = {"色泽": ["yellow", "pink", "white"], "cough": ["none", "dry", "wet", "barking"], "smoker": ["no", "yes"]}
NUMBERS = ("blood pressure", "größe")


def patients(n=40, lost=0.15, seed=0):
    rng = np.random.default_rng(seed)
    ill = rng.choice(["gesund", "krank", "unklar"], n, p=[0.45, 0.35, 0.2])
    shift = (ill == "krank") * 1 + (ill == "unklar") * 2
    frame = pd.DataFrame(
        {
            "blood pressure": rng.normal(120, 12, n) + 8 * shift,
            "größe": rng.normal(171, 9, n).round(),
            **{
                name: np.array(levels)[(rng.integers(0, 2, n) + shift * rng.integers(0, 2, n)) % len(levels)]
                for name, levels in LEVELS.items()
            },
        }
    )
    return frame.mask(rng.random(frame.shape) < lost), ill


def terms_of(model, frame, y, folds=2):
    """The terms of all rows, factors × rows × classes; row k lies in fold k modulo the number of folds."""
    plan = model.fitted_.plan
    rows = encode_rows(frame, plan.schema, plan.named, "test")
    dealt = Folds(np.eye(folds)[np.arange(len(rows)) % folds])
    some = [left_out for _, left_out in dealt]
    found = left_out_terms(model._held(model.fitted_), rows, encode_target(y, len(rows)), plan.schema, dealt, some)
    assert np.array_equal(found.folds, np.repeat(np.arange(folds), [len(one.indices) for one in some]))
    return found.values[:, np.argsort(np.concatenate([one.indices for one in some]))]


def refitted(model, frame, y, row, **params):
    """The terms of one row by a model fitted on all others, factors × classes; weights are not learned."""
    others = np.arange(len(y)) != row
    other = type(model)(**(model.get_params(deep=False) | {"weights": None} | params))
    fitted = other.fit(frame[others], y[others])
    encoded = fitted._encoded(frame[row : row + 1])
    return np.array([term.values[0] for component in fitted.fitted_.unsummed(encoded) for term in component.terms])


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"missing": "level"},
        {"smoothing": 0.5, "variance": "unbiased"},
        {"smoothing": mr.MEstimate(2), "class_prior": "uniform"},
        {"smoothing": 0},
        {"distributions": {"smoker": mr.Bernoulli(smoothing=2)}, "kinds": {"smoker": "categorical"}},
    ],
    ids=str,
)
def test_terms_of_naive_bayes_are_those_of_a_fit_without_the_row(params):
    frame, y = patients()
    model = mr.NaiveBayesClassifier(levels=LEVELS, **params).fit(frame, y)
    found = terms_of(model, frame, y)
    expected = np.stack([refitted(model, frame, y, row) for row in range(len(y))], axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_a_class_of_one_or_two_rows_is_left_out_as_well():
    frame, y = patients(lost=0.0, seed=4)
    y = np.where(np.isin(np.arange(len(y)), (3,)), "selten", np.where(np.isin(np.arange(len(y)), (5, 9)), "zwei", y))
    model = mr.NaiveBayesClassifier(levels=LEVELS).fit(frame, y)
    found = terms_of(model, frame, y)
    for row in range(len(y)):
        if y[row] == "selten":  # a fit without its only row does not know the class
            continue
        np.testing.assert_allclose(found[:, row], refitted(model, frame, y, row), rtol=1e-9, atol=1e-9)
    assert np.isfinite(found[:, 3]).all()


def without(counts, *cell):
    """Counts without one row of a cell."""
    fewer = counts.copy()
    fewer[cell] -= 1
    return fewer


@pytest.mark.parametrize("smoothing", ["backoff", "bdeu", 1.0, 0.25, mr.MEstimate(3), 0.0], ids=str)
def test_tables_without_a_row_are_those_of_counts_without_it(smoothing, monkeypatch):
    rng = np.random.default_rng(2)
    deepest = rng.integers(0, 3, (2, 3, 2, 4)).astype(float)  # class, two parents, level
    deepest[0, 1, 1] = deepest[1, 2] = 0
    counts = [deepest.sum(axis=(1, 2)), deepest.sum(axis=2), deepest]
    levels, classes = ("a", "b", "c", "d"), ("no", "yes")
    found = estimates.left_out(counts, smoothing, "cough", levels, classes)
    held = [float(m) for m in _concentrations(counts)]
    for label, first, second, level in np.argwhere(deepest > 0):
        cells = [(label, level), (label, first, level), (label, first, second, level)]
        fewer = [without(table, *cell) for table, cell in zip(counts, cells, strict=True)]
        for depth in range(3):
            chosen = iter(held)
            monkeypatch.setattr(estimates, "_best_concentration", lambda *_, chosen=chosen: next(chosen))
            known = estimates.estimate(fewer[: depth + 1], smoothing, "cough", levels, classes).known
            for other in range(2):
                table = found[depth].own if other == label else found[depth].other
                at = (other, *cells[depth][1:])
                assert table[at] == pytest.approx(known[at], rel=1e-12)
        monkeypatch.undo()


def _concentrations(counts):
    """The concentrations of each step of the chain, as all rows choose them."""
    chosen, real = [], estimates._best_concentration

    def noted(*args):
        chosen.append(real(*args))
        return chosen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimates, "_best_concentration", noted)
        estimates.backed_off(counts)
    return chosen


PARENTS = {"cough": ["色泽", "smoker"], "smoker": ["色泽"]}


@pytest.mark.parametrize("params", [{"smoothing": 1}, {"smoothing": "bdeu", "missing": "level"}], ids=str)
def test_terms_of_dependent_columns_are_those_of_a_fit_without_the_row(params):
    """Those of rows that know a column's parents; terms of depth d are differences of models with d and d − 1 parents."""
    frame, y = patients(60)
    frame = frame[list(LEVELS)]
    model = mr.KDBClassifier(2, parents=PARENTS, levels=LEVELS, weights="conditional", **params).fit(frame, y)
    found = terms_of(model, frame, y)
    factors = [(one.columns[0], one.parents) for one, _ in model.fitted_.components[0].factors]
    assert sorted(len(parents) for _, parents in factors) == [0, 0, 0, 1, 1, 2]
    compared = 0
    for row in range(0, len(y), 3):
        known = frame.iloc[row].notna() | (params.get("missing") == "level")
        for k, (name, parents) in enumerate(factors):
            if known[[name, *parents]].all():
                expected = _term(model, frame, y, row, name, parents)
                np.testing.assert_allclose(found[k, row], expected, rtol=1e-9, atol=1e-9)
                compared += 1
            elif not known[name]:
                assert not found[k, row].any()
    assert compared > 50


def _term(model, frame, y, row, name, parents):
    """The gain of the last parent in a row, by models fitted without the row."""
    others = np.arange(len(y)) != row

    def given(some):
        params = model.get_params(deep=False) | {"weights": None, "parents": {name: some}}
        return mr.KDBClassifier(**params).fit(frame[others], y[others]).terms(frame[row : row + 1])

    if not parents:
        return given([])[name][0]
    more, fewer = given(list(parents))[(name,), parents], given(list(parents[:-1]))
    return (more - fewer[((name,), parents[:-1]) if parents[:-1] else name])[0]


def test_a_row_that_lacks_a_parent_is_told_by_the_other_folds():
    frame, y = patients(60, seed=1)
    frame = frame[list(LEVELS)]
    model = mr.KDBClassifier(2, parents=PARENTS, levels=LEVELS, weights="conditional").fit(frame, y)
    found = terms_of(model, frame, y, folds=3)
    factors = [(one.columns[0], one.parents) for one, _ in model.fitted_.components[0].factors]
    lacking = (frame["色泽"].isna() & frame["smoker"].notna()).to_numpy()
    assert lacking.sum() >= 3
    k = factors.index(("smoker", ("色泽",)))
    for fold in range(3):
        others = np.arange(len(y)) % 3 != fold
        other = mr.KDBClassifier(2, parents=PARENTS, levels=LEVELS).fit(frame[others], y[others])
        alone = mr.KDBClassifier(2, parents={"cough": ["色泽", "smoker"]}, levels=LEVELS).fit(frame[others], y[others])
        own = frame[lacking & ~others]
        if not len(own):
            continue
        expected = other.terms(own)[("smoker",), ("色泽",)] - alone.terms(own)["smoker"]
        np.testing.assert_allclose(found[k, lacking & ~others], expected, rtol=1e-9, atol=1e-9)


def test_families_without_a_closed_form_are_told_by_the_other_folds():
    frame, y = patients(60, lost=0.1)
    families = {"blood pressure": "kernel", "größe": mr.Discretized("mdl")}
    model = mr.NaiveBayesClassifier(levels=LEVELS, distributions=families).fit(frame, y)
    found = terms_of(model, frame, y, folds=4)
    names = [one.columns[0] for one, _ in model.fitted_.components[0].factors]
    for fold in range(4):
        others = np.arange(len(y)) % 4 != fold
        other = mr.NaiveBayesClassifier(levels=LEVELS, distributions=families).fit(frame[others], y[others])
        for name in NUMBERS:
            expected = other.terms(frame[~others])[name]
            np.testing.assert_allclose(found[names.index(name)][~others], expected, rtol=1e-9, atol=1e-12)


def test_every_closed_form_is_tested_here():
    assert {family.name for family in CLOSED} == {"bernoulli", "categorical", "dependent_in_steps", "gaussian"}
