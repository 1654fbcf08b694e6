"""Evidence of every kind on every kind of variable counts, by enumeration, or is refused with one sentence."""

import re

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.core import InputError

AGES, ILL, WORN = ("≤ 40", "(40, 60]", "> 60"), ("no", "yes"), (0, 1, 2)
P_AGE = np.array([0.5, 0.3, 0.2])
P_HIDDEN = np.array([[0.7, 0.3], [0.4, 0.6], [0.1, 0.9]])
P_ILL = np.array([[[0.95, 0.05], [0.7, 0.3]], [[0.8, 0.2], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]])
P_WORN = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
JOINT = np.einsum("a,ah,ahi,iw->ahiw", P_AGE, P_HIDDEN, P_ILL, P_WORN)
AXES = {"age": AGES, "strain": ("low", "high"), "ill": ILL, "worn": WORN}


@pytest.fixture
def clinic():
    """Age as intervals, a strain that no table ever holds, an illness, and wear in whole numbers."""
    network = mr.BayesianNetwork().add("age", AGES, P_AGE).add("strain", ["low", "high"], P_HIDDEN, parents=["age"])
    return network.add("ill", ILL, P_ILL, parents=["age", "strain"]).add("worn", WORN, P_WORN, parents=["ill"])


# what is stated, and the weight that it gives to each level
KNOWN = {
    "a label": ("age", "(40, 60]", [0, 1, 0]),
    "a number": ("age", 45, [0, 1, 0]),
    "a number at the cut": ("age", 40.0, [1, 0, 0]),
    "a number of NumPy": ("age", np.float32(61), [0, 0, 1]),
    "a number beyond floats": ("age", 10**400, [0, 0, 1]),
    "a number below floats": ("age", -(10**400), [1, 0, 0]),
    "a set of labels": ("age", {"≤ 40", "> 60"}, [1, 0, 1]),
    "a set of numbers": ("age", {30, 70.5}, [1, 0, 1]),
    "a set of both": ("age", frozenset({30, "> 60"}), [1, 0, 1]),
    "a list of numbers": ("age", [30, 35, 50], [1, 1, 0]),
    "an array of numbers": ("age", np.array([30.0, 50.0]), [1, 1, 0]),
    "a likelihood by labels": ("age", {"≤ 40": 0.9, "(40, 60]": 0.3, "> 60": 0.1}, [0.9, 0.3, 0.1]),
    "a likelihood by numbers": ("age", {20: 0.9, 50: 0.3, 99: 0.1}, [0.9, 0.3, 0.1]),
    "a likelihood by both": ("age", {50: 0.3, "≤ 40": 0.9, "> 60": 0}, [0.9, 0.3, 0]),
    "a likelihood as a Series": ("age", pd.Series({"≤ 40": 0.9, "(40, 60]": 0.3, "> 60": 0.1}), [0.9, 0.3, 0.1]),
    "a large likelihood": ("age", {"≤ 40": 9e200, "(40, 60]": 3e200, "> 60": 1e200}, [9e200, 3e200, 1e200]),
    "unknown": ("age", None, [1, 1, 1]),
    "not a number": ("age", float("nan"), [1, 1, 1]),
    "a level": ("ill", "yes", [0, 1]),
    "a set of levels": ("worn", {0, 2}, [1, 0, 1]),
    "a list of levels": ("worn", [0, 2], [1, 0, 1]),
    "a likelihood": ("worn", {0: 0.2, 1: 0.5, 2: 3}, [0.2, 0.5, 3]),
    "a whole number as a float": ("worn", 2.0, [0, 0, 1]),
    "a level of what is hidden": ("strain", "high", [0, 1]),
    "a set of what is hidden": ("strain", {"high"}, [0, 1]),
    "a likelihood of what is hidden": ("strain", {"low": 0.2, "high": 0.7}, [0.2, 0.7]),
}
SOFT_TWICE = {"age": {30: 0.9, 50: 0.3, 70: 0.1}, "worn": {0: 0.2, 1: 0.5, 2: 3}}
KNOWN_IDS = pytest.mark.parametrize("name, known, weights", KNOWN.values(), ids=KNOWN.keys())


def weighted(weights):
    """P(all variables, evidence), from {variable: weight of each level}."""
    joint = JOINT
    for name, weight in weights.items():
        joint = joint * np.reshape(np.asarray(weight, float), [-1 if one == name else 1 for one in AXES])
    return joint


def marginal(joint, name):
    """P(one variable) from the whole table."""
    sums = joint.sum(axis=tuple(axis for axis, one in enumerate(AXES) if one != name))
    return sums / sums.sum()


def shares(rows, name):
    """How often each level stands in a column of draws."""
    return [(rows[name] == level).mean() for level in AXES[name]]


@KNOWN_IDS
def test_every_kind_counts_in_every_exact_question(clinic, name, known, weights):
    joint = weighted({name: weights})
    for target in AXES:
        assert clinic.query(target, {name: known}).values == pytest.approx(marginal(joint, target), abs=1e-12)
        assert clinic.posteriors({name: known})[target].values == pytest.approx(marginal(joint, target), abs=1e-12)
    assert clinic.probability({name: known}) == pytest.approx(joint.sum(), rel=1e-12)
    everything = clinic.query(list(AXES), {name: known})
    assert everything.values == pytest.approx(joint / joint.sum(), abs=1e-12)


@KNOWN_IDS
def test_every_kind_counts_in_the_most_probable(clinic, name, known, weights):
    joint = weighted({name: weights})
    levels, chance = clinic.most_probable(given={name: known})
    best = np.unravel_index(np.argmax(joint), joint.shape)
    expected = {one: labels[index] for (one, labels), index in zip(AXES.items(), best, strict=True)}
    assert {**expected, **levels} == expected
    assert chance == pytest.approx(joint.max() / joint.sum(), rel=1e-12)
    levels, chance = clinic.most_probable("worn", given={name: known})
    assert WORN.index(levels["worn"]) == np.argmax(marginal(joint, "worn"))
    assert chance == pytest.approx(marginal(joint, "worn").max(), rel=1e-12)


@pytest.mark.parametrize("method", ["exact", "likelihood-weighting", "gibbs", "forward"])
@pytest.mark.parametrize("known", [SOFT_TWICE["age"], [30, 70], 50], ids=["likelihood", "list", "number"])
def test_every_kind_counts_when_sampling(clinic, method, known):
    weights = {"likelihood": [0.9, 0.3, 0.1], "list": [1, 0, 1], "number": [0, 1, 0]}
    kind = "likelihood" if isinstance(known, dict) else "list" if isinstance(known, list) else "number"
    joint = weighted({"age": weights[kind], "worn": [0.2, 0.5, 3]})
    given = {"age": known, "worn": SOFT_TWICE["worn"]}
    rows = clinic.sample(20_000, given, method=method, random_state=1)
    estimate = clinic.query("ill", given, method=method, samples=20_000, random_state=2)
    for target in AXES:
        assert shares(rows, target) == pytest.approx(marginal(joint, target), abs=0.02)  # > 5 standard errors
    assert estimate.values == pytest.approx(marginal(joint, "ill"), abs=0.02)


def test_several_kinds_together_and_drawn(clinic):
    joint = weighted({"age": [0.9, 0.3, 0.1], "worn": [0.2, 0.5, 3], "ill": [0, 1]})
    given = {**SOFT_TWICE, "ill": "yes", "strain": None}
    assert clinic.query(["strain", "age"], given).values == pytest.approx(
        np.einsum("ahiw->ha", joint) / joint.sum(), abs=1e-12
    )
    assert f"{100 * marginal(joint, 'strain')[1]:.1f}".replace(".", "#46;") in clinic.to_mermaid(True, given)


def test_a_list_that_can_be_read_once_counts_everywhere(clinic):
    joint = weighted({"worn": [1, 0, 1]})
    for ask in (lambda given: clinic.query("ill", given), lambda given: clinic.posteriors(given)["ill"]):
        assert ask({"worn": iter([0, 2])}).values == pytest.approx(marginal(joint, "ill"), abs=1e-12)
    assert clinic.most_probable("ill", {"worn": iter([0, 2])})[1] == pytest.approx(marginal(joint, "ill").max())


REFUSED = {
    "a label that is none": ("age", "≤ 41", "no level '≤ 41'"),
    "True for a number": ("age", True, "no level True"),
    "a complex number": ("age", np.complex128(1), "no level"),
    "an empty set": ("age", set(), "in an empty set"),
    "an empty likelihood": ("age", {}, "says nothing of '≤ 40'"),
    "a part of a likelihood": ("age", {"≤ 40": 1}, "says nothing of '(40, 60]'"),
    "an interval twice": ("age", {30: 0.9, 35: 0.1, 50: 1, 70: 1}, "is stated twice for '≤ 40': 0.9 and 0.1"),
    "a likelihood below 0": ("age", {"≤ 40": -1, "(40, 60]": 1, "> 60": 1}, "finite numbers from 0"),
    "an infinite likelihood": ("age", {"≤ 40": np.inf, "(40, 60]": 1, "> 60": 1}, "finite numbers from 0"),
    "no likelihood at all": ("age", {"≤ 40": 0, "(40, 60]": 0, "> 60": 0}, "not all of them 0"),
    "a likelihood of NaN": ("age", {"≤ 40": np.nan, "(40, 60]": 1, "> 60": 1}, "finite numbers from 0"),
    "a truth for a likelihood": ("age", {"≤ 40": True, "(40, 60]": 1, "> 60": 1}, "is True at '≤ 40'"),
    "a word for a likelihood": ("age", {"≤ 40": "1", "(40, 60]": 1, "> 60": 1}, "is '1' at '≤ 40'"),
    "NaN in a set": ("age", {float("nan")}, "no level nan"),
    "a list in a list": ("age", [[30]], "no level [30]"),
    "a distribution": ("age", mr.JointDistribution("age", {"≤ 40": 0.9, "> 60": 0.1}), "no level"),
    "a number among words": ("ill", 1, "no level 1"),
    "an unknown number": ("worn", 7, "no level 7"),
    "weights in a list": ("ill", [0.9, 0.1], "no level 0.9"),
}


@pytest.mark.parametrize("name, known, message", REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_count_is_refused_everywhere(clinic, name, known, message):
    given = {name: known}
    asks = [
        lambda: clinic.query("strain", given),
        lambda: clinic.query("strain", given, method="gibbs"),
        lambda: clinic.posteriors(given),
        lambda: clinic.probability(given),
        lambda: clinic.most_probable(given=given),
        lambda: clinic.most_probable("strain", given=given),
        lambda: clinic.sample(5, given),
        lambda: clinic.do(given),
        lambda: clinic.to_mermaid(True, given),
    ]
    for ask in asks:
        with pytest.raises(InputError, match=re.escape(message)):
            ask()


# ---------------------------------------------------------------------------------------------------------------- numbers


@pytest.fixture
def scale():
    """A weight that depends on intervals of age."""
    network = mr.BayesianNetwork().add("age", AGES, P_AGE)
    return network.add("weight", mr.LinearGaussian(dict(zip(AGES, (60.0, 75.0, 70.0), strict=True)), variance=25.0), parents=["age"])  # fmt: skip


@pytest.mark.parametrize("known, weights", [({30: 0.9, 50: 0.3, 70: 0.1}, [0.9, 0.3, 0.1]), ({30, 70}, [1, 0, 1]), (50, [0, 1, 0])])  # fmt: skip
def test_intervals_beside_numbers(scale, known, weights):
    density = np.exp(-((72.0 - np.array([60.0, 75.0, 70.0])) ** 2) / 50) / np.sqrt(50 * np.pi)
    joint = P_AGE * weights * density
    assert scale.query("age", {"age": known, "weight": 72}).values == pytest.approx(joint / joint.sum(), rel=1e-9)
    assert scale.probability({"age": known, "weight": 72}) == pytest.approx(joint.sum(), rel=1e-9)
    alone = P_AGE * weights / (P_AGE * weights).sum()
    assert scale.query("weight", {"age": known}).mean == pytest.approx(alone @ [60.0, 75.0, 70.0], rel=1e-9)


@pytest.mark.parametrize(
    "known", [{72: 1.0}, {70, 72}, [72], "72", True, np.inf, 10**400, np.complex64(72), 1e200, np.array([72.0])]
)
def test_a_number_is_known_as_one_finite_number(scale, known):
    for ask in (lambda given: scale.query("age", given), scale.posteriors, scale.probability, lambda given: scale.sample(2, given), scale.do):  # fmt: skip
        with pytest.raises(InputError, match="'weight' is known as"):
            ask({"weight": known})


# ------------------------------------------------------------------------------------------------------------------- rows


def test_rows_take_numbers_or_labels(clinic):
    expected = [marginal(weighted({"age": w}), "ill") for w in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1])]
    tables = [
        pd.DataFrame({"age": [40.0, 41.0, 61.0, np.nan]}),
        pd.DataFrame({"age": ["≤ 40", "(40, 60]", "> 60", None]}),
        pd.DataFrame({"age": pd.Series([40, 41, 61, None], dtype="Int64")}),
    ]
    for table in tables:
        assert clinic.predict_rows(table, "ill") == pytest.approx(np.array(expected), abs=1e-12)
        assert np.exp(clinic.log_probability(table)) == pytest.approx([*P_AGE, 1.0], abs=1e-12)


def test_a_column_of_labels_and_numbers_says_what_it_passes_over(clinic):
    table = pd.DataFrame({"age": pd.Series(["≤ 40", 41], dtype=object)})
    with pytest.warns(UserWarning, match="column 'age' holds level '41' .*treated as missing"):
        assert np.exp(clinic.log_probability(table)) == pytest.approx([0.5, 1.0])
    with pytest.raises(InputError, match="41"):
        clinic.fit(table, levels={name: AXES[name] for name in ("strain", "ill", "worn")})


@pytest.mark.parametrize("cell", [{"≤ 40": 0.9, "(40, 60]": 0.1, "> 60": 0.1}, ["≤ 40"], {"≤ 40"}], ids=["likelihood", "list", "set"])  # fmt: skip
def test_a_cell_of_a_table_holds_one_value(clinic, cell):
    table = pd.DataFrame({"age": pd.Series([cell], dtype=object), "ill": ["no"]})
    for ask in (lambda: clinic.predict_rows(table, "ill"), lambda: clinic.log_probability(table), lambda: clinic.fit(table, levels={"strain": ["low", "high"], "worn": WORN})):  # fmt: skip
        with pytest.raises(TypeError, match="column 'age' holds"):  # as scikit-learn has it
            ask()
