"""What cannot be learned, updated or added: every error says why, and leaves the network as it was."""

import pandas as pd
import pytest

import merula as mr

SKY = pd.DataFrame({"sky": ["grey", "blue"], "rain": ["yes", "no"]})


def stated_sky():
    return mr.BayesianNetwork().add("sky", ["blue", "grey"], [0.5, 0.5]).add("rain", ["no", "yes"], [[0.9, 0.1], [0.4, 0.6]], parents=["sky"])  # fmt: skip


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (SKY.replace("grey", "green"), {}, r"column 'sky' holds 'green', which its levels \['blue', 'grey'\] do not name"),
        (SKY[["sky"]], {}, r"column 'rain' is missing .*levels=\{'rain'"),
        (SKY.iloc[:0], {}, r"no rows"),
        (SKY, {"weights": [0, 0]}, r"weights is zero"),
        (SKY, {"weights": [1]}, r"weights"),
        (SKY, {"pseudo_counts": -1}, r"pseudo_counts is -1, expected numbers from 0"),
        (SKY, {"pseudo_counts": {"rain": [[1, 2, 3]]}}, r"pseudo_counts of 'rain' has the shape \(1, 3\), expected \(2, 2\)"),
        (SKY, {"pseudo_counts": {"rain": [1, -2]}}, r"pseudo_counts of 'rain' is \[1, -2\]"),
        (SKY, {"pseudo_counts": {"rian": 1}}, r"'rian'.*did you mean 'rain'"),
        (SKY, {"pseudo_counts": "bde"}, r"pseudo_counts is 'bde'.*'bdeu'"),
        (SKY, {"pseudo_counts": [1, 2]}, r"pseudo_counts has the shape \(2,\)"),
        (SKY, {"equivalent_sample_size": 3}, r"equivalent_sample_size= does nothing"),
        (SKY, {"pseudo_counts": "bdeu", "equivalent_sample_size": 0}, r"expected a number above 0"),
        (SKY, {"expert": stated_sky()}, r"needs equivalent_sample_size"),
        (SKY, {"expert": stated_sky(), "pseudo_counts": 1, "equivalent_sample_size": 1}, r"two priors"),
        (SKY, {"expert": "me", "equivalent_sample_size": 1}, r"expected a BayesianNetwork"),
        (SKY, {"expert": mr.BayesianNetwork().add("sky", ["blue", "grey"], [0.5, 0.5]), "equivalent_sample_size": 1}, r"expert= has to know .*'rain'"),
        (SKY, {"missing": "drop"}, r"missing is 'drop', expected one of 'em', 'available'"),
        (SKY, {"levels": {"sky": ["blue"]}}, r"levels= gives 'sky' the levels \['blue'\], but the network states"),
        (SKY, {"levels": {"skies": ["blue"]}}, r"'skies'"),
        (SKY, {"max_iterations": 0}, r"max_iterations is 0"),
        (SKY, {"restarts": 1.5}, r"restarts is 1.5"),
        (SKY, {"tolerance": -1}, r"tolerance is -1"),
    ],
)  # fmt: skip
def test_what_cannot_be_says_why(data, options, words, picture):
    network = stated_sky()
    before = picture(network)
    with pytest.raises(ValueError, match=words):
        network.fit(data, **options)
    assert picture(network) == before


def test_a_column_without_values_has_no_levels():
    with pytest.raises(ValueError, match=r"column 'rain' holds no value.*levels="):
        mr.BayesianNetwork([("sky", "rain")]).fit(SKY.assign(rain=None))


def test_an_expert_with_other_levels():
    expert = mr.BayesianNetwork().add("sky", ["blue", "grey", "red"], [0.5, 0.4, 0.1]).add("rain", ["no", "yes"], [0.5, 0.5])  # fmt: skip
    with pytest.raises(ValueError, match=r"levels of 'sky' are \['blue', 'grey', 'red'\] in expert="):
        stated_sky().fit(SKY, expert=expert, equivalent_sample_size=2)


def test_levels_cannot_hang_from_numbers():
    frame = pd.DataFrame({"age": [40.0, 50.0], "smoker": ["no", "yes"]})
    with pytest.raises(
        ValueError, match=r"'smoker' has levels.*'age' is numeric: turn the arc round, discretise 'age'"
    ):
        mr.BayesianNetwork([("age", "smoker")]).fit(frame)


def test_forty_parents_are_refused_before_memory_is_taken():
    frame = pd.DataFrame({f"cause {i}": ["no", "yes"] for i in range(40)} | {"effect": ["no", "yes"]})
    with pytest.raises(ValueError, match=r"would have 2,199,023,255,552 cells"):
        mr.BayesianNetwork([(f"cause {i}", "effect") for i in range(40)]).fit(frame)


def test_noisy_variables_are_not_silently_made_tables():
    network = mr.BayesianNetwork().add("sky", ["blue", "grey"], [0.5, 0.5])
    network.add("rain", ["no", "yes"], mr.NoisyOr({"sky": {"grey": 0.7}}, leak=0.1))
    with pytest.raises(ValueError, match=r"'rain' is a noisy-OR.*network.add\('rain'"):
        network.fit(SKY)
    network.add("rain", ["no", "yes"], network.distribution("rain"), parents=["sky"])
    assert network.fit(SKY).counts("rain").tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_what_was_not_fitted_has_no_counts():
    for act in (lambda n: n.partial_fit(SKY), lambda n: n.counts("sky"), lambda n: n + n):
        with pytest.raises(ValueError, match=r"needs a network that was fitted"):
            act(stated_sky())
    restated = stated_sky().fit(SKY).add("sky", ["blue", "grey"], [0.1, 0.9])
    with pytest.raises(ValueError, match=r"needs a network that was fitted"):
        restated.partial_fit(SKY)


def test_an_update_that_cannot_be_changes_nothing():
    network = stated_sky().fit(SKY)
    for rows, words in (
        (SKY.replace("grey", "green"), r"column 'sky' holds 'green'"),
        (SKY[["sky"]], r"column 'rain' is missing"),
        (SKY.assign(sky=[0.1, 0.2]), r"column 'sky' holds 0.1"),
    ):
        with pytest.raises(ValueError, match=words):
            network.partial_fit(rows)
    assert network.counts("sky").tolist() == [1.0, 1.0]


def test_what_cannot_be_added():
    network = mr.BayesianNetwork([("sky", "rain")]).fit(SKY)
    for other, words in (
        (mr.BayesianNetwork([("rain", "sky")]).fit(SKY), r"P\(sky\) in one is P\(sky given rain\) in the other"),
        (mr.BayesianNetwork({"sky": ()}).fit(SKY), r"only one of them has the variable 'rain'"),
        (mr.BayesianNetwork([("sky", "rain")]).fit(SKY, pseudo_counts=2), r"pseudo-counts of P\(sky\) differ"),
        (mr.BayesianNetwork([("sky", "rain")]).fit(SKY, missing="available"), r"missing='em'.*missing='available'"),
        (mr.BayesianNetwork([("sky", "rain")]).fit(SKY.assign(sky=[1.0, 2.0]), kinds={"sky": "categorical"}, levels={"sky": [1.0, 2.0]}), r"has the level"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            _ = network + other
    with pytest.raises(TypeError):
        _ = network + 1


def test_a_network_without_variables_learns_nothing_and_says_so():
    with pytest.raises(ValueError, match="the network has no variables, so there is nothing to learn; give it arcs"):
        mr.BayesianNetwork().fit(pd.DataFrame({"größe": ["klein", "groß"]}))


def test_advice_names_only_what_the_caller_can_do():
    table = pd.DataFrame({"größe": ["klein", "groß"], "farbe": ["rot", "rot"]})
    with pytest.raises(
        ValueError, match="holds 'groß', which its levels .* do not name; add it to its levels or correct the data"
    ):
        mr.BayesianNetwork([("größe", "farbe")]).fit(table, levels={"größe": ["klein"]})
    with pytest.raises(ValueError, match="column 'gewicht' is missing .*; add it, or leave it out"):
        mr.learn_structure(table, variables=["größe", "gewicht"])
