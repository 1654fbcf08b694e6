"""Networks with numeric variables beside the mixture of joint normals that enumeration and SciPy give."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

import merula as mr
from merula.factors.errors import TooWideError

LAW = settings(max_examples=60, deadline=None)
DISCRETE = ["smoker", "größe", "色泽", "season"]
NUMERIC = ["blood pressure", "weight", "根蒂 (cm)", "hdl"]


@dataclass(frozen=True)
class Stated:
    """A conditional linear-Gaussian network as plain numbers, answered by enumeration."""

    levels: dict
    parents: dict
    tables: dict
    normals: dict  # name → (intercepts, slopes, variances), with an axis for each discrete parent

    @property
    def numeric(self):
        return list(self.normals)

    @cached_property
    def network(self):
        network = mr.BayesianNetwork()
        for name, parents in self.parents.items():
            if name in self.levels:
                network.add(name, self.levels[name], self.tables[name], parents=parents)
            else:
                network.add(name, self._linear(name), parents=parents)
        return network

    def _linear(self, name):
        intercepts, slopes, variances = self.normals[name]
        discrete = [parent for parent in self.parents[name] if parent in self.levels]
        numeric = [parent for parent in self.parents[name] if parent not in self.levels]
        if not discrete:
            return mr.LinearGaussian(intercepts, variances, dict(zip(numeric, slopes, strict=True)))
        by_levels = {}
        for place in np.ndindex(intercepts.shape):
            key = tuple(self.levels[one][code] for one, code in zip(discrete, place, strict=True))
            by_levels[key] = dict(zip(numeric, slopes[place], strict=True))
        return mr.LinearGaussian(intercepts, variances, by_levels if numeric else None)

    @cached_property
    def configurations(self):
        """(levels, probability, mean, covariance) for every combination of levels."""
        found = []
        for codes in product(*(range(len(known)) for known in self.levels.values())):
            code = dict(zip(self.levels, codes, strict=True))
            p = np.prod(
                [self.tables[name][tuple(code[one] for one in (*self.parents[name], name))] for name in self.levels]
            )
            found.append((code, float(p), *self._normal(code)))
        return found

    def _normal(self, code):
        """x = a + B·x + noise, so mean (I − B)⁻¹·a and covariance (I − B)⁻¹·V·(I − B)⁻ᵀ."""
        size = len(self.numeric)
        a, b, v = np.zeros(size), np.zeros((size, size)), np.zeros(size)
        for i, name in enumerate(self.numeric):
            at = tuple(code[parent] for parent in self.parents[name] if parent in self.levels)
            numeric = [self.numeric.index(parent) for parent in self.parents[name] if parent not in self.levels]
            intercepts, slopes, variances = self.normals[name]
            a[i], b[i, numeric], v[i] = intercepts[at], slopes[at], variances[at]
        inverse = np.linalg.inv(np.eye(size) - b)
        return inverse @ a, inverse @ np.diag(v) @ inverse.T

    def weighted(self, known):
        """For each combination of levels: log p(levels, evidence), and the mean and covariance of all numbers given it."""
        at = [i for i, name in enumerate(self.numeric) if name in known]
        values = np.array([known[self.numeric[i]] for i in at])
        for code, p, mean, covariance in self.configurations:
            weight = p * np.prod(
                [self._likelihood(name, known[name])[code[name]] for name in self.levels if name in known]
            )
            with np.errstate(divide="ignore"):
                log = np.log(weight)
            if at:
                inner = covariance[np.ix_(at, at)]
                log += stats.multivariate_normal(mean[at], inner).logpdf(values)
                gain = np.linalg.solve(inner, covariance[at]).T
                mean = mean + gain @ (values - mean[at])
                covariance = covariance - gain @ covariance[at]
            yield code, log, mean, covariance

    def _likelihood(self, name, known):
        levels = self.levels[name]
        if isinstance(known, Mapping):
            return np.array([known[level] for level in levels]) / max(known.values())
        allowed = known if isinstance(known, set) else {known}
        return np.array([float(level in allowed) for level in levels])

    def log_probability(self, known):
        return logsumexp([log for _, log, _, _ in self.weighted(known)])

    def levels_given(self, names, known):
        table, total = np.zeros([len(self.levels[name]) for name in names]), self.log_probability(known)
        for code, log, _, _ in self.weighted(known):
            table[tuple(code[name] for name in names)] += np.exp(log - total)
        return table

    def numbers_given(self, names, known):
        """Mean and covariance of some unknown numbers, and their density as a function."""
        at, total = [self.numeric.index(name) for name in names], self.log_probability(known)
        cases = [
            (np.exp(log - total), mean[at], covariance[np.ix_(at, at)])
            for _, log, mean, covariance in self.weighted(known)
        ]
        cases = [case for case in cases if case[0] > 0]
        mean = sum(w * m for w, m, _ in cases)
        covariance = sum(w * (c + np.outer(m - mean, m - mean)) for w, m, c in cases)
        return mean, covariance, lambda x: sum(w * stats.multivariate_normal(m, c).pdf(x) for w, m, c in cases)


@st.composite
def networks(draw, most_discrete=4, most_numeric=4, least_discrete=0):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    discrete = DISCRETE[: draw(st.integers(least_discrete, most_discrete))]
    numeric = NUMERIC[: draw(st.integers(1, most_numeric))]
    levels = {name: tuple(f"level {k}" for k in range(draw(st.integers(1, 3)))) for name in discrete}
    parents, tables, normals = {}, {}, {}
    for place, name in enumerate(discrete):
        parents[name] = tuple(
            draw(st.lists(st.sampled_from(discrete[:place]), unique=True, max_size=2)) if place else ()
        )
        shape = [len(levels[one]) for one in (*parents[name], name)]
        table = rng.gamma(0.7, size=shape) * (rng.random(shape) < 0.85) + 1e-3 * (np.arange(shape[-1]) == 0)
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    for place, name in enumerate(numeric):
        switches = draw(st.lists(st.sampled_from(discrete), unique=True, max_size=2)) if discrete else []
        linear = draw(st.lists(st.sampled_from(numeric[:place]), unique=True, max_size=3)) if place else []
        parents[name] = tuple(draw(st.permutations([*switches, *linear])))
        shape = tuple(len(levels[one]) for one in parents[name] if one in levels)
        slopes = rng.normal(size=(*shape, len(linear))) * (rng.random((*shape, len(linear))) < 0.8)
        normals[name] = rng.normal(0, 3, shape), slopes, rng.gamma(2, size=shape) + 0.05
    return Stated(levels, parents, tables, normals)


@st.composite
def evidence(draw, stated, hidden=()):
    known = {}
    for name, levels in stated.levels.items():
        kind = (
            draw(st.sampled_from(["nothing", "nothing", "level", "set", "likelihood"]))
            if name not in hidden
            else "nothing"
        )
        if kind == "level":
            known[name] = draw(st.sampled_from(levels))
        elif kind == "set":
            known[name] = set(draw(st.lists(st.sampled_from(levels), min_size=1)))
        elif kind == "likelihood":
            known[name] = {level: draw(st.sampled_from([0.125, 0.5, 1.0])) for level in levels}
    for name in stated.numeric:
        if name not in hidden and draw(st.booleans()):
            known[name] = draw(st.floats(-8, 8, allow_subnormal=False))
    return known


def close(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


# --------------------------------------------------------------------------------------------- laws, by enumeration


@LAW
@given(data=st.data())
def test_posteriors_of_levels(data):
    stated = data.draw(networks(least_discrete=1))
    known = data.draw(evidence(stated))
    names = data.draw(st.lists(st.sampled_from(list(stated.levels)), min_size=1, unique=True))
    if stated.log_probability(known) == -np.inf:
        with pytest.raises(mr.ImpossibleEvidenceError):
            stated.network.query(names, given=known)
    else:
        close(stated.network.query(names, given=known).values, stated.levels_given(names, known))


@LAW
@given(data=st.data())
def test_the_density_of_the_evidence(data):
    stated = data.draw(networks())
    known = data.draw(evidence(stated))
    with np.errstate(divide="ignore"):
        close(np.log(stated.network.probability(known)), stated.log_probability(known))


@LAW
@given(data=st.data())
def test_joint_posteriors_of_numbers(data):
    stated = data.draw(networks())
    names = data.draw(st.lists(st.sampled_from(stated.numeric), min_size=1, unique=True))
    known = data.draw(evidence(stated, hidden=names))
    if stated.log_probability(known) == -np.inf:
        with pytest.raises(mr.ImpossibleEvidenceError):
            stated.network.query(names, given=known)
        return
    found = stated.network.query(names, given=known)
    mean, covariance, density = stated.numbers_given(names, known)
    assert found.variables == tuple(names)
    assert (found.weights > 0).all()
    close(found.weights.sum(), 1)
    close(np.atleast_1d(found.mean), mean)
    close(found.covariance, covariance)
    for x in (mean, mean + np.sqrt(np.diagonal(covariance))):
        close(found.pdf(x if len(names) > 1 else float(x[0])), density(x))


@LAW
@given(data=st.data())
def test_all_single_posteriors_at_once(data):
    stated = data.draw(networks())
    known = data.draw(evidence(stated))
    if stated.log_probability(known) == -np.inf:
        return
    found = stated.network.posteriors(known)
    assert list(found) == list(stated.parents)
    for name, posterior in found.items():
        if name in stated.levels:
            close(posterior.values, stated.levels_given([name], known))
        elif name in known:
            assert (posterior.mean, posterior.variance) == (known[name], 0)
        else:
            mean, covariance, _ = stated.numbers_given([name], known)
            close([posterior.mean, posterior.variance], [mean[0], covariance[0, 0]])


@LAW
@given(data=st.data())
def test_rows_with_missing_cells(data):
    stated = data.draw(networks(least_discrete=1))
    target = data.draw(st.sampled_from(list(stated.levels)))
    rows = [{name: known for name, known in data.draw(evidence(stated)).items() if not isinstance(known, set | Mapping)} for _ in range(6)]  # fmt: skip
    table = pd.DataFrame(rows, columns=list(stated.parents)).astype(dict.fromkeys(stated.numeric, float))
    logs = stated.network.log_probability(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.ZeroEvidenceWarning)
        answers = stated.network.predict_table(table, target)
    for row, log, answer in zip(rows, logs, answers, strict=True):
        close(log, stated.log_probability(row))
        others = {name: known for name, known in row.items() if name != target}
        possible = stated.log_probability(others) > -np.inf
        close(answer, stated.levels_given([target], others if possible else {}))


@LAW
@given(data=st.data())
def test_complete_rows(data):
    stated = data.draw(networks())
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    rows = [
        {
            name: rng.normal() if name in stated.numeric else str(rng.choice(stated.levels[name]))
            for name in stated.parents
        }
        for _ in range(4)
    ]
    close(stated.network.log_probability(pd.DataFrame(rows)), [stated.log_probability(row) for row in rows])


@LAW
@given(data=st.data())
def test_interventions_on_numbers(data):
    """After do(x = 3) the parents of x say nothing of it, and x is 3 in every equation."""
    stated = data.draw(networks(most_discrete=2))
    name = data.draw(st.sampled_from(stated.numeric))
    after = stated.network.do({name: 3.0})
    point = Stated(
        stated.levels,
        {**stated.parents, name: ()},
        stated.tables,
        {**stated.normals, name: (np.array(3.0), np.zeros(0), np.array(1.0))},
    )
    known = data.draw(evidence(point, hidden=[name]))
    with_it = {**known, name: 3.0}
    if point.log_probability(with_it) == -np.inf:
        return
    for other, posterior in after.posteriors(known).items():
        if other in stated.levels:
            close(posterior.values, point.levels_given([other], with_it))
        elif other == name:
            assert (posterior.mean, posterior.variance) == (3, 0)
        elif other not in known:
            mean, covariance, _ = point.numbers_given([other], with_it)
            close([posterior.mean, posterior.variance], [mean[0], covariance[0, 0]])
    density_of_point = stats.norm(3, 1).logpdf(3)
    expected = point.log_probability(with_it) - density_of_point
    close(np.log(after.probability(known)), expected)
    close(np.log(after.probability(with_it)), expected)
    assert after.probability({**known, name: 3.5}) == 0


# ------------------------------------------------------------------------------------------- classifiers as networks


@pytest.fixture
def patients():
    rng = np.random.default_rng(7)
    kind = rng.integers(0, 3, 400)
    mixing = np.array([[1.0, 0.4, 0.0, 0.1], [0.0, 2.0, 0.3, 0.0], [0.0, 0.0, 0.5, 0.2], [0.0, 0.0, 0.0, 3.0]])
    numbers = rng.normal(size=(400, 4)) @ mixing + np.array([[0, 1, 2, 3], [1, 1, 1, 1], [3, 0, 1, 2]])[kind]
    return pd.DataFrame(numbers, columns=NUMERIC), np.array(["ill", "well", "unsure"])[kind]


def test_gaussian_naive_bayes_is_a_network(patients):
    table, diagnosis = patients
    model = mr.NaiveBayesClassifier().fit(table, diagnosis)
    classes = list(model.classes_)
    network = mr.BayesianNetwork().add("diagnosis", classes, [np.mean(diagnosis == one) for one in classes])
    for name in table:
        means = {one: table[name][diagnosis == one].mean() for one in classes}
        variances = {one: table[name][diagnosis == one].var(ddof=0) for one in classes}
        network.add(name, mr.LinearGaussian(means, variances), parents=["diagnosis"])
    asked = table.mask(np.random.default_rng(1).random(table.shape) < 0.3)
    np.testing.assert_allclose(
        network.predict_table(asked, "diagnosis"), model.predict_proba(asked), rtol=0, atol=1e-12
    )


def test_full_covariance_is_a_chain(patients):
    """x_j given x_1 … x_{j−1} has the slopes of the unit triangular factor of the precision matrix."""
    table, diagnosis = patients
    model = mr.BayesClassifier(shrinkage=0).fit(table, diagnosis)
    classes = list(model.classes_)
    network = mr.BayesianNetwork().add("diagnosis", classes, [np.mean(diagnosis == one) for one in classes])
    names, intercepts, slopes, variances = list(table), {}, {}, {}
    for one in classes:
        part = table[diagnosis == one].to_numpy()
        root = np.linalg.cholesky(np.cov(part.T, bias=True))
        unit = np.linalg.inv(root / np.diagonal(root))
        for j, name in enumerate(names):
            slopes[name, one] = {other: -unit[j, k] for k, other in enumerate(names[:j])}
            intercepts[name, one], variances[name, one] = (
                unit[j, : j + 1] @ part[:, : j + 1].mean(axis=0),
                root[j, j] ** 2,
            )
    for j, name in enumerate(names):
        stated = mr.LinearGaussian(
            {one: intercepts[name, one] for one in classes},
            {one: variances[name, one] for one in classes},
            {one: slopes[name, one] for one in classes} if j else None,
        )
        network.add(name, stated, parents=["diagnosis", *names[:j]])
    asked = table.mask(np.random.default_rng(1).random(table.shape) < 0.3)
    np.testing.assert_allclose(
        network.predict_table(asked, "diagnosis"), model.predict_proba(asked), rtol=0, atol=1e-11
    )


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
    log_odds = 0.5 * (100**2 - 3**2) - 0.5 * (97**2 - 0**2)  # both "a" is best, but left ≠ right
    log_odds = (-0.5 * (0**2 + 97**2)) - (-0.5 * (100**2 + 3**2))
    expected = 1 / (1 + np.exp(-log_odds))
    assert network.query("left", given=known)["a"] == pytest.approx(expected, rel=1e-12)
    assert network.posteriors(known)["left"]["a"] == pytest.approx(expected, rel=1e-12)
    log = np.log(0.5) + stats.norm(0, 1).logpdf([0, 97]).sum()
    rows = pd.DataFrame({"left reading": [0.0, 0.0], "right reading": [3.0, 3.0], "third": ["a", None]})
    np.testing.assert_allclose(network.log_probability(rows), [log + np.log(0.25), log], rtol=1e-12)
    np.testing.assert_allclose(network.predict_table(rows, "left")[:, 0], expected, rtol=1e-12)
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
        slopes = {one: 1.0 for one in before}
        network.add(f"sum {step}", mr.LinearGaussian({"off": 0.0, "on": 1.0}, 1.0, {k: slopes for k in ("off", "on")} if slopes else None), parents=[f"switch {step}", *before])  # fmt: skip
        before = [f"sum {step}"]
    return network


def test_too_many_configurations_are_refused_before_memory_is_taken():
    network = wide_network(40)
    with pytest.raises(TooWideError, match="an exact answer needs tables of"):
        network.query("sum 39")
    with pytest.raises(TooWideError):
        network.query("switch 0", given={"sum 39": 12.0})
    with pytest.raises(TooWideError):
        network.predict_table(pd.DataFrame({"sum 39": [12.0]}), "switch 0")
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


def test_rows_too_wide_together_are_asked_by_what_they_know():
    network = wide_network(30)
    rows = pd.DataFrame([{f"sum {step}": float(step) for step in range(30)}] * 4)
    for row, step in enumerate((5, 11, 17, 29)):
        rows.loc[row, f"sum {step}"] = np.nan
    all_gaps = pd.concat([rows, pd.DataFrame([{f"sum {step}": np.nan if step != 3 else 3.0 for step in range(30)}])])
    all_gaps = all_gaps.reset_index(drop=True)
    found = network.predict_table(all_gaps, "switch 11", limit=2**15)
    for row in range(5):
        known = {name: value for name, value in all_gaps.loc[row].items() if not np.isnan(value)}
        np.testing.assert_allclose(found[row], network.query("switch 11", given=known).values, rtol=1e-12)


def test_errors_say_what_to_do(sensors):
    with pytest.raises(
        ValueError, match=r"mix levels \('weather'\) and numbers \('temperature'\); ask query\('weather'\)"
    ):
        sensors.query(["weather", "temperature"])
    with pytest.raises(ValueError, match=r"target 'temperature' is numeric.*ask query\('temperature', given=row\)"):
        sensors.predict_table(pd.DataFrame({"indoor": [3.0]}), "temperature")
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
        found = after.predict_table(rows, "indoor state")
    np.testing.assert_allclose(found[[0, 2], 0], np.exp(np.log(0.9) + good - log), rtol=1e-12)
    np.testing.assert_allclose(found[1], [0.9, 0.1], rtol=1e-12)


def test_a_table_without_numbers_is_answered_as_before(sensors):
    found = sensors.predict_table(pd.DataFrame({"weather": ["cold", None]}), "indoor state")
    np.testing.assert_allclose(found, [[0.9, 0.1], [0.9, 0.1]], rtol=1e-12)


def test_threads_change_no_bit(sensors):
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.normal(10, 8, (5000, 3)), columns=["temperature", "indoor", "outdoor"])
    rows = rows.mask(rng.random(rows.shape) < 0.4)
    one, two = (sensors.predict_table(rows, "weather", n_jobs=jobs) for jobs in (1, 2))
    assert (one == two).all()
    place = int(np.flatnonzero(rows.notna().all(axis=1))[0])
    np.testing.assert_allclose(one[place], sensors.query("weather", given=rows.loc[place].to_dict()).values, rtol=1e-12)
