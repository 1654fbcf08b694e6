"""The published networks: posteriors beside stored ones, pyAgrum and pgmpy; how large their trees become.

The two heaviest need gigabytes or many seconds; they are asked when MERULA_SLOW is set.
"""

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.graphs.factors.junction_tree import build_tree
from merula.graphs.factors.order import eliminate

LIGHT = ["asia", "cancer", "earthquake", "survey", "sachs", "child", "alarm", "insurance", "win95pts", "hailfinder", "hepar2"]  # fmt: skip
MIDDLING = ["andes", "pigs", "pathfinder", "water"]
WIDE = ["mildew", "barley", "diabetes", "munin2", "munin3", "munin", "munin4"]
slow = pytest.mark.skipif("MERULA_SLOW" not in os.environ, reason="takes gigabytes; set MERULA_SLOW to ask it")
HEAVY = [pytest.param(name, marks=slow) for name in ("munin1", "link")]
FIGURES = {  # entries of all tables along the best of the classical orders: shared/research/performance.md
    "alarm": 1.3e3, "andes": 7e5, "pigs": 8.8e5, "water": 4.6e6, "mildew": 5.3e6, "diabetes": 1.1e7, "munin": 1.7e7, "barley": 2.0e7, "link": 6.3e7, "munin1": 2.2e8,
}  # fmt: skip


@pytest.fixture(scope="module")
def reference():
    folder = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[4] / "shared" / "data")) / "networks"
    if not (folder / "reference_posteriors.json").exists():
        pytest.skip(f"{folder / 'reference_posteriors.json'} is not there; set MERULA_DATA")
    return json.loads((folder / "reference_posteriors.json").read_text())


def findings(network, rng, count):
    """Levels of some variables that occur together: a row drawn by hand, parents first."""
    row = {}
    for name in network.topological_order:
        node = network._nodes[name]
        position = tuple(network.levels[parent].index(row[parent]) for parent in node.parents)
        row[name] = node.levels[int(rng.choice(len(node.levels), p=node.table[position]))]
    chosen = rng.choice(len(row), size=min(count, len(row) - 1), replace=False)
    return {name: row[name] for i, name in enumerate(network.variables) if i in chosen}


@pytest.mark.parametrize("name", [*LIGHT, "andes", "water", "pigs", *HEAVY[:1]])
def test_stored_posteriors(name, read_network, reference):
    """Their tables were not normalised, ours are: rows that sum to 1 within 3e-7 move a posterior by about as much."""
    network, stored = read_network(name), reference[name]
    assert {one: list(network.levels[one]) for one in stored["states"]} == stored["states"]
    found = network.posteriors() if stored["priors"] else {}
    for one, expected in (stored["priors"] or {}).items():
        np.testing.assert_allclose(found[one].values, expected, rtol=1e-6, atol=1e-9)
    assert stored["queries"]
    for query in stored["queries"]:
        posterior = network.query(query["target"], given=query["evidence"])
        np.testing.assert_allclose(posterior.values, query["posterior"], rtol=1e-6, atol=1e-9)
        assert network.probability(query["evidence"]) == pytest.approx(query["p_evidence"], rel=1e-5)


def in_pyagrum(network):
    """The same tables as a pyAgrum network; variables and levels by number, so that no label can be in the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pyagrum as gum
    net, number = gum.BayesNet(), {name: f"v{i}" for i, name in enumerate(network.variables)}
    for name in network.variables:
        net.add(gum.LabelizedVariable(number[name], "", len(network.levels[name])))
    for parent, child in network.arcs:
        net.addArc(number[parent], number[child])
    for name, node in network._nodes.items():
        parents = len(node.parents)
        slowest_last = node.table.transpose([*range(parents - 1, -1, -1), parents])  # pyAgrum: the child fastest
        net.cpt(number[name]).fillWith(slowest_last.reshape(-1).tolist())
    return gum, net, number


@pytest.mark.parametrize("name", [*LIGHT, "andes", "water"])
def test_posteriors_beside_pyagrum(name, read_network):
    network = read_network(name)
    gum, net, number = in_pyagrum(network)
    rng = np.random.default_rng(len(name))
    for count in (0, 1, 5):
        known = findings(network, rng, count)
        theirs = gum.LazyPropagation(net)
        theirs.setEvidence({number[one]: network.levels[one].index(level) for one, level in known.items()})
        theirs.makeInference()
        found = network.posteriors(known)
        for one in network.variables:
            np.testing.assert_allclose(found[one].values, theirs.posterior(number[one]).toarray(), rtol=0, atol=1e-9)
        assert network.probability(known) == pytest.approx(theirs.evidenceProbability(), rel=1e-9)
        one = network.variables[int(rng.integers(len(network.variables)))]
        np.testing.assert_allclose(network.query(one, known).values, found[one].values, atol=1e-12)


@pytest.mark.parametrize("name", ["asia", "survey", "child", "alarm"])
def test_joint_posteriors_and_explanations_beside_pgmpy(name, read_network, network_file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.inference import VariableElimination
        from pgmpy.models import DiscreteBayesianNetwork

        network = read_network(name)
        model = DiscreteBayesianNetwork(network.arcs)
        model.add_nodes_from(network.variables)
        for one, node in network._nodes.items():
            sizes = [len(network.levels[parent]) for parent in node.parents]
            states = {other: list(network.levels[other]) for other in (one, *node.parents)}
            values = node.table.reshape(-1, len(node.levels)).T
            model.add_cpds(TabularCPD(one, len(node.levels), values, list(node.parents) or None, sizes or None, states))
        theirs = VariableElimination(model)
        rng = np.random.default_rng(3)
        for count in (0, 2, 4):
            known = findings(network, rng, count)
            left = [one for one in network.variables if one not in known]
            targets = [left[i] for i in rng.choice(len(left), 2, replace=False)]
            factor = theirs.query(targets, evidence=known, show_progress=False)
            values = factor.values.transpose([factor.variables.index(one) for one in targets])
            np.testing.assert_allclose(network.query(targets, known).values, values, rtol=0, atol=1e-9)
        if len(left) > 20:
            return  # pgmpy would make the joint table of all that is left
        levels, probability = network.most_probable(given=known)
        best = theirs.map_query(left, evidence=known, show_progress=False)
        assert network.probability({**known, **levels}) >= network.probability({**known, **best}) * (1 - 1e-9)
        assert probability == pytest.approx(network.probability({**known, **levels}) / network.probability(known), rel=1e-9)  # fmt: skip


@pytest.mark.parametrize("name", ["asia", "alarm", "hailfinder", "insurance"])
def test_rows_beside_single_questions(name, read_network):
    network = read_network(name)
    rng = np.random.default_rng(11)
    rows = [findings(network, rng, len(network.variables) // 2) for _ in range(12)]
    target = network.variables[0]
    frame = {one: [row.get(one) for row in rows] for one in network.variables}
    table = pd.DataFrame({one: pd.Series(cells, dtype=object) for one, cells in frame.items()})
    found, logs = network.predict_rows(table, target), network.log_probability(table)
    for row, known in enumerate(rows):
        assert np.exp(logs[row]) == pytest.approx(network.probability(known), rel=1e-10)
        known.pop(target, None)
        np.testing.assert_allclose(found[row], network.query(target, known).values, atol=1e-12)


@pytest.mark.parametrize("name", [*MIDDLING, *WIDE, *HEAVY])
def test_all_posteriors_of_wide_networks_are_distributions(name, read_network):
    """Too wide for a peer in a test: every posterior sums to 1, and a root's posterior is its own table."""
    network = read_network(name)
    for one, posterior in network.posteriors().items():
        assert posterior.values.sum() == pytest.approx(1, abs=1e-9)
        assert posterior.values.min() >= 0
        if not network.parents(one):
            np.testing.assert_allclose(posterior.values, network._nodes[one].table, atol=1e-12)


@pytest.mark.parametrize("name", ["mildew", "pigs", "munin2"])
def test_a_single_question_equals_all_of_them(name, read_network):
    """One variable's own tree holds only its ancestors: another order, another way, the same answer."""
    network = read_network(name)
    rng = np.random.default_rng(2)
    known = findings(network, rng, 3)
    everything = network.posteriors(known)
    for one in rng.choice(network.variables, 5, replace=False).tolist():
        np.testing.assert_allclose(network.query(one, known).values, everything[one].values, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", FIGURES)
def test_trees_are_no_larger_than_the_classical_orders_make_them(name, read_network):
    network = read_network(name)
    number = {one: i for i, one in enumerate(network.variables)}
    cards = [len(network.levels[one]) for one in network.variables]
    scopes = [[number[other] for other in (*network.parents(one), one)] for one in network.variables]
    assert eliminate(cards, scopes).entries <= FIGURES[name]
    assert build_tree(cards, scopes).entries <= FIGURES[name]


def test_link_is_refused_under_a_small_limit_at_once(read_network):
    import tracemalloc

    network = read_network("link")
    tracemalloc.start()
    with pytest.raises(mr.TooWideError, match=r"the limit is 1e\+06 \(8 MB\)"):
        network.posteriors(limit=1e6)
    assert tracemalloc.get_traced_memory()[1] < 100e6
    tracemalloc.stop()
