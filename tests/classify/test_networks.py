"""Classifiers as networks and back: the same posteriors to 1e-12, on mixed columns with missing cells."""

import numpy as np
import pandas as pd
import pytest

import merula as mr

CLASSES = np.array(["Amsel", "Drossel", "Star"])


def birds(n=300, seed=0, missing=0.2):
    """Mixed columns that depend on the class, with cells missing at random."""
    rng = np.random.default_rng(seed)
    y = CLASSES[rng.integers(0, 3, n)]
    code = np.searchsorted(CLASSES, y)
    frame = pd.DataFrame(
        {
            "größe": 20.0 + 3 * code + rng.normal(0, 2, n),
            "色泽": np.array(["青绿", "乌黑", "浅白"])[(code + (rng.random(n) < 0.4)) % 3],
            "wing span": 35.0 - 2 * code + rng.normal(0, 1.5, n),
            "nest": np.where(rng.random(n) < 0.2 + 0.3 * code, "tree", "bush"),
            "ringed": rng.random(n) < 0.5,
        }
    )
    for name in frame.columns:
        frame[name] = frame[name].astype(object).where(rng.random(n) >= missing, None)
    return frame.astype({"größe": float, "wing span": float}), y


def check_same(model, network, rows, target="class"):
    """The network's answer about every row is the classifier's."""
    assert network.levels[target] == tuple(model.classes_.tolist())
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(network.predict_rows(rows, target), expected, rtol=1e-12, atol=1e-13)
    for row in (0, 7, len(rows) - 1):
        cells = {name: value for name, value in rows.iloc[row].items() if not pd.isna(value) and name in network.levels}
        found = network.query(target, given=cells).values
        np.testing.assert_allclose(found, expected[row], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "options", [{}, {"smoothing": 0.5, "variance": "unbiased"}, {"class_prior": "uniform"}], ids=str
)
def test_naive_bayes_on_mixed_columns_with_missing_cells(options):
    frame, y = birds()
    model = mr.NaiveBayesClassifier(**options).fit(frame, y)
    network = model.to_network("bird")
    assert network.arcs == [("bird", name) for name in frame.columns]
    check_same(model, network, birds(60, seed=1)[0], "bird")


def test_naive_bayes_there_and_back():
    frame, y = birds()
    model = mr.NaiveBayesClassifier().fit(frame, y)
    again = mr.NaiveBayesClassifier.from_network(model.to_network("bird"), "bird")
    fresh = birds(80, seed=2, missing=0.4)[0]
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.schema_.names == model.schema_.names
    np.testing.assert_allclose(again.predict_proba(fresh), model.predict_proba(fresh), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        again.predict_joint_log_proba(fresh), model.predict_joint_log_proba(fresh), rtol=1e-12, atol=1e-12
    )
    check_same(again, again.to_network("bird"), fresh, "bird")


def test_a_stated_network_becomes_a_classifier():
    """W3 of the worked examples, stated as a network with its classes in no order."""
    network = mr.BayesianNetwork().add("category", ["pos", "neg"], [0.5, 0.5])
    network.add("size", ["small", "medium", "large"], [[0.4, 0.1, 0.5], [0.4, 0.2, 0.4]], parents=["category"])
    network.add("color", ["red", "blue", "green"], [[0.9, 0.05, 0.05], [0.3, 0.3, 0.4]], parents=["category"])
    network.add("shape", ["square", "triangle", "circle"], [[0.05, 0.05, 0.9], [0.4, 0.3, 0.3]], parents=["category"])
    model = mr.NaiveBayesClassifier.from_network(network, "category")
    row = pd.DataFrame({"size": ["medium"], "color": ["red"], "shape": ["circle"]})
    joint = dict(zip(model.classes_.tolist(), np.exp(model.predict_joint_log_proba(row)[0]).tolist(), strict=True))
    assert joint == {"pos": pytest.approx(0.0405, rel=1e-12), "neg": pytest.approx(0.009, rel=1e-12)}
    assert network.query("category", given=row.iloc[0].to_dict())["pos"] == pytest.approx(0.8181818181818182, rel=1e-12)


def test_noisy_and_numeric_variables_become_columns():
    network = mr.BayesianNetwork().add("ill", ["no", "yes"], [0.9, 0.1])
    network.add("fever", ["no", "yes"], mr.NoisyOr({"ill": 0.8}, leak=0.1))
    network.add("temperature", mr.LinearGaussian({"no": 36.8, "yes": 38.5}, {"no": 0.1, "yes": 0.4}), parents=["ill"])
    model = mr.NaiveBayesClassifier.from_network(network, "ill")
    rows = pd.DataFrame({"fever": ["yes", None, "no"], "temperature": [37.5, 38.2, np.nan]})
    np.testing.assert_allclose(model.predict_proba(rows), network.predict_rows(rows, "ill"), rtol=1e-12)
    # Bayes' rule in plain numbers: P(fever given ill) = 1 − 0.9 · 0.2
    joint = [0.9 * 0.1, 0.1 * (1 - 0.9 * 0.2)]
    for k, (mean, variance) in enumerate([(36.8, 0.1), (38.5, 0.4)]):
        joint[k] *= np.exp(-((37.5 - mean) ** 2) / (2 * variance)) / np.sqrt(variance)
    assert model.predict_proba(rows)[0, 1] == pytest.approx(joint[1] / sum(joint), rel=1e-12)


def test_a_converted_model_is_saved_and_loaded(tmp_path):
    frame, y = birds(80)
    model = mr.NaiveBayesClassifier.from_network(mr.NaiveBayesClassifier().fit(frame, y).to_network("bird"), "bird")
    model.save(tmp_path / "birds.merula")
    again = mr.load(tmp_path / "birds.merula")
    assert (again.predict_proba(frame) == model.predict_proba(frame)).all()
    with pytest.raises(ValueError, match="stated, not counted"):
        model.partial_fit(frame, y)


def test_a_missing_level_stays_one():
    frame, y = birds(200)
    words = frame[["色泽", "nest"]]
    model = mr.NaiveBayesClassifier(missing="level").fit(words, y)
    network = model.to_network("bird")
    assert network.levels["nest"] == ("bush", "tree", None)
    np.testing.assert_allclose(network.predict_rows(words, "bird"), model.predict_proba(words), rtol=1e-12)
    again = mr.NaiveBayesClassifier.from_network(network, "bird")
    np.testing.assert_allclose(again.predict_proba(words), model.predict_proba(words), rtol=1e-12)
    with pytest.raises(ValueError, match="column 'größe' is numeric and missing='level'"):
        mr.NaiveBayesClassifier(missing="level").fit(frame, y).to_network()


def test_columns_that_say_nothing_are_left_out():
    frame, y = birds(100, missing=0)
    frame = frame.assign(constant=1.0, note="x", unknown=np.nan)
    model = mr.NaiveBayesClassifier(kinds={"note": "ignore"}).fit(frame, y)
    network = model.to_network()
    assert set(frame.columns) - set(network.variables) == {"constant", "note", "unknown"}
    check_same(model, network, frame)


@pytest.mark.parametrize(
    ("family", "column"),
    [("kernel", "größe"), ("histogram", "wing span"), ("mixture", "größe"), ("discretized", "größe")],
)
def test_other_distributions_are_refused_by_name(family, column):
    frame, y = birds(100, missing=0)
    model = mr.NaiveBayesClassifier(distributions={column: family}).fit(frame, y)
    with pytest.raises(ValueError, match=f"column '{column}' is modelled by .*which a network does not have"):
        model.to_network()


def test_times_are_refused_by_name():
    frame = pd.DataFrame({"seen": pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"])})
    model = mr.NaiveBayesClassifier().fit(frame, ["a", "a", "b", "b"])
    with pytest.raises(ValueError, match="column 'seen' holds times"):
        model.to_network()


def test_the_class_needs_a_name_of_its_own():
    frame, y = birds(50)
    with pytest.raises(ValueError, match="target is 'nest', which is a column"):
        mr.NaiveBayesClassifier().fit(frame, y).to_network("nest")


def test_networks_that_are_not_naive_bayes_are_refused():
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    with pytest.raises(ValueError, match="'rain' has no children"):
        mr.NaiveBayesClassifier.from_network(network, "rain")
    network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
    with pytest.raises(ValueError, match="'wet' has the parent 'rain'"):
        mr.NaiveBayesClassifier.from_network(network, "wet")
    with pytest.raises(ValueError, match="target is 'snow'"):
        mr.NaiveBayesClassifier.from_network(network, "snow")
    network.add("slippery", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["wet"])
    with pytest.raises(ValueError, match=r"'slippery' has the parents \['wet'\], expected \['rain'\] alone"):
        mr.NaiveBayesClassifier.from_network(network, "rain")
    numeric = mr.BayesianNetwork().add("height", mr.LinearGaussian(170.0, 50.0))
    with pytest.raises(ValueError, match="'height', which is numeric"):
        mr.NaiveBayesClassifier.from_network(numeric, "height")
    with pytest.raises(ValueError, match="no probabilities yet"):
        mr.NaiveBayesClassifier.from_network(mr.BayesianNetwork([("rain", "wet")]), "rain")


# --------------------------------------------------------------------------------------------------------------------
# The full Bayes classifier


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal"])
@pytest.mark.parametrize("smoothing", [1, 0.5])
def test_the_full_bayes_classifier_as_a_network(covariance, smoothing):
    frame, y = birds(missing=0.1)
    model = mr.BayesClassifier(covariance=covariance, smoothing=smoothing).fit(frame, y)
    network = model.to_network("bird")
    fresh = birds(40, seed=3)[0]
    np.testing.assert_allclose(network.predict_rows(fresh, "bird"), model.predict_proba(fresh), rtol=1e-9, atol=1e-11)


def test_a_known_joint_as_a_network():
    """W2 of the worked examples: the zero cells of an unsmoothed table are nothing to a network."""
    cells = {("red", "circle", "pos"): 0.5, ("blue", "square", "pos"): 0.1, ("blue", "circle", "neg"): 0.4}
    joint = mr.JointDistribution(["color", "shape", "category"], cells)
    network = mr.BayesClassifier.from_joint(joint, "category").to_network("category")
    for (color, shape, category), p in cells.items():
        assert network.probability({"color": color, "shape": shape, "category": category}) == pytest.approx(
            p, rel=1e-12
        )


@pytest.mark.parametrize(("genes", "cells"), [(14, "2.68e\\+08"), (600, "1e\\+300")])
def test_a_joint_table_too_large_to_write_out_is_refused(genes, cells):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"gene {k}": rng.choice(["a", "c", "g", "t"], 50) for k in range(genes)})
    model = mr.BayesClassifier().fit(frame, rng.choice(["ill", "well"], 50))
    with pytest.raises(ValueError, match=f"{cells} cells for each class"):
        model.to_network()
