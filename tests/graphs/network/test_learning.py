"""Parameters learned from complete rows: counts, every prior, weights, batches, merges, scores."""

import warnings
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import merula as mr
from merula.data.encode.columns import code_columns
from merula.graphs.structure.score import score_graph

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pyAgrum's compiled part warns while it loads, and crashes when that is an error
    import pyagrum
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator, DiscreteMLE

LAW = settings(deadline=None, max_examples=25)
EXACT = {"rel": 0, "abs": 1e-12}
ARCS = {"größe": (), "色泽": ("größe",), "blood pressure": ("größe", "色泽"), "smoker": ("blood pressure",)}
POOL = {"größe": ["klein", "groß"], "色泽": ["青绿", "乌黑", "浅白"], "blood pressure": ["low", "mid", "high"], "smoker": [False, True]}  # fmt: skip


def drawn(rows, seed=0):
    """Rows in which every column depends on those before; every configuration of the parents occurs when there are many."""
    rng = np.random.default_rng(seed)
    size = rng.integers(2, size=rows)
    colour = (size + rng.choice(3, size=rows, p=[0.6, 0.3, 0.1])) % 3
    pressure = (colour + size + rng.choice(3, size=rows, p=[0.5, 0.3, 0.2])) % 3
    smoker = rng.random(rows) < 0.2 + 0.3 * pressure
    codes = {"größe": size, "色泽": colour, "blood pressure": pressure, "smoker": smoker.astype(int)}
    return pd.DataFrame({name: np.array(POOL[name], dtype=object)[code] for name, code in codes.items()})


def sorted_levels(name):
    return sorted(POOL[name])


def brute_counts(frame, name, weights=None):
    """A family's counts, one row at a time."""
    members = (*ARCS[name], name)
    found = np.zeros([len(POOL[member]) for member in members])
    for row, weight in zip(frame[list(members)].itertuples(index=False), np.ones(len(frame)) if weights is None else weights, strict=True):  # fmt: skip
        found[tuple(sorted_levels(member).index(value) for member, value in zip(members, row, strict=True))] += weight
    return found


def table(network, name):
    return np.asarray(network.distribution(name).values)


def same(first, second, **tolerance):
    assert first.levels == second.levels and first.variables == second.variables
    for name in first.variables:
        mine, theirs = first._nodes[name], second._nodes[name]
        for part in ("table",) if hasattr(mine, "table") else ("intercept", "slopes", "variance"):
            np.testing.assert_allclose(getattr(mine, part), getattr(theirs, part), **(tolerance or {"rtol": 0, "atol": 0}))  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    return drawn(2_000)


# --------------------------------------------------------------------------------------------------------------------
# counts and priors


def test_counts_are_those_of_a_cross_table(rows):
    network = mr.BayesianNetwork(ARCS).fit(rows)
    cross = pd.crosstab([rows["größe"], rows["色泽"]], rows["blood pressure"])
    assert network.counts("blood pressure").reshape(6, 3).tolist() == cross.to_numpy().tolist()
    for name in ARCS:
        assert network.counts(name).tolist() == brute_counts(rows, name).tolist()


@pytest.mark.parametrize("count", [0, 1, 0.5])
def test_one_pseudo_count_for_every_cell(rows, count):
    network = mr.BayesianNetwork(ARCS).fit(rows, pseudo_counts=count)
    for name in ARCS:
        total = brute_counts(rows, name) + count
        np.testing.assert_allclose(table(network, name), total / total.sum(-1, keepdims=True), rtol=0, atol=1e-15)


def test_laplace_is_the_default_as_for_the_classifiers(rows):
    same(mr.BayesianNetwork(ARCS).fit(rows), mr.BayesianNetwork(ARCS).fit(rows, pseudo_counts=1))


def test_dirichlet_cell_by_cell(rows):
    cells = np.arange(18.0).reshape(2, 3, 3)
    network = mr.BayesianNetwork(ARCS).fit(rows, pseudo_counts={"blood pressure": cells, "smoker": [5, 0], "größe": 7})
    for name, stated in {"blood pressure": cells, "smoker": [[5, 0]] * 3, "größe": [7, 7], "色泽": 0}.items():
        total = brute_counts(rows, name) + stated
        np.testing.assert_allclose(table(network, name), total / total.sum(-1, keepdims=True), rtol=0, atol=1e-15)


def test_pgmpy_agrees():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pgmpy's own
        frame = drawn(500).astype({"smoker": str})
        peer = DiscreteBayesianNetwork([(parent, name) for name, parents in ARCS.items() for parent in parents])
        likely = {cpd.variable: cpd for cpd in DiscreteMLE().fit(peer, frame).parameters_}
        size = DiscreteBayesianEstimator(prior_type="BDeu", equivalent_sample_size=12)
        believed = {cpd.variable: cpd for cpd in size.fit(peer, frame).parameters_}
    plain = mr.BayesianNetwork(ARCS).fit(frame, pseudo_counts=0)
    smooth = mr.BayesianNetwork(ARCS).fit(frame, pseudo_counts="bdeu", equivalent_sample_size=12)
    for ours, theirs in ((plain, likely), (smooth, believed)):
        for name in ARCS:
            factor = theirs[name].to_factor()
            for row in product(*(ours.levels[member] for member in (*ARCS[name], name))):
                cell = dict(zip((*ARCS[name], name), row, strict=True))
                own = table(ours, name)[tuple(ours.levels[member].index(level) for member, level in cell.items())]
                assert own == pytest.approx(factor.get_value(**cell), rel=0, abs=1e-9)


def agrum(network):
    """pyAgrum's network of the same arcs and levels, names that it can read."""
    peer = pyagrum.BayesNet()
    for name, levels in network.levels.items():
        peer.add(pyagrum.LabelizedVariable(name, name, [str(level) for level in levels]))
    for parent, child in network.arcs:
        peer.addArc(parent, child)
    return peer


def agrum_table(peer, network, name):
    cpt = peer.cpt(name)
    members = (*network.parents(name), name)
    found = np.zeros([len(network.levels[member]) for member in members])
    for index in np.ndindex(found.shape):
        found[index] = cpt[{member: str(network.levels[member][code]) for member, code in zip(members, index, strict=True)}]  # fmt: skip
    return found


@pytest.mark.parametrize("prior", ["smoothing", "bdeu", "expert"])
def test_pyagrum_agrees(rows, prior):
    frame = rows.astype({"smoker": str})
    expert = mr.BayesianNetwork(ARCS).fit(drawn(200, seed=7).astype({"smoker": str}))
    options = {
        "smoothing": {"pseudo_counts": 2.5},
        "bdeu": {"pseudo_counts": "bdeu", "equivalent_sample_size": 30},
        "expert": {"expert": expert, "equivalent_sample_size": 40},
    }[prior]
    network = mr.BayesianNetwork(ARCS).fit(frame, **options)
    peer = agrum(network)
    learner = pyagrum.BNLearner(frame, peer)
    if prior == "smoothing":
        learner.useSmoothingPrior(2.5)
    elif prior == "bdeu":
        learner.useBDeuPrior(30)
    else:
        believed = agrum(expert)
        for name in ARCS:
            cpt, own = believed.cpt(name), table(expert, name)
            for index in np.ndindex(own.shape):
                members = (*ARCS[name], name)
                cpt[{member: str(expert.levels[member][code]) for member, code in zip(members, index, strict=True)}] = own[index]  # fmt: skip
        learner.useDirichletPrior(believed, 40)
    learned = learner.learnParameters(peer.dag())
    for name in ARCS:
        np.testing.assert_allclose(table(network, name), agrum_table(learned, network, name), rtol=0, atol=1e-9)


def test_an_expert_of_another_structure_gives_its_joint_as_the_prior(rows):
    """pseudo-count = size · P_expert(parents, child), by enumeration of the expert's joint table."""
    expert = mr.BayesianNetwork().add("smoker", [True, False], [0.3, 0.7])
    expert.add("色泽", ["浅白", "乌黑", "青绿"], [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], parents=["smoker"])
    expert.add("größe", ["groß", "klein"], [0.9, 0.1])
    expert.add("blood pressure", ["mid", "low", "high"], [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], parents=["smoker"])
    network = mr.BayesianNetwork(ARCS).fit(rows, expert=expert, equivalent_sample_size=60)
    assert network.levels["größe"] == ("groß", "klein")  # what the data do not order, the expert does
    worlds = [dict(zip(expert.variables, world, strict=True)) for world in product(*expert.levels.values())]

    def mass(cell):
        """The rows that show this cell, and what the expert believes of it."""
        met = sum(cell.items() <= row.items() for row in rows.to_dict("records"))
        return met + 60 * sum(expert.probability(world) for world in worlds if cell.items() <= world.items())

    for name, parents in ARCS.items():
        for index in np.ndindex(table(network, name).shape):
            cell = {one: network.levels[one][code] for one, code in zip((*parents, name), index, strict=True)}
            above = {one: cell[one] for one in parents}
            assert table(network, name)[index] == pytest.approx(mass(cell) / mass(above), **EXACT)


def test_the_prior_is_a_view_the_counts_stay_raw(rows):
    network = mr.BayesianNetwork(ARCS).fit(rows, pseudo_counts=1000)
    assert network.counts("größe").sum() == len(rows)
    network.counts("größe")[:] = 0
    assert network.counts("größe").sum() == len(rows)


def test_parents_never_met_fall_back_to_the_prior_said_once():
    frame = pd.DataFrame({"rain": ["no", "no", "yes"], "season": ["dry", "wet", "wet"], "flood": ["no", "no", "yes"]})
    arcs = [("rain", "flood"), ("season", "flood")]
    with pytest.warns(mr.UnobservedParentsWarning, match=r"1 of P\(flood given rain, season\)") as said:
        network = mr.BayesianNetwork(arcs).fit(frame, pseudo_counts=0)
    assert len(said) == 1
    assert network.query("flood", given={"rain": "no", "season": "wet"})["no"] == 1.0
    assert table(network, "flood")[1, 0].tolist() == [0.5, 0.5]
    with pytest.warns(mr.UnobservedParentsWarning):
        network.fit(frame, pseudo_counts={"flood": [3, 1]})
    assert table(network, "flood")[1, 0].tolist() == [0.75, 0.25]


# --------------------------------------------------------------------------------------------------------------------
# weights, orders, batches, merges


def test_a_weight_equals_repeats(rows):
    weights = np.random.default_rng(3).integers(0, 4, size=len(rows))
    repeated = rows.loc[rows.index.repeat(weights)]
    same(mr.BayesianNetwork(ARCS).fit(rows, weights=weights), mr.BayesianNetwork(ARCS).fit(repeated))


def test_a_level_seen_only_at_weight_0_does_not_exist():
    frame = pd.DataFrame({"sky": ["grey", "blue", "green"]})
    assert mr.BayesianNetwork({"sky": ()}).fit(frame, weights=[1, 2, 0]).levels["sky"] == ("blue", "grey")


def test_orders_of_rows_and_columns_do_not_matter(rows):
    mixed = rows.sample(frac=1, random_state=1)[list(reversed(ARCS))]
    same(mr.BayesianNetwork(ARCS).fit(rows), mr.BayesianNetwork(ARCS).fit(mixed))


@LAW
@given(cuts=st.lists(st.integers(1, 299), max_size=4, unique=True), seed=st.integers(0, 100))
def test_any_batching_and_any_merge_is_fit_on_all(cuts, seed):
    rows, ends = drawn(300, seed), [0, *sorted(cuts), 300]
    parts = [rows.iloc[start:stop] for start, stop in pairwise(ends)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        whole = mr.BayesianNetwork(ARCS).fit(rows)
        streamed = mr.BayesianNetwork(ARCS).fit(parts[0])
        for part in parts[1:]:
            streamed.partial_fit(part)
        merged = mr.BayesianNetwork(ARCS).fit(parts[-1])
        for part in reversed(parts[:-1]):
            merged = mr.BayesianNetwork(ARCS).fit(part) + merged
    same(whole, streamed)
    same(whole, merged)


def test_new_levels_are_learned_and_aligned_by_label():
    north = pd.DataFrame({"sky": ["grey", "blue"], "rain": ["yes", "no"]})
    south = pd.DataFrame({"sky": ["white", "blue"], "rain": ["no", "no"]})
    arcs = [("sky", "rain")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
        first, second = mr.BayesianNetwork(arcs).fit(north), mr.BayesianNetwork(arcs).fit(south)
        whole = mr.BayesianNetwork(arcs).fit(pd.concat([north, south]))
        same(first + second, whole)
        same(second + first, whole)
        same(first.partial_fit(south), whole)
    assert second.levels["rain"] == ("no",)  # a sum leaves its parts alone
    assert whole.levels["sky"] == ("blue", "grey", "white")


def test_the_same_arcs_in_another_order_merge(rows):
    turned = {"smoker": ("blood pressure",), "blood pressure": ("色泽", "größe"), "色泽": ("größe",), "größe": ()}
    first, second = rows.iloc[:900], rows.iloc[900:]
    same(mr.BayesianNetwork(ARCS).fit(first) + mr.BayesianNetwork(turned).fit(second), mr.BayesianNetwork(ARCS).fit(rows))  # fmt: skip


def test_fit_begins_anew(rows):
    network = mr.BayesianNetwork({"sky": ()}).fit(pd.DataFrame({"sky": ["grey", "blue"]}), levels={"sky": ["blue", "grey", "red"]})  # fmt: skip
    network.fit(pd.DataFrame({"sky": ["white", "blue", "blue"]}))
    assert network.levels["sky"] == ("blue", "white") and network.counts("sky").tolist() == [2.0, 1.0]


def test_a_stated_network_keeps_its_levels_and_their_order():
    network = mr.BayesianNetwork().add("size", ["small", "medium", "large"], [0.2, 0.3, 0.5])
    network.fit(pd.DataFrame({"size": ["large", "small", "large"]}), pseudo_counts=0)
    assert network.levels["size"] == ("small", "medium", "large")
    assert table(network, "size").tolist() == pytest.approx([1 / 3, 0, 2 / 3], **EXACT)


def test_questions_after_fit_see_the_new_tables():
    network = mr.BayesianNetwork().add("size", ["small", "large"], [0.5, 0.5])
    assert network.query("size")["large"] == 0.5
    assert network.fit(pd.DataFrame({"size": ["large"] * 3}), pseudo_counts=1) is network
    assert network.query("size")["large"] == pytest.approx(0.8, **EXACT)


# --------------------------------------------------------------------------------------------------------------------
# scores


def test_likelihood_and_its_penalties_are_those_of_the_structure_scores(rows):
    network = mr.BayesianNetwork(ARCS).fit(rows, pseudo_counts=0)
    read = code_columns(rows)
    for score, own in (("log-likelihood", network.log_likelihood), ("aic", network.aic), ("bic", network.bic)):
        assert own(rows) == pytest.approx(score_graph(read, ARCS, score), rel=1e-12)


def test_weights_of_likelihoods(rows):
    network = mr.BayesianNetwork(ARCS).fit(rows)
    weights = np.arange(len(rows)) % 3
    repeated = rows.loc[rows.index.repeat(weights)]
    for own in (network.log_likelihood, network.bic, network.aic):
        assert own(rows, weights=weights) == pytest.approx(own(repeated), rel=1e-12)


def test_tables_of_every_kind(rows):
    import polars as pl
    import pyarrow as pa

    whole = mr.BayesianNetwork(ARCS).fit(rows)
    words = rows.astype(str)
    named = mr.BayesianNetwork(ARCS).fit(words)
    same(named, mr.BayesianNetwork(ARCS).fit(pl.DataFrame({name: words[name].tolist() for name in words})))
    same(named, mr.BayesianNetwork(ARCS).fit(pa.table({name: words[name].tolist() for name in words})))
    same(named, mr.BayesianNetwork(ARCS).fit(words.to_numpy(dtype=object)))
    same(whole, mr.BayesianNetwork(ARCS).fit(rows.astype({"größe": "category"}).assign(comment="ignored")))


def test_missing_may_be_a_level_of_its_own():
    frame = pd.DataFrame({"sky": ["grey", None, "blue", None]})
    network = mr.BayesianNetwork({"sky": ()}).fit(frame, levels={"sky": ["grey", "blue", None]}, pseudo_counts=0)
    assert table(network, "sky").tolist() == [0.25, 0.25, 0.5]


def test_a_fitted_network_survives_pickle_and_copies(rows):
    import copy
    import pickle

    network = mr.BayesianNetwork(ARCS).fit(rows.iloc[:500], pseudo_counts={"smoker": [1, 2]})
    for twin in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        same(twin.partial_fit(rows.iloc[500:]), mr.BayesianNetwork(ARCS).fit(rows, pseudo_counts={"smoker": [1, 2]}))
    assert network.counts("größe").sum() == 500
