"""Networks with numbers on the page: what known numbers say of levels, and unknown ones as mixtures."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import merula as mr
from merula.web.page.network import network_data

CLOSE = 1e-9


def patients():
    """Levels and numbers that depend on each other in every allowed way."""
    network = mr.BayesianNetwork().add("性别", ["f", "m"], [0.55, 0.45])
    network.add("ill", ["no", "yes"], [[0.9, 0.1], [0.8, 0.2]], parents=["性别"])
    network.add("drug", ["none", "half", "full"], [[0.8, 0.1, 0.1], [0.2, 0.3, 0.5]], parents=["ill"])
    network.add("height", mr.LinearGaussian({"f": 165.0, "m": 178.0}, {"f": 36.0, "m": 49.0}), parents=["性别"])
    network.add("weight", mr.LinearGaussian({"no": -90.0, "yes": -95.0}, 40.0, {"height": 0.95}), parents=["ill", "height"])  # fmt: skip
    by_drug = {"none": {"weight": 0.5}, "half": {"weight": 0.4}, "full": {"weight": 0.2}}
    network.add("pressure", mr.LinearGaussian({"none": 90.0, "half": 95.0, "full": 100.0}, 64.0, by_drug), parents=["drug", "weight"])  # fmt: skip
    return network.add("temperature", mr.LinearGaussian({"no": 36.8, "yes": 38.4}, 0.2), parents=["ill"])


NUMBERS = ["height", "weight", "pressure", "temperature"]


def configurations():
    """Each combination of levels: its probability, and mean and covariance of all numbers, written out by hand."""
    sex, ill, drug = {"f": 0.55, "m": 0.45}, {"f": {"no": 0.9, "yes": 0.1}, "m": {"no": 0.8, "yes": 0.2}}, {"no": (0.8, 0.1, 0.1), "yes": (0.2, 0.3, 0.5)}  # fmt: skip
    for s, i, d in product("fm", ("no", "yes"), range(3)):
        slope = (0.5, 0.4, 0.2)[d]
        arcs = np.zeros((4, 4))
        arcs[1, 0], arcs[2, 1] = 0.95, slope
        start = np.array([{"f": 165.0, "m": 178.0}[s], {"no": -90.0, "yes": -95.0}[i], (90.0, 95.0, 100.0)[d], {"no": 36.8, "yes": 38.4}[i]])  # fmt: skip
        spread = np.linalg.inv(np.eye(4) - arcs)
        noise = np.diag([{"f": 36.0, "m": 49.0}[s], 40.0, 64.0, 0.2])
        yield (s, i, d), sex[s] * ill[s][i] * drug[i][d], spread @ start, spread @ noise @ spread.T


CASES = [
    {},
    {"height": 171.5},
    {"pressure": 150.0, "temperature": 38.0},
    {"height": 190.0, "weight": 60.0, "pressure": 140.0},
    {"temperature": 36.0, "weight": 71.25},
    {"height": 171.0, "weight": 72.0, "pressure": 130.0, "temperature": 37.5},
    {"temperature": 60.0},
]


@pytest.mark.parametrize("known", CASES)
@pytest.mark.parametrize("likelihood", [None, [0.2, 1.7]])
def test_levels_and_numbers_beside_enumeration(known, likelihood, ask_page):
    findings = {name: {"is": number} for name, number in known.items()}
    if likelihood:
        findings["ill"] = {"likelihood": likelihood}
    (answer,) = ask_page(patients(), [["answer", findings]])
    at, rest = [NUMBERS.index(name) for name in known], [k for k, name in enumerate(NUMBERS) if name not in known]
    logs, means, variances, levels = [], [], [], []
    for (s, i, d), share, mean, cov in configurations():
        log = np.log(share) + (np.log(likelihood[i == "yes"]) if likelihood else 0.0)
        if at:
            log += multivariate_normal(mean[at], cov[np.ix_(at, at)]).logpdf([known[NUMBERS[k]] for k in at])
            gain = np.linalg.solve(cov[np.ix_(at, at)], cov[np.ix_(at, rest)]).T
            mean, cov = mean[rest] + gain @ (np.array(list(known.values())) - mean[at]), cov[np.ix_(rest, rest)] - gain @ cov[np.ix_(at, rest)]  # fmt: skip
        logs.append(log)
        means.append(mean)
        variances.append(np.diag(cov))
        levels.append((s, i, d))
    total = np.logaddexp.reduce(logs)
    weights = np.exp(np.array(logs) - total)
    assert answer["log"] == pytest.approx(total, rel=1e-9)
    expected = [sum(w for w, (_, i, _) in zip(weights, levels, strict=True) if i == one) for one in ("no", "yes")]
    np.testing.assert_allclose(answer["posteriors"]["ill"], expected, rtol=0, atol=CLOSE)
    if rest:
        mean = weights @ np.array(means)
        deviation = np.sqrt(weights @ (np.array(variances) + (np.array(means) - mean) ** 2))
        for k, number in enumerate(rest):
            found = answer["posteriors"][NUMBERS[number]]
            assert found["mean"] == pytest.approx(mean[k], rel=1e-9)
            assert found["deviation"] == pytest.approx(deviation[k], rel=1e-9)
    for name, number in known.items():
        assert (answer["posteriors"][name]["mean"], answer["posteriors"][name]["deviation"]) == (number, 0)


@pytest.mark.parametrize("actions", [{"weight": 100.0}, {"ill": "yes", "height": 150.0}, {"drug": "full"}])
def test_actions_on_numbers_and_levels_are_those_of_python(actions, ask_page):
    network, given = patients(), {"pressure": 141.0, "性别": "m"}
    findings = {name: {"is": one} for name, one in given.items()} | {name: {"do": one} for name, one in actions.items()}
    (answer,) = ask_page(network, [["answer", findings]])
    after = network.do(actions)
    assert answer["log"] == pytest.approx(np.log(after.probability(given)), abs=CLOSE)
    for name, expected in after.posteriors(given).items():
        found = answer["posteriors"][name]
        if hasattr(expected, "covariance"):
            assert (found["mean"], found["deviation"]) == pytest.approx((expected.mean, expected.deviation), rel=1e-9)
        else:
            np.testing.assert_allclose(found, expected.values, rtol=0, atol=CLOSE)


def test_a_network_after_an_action_says_what_it_was_set_to(ask_page):
    network = patients().do({"weight": 80.0})
    found = ask_page(network, [["answer", {}], ["logProbability", {"weight": {"is": 80.0}}], ["logProbability", {"weight": {"is": 81.0}}]])  # fmt: skip
    assert found[0]["posteriors"]["weight"]["mean"] == 80.0
    assert found[0]["posteriors"]["pressure"]["mean"] == pytest.approx(network.query("pressure").mean, rel=1e-9)
    assert found[1:] == pytest.approx([0, -np.inf], abs=CLOSE)


def test_numbers_alone(ask_page):
    network = mr.BayesianNetwork().add("height", mr.LinearGaussian(170.0, 49.0))
    network.add("weight", mr.LinearGaussian(0.0, 25.0, {"height": 0.4}), parents=["height"])
    (answer,) = ask_page(network, [["answer", {"weight": {"is": 75.0}}]])
    expected = network.query("height", given={"weight": 75.0})
    assert answer["posteriors"]["height"]["mean"] == pytest.approx(expected.mean, rel=1e-12)
    assert answer["log"] == pytest.approx(np.log(network.probability({"weight": 75.0})), abs=CLOSE)


def test_numbers_that_depend_on_too_many_levels_are_refused_by_name():
    network = mr.BayesianNetwork()
    for k in range(22):
        network.add(f"switch {k}", ["off", "on"], [0.5, 0.5])
        parents = [f"switch {k}"] + ([f"load {k - 1}"] if k else [])
        slopes = {f"load {k - 1}": 1.0} if k else None
        network.add(f"load {k}", mr.LinearGaussian({"off": 0.0, "on": 1.0}, 1.0, slopes), parents=parents)
    with pytest.raises(mr.InputError, match=r"the numbers 'load \d+', .* depend on 4,194,304 combinations of levels"):
        network_data(network)


def test_the_most_probable_explanation_is_not_given_beside_numbers(ask_page):
    assert network_data(patients())["unexplained"] == "numbers"
    assert ask_page(patients(), [["mostProbable", {}]]) == [None]


def test_a_number_is_no_target_and_no_test(ask_page):
    found = ask_page(patients(), [["nextTests", "height", {}], ["nextTests", "ill", {"pressure": {"is": 120.0}}]])
    assert found[0] == {"error": "height is a number: choose a variable with levels."}
    assert [test["name"] for test in found[1]["tests"]] == ["drug", "性别"]
