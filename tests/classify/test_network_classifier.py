"""A network as a classifier: by enumeration of its joint, by the network's own answers, and by laws of its own."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

import merula as mr

NAMES = ("色泽", "größe", "cough", "blood type")
SIZES = dict(zip(NAMES, (3, 2, 2, 3), strict=True))


def random_network(seed, arcs_of_class=True):
    """A network of four columns and the class, somewhere among them, every arc that order allows with even chances."""
    rng = np.random.default_rng(seed)
    order = [*rng.permutation(NAMES).tolist(), "ill"]
    order.insert(int(rng.integers(0, 5)), order.pop())
    sizes, network = SIZES | {"ill": 3}, mr.BayesianNetwork()
    for position, name in enumerate(order):
        chance = 0.5 if arcs_of_class or "ill" not in (name, *order[:position]) else 0.0
        parents = [one for one in order[:position] if rng.random() < chance]
        table = rng.dirichlet(np.ones(sizes[name]), size=[sizes[one] for one in parents])
        network.add(name, [f"{name[0]}{k}" for k in range(sizes[name])], table, parents=parents)
    return network


def every_row(network):
    """Every row that can be, and every one with cells missing."""
    columns = [name for name in network.variables if name != "ill"]
    rows = itertools.product(*([*network.levels[name], None] for name in columns))
    return pd.DataFrame(list(rows), columns=columns, dtype=object)


def enumerated(network, frame):
    """P(class, known cells) by the product of all tables, summed over every completion."""
    answers = []
    for cells in frame.to_dict("records"):
        joint = np.zeros(3)
        known = [[cell] if isinstance(cell, str) else network.levels[name] for name, cell in cells.items()]
        for row in itertools.product(*known, network.levels["ill"]):
            named = dict(zip([*cells, "ill"], row, strict=True))
            chance = 1.0
            for name in network.variables:
                found = network.distribution(name)
                levels = tuple(network.levels[one].index(named[one]) for one in (*network.parents(name), name))
                chance *= np.asarray(found.values)[levels]
            joint[network.levels["ill"].index(named["ill"])] += chance
        answers.append(joint)
    return np.array(answers)


@pytest.mark.parametrize("seed", range(8))
def test_answers_are_those_of_enumeration(seed):
    network = random_network(seed)
    frame = every_row(network)
    model = mr.BayesianNetworkClassifier.from_network(network, "ill")
    joint = enumerated(network, frame)
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(frame)), joint, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(model.predict_proba(frame), joint / joint.sum(axis=1, keepdims=True), rtol=0, atol=1e-12)
    terms = model.class_log_prior_ + sum(model.terms(frame).values())
    np.testing.assert_allclose(terms, model.predict_joint_log_proba(frame), rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_a_query(seed):
    network = random_network(seed)
    model = mr.BayesianNetworkClassifier.from_network(network, "ill")
    frame = every_row(network).sample(12, random_state=seed)
    for row, found in zip(frame.to_dict("records"), model.predict_proba(frame), strict=True):
        np.testing.assert_allclose(found, network.query("ill", given=row).values, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_columns_outside_a_known_blanket_tell_no_class_from_another(seed):
    network = random_network(seed)
    model = mr.BayesianNetworkClassifier.from_network(network, "ill")
    frame = every_row(network).dropna()
    for key, term in model.terms(frame).items():
        name = key[0][0] if isinstance(key, tuple) else key
        if name not in network.markov_blanket("ill"):
            assert np.ptp(term, axis=1).max() == 0


def test_a_class_that_nothing_touches_keeps_its_prior():
    network = random_network(1, arcs_of_class=False)
    model = mr.BayesianNetworkClassifier.from_network(network, "ill")
    prior = network.query("ill").values
    np.testing.assert_allclose(model.predict_proba(every_row(network)), np.tile(prior, (144, 1)), atol=1e-12)


def mixed(n=200, lost=0.15, seed=0):
    """Words and numbers that hang together, and the diagnosis."""
    rng = np.random.default_rng(seed)
    ill = rng.choice(["gesund", "krank", "unklar"], n, p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame({"smoker": rng.choice(["no", "yes"], n), "色泽": rng.choice(["pink", "white", "yellow"], n)})
    frame["größe"] = rng.normal(170, 9, n) + 4 * (frame["smoker"] == "yes")
    frame["weight"] = 0.9 * frame["größe"] - 90 + rng.normal(0, 5, n) + 6 * (ill == "krank")
    frame["fever"] = rng.normal(37, 0.5, n) + (ill == "krank")
    frame["色泽"] = np.where((ill == "krank") & (rng.random(n) < 0.6), "yellow", frame["色泽"])
    return frame.mask(rng.random(frame.shape) < lost), ill


GRAPH = {
    "class": ["smoker"],
    "色泽": ["class"],
    "größe": ["smoker"],
    "weight": ["class", "größe"],
    "fever": ["class", "色泽"],
}
LEARNED = {
    "given": {"network": GRAPH, "numeric": "gaussian"},
    "given-cut": {"network": GRAPH, "numeric": "quantile", "bins": 3},
    "searched": {},
    "searched-gaussian": {"numeric": "gaussian"},
    "tabu": {"method": "tabu", "numeric": "width", "bins": 3, "max_parents": 2},
    "tree": {"method": "chow-liu", "smoothing": "bdeu"},
    "pc": {"method": "pc"},
}


@pytest.mark.parametrize("name", LEARNED)
def test_answers_are_those_of_the_network_it_becomes(name):
    frame, y = mixed()
    model = mr.BayesianNetworkClassifier(**LEARNED[name]).fit(frame, y)
    network = model.network_
    np.testing.assert_allclose(model.predict_proba(frame), network.predict_rows(frame, "class"), rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.log_evidence(frame), network.log_probability(frame), rtol=0, atol=1e-9)


def test_tables_are_those_that_the_network_learns_itself():
    frame, y = mixed()
    model = mr.BayesianNetworkClassifier(network=GRAPH, numeric="gaussian", smoothing=0.5).fit(frame, y)
    network = mr.BayesianNetwork(GRAPH).fit(frame.assign(**{"class": y}), pseudo_counts=0.5)
    expected = network.predict_rows(frame, "class")
    np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=0, atol=1e-7)


def test_arcs_are_those_that_learn_structure_finds():
    frame, y = mixed(lost=0.0)
    model = mr.BayesianNetworkClassifier(numeric="gaussian", required=[("smoker", "class")]).fit(frame, y)
    network = mr.learn_structure(frame.assign(**{"class": y}), required=[("smoker", "class")])
    assert set(model.network_.arcs) == set(network.arcs)


@pytest.mark.parametrize("name", ["given", "tree"])
def test_batches_and_merged_models_are_one_fit(name):
    frame, y = mixed()
    if name == "tree":
        frame = frame[["smoker", "色泽"]].assign(cough=frame["fever"] > 37.5)
    whole = mr.BayesianNetworkClassifier(**LEARNED[name]).fit(frame, y)
    batches = mr.BayesianNetworkClassifier(**LEARNED[name])
    for start in range(0, 200, 67):
        batches.partial_fit(frame[start : start + 67], y[start : start + 67])
    parts = [mr.BayesianNetworkClassifier(**LEARNED[name]).fit(frame[k::2], y[k::2]) for k in range(2)]
    expected = whole.predict_log_proba(frame)
    for other in (batches, parts[0] + parts[1], parts[1] + parts[0]):
        assert other.network_.arcs == whole.network_.arcs
        np.testing.assert_allclose(other.predict_log_proba(frame), expected, rtol=1e-9, atol=1e-9)


def test_arcs_that_were_searched_for_do_not_add():
    frame, y = mixed()
    model = mr.BayesianNetworkClassifier().fit(frame, y)
    with pytest.raises(
        mr.InputError,
        match="models cannot be merged: the arcs of this network were searched for among all rows at once",
    ):
        model + model
    assert not hasattr(model, "partial_fit")
    fixed = mr.BayesianNetworkClassifier(network=model.network_, numeric="gaussian")
    assert hasattr(fixed, "partial_fit")


def test_missing_as_a_level_speaks():
    frame = pd.DataFrame({"cough": ["yes", None, "yes", None] * 10})
    y = ["ill", "well", "ill", "well"] * 10
    model = mr.BayesianNetworkClassifier(network=[("class", "cough")], missing="level", smoothing=0).fit(frame, y)
    assert model.predict_proba(frame[:2]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("options", [{}, {"numeric": "gaussian"}, {"method": "pc"}, {"method": "tabu"}])
@pytest.mark.parametrize("rows", [2, 3, 10])
def test_few_rows_only_numbers_and_one_column(options, rows):
    rng = np.random.default_rng(rows)
    X, y = rng.normal(size=(rows, 3)), np.arange(rows) % min(rows, 3)
    for columns in ([0], [0, 1, 2]):
        if options.get("method") == "pc" and options.get("numeric") == "gaussian":
            continue
        posterior = mr.BayesianNetworkClassifier(**options).fit(X[:, columns], y).predict_proba(X[:, columns])
        np.testing.assert_allclose(posterior.sum(axis=1), 1)


def test_classes_may_be_named_like_anything_but_a_column():
    with pytest.raises(mr.InputError, match="target is 'class', which is a column of the table too"):
        mr.BayesianNetworkClassifier().fit(pd.DataFrame({"class": ["a", "b"]}), [0, 1])
    model = mr.BayesianNetworkClassifier(target="grade").fit(pd.DataFrame({"class": ["a", "b"] * 9}), [0, 1] * 9)
    assert model.network_.arcs in ([("class", "grade")], [("grade", "class")])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"network": [("class", "x0")], "method": "pc"}, "method='pc' does nothing with network="),
        ({"method": "pc", "structure_score": "bic"}, "structure_score=.bic. does nothing with method=.pc."),
        ({"method": "chow-liu", "max_parents": 2}, "max_parents= does nothing with method='chow-liu'"),
        ({"network": [("class", "height")]}, "network names the variable 'height', which is no column"),
        ({"network": [("ill", "x0")]}, "target is 'class'"),
        ({"numeric": "gaussian", "bins": 3}, "bins=3 does nothing with numeric='gaussian'"),
        ({"numeric": "gaussian", "missing": "level"}, "missing='level' needs columns of levels alone"),
        ({"numeric": "gaussian", "method": "chow-liu"}, "is numeric, but method='chow-liu' counts levels; cut numbers"),
        ({"numeric": "gaussian", "method": "pc"}, "is numeric, but method='pc' counts levels; cut numbers"),
        (
            {"network": [("class", "x0")], "distributions": {"x0": "gaussian"}},
            "network= does nothing: no column is left",
        ),
        (
            {"required": [("class", "x0")], "distributions": {"x0": "gaussian"}},
            "required= does nothing: no column is left",
        ),
        ({"required": 5}, "required is 5, expected a list of arcs"),
        ({"method": ""}, "method is ''"),
        (
            {"numeric": "gaussian", "structure_score": "k2"},
            "structure_score='k2' cannot count; use structure_score='bic'",
        ),
        ({"numeric": "gaussian", "required": [("x0", "class")]}, "required arc 'x0' → 'class' makes numeric column"),
        ({"class_prior": "emp"}, "class_prior is 'emp', expected one of 'network', 'empirical'"),
        ({"numeric": "gaussian", "network": [("x0", "class")]}, "'class' has levels, so its parents must too"),
        ({"smoothing": "backoff"}, "smoothing is 'backoff', expected a pseudo-count from 0, or 'bdeu'"),
        ({"unseen": "smooth"}, "unseen is 'smooth'"),
    ],
)
def test_options_that_make_no_sense_are_one_sentence(options, told):
    with pytest.raises(ValueError, match=told):
        mr.BayesianNetworkClassifier(**options).fit([[1.5], [2.5]] * 5, [0, 1] * 5)


def test_saved_and_loaded_the_network_is_the_same(tmp_path):
    frame, y = mixed()
    for name in ("given", "searched", "tree"):
        model = mr.BayesianNetworkClassifier(**LEARNED[name]).fit(frame, y)
        model.save(tmp_path / "model.merula")
        loaded = mr.load(tmp_path / "model.merula")
        np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
        assert loaded.network_.arcs == model.network_.arcs
    loaded = mr.load(tmp_path / "model.merula").partial_fit(frame, y)
    twice = mr.BayesianNetworkClassifier(**LEARNED["tree"]).fit(frame, y).partial_fit(frame, y)
    np.testing.assert_array_equal(loaded.predict_proba(frame), twice.predict_proba(frame))


def test_pgmpy_says_the_same():
    with warnings.catch_warnings():  # it warns of its own ways
        warnings.simplefilter("ignore")
        models = pytest.importorskip("pgmpy.models")
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.inference import VariableElimination

    network = random_network(3)
    theirs = getattr(models, "DiscreteBayesianNetwork", None) or models.BayesianNetwork
    other = theirs(network.arcs)
    other.add_nodes_from(network.variables)
    for name in network.variables:
        parents = list(network.parents(name))
        table = np.asarray(network.distribution(name).values)
        flat = table.reshape(-1, table.shape[-1]).T
        names = {one: list(network.levels[one]) for one in (name, *parents)}
        cards = [len(network.levels[one]) for one in parents]
        other.add_cpds(TabularCPD(name, table.shape[-1], flat, parents or None, cards or None, state_names=names))
    asked = VariableElimination(other)
    model = mr.BayesianNetworkClassifier.from_network(network, "ill")
    frame = every_row(network).sample(10, random_state=0)
    for row, found in zip(frame.to_dict("records"), model.predict_proba(frame), strict=True):
        known = {name: cell for name, cell in row.items() if isinstance(cell, str)}
        answer = asked.query(["ill"], evidence=known, show_progress=False)
        expected = [answer.get_value(ill=label) for label in model.classes_.tolist()]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_of_two_regressions_that_fit_perfectly_rounding_chooses_none():
    frame = pd.DataFrame(
        {
            "blood pressure": [-0.75, 4.5, 2.25, 0.875, 4, -3.75, 4.5],
            "größe": [2.875, 3.75, -3, 0.375, -1.375, 3, -4.5],
            "temperature": [3.625, 3.625, -1.875, 3.625, -2.125, -2.125, 2.25],
            "色泽": ["white", "white", "yellow", "yellow", "white", "white", "pink"],
        }
    )
    frame["ill"] = ["no", "yes", "yes", "no", "perhaps", "yes", "no"]
    weights = np.array([1, 3, 1, 1, 2, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        weighed = mr.learn_structure(frame, weights=weights)
        repeated = mr.learn_structure(frame.iloc[np.repeat(np.arange(7), weights)])
    assert set(weighed.arcs) == set(repeated.arcs)


def test_a_number_without_parents_may_be_in_a_network_taken_as_it_is():
    network = (
        mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).add("t", mr.LinearGaussian(10.0, variance=4.0))
    )
    model = mr.BayesianNetworkClassifier.from_network(network, "rain")
    np.testing.assert_allclose(model.predict_proba(pd.DataFrame({"t": [9.0]})), [[0.8, 0.2]], rtol=1e-12)


def test_no_arcs_at_all_leave_the_prior():
    model = mr.BayesianNetworkClassifier(network=[], smoothing=0).fit([["a"], ["b"], ["b"], ["b"]], [0, 1, 1, 1])
    np.testing.assert_allclose(model.predict_proba([["a"], ["b"]]), [[0.25, 0.75]] * 2)
