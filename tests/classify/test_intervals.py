"""Intervals of P(class given row): closed forms of single terms, what they do not depend on, coverage by simulation, refusals."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone

import merula as mr
from merula.classify.intervals import ends_of

ILL = np.array(["gesund"] * 12 + ["krank"] * 8)


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(3)
    y = rng.choice(["gesund", "krank", "unklar"], 60)
    frame = pd.DataFrame(
        {
            "blood pressure": rng.normal(120, 12, 60) + 15 * (y == "krank"),
            "größe": rng.normal(171, 9, 60),
            "色泽": np.where(rng.random(60) < 0.4, "gelb", rng.choice(["rosa", "weiß"], 60)),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.08), y


def beta_ends(own, other, level=0.9):
    return stats.beta(own, other).ppf([(1 - level) / 2, (1 + level) / 2])


@pytest.mark.parametrize(("prior", "rows"), [("empirical", 0.5), ("laplace", 1.0)])
def test_the_class_prior_is_beta(prior, rows):
    model = mr.NaiveBayesClassifier(class_prior=prior).fit(pd.DataFrame({"色泽": ["gelb"] * 20}), ILL)
    found = model.predict_interval(pd.DataFrame({"色泽": [None]}), draws=8_000, random_state=0)
    np.testing.assert_allclose(found[0, 0], beta_ends(12 + rows, 8 + rows), atol=0.008)
    np.testing.assert_allclose(found[0, 1], beta_ends(8 + rows, 12 + rows), atol=0.008)


@pytest.mark.parametrize("prior", ["uniform", {"gesund": 0.9, "krank": 0.1}])
def test_a_class_prior_that_was_stated_is_not_drawn(prior):
    model = mr.NaiveBayesClassifier(class_prior=prior).fit(pd.DataFrame({"色泽": ["gelb", "rosa"] * 10}), ILL)
    found = model.predict_interval(pd.DataFrame({"色泽": [None]}), random_state=0)
    np.testing.assert_allclose(found[0], np.repeat(np.exp(model.class_log_prior_)[:, None], 2, axis=1), atol=1e-12)
    assert model.parameter_priors()[None] == "as stated, not drawn"


def test_one_table_by_integration():
    """P(krank given gelb) = b / (a + b) with two Beta shares a, b."""
    frame = pd.DataFrame({"色泽": ["gelb"] * 3 + ["rosa"] * 9 + ["gelb"] * 6 + ["rosa"] * 2})
    model = mr.NaiveBayesClassifier(class_prior="uniform").fit(frame, ILL)
    rng = np.random.default_rng(9)
    well, ill = rng.beta(4, 10, 400_000), rng.beta(7, 3, 400_000)
    expected = np.quantile(ill / (well + ill), [0.05, 0.95])
    found = model.predict_interval(pd.DataFrame({"色泽": ["gelb"]}), draws=8_000, random_state=1)
    np.testing.assert_allclose(found[0, 1], expected, atol=0.008)


def test_quantiles_are_those_of_numpy(monkeypatch):
    rng = np.random.default_rng(0)
    for draws in (2, 3, 7, 100, 501):
        answers = rng.normal(size=(draws, 37, 3)).round(1)
        monkeypatch.setattr("merula.classify.intervals.SORTED", 20 * draws)  # so that cells are sorted in several parts
        for share in (0.05, 0.001, 0.49):
            expected = np.quantile(answers, [share, 1 - share], axis=0, method="weibull")
            np.testing.assert_allclose(ends_of(answers, 1 - 2 * share), np.moveaxis(expected, 0, -1), atol=1e-14)


def test_the_same_seed_gives_the_same_bits_for_any_threads_and_rows_in_any_order(patients, monkeypatch):
    frame, y = patients
    model = mr.NaiveBayesClassifier(n_jobs=1).fit(frame, y)
    many = pd.concat([frame] * 8, ignore_index=True)
    monkeypatch.setattr("merula.classify.intervals.AT_ONCE", 3 * 60 * 100)  # so that rows are asked in several parts
    draws = 60
    one = model.predict_interval(many, draws=draws, random_state=5)
    order = np.random.default_rng(0).permutation(len(many))
    assert (model.predict_interval(many.iloc[order], draws=draws, random_state=5) == one[order]).all()
    assert (clone(model).set_params(n_jobs=2).fit(frame, y).predict_interval(many, draws=draws, random_state=5) == one).all()  # fmt: skip
    assert (model.predict_interval(frame, draws=200, random_state=5) != model.predict_interval(frame, draws=200, random_state=6)).any()  # fmt: skip


@pytest.mark.parametrize(
    "model",
    [mr.NaiveBayesClassifier(), mr.TANClassifier(distributions={"numeric": "gaussian"}), mr.NaiveBayesClassifier(distributions={"numeric": mr.Histogram(bins=4)}, missing="level")],
    ids=["naive", "tan", "histogram"],
)  # fmt: skip
def test_neither_the_order_of_columns_nor_a_constant_nor_a_scale_changes_anything(patients, model):
    frame, y = patients
    found = clone(model).fit(frame, y).predict_interval(frame, draws=60, random_state=0)
    for other in (
        frame[["色泽", "größe", "blood pressure"]],
        frame.assign(Land="DE"),
        frame.assign(**{"blood pressure": frame["blood pressure"] * 1024 + 4096}),
    ):
        again = clone(model).fit(other, y).predict_interval(other, draws=60, random_state=0)
        np.testing.assert_allclose(again, found, atol=1e-7)


def test_a_weight_of_two_equals_the_row_twice(patients):
    frame, y = patients
    twice = np.arange(len(y)) % 3 == 0
    weighted = mr.NaiveBayesClassifier().fit(frame, y, sample_weight=1 + twice)
    repeated = mr.NaiveBayesClassifier().fit(pd.concat([frame, frame[twice]]), np.concatenate([y, y[twice]]))
    one, other = (model.predict_interval(frame, draws=80, random_state=0) for model in (weighted, repeated))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_wider_levels_hold_narrower_ones_and_more_rows_narrow_them(patients):
    frame, y = patients
    model = mr.NaiveBayesClassifier().fit(frame, y)
    half, most = (model.predict_interval(frame, level, draws=300, random_state=0) for level in (0.5, 0.95))
    assert (most[..., 0] <= half[..., 0]).all() and (half[..., 1] <= most[..., 1]).all()
    more = mr.NaiveBayesClassifier().fit(pd.concat([frame] * 20), np.tile(y, 20))
    width = [np.diff(one.predict_interval(frame, draws=200, random_state=0)).mean() for one in (model, more)]
    assert width[1] < 0.4 * width[0]


def test_merged_and_saved_models_are_as_sure(patients, tmp_path):
    frame, y = patients
    whole = mr.NaiveBayesClassifier(kinds={"色泽": "categorical"}).fit(frame, y)
    parts = clone(whole).partial_fit(frame[:25], y[:25]).partial_fit(frame[25:], y[25:])
    expected = whole.predict_interval(frame, draws=50, random_state=0)
    np.testing.assert_allclose(parts.predict_interval(frame, draws=50, random_state=0), expected, atol=1e-9)
    whole.save(tmp_path / "m.merula")
    assert (mr.load(tmp_path / "m.merula").predict_interval(frame, draws=50, random_state=0) == expected).all()


def test_one_row_of_a_class_and_huge_and_tiny_numbers():
    frame = pd.DataFrame({"Umsatz": [1e12, 1.1e12, 1e12, 9e11, 1e12], "Spur": [1e-9, 2e-9, 1e-9, 3e-9, 5e-9]})
    for y in (list("aaaab"), list("aabbc")):
        found = mr.NaiveBayesClassifier().fit(frame, y).predict_interval(frame, random_state=0)
        assert np.isfinite(found).all() and (found >= 0).all() and (found <= 1).all()
    pair = mr.NaiveBayesClassifier().fit(frame[:2], ["a", "b"]).predict_interval(frame, random_state=0)
    assert np.isfinite(pair).all() and (np.diff(pair) > 0.3).all()  # two rows tell nothing


def test_levels_never_seen_are_as_in_predict(patients):
    frame, y = patients
    model = mr.NaiveBayesClassifier().fit(frame, y)
    with pytest.warns(mr.UnseenLevelWarning, match="色泽"):
        odd = model.predict_interval(pd.DataFrame({"blood pressure": [None], "größe": [None], "色泽": ["grün"]}), random_state=0)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        none = model.predict_interval(pd.DataFrame({"blood pressure": [None], "größe": [None], "色泽": [None]}), random_state=0)  # fmt: skip
    assert (odd == none).all()


@pytest.mark.parametrize(("options", "why"), [({"level": 1}, "level is 1"), ({"level": "wide"}, "level is 'wide'"), ({"draws": 1}, "draws is 1"), ({"draws": 2.5}, "draws is 2.5")])  # fmt: skip
def test_options_that_make_no_sense(patients, options, why):
    frame, y = patients
    with pytest.raises(mr.InputError, match=why):
        mr.NaiveBayesClassifier().fit(frame, y).predict_interval(frame, **options)


class Rounded(mr.Gaussian):
    """A family of the user's own, which says nothing of its posterior."""

    name = "rounded"

    def posterior(self, statistic, setting):
        return mr.BaseFamily.posterior(self, statistic, setting)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (mr.NaiveBayesClassifier(weights="conditional"), "its weights come from all rows together"),
        (mr.AODEClassifier(weights="out-of-fold"), "its weights come from all rows together"),
        (mr.LogLinearClassifier(max_rounds=3), "its weights come from all rows together"),
        (mr.NearestNeighborsClassifier(), "answers by the rows themselves"),
        (mr.KernelBayesClassifier(), "the rows themselves and bandwidths"),
        (mr.NaiveBayesClassifier(distributions={"größe": "mixture"}), "column 'größe'.*expectation-maximisation"),
        (mr.NaiveBayesClassifier(distributions={"größe": Rounded()}), "column 'größe'.*defines no posterior"),
        (mr.BayesClassifier(), "expectation-maximisation"),
        (mr.BayesianNetworkClassifier(method="chow-liu"), "expectation-maximisation"),
        (mr.TANClassifier(numeric="gaussian"), "a rule that is no prior"),
    ],
)
def test_what_has_no_posterior_says_so(patients, model, why):
    frame, y = patients
    fitted = clone(model).fit(frame, y)
    with pytest.raises(mr.InputError, match=why):
        fitted.predict_interval(frame)
    with pytest.raises(mr.InputError, match=why):
        fitted.parameter_priors()


def test_rows_without_a_class(patients):
    frame, y = patients
    model = mr.NaiveBayesClassifier().fit(frame[:40], y[:40], unlabelled=frame[40:], unlabelled_weight=1)
    with pytest.raises(mr.InputError, match="rows without a class.*expectation-maximisation"):
        model.predict_interval(frame)
    left_out = mr.NaiveBayesClassifier().fit(frame[:40], y[:40], unlabelled=frame[40:], unlabelled_weight=0)
    plain = mr.NaiveBayesClassifier().fit(frame[:40], y[:40])
    assert (left_out.predict_interval(frame, draws=20, random_state=0) == plain.predict_interval(frame, draws=20, random_state=0)).all()  # fmt: skip
    with pytest.raises(mr.InputError, match="unlabelled= is not for estimate='predictive'"):
        mr.NaiveBayesClassifier(estimate="predictive").fit(frame[:40], y[:40], unlabelled=frame[40:])


def test_shared_rows_are_not_taken_for_counted_ones_whatever_became_of_the_model(patients, tmp_path):
    frame, y = patients
    model = mr.NaiveBayesClassifier().fit(frame[:40], y[:40], unlabelled=frame[40:], unlabelled_weight=1)
    plain = mr.NaiveBayesClassifier().fit(frame[:40], y[:40])
    model.faded(0.5).save(tmp_path / "half.merula")
    learned_on = mr.load(tmp_path / "half.merula").partial_fit(frame[:40], y[:40])
    for found in (model.faded(0.5), model + plain, plain + model, model.with_class_prior("uniform"), learned_on):
        with pytest.raises(mr.InputError, match="rows without a class.*expectation-maximisation"):
            found.predict_interval(frame)
        with pytest.raises(mr.InputError, match="rows without a class.*expectation-maximisation"):
            mr.explain(found, frame.iloc[0], interval=True)
    without = ((model + plain) - model).predict_interval(frame, draws=20, random_state=0)
    np.testing.assert_allclose(without, plain.predict_interval(frame, draws=20, random_state=0), atol=1e-9)


@pytest.mark.parametrize("seed", ["Montag", -1, 1.5])
def test_what_is_no_seed_is_refused_in_one_sentence(patients, seed):
    frame, y = patients
    model = mr.NaiveBayesClassifier().fit(frame, y)
    for asked in (
        model.predict_interval,
        lambda rows, random_state: mr.monitor(model, rows, random_state=random_state),
    ):
        with pytest.raises(mr.InputError, match="random_state is .*, expected None, a whole number from 0"):
            asked(frame, random_state=seed)


def test_more_draws_than_memory_holds_are_refused(patients):
    frame, y = patients
    model = mr.NaiveBayesClassifier().fit(frame, y)
    with pytest.raises(mr.InputError, match="draws is 1000000000, expected a whole number from 2 to 1,000,000"):
        model.predict_interval(frame, draws=10**9)


def test_probabilities_that_were_stated_are_as_sure_as_can_be():
    fruit = {"Apfel": {"rot": 0.5, "grün": 0.5}, "Kirsche": {"rot": 1.0, "grün": 0.0}}
    model = mr.NaiveBayesClassifier.from_tables({"Apfel": 0.5, "Kirsche": 0.5}, {"Farbe": fruit})
    with pytest.raises(mr.InputError, match="stated, not counted"):
        model.predict_interval([["rot"]])


# ---------------------------------------------------------------------------------------------------------- coverage


def truth_from_prior(rng):
    """Two classes with one column of three levels and two of numbers, from the prior that `parameter_priors` states."""
    variance = 3 / rng.chisquare(3, (2, 2))
    return rng.dirichlet([1, 1]), rng.dirichlet([1, 1, 1], 2), rng.normal(size=(2, 2)) * np.sqrt(variance / 0.1), variance  # fmt: skip


def posterior_of(truth, level, numbers):
    prior, table, mean, variance = truth
    logs = np.log(prior * table[:, level]) + stats.norm(mean, np.sqrt(variance)).logpdf(numbers).sum(axis=1)
    return 1 / (1 + np.exp(logs[1] - logs[0]))


def test_nine_of_ten_intervals_hold_what_truths_from_their_prior_say():
    rng, hits, asked = np.random.default_rng(11), 0, 0
    while asked < 150:
        truth = truth_from_prior(rng)
        y = rng.choice(2, 30, p=truth[0])
        numbers = rng.normal(truth[2][y], np.sqrt(truth[3][y]))
        levels = np.array([rng.choice(3, p=truth[1][label]) for label in y])
        rows = np.column_stack([levels, numbers])
        model = mr.NaiveBayesClassifier(kinds={"x0": "categorical", "x1": "numeric", "x2": "numeric"}, levels={"x0": [0.0, 1.0, 2.0]}, class_prior="laplace", n_jobs=1)  # fmt: skip
        model.partial_fit(rows, y, classes=[0, 1])
        if 1e-6 < model.predict_proba(rows[:1])[0, 0] < 1 - 1e-6:
            low, high = model.predict_interval(rows[:1], draws=100, random_state=asked)[0, 0]
            hits, asked = hits + (low <= posterior_of(truth, levels[0], numbers[0]) <= high), asked + 1
    assert stats.binomtest(hits, asked, 0.9).pvalue > 0.001, hits / asked
