"""What is drawn of parameters is distributed as closed forms and SciPy say; what is averaged out is Student's t and the tables' means."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import merula as mr
from merula.classify.intervals import block_posterior
from merula.distributions.gaussian import PRIOR_FREEDOM, PRIOR_ROWS
from merula.distributions.posteriors import log_gammas, log_shares

DRAWS = 4_000
SURE = 0.001  # p of a Kolmogorov–Smirnov test below this is no chance: seeds are fixed


def drawn(model, column, count=DRAWS, seed=0):
    """Distributions drawn of the block that holds a column."""
    plan, collected = model.fitted_.plan, model.fitted_.collected
    k = next(k for k, block in enumerate(plan.blocks) if column in block.columns)
    setting = model._setting(plan, collected, plan.blocks[k])
    found = block_posterior(plan.blocks[k], collected.blocks[k], setting)
    return list(itertools.islice(found.draws(np.random.default_rng(seed)), count))


def agrees(values, distribution):
    assert stats.kstest(np.asarray(values), distribution.cdf).pvalue > SURE


def test_logs_of_gammas_too_small_for_a_number():
    logs = log_gammas(np.full(DRAWS, 1e-3), np.random.default_rng(0))
    assert np.isfinite(logs).all() and (logs < -745).mean() > 0.3
    agrees(logs, stats.loggamma(1e-3))
    assert np.isneginf(log_gammas(np.zeros(3), np.random.default_rng(0))).all()


def test_shares_are_dirichlet():
    shares = np.exp(log_shares(np.tile([2.0, 0.5, 7.5], (DRAWS, 1)), np.random.default_rng(1)))
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    for k, rows in enumerate([2.0, 0.5, 7.5]):
        agrees(shares[:, k], stats.beta(rows, 10 - rows))


@pytest.mark.parametrize(("smoothing", "imagined"), [(1, 1.0), (0.25, 0.25), (0, 0.5), (mr.MEstimate(3), 1.0)])
def test_tables_are_dirichlet_with_what_is_counted_and_imagined(smoothing, imagined):
    cells = [["gelb"]] * 5 + [["rosa"]] * 2 + [["weiß"]] * 3 + [["gelb"]]
    model = mr.NaiveBayesClassifier(smoothing=smoothing).fit(cells, ["krank"] * 10 + ["gesund"])
    tables = np.exp([one.log_table[0][:3] for one in drawn(model, "x0")])  # gelb, rosa, weiß × gesund, krank
    for level, counts in enumerate([(1, 5), (0, 2), (0, 3)]):
        for label, whole in enumerate((1, 10)):
            own, rest = counts[label] + imagined, whole - counts[label] + 2 * imagined
            agrees(tables[:, level, label], stats.beta(own, rest))


def test_unsmoothed_tables_state_jeffreys():
    model = mr.NaiveBayesClassifier(smoothing=0).fit([["gelb"], ["rosa"]], ["krank", "gesund"])
    assert "0.5" in model.parameter_priors()["x0"] and "Jeffreys" in model.parameter_priors()["x0"]


def posterior_by_integration(values, count=200_001):
    """Quantiles of the mean of the one class that tells of it, place and scale integrated out by importance sampling."""
    rng = np.random.default_rng(5)
    scale = np.exp(rng.uniform(-8, 8, count))
    variance = PRIOR_FREEDOM * scale / rng.chisquare(PRIOR_FREEDOM, (len(values), count))
    place = rng.uniform(-60, 60, count)
    log_weight = np.zeros(count)
    for own, spread in zip(values, variance, strict=True):
        n, squares = len(own), ((own - own.mean()) ** 2).sum()
        log_weight += -0.5 * (n - 1) * np.log(spread) - squares / (2 * spread)
        log_weight += stats.norm.logpdf(own.mean(), place, np.sqrt(spread * (1 / PRIOR_ROWS + 1 / n)))
    weight = np.exp(log_weight - log_weight.max())
    return variance, weight / weight.sum()


def test_variances_of_normal_columns_are_those_of_direct_integration():
    one, other = np.array([1.0, 2.5, 0.3, 1.4]), np.array([4.0, 9.0, 6.5])
    frame = pd.DataFrame({"Blutdruck": np.concatenate([one, other])})
    model = mr.NaiveBayesClassifier().fit(frame, ["gesund"] * 4 + ["krank"] * 3)
    found = np.log([part.variance[:, 0] for part in drawn(model, "Blutdruck", 12_000)])
    variance, weight = posterior_by_integration([one, other])
    for label in range(2):
        order = np.argsort(variance[label])
        reached = np.cumsum(weight[order])
        for share in (0.1, 0.5, 0.9):
            expected = np.log(variance[label][order[np.searchsorted(reached, share)]])
            assert abs(np.quantile(found[:, label], share) - expected) < 0.12


def test_means_of_many_rows_are_normal_about_their_average():
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.normal(120, 12, 400), rng.normal(140, 5, 300)])
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"Blutdruck": values}), [0] * 400 + [1] * 300)
    means = np.array([part.mean[:, 0] for part in drawn(model, "Blutdruck")])
    variances = np.array([part.variance[:, 0] for part in drawn(model, "Blutdruck")])
    for label, own in enumerate((values[:400], values[400:])):
        n = len(own)
        assert abs(means[:, label].mean() - own.mean()) < 0.1 * own.std()
        assert abs(means[:, label].std() / (own.std() / np.sqrt(n)) - 1) < 0.05
        assert abs(variances[:, label].std() / (own.var() * np.sqrt(2 / n)) - 1) < 0.08


def test_joint_normal_columns_of_many_rows():
    rng = np.random.default_rng(3)
    covariance = np.array([[4.0, 3.0], [3.0, 9.0]])
    rows = np.concatenate([rng.multivariate_normal([0, 0], covariance, 500), rng.normal(3, 1, (500, 2))])
    model = mr.BayesClassifier(shrinkage=0).fit(pd.DataFrame(rows, columns=["größe", "Gewicht"]), [0] * 500 + [1] * 500)
    found = np.array([part.covariance[0] for part in drawn(model, "größe", 2_000)])
    own = np.cov(rows[:500].T, bias=True)
    np.testing.assert_allclose(found.mean(axis=0), own, rtol=0.05)
    expected = np.sqrt((own**2 + np.outer(np.diag(own), np.diag(own))) / 500)  # of an inverse Wishart of many rows
    np.testing.assert_allclose(found.std(axis=0), expected, rtol=0.1)


def test_poisson_means_are_gamma():
    goals = pd.DataFrame({"Tore": [0, 1, 0, 2, 4, 3, 5]})
    model = mr.NaiveBayesClassifier(distributions={"numeric": mr.Poisson()}).fit(goals, list("aaabbbb"))
    means = np.array([part.mean[:, 0] for part in drawn(model, "Tore")])
    m = 15 / 7
    agrees(means[:, 0], stats.gamma(1 + m, scale=1 / 4))
    agrees(means[:, 1], stats.gamma(14 + m, scale=1 / 5))


def test_a_joint_table_lists_cells_never_met():
    rows = [["gelb", "rund"], ["gelb", "eckig"], ["rosa", "rund"], ["gelb", "rund"]]
    model = mr.BayesClassifier().fit(rows, ["ja", "ja", "nein", "ja"])
    tables = drawn(model, "x0")
    cells = np.exp([table.log_cell[:, 0] for table in tables])  # of "ja": gelb/rund twice, gelb/eckig once
    where = {tuple(cell): k for k, cell in enumerate(tables[0].cells.tolist())}
    assert len(where) == 4
    agrees(cells[:, where[0, 1]], stats.beta(3, 4))  # eckig comes before rund
    agrees(cells[:, where[1, 0]], stats.beta(1, 6))


def test_backed_off_tables_shrink_towards_the_drawn_ones_above():
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"beak": rng.choice(["kurz", "lang"], 300), "colour": rng.choice(["grau", "rot", "blau"], 300)})
    model = mr.TANClassifier().fit(rows, rng.choice([0, 1], 300))
    found = np.exp([table.log_table[1] for table in drawn(model, "beak", 1_000)])
    plug_in = np.exp(model.distributions_[0].log_table[1])
    np.testing.assert_allclose(found.mean(axis=0), plug_in, atol=0.02)


# ------------------------------------------------------------------------------------------------------- averaged out


def test_a_predictive_normal_column_is_students_t():
    pressure = pd.DataFrame({"Blutdruck": [110.0, 125, 118, 160, 142, np.nan]})
    model = mr.NaiveBayesClassifier(estimate="predictive").fit(pressure, ["gesund"] * 3 + ["krank"] * 3)
    (part,) = model.distributions_
    asked = np.array([90.0, 118.3, 250.0])
    expected = stats.t(part.freedom[:, 0], part.mean[:, 0], np.sqrt(part.scale[:, 0])).logpdf(asked[:, None])
    np.testing.assert_allclose(model.terms(pd.DataFrame({"Blutdruck": asked}))["Blutdruck"], expected, rtol=1e-12)
    assert part.freedom.ravel().tolist() == [PRIOR_FREEDOM + 3, PRIOR_FREEDOM + 2]


def test_students_t_of_the_conjugate_prior_by_its_formula():
    values = np.array([1.0, 2.0, 4.0, 5.0, 10.0, 12.0, 17.0])
    model = mr.NaiveBayesClassifier(estimate="predictive").fit(values[:, None], [0] * 4 + [1] * 3)
    (part,) = model.distributions_
    usual, place = None, values.mean()
    for label, own in enumerate((values[:4], values[4:])):
        n, squares = len(own), ((own - own.mean()) ** 2).sum()
        towards = PRIOR_ROWS * n / (PRIOR_ROWS + n) * (own.mean() - place) ** 2
        scale = part.scale[label, 0] / (1 + 1 / (PRIOR_ROWS + n)) * (PRIOR_FREEDOM + n)
        found = (scale - squares - towards) / PRIOR_FREEDOM  # s², the same for both
        assert usual is None or abs(found / usual - 1) < 1e-9
        usual = found
        assert abs(part.mean[label, 0] - (PRIOR_ROWS * place + n * own.mean()) / (PRIOR_ROWS + n)) < 1e-12
    squares = [((own - own.mean()) ** 2).sum() for own in (values[:4], values[4:])]
    harmonic = 2 / sum((n - 1 + PRIOR_FREEDOM) / (s + PRIOR_FREEDOM * usual) for n, s in zip((4, 3), squares, strict=True))  # fmt: skip
    assert abs(usual / harmonic - 1) < 1e-9


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_predictive_joint_normal_columns_are_a_multivariate_t_of_what_is_known(covariance):
    rng = np.random.default_rng(6)
    rows = pd.DataFrame(rng.normal(size=(30, 3)) @ rng.normal(size=(3, 3)), columns=["größe", "Gewicht", "Puls"])
    model = mr.BayesClassifier(covariance=covariance, shrinkage=0, estimate="predictive").fit(rows, ["a", "b"] * 15)
    (part,) = model.distributions_
    asked = rows[:4].copy()
    asked.iloc[1, 0] = asked.iloc[2, [0, 2]] = np.nan
    terms = model.terms(asked)[tuple(rows.columns)]
    inverse = np.linalg.inv(part.whitening)
    for label in range(2):
        shape = inverse[label].T @ inverse[label] * np.outer(part.unit, part.unit)
        place = part.centre + part.unit * part.mean[label]
        for row, x in enumerate(asked.to_numpy()):
            known = ~np.isnan(x)
            t = stats.multivariate_t(place[known], shape[np.ix_(known, known)], part.freedom[label])
            assert abs(terms[row, label] - t.logpdf(x[known])) < 1e-9


def test_predictive_columns_average_the_draws():
    """The mean density of models drawn, but for where the column lies and its scale, which t takes as most probable."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"Blutdruck": rng.normal(120, 10, 60), "色泽": rng.choice(["gelb", "rosa"], 60), "Tore": rng.poisson(2, 60)})  # fmt: skip
    options = {"distributions": {"Tore": mr.Poisson()}}
    y = rng.choice(["gesund", "krank"], 60)
    plug_in = mr.NaiveBayesClassifier(**options).fit(frame, y)
    averaged = mr.NaiveBayesClassifier(**options, estimate="predictive").fit(frame, y)
    asked = pd.DataFrame({"Blutdruck": [118.0, 134.0], "色泽": ["gelb", "rosa"], "Tore": [0, 7]})
    encoded = plug_in._encoded(asked)
    for column in frame:
        found = np.mean([np.exp(part.log_prob(encoded)) for part in drawn(plug_in, column)], axis=0)
        np.testing.assert_allclose(np.exp(averaged.terms(asked)[column]), found, rtol=0.08)


def test_predictive_class_prior_is_the_mean_under_jeffreys():
    model = mr.NaiveBayesClassifier(estimate="predictive").fit([["gelb"]] * 4, ["a", "a", "a", "b"])
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [3.5 / 5, 1.5 / 5])
    again = model.with_class_prior("uniform").with_class_prior("empirical")
    np.testing.assert_allclose(again.class_log_prior_, model.class_log_prior_)


@pytest.mark.parametrize(
    ("family", "why"),
    [("mixture", "expectation-maximisation"), ("kernel", "the values themselves"), (mr.NegativeBinomial(), "no closed form")],
)  # fmt: skip
def test_families_that_cannot_average_say_why(family, why):
    frame = pd.DataFrame({"Blutdruck": [1.0, 2, 3, 4, 5, 6]})
    model = mr.NaiveBayesClassifier(distributions={"Blutdruck": family}, estimate="predictive")
    with pytest.raises(mr.InputError, match=f"column 'Blutdruck'.*{why}"):
        model.fit(frame, [0, 1] * 3)


def test_options_that_averaging_leaves_nothing_to():
    frame = pd.DataFrame({"Blutdruck": [1.0, 2, 3, 4]})
    for options, why in (
        ({"variance": "unbiased"}, "does nothing with estimate='predictive'"),
        ({"weights": "conditional"}, "averages parameters out"),
        ({"distributions": "auto"}, "is 'auto'"),
    ):
        with pytest.raises(mr.InputError, match=why):
            mr.NaiveBayesClassifier(estimate="predictive", **options).fit(frame, [0, 1] * 2)
    with pytest.raises(mr.InputError, match="estimate is 'bayes'"):
        mr.NaiveBayesClassifier(estimate="bayes").fit(frame, [0, 1] * 2)
