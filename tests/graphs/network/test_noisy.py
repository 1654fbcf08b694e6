"""Noisy-OR and noisy-MAX in a network: every answer equals that of the full table, however many causes there are."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import merula as mr

LAW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHAINED = "merula.graphs.network.inference.EXPANDED"  # from how many entries on a gate is a chain of small tables


def table_of(strengths, leak):
    """P(Y given x) by running through what every cause may bring about: the definition, without a formula."""
    sizes, width = [len(rows) for rows in strengths], len(leak)
    table = np.zeros([*sizes, width])
    for x in itertools.product(*map(range, sizes)):
        for z in itertools.product(range(width), repeat=len(sizes) + 1):
            p = leak[z[-1]] * np.prod([rows[xi][zi] for rows, xi, zi in zip(strengths, x, z[:-1], strict=True)])
            table[(*x, max(z))] += p
    return table


@st.composite
def gates(draw):
    """Causes with levels and strengths, an effect with ordered levels, a leak."""
    causes = draw(st.integers(1, 4))
    width = draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = [int(rng.integers(1, 4)) for _ in range(causes)]
    strengths = [rng.dirichlet(np.ones(width), size=size) for size in sizes]
    for rows in strengths:
        rows[0] = np.eye(width)[0]  # the first level of a cause does nothing
    leak = rng.dirichlet(np.ones(width)) if draw(st.booleans()) else np.eye(width)[0]
    priors = [rng.dirichlet(np.ones(size)) for size in sizes]
    return strengths, leak, priors


def levels_of(count, words):
    return tuple(f"{words} {i}" for i in range(count))


def stated_pair(state, strengths, leak, priors):
    """The same network with a gate and with the table written out."""
    effect = levels_of(len(leak), "fever")
    nodes, network = {}, mr.BayesianNetwork()
    for i, prior in enumerate(priors):
        nodes[f"cause {i}"] = (levels_of(len(prior), "grade"), (), prior)
        network.add(f"cause {i}", levels_of(len(prior), "grade"), prior)
    names = tuple(nodes)
    nodes["effect"] = (effect, names, table_of(strengths, leak))
    nodes["noticed"] = (("no", "yes"), ("effect",), np.linspace([0.9, 0.1], [0.2, 0.8], len(leak)))
    effects = {name: {level: dict(zip(effect, row, strict=True)) for level, row in list(zip(levels_of(len(rows), "grade"), rows, strict=True))[1:]} for name, rows in zip(names, strengths, strict=True)}  # fmt: skip
    network.add("effect", effect, mr.NoisyMax(effects, dict(zip(effect, leak, strict=True))))
    network.add("noticed", ("no", "yes"), nodes["noticed"][2], parents=["effect"])
    return state(nodes), network


@LAW
@given(data=st.data(), gate=gates(), chained=st.booleans())
def test_gates_equal_their_definition(data, gate, chained, state, evidence):
    stated, network = stated_pair(state, *gate)
    np.testing.assert_allclose(network._nodes["effect"].table, stated.tables["effect"], atol=1e-14)
    known = data.draw(evidence(stated))
    possible = stated.probability(known) > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CHAINED, 0 if chained else 2**12)
        assert network.probability(known) == pytest.approx(stated.probability(known), rel=1e-10, abs=1e-300)
        if not possible:
            with pytest.raises(mr.ImpossibleEvidenceError):
                network.posteriors(known)
            return
        posteriors = network.posteriors(known)
        pair = network.query(["effect", "cause 0"], given=known)
        levels, probability = network.most_probable(given=known)
    assert list(posteriors) == stated.names
    for name, posterior in posteriors.items():
        np.testing.assert_allclose(posterior.values, stated.posterior([name], known), atol=1e-12)
    np.testing.assert_allclose(pair.values, stated.posterior(["effect", "cause 0"], known), atol=1e-12)
    weights = stated.weighted(known)
    assert probability == pytest.approx(weights.max() / weights.sum(), abs=1e-12)
    full = {**{name: value for name, value in known.items() if not isinstance(value, set | dict)}, **levels}
    position = tuple(stated.levels[name].index(full[name]) for name in stated.names)
    assert weights[position] == pytest.approx(weights.max(), rel=1e-10)


@LAW
@given(data=st.data(), gate=gates(), chained=st.booleans())
def test_rows_through_gates(data, gate, chained, state):
    stated, network = stated_pair(state, *gate)
    cells = {name: [data.draw(st.sampled_from([*levels, None])) for _ in range(5)] for name, levels in stated.levels.items()}  # fmt: skip
    cells = {name: [*column, stated.levels[name][0]] for name, column in cells.items()}
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in cells.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CHAINED, 0 if chained else 2**12)
        logs, complete = network.log_probability(frame), network.log_probability(frame.iloc[5:])
    for row in range(6):
        expected = stated.probability({name: column[row] for name, column in cells.items() if column[row] is not None})
        assert np.exp(logs[row]) == pytest.approx(expected, rel=1e-10, abs=1e-300)
    assert complete[0] == pytest.approx(logs[5], abs=1e-12) if logs[5] > -np.inf else complete[0] == -np.inf


# ----------------------------------------------------------------------------------------------------------- many causes


def forty(strength=0.3, leak=0.05, count=40):
    network = mr.BayesianNetwork()
    names = [f"gene {i}" for i in range(count)]
    strengths = {name: strength + 0.01 * i % 0.5 for i, name in enumerate(names)}
    for name in names:
        network.add(name, ["wild", "mutant"], [0.9, 0.1])
    return network.add("ill", ["no", "yes"], mr.NoisyOr(strengths, leak=leak)), names, strengths


def test_forty_causes_given_all_of_them():
    network, names, strengths = forty()
    active = {"gene 3", "gene 17", "gene 39"}
    known = {name: "mutant" if name in active else "wild" for name in names}
    healthy = 0.95 * np.prod([1 - strengths[name] for name in active])
    assert network.query("ill", known)["no"] == pytest.approx(healthy, abs=1e-12)
    assert network.query("ill", dict.fromkeys(names, "wild"))["no"] == pytest.approx(0.95, abs=1e-12)


def test_forty_causes_summed_out():
    """Causes are independent: P(no effect) is a product; and so it is given that there is none."""
    network, _, strengths = forty()
    healthy = 0.95 * np.prod([1 - 0.1 * p for p in strengths.values()])
    assert network.query("ill")["no"] == pytest.approx(healthy, abs=1e-12)
    posteriors = network.posteriors({"ill": "no"})
    for name, p in strengths.items():
        assert posteriors[name]["mutant"] == pytest.approx(0.1 * (1 - p) / (1 - 0.1 * p), abs=1e-12)
    for name, posterior in network.posteriors({"ill": "yes"}).items():
        if name != "ill":
            without = healthy * (1 - strengths[name]) / (1 - 0.1 * strengths[name])
            assert posterior["mutant"] == pytest.approx(0.1 * (1 - without) / (1 - healthy), abs=1e-12)


def test_forty_causes_with_few_active_beside_brute_force():
    """All but six causes known to be absent: the six are enumerated."""
    network, names, strengths = forty()
    few = names[10:16]
    known = {**{name: "wild" for name in names if name not in few}, "ill": "yes"}
    weights = {}
    for active in itertools.product([False, True], repeat=6):
        prior = np.prod([0.1 if a else 0.9 for a in active])
        healthy = 0.95 * np.prod([1 - strengths[name] if a else 1.0 for name, a in zip(few, active, strict=True)])
        weights[active] = prior * (1 - healthy)
    total = sum(weights.values())
    posteriors = network.posteriors(known)
    for i, name in enumerate(few):
        expected = sum(weight for active, weight in weights.items() if active[i]) / total
        assert posteriors[name]["mutant"] == pytest.approx(expected, abs=1e-12)
    levels, probability = network.most_probable(given=known)
    best = max(weights, key=weights.get)
    assert levels == {name: "mutant" if a else "wild" for name, a in zip(few, best, strict=True)}
    assert probability == pytest.approx(weights[best] / total, abs=1e-12)


def test_the_most_probable_of_forty_causes_is_refused_not_tried():
    network, names, _ = forty()
    with pytest.raises(mr.TooWideError, match=r"2.2e\+12 entries"):
        network.most_probable(given={"ill": "yes"})
    with pytest.raises(mr.TooWideError):
        network.most_probable(given={"ill": "yes"} | dict.fromkeys(names[:30], "wild"), limit=1000)
    levels, _ = network.most_probable(given={"ill": "yes"} | dict.fromkeys(names[:30], "wild"))
    assert list(levels) == names[30:]
    many, names, _ = forty(count=200)
    with pytest.raises(mr.TooWideError):
        many.most_probable()
    assert many.most_probable(given=dict.fromkeys(names[:-1], "wild"))[0] == {names[-1]: "wild", "ill": "no"}


def test_a_hundred_causes_cost_little():
    network, names, strengths = forty(count=100)
    assert network.query("ill", limit=2000)["no"] == pytest.approx(0.95 * np.prod([1 - 0.1 * p for p in strengths.values()]), abs=1e-12)  # fmt: skip
    frame = pd.DataFrame({name: ["wild", "mutant", None] for name in names})
    found = network.predict_rows(frame, "ill", limit=5000)[:, 0]
    expected = [0.95, 0.95 * np.prod([1 - p for p in strengths.values()]), 0.95 * np.prod([1 - 0.1 * p for p in strengths.values()])]  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-12)


# ---------------------------------------------------------------------------------------------------------------- errors


@pytest.fixture
def causes():
    network = mr.BayesianNetwork().add("flu", ["no", "yes"], [0.9, 0.1]).add("cold", ["no", "yes"], [0.7, 0.3])
    return network.add("grade", ["none", "mild", "severe"], [0.5, 0.3, 0.2]).add("smoker", ["T", "F"], [0.3, 0.7])


@pytest.mark.parametrize(
    ("levels", "gate", "words"),
    [
        (["yes", "no"], mr.NoisyOr({"flu": 0.9}), r"'fever' has the levels \['yes', 'no'\].*write \['no', 'yes'\]"),
        ([True, False], mr.NoisyOr({"flu": 0.9}), "write .False, True."),
        (["no", "yes"], mr.NoisyOr({"smoker": 0.9}), r"'smoker' has the levels \['T', 'F'\].*write \['F', 'T'\], or name the level that causes"),
        (["high", "low"], mr.NoisyMax({"flu": {"yes": {"high": 1.0}}}), "write .'low', 'high'."),
        (["no", "mild", "yes"], mr.NoisyOr({"flu": 0.9}), "has two levels.*use NoisyMax"),
        (["no", "yes"], mr.NoisyOr({"grade": 0.9}), "say which of them cause"),
        (["no", "yes"], mr.NoisyOr({"flu": 1.2}), "the strength of 'flu' is 1.2, expected a probability from 0 to 1"),
        (["no", "yes"], mr.NoisyOr({"flu": "strong"}), "strong"),
        (["no", "yes"], mr.NoisyOr({"flu": float("nan")}), "the strength of 'flu' is nan"),
        (["no", "yes"], mr.NoisyOr({"flu": {"perhaps": 0.5}}), "'flu' has no level 'perhaps'"),
        (["no", "yes"], mr.NoisyOr({"flu": 0.9}, leak=-0.1), "the leak is -0.1"),
        (["no", "yes"], mr.NoisyOr({"flue": 0.9}), "a parent of 'fever' is 'flue'.*did you mean 'flu'"),
        (["no", "yes"], mr.NoisyMax({"flu": 0.9}), "the effect of 'flu' on 'fever' is 0.9, expected"),
        (["no", "yes"], mr.NoisyMax({"flu": {"yes": {"yes": 0.9}}}), "by flu = 'yes' sums to 0.9, expected 1"),
        (["no", "yes"], mr.NoisyMax({"flu": {"yes": 0.9}}), "by flu = 'yes' is 0.9, expected"),
        (["no", "yes"], mr.NoisyMax({"flu": {"yes": {"high": 1.0}}}), "'fever' has no level 'high'"),
        (["no", "yes"], mr.NoisyMax({"flu": {"yes": {"yes": 1.0}}}, leak={"no": 0.5}), "the leak sums to 0.5"),
    ],
)  # fmt: skip
def test_gates_that_make_no_sense(causes, picture, levels, gate, words):
    before = picture(causes)
    with pytest.raises(ValueError, match=words):
        causes.add("fever", levels, gate)
    assert picture(causes) == before


def test_parents_named_twice_must_agree(causes, picture):
    before = picture(causes)
    with pytest.raises(
        ValueError, match=r"'fever' has parents=\['cold'\], but its NoisyOr names \['flu'\]; leave parents= out"
    ):
        causes.add("fever", ["no", "yes"], mr.NoisyOr({"flu": 0.9}), parents=["cold"])
    assert picture(causes) == before
    causes.add("fever", ["no", "yes"], mr.NoisyOr({"flu": 0.9, "cold": 0.4}), parents=["cold", "flu"])
    assert causes.query("fever", {"flu": "yes", "cold": "no"})["yes"] == pytest.approx(0.9, abs=1e-12)


def test_the_level_that_causes_may_be_named(causes):
    causes.add(
        "cough", ["no", "yes"], mr.NoisyOr({"smoker": {"T": 0.4}, "grade": {"mild": 0.2, "severe": 0.8}}, leak=0.1)
    )
    for (smoker, p), (grade, q) in itertools.product(
        {"T": 0.4, "F": 0.0}.items(), {"none": 0, "mild": 0.2, "severe": 0.8}.items()
    ):
        found = causes.query("cough", {"smoker": smoker, "grade": grade})["yes"]
        assert found == pytest.approx(1 - 0.9 * (1 - p) * (1 - q), abs=1e-12)


def test_tiny_and_sure_strengths(causes):
    """1 − (1 − p) must not lose a probability of 1e-20; a sure cause leaves no doubt."""
    causes.add("rare", ["no", "yes"], mr.NoisyOr({"flu": 1e-20, "cold": 3e-20}))
    assert causes.query("rare", {"flu": "yes", "cold": "yes"})["yes"] == pytest.approx(4e-20, rel=1e-12)
    causes.add("sure", ["no", "yes"], mr.NoisyOr({"flu": 1.0, "cold": 0.5}))
    assert causes.query("sure", {"flu": "yes", "cold": "no"})["yes"] == 1.0
    with pytest.raises(mr.ImpossibleEvidenceError):
        causes.query("cold", {"sure": "no", "flu": "yes"})


def test_a_gate_without_causes():
    network = mr.BayesianNetwork().add("noise", ["no", "yes"], mr.NoisyOr({}, leak=0.25))
    assert network.query("noise")["yes"] == pytest.approx(0.25, abs=1e-12)
    assert network.parameters_count == 1


def test_a_gate_counts_its_few_numbers():
    network, _, _ = forty()
    assert network.parameters_count == 40 + 41
