"""Numeric variables at the limits: far away, in any unit, nearly determined, too wide, set from outside, asked wrongly."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import merula as mr
from merula.graphs.factors.errors import TooWideError

# ------------------------------------------------------------------------------------------------------------ extremes


@pytest.fixture
def sensors():
    """A temperature that two sensors measure, each with its own state."""
    network = mr.BayesianNetwork().add("weather", ["cold", "warm"], [0.4, 0.6])
    network.add("temperature", mr.LinearGaussian({"cold": 0.0, "warm": 20.0}, 9.0), parents=["weather"])
    for name in ("indoor", "outdoor"):
        network.add(f"{name} state", ["good", "broken"], [0.9, 0.1])
        slopes = {"good": {"temperature": 1.0}, "broken": {"temperature": 0.0}}
        network.add(name, mr.LinearGaussian(0.0, {"good": 0.25, "broken": 100.0}, slopes), parents=[f"{name} state", "temperature"])  # fmt: skip
    return network


def test_far_away_numbers(sensors):
    """60 standard deviations off: far beyond what plain densities can say."""
    far = 20 + 60 * 3.0
    log_odds = stats.norm(20, 3).logpdf(far) - stats.norm(0, 3).logpdf(far) + np.log(0.6 / 0.4)
    weather = sensors.query("weather", given={"temperature": far})
    assert weather["warm"] == pytest.approx(1, abs=1e-15)
    near = sensors.query("weather", given={"temperature": 10 - 9 * np.log(1.5) / 20})
    assert near["cold"] == pytest.approx(0.5, rel=1e-12)
    logs = sensors.log_probability(pd.DataFrame({"temperature": [far]}))
    assert logs[0] == pytest.approx(np.log(0.6) + stats.norm(20, 3).logpdf(far), rel=1e-12)
    assert log_odds > 400


def test_what_the_best_configuration_cannot_be_is_not_lost():
    """Two readings each favour a level by e^−2000 or more; together only the pair that both dislike is possible."""
    network = mr.BayesianNetwork().add("left", ["a", "b"], [0.5, 0.5])
    network.add("right", ["a", "b"], [[0.0, 1.0], [1.0, 0.0]], parents=["left"])
    network.add("third", ["a", "b"], [[0.25, 0.75], [0.5, 0.5]], parents=["left"])
    for switch in ("left", "right"):
        network.add(f"{switch} reading", mr.LinearGaussian({"a": 0.0, "b": 100.0}, 1.0), parents=[switch])
    known = {"left reading": 0.0, "right reading": 3.0}
    log_odds = 0.5 * (100**2 + 3**2) - 0.5 * (0**2 + 97**2)  # left is a and right is b, or the other way round
    expected = 1 / (1 + np.exp(-log_odds))
    assert network.query("left", given=known)["a"] == pytest.approx(expected, rel=1e-12)
    assert network.posteriors(known)["left"]["a"] == pytest.approx(expected, rel=1e-12)
    log = np.log(0.5) + stats.norm(0, 1).logpdf([0, 97]).sum()
    rows = pd.DataFrame({"left reading": [0.0, 0.0], "right reading": [3.0, 3.0], "third": ["a", None]})
    np.testing.assert_allclose(network.log_probability(rows), [log + np.log(0.25), log], rtol=1e-12)
    np.testing.assert_allclose(network.predict_rows(rows, "left")[:, 0], expected, rtol=1e-12)
    assert network.query("right reading", given={"left reading": 0.0}).mean == pytest.approx(100, rel=1e-12)
    held = network.query("left", given={**known, "third": "b", "right": "b"})
    assert held["a"] == 1


def test_any_unit_gives_the_same_answer():
    """Numbers of 1e-9 beside numbers of 1e9."""

    def asked(small, large):
        network = mr.BayesianNetwork().add("state", ["rest", "run"], [0.3, 0.7])
        network.add("current", mr.LinearGaussian({"rest": 1 * small, "run": 2 * small}, small**2), parents=["state"])
        slopes = {"rest": {"current": large / small}, "run": {"current": 3 * large / small}}
        network.add(
            "power", mr.LinearGaussian({"rest": 0.0, "run": large}, large**2, slopes), parents=["state", "current"]
        )
        network.add("echo", mr.LinearGaussian(0.0, large**2, {"power": 1.0}), parents=["power"])
        known = {"echo": 4 * large}
        current = network.query("current", given=known)
        joint = network.query(["current", "power"], given=known)
        return (
            network.query("state", given=known)["run"],
            current.mean / small,
            current.deviation / small,
            current.quantile(0.9) / small,
            joint.covariance[0, 1] / small / large,
            joint.log_pdf([2 * small, 5 * large]) + np.log(small) + np.log(large),
        )

    plain = asked(1.0, 1.0)
    for small, large in [(1e-9, 1e9), (1e9, 1e-9), (1e-9, 1e-9), (1e-100, 1e100)]:
        np.testing.assert_allclose(asked(small, large), plain, rtol=1e-11)


def test_numbers_that_nearly_are_functions_of_each_other():
    """Two exact copies of an unknown number: their covariance matrix is singular to 16 digits. Exact rational arithmetic."""
    noise = 1e-20
    network = mr.BayesianNetwork().add("truth", mr.LinearGaussian(0.0, 1.0))
    for copy in ("first copy", "second copy"):
        network.add(copy, mr.LinearGaussian(0.0, noise, {"truth": 1.0}), parents=["truth"])
    first, second = 0.5, 0.5 + 3e-10
    a, b, v = Fraction(first), Fraction(second), Fraction(noise)
    determinant = (1 + v) ** 2 - 1
    square = ((1 + v) * (a * a + b * b) - 2 * a * b) / determinant
    expected = -np.log(2 * np.pi) - 0.5 * (np.log(float(determinant)) + float(square))
    rows = pd.DataFrame({"first copy": [first], "second copy": [second]})
    assert network.log_probability(rows)[0] == pytest.approx(expected, rel=1e-7)
    posterior = network.query("truth", given={"first copy": first, "second copy": second})
    assert posterior.mean == pytest.approx(float((a + b) / (2 + v)), rel=1e-14)
    assert posterior.variance == pytest.approx(float(v / (2 + v)), rel=1e-12)
    both = network.query(["first copy", "second copy"])
    assert both.log_pdf([first, second]) == pytest.approx(expected, rel=1e-7)


def test_absurd_numbers_are_no_nonsense(sensors):
    weather = sensors.query("weather", given={"indoor": 1e149, "outdoor": -1e149})
    assert np.isfinite(weather.values).all()
    assert weather.values.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="'indoor' is known as 1e\\+200, whose square is no number"):
        sensors.query("weather", given={"indoor": 1e200})


# ------------------------------------------------------------------------------------------------- limits and errors


def wide_network(count):
    """Each step adds a number with its own switch, so the sum at the end depends on all switches."""
    network = mr.BayesianNetwork()
    before = []
    for step in range(count):
        network.add(f"switch {step}", ["off", "on"], [0.5, 0.5])
        slopes = dict.fromkeys(before, 1.0)
        network.add(f"sum {step}", mr.LinearGaussian({"off": 0.0, "on": 1.0}, 1.0, dict.fromkeys(("off", "on"), slopes) if slopes else None), parents=[f"switch {step}", *before])  # fmt: skip
        before = [f"sum {step}"]
    return network


def test_too_many_configurations_are_refused_before_memory_is_taken():
    network = wide_network(40)
    with pytest.raises(TooWideError, match="an exact answer needs tables of"):
        network.query("sum 39")
    with pytest.raises(TooWideError):
        network.query("switch 0", given={"sum 39": 12.0})
    with pytest.raises(TooWideError):
        network.predict_rows(pd.DataFrame({"sum 39": [12.0]}), "switch 0")
    small = wide_network(6)
    assert small.query("sum 5").mean == pytest.approx(3)
    with pytest.raises(TooWideError):
        small.query("sum 5", limit=2**6 - 1)


def test_known_numbers_and_levels_cut_what_is_too_wide():
    network = wide_network(40)
    known = {f"sum {step}": float(step) for step in range(40) if step != 20}
    posterior = network.query("switch 20", given=known)
    # sum 21 − sum 19 = 2: two switches and two errors lie between them
    shares = {(s, t): stats.norm(s + t, np.sqrt(2)).pdf(2) for s in (0, 1) for t in (0, 1)}
    assert posterior["on"] == pytest.approx((shares[1, 0] + shares[1, 1]) / sum(shares.values()), rel=1e-12)
    levels = {f"switch {step}": "on" for step in range(40)}
    assert network.query("sum 39", given=levels).mean == pytest.approx(40)
    assert network.query("sum 39", given=levels).variance == pytest.approx(40)


def test_evidence_that_says_nothing_of_the_target_is_not_too_wide():
    network = wide_network(40)
    network.add("market", ["up", "down"], [0.3, 0.7])
    network.add("price", mr.LinearGaussian({"up": 10.0, "down": 0.0}, 1.0), parents=["market"])
    known = {"sum 39": 12.0, "price": 10.0, "switch 3": {"off": 0.5, "on": 0.25}}
    expected = 0.3 * stats.norm(10, 1).pdf(10) / (0.3 * stats.norm(10, 1).pdf(10) + 0.7 * stats.norm(0, 1).pdf(10))
    assert network.query("market", given=known)["up"] == pytest.approx(expected, rel=1e-12)
    assert network.query("price", given={"sum 39": 12.0, "market": "up"}).mean == 10


def test_rows_too_wide_together_are_asked_by_what_they_know():
    network = wide_network(30)
    rows = pd.DataFrame([{f"sum {step}": float(step) for step in range(30)}] * 4)
    for row, step in enumerate((5, 11, 17, 29)):
        rows.loc[row, f"sum {step}"] = np.nan
    all_gaps = pd.concat([rows, pd.DataFrame([{f"sum {step}": np.nan if step != 3 else 3.0 for step in range(30)}])])
    all_gaps = all_gaps.reset_index(drop=True)
    found = network.predict_rows(all_gaps, "switch 11", limit=2**15)
    for row in range(5):
        known = {name: value for name, value in all_gaps.loc[row].items() if not np.isnan(value)}
        np.testing.assert_allclose(found[row], network.query("switch 11", given=known).values, rtol=1e-12)


def test_errors_say_what_to_do(sensors):
    with pytest.raises(ValueError, match=r"target 'temperature' is numeric.*ask query\('temperature', given=row\)"):
        sensors.predict_rows(pd.DataFrame({"indoor": [3.0]}), "temperature")
    with pytest.raises(mr.ImpossibleEvidenceError, match="temperature = 4.0"):
        sensors.do({"temperature": 3.0}).query("weather", given={"temperature": 4.0})
    certain = mr.BayesianNetwork().add("coin", ["heads", "tails"], [1.0, 0.0])
    certain.add("weight", mr.LinearGaussian({"heads": 1.0, "tails": 2.0}, 0.01), parents=["coin"])
    with pytest.raises(mr.ImpossibleEvidenceError):
        certain.query("weight", given={"coin": "tails"})
    assert certain.query("weight", given={"coin": {"heads", "tails"}}).weights.tolist() == [1.0]


def test_rows_after_an_intervention(sensors):
    after = sensors.do({"temperature": 3.0})
    rows = pd.DataFrame({"temperature": [3.0, 4.0, np.nan], "indoor": [3.5, 3.5, 3.5]})
    good, broken = stats.norm(3, 0.5).logpdf(3.5), stats.norm(0, 10).logpdf(3.5)
    log = np.logaddexp(np.log(0.9) + good, np.log(0.1) + broken)
    np.testing.assert_allclose(after.log_probability(rows), [log, -np.inf, log], rtol=1e-12)
    with pytest.warns(mr.ZeroEvidenceWarning, match="row 1"):
        found = after.predict_rows(rows, "indoor state")
    np.testing.assert_allclose(found[[0, 2], 0], np.exp(np.log(0.9) + good - log), rtol=1e-12)
    np.testing.assert_allclose(found[1], [0.9, 0.1], rtol=1e-12)


def test_draws_after_an_intervention(sensors):
    drawn = sensors.do({"temperature": 3.0}).sample(20_000, given={"temperature": 3.0, "indoor": 3.5}, random_state=4)
    assert (drawn["temperature"] == 3).all()
    good, broken = 0.9 * stats.norm(3, 0.5).pdf(3.5), 0.1 * stats.norm(0, 10).pdf(3.5)
    share = good / (good + broken)
    spread = np.sqrt(share * (1 - share) / 20_000)
    assert (drawn["indoor state"] == "good").mean() == pytest.approx(share, abs=4 * spread)
    assert (drawn["weather"] == "cold").mean() == pytest.approx(0.4, abs=4 * np.sqrt(0.24 / 20_000))


def test_a_table_without_numbers_is_answered_as_before(sensors):
    found = sensors.predict_rows(pd.DataFrame({"weather": ["cold", None]}), "indoor state")
    np.testing.assert_allclose(found, [[0.9, 0.1], [0.9, 0.1]], rtol=1e-12)


def test_threads_change_no_bit(sensors):
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.normal(10, 8, (5000, 3)), columns=["temperature", "indoor", "outdoor"])
    rows = rows.mask(rng.random(rows.shape) < 0.4)
    one, two = (sensors.predict_rows(rows, "weather", n_jobs=jobs) for jobs in (1, 2))
    assert (one == two).all()
    index = int(np.flatnonzero(rows.notna().all(axis=1))[0])
    np.testing.assert_allclose(one[index], sensors.query("weather", given=rows.loc[index].to_dict()).values, rtol=1e-12)
