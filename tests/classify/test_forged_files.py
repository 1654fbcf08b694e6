"""Forged model files: whatever a stranger writes into one and seals again, it is a proper model or one ValueError.

The seal is a checksum that anyone can compute, so every number and word in a file is changed in a dozen ways here.
"""

import copy
import math
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.classify.model_files import model_of, model_state
from merula.core.archive import read_state, write_state

TRIES = 150  # for each model; the seed picks which
ROWS = 40


@cache
def patients():
    rng = np.random.default_rng(7)
    diagnosis = np.array(["gesund", "krank", "unklar"])[rng.integers(0, 3, ROWS)]
    ill = (diagnosis == "krank") * 1.0
    table = pd.DataFrame(
        {
            "blood pressure": rng.normal(120 + 20 * ill, 10),
            "größe": np.where(rng.random(ROWS) < 0.2, np.nan, rng.normal(1.7, 0.1, ROWS)),
            "色泽": np.where(
                rng.random(ROWS) < 0.1, None, np.array(["blass", "rot", "gelb"])[rng.integers(0, 3, ROWS)]
            ),
            "smoker": np.array(["no", "yes"])[rng.integers(0, 2, ROWS)],
        }
    )
    return table, diagnosis


@cache
def visits():
    rng = np.random.default_rng(8)
    return pd.DataFrame({"visits": rng.poisson(3, ROWS) * (rng.random(ROWS) < 0.7), "rain": rng.poisson(2, ROWS)}), (
        rng.integers(0, 2, ROWS)
    )


@cache
def letters():
    words = ["Husten", "Fieber", "gut", "müde", "Reise"]
    rng = np.random.default_rng(9)
    texts = [" ".join(rng.choice(words, 4)) for _ in range(ROWS)]
    return pd.DataFrame({"letter": texts}), np.array(["krank", "gesund"])[rng.integers(0, 2, ROWS)]


def numeric(family, **options):
    return mr.NaiveBayesClassifier(distributions={"numeric": family}, **options)


ARCS = [("smoker", "class"), ("class", "色泽"), ("色泽", "größe"), ("größe", "blood pressure"), ("class", "größe")]
MODELS = {
    "naive": (patients, lambda: mr.NaiveBayesClassifier()),
    "missing as a level": (patients, lambda: mr.NaiveBayesClassifier(missing="level", unseen="smooth")),
    "auto": (patients, lambda: mr.NaiveBayesClassifier(distributions="auto")),
    "kernel": (patients, lambda: numeric("kernel")),
    "mixture": (patients, lambda: numeric("mixture")),
    "histogram": (patients, lambda: numeric("histogram")),
    "discretized": (patients, lambda: numeric("discretized")),
    "zero-inflated": (patients, lambda: numeric(mr.ZeroInflated())),
    "poisson": (visits, lambda: mr.NaiveBayesClassifier(kinds="count", distributions={"count": "poisson"})),
    "counts": (visits, lambda: mr.NaiveBayesClassifier(kinds="count")),
    "bernoulli": (patients, lambda: mr.NaiveBayesClassifier(kinds={"smoker": "categorical"}, smoothing=0.5)),
    "multinomial": (letters, lambda: mr.NaiveBayesClassifier(kinds="text")),
    "text bernoulli": (
        letters,
        lambda: mr.NaiveBayesClassifier(kinds="text", distributions={"text": mr.Multinomial("bernoulli")}),
    ),
    "full": (patients, lambda: mr.BayesClassifier()),
    "shared": (
        patients,
        lambda: mr.BayesClassifier(distributions={"numeric": mr.MultivariateGaussian(covariance="shared")}),
    ),
    "neighbours": (patients, lambda: mr.NearestNeighborsClassifier(neighbors=3)),
    "network": (patients, lambda: mr.BayesianNetworkClassifier(network=ARCS, numeric="gaussian")),
    "network tree": (patients, lambda: mr.BayesianNetworkClassifier(method="chow-liu", missing="level")),
    "tree of words and numbers": (patients, lambda: mr.TANClassifier(numeric="gaussian")),
    "several parents": (patients, lambda: mr.KDBClassifier(2, numeric="gaussian")),
    "product kernel": (patients, lambda: mr.KernelBayesClassifier()),
    "log-linear": (patients, lambda: mr.LogLinearClassifier(3, max_rounds=4, missing="level")),
    "log-linear twin": (patients, lambda: mr.LogLinearClassifier("gaussian", missing="level")),
    "pool": (patients, lambda: mr.AutoBayesClassifier(max_rounds=4, missing="level")),
    "pool of counts": (visits, lambda: mr.AutoBayesClassifier(max_rounds=4, kinds="count")),
    "pool of texts": (letters, lambda: mr.AutoBayesClassifier(max_rounds=4, kinds="text")),
}


@cache
def fitted(name):
    rows, make = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().fit(*rows())


@pytest.fixture(scope="module")
def state_of(tmp_path_factory):
    """The plain data of a model's file."""
    path = tmp_path_factory.mktemp("files") / "model.merula"

    def read(name):
        fitted(name).save(path)
        return read_state(path)

    return read


def leaves(value, path=()):
    """Where every word, number, array, list and dict of a state stands."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list | tuple):
        for index in range(min(len(value), 4)):
            yield from leaves(value[index], (*path, index))


def changed_array(array, way, rng):
    """An array forged in one of many ways."""
    if way == "dtype":
        kinds = ["c16", "U3", "S2", "f4", ">f8", "i8", "?", "M8[s]", "u1", ">i4", "i4"]
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(kinds), casting="unsafe") if array.dtype.kind != "U" else array.astype("S9")
    if way == "shape":
        shapes = [array.ravel(), array[None], array[..., None], array[:-1], array.T, np.concatenate([array, array[:1]])]
        return shapes[rng.integers(len(shapes))]
    if way == "order":
        return np.asfortranarray(array[::-1])
    if way == "empty":
        return array[:0]
    if not array.size or array.dtype.kind in "OU":
        return np.zeros(3)
    values = [
        np.nan,
        np.inf,
        -np.inf,
        -1.0,
        1e308,
        -1e308,
        1e150,
        -1e150,
        1e-150,
        1e100,
        5e-324,
        1e-320,
        0.0,
        1e6,
        0.5,
        -0.0,
        3.0,
        2.0**31,
    ]
    forged = array.copy()
    with np.errstate(all="ignore"):
        chosen = np.asarray(rng.choice(values)).astype(array.dtype)
    if way == "everywhere":
        forged[...] = chosen
    else:
        forged.flat[rng.integers(forged.size)] = chosen
    return forged


WORDS = [None, True, -7, 1.5, math.nan, math.inf, 10**40, 0, "", "krank", "numeric", [], {}, [[1]], {"a": 1}, "\x00"]


def changed(value, rng):
    """What stands in one place of a state, forged."""
    if isinstance(value, np.ndarray) and value.ndim and rng.random() < 0.9:
        return changed_array(
            value, rng.choice(["dtype", "shape", "order", "empty", "one", "one", "one", "everywhere"]), rng
        )
    if isinstance(value, list) and value and rng.random() < 0.6:
        return [value[::-1], value[:-1], [*value, value[0]], [*value, None]][rng.integers(4)]
    if isinstance(value, dict) and value and rng.random() < 0.6:
        return {key: item for index, (key, item) in enumerate(value.items()) if index}
    return WORDS[rng.integers(len(WORDS))]


def forged(state, rng):
    """A copy of a state with one place changed, and which place that is."""
    places = [path for path in leaves(state) if path]
    path = places[rng.integers(len(places))]
    result = copy.deepcopy(state)
    holder = result
    for key in path[:-1]:
        holder = holder[key]
    try:
        holder[path[-1]] = changed(holder[path[-1]], rng)
    except (ValueError, TypeError):  # a cast that NumPy refuses
        holder[path[-1]] = np.zeros((2, 2))
    return result, path


def proper(model, table):
    """Whether a model answers with probabilities, or says in its own words why this table is none of its."""
    try:
        answer = model.predict_proba(table)
    except mr.InputError:
        return True
    sums = answer.sum(axis=1)
    return bool(np.isfinite(answer).all() and (answer >= 0).all() and np.allclose(sums, 1))


def goes_on(model, table, classes):
    """Learn, merge and save: a ValueError may say no, nothing else may happen."""
    for go_on in (lambda: copy.deepcopy(model).partial_fit(table, classes), lambda: model + model):
        try:
            if not hasattr(model, "partial_fit"):  # its families were chosen from all rows at once
                continue
            assert proper(go_on(), table)
        except ValueError:
            pass


def check(state, table, classes, tmp_path=None):
    """The law: a proper model, or one ValueError."""
    try:
        if tmp_path is None:
            model = model_of(state, "forged.merula")
        else:
            write_state(tmp_path / "forged.merula", state)
            model = mr.load(tmp_path / "forged.merula")
    except ValueError as error:
        assert "forged.merula" in str(error)
        return False
    assert proper(model, table)
    goes_on(model, table, classes)
    assert model_state(model)["model"] == state["model"]
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_a_forged_model_is_a_proper_one_or_one_error(name, state_of):
    table, classes = MODELS[name][0]()
    state = state_of(name)
    assert check(state, table, classes)
    rng = np.random.default_rng(12)
    refused = 0
    for attempt in range(TRIES):
        altered, path = forged(state, rng)
        try:
            refused += not check(altered, table, classes)
        except Exception as error:
            raise AssertionError(f"try {attempt}: {path} in {name}: {error!r}") from error
    assert refused > TRIES / 4


@pytest.mark.filterwarnings("ignore")
def test_a_forged_file_is_refused_as_its_contents_are(tmp_path, state_of):
    table, classes = patients()
    state = state_of("naive")
    rng = np.random.default_rng(3)
    for _ in range(100):
        altered, _ = forged(state, rng)
        check(altered, table, classes, tmp_path)


@pytest.mark.parametrize("name", MODELS)
def test_what_was_not_forged_loads(name, tmp_path):
    fitted(name).save(tmp_path / "model.merula")
    table, _ = MODELS[name][0]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = fitted(name).predict_proba(table)
        np.testing.assert_array_equal(mr.load(tmp_path / "model.merula").predict_proba(table), expected)
