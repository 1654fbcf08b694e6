"""Any batching, any merge: what must come out the same, and what must be refused."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.distributions.gaussian import GaussianDistribution
from merula.stats import Moments

RNG = np.random.default_rng(3)
SPECIES = np.array(["Amsel", "Drossel"] * 20)
LENGTH = RNG.normal(25, 2, 40) + (SPECIES == "Amsel")
BOTH = pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.BayesClassifier])


def birds() -> pd.DataFrame:
    nest = np.where(RNG.random(40) < 0.2, None, np.array(["Hecke", "Baum"])[RNG.integers(0, 2, 40)])
    return pd.DataFrame({"length": LENGTH, "nest": nest})


@BOTH
def test_a_missing_level_beside_declared_levels_is_one_level_in_any_batching(kind):
    table, options = birds(), {"missing": "level", "levels": {"nest": ["Hecke", "Baum"]}}
    whole = kind(**options).fit(table, SPECIES)
    batches = kind(**options).fit(table[:20], SPECIES[:20]).partial_fit(table[20:], SPECIES[20:])
    complete = table["nest"].notna().to_numpy()
    merged = kind(**options).fit(table[complete], SPECIES[complete]) + kind(**options).fit(
        table[~complete], SPECIES[~complete]
    )
    for model in (batches, merged):
        assert model.schema_["nest"].levels == ("Hecke", "Baum", None)
        assert model.parameters_count == whole.parameters_count
        np.testing.assert_allclose(model.predict_proba(table), whole.predict_proba(table), rtol=1e-9)


@BOTH
def test_columns_merge_by_name_in_any_order(kind):
    table = birds()
    merged = kind().fit(table[:20], SPECIES[:20]) + kind().fit(table[["nest", "length"]][20:], SPECIES[20:])
    np.testing.assert_allclose(merged.predict_proba(table), kind().fit(table, SPECIES).predict_proba(table), rtol=1e-9)


@BOTH
def test_a_thousand_small_batches_far_from_zero_keep_twelve_digits(kind):
    x, y = RNG.normal(1e9, 1, (2000, 1)), np.arange(2000) % 2
    whole, stream = kind().fit(x, y), kind()
    for start in range(0, 2000, 2):
        stream.partial_fit(x[start : start + 2], y[start : start + 2])
    expected = np.array([x[y == label].var() for label in (0, 1)])
    for model in (whole, stream):
        part = model.distributions_[0]
        variance = part.variance[:, 0] if kind is mr.NaiveBayesClassifier else part.covariance[:, 0, 0]
        np.testing.assert_allclose(variance, expected, rtol=1e-12)


def test_equal_options_merge_however_they_are_written():
    words = [["rot"], ["blau"], ["rot"], ["blau"]]
    one = mr.NaiveBayesClassifier(smoothing=1, levels={"x0": ("rot", "blau")}).fit(words, [0, 1, 1, 0])
    two = mr.NaiveBayesClassifier(smoothing=1.0, levels={"x0": ["rot", "blau"]}).fit(words, [0, 1, 1, 0])
    np.testing.assert_allclose((one + two).predict_proba([["rot"]]), [[0.5, 0.5]])


def test_different_beliefs_do_not_merge_though_they_print_alike():
    levels = [str(number) for number in range(1500)]
    even = np.full((2, 1500), 1 / 1500)
    other = even.copy()
    other[:, 700], other[:, 701] = 0, 2 / 1500
    models = [
        mr.NaiveBayesClassifier(smoothing=mr.MEstimate(2, p), levels={"x0": levels}).fit([["1"], ["2"]], [0, 1])
        for p in (even, other)
    ]
    assert repr(models[0].smoothing) == repr(models[1].smoothing)
    with pytest.raises(ValueError, match="cannot be merged: smoothing"):
        models[0] + models[1]


def test_classes_of_different_types_do_not_merge():
    x = LENGTH[:, None]
    model = mr.NaiveBayesClassifier().partial_fit(x, np.arange(40) % 2)
    for other in (SPECIES, (np.arange(40) % 2).astype("M8[D]")):
        with pytest.raises(ValueError, match="different types"):
            model.partial_fit(x, other)


@dataclass(frozen=True)
class Gaussian(mr.BaseFamily):
    """A user's family that happens to be called like merula's own."""

    variance: object = None
    name: ClassVar[str] = "mine"
    distribution: ClassVar[type] = GaussianDistribution
    statistic: ClassVar[type] = Moments

    def build(self, statistic, setting):
        return mr.Gaussian("unbiased").build(statistic, setting)


def test_families_are_told_apart_by_what_they_are_not_by_their_name():
    model = mr.NaiveBayesClassifier(distributions={"x1": Gaussian()}).fit(np.c_[LENGTH, LENGTH], SPECIES)
    biased, unbiased = (part.variance[0, 0] for part in model.distributions_)
    np.testing.assert_allclose([biased, unbiased], [LENGTH[::2].var(), LENGTH[::2].var(ddof=1)])


def test_an_option_changed_between_batches_is_an_error():
    model = mr.NaiveBayesClassifier().partial_fit(np.arange(8.0)[:, None], [0, 1] * 4)
    with pytest.raises(ValueError, match="kinds was None at the first batch"):
        model.set_params(kinds="categorical").partial_fit(np.arange(8.0)[:, None], [0, 1] * 4)


def test_an_empty_first_batch_does_not_decide_what_a_column_is():
    table = pd.DataFrame({"note": pd.Series([None] * 4 + [1.5, 2.5, 3.0, 4.0], dtype=object)})
    with pytest.raises(ValueError, match="'note' is empty in the first batch.*kinds="):
        mr.NaiveBayesClassifier().partial_fit(table[:4], [0, 1] * 2)
    stream = (
        mr.NaiveBayesClassifier(kinds={"note": "numeric"})
        .partial_fit(table[:4], [0, 1] * 2)
        .partial_fit(table[4:], [0, 1] * 2)
    )
    whole = mr.NaiveBayesClassifier().fit(table, [0, 1] * 4)
    np.testing.assert_allclose(stream.predict_proba(table), whole.predict_proba(table))


def test_a_stated_prior_may_name_classes_to_come():
    x, y = LENGTH[:, None], np.arange(40) % 2
    prior = {0: 0.3, 1: 0.7}
    stream = (
        mr.NaiveBayesClassifier(class_prior=prior).partial_fit(x[y == 0], y[y == 0]).partial_fit(x[y == 1], y[y == 1])
    )
    whole = mr.NaiveBayesClassifier(class_prior=prior).fit(x, y)
    np.testing.assert_allclose(stream.predict_proba(x), whole.predict_proba(x), rtol=1e-12)


def test_an_unseen_class_does_not_change_a_shared_covariance():
    x, y = RNG.normal(size=(30, 3)), np.arange(30) % 2
    options = {"covariance": "shared", "variance": "unbiased", "shrinkage": 0}
    with_third = mr.BayesClassifier(**options).partial_fit(x, y, classes=[0, 1, 2])
    expected = (
        sum(
            (x[y == label] - x[y == label].mean(axis=0)).T @ (x[y == label] - x[y == label].mean(axis=0))
            for label in (0, 1)
        )
        / 28
    )
    np.testing.assert_allclose(with_third.distributions_[0].covariance[0], expected, rtol=1e-12)
