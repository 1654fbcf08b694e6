"""A user's own distribution, written from public names only: fitted, streamed, merged, sampled, saved and loaded."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

import merula as mr
from merula.stats import Moments, Wanted


@dataclass(frozen=True, eq=False)
class ExponentialDistribution(mr.Distribution):
    """log p(x given c) = log rate − rate·x, per class and column."""

    columns: tuple[str, ...]
    rate: np.ndarray

    def log_prob(self, rows):
        x = rows.values(self.columns).astype(np.float64)[:, None, :]
        terms = np.where(x < 0, -np.inf, np.log(self.rate) - self.rate * x)
        return np.where(np.isnan(x), 0.0, terms).sum(axis=2)

    def factors(self):
        return tuple(ExponentialDistribution((name,), self.rate[:, [j]]) for j, name in enumerate(self.columns))

    @property
    def parameters_count(self):
        return self.rate.size

    def sample(self, classes, rng):
        return {name: rng.exponential(1 / self.rate[classes, j]) for j, name in enumerate(self.columns)}


@dataclass(frozen=True)
class Exponential(mr.BaseFamily):
    """The family of waiting times; `pseudo_rows` imaginary rows of mean 1 are added."""

    pseudo_rows: float = 0.0
    name: ClassVar[str] = "exponential"
    kinds: ClassVar[tuple[str, ...]] = ("numeric",)
    distribution: ClassVar[type[mr.Distribution]] = ExponentialDistribution

    def wanted(self, columns):
        return Wanted(Moments, columns)

    def build(self, statistic, setting):
        assert isinstance(setting, mr.Setting)
        weight = statistic.weight + self.pseudo_rows
        return ExponentialDistribution(
            statistic.columns, weight / (statistic.weight * statistic.mean + self.pseudo_rows)
        )


RNG = np.random.default_rng(47)
N = 400
Y = RNG.choice(["busy", "quiet"], N)
WAITS = pd.DataFrame(
    {
        "waiting time": RNG.exponential(np.where(Y == "busy", 1.0, 4.0)),
        "call length": RNG.exponential(np.where(Y == "busy", 3.0, 2.0)),
        "色泽": RNG.choice(["乌黑", "浅白"], N),
    }
)
WAITS.loc[RNG.random(N) < 0.1, "call length"] = np.nan
TIMES = ["waiting time", "call length"]


def fitted(**options):
    return mr.NaiveBayesClassifier(distributions={"numeric": Exponential(**options)}).fit(WAITS, Y)


def expected_joint(pseudo_rows=0.0):
    """log P(class) + exponential densities by SciPy + smoothed shares of the colour."""
    columns = []
    for label in ("busy", "quiet"):
        own = WAITS[label == Y]
        total = np.full(N, np.log(len(own) / N))
        for name in TIMES:
            times = own[name].dropna()
            scale = (times.sum() + pseudo_rows) / (len(times) + pseudo_rows)
            total += np.nan_to_num(scipy_stats.expon(scale=scale).logpdf(WAITS[name]))
        total += [np.log(((own["色泽"] == cell).sum() + 1) / (len(own) + 2)) for cell in WAITS["色泽"]]
        columns.append(total)
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("pseudo_rows", [0.0, 5.0])
def test_a_fitted_model_is_scipys(pseudo_rows):
    model = fitted(pseudo_rows=pseudo_rows)
    np.testing.assert_allclose(model.predict_joint_log_proba(WAITS), expected_joint(pseudo_rows), rtol=1e-11)


def test_terms_are_given_for_each_column():
    model = fitted()
    terms = model.terms(WAITS)
    assert set(terms) == {"waiting time", "call length", "色泽"}
    busy = WAITS.loc[Y == "busy", "waiting time"]
    np.testing.assert_allclose(
        terms["waiting time"][:, 0], scipy_stats.expon(scale=busy.mean()).logpdf(WAITS["waiting time"]), rtol=1e-11
    )


def test_for_one_column_only():
    model = mr.NaiveBayesClassifier(distributions={"waiting time": Exponential()}).fit(WAITS, Y)
    kinds = {part.columns: type(part).__name__ for part in model.distributions_}
    assert kinds[("waiting time",)] == "ExponentialDistribution"
    assert kinds[("call length",)] == "GaussianDistribution"


def test_batches_and_sums():
    whole = fitted().predict_joint_log_proba(WAITS)
    streamed = mr.NaiveBayesClassifier(distributions={"numeric": Exponential()})
    for start in range(0, N, 150):
        streamed.partial_fit(WAITS[start : start + 150], Y[start : start + 150])
    halves = [
        mr.NaiveBayesClassifier(distributions={"numeric": Exponential()}).fit(WAITS[start::2], Y[start::2])
        for start in (0, 1)
    ]
    for model in (streamed, halves[0] + halves[1]):
        np.testing.assert_allclose(model.predict_joint_log_proba(WAITS), whole, rtol=1e-11)


def test_save_and_load(tmp_path):
    model = fitted(pseudo_rows=5.0)
    model.save(tmp_path / "calls.merula")
    again = mr.load(tmp_path / "calls.merula", families=[Exponential])
    assert again.predict_joint_log_proba(WAITS).tobytes() == model.predict_joint_log_proba(WAITS).tobytes()
    assert again.distributions == {"numeric": Exponential(pseudo_rows=5.0)}
    more = again.partial_fit(WAITS[:50], Y[:50])
    expected = mr.NaiveBayesClassifier(distributions={"numeric": Exponential(5.0)}).fit(
        pd.concat([WAITS, WAITS[:50]]), np.r_[Y, Y[:50]]
    )
    np.testing.assert_allclose(more.predict_joint_log_proba(WAITS), expected.predict_joint_log_proba(WAITS), rtol=1e-11)


@pytest.mark.parametrize("families", [(), [mr.Gaussian]])
def test_a_file_cannot_bring_the_family_along(tmp_path, families):
    fitted().save(tmp_path / "calls.merula")
    with pytest.raises(ValueError, match=r"calls.merula uses the distribution 'exponential'.*families="):
        mr.load(tmp_path / "calls.merula", families=families)


def test_parameters_are_scikit_learns():
    model = fitted(pseudo_rows=2.0)
    assert model.get_params()["distributions__numeric__pseudo_rows"] == 2.0
    model.set_params(distributions__numeric__pseudo_rows=5.0).fit(WAITS, Y)
    np.testing.assert_allclose(model.predict_joint_log_proba(WAITS), expected_joint(5.0), rtol=1e-11)


def test_parameters_are_counted_and_rows_are_drawn():
    model = fitted()
    assert model.parameters_count == 1 + 4 + 2
    drawn, classes = model.sample(20_000, random_state=0)
    for label in ("busy", "quiet"):
        times, true = drawn.loc[classes == label, "waiting time"], WAITS.loc[label == Y, "waiting time"].mean()
        assert abs(times.mean() - true) < 5 * true / np.sqrt(len(times))


def test_a_column_of_another_kind_is_refused():
    with pytest.raises(
        ValueError, match="column '色泽' is categorical, but the exponential distribution is for numeric columns"
    ):
        mr.NaiveBayesClassifier(distributions={"色泽": Exponential()}).fit(WAITS, Y)


def test_the_class_is_not_the_family():
    with pytest.raises(ValueError, match=r"a value of distributions= is .* family object"):
        mr.NaiveBayesClassifier(distributions={"numeric": Exponential}).fit(WAITS, Y)


def test_a_distribution_without_a_density_says_so():
    class Silent(mr.Distribution):
        columns = ("waiting time",)

    for ask in (lambda: Silent().log_prob(None), lambda: Silent().parameters_count):
        with pytest.raises(TypeError, match="Silent must define"):
            ask()
    with pytest.raises(ValueError, match="Silent cannot be sampled"):
        Silent().sample(np.zeros(1, dtype=int), np.random.default_rng(0))
    assert Silent().levels == {}
