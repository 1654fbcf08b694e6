"""The classifiers every contract test runs on, and the patients they learn from.

A test asks for `classifier` (every configuration), `marginalising` (those that average missing cells out) or
`plain_classifier` (those that need no particular column, so that scikit-learn's own checks can feed them bare arrays).
They are never fitted themselves: a test clones first. A new classifier is one more line below.
"""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from sklearn.utils.estimator_checks import parametrize_with_checks

import merula as mr

PLAIN = {
    "naive": mr.NaiveBayesClassifier(),
    "naive-missing-is-a-level": mr.NaiveBayesClassifier(missing="level"),
    "naive-half-unbiased": mr.NaiveBayesClassifier(smoothing=0.5, variance="unbiased", class_prior="uniform"),
    "naive-families": mr.NaiveBayesClassifier(
        distributions={"numeric": mr.Gaussian(variance="unbiased"), "categorical": mr.JointCategorical(smoothing=0.25)}
    ),
    "full": mr.BayesClassifier(),
    "full-missing-is-a-level": mr.BayesClassifier(missing="level", shrinkage=0.2, variance="unbiased"),
    "shared": mr.BayesClassifier(covariance="shared", class_prior="laplace", smoothing=0.5),
    "diagonal": mr.BayesClassifier(covariance="diagonal", unseen="smooth"),
    "kernel": mr.KernelBayesClassifier(),
    "naive-kernel": mr.NaiveBayesClassifier(distributions={"numeric": "kernel"}),
    "naive-histogram": mr.NaiveBayesClassifier(distributions={"numeric": "histogram"}),
    "naive-mdl": mr.NaiveBayesClassifier(distributions={"numeric": mr.Discretized("mdl")}),
    "naive-mixture": mr.NaiveBayesClassifier(distributions={"numeric": "mixture"}),
    "neighbors": mr.NearestNeighborsClassifier(),
    "neighbors-auto-distance": mr.NearestNeighborsClassifier(
        neighbors="auto", weights="distance", class_prior="laplace"
    ),
    "tan": mr.TANClassifier(distributions={"numeric": "gaussian"}),
    "tan-cut": mr.TANClassifier(smoothing=0.5, numeric="quantile", bins=5),
    "spode": mr.SPODEClassifier(distributions={"numeric": "gaussian"}, missing="level"),
    "kdb-cut": mr.KDBClassifier(2),
    "aode": mr.AODEClassifier(subsumption=5, distributions={"numeric": "gaussian"}),
    "aode-cut": mr.AODEClassifier(numeric="quantile", bins=5, unseen="smooth"),
    "naive-weighted": mr.NaiveBayesClassifier(weights="conditional"),
    "tan-weighted": mr.TANClassifier(weights="conditional", distributions={"numeric": "gaussian"}),
    "kdb-weighted": mr.KDBClassifier(2, weights="conditional"),
    "tan-gaussian": mr.TANClassifier(numeric="gaussian"),
    "kdb-gaussian": mr.KDBClassifier(1, numeric="gaussian", smoothing=1),
    "network-tree": mr.BayesianNetworkClassifier(
        method="chow-liu", distributions={"numeric": "gaussian"}, class_prior="empirical"
    ),
    "log-linear": mr.LogLinearClassifier(max_rounds=25),
    "log-linear-columns": mr.LogLinearClassifier(1, max_rounds=10, missing="level", class_prior="laplace"),
    "log-linear-gaussian": mr.LogLinearClassifier("gaussian"),
    "log-linear-gaussian-level": mr.LogLinearClassifier("gaussian", missing="level", class_prior="uniform"),
}
CUTTING = ("tan-cut", "kdb-cut", "aode-cut", "kdb-weighted")  # where numbers are cut, the first batch decides
CONDITIONAL = (
    "naive-weighted", "tan-weighted", "kdb-weighted",
    "log-linear", "log-linear-columns", "log-linear-gaussian", "log-linear-gaussian-level", "auto",
)  # of rows they give P(class given row) alone  # fmt: skip
OF_PATIENTS = {
    "naive-bernoulli": mr.NaiveBayesClassifier(
        distributions={"smoker": mr.Bernoulli(), "categorical": mr.Categorical(smoothing=mr.MEstimate(2))},
        class_prior="laplace",
    ),
    "naive-counts": mr.NaiveBayesClassifier(kinds={"smoker": "count"}),
    "naive-poisson": mr.NaiveBayesClassifier(distributions={"smoker": mr.Poisson(zero_inflated=True)}, missing="level"),
    "naive-zero-inflated": mr.NaiveBayesClassifier(distributions={"smoker": mr.ZeroInflated()}),
    "network-given": mr.BayesianNetworkClassifier(
        network=[("smoker", "class")],
        kinds={"smoker": "categorical"},
        levels={"smoker": [0.0, 1.0]},
        numeric="gaussian",
        smoothing="bdeu",
        class_prior="uniform",
    ),
}
EVERY = PLAIN | OF_PATIENTS
COMPARING = ("naive-histogram", "naive-mdl")  # their numbers are never squared
CHOOSING = {"naive-auto": mr.NaiveBayesClassifier(distributions="auto")}  # the laws alone: each fit is dozens of others
SEARCHING = {  # scikit-learn's checks and the laws: what they choose depends on all rows at once, so there are no batches
    "network-cut": mr.BayesianNetworkClassifier(
        max_parents=2, missing="level", class_prior="laplace", smoothing="bdeu"
    ),
    "network-gaussian": mr.BayesianNetworkClassifier(numeric="gaussian", class_prior="empirical"),
    "kdb-selective": mr.KDBClassifier(2, select=True),
    "aode-weighted": mr.AODEClassifier(weights="out-of-fold"),
    "auto": mr.AutoBayesClassifier(max_rounds=5, missing="marginalise"),
}

# `make test` asks these, at least one of each class; `make test-contract` asks all.
FIRST = {
    "naive", "naive-weighted", "full", "kernel", "neighbors", "tan", "tan-gaussian", "spode", "kdb-cut", "aode", "network-tree",
    "log-linear", "log-linear-gaussian", "naive-auto", "network-cut", "auto",
}  # fmt: skip
# Of the pool, each fit is a dozen others: `make test` asks the laws that it keeps by itself, its parts keep the rest.
OF_POOL = (
    "row_order", "column_order", "level_order", "class_order", "whole_weight", "split_over", "rescaling", "constant_column_changes",
    "everything_missing", "save_and_load", "number_of_threads", "library_of_a_small", "answered_by_itself", "scikit_learn_check",
)  # fmt: skip
ALL = os.environ.get("MERULA_CONTRACT") == "every"
ASKED = {*EVERY, *CHOOSING, *SEARCHING} if ALL else FIRST
OF_CLASSES = set({type(model): name for name, model in reversed(EVERY.items())}.values())
# What is decided above options and families of columns; SPODE, KDB, AODE and TAN have it from the same class.
ABOVE_FAMILIES = ("test_bad_input", "test_scikit_learn_tools", "test_priors_changed", "test_calibration")

settings.register_profile("thorough", max_examples=300)

# Compared under scikit-learn's array-API dispatch, which SciPy reads from the environment when it is first imported.
NEEDS_OWN_PROCESS = "check_array_api_input"


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "one_of_each: shared by all classifiers, so one configuration of each class is enough"
    )
    config.addinivalue_line("markers", "adds: left out for classifiers that cannot learn in batches or be merged")
    config.addinivalue_line(
        "markers", "squares: left out for classifiers that only compare numbers, whatever their size"
    )
    config.addinivalue_line(
        "markers", "sums: left out for mixtures, which have terms and reasons for each of their sums"
    )
    config.addinivalue_line(
        "markers", "generative: left out for conditional models, which learn from all rows at once and with their prior"
    )
    config.addinivalue_line("markers", "needs(parameter): left out for classifiers that have no such parameter")


def pytest_collection_modifyitems(items):
    """Leave out what would ask a classifier for something it does not have."""
    items[:] = [item for item in items if not _beside_the_point(item)]


def _beside_the_point(item):
    given = getattr(getattr(item, "callspec", None), "params", {})
    model = given.get("classifier", given.get("plain_classifier", given.get("marginalising")))
    if model is None or isinstance(model, type):  # a test elsewhere that has a classifier of its own
        return False
    if model is SEARCHING["auto"] and not ALL and not any(law in item.name for law in OF_POOL):
        return True
    comparing = [EVERY[name] for name in (*COMPARING, *CUTTING)] + [
        model for name, model in SEARCHING.items() if name != "network-gaussian"
    ]
    if item.get_closest_marker("squares") and any(model is one for one in comparing):
        return True
    if item.get_closest_marker("adds") and any(model is EVERY[name] for name in CUTTING):
        return True
    if any(model is (EVERY | SEARCHING)[name] for name in CONDITIONAL) and _asks_too_much(item, given):
        return True
    of_sums = item.get_closest_marker("sums") or given.get("method") == "terms"
    if of_sums and isinstance(model, mr.AODEClassifier | mr.AutoBayesClassifier):
        return True
    needed = {name for mark in item.iter_markers("needs") for name in mark.args} | set(given.get("params") or {})
    relative = isinstance(model, mr.NearestNeighborsClassifier)  # its distances in ranges have no volume
    return bool(needed - set(model.get_params())) or (relative and given.get("method") == "log_evidence")


LACKED = {"partial_fit", "log_evidence", "log_likelihood", "aic", "bic", "sample"}  # by conditional models


def _asks_too_much(item, given):
    """Whether a test needs P(row), or rows to be added to a model."""
    named = {value for value in given.values() if isinstance(value, str)}
    marked = any(map(item.get_closest_marker, ("adds", "generative")))
    return marked or bool(named & LACKED) or "partial_fit" in item.function.__code__.co_names


def pytest_generate_tests(metafunc):
    asked = OF_CLASSES if metafunc.definition.get_closest_marker("one_of_each") else ASKED
    if metafunc.module.__name__.endswith(ABOVE_FAMILIES):
        asked = OF_CLASSES if ALL else OF_CLASSES - {"spode", "kdb-cut", "aode"}
    of_laws = metafunc.module.__name__.endswith("test_laws")
    choosing = CHOOSING | SEARCHING if of_laws and not metafunc.definition.get_closest_marker("adds") else {}
    every = EVERY | choosing
    groups = {
        "classifier": every,
        "marginalising": {name: model for name, model in every.items() if model.missing == "marginalise"},
        "plain_classifier": PLAIN | choosing,
    }
    for name, models in groups.items():
        if name in metafunc.fixturenames:
            some = {one: model for one, model in models.items() if one in asked or (one in choosing and one in ASKED)}
            metafunc.parametrize(name, list(some.values()), ids=list(some))
    if "check" in metafunc.fixturenames:
        names, pairs = parametrize_with_checks(
            [m for one, m in (PLAIN | SEARCHING).items() if ALL or one in OF_CLASSES or one in SEARCHING]
        ).args
        pairs = [
            pair
            for pair in pairs
            if "SCIPY_ARRAY_API" in os.environ or getattr(pair[1].func, "__name__", "") != NEEDS_OWN_PROCESS
        ]
        metafunc.parametrize(names, pairs, ids=[_check_name(check) for _, check in pairs])


def _check_name(check):
    options = "-".join(f"{key}={value}" for key, value in check.keywords.items())
    return f"{check.func.__name__}{'-' if options else ''}{options}"


@pytest.fixture
def plain_classifiers():
    """All classifiers that need no particular column, as one list."""
    return list(PLAIN.values())


@pytest.fixture(scope="session")
def patients():
    """90 rows of numbers, words and a 0/1 column; every twelfth cell is missing."""
    rng = np.random.default_rng(20240229)
    diagnosis = rng.choice(["gesund", "krank", "unklar"], size=90, p=[0.5, 0.3, 0.2])
    ill = diagnosis == "krank"
    frame = pd.DataFrame(
        {
            "blood pressure": rng.normal(120, 12, 90) + 15 * ill,
            "größe": rng.normal(171, 9, 90).round(),
            "色泽": np.where(rng.random(90) < 0.3 + 0.4 * ill, "yellow", rng.choice(["pink", "white"], 90)),
            "blood type": rng.choice(["A", "B", "AB", "0"], 90),
            "smoker": (rng.random(90) < 0.2 + 0.5 * ill).astype(float),
        }
    )
    return frame.mask(rng.random(frame.shape) < 1 / 12), pd.Series(diagnosis, name="diagnosis")


@pytest.fixture
def measurements():
    """90 rows of three numbers without names or gaps, three classes; the test's own copy."""
    rng = np.random.default_rng(7)
    species = np.repeat(["amsel", "drossel", "star"], 30)
    centres = {"amsel": [25.0, 100.0, 13.0], "drossel": [22.0, 80.0, 11.0], "star": [21.0, 78.0, 12.5]}
    return np.array([rng.normal(centres[name], [1.0, 7.0, 0.8]) for name in species]), species
