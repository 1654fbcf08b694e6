"""The page's answers about networks beside Python's, and beside the whole joint table."""

import numpy as np
import pytest

import merula as mr
from merula.web.page.network import MOST_ENTRIES, network_data

PUBLISHED = ["alarm", "andes", "asia", "cancer", "child", "earthquake", "hailfinder", "hepar2", "insurance", "sachs", "survey", "win95pts"]  # fmt: skip
CLOSE = 1e-9
ROUNDS = 12


@pytest.mark.parametrize("name", PUBLISHED)
def test_posteriors_and_probability_of_published_networks(name, read_network, ask_page, random_findings):
    network, rng = read_network(name), np.random.default_rng(17)
    cases = [random_findings(network, rng, 8, actions) for actions in (0, 0, 0, 1, 2) for _ in range(ROUNDS // 4)]
    for (page, actions, given), answer in zip(cases, ask_page(network, [["answer", one[0]] for one in cases]), strict=True):  # fmt: skip
        after = network.do(actions) if actions else network
        probability = after.probability(given)
        if probability == 0:  # an action may contradict a finding
            assert answer == {"posteriors": None, "log": -np.inf}
            continue
        for variable, expected in after.posteriors(given).items():
            np.testing.assert_allclose(answer["posteriors"][variable], expected.values, rtol=0, atol=CLOSE)
        assert answer["log"] == pytest.approx(np.log(probability), abs=CLOSE), page


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_most_probable_explanation_is_as_probable_as_python_says(name, read_network, ask_page, random_findings):
    network, rng = read_network(name), np.random.default_rng(18)
    cases = [random_findings(network, rng, 6) for _ in range(4)]
    for (_, _, given), found in zip(cases, ask_page(network, [["mostProbable", one[0]] for one in cases]), strict=True):
        expected, probability = network.most_probable(given=given)
        assert np.exp(found["log"]) == pytest.approx(probability, abs=CLOSE)
        chosen = {variable: network.levels[variable][level] for variable, level in found["levels"].items()}
        everything = {variable: given[variable] if isinstance(given.get(variable), dict) else level for variable, level in chosen.items()}  # fmt: skip
        if not any(isinstance(one, dict) for one in given.values()):
            exact = network.probability(everything) / network.probability(given)
            assert exact == pytest.approx(probability, abs=CLOSE)  # of equally probable ones another may be given
        assert len(chosen) == len(network.variables) >= len(expected)


@pytest.mark.parametrize("name", ["asia", "alarm", "hailfinder", "win95pts", "andes"])
def test_connection_is_d_separation(name, read_network, ask_page, random_findings):
    network, rng = read_network(name), np.random.default_rng(19)
    asks, expected = [], []
    for _ in range(ROUNDS):
        row = network.sample(1, random_state=rng).iloc[0]
        known = rng.permutation(np.array(network.variables, dtype=object))[: rng.integers(0, 6)].tolist()
        start = str(rng.choice(network.variables))
        asks.append(["connected", start, {name: {"is": str(row[name])} for name in known}])
        expected.append({one for one in network.variables if one != start and not network.d_separated(start, one, known)})  # fmt: skip
    assert [set(one) for one in ask_page(network, asks)] == expected


def test_soft_findings_open_colliders_and_actions_cut_arcs(ask_page):
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).add("sprinkler", ["off", "on"], [0.5, 0.5])
    network = network.add("wet", ["no", "yes"], np.full((2, 2, 2), 0.5), parents=["rain", "sprinkler"])
    findings = [{}, {"wet": {"is": "yes"}}, {"wet": {"likelihood": [1, 2]}}, {"wet": {"do": "yes"}}]
    found = ask_page(network, [["connected", "rain", one] for one in findings])
    assert list(map(set, found)) == [{"wet"}, {"sprinkler"}, {"sprinkler", "wet"}, set()]


# -------------------------------------------------------------------------------------------------------------- brute force


def small_network(seed):
    """A random network with zeros in its tables, beside its joint table."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(np.array(["blood pressure", "größe", "色泽", "__proto__", "<b>x</b>", "constructor", "根蒂"], dtype=object)).tolist()  # fmt: skip
    network, operands, axis, levels = mr.BayesianNetwork(), [], {}, {}
    for at, name in enumerate(names):
        parents = rng.permutation(np.array(names[:at], dtype=object))[: rng.integers(0, 4)].tolist()
        levels[name] = [f"{text}{seed}" for text in ("青绿", '"', "</script>", "\u202eno")[: rng.integers(1, 5)]]
        shape = [len(levels[one]) for one in (*parents, name)]
        table = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1]) * (rng.random(shape) < 0.7)
        table = table + (table.sum(axis=-1, keepdims=True) == 0)
        table /= table.sum(axis=-1, keepdims=True)
        network.add(name, levels[name], table, parents=parents)
        axis[name] = at
        operands += [table, [axis[one] for one in (*parents, name)]]
    return network, np.einsum(*operands, list(range(len(names)))), levels


def weighted(joint, levels, likelihoods):
    for name, likelihood in likelihoods.items():
        joint = joint * np.asarray(likelihood).reshape([-1 if one == name else 1 for one in levels])
    return joint


def along(joint, at):
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis != at))


@pytest.mark.parametrize("seed", range(12))
def test_answers_beside_the_whole_joint_table(seed, ask_page):
    network, joint, levels = small_network(seed)
    rng, asks, tables = np.random.default_rng(seed), [], []
    for _ in range(ROUNDS):
        chosen = rng.permutation(np.array(list(levels), dtype=object))[: rng.integers(0, 5)].tolist()
        likelihoods = {name: rng.choice([0.0, 0.0, 0.5, 2.0], len(levels[name])) for name in chosen}
        likelihoods = {name: one if one.any() else one + 1 for name, one in likelihoods.items()}
        findings = {name: {"likelihood": one.tolist()} for name, one in likelihoods.items()}
        asks += [["answer", findings], ["mostProbable", findings]]
        tables.append(weighted(joint, levels, likelihoods))
    found = ask_page(network, asks)
    for table, answer, explained in zip(tables, found[::2], found[1::2], strict=True):
        total = table.sum()
        if total == 0:
            assert answer == {"posteriors": None, "log": -np.inf}
            assert explained is None
            continue
        assert answer["log"] == pytest.approx(np.log(total), abs=CLOSE)
        for at, name in enumerate(levels):
            np.testing.assert_allclose(answer["posteriors"][name], along(table, at) / total, rtol=0, atol=CLOSE)
        assert table[tuple(explained["levels"][name] for name in levels)] == pytest.approx(table.max(), rel=CLOSE)
        assert np.exp(explained["log"]) == pytest.approx(table.max() / total, rel=CLOSE)


@pytest.mark.parametrize("seed", range(6))
def test_next_tests_beside_their_definition(seed, ask_page):
    network, joint, levels = small_network(seed)
    target = max(levels, key=lambda name: len(levels[name]))
    other = next(name for name in levels if name != target)
    findings, prices = {other: {"likelihood": list(range(1, len(levels[other]) + 1))}}, {other: 0.25}
    table = weighted(joint, levels, {other: findings[other]["likelihood"]})
    table = table / table.sum()
    at, (found,) = list(levels).index(target), ask_page(network, [["nextTests", target, findings, prices]])
    shares = along(table, at)
    assert found["risk"] == pytest.approx(1 - shares.max(), abs=CLOSE)
    assert {test["name"] for test in found["tests"]} == set(levels) - {target}
    for test in found["tests"]:
        pair = table.sum(axis=tuple(a for a, name in enumerate(levels) if name not in (target, test["name"])))
        pair = pair if at < list(levels).index(test["name"]) else pair.T
        expected = np.outer(pair.sum(axis=1), pair.sum(axis=0))
        held = pair > 0
        assert test["information"] == pytest.approx((pair[held] * np.log(pair[held] / expected[held])).sum(), abs=CLOSE)
        assert test["reduction"] == pytest.approx(pair.max(axis=0).sum() - shares.max(), abs=CLOSE)
        assert test["gain"] == pytest.approx(test["reduction"] - prices.get(test["name"], 0.0), abs=1e-15)
    ranks = [(-round(test["gain"], 12), -round(test["information"], 12), test["name"]) for test in found["tests"]]
    assert ranks == sorted(ranks)


# ------------------------------------------------------------------------------------------------------ findings of all kinds


def test_findings_that_cannot_be_are_said(ask_page):
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [1.0, 0.0]).add("wet", ["no", "yes"], [[1, 0], [0.2, 0.8]], parents=["rain"])  # fmt: skip
    findings = {"wet": {"is": "yes"}}
    asks = [[method, findings] for method in ("answer", "posteriors", "logProbability", "mostProbable")]
    found = ask_page(network, [*asks, ["nextTests", "rain", findings]])
    assert found == [{"posteriors": None, "log": -np.inf}, None, -np.inf, None, None]


def test_very_improbable_findings_keep_their_digits(ask_page):
    network = mr.BayesianNetwork().add("class", ["well", "ill"], [0.5, 0.5])
    for k in range(40):
        network.add(f"sign {k}", ["no", "yes"], [[1 - 1e-20, 1e-20], [1 - 2e-20, 2e-20]], parents=["class"])
    findings = {f"sign {k}": {"is": "yes"} for k in range(40)}
    answer, explained = ask_page(network, [["answer", findings], ["mostProbable", findings]])
    assert answer["log"] == pytest.approx(np.log(0.5) + 40 * np.log(1e-20) + np.log(1 + 2.0**40), rel=1e-12)
    assert answer["posteriors"]["class"] == pytest.approx([1 / (1 + 2.0**40), 1 / (1 + 2.0**-40)], rel=1e-9)
    assert explained["levels"]["class"] == 1


def test_a_number_names_the_interval_it_lies_in(ask_page):
    labels = ["≤ 2.45", "(2.45, 4.75]", "> 4.75"]
    network = mr.BayesianNetwork().add("petal length", labels, [0.3, 0.3, 0.4])
    network.add("wide", ["no", "yes"], [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]], parents=["petal length"])
    numbers = [-1e300, 2.45, 2.4500001, 4.75, 5]
    found = ask_page(network, [["posteriors", {"petal length": {"is": number}}] for number in numbers])
    for number, answer in zip(numbers, found, strict=True):
        assert answer["wide"] == pytest.approx(network.query("wide", given={"petal length": number}).values, abs=CLOSE)


@pytest.mark.parametrize(
    ("finding", "sentence"),
    [
        ({"rain": {"is": "sleet"}}, "rain has no level sleet."),
        ({"snow": {"is": "yes"}}, "The network has no variable called snow."),
        ({"rain": {"not": ["no", "yes"]}}, "rain cannot be none of its levels: leave at least one."),
        ({"rain": {"likelihood": [0, 0]}}, "rain: state a number from 0 for each level, not all of them 0."),
        ({"rain": {"likelihood": [1]}}, "rain: state a number from 0 for each level, not all of them 0."),
        ({"rain": {"likelihood": [1, -1]}}, "rain: state a number from 0 for each level, not all of them 0."),
        ({"height": {"is": "tall"}}, "height is a number: state a finite one."),
    ],
)
def test_findings_that_cannot_be_read_are_one_sentence(finding, sentence, ask_page):
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).add("height", mr.LinearGaussian(1.0, 2.0))
    assert ask_page(network, [["answer", finding]]) == [{"error": sentence}]


# ------------------------------------------------------------------------------------------------- noisy gates, wide networks


def test_a_noisy_gate_with_many_parents_is_a_chain(ask_page):
    network, causes = mr.BayesianNetwork(), {}
    rng = np.random.default_rng(5)
    for k in range(14):
        network.add(f"cause {k}", ["no", "yes"], [0.9, 0.1])
        causes[f"cause {k}"] = float(rng.random())
    network.add("effect", ["no", "yes"], mr.NoisyOr(causes, leak=0.01))
    network.add("sign", ["no", "yes"], [[0.95, 0.05], [0.3, 0.7]], parents=["effect"])
    given = {"sign": "yes", "cause 3": "no"}
    findings = {name: {"is": level} for name, level in given.items()}
    seen, done, explained = ask_page(network, [["answer", findings], ["answer", {**findings, "effect": {"do": "yes"}}], ["mostProbable", findings]])  # fmt: skip
    assert network_data(network)["unexplained"] == "chains"
    assert explained is None
    for answer, asked in ((seen, network), (done, network.do({"effect": "yes"}))):
        assert answer["log"] == pytest.approx(np.log(asked.probability(given)), abs=CLOSE)
        for name, expected in asked.posteriors(given).items():
            assert answer["posteriors"][name] == pytest.approx(expected.values, abs=CLOSE)


def test_a_tree_that_is_too_wide_is_refused_with_the_reason():
    network = mr.BayesianNetwork()
    for k in range(23):
        network.add(f"switch {k}", ["off", "on"], [0.5, 0.5])
    for k in range(23):
        for j in range(k):
            network.add(f"{j} and {k}", ["no", "yes"], np.full((2, 2, 2), 0.5), parents=[f"switch {j}", f"switch {k}"])
    with pytest.raises(mr.InputError, match=f"a page holds at most {MOST_ENTRIES:,}: its 276 variables"):
        network_data(network)


def test_a_network_without_variables_or_probabilities_is_refused():
    with pytest.raises(mr.InputError, match="no variables"):
        network_data(mr.BayesianNetwork())
    with pytest.raises(mr.InputError, match="no probabilities yet"):
        network_data(mr.BayesianNetwork([("rain", "wet")]))
