"""Which numbers of a network matter: beside enumeration, and beside networks that are stated anew with other numbers."""

import matplotlib
import numpy as np
import pytest
from hypothesis import given as drawn, settings, strategies as st

import merula as mr
from merula.core import InputError
from merula.graphs.factors.errors import ImpossibleEvidenceError

REAL = ["asia", "cancer", "earthquake", "survey", "sachs", "child", "alarm", "insurance", "win95pts", "hailfinder", "hepar2"]  # fmt: skip


def stated_anew(network, changes):
    """The network built once more by `add`, with rows replaced: {variable: {position of the row: row}}."""
    found = mr.BayesianNetwork()
    for name in network.topological_order:
        node = network._nodes[name]
        table = node.table.copy()
        for position, row in changes.get(name, {}).items():
            table[position] = row
        found.add(name, node.levels, table, parents=node.parents)
    return found


def row_of(network, parameter):
    """Where the row of a number stands, the row, and the place of the number in it."""
    node = network._nodes[parameter.variable]
    position = tuple(network.levels[name].index(parameter.given[name]) for name in node.parents)
    return position, node.table[position], node.levels.index(parameter.level)


def with_number(network, parameter, value):
    """The network with one number set, the others of the row in proportion."""
    position, row, level = row_of(network, parameter)
    rest = np.delete(row, level)
    others = rest / rest.sum() if rest.sum() > 0 else np.full(len(rest), 1 / len(rest))
    return stated_anew(network, {parameter.variable: {position: np.insert((1 - value) * others, level, value)}})


def answer_of(network, target, level, given):
    posterior = network.query(target, given=given)
    return float(posterior.values[network.levels[target].index(level)])


@settings(max_examples=40, deadline=None)
@drawn(data=st.data())
def test_every_derivative_is_that_of_enumeration(networks, evidence, data):
    stated = data.draw(networks(most=6))
    given = data.draw(evidence(stated))
    target = data.draw(st.sampled_from(stated.names))
    level = data.draw(st.sampled_from(stated.levels[target]))
    if stated.probability(given) == 0:
        with pytest.raises(ImpossibleEvidenceError):
            stated.network.sensitivity(target, level, given)
        return
    found = stated.network.sensitivity(target, level, given)
    position = stated.levels[target].index(level)
    assert found.answer == pytest.approx(stated.posterior([target], given)[position], abs=1e-12)
    told = {(one.variable, one.level, *one.given.items()): slope for one, slope in zip(found.parameters, found.derivatives, strict=True)}  # fmt: skip
    for name, table in stated.tables.items():
        if len(stated.levels[name]) == 1:
            continue
        for at in np.ndindex(table.shape):
            known = {parent: stated.levels[parent][k] for parent, k in zip(stated.parents[name], at[:-1], strict=True)}
            expected = enumerated_derivative(stated, name, at, target, position, given)
            key = (name, stated.levels[name][at[-1]], *known.items())
            assert told.get(key, 0.0) == pytest.approx(expected, abs=1e-9 * max(1.0, abs(expected)))


@settings(max_examples=30, deadline=None)
@drawn(data=st.data())
def test_one_way_functions_are_those_of_enumeration_at_five_points(networks, evidence, data):
    stated = data.draw(networks(most=5))
    given = data.draw(evidence(stated))
    name = data.draw(st.sampled_from(stated.names))
    target = data.draw(st.sampled_from(stated.names))
    if stated.probability(given) == 0 or len(stated.levels[name]) == 1:
        return
    table = stated.tables[name]
    at = tuple(data.draw(st.integers(0, size - 1)) for size in table.shape)
    known = {parent: stated.levels[parent][k] for parent, k in zip(stated.parents[name], at[:-1], strict=True)}
    found = stated.network.sensitivity(target, stated.levels[target][0], given)
    one = found.function(name, stated.levels[name][at[-1]], known)
    rest = np.delete(table[at[:-1]], at[-1])
    others = rest / rest.sum() if rest.sum() > 0 else np.full(len(rest), 1 / len(rest))
    for t in (0.03, 0.2, 0.5, 0.8, 0.97):
        moved = table.copy()
        moved[at[:-1]] = np.insert((1 - t) * others, at[-1], t)
        again = type(stated)(stated.levels, stated.parents, stated.tables | {name: moved})
        if again.probability(given) > 1e-12:
            assert one(t) == pytest.approx(again.posterior([target], given)[0], abs=1e-9)


def enumerated_derivative(stated, name, at, target, position, given):
    """By the quotient rule from sums over the whole joint, in which the row moves towards the level by proportions."""
    table, row = stated.tables[name], stated.tables[name][at[:-1]]
    rest = np.delete(row, at[-1])
    shares = rest / rest.sum() if rest.sum() > 0 else np.full(len(rest), 1 / len(rest))
    direction = np.zeros_like(table)
    direction[at[:-1]] = np.insert(-shares, at[-1], 1.0)
    moving = type(stated)(stated.levels, stated.parents, stated.tables | {name: direction})
    together, slope = stated.sums([target], given), moving.sums([target], given)
    return slope[position] / together.sum() - together[position] * slope.sum() / together.sum() ** 2


@pytest.mark.parametrize("name", REAL)
def test_published_networks_beside_central_differences(name, read_network):
    network, rng = read_network(name), np.random.default_rng(7)
    row = network.sample(1, random_state=3).iloc[0].to_dict()
    known = rng.choice(network.variables, size=min(5, len(row) - 1), replace=False).tolist()
    given = {one: row[one] for one in known}
    target = next(one for one in network.variables if one not in given and len(network.levels[one]) > 1)
    level = network.levels[target][0]
    found = network.sensitivity(target, level, given)
    assert found.answer == pytest.approx(answer_of(network, target, level, given), abs=1e-12)
    for k in rng.choice(len(found), size=min(8, len(found)), replace=False).tolist():
        one, step = found[k], 1e-6
        value = one.parameter.value
        low, high = max(0.0, value - step), min(1.0, value + step)
        ends = [answer_of(with_number(network, one.parameter, t), target, level, given) for t in (low, high)]
        assert one.derivative == pytest.approx((ends[1] - ends[0]) / (high - low), abs=1e-6)
        for t in (0.02, 0.25, 0.5, 0.75, 0.98):  # the function is exact everywhere, not only near by
            assert one(t) == pytest.approx(answer_of(with_number(network, one.parameter, t), target, level, given), abs=1e-9)  # fmt: skip


def test_numbers_that_are_0_or_1_are_told_from_their_one_side(state):
    network = state({
        "alarm": (("on", "off"), (), [0.0, 1.0]),
        "neighbour calls": (("yes", "no"), ("alarm",), [[0.9, 0.1], [0.2, 0.8]]),
    }).network  # fmt: skip
    found = network.sensitivity("alarm", "on", given={"neighbour calls": "yes"})
    never = found.function("alarm", "on")
    assert found.answer == 0.0
    assert never.derivative == pytest.approx(0.9 / 0.2)
    assert never(0.5) == pytest.approx(0.45 / 0.55)
    assert found.function("alarm", "off")(0.5) == pytest.approx(0.45 / 0.55)


def test_a_number_that_makes_the_findings_impossible_gives_no_nan():
    network = mr.BayesianNetwork().add("flu", ["yes", "no"], [0.3, 0.7])
    network.add("fever", ["yes", "no"], [[1.0, 0.0], [0.0, 1.0]], parents=["flu"])
    found = network.sensitivity("flu", "yes", given={"fever": "yes"})
    for one in found:
        assert np.isfinite(one(np.linspace(0, 1, 11))).all()
        assert 0 <= one(0.0) <= 1


def test_noisy_causes_are_asked_by_their_few_numbers():
    """Beside networks stated anew with another strength of one cause, written out and as a chain."""
    for count in (3, 14):
        causes = {f"cause {k}": 0.15 + 0.05 * k for k in range(count)}

        def build(strengths, leak=0.02):
            network = mr.BayesianNetwork()
            for k, name in enumerate(strengths):
                network.add(name, ["no", "yes"], [1 - 0.1 - 0.01 * k, 0.1 + 0.01 * k])
            return network.add("ache", ["no", "yes"], mr.NoisyOr(strengths, leak=leak))

        network = build(causes)
        found = network.sensitivity("cause 1", "yes", given={"ache": "yes", "cause 0": "no"})
        one = found.function("ache", "yes", {"cause 1": "yes"})
        leak = found.function("ache", "yes", {})
        for t in (0.0, 0.3, 0.9):
            again = build(causes | {"cause 1": t})
            assert one(t) == pytest.approx(answer_of(again, "cause 1", "yes", {"ache": "yes", "cause 0": "no"}), abs=1e-9)  # fmt: skip
            again = build(causes, leak=t)
            assert leak(t) == pytest.approx(answer_of(again, "cause 1", "yes", {"ache": "yes", "cause 0": "no"}), abs=1e-9)  # fmt: skip


def test_known_numbers_count_as_findings():
    network = mr.BayesianNetwork().add("sick", ["yes", "no"], [0.2, 0.8])
    numbers = mr.LinearGaussian({"yes": 39.0, "no": 37.0}, variance={"yes": 0.5, "no": 0.4})
    network.add("fever", numbers, parents=["sick"])
    found = network.sensitivity("sick", "yes", given={"fever": 38.4})
    one = found.function("sick", "yes")
    for t in (0.05, 0.5):
        again = mr.BayesianNetwork().add("sick", ["yes", "no"], [t, 1 - t])
        again.add("fever", numbers, parents=["sick"])
        assert one(t) == pytest.approx(answer_of(again, "sick", "yes", {"fever": 38.4}), abs=1e-12)
    with pytest.raises(InputError, match="numeric"):
        network.sensitivity("fever", 38)


def test_the_smallest_change_meets_the_constraint_and_no_smaller_one_does(asia):
    network, given = asia.network, {"x-ray": "yes", "smoker": "yes"}
    found = network.sensitivity("lung cancer", "yes", given)
    bound = found.answer + 0.2 * (1 - found.answer)
    changes = found.smallest_changes(at_least=bound)
    assert changes and found.smallest_changes(at_least=found.answer) == ()
    for change in changes:
        reached = answer_of(with_number(network, change.parameter, change.value), "lung cancer", "yes", given)
        assert reached == pytest.approx(bound, abs=1e-9) == change.answer
        less = change.parameter.value + 0.9 * (change.value - change.parameter.value)
        assert answer_of(with_number(network, change.parameter, less), "lung cancer", "yes", given) < bound
    named = {str(change.parameter) for change in changes}
    for one in found:  # what is not among them cannot bring it about alone
        if str(one.parameter) not in named:
            assert max(one(0.0), one(1.0)) < bound
    fewer = found.smallest_changes(at_most=found.answer / 2)
    assert all(change.answer == pytest.approx(found.answer / 2) for change in fewer)
    with pytest.raises(InputError, match="at_least= or at_most="):
        found.smallest_changes()
    with pytest.raises(InputError, match="from 0 to 1"):
        found.smallest_changes(at_least=1.5)


def test_two_numbers_at_once(asia):
    network, given = asia.network, {"x-ray": "yes"}
    found = network.sensitivity("lung cancer", "yes", given)
    smoker = found.function("smoker", "yes").parameter
    cancer = found.function("lung cancer", "yes", {"smoker": "yes"}).parameter
    both = found.two_way(smoker, cancer)
    for s, t in [(0.1, 0.9), (0.5, 0.1), (0.9, 0.3), (0.0, 1.0)]:
        again = with_number(with_number(network, smoker, s), cancer, t)
        assert both(s, t) == pytest.approx(answer_of(again, "lung cancer", "yes", given), abs=1e-9)
    other = found.function("smoker", "no").parameter
    with pytest.raises(InputError, match="one row"):
        found.two_way(smoker, other)


def test_what_is_printed_and_drawn(asia):
    matplotlib.use("Agg")
    found = asia.network.sensitivity("lung cancer", "yes", {"x-ray": "yes"})
    assert str(found).startswith("P(lung cancer = yes given x-ray = yes) = 0.4887")
    assert "10 % more on P(" in found.sentences()[0]
    assert list(found.to_frame().columns) == ["parameter", "variable", "value", "derivative"]
    assert np.array_equal(np.sort(-np.abs(found.derivatives).round(12)), -np.abs(found.derivatives).round(12))
    ax = found.plot(top=4)
    assert len(ax.get_yticks()) == 4
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(labels)) == 4 and all(len(line) <= 44 for label in labels for line in label.split("\n"))
    ax.figure.canvas.draw()
    legend, last = ax.get_legend().get_window_extent(), ax.patches[0].get_window_extent()
    assert legend.y0 >= last.y1  # it covers no bar: the first one is the highest
    assert len(set(str(found).splitlines())) == len(str(found).splitlines())
    widths = [round(swing.width, 12) for swing in found.swings()]
    assert widths == sorted(widths, reverse=True)


def test_numbers_that_do_not_matter_are_left_out_and_may_be_asked(asia):
    found = asia.network.sensitivity("smoker", "yes", given={"visit to Asia": "yes"})
    assert {one.variable for one in found.parameters} == {"smoker"}
    barren = found.function("tuberculosis", "yes", {"visit to Asia": "yes"})
    assert barren.derivative == 0.0 and barren(0.9) == found.answer
    with pytest.raises(InputError, match="the network has no P"):
        found.function("tuberculosis", "yes", {"smoker": "yes"})


def test_influences_beside_scipy(asia):
    from scipy.spatial.distance import euclidean

    network = asia.network
    told = {(arc.parent, arc.child): arc for arc in network.influences()}
    assert set(told) == set(network.arcs)
    table = asia.tables["dyspnoea"]  # bronchitis, either, dyspnoea
    by_hand = [euclidean(np.sqrt(table[0, k]), np.sqrt(table[1, k])) / np.sqrt(2) for k in range(2)]
    arc = told["bronchitis", "dyspnoea"]
    assert (arc.average, arc.largest) == pytest.approx((np.mean(by_hand), max(by_hand)))
    averages = [round(arc.average, 12) for arc in network.influences()]
    assert averages == sorted(averages, reverse=True)
