"""Questions to a network: every answer equals that of the full joint table."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import merula as mr
from merula.graphs.structure.graph import d_separated, told_by

LAW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
EXACT = {"rtol": 0, "atol": 1e-12}
# For each combination of answers and limits the trees differ: the whole one, one cut at the evidence, one for two targets.


def close(found, expected):
    np.testing.assert_allclose(found, expected, **EXACT)


# ---------------------------------------------------------------------------------------------------- beside enumeration


@LAW
@given(data=st.data())
def test_the_joint_posterior_of_any_targets(data, networks, evidence):
    stated = data.draw(networks())
    known = data.draw(evidence(stated))
    targets = data.draw(st.lists(st.sampled_from(stated.names), min_size=1, max_size=3, unique=True), label="targets")
    if stated.probability(known) == 0:
        with pytest.raises(mr.ImpossibleEvidenceError):
            stated.network.query(targets, given=known)
        return
    found = stated.network.query(targets, given=known)
    assert found.variables == tuple(targets)
    assert [found.levels[name] for name in targets] == [stated.levels[name] for name in targets]
    close(found.values, stated.posterior(targets, known))


@LAW
@given(data=st.data())
def test_all_posteriors_at_once(data, networks, evidence):
    stated = data.draw(networks())
    known = data.draw(evidence(stated))
    if stated.probability(known) == 0:
        with pytest.raises(mr.ImpossibleEvidenceError):
            stated.network.posteriors(known)
        return
    found = stated.network.posteriors(known)
    assert list(found) == stated.names
    for name, posterior in found.items():
        close(posterior.values, stated.posterior([name], known))
        assert posterior.values.sum() == pytest.approx(1, abs=1e-12)


@LAW
@given(data=st.data())
def test_all_posteriors_of_a_network_too_large_to_stay_in_memory(data, networks, evidence):
    """Trees over `KEPT` entries are cut at the evidence and laid out anew: the same answers by another way."""
    stated = data.draw(networks())
    known = data.draw(evidence(stated))
    assume(stated.probability(known) > 0)
    name = data.draw(st.sampled_from(stated.names))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("merula.graphs.network.inference.KEPT", 0)
        posteriors = stated.network.posteriors(known)
        one = stated.network.query(name, given=known)
    for other, posterior in posteriors.items():
        close(posterior.values, stated.posterior([other], known))
    close(one.values, stated.posterior([name], known))


@LAW
@given(data=st.data())
def test_the_probability_of_the_evidence(data, networks, evidence):
    stated = data.draw(networks())
    known = data.draw(evidence(stated, most=12))
    expected = stated.probability(known)
    assert stated.network.probability(known) == pytest.approx(expected, rel=1e-11, abs=0)


@LAW
@given(data=st.data())
def test_the_most_probable_explanation(data, networks, evidence):
    stated = data.draw(networks())
    known = data.draw(evidence(stated))
    total = stated.probability(known)
    if total == 0:
        with pytest.raises(mr.ImpossibleEvidenceError):
            stated.network.most_probable(given=known)
        return
    levels, probability = stated.network.most_probable(given=known)
    hard = {name for name, value in known.items() if not isinstance(value, set | dict)}
    assert list(levels) == [name for name in stated.names if name not in hard]
    weights = stated.weighted(known)
    full = {**{name: known[name] for name in hard}, **levels}
    position = tuple(stated.levels[name].index(full[name]) for name in stated.names)
    assert weights[position] == pytest.approx(weights.max(), rel=1e-11)
    assert probability == pytest.approx(weights.max() / total, abs=1e-12)


@LAW
@given(data=st.data())
def test_marginal_map(data, networks, evidence):
    stated = data.draw(networks())
    known = data.draw(evidence(stated))
    assume(stated.probability(known) > 0)
    targets = data.draw(st.lists(st.sampled_from(stated.names), min_size=1, max_size=3, unique=True), label="targets")
    levels, probability = stated.network.most_probable(targets, given=known)
    expected = stated.posterior(targets, known)
    assert list(levels) == targets
    position = tuple(stated.levels[name].index(level) for name, level in levels.items())
    assert expected[position] == pytest.approx(expected.max(), abs=1e-12)
    assert probability == pytest.approx(expected.max(), abs=1e-12)


@LAW
@given(data=st.data())
def test_an_intervention_cuts_the_arcs_into_what_is_set(data, networks, evidence, state):
    stated = data.draw(networks())
    actions = data.draw(evidence(stated, kinds=("hard",), most=2), label="actions")
    cut = state(
        {
            name: (stated.levels[name], (), stated.likelihood(name, actions[name]))
            if name in actions
            else (stated.levels[name], stated.parents[name], stated.tables[name])
            for name in stated.names
        }
    )
    after = stated.network.do(actions)
    assert after.graph == cut.parents
    known = data.draw(evidence(stated), label="evidence")
    assume(cut.probability(known) > 0)
    name = data.draw(st.sampled_from(stated.names))
    close(after.query(name, given=known).values, cut.posterior([name], known))
    close(stated.network.query(name).values, stated.posterior([name]))  # the first network is as it was


@LAW
@given(data=st.data())
def test_the_order_of_adding_does_not_matter(data, networks, evidence, state):
    stated = data.draw(networks(8))
    known = data.draw(evidence(stated))
    assume(stated.probability(known) > 0)
    left, order = set(stated.names), []
    while left:
        ready = sorted(name for name in left if not left & set(stated.parents[name]))
        order.append(data.draw(st.sampled_from(ready)))
        left.remove(order[-1])
    again = state({name: (stated.levels[name], stated.parents[name], stated.tables[name]) for name in order})
    name = data.draw(st.sampled_from(stated.names))
    close(again.network.query(name, given=known).values, stated.posterior([name], known))


# --------------------------------------------------------------------------------------------------- kinds of evidence


def test_published_answers_of_asia(asia):
    """Lauritzen & Spiegelhalter (1988), table 4 has these to four digits; here by exact fractions of the stated numbers."""
    network = asia.network
    assert network.query("tuberculosis")["yes"] == pytest.approx(0.0104, abs=1e-12)
    assert network.query("lung cancer")["yes"] == pytest.approx(0.055, abs=1e-12)
    assert network.query("bronchitis")["yes"] == pytest.approx(0.45, abs=1e-12)
    assert network.query("either")["yes"] == pytest.approx(0.055 + 0.945 * 0.0104, abs=1e-12)
    assert network.query("x-ray")["yes"] == pytest.approx(0.05 + 0.93 * 0.064828, abs=1e-12)


def test_soft_evidence_is_the_probability_of_a_signal(state):
    """A signal seen with these probabilities at each level, as a further child would say it."""
    stated = state(
        {
            "rain": (("no", "yes"), (), [0.8, 0.2]),
            "sensor": (("dry", "wet"), ("rain",), [[0.9, 0.1], [0.1, 0.9]]),
        }
    )
    soft = {"rain": {"no": 0.1, "yes": 0.9}}
    assert stated.network.probability(soft) == pytest.approx(0.8 * 0.1 + 0.2 * 0.9, abs=1e-12)
    assert stated.network.probability(soft) == pytest.approx(stated.network.probability({"sensor": "wet"}), abs=1e-12)
    assert stated.network.query("rain", soft)["yes"] == pytest.approx(0.18 / 0.26, abs=1e-12)


def test_only_the_ratios_of_soft_evidence_move_a_posterior(asia):
    large, small = {"yes": 7e300, "no": 3e300}, {"yes": 7e-300, "no": 3e-300}
    expected = asia.posterior(["smoker"], {"x-ray": {"yes": 0.7, "no": 0.3}})
    close(asia.network.query("smoker", {"x-ray": large}).values, expected)
    close(asia.network.query("smoker", {"x-ray": small}).values, expected)


def test_what_is_unknown_may_be_said_as_missing(asia):
    expected = asia.posterior(["smoker"], {"x-ray": "yes"})
    for nothing in (None, float("nan"), np.nan):
        close(asia.network.query("smoker", {"x-ray": "yes", "bronchitis": nothing}).values, expected)


def test_missing_as_a_level_of_its_own():
    network = mr.BayesianNetwork().add("ill", ["no", "yes"], [0.9, 0.1])
    network.add("answer", ["fine", "bad", None], [[0.7, 0.1, 0.2], [0.1, 0.3, 0.6]], parents=["ill"])
    assert network.query("ill", {"answer": None})["yes"] == pytest.approx(0.06 / 0.24, abs=1e-12)


def test_lists_and_arrays_of_levels_are_sets(asia):
    expected = asia.posterior(["smoker"], {"x-ray": "yes"})
    for several in (["yes"], ("yes",), frozenset({"yes"}), np.array(["yes"])):
        close(asia.network.query("smoker", {"x-ray": several}).values, expected)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"x-ray": "maybe"}, "'x-ray' has no level 'maybe', expected one of 'yes', 'no'"),
        ({"x ray": "yes"}, "x-ray"),
        ({"x-ray": {"yes": 0.4}}, "says nothing of 'no'"),
        ({"x-ray": {"yes": 0.0, "no": 0.0}}, "not all of them 0"),
        ({"x-ray": {"yes": -0.1, "no": 0.5}}, "from 0"),
        ({"x-ray": {"yes": np.inf, "no": 0.5}}, "finite"),
        ({"x-ray": {"yes": "much", "no": 0.5}}, "the likelihood of 'x-ray'"),
        ({"x-ray": {"yes": None, "no": 0.5}}, "the likelihood of 'x-ray'"),
        ({"x-ray": set()}, "empty set"),
        ({"x-ray": {"yes", "perhaps"}}, "'perhaps'"),
        ("x-ray", "given is 'x-ray', expected"),
    ],
)
def test_evidence_that_makes_no_sense(asia, known, words):
    for ask in (asia.network.posteriors, asia.network.probability, lambda given: asia.network.query("smoker", given)):
        with pytest.raises(ValueError, match=words.replace("(", r"\(")):
            ask(known)


def test_targets_that_make_no_sense(asia):
    with pytest.raises(ValueError, match="at least one"):
        asia.network.query([])
    with pytest.raises(ValueError, match="did you mean 'smoker'"):
        asia.network.query("smokr")
    with pytest.raises(ValueError, match="more than once"):
        asia.network.query(["smoker", "smoker"])


@pytest.mark.parametrize(
    "actions", [{"x-ray": {"yes", "no"}}, {"x-ray": {"yes": 0.5, "no": 0.5}}, {"x-ray": None}, "x-ray"]
)
def test_an_action_sets_one_level(asia, actions):
    with pytest.raises(ValueError, match="an action sets each variable to one level|given is 'x-ray'"):
        asia.network.do(actions)


# ------------------------------------------------------------------------------------------------- impossible evidence


QUESTIONS = {
    "one": lambda network, known: network.query("smoker", known),
    "several": lambda network, known: network.query(["smoker", "bronchitis"], known),
    "observed": lambda network, known: network.query(["either", "lung cancer"], known),
    "all": lambda network, known: network.posteriors(known),
    "explained": lambda network, known: network.most_probable(given=known),
    "map": lambda network, known: network.most_probable(["smoker"], given=known),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kept", [0, 2**21])
def test_impossible_evidence_is_named_and_changes_nothing(asia, picture, question, kept, monkeypatch):
    monkeypatch.setattr("merula.graphs.network.inference.KEPT", kept)
    network, known = asia.network, {"either": "no", "lung cancer": "yes"}
    before, answer = picture(network), network.posteriors()["x-ray"].values.copy()
    with pytest.raises(mr.ImpossibleEvidenceError, match="either = 'no', lung cancer = 'yes' has probability 0"):
        QUESTIONS[question](network, known)
    assert network.probability(known) == 0.0
    assert picture(network) == before
    assert network.posteriors()["x-ray"].values.tobytes() == answer.tobytes()
    assert not isinstance(QUESTIONS[question](network, {"either": "yes"}), Exception)


def test_impossible_sets_and_likelihoods_are_named_too(asia):
    with pytest.raises(mr.ImpossibleEvidenceError, match=r"either = \{'yes': 0, 'no': 1\}"):
        asia.network.posteriors({"either": {"yes": 0, "no": 1}, "tuberculosis": "yes"})
    with pytest.raises(mr.ImpossibleEvidenceError, match=r"either in \['no'\]"):
        asia.network.posteriors({"either": {"no"}, "tuberculosis": "yes"})


# --------------------------------------------------------------------------------------- improbable is not impossible


def swinging(children, strength, barren=0):
    """A class with two equally probable levels; half of the children speak for one, the other half for the other."""
    rng = np.random.default_rng(5)
    network = mr.BayesianNetwork().add("好瓜", ["是", "否"], [0.4, 0.6])
    logs, given = np.log([0.4, 0.6]), {}
    terms = [[], []]
    for index in range(barren):
        network.add(f"unasked {index}", ["no", "yes"], [[0.5, 0.5], [0.5, 0.5]], parents=["好瓜"])
    for index in range(children):
        low, high = strength * rng.uniform(0.5, 1), rng.uniform(0.7, 0.95)
        pair = (low, high) if index < children // 2 else (high, low)
        network.add(f"test {index}", ["no", "yes"], [[1 - p, p] for p in pair], parents=["好瓜"])
        given[f"test {index}"] = "yes"
        for label in range(2):
            terms[label].append(math.log(pair[label]))
    logs = [math.fsum([math.log(prior), *found]) for prior, found in zip((0.4, 0.6), terms, strict=True)]
    return network, given, logs


def posterior_of(logs):
    return 1 / (1 + math.exp(logs[1] - logs[0])), 1 / (1 + math.exp(logs[0] - logs[1]))


@pytest.fixture(scope="module")
def melons():
    return swinging(2000, 0.2)


@pytest.mark.parametrize("kept", [0, 2**21])
def test_two_thousand_children_that_swing_and_return(melons, kept, monkeypatch):
    """After half of the children one class is 1,500 nats behind; at the end both are near to each other."""
    monkeypatch.setattr("merula.graphs.network.inference.KEPT", kept)
    network, known, logs = melons
    network._forget()
    expected = posterior_of(logs)
    assert min(expected) > 1e-9  # by construction the answer is not trivial
    close(network.query("好瓜", known).values, expected)
    close(network.posteriors(known)["好瓜"].values, expected)
    close(network.query(["好瓜", "test 0"], known).values[:, 1], expected)
    levels, probability = network.most_probable(given=known)
    assert levels == {"好瓜": "是" if expected[0] > expected[1] else "否"}
    assert probability == pytest.approx(max(expected), abs=1e-12)
    rows = {name: [level, level] for name, level in known.items()}
    frame = pd.DataFrame(rows, dtype="category")
    close(network.predict_rows(frame, "好瓜"), [expected, expected])
    total = max(logs) + math.log1p(math.exp(min(logs) - max(logs)))
    np.testing.assert_allclose(network.log_probability(frame), total, rtol=1e-13)


@pytest.mark.parametrize("barren", [0, 1, 300, 330, 1000])
@pytest.mark.parametrize("strength", [1e-240, 1e-150])
def test_two_strong_findings_and_many_that_were_not_made(strength, barren):
    """Each finding alone all but excludes one class; what was not asked must not push the other out of the floats' range."""
    network, known, logs = swinging(2, strength, barren)
    expected = posterior_of(logs)
    close(network.posteriors(known)["好瓜"].values, expected)
    close(network.query("好瓜", known).values, expected)
    close(network.query(["好瓜", "test 0"], known).values[:, 1], expected)
    assert network.most_probable(["好瓜"], given=known)[1] == pytest.approx(max(expected), abs=1e-12)
    cells = {name: pd.Categorical([None, known.get(name)], ["no", "yes"]) for name in network.variables[1:]}
    close(network.predict_rows(pd.DataFrame(cells), "好瓜"), [[0.4, 0.6], expected])


def test_evidence_below_the_range_of_floats_is_possible(asia):
    network = mr.BayesianNetwork().add("defect", ["no", "yes"], [1 - 1e-200, 1e-200])
    network.add("alarm", ["off", "on"], [[1 - 1e-250, 1e-250], [1 - 1e-20, 1e-20]], parents=["defect"])
    network.add("second alarm", ["off", "on"], [[1 - 1e-250, 1e-250], [1 - 1e-180, 1e-180]], parents=["defect"])
    known = {"alarm": "on", "second alarm": "on"}  # e^-1151 without a defect, e^-921 with it
    assert network.probability(known) == 0.0  # too small for a float
    assert network.query("defect", known)["yes"] == pytest.approx(1.0, abs=1e-12)
    assert network.posteriors(known)["defect"]["yes"] == pytest.approx(1.0, abs=1e-12)
    assert network.query(["defect", "alarm"], known)["yes", "on"] == pytest.approx(1.0, abs=1e-12)
    assert network.most_probable(given=known) == ({"defect": "yes"}, pytest.approx(1.0, abs=1e-12))
    soft = {name: {"off": 0.0, "on": 1.0} for name in known}
    assert network.posteriors(soft)["defect"]["yes"] == pytest.approx(1.0, abs=1e-12)
    frame = pd.DataFrame({name: [level] for name, level in known.items()})
    assert network.log_probability(frame)[0] == pytest.approx(-400 * math.log(10), rel=1e-12)
    assert network.predict_rows(frame, "defect")[0, 1] == pytest.approx(1.0, abs=1e-12)


def test_tiny_likelihoods_within_one_table():
    """Three soft findings of 1e-150 each on variables that share a table: their product is below every float."""
    rng = np.random.default_rng(2)
    table = rng.dirichlet([1, 1], size=(2, 2))
    network = mr.BayesianNetwork().add("age", ["young", "old"], [0.3, 0.7]).add("sex", ["f", "m"], [0.5, 0.5])
    network.add("blood pressure", ["low", "high"], table, parents=["age", "sex"])
    tiny = {"age": {"young": 1.0, "old": 1e-150}, "sex": {"f": 1.0, "m": 1e-150}}
    known = {**tiny, "blood pressure": {"low": 1e-150, "high": 1.0}}
    impossible = network.do({"age": "old", "sex": "m"})  # only what the likelihoods all but exclude is left
    close(impossible.query("blood pressure", known).values, table[1, 1] * [1e-150, 1.0] / (table[1, 1] @ [1e-150, 1.0]))
    nearly = impossible.query("blood pressure", {**known, "blood pressure": {"low": 1.0, "high": 1.0}})
    close(nearly.values, table[1, 1])
    both = {**tiny, "blood pressure": {"low": 1e-200, "high": 1e-200 * table[1, 1, 0] / table[1, 1, 1]}}
    close(impossible.posteriors(both)["blood pressure"].values, [0.5, 0.5])


# ------------------------------------------------------------------------------------------------- nothing is changed


def test_queries_change_nothing(asia, picture):
    network = asia.network
    before = picture(network)
    first = {name: posterior.values.tobytes() for name, posterior in network.posteriors({"x-ray": "yes"}).items()}
    for ask in QUESTIONS.values():
        ask(network, {"either": "yes"})
        ask(network, {"x-ray": {"yes": 0.1, "no": 0.7}, "dyspnoea": {"yes"}})
    network.do({"smoker": "no"}).posteriors({"x-ray": "yes"})
    assert picture(network) == before
    after = {name: posterior.values.tobytes() for name, posterior in network.posteriors({"x-ray": "yes"}).items()}
    assert after == first


def test_answers_and_tables_cannot_be_written_to(asia):
    for values in (asia.network.query("smoker").values, asia.network.distribution("either").values, asia.network.posteriors()["smoker"].values):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0.0


def test_four_threads_asking_at_once(asia, monkeypatch):
    monkeypatch.setattr("merula.graphs.network.inference.PLANS", 3)  # layouts are dropped while others ask
    questions = [(targets, {name: level}) for targets in ("smoker", ["x-ray", "bronchitis"]) for name in asia.names for level in ("yes", "no")]  # fmt: skip

    def ask(question):
        targets, known = question
        one = asia.network.query(targets, known).values.tobytes()
        return one, asia.network.posteriors(known)["dyspnoea"].values.tobytes(), asia.network.most_probable(given=known)

    alone = [ask(question) for question in questions]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, questions * 8)) == alone * 8


# -------------------------------------------------------------------------------------------------------------- limits


def wide(parents=40):
    """A naive Bayes model the wrong way round would be too wide: pairs of roots with a common child, all connected."""
    network = mr.BayesianNetwork()
    names = [f"gene {i}" for i in range(parents)]
    for name in names:
        network.add(name, ["wild", "mutant"], [0.9, 0.1])
    for i in range(parents):
        for j in range(i):
            network.add(f"trait {i}-{j}", ["no", "yes"], [[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]], parents=[names[i], names[j]])  # fmt: skip
    return network


def test_too_wide_is_said_before_memory_is_taken():
    import tracemalloc

    network = wide(32)
    known = {f"trait {i}-{j}": "yes" for i in range(32) for j in range(i)}
    asks = [network.posteriors, network.probability, lambda given: network.query("gene 0", given), lambda given: network.query(["gene 0", "gene 1"], given), lambda given: network.most_probable(given=given)]  # fmt: skip
    for ask in asks:
        tracemalloc.start()
        with pytest.raises(mr.TooWideError, match=r"needs tables of .* entries \(.*GB\), the limit is 5\.37e\+08 \(4\.29 GB\); give more evidence, ask for fewer variables at once, raise limit=") as error:  # fmt: skip
            ask(known)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 30e6
        assert error.value.entries >= 2**32 and error.value.limit == 2**29
        assert isinstance(error.value, MemoryError)


def test_a_table_over_too_many_targets_is_refused(asia):
    network = mr.BayesianNetwork()
    for i in range(1200):
        network.add(f"coin {i}", ["heads", "tails"], [0.5, 0.5])
    for count in (30, 63, 64, 65, 1200):
        targets = [f"coin {i}" for i in range(count)]
        with pytest.raises(mr.TooWideError, match="fewer variables at once"):
            network.query(targets)
        with pytest.raises(mr.TooWideError, match="fewer variables at once"):
            network.query(targets, given=dict.fromkeys(targets, "heads"))


def test_the_limit_is_settable_by_network_and_by_question(asia):
    network = asia.network
    questions = list(QUESTIONS.values())
    limited = mr.BayesianNetwork._of(network._nodes.values(), limit=3)
    for ask in questions:
        with pytest.raises(mr.TooWideError, match="the limit is 3"):
            ask(limited, {"x-ray": "yes"})
    with pytest.raises(mr.TooWideError):
        network.query("smoker", {"x-ray": "yes"}, limit=3)
    with pytest.raises(mr.TooWideError):
        network.query(["smoker", "bronchitis"], limit=3)
    with pytest.raises(mr.TooWideError):
        network.posteriors(limit=3)
    with pytest.raises(mr.TooWideError):
        network.probability({"x-ray": "yes"}, limit=3)
    with pytest.raises(mr.TooWideError):
        network.most_probable(limit=3)
    close(limited.query("smoker", limit=1000).values, [0.5, 0.5])
    limited.limit = 1000
    close(limited.query("smoker").values, [0.5, 0.5])
    assert network.do({"smoker": "no"}).limit == network.limit


def test_evidence_makes_a_wide_network_narrow():
    network = wide(24)
    known = {f"gene {i}": "mutant" for i in range(23)}
    posterior = network.query("gene 23", {**known, **{f"trait 23-{j}": "yes" for j in range(23)}}, limit=2000)
    assert posterior["mutant"] == pytest.approx(0.1 * 0.9**23 / (0.1 * 0.9**23 + 0.9 * 0.5**23), abs=1e-12)


def test_evidence_that_tells_nothing_of_the_targets_may_be_too_wide():
    """The wide part hangs below a known variable, or above one: neither is needed for what lies beyond it."""
    network = wide(28)
    known = {f"trait {i}-{j}": "yes" for i in range(28) for j in range(i)}
    network.add("age", ["young", "old"], [0.25, 0.75])
    network.add("ill", ["no", "yes"], [[[0.9, 0.1], [0.5, 0.5]], [[0.2, 0.8], [0.1, 0.9]]], parents=["gene 0", "age"])
    assert network.query("age", {**known, "gene 0": "wild", "ill": "yes"}, limit=1e6)["old"] == pytest.approx(0.75 * 0.5 / (0.75 * 0.5 + 0.25 * 0.1), abs=1e-12)  # fmt: skip
    assert network.query("age", known, limit=1e6)["old"] == pytest.approx(0.75, abs=1e-12)
    with pytest.raises(mr.TooWideError):
        network.query("age", {**known, "ill": "yes"}, limit=1e6)


@LAW
@given(data=st.data())
def test_what_tells_something_of_a_variable_is_what_is_not_separated(data, networks):
    graph = data.draw(networks()).parents
    target, *known = data.draw(st.lists(st.sampled_from(list(graph)), min_size=1, unique=True))
    expected = {name for name in known if not d_separated(graph, target, name, set(known) - {name})}
    assert told_by(graph, target, known) == expected


# --------------------------------------------------------------------------------------------------------------- edges


def test_an_empty_network():
    network = mr.BayesianNetwork()
    assert network.variables == ()
    assert network.posteriors() == {}
    assert network.most_probable() == ({}, 1.0)
    assert network.probability({}) == 1.0
    with pytest.raises(ValueError, match="at least one|expected one of"):
        network.query([])


def test_hundreds_of_variables_with_one_level():
    """Constant columns happen; NumPy arrays have at most 64 axes, tables of one entry need none."""
    network = mr.BayesianNetwork()
    names = [f"constant {i}" for i in range(66)]
    for name in names:
        network.add(name, ["always"], [1.0])
    for i in range(66):
        for j in range(i):
            network.add(f"pair {i}-{j}", ["x", "y"], [[[0.25, 0.75]]], parents=[names[i], names[j]])
    known = {f"pair {i}-{j}": "y" for i in range(66) for j in range(i)}
    assert all(posterior.values.max() == 1.0 for posterior in network.posteriors(known).values())
    close(network.query(["constant 0", "pair 1-0"]).values, [[0.25, 0.75]])
    assert network.most_probable(given=known)[0] == dict.fromkeys(names, "always")
    frame = pd.DataFrame({name: [level] for name, level in known.items()})
    np.testing.assert_allclose(network.log_probability(frame), len(known) * math.log(0.75), rtol=1e-12)
    close(network.predict_rows(frame, "constant 0"), [[1.0]])


def test_a_structure_without_probabilities_cannot_be_asked():
    network = mr.BayesianNetwork([("rain", "wet")])
    for ask in (network.posteriors, network.most_probable, lambda: network.query("rain"), lambda: network.probability({}), lambda: network.do({"rain": "yes"}), lambda: network.distribution("rain")):  # fmt: skip
        with pytest.raises(ValueError, match="no probabilities yet"):
            ask()
