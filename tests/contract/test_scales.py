"""The law of scales: a column measured in other units gives the same posterior, or one clear refusal, never another answer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import merula as mr

RNG = np.random.default_rng(7)
Y = np.repeat(["Amsel", "Drossel", "Star"], 20)
WINGS = np.round(RNG.normal(np.repeat([[-1.5, 0.3], [0.2, 1.4], [1.3, -0.8]], 20, axis=0), 0.6), 3)
FIXED = np.where((Y == "Star")[:, None], [1.0, -1.0], WINGS)  # one class does not vary
NEW = np.round(RNG.normal(0, 1.5, size=(15, 2)), 3)
SCALES = [*(10.0**e for e in (-300, -250, -200, -170, -165, -163, -162, -161, -160, -158, -155, -154, -150, -145, -140, -130, -120, -100, -60, -10)), 1.0, *(10.0**e for e in (10, 60, 90, 100, 120, 140, 145, 149, 150, 152, 153, 154, 155, 160, 200, 250, 300, 307)), 1e-308, 1e-306]  # fmt: skip


def numeric(family):
    return mr.NaiveBayesClassifier(distributions={"numeric": family})


# those whose answer does not depend on the unit
FREE = {
    "gaussian": mr.NaiveBayesClassifier(),
    "unbiased": mr.NaiveBayesClassifier(variance="unbiased"),
    "kernel": numeric(mr.Kernel()),
    "box kernel": numeric(mr.Kernel("box")),
    "kernel, isj": numeric(mr.Kernel(bandwidth="isj")),
    "kernel, scott": numeric(mr.Kernel(bandwidth="scott")),
    "mixture": numeric(mr.GaussianMixture()),
    "two components": numeric(mr.GaussianMixture(components=2)),
    "histogram": numeric(mr.Histogram()),
    "histogram, mdl": numeric(mr.Histogram(bins="mdl")),
    "discretized": numeric(mr.Discretized()),
    "zero-inflated": numeric(mr.ZeroInflated(mr.Gaussian())),
    "multivariate": mr.BayesClassifier(),
    "textbook": mr.BayesClassifier(shrinkage=0),
    "shared": mr.BayesClassifier(covariance="shared"),
    "diagonal": mr.BayesClassifier(covariance="diagonal"),
    "product kernel": mr.KernelBayesClassifier(),
    "neighbours": mr.NearestNeighborsClassifier(neighbors=5),
    "neighbours, no scale": mr.NearestNeighborsClassifier(neighbors=5, scale="none"),
    "neighbours, by distance": mr.NearestNeighborsClassifier(neighbors=5, scale="none", weights="distance"),
    "neighbours, auto": mr.NearestNeighborsClassifier(neighbors="auto", scale="none"),
    "weighted": mr.NaiveBayesClassifier(weights="conditional"),
    "tree": mr.TANClassifier(),
    "tree, gaussian": mr.TANClassifier(numeric="gaussian"),
    "tree, weighted": mr.TANClassifier(weights="conditional"),
    "super-parent, gaussian": mr.SPODEClassifier(numeric="gaussian"),
    "k-dependence, width": mr.KDBClassifier(numeric="width"),
    "k-dependence, selective": mr.KDBClassifier(select=True),
    "k-dependence, gaussian": mr.KDBClassifier(2, numeric="gaussian"),
    "averaged": mr.AODEClassifier(),
    "network": mr.BayesianNetworkClassifier(),
    "network, gaussian": mr.BayesianNetworkClassifier(numeric="gaussian"),
    "given network, gaussian": mr.BayesianNetworkClassifier(
        network=[("class", "x0"), ("x0", "x1")], numeric="gaussian"
    ),
    "log-linear": mr.LogLinearClassifier(),
    "twin": mr.LogLinearClassifier(order="gaussian"),
}


def answered(model, scale, wings=WINGS):
    """The posterior of new rows in this unit; None where the table is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.fit(wings * scale, Y).predict_proba(NEW * scale)
        except mr.InputError as error:
            assert "rescale it" in str(error), error
            assert "'x0'" in str(error) or "'x1'" in str(error)
            return None


@pytest.mark.parametrize("wings", [WINGS, FIXED], ids=["all vary", "one class is constant"])
@pytest.mark.parametrize("name", FREE)
def test_another_unit_gives_the_same_answer_or_a_refusal(name, wings):
    if name == "textbook" and wings is FIXED:
        return  # a class without variance has no textbook covariance, in any unit
    model, expected = FREE[name], answered(FREE[name], 1.0, wings)
    for scale in SCALES[::4] if isinstance(model, mr.LogLinearClassifier) else SCALES[::2]:
        found = answered(model, scale, wings)
        if found is None:
            assert not 1e-120 <= scale <= 1e120, scale  # units in between are never refused
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9, err_msg=f"{scale:g}")


@pytest.mark.parametrize("name", [name for name in FREE if "neighbours, " not in name])
@pytest.mark.parametrize("scale", [1e-200, 1e-162, 1e-158, 1e160, 1e300])
def test_one_column_in_another_unit(name, scale):
    """The other column stays as it is. (Distances that are not scaled depend on the unit of one column, rightly.)"""
    unit = np.array([1.0, scale])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = FREE[name].fit(WINGS, Y).predict_proba(NEW)
        try:
            found = FREE[name].fit(WINGS * unit, Y).predict_proba(NEW * unit)
        except mr.InputError as error:
            assert "'x1'" in str(error)
            return
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


TWO = np.array(["Amsel"] * 50 + ["Star"] * 50)
CODES = (TWO == "Star").astype(float)
APART = CODES * 2 + np.random.default_rng(0).normal(size=100)
BESIDE = APART + np.random.default_rng(1).normal(size=100)
KEEPING = {name: FREE[name] for name in ("gaussian", "multivariate", "tree, gaussian", "super-parent, gaussian", "network, gaussian")}  # fmt: skip


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("scale", [1e-250, 1e-170, 1e-165, 1e-155, 1e-145, 1e130, 1e138, 1e144, 1e148, 1e151, 1e153])
@pytest.mark.parametrize("weight", [1e-15, 1.0, 1e15])
def test_a_column_in_another_unit_with_weights(name, scale, weight):
    """What is summed is weight times square: it may overflow, or vanish, where neither does by itself."""
    model, weights = KEEPING[name], np.full(100, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.fit(np.c_[APART, BESIDE], TWO, weights).predict_proba(np.c_[APART, BESIDE])
        table = np.c_[APART * scale, BESIDE]
        try:
            found = model.fit(table, TWO, weights).predict_proba(table)
        except mr.InputError as error:
            assert "'x0'" in str(error) and "rescale it" in str(error)
            return
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-165, 1e-160, 1e-150, 1e-100])
def test_a_column_that_differs_between_classes_alone_is_not_taken_for_a_constant(name, scale):
    model = KEEPING[name].__class__(**{**KEEPING[name].get_params(), "kinds": {"x0": "numeric"}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(np.c_[CODES * scale, BESIDE], TWO)
        except mr.InputError as error:
            assert "'x0'" in str(error) and "rescale it" in str(error)
            return
        assert model.score(np.c_[CODES * scale, BESIDE], TWO) == 1.0
