"""The worked examples of the mission as networks (W2, W5, naive Bayes as a network): every figure to 1e-12."""

import numpy as np
import pandas as pd
import pytest

import merula as mr

EXACT = {"rel": 1e-12, "abs": 1e-15}


@pytest.fixture
def backache():
    """W5: bad chair, sport, worker, backache, ache."""
    network = mr.BayesianNetwork().add("C", ["T", "F"], [0.8, 0.2]).add("S", ["T", "F"], [0.02, 0.98])
    network.add("W", ["T", "F"], {"T": {"T": 0.9, "F": 0.1}, "F": {"T": 0.01, "F": 0.99}}, parents=["C"])
    given = {("T", "T"): 0.9, ("T", "F"): 0.2, ("F", "T"): 0.9, ("F", "F"): 0.01}
    network.add("B", ["T", "F"], {key: {"T": p, "F": 1 - p} for key, p in given.items()}, parents=["C", "S"])
    return network.add("A", ["T", "F"], {"T": {"T": 0.7, "F": 0.3}, "F": {"T": 0.1, "F": 0.9}}, parents=["B"])


def test_w5_has_ten_free_parameters(backache):
    assert backache.parameters_count == 10


@pytest.mark.parametrize(
    ("asked", "given", "probability"),
    [
        ("B", {}, 0.17676),
        ("A", {}, 0.206056),
        ("C", {"A": "T"}, 0.8867492332181544),
        ("C", {"A": "T", "W": "T"}, 0.998582960451626),
    ],
)
def test_w5_posteriors(backache, asked, given, probability):
    assert backache.query(asked, given=given)["T"] == pytest.approx(probability, **EXACT)
    assert backache.posteriors(given)[asked]["T"] == pytest.approx(probability, **EXACT)
    rows = pd.DataFrame([{name: given.get(name) for name in "CSWBA" if name != asked}], dtype=object)
    assert backache.predict_rows(rows, asked)[0, 0] == pytest.approx(probability, **EXACT)
    if given:
        joint = backache.probability({**given, asked: "T"})
        assert joint / backache.probability(given) == pytest.approx(probability, **EXACT)


@pytest.mark.parametrize(
    "order", [("color", "shape", "category"), ("category", "shape", "color"), ("shape", "category", "color")]
)
def test_w2_as_a_network_in_any_order_of_its_variables(order):
    """The product rule: P(x, y, z) = P(x)·P(y given x)·P(z given x, y), whichever comes first."""
    shapes = mr.JointDistribution(
        ["color", "shape", "category"],
        {
            ("red", "circle", "pos"): 0.20, ("red", "square", "pos"): 0.02,
            ("blue", "circle", "pos"): 0.02, ("blue", "square", "pos"): 0.01,
            ("red", "circle", "neg"): 0.05, ("red", "square", "neg"): 0.30,
            ("blue", "circle", "neg"): 0.20, ("blue", "square", "neg"): 0.20,
        },
    )  # fmt: skip
    network = mr.BayesianNetwork()
    for k, name in enumerate(order):
        known = list(order[:k])
        stated = shapes.conditional(name, given=known) if known else shapes.marginal(name).values
        network.add(name, shapes.levels[name], stated, parents=known)
    assert network.probability({"color": "red", "shape": "circle"}) == pytest.approx(0.25, **EXACT)
    assert network.query("color")["red"] == pytest.approx(0.57, **EXACT)
    found = network.query("category", given={"color": "red", "shape": "circle"})
    assert found["pos"] == pytest.approx(0.8, **EXACT)
    assert network.query(["color", "shape", "category"]).allclose(shapes, 1e-15)
    assert network.query(list(order)).bayes_error("category") == pytest.approx(0.10, **EXACT)


def test_w2_total_probability():
    network = mr.BayesianNetwork().add("box", ["B1", "B2"], [3 / 5, 2 / 5])
    network.add("A", [True, False], {"B1": {True: 2 / 3, False: 1 / 3}, "B2": {True: 0.5, False: 0.5}}, parents=["box"])
    assert network.query("A")[True] == pytest.approx(3 / 5, **EXACT)


@pytest.mark.parametrize("smoothing", [0, 1])
def test_naive_bayes_is_the_network_from_the_class_to_every_column(smoothing):
    """W4's rows with their declared levels: stated by hand as a network, converted, and as the classifier itself."""
    levels = {"size": ["small", "medium", "large"], "color": ["red", "blue", "green"], "shape": ["square", "triangle", "circle"]}  # fmt: skip
    rows = pd.DataFrame(
        [("small", "red", "circle"), ("large", "red", "circle"), ("small", "red", "triangle"), ("large", "blue", "circle")],
        columns=list(levels),
    )  # fmt: skip
    y = np.array(["pos", "pos", "neg", "neg"])
    model = mr.NaiveBayesClassifier(levels=levels, smoothing=smoothing).fit(rows, y)
    stated = mr.BayesianNetwork().add("category", ["neg", "pos"], [0.5, 0.5])
    for name, known in levels.items():
        counts = {label: [(rows[name][y == label] == level).sum() for level in known] for label in ("neg", "pos")}
        table = {label: [(n + smoothing) / (2 + 3 * smoothing) for n in row] for label, row in counts.items()}
        stated.add(name, known, table, parents=["category"])
    asked = pd.DataFrame(
        [("small", "red", "circle"), (None, "red", "circle"), ("large", "red", None), (None, None, None)], columns=list(levels)
    )  # fmt: skip
    expected = model.predict_proba(asked)
    for network in (stated, model.to_network("category")):
        np.testing.assert_allclose(network.predict_rows(asked, "category"), expected, rtol=1e-12)
    back = mr.NaiveBayesClassifier.from_network(stated, "category")
    np.testing.assert_allclose(back.predict_proba(asked), expected, rtol=1e-12)
