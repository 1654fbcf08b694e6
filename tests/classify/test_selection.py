"""Selective k-dependence Bayes: the columns and parents under which rows left out are told best, by refitting without each row."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.classify.test_dependent import patients

import merula as mr
from merula.classify.left_out import LeftOutTerms
from merula.classify.selection import choose

PRIOR = {"gesund": 0.6, "krank": 0.4}


def with_noise(n=120, columns=4, seed=0, lost=0.0):
    """Patients whose columns hang together, and columns of many levels that tell nothing."""
    frame, y = patients(n, lost=lost, seed=seed)
    rng = np.random.default_rng(seed + 1)
    for k in range(columns):
        frame[f"Rauschen {k}"] = rng.choice(list("abcdefgh"), n)
    return frame, y


def loss_by_refitting(model, frame, y):
    """The mean log loss of each row by a model of all others with the same columns, levels, parents and prior."""
    kept = list(model.parents_)
    levels = {name: model.schema_[name].levels for name in kept}
    losses = []
    for i in range(len(frame)):
        rest = np.arange(len(frame)) != i
        other = mr.KDBClassifier(parents=model.parents_, levels=levels, smoothing=1, class_prior=PRIOR)
        proba = other.fit(frame.loc[rest, kept], y[rest]).predict_proba(frame.loc[[i], kept])[0]
        losses.append(-np.log(proba[list(other.classes_).index(y[i])]))
    return np.mean(losses)


def test_the_loss_is_that_of_refitting_without_each_row():
    frame, y = with_noise()
    model = mr.KDBClassifier(2, select=True, smoothing=1, class_prior=PRIOR).fit(frame, y)
    assert model.left_out_log_loss_ == pytest.approx(loss_by_refitting(model, frame, y), rel=1e-10)
    assert 0 < len(model.parents_) < 9


@pytest.mark.parametrize("fewer", [{"k": 0}, {"k": 1}, {"k": 2}])
def test_no_other_number_of_columns_or_parents_is_better(fewer):
    frame, y = with_noise(seed=3)
    model = mr.KDBClassifier(2, select=True, smoothing=1, class_prior=PRIOR).fit(frame, y)
    whole = mr.KDBClassifier(**fewer, smoothing=1, class_prior=PRIOR).fit(frame, y)
    assert model.left_out_log_loss_ <= loss_by_refitting(whole, frame, y) + 1e-12


class Steps:
    """As much of a block of columns as the choice asks for: a chain a ← b ← c, each column telling more than the next."""

    graph: ClassVar = {"a": (), "b": ("a",), "c": ("b", "a")}

    def factors(self):
        return [Step((name,), depth) for name, parents in self.graph.items() for depth in range(len(parents) + 1)]


class Step:
    def __init__(self, columns, depth):
        self.columns, self.depth = columns, depth


def test_every_number_of_columns_is_tried_with_every_number_of_parents(monkeypatch):
    rng = np.random.default_rng(6)
    values, codes, weights = rng.normal(size=(8, 50, 3)), rng.integers(0, 3, 50), rng.gamma(2.0, 1.0, 50)
    monkeypatch.setattr("merula.classify.selection.ordered", lambda *_: None)
    monkeypatch.setattr("merula.classify.selection.by_information", lambda _: ["a", "b", "c"])
    prior, block = np.log([0.2, 0.3, 0.5]), type("Block", (), {"part": Steps(), "statistic": None, "setting": None})
    found = choose(LeftOutTerms(values, codes, weights, codes), prior, block, slice(1, 7))
    place = {("a", 0): 1, ("b", 0): 2, ("b", 1): 3, ("c", 0): 4, ("c", 1): 5, ("c", 2): 6}
    for depth in range(3):
        for count in range(3):
            own = [p for (name, d), p in place.items() if "abc".index(name) <= count and d <= depth]
            scores = prior + values[[0, 7, *own]].sum(axis=0)
            log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
            expected = -np.average(log_p[np.arange(50), codes], weights=weights)
            assert found.losses[depth, count] == pytest.approx(expected, rel=1e-12)
    depth, count = np.unravel_index(found.losses.argmin(), (3, 3))
    assert found.graph == {name: Steps.graph[name][:depth] for name in "abc"[: count + 1]}


def test_noise_is_left_out_and_the_model_is_better_for_it():
    frame, y = with_noise(n=200, columns=12, seed=8)
    fresh, truth = with_noise(n=2_000, columns=12, seed=9)
    losses = {}
    for select in (False, True):
        model = mr.KDBClassifier(2, select=select, smoothing=1).fit(frame, y)
        proba = model.predict_proba(fresh)
        losses[select] = -np.log(proba[np.arange(len(truth)), np.searchsorted(model.classes_, truth)]).mean()
    assert losses[True] < losses[False] - 0.05
    assert sum(name.startswith("Rauschen") for name in model.parents_) < 12


def test_numbers_are_cut_without_the_class_unless_the_choice_is_refused():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"blood pressure": rng.normal(size=80), "age": rng.normal(size=80)})
    y = np.where(frame["age"] > 0, "alt", "jung")
    model = mr.KDBClassifier(1, select=True).fit(frame, y)
    assert model.schema_["age"].cuts == mr.KDBClassifier(1, numeric="quantile").fit(frame, y).schema_["age"].cuts
    assert mr.KDBClassifier(1).fit(frame, y).schema_["age"].cuts == mr.KDBClassifier(1, numeric="mdl").fit(frame, y).schema_["age"].cuts  # fmt: skip
    for wrong in ({"select": True}, {"weights": "conditional"}):
        with pytest.raises(ValueError, match=r"numeric is 'mdl', whose cuts know the class of every row"):
            mr.KDBClassifier(1, numeric="mdl", **wrong).fit(frame, y)


def test_what_was_chosen_may_be_fixed_and_then_adds_up():
    frame, y = with_noise(n=150, lost=0.1)
    model = mr.KDBClassifier(2, select=True).fit(frame, y)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match=r"models cannot be merged: select=True .* with_choices_fixed"):
        _ = model + model
    fixed = model.with_choices_fixed()
    assert np.array_equal(fixed.predict_proba(frame), model.predict_proba(frame))
    half = np.arange(150) < 75
    parts = [mr.KDBClassifier(**fixed.get_params(deep=False)).fit(frame[part], y[part]) for part in (half, ~half)]
    whole = mr.KDBClassifier(**fixed.get_params(deep=False)).fit(frame, y)
    np.testing.assert_allclose((parts[0] + parts[1]).predict_proba(frame), whole.predict_proba(frame), rtol=1e-12)


def test_the_cuts_that_were_chosen_without_the_class_stay_so():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"blood pressure": rng.normal(size=80), "age": rng.normal(size=80)})
    y = np.where(frame["age"] + rng.normal(size=80) > 0, "alt", "jung")
    model = mr.KDBClassifier(1, select=True).fit(frame, y)
    again = clone(model.with_choices_fixed()).fit(frame, y)
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_it_is_saved_and_explained(tmp_path):
    frame, y = with_noise(lost=0.2)
    model = mr.KDBClassifier(2, select=True, weights="conditional").fit(frame, y)
    model.save(tmp_path / "m.merula")
    again = mr.load(tmp_path / "m.merula")
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.left_out_log_loss_ == model.left_out_log_loss_
    assert mr.explain(model, frame.iloc[3]).posterior == pytest.approx(
        model.predict_proba(frame.iloc[[3]])[0], abs=1e-12
    )


def test_only_true_and_false_are_options():
    frame, y = with_noise()
    with pytest.raises(ValueError, match="select is 'yes', expected True or False"):
        mr.KDBClassifier(select="yes").fit(frame, y)
