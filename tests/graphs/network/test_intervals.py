"""Credible intervals of answers: beside closed forms, enumeration under the same draws, and simulated truths."""

import pickle
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn, settings, strategies as st
from scipy import stats

import merula as mr
from merula.core import InputError
from merula.graphs.factors.errors import ImpossibleEvidenceError
from merula.graphs.network import parameter_draws
from merula.graphs.network.beliefs import beliefs_of
from merula.graphs.network.dirichlet import log_dirichlet
from merula.graphs.network.parameter_draws import random_streams, table_draws

matplotlib.use("Agg")
PATIENTS = pd.DataFrame(
    {
        "smoker": ["yes"] * 12 + ["no"] * 28,
        "blood pressure": ["high"] * 6 + ["low"] * 5 + ["größer"] + ["high"] * 6 + ["low"] * 20 + ["größer"] * 2,
        "x-ray": (["shadow", "clear", "clear", "clear"] * 10),
    }
)
ARCS = [("smoker", "blood pressure"), ("smoker", "x-ray"), ("blood pressure", "x-ray")]


@pytest.fixture(scope="module")
def network():
    return mr.BayesianNetwork(ARCS).fit(PATIENTS)


def drawn_tables(network, seed, draws, size=None):
    """All tables of a network as drawn after a seed."""
    found = beliefs_of(network, size)
    (tables,) = table_draws(found, list(network.variables), draws, 1e9, random_streams(found, seed))
    return {name: np.exp(logs) for name, logs in tables.items()}


@pytest.mark.parametrize("pseudo_counts", [0, 1, 0.25, "bdeu"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_one_variable_has_the_quantiles_of_beta(pseudo_counts, level):
    network = mr.BayesianNetwork({"smoker": []}).fit(PATIENTS, pseudo_counts=pseudo_counts)
    imagined = {0: 0.5, "bdeu": 0.5}.get(pseudo_counts, pseudo_counts)  # Jeffreys' for none, 1 / 2 cells for bdeu
    found = network.query_interval("smoker", level=level, draws=20_000, random_state=3)
    exact = stats.beta(12 + imagined, 28 + imagined)
    for share, end in zip(((1 - level) / 2, (1 + level) / 2), found.interval("yes"), strict=True):
        error = np.sqrt(share * (1 - share) / 20_000) / exact.pdf(exact.ppf(share))  # of an order statistic
        assert end == pytest.approx(exact.ppf(share), abs=4 * error)
    assert found["yes"] == network.query("smoker")["yes"]
    assert found.draws.mean(axis=0) == pytest.approx(
        [28 + imagined, 12 + imagined] / np.array(40 + 2 * imagined), abs=0.003
    )


def test_two_variables_beside_enumeration_of_the_same_draws(network):
    tables = drawn_tables(network, 5, 500)
    found = network.query_interval("smoker", {"blood pressure": "high"}, draws=500, random_state=5)
    high = network.levels["blood pressure"].index("high")
    joint = tables["smoker"] * tables["blood pressure"][:, :, high]
    assert found.draws == pytest.approx(joint / joint.sum(axis=1, keepdims=True), abs=1e-14)
    assert found.lower == pytest.approx(np.quantile(found.draws, 0.05, axis=0, method="weibull"))
    assert found.upper == pytest.approx(np.quantile(found.draws, 0.95, axis=0, method="weibull"))


@settings(max_examples=40, deadline=None)
@drawn(data=st.data())
def test_every_draw_is_answered_as_enumeration_answers_it(networks, evidence, data):
    stated = data.draw(networks(most=6))
    given = data.draw(evidence(stated))
    target = data.draw(st.sampled_from(stated.names))
    size = data.draw(st.sampled_from([0.5, 10.0, 1e4]))
    if stated.probability(given) == 0:
        with pytest.raises(ImpossibleEvidenceError):
            stated.network.query_interval(target, given, equivalent_sample_size=size)
        return
    found = stated.network.query_interval(target, given, equivalent_sample_size=size, draws=100, random_state=1)
    assert found.values == pytest.approx(stated.posterior([target], given), abs=1e-9)
    assert np.isfinite(found.draws).all() and found.draws.sum(axis=1) == pytest.approx(1)
    tables = drawn_tables(stated.network, 1, 100, size)
    compared = 0
    for k in range(0, 100, 5):
        again = type(stated)(stated.levels, stated.parents, {name: table[k] for name, table in tables.items()})
        if again.probability(given) > 1e-200 and len(found.draws) == 100:
            assert found.draws[k] == pytest.approx(again.posterior([target], given), abs=1e-9)
            compared += 1
    assert compared > 10 or size < 1


@settings(max_examples=20, deadline=None)
@drawn(data=st.data())
def test_stated_tables_are_worth_the_rows_that_the_network_expects(networks, data):
    stated = data.draw(networks(most=6))
    found = beliefs_of(stated.network, 50.0)
    for name, parents in stated.parents.items():
        expected = 50 * stated.sums([*parents, name])
        seen = expected.sum(axis=-1) > 0
        assert found.concentration(name)[seen] == pytest.approx(expected[seen], abs=1e-9)


def test_draws_are_the_same_for_the_same_number_and_however_many_at_a_time(network, monkeypatch):
    given = {"x-ray": "shadow", "smoker": {"yes": 0.7, "no": 0.2}}
    first, again, other = (network.query_interval("blood pressure", given, random_state=seed) for seed in (7, 7, 8))
    assert np.array_equal(first.draws, again.draws) and not np.array_equal(first.draws, other.draws)
    monkeypatch.setattr(parameter_draws, "CELLS", 1_000)
    parts = network.query_interval("blood pressure", given, random_state=7)
    assert np.array_equal(first.draws, parts.draws)
    rng = np.random.default_rng(1)
    assert not np.array_equal(*(network.query_interval("smoker", random_state=rng).draws for _ in range(2)))


def test_a_weight_of_2_is_the_row_twice_and_merged_networks_are_one(network, tmp_path):
    half = mr.BayesianNetwork(ARCS).fit(PATIENTS, weights=np.full(40, 2.0))
    twice = mr.BayesianNetwork(ARCS).fit(pd.concat([PATIENTS, PATIENTS]))
    merged = mr.BayesianNetwork(ARCS).fit(PATIENTS, levels={"blood pressure": ["größer", "high", "low"]})
    merged = merged + network
    network.write(tmp_path / "patients.json")
    found = [one.query_interval("smoker", {"x-ray": "clear"}, random_state=0) for one in (half, twice, merged)]
    for other in found[1:]:
        assert other.lower == pytest.approx(found[0].lower)
    assert found[0].rests_on.startswith("80 rows")
    again = mr.read_network(tmp_path / "patients.json").query_interval("smoker", random_state=0)
    assert np.array_equal(again.draws, network.query_interval("smoker", random_state=0).draws)


def test_more_rows_narrow_it_and_stated_tables_are_as_narrow_as_their_weight(network):
    def width(found):
        return found.upper[0] - found.lower[0]

    many = mr.BayesianNetwork(ARCS).fit(PATIENTS, weights=np.full(40, 100.0))
    narrow = [width(one.query_interval("x-ray", {"smoker": "yes"}, random_state=0)) for one in (network, many)]
    assert narrow[1] < 0.2 * narrow[0]
    stated = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    found = stated.query_interval("rain", equivalent_sample_size=50, draws=20_000, random_state=0)
    assert found.interval("yes") == pytest.approx(stats.beta(10, 40).ppf([0.05, 0.95]), abs=0.005)
    assert "as if the stated tables had been learned from 50 rows" in found.prior


def test_small_parameters_vanish_nowhere():
    """A gamma variable of 1e-4 is below the smallest float most of the time."""
    logs = log_dirichlet(np.random.default_rng(0), np.full((3, 4), 1e-4), 2_000)
    assert np.isfinite(logs).all()
    assert np.exp(logs).sum(axis=-1) == pytest.approx(1)
    assert np.exp(logs).mean(axis=(0, 1)) == pytest.approx(0.25, abs=0.03)
    mixed = np.exp(log_dirichlet(np.random.default_rng(0), np.array([0.05, 3.0, 0.0, 40.0]), 4_000))
    for k, parameter in ((0, 0.05), (1, 3.0), (3, 40.0)):
        assert stats.kstest(mixed[:, k], stats.beta(parameter, 43.05 - parameter).cdf).pvalue > 1e-3
    assert not mixed[:, 2].any()
    flu = mr.BayesianNetwork().add("flu", ["no", "yes"], [0.5, 0.5])
    found = flu.query_interval("flu", equivalent_sample_size=1e-310, draws=4_000, random_state=0)
    assert len(found.draws) == 4_000 and found.draws[:, 0].mean() == pytest.approx(0.5, abs=0.03)


def test_findings_beyond_the_range_of_floats_have_intervals_too():
    """P(findings) is below 1e-500: plain probabilities vanish, logarithms do not."""
    network = mr.BayesianNetwork().add("flu", ["no", "yes"], [0.5, 0.5])
    for k in range(130):
        network.add(f"sign {k}", ["no", "yes"], [[1 - 1e-4, 1e-4], [1 - 1.2e-4, 1.2e-4]], parents=["flu"])
    given = {f"sign {k}": "yes" for k in range(130)}
    found = network.query_interval("flu", given, equivalent_sample_size=1e9, random_state=0)
    assert found["yes"] == pytest.approx(network.query("flu", given)["yes"])
    assert np.isfinite(found.draws).all() and found.interval("yes")[0] > 0.99 and found.rests_on


# ------------------------------------------------------------------------------------------------------------------ prior


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Dirichlet, 1 imaginary row in each cell of every table"),
        ({"pseudo_counts": 0.5}, "Dirichlet, 0.5 imaginary rows in each cell of every table"),
        ({"pseudo_counts": 0}, "Dirichlet, ½ in each cell (Jeffreys): the tables were fitted with pseudo_counts=0, which is no prior"),
        ({"pseudo_counts": "bdeu", "equivalent_sample_size": 10}, "Dirichlet, 10 imaginary rows shared alike by the cells of every table (BDeu)"),
        ({"pseudo_counts": {"smoker": [9, 1]}}, "Dirichlet, the pseudo-counts stated for 'smoker'; ½ in each cell (Jeffreys) of rows of which it says nothing"),
    ],
)  # fmt: skip
def test_the_prior_is_stated(options, words):
    found = mr.BayesianNetwork(ARCS).fit(PATIENTS, **options).query_interval("x-ray", random_state=0)
    assert found.prior == words
    assert f"prior: {words}" in str(found) and "rests on: 40 rows" in str(found)


def test_an_expert_is_a_prior_and_what_it_rules_out_stays_out():
    expert = mr.BayesianNetwork().add("smoker", ["no", "yes"], [1.0, 0.0])
    rows = pd.DataFrame({"smoker": ["no"] * 5})
    network = mr.BayesianNetwork({"smoker": []}).fit(rows, expert=expert, equivalent_sample_size=10)
    found = network.query_interval("smoker", random_state=0)
    assert found.prior == "Dirichlet, an expert's network worth 10 rows"
    assert found.interval("yes") == (0.0, 0.0)


def test_a_count_of_0_is_no_certainty_without_a_prior():
    network = mr.BayesianNetwork({"rain": []}).fit(
        pd.DataFrame({"rain": ["no"] * 4}), pseudo_counts=0, levels={"rain": ["no", "yes"]}
    )
    found = network.query_interval("rain", draws=20_000, random_state=0)
    assert found["yes"] == 0.0
    assert found.interval("yes")[1] == pytest.approx(stats.beta(0.5, 4.5).ppf(0.95), abs=0.01)


# --------------------------------------------------------------------------------------------------------- what is printed


def test_what_comes_back_is_an_answer_named_by_level(network):
    found = network.query_interval("blood pressure", {"smoker": "yes"}, random_state=0)
    assert isinstance(found, mr.JointDistribution)
    assert found.to_frame().columns.tolist() == ["blood pressure", "probability", "lower", "upper"]
    assert found.interval("high") == (found.lower[1], found.upper[1])
    assert (found.lower < found.values).all() and (found.values < found.upper).all()
    text, page = str(found), found._repr_html_()
    assert text.splitlines()[1].split() == ["blood", "pressure", "probability", "from", "to"]
    assert "90 % credible intervals, from 1,000 draws of the parameters" in text
    assert "<table" in page and "prior: Dirichlet" in page
    ax = found.plot()
    assert [float(bar.get_width()) for bar in ax.patches] == found.values.tolist()
    ends = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
    assert np.array(ends) == pytest.approx(np.stack([found.lower, found.upper], axis=1))
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.lower, found.lower) and again.prior == found.prior and repr(again) == text
    with pytest.raises(InputError, match="no level 'hi'"):
        found.interval("hi")
    clash = mr.BayesianNetwork({"lower": []}).fit(pd.DataFrame({"lower": ["a", "b"]})).query_interval("lower")
    with pytest.raises(InputError, match="a variable is called 'lower'"):
        clash.to_frame()


def test_what_gives_most_of_the_variance_is_named():
    """The one thin row of a table: three smokers, among a thousand rows."""
    rows = pd.DataFrame(
        {
            "smoker": ["yes"] * 3 + ["no"] * 997,
            "x-ray": ["shadow", "clear", "clear"] + ["clear", "shadow"] * 498 + ["clear"],
        }
    )
    network = mr.BayesianNetwork([("smoker", "x-ray")]).fit(rows)
    found = network.query_interval("x-ray", {"smoker": {"yes": 0.5, "no": 0.01}}, draws=4_000, random_state=0)
    assert found.rests_on.startswith("1,000 rows; ") and found.rests_on.endswith("P(x-ray given smoker = yes): 3 rows")


def test_shares_of_variance_add_up_to_it(network):
    """To first order, where counts are many: the delta method beside the draws."""
    from merula.graphs.network.rests import variances

    many = mr.BayesianNetwork(ARCS).fit(PATIENTS, weights=np.full(40, 1_000.0))
    given = {"x-ray": "shadow"}
    found = many.query_interval("smoker", given, draws=8_000, random_state=0)
    shares = variances(many, beliefs_of(many, None), "smoker", 1, many._read(given))
    assert sum(shares.values()) == pytest.approx(found.draws[:, 1].var(), rel=0.08)


# ---------------------------------------------------------------------------------------------------------------- refused


def test_what_cannot_be_told_is_one_sentence(network):
    stated = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    noisy = (
        mr.BayesianNetwork().add("flu", ["no", "yes"], [0.9, 0.1]).add("ache", ["no", "yes"], mr.NoisyOr({"flu": 0.8}))
    )
    numeric = mr.BayesianNetwork().add("sick", ["no", "yes"], [0.8, 0.2])
    numeric.add("fever", mr.LinearGaussian({"no": 37.0, "yes": 39.0}, variance=0.3), parents=["sick"])
    told = mr.BayesianNetwork(ARCS).fit(PATIENTS, method="gradient", target="smoker")
    for ask, message in [
        (lambda: stated.query_interval("rain"), r"call fit or partial_fit on a table .* or say with equivalent_sample_size="),
        (lambda: stated.query_interval("rain", equivalent_sample_size=0), "expected a number above 0"),
        (lambda: network.query_interval("smoker", equivalent_sample_size=9), "has counts of rows.*leave it out"),
        (lambda: network.query_interval(["smoker", "x-ray"]), "one name"),
        (lambda: network.query_interval("smokr"), "did you mean 'smoker'"),
        (lambda: network.query_interval("smoker", level=90), "level is 90, expected a probability between 0 and 1"),
        (lambda: network.query_interval("smoker", draws=50), "expected a whole number from 100"),
        (lambda: network.query_interval("smoker", draws=10**9), "from 100 to 1,000,000"),
        (lambda: network.query_interval("smoker", random_state="Montag"), "random_state is 'Montag', expected None, a whole"),
        (lambda: stated.query_interval("rain", equivalent_sample_size=1e300), "a number above 0, up to 1,000,000,000,000,000"),
        (lambda: network.query_interval("smoker", {"x-ray": "grey"}), "no level 'grey'"),
        (lambda: numeric.query_interval("fever", equivalent_sample_size=9), "'fever' is numeric"),
        (lambda: numeric.query_interval("sick", {"fever": 38.0}, equivalent_sample_size=9), "numeric and was stated"),
        (lambda: noisy.query_interval("flu", {"ache": "yes"}, equivalent_sample_size=9), "noisy-OR"),
        (lambda: told.query_interval("smoker"), "fitted to tell 'smoker'"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=message):
            ask()
    assert numeric.query_interval("sick", equivalent_sample_size=9, random_state=0).interval("yes")[1] < 0.6
    assert noisy.query_interval("flu", equivalent_sample_size=9, random_state=0).interval("yes")[0] > 0


def test_what_is_known_for_certain_has_no_width(network):
    found = network.query_interval("smoker", {"smoker": "yes", "x-ray": "clear"}, random_state=0)
    assert found.interval("yes") == (1.0, 1.0) and found.interval("no") == (0.0, 0.0)
    single = mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["yes"]}))
    assert single.query_interval("rain", random_state=0).interval("yes") == (1.0, 1.0)


# --------------------------------------------------------------------------------------------------------------- coverage


def test_intervals_hold_truths_drawn_from_their_prior():
    """300 networks drawn from Dirichlet(1) tables: 90 % of the intervals hold the truth, as far as 300 can tell."""
    rng, held = np.random.default_rng(11), 0
    levels = {"smoker": ["no", "yes"], "blood pressure": ["low", "mid", "high"], "x-ray": ["clear", "shadow"]}
    for _ in range(300):
        truth = mr.BayesianNetwork()
        for name, parents in (("smoker", []), ("blood pressure", ["smoker"]), ("x-ray", ["smoker", "blood pressure"])):
            shape = [len(levels[parent]) for parent in parents]
            truth.add(name, levels[name], rng.dirichlet(np.ones(len(levels[name])), size=shape), parents=parents)
        rows = truth.sample(30, random_state=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
            learned = mr.BayesianNetwork(ARCS).fit(rows, levels=levels)
        given = {"x-ray": "shadow"}
        low, high = learned.query_interval("smoker", given, draws=300, random_state=rng).interval("yes")
        held += low <= truth.query("smoker", given)["yes"] <= high
    assert stats.binom(300, 0.9).ppf(1e-4) <= held <= stats.binom(300, 0.9).ppf(1 - 1e-4)
