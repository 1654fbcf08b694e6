"""What a row's answer rests on: beside models with other priors, other costs, other tables."""

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.core import InputError

COSTS = {"release": {"Adelie": 0, "Chinstrap": 5, "Gentoo": 5}, "ring": {"Adelie": 1, "Chinstrap": 0, "Gentoo": 0.5}, "weigh": 0.9}  # fmt: skip


@pytest.fixture(scope="module")
def penguins():
    table = pd.read_csv("src/merula/data/penguins.csv").drop(columns="year")
    return table, table.pop("species")


@pytest.fixture(scope="module", params=["naive", "tan", "aode", "weighted", "full"])
def model(request, penguins):
    found = {
        "naive": mr.NaiveBayesClassifier(),
        "tan": mr.TANClassifier(),
        "aode": mr.AODEClassifier(),
        "weighted": mr.NaiveBayesClassifier(weights="conditional"),
        "full": mr.BayesClassifier(),
    }[request.param]
    return found.fit(*penguins)


ROW = {"island": "Dream", "bill_length_mm": 44.0, "flipper_length_mm": 195.0}


def costs_of(model):
    return {action: told if isinstance(told, dict) else dict.fromkeys(model.classes_, told) for action, told in COSTS.items()}  # fmt: skip


def action_of(model, prior, row, costs):
    moved = model.with_class_prior(dict(zip(model.classes_, prior, strict=True)))
    proba = moved.predict_proba(pd.DataFrame([row], columns=model.feature_names_in_))
    return mr.decide(proba, costs, classes=model.classes_)[0]


def test_beyond_the_ends_of_a_prior_another_action_is_taken_and_within_them_not(model):
    costs = costs_of(model)
    row = dict.fromkeys(model.feature_names_in_) | ROW
    found = mr.sensitivity(model, ROW, costs=costs)
    base = np.exp(model.class_log_prior_)
    for k, one in enumerate(found.priors):
        shares = np.where(np.arange(3) == k, 0, base)
        shares = shares / shares.sum()

        def prior(t, k=k, shares=shares):
            return np.where(np.arange(3) == k, t, (1 - t) * shares)

        assert one.low <= one.prior <= one.high
        for end, beyond, named in ((one.low, one.low - 1e-7, one.below), (one.high, one.high + 1e-7, one.above)):
            inside = end + (1e-7 if end == one.low else -1e-7)
            assert action_of(model, prior(inside), row, costs) == found.action
            if named is not None:
                assert action_of(model, prior(beyond), row, costs) == named != found.action
            else:
                assert end in (0.0, 1.0)
        moved = model.with_class_prior(dict(zip(model.classes_, prior(0.3), strict=True)))
        expected = moved.predict_proba(pd.DataFrame([row], columns=model.feature_names_in_))[0]
        np.testing.assert_allclose(one(0.3), expected, atol=1e-12)


def test_a_cost_changes_the_action_just_beyond_where_it_is_said_to(model):
    costs = costs_of(model)
    found = mr.sensitivity(model, ROW, costs=costs)
    assert len(found.costs) == 9
    for one in found.costs:
        assert one.cost == costs[one.action][one.truth]
        if one.until is None:
            continue
        for nudge in (1 - 1e-6, 1 + 1e-6):
            altered = {action: dict(told) for action, told in costs.items()}
            altered[one.action][one.truth] = one.cost + nudge * (one.until - one.cost)
            chosen = mr.decide(found.posterior[None], altered, classes=model.classes_)[0]
            assert chosen == (found.action if nudge < 1 else one.then)


def test_entries_of_networks_and_why_others_have_none(penguins):
    words = penguins[0][["island", "sex"]]
    naive = mr.NaiveBayesClassifier().fit(words, penguins[1])
    found = mr.sensitivity(naive, {"island": "Dream"}, label="Adelie")
    one = found.entries.function("island", "Dream", {"class": "Adelie"})
    tables = {name: {c: dict(zip(naive.schema_[name].levels, naive.distributions_[0].probabilities(name)[:, k], strict=True)) for k, c in enumerate(naive.classes_)} for name in words}  # fmt: skip
    dreams = tables["island"]["Adelie"]
    rest = 1 - dreams["Dream"]
    tables["island"]["Adelie"] = {level: 0.9 if level == "Dream" else p * 0.1 / rest for level, p in dreams.items()}
    prior = dict(zip(naive.classes_, np.exp(naive.class_log_prior_), strict=True))
    again = mr.NaiveBayesClassifier.from_tables(prior, tables)
    expected = again.predict_proba(pd.DataFrame({"island": ["Dream"], "sex": [None]}))[0, list(again.classes_).index("Adelie")]  # fmt: skip
    assert one(0.9) == pytest.approx(expected, abs=1e-12)
    pool = mr.AODEClassifier().fit(words, penguins[1])
    told = mr.sensitivity(pool, {"island": "Dream"})
    assert told.entries is None and told.no_entries
    assert told.no_entries in str(told)


def test_the_reject_cost_and_a_decision_classifier_count(penguins):
    model = mr.NaiveBayesClassifier().fit(*penguins)
    found = mr.sensitivity(model, {"island": "Dream"}, reject_cost=0.1)
    assert found.action == "(reject)"
    decided = mr.DecisionClassifier(mr.NaiveBayesClassifier(), costs=costs_of(model)).fit(*penguins)
    assert mr.sensitivity(decided, ROW).action == mr.sensitivity(model, ROW, costs=costs_of(model)).action


def test_bad_input_is_one_sentence(penguins):
    model = mr.NaiveBayesClassifier().fit(*penguins)
    with pytest.raises(InputError, match="which the model does not know"):
        mr.sensitivity(model, ROW, label="wren")
    with pytest.raises(InputError, match="from 0 to 1"):
        mr.sensitivity(model, ROW).priors[0](1.2)
    with pytest.raises(InputError, match="is no merula classifier"):
        mr.sensitivity(object(), ROW)


@pytest.mark.parametrize("cough", ["yes", "no"])
def test_the_action_changes_at_the_ratio_of_both_mistakes(cough):
    tables = {"cough": {"well": {"no": 0.8, "yes": 0.2}, "ill": {"no": 0.2, "yes": 0.8}}}
    model = mr.NaiveBayesClassifier.from_tables({"well": 0.7, "ill": 0.3}, tables)
    costs = {"treat": {"ill": 1.0, "well": 2.0}, "wait": {"ill": 4.0, "well": 0.5}}
    found = mr.sensitivity(model, {"cough": cough}, costs=costs)
    one = found.cost_ratio
    other = {"treat": "wait", "wait": "treat"}
    (mine, missed), (theirs, met) = one.first, one.second
    assert mine == found.action and theirs == other[mine] and {missed, met} == {"ill", "well"}
    assert one.now == pytest.approx({"treat": 1.5 / 3.0, "wait": 3.0 / 1.5}[mine])
    for nudge, action in ((0.999, mine), (1.001, theirs)):  # what the first mistake costs more than the right action
        altered = {name: dict(told) for name, told in costs.items()}
        altered[mine][missed] = costs[theirs][missed] + nudge * one.changes_at * (costs[theirs][met] - costs[mine][met])
        assert mr.decide(found.posterior[None], altered, classes=model.classes_)[0] == action
    assert str(one) in str(found) and str(one).split("; ")[0] in found._repr_html_()
    assert found.to_dict()["cost_ratio"]["changes_at"] == one.changes_at
    three = {**costs, "test": {"ill": 1, "well": 1}}
    never_wrong = {"treat": {"ill": 0, "well": 0}, "wait": {"ill": 1, "well": 0}}
    for other_costs, reject_cost in ((never_wrong, None), (None, 0.1), (three, None)):
        assert mr.sensitivity(model, {"cough": cough}, costs=other_costs, reject_cost=reject_cost).cost_ratio is None


def test_network_classifiers_tell_their_entries(penguins):
    table, species = penguins
    arcs = [("species", "island"), ("species", "sex")]
    model = mr.BayesianNetworkClassifier(network=arcs, target="species").fit(table[["island", "sex"]], species)
    row = {"island": "Dream", "sex": "female"}
    found = mr.sensitivity(model, row)
    assert found.entries is not None and not found.no_entries
    assert found.entries.to_dict() == model.to_network().sensitivity("species", found.label, row).to_dict()
