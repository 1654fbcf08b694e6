"""Networks with numeric variables beside the mixture of joint normals that enumeration and SciPy give."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.special import logsumexp

import merula as mr
from merula.graphs.network.evidence import read_evidence, relevant

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
        for index in np.ndindex(intercepts.shape):
            key = tuple(self.levels[one][code] for one, code in zip(discrete, index, strict=True))
            by_levels[key] = dict(zip(numeric, slopes[index], strict=True))
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
            return np.array([known[level] for level in levels])
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
    for index, name in enumerate(discrete):
        parents[name] = tuple(
            draw(st.lists(st.sampled_from(discrete[:index]), unique=True, max_size=2)) if index else ()
        )
        shape = [len(levels[one]) for one in (*parents[name], name)]
        table = rng.gamma(0.7, size=shape) * (rng.random(shape) < 0.85) + 1e-3 * (np.arange(shape[-1]) == 0)
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    for index, name in enumerate(numeric):
        switches = draw(st.lists(st.sampled_from(discrete), unique=True, max_size=2)) if discrete else []
        linear = draw(st.lists(st.sampled_from(numeric[:index]), unique=True, max_size=3)) if index else []
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
    expected = stated.log_probability(known)
    if expected < -700:  # below what a float can hold
        assert stated.network.probability(known) < 1e-300
    else:
        close(np.log(stated.network.probability(known)), expected)


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
def test_evidence_that_is_separated_changes_nothing(data):
    stated = data.draw(networks())
    target = data.draw(st.sampled_from(list(stated.parents)))
    known = data.draw(evidence(stated, hidden=[target]))
    if stated.log_probability(known) == -np.inf:
        return
    kept = relevant(stated.network.graph, [target], read_evidence(stated.network._nodes, known))
    found = stated.network.query(target, given={name: known[name] for name in kept.names})
    if target in stated.levels:
        close(found.values, stated.levels_given([target], known))
    else:
        mean, covariance, _ = stated.numbers_given([target], known)
        close([found.mean, found.variance], [mean[0], covariance[0, 0]])


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
        answers = stated.network.predict_rows(table, target)
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
    np.testing.assert_allclose(network.predict_rows(asked, "diagnosis"), model.predict_proba(asked), rtol=0, atol=1e-12)


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
    np.testing.assert_allclose(network.predict_rows(asked, "diagnosis"), model.predict_proba(asked), rtol=0, atol=1e-11)


def test_the_most_probable_number_is_refused_in_words():
    network = mr.BayesianNetwork().add("sex", ["f", "m"], [0.5, 0.5])
    network.add("blood pressure", mr.LinearGaussian({"f": 120.0, "m": 125.0}, 100.0), parents=["sex"])
    for targets in ("blood pressure", ["sex", "blood pressure"]):
        with pytest.raises(ValueError, match="most_probable needs levels; 'blood pressure' is numeric"):
            network.most_probable(targets)
    assert network.most_probable("sex", given={"blood pressure": 140.0})[0] == {"sex": "m"}
