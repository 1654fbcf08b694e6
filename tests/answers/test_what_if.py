"""What would have to be otherwise: beside trying out every set of changes, and beside what the model then predicts."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import merula as mr
import merula.answers.what_if as searching
from merula.core import InputError

CLASSES = ["refuse", "ask", "grant"]
COLUMNS = ["income", "größe", "色泽", "debts", "age group"]


@st.composite
def cases(draw):
    """A naive model of random tables, a row with all cells known, a class to want, prices."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = CLASSES[: draw(st.integers(2, 3))]
    columns = COLUMNS[: draw(st.integers(2, 5))]
    levels = {name: [f"level {k}" for k in range(int(rng.integers(2, 5)))] for name in columns}
    tables = {name: {c: dict(zip(some, rng.dirichlet(np.ones(len(some))), strict=True)) for c in classes} for name, some in levels.items()}  # fmt: skip
    model = mr.NaiveBayesClassifier.from_tables(dict(zip(classes, rng.dirichlet(np.ones(len(classes))), strict=True)), tables)  # fmt: skip
    row = {name: str(rng.choice(some)) for name, some in levels.items()}
    prices = {name: float(rng.integers(1, 6)) for name in columns}
    costs = None
    if draw(st.booleans()):
        costs = {c: {d: 0.0 if c == d else float(rng.integers(1, 9)) for d in classes} for c in classes}
    return model, levels, row, str(rng.choice(classes)), prices, costs


def chosen(model, rows, costs):
    proba = model.predict_proba(pd.DataFrame(rows))
    return mr.decide(proba, costs, classes=model.classes_) if costs else model.predict(pd.DataFrame(rows))


def cheapest_by_trying(model, levels, row, want, prices, costs, most):
    best = np.inf
    for count in range(most + 1):
        for columns in combinations(row, count):
            tried = list(product(*([level for level in levels[name] if level != row[name]] for name in columns)))
            if not tried:
                continue
            rows = [{**row, **dict(zip(columns, values, strict=True))} for values in tried]
            if (chosen(model, rows, costs) == want).any():
                best = min(best, sum(prices[name] for name in columns))
    return best


@settings(max_examples=60, deadline=None)
@given(case=cases(), most=st.integers(1, 3))
def test_the_cheapest_changes_are_those_of_trying_them_all(case, most):
    model, levels, row, want, prices, costs = case
    found = mr.what_if(model, row, want, prices=prices, costs=costs, most=most)
    best = cheapest_by_trying(model, levels, row, want, prices, costs, most)
    assert found.exact
    if np.isinf(best):
        assert found.changes is None
        return
    assert found.price == pytest.approx(best) == sum(change.price for change in found.changes)
    assert chosen(model, [found.row(row)], costs)[0] == want
    assert len(found.changes) <= most


def test_cells_that_rule_out_a_class_are_changed_like_others():
    """Tables with 0: the log joint of a class is −inf, and what a change adds to that is no number."""
    tables = {
        "income": {"refuse": {"low": 1.0, "high": 0.0}, "grant": {"low": 0.0, "high": 1.0}},
        "debts": {"refuse": {"yes": 0.6, "no": 0.4}, "grant": {"yes": 0.3, "no": 0.7}},
    }
    model = mr.NaiveBayesClassifier.from_tables({"refuse": 0.5, "grant": 0.5}, tables)
    levels, prices = {"income": ["low", "high"], "debts": ["yes", "no"]}, {"income": 5.0, "debts": 2.0}
    for income, debts, want in product(*levels.values(), ["refuse", "grant"]):
        row = {"income": income, "debts": debts}
        found = mr.what_if(model, row, want, prices=prices)
        assert found.price == cheapest_by_trying(model, levels, row, want, prices, None, 2)
        assert model.predict(pd.DataFrame([found.row(row)]))[0] == want


@pytest.fixture(scope="module")
def penguins():
    table = pd.read_csv("src/merula/data/penguins.csv").drop(columns="year")
    return table, table.pop("species")


@pytest.mark.parametrize("model", [mr.NaiveBayesClassifier(), mr.TANClassifier(), mr.BayesClassifier(), mr.AODEClassifier(), mr.NaiveBayesClassifier(weights="conditional"), mr.KDBClassifier(numeric="gaussian")], ids=["naive", "tan", "full", "aode", "weighted", "kdb"])  # fmt: skip
def test_what_is_found_leads_there_and_respects_what_is_allowed(model, penguins):
    model = model.fit(*penguins)
    row = penguins[0].dropna().iloc[0].to_dict()
    assert model.predict(pd.DataFrame([row]))[0] == "Adelie"
    allowed = {"bill_length_mm": (30, 60), "flipper_length_mm": (170, 240), "sex": ["female"], "island": None}
    found = mr.what_if(model, row, "Chinstrap", allowed=allowed, most=3)
    assert found.changes
    changed = found.row(row)
    assert model.predict(pd.DataFrame([changed], columns=penguins[0].columns))[0] == "Chinstrap"
    for change in found.changes:
        assert change.column in allowed and changed[change.column] == change.after
    assert 30 <= changed["bill_length_mm"] <= 60 and 170 <= changed["flipper_length_mm"] <= 240
    assert changed["body_mass_g"] == row["body_mass_g"] and changed["bill_depth_mm"] == row["bill_depth_mm"]


def test_numbers_are_moved_no_further_than_they_must(penguins):
    model = mr.NaiveBayesClassifier().fit(*penguins)
    row = penguins[0].dropna().iloc[0].to_dict()
    prices = {name: {"cell": 1, "unit": 0.1} for name in ("bill_length_mm", "flipper_length_mm")}
    found = mr.what_if(model, row, "Chinstrap", allowed=list(prices), prices=prices)
    assert found.exact and found.changes
    for change in found.changes:
        assert change.price == pytest.approx(1 + 0.1 * abs(change.after - change.before))
    last = found.changes[-1]
    back = {**found.row(row), last.column: last.after - 1e-6 * (last.after - last.before)}
    assert model.predict(pd.DataFrame([back]))[0] != "Chinstrap"


def test_answers_to_hope_for_lead_there_and_have_the_probability_of_the_model(penguins):
    model = mr.NaiveBayesClassifier().fit(*penguins)
    known = {"bill_length_mm": 46.0}
    found = mr.what_if(model, known, "Chinstrap")
    blank = dict.fromkeys(penguins[0].columns)
    posterior = model.predict_proba(pd.DataFrame([{**blank, **known}]))[0]
    levels = [hope for hope in found.hopes if hope.value is not None]
    assert levels
    islands = dict(zip(model.schema_["island"].levels, model.distributions_[0].probabilities("island") @ posterior, strict=True))  # fmt: skip
    for hope in levels:
        assert model.predict(pd.DataFrame([{**blank, **known, hope.column: hope.value}]))[0] == "Chinstrap"
        if hope.column == "island":
            assert hope.probability == pytest.approx(islands[hope.value], abs=1e-12)
    numbers = [hope for hope in found.hopes if hope.value is None]
    for hope in numbers:
        low, high = hope.low, hope.high
        inside = (high - 1e-3 if low is None else low + 1e-3) if low is None or high is None else 0.5 * (low + high)
        assert model.predict(pd.DataFrame([{**blank, **known, hope.column: inside}]))[0] == "Chinstrap"
        from scipy.stats import norm

        part = next(one for one in model.distributions_ if hope.column in one.columns)
        j = part.columns.index(hope.column)
        normal = norm(part.mean[:, j], np.sqrt(part.variance[:, j]))
        expected = posterior @ (normal.cdf(np.inf if high is None else high) - normal.cdf(-np.inf if low is None else low))  # fmt: skip
        assert hope.probability == pytest.approx(expected, abs=1e-9)


def test_nothing_to_change_nothing_possible_and_words(penguins):
    model = mr.NaiveBayesClassifier().fit(*penguins)
    row = penguins[0].dropna().iloc[0].to_dict()
    assert mr.what_if(model, row, "Adelie").changes == ()
    assert "as it is" in str(mr.what_if(model, row, "Adelie"))
    none = mr.what_if(model, row, "Gentoo", allowed=["sex"])
    assert none.changes is None and "no allowed change" in str(none)
    told = mr.what_if(model, row, "Chinstrap").to_dict()
    assert told["want"] == "Chinstrap" and told["exact"] is True


def test_a_search_that_ended_early_says_no_more_than_it_looked_at(penguins, monkeypatch):
    model = mr.NaiveBayesClassifier().fit(*penguins)
    row = penguins[0].dropna().iloc[0].to_dict()
    whole = mr.what_if(model, row, "Gentoo", allowed=["sex", "body_mass_g"])
    assert whole.exact and str(whole).startswith("no allowed change of up to 3 cells leads to Gentoo")
    monkeypatch.setattr(searching, "STEPS", 2)
    cut = mr.what_if(model, row, "Gentoo", allowed=["sex", "body_mass_g"])
    assert cut.changes is None and not cut.exact
    assert str(cut).startswith("no allowed change of up to 3 cells was found that leads to Gentoo")


def test_changes_of_one_column_are_looked_at_together(monkeypatch):
    rng = np.random.default_rng(0)
    birds = rng.choice(["wren", "tit", "owl", "emu"], 800)
    rows = pd.DataFrame({name: rng.integers(0, 9, 800) * 1.5 for name in ("wing", "bill", "tail")})
    prior = {"wren": 0.4, "tit": 0.3, "owl": 0.3 - 1e-9, "emu": 1e-9}
    model = mr.NaiveBayesClassifier(class_prior=prior).fit(rows, birds)
    looked = []
    least_risk = searching.least_risk
    monkeypatch.setattr(
        searching, "least_risk", lambda some, *rest: (looked.append(len(some)), least_risk(some, *rest))[1]
    )
    found = mr.what_if(model, rows.iloc[0].to_dict(), "emu", most=2)
    assert found.exact and found.changes is None
    assert sum(looked) > 5 * len(looked)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"want": "wren"}, "want is 'wren'"),
        ({"want": "Gentoo", "most": 0}, "from 1"),
        ({"want": "Gentoo", "allowed": ["wings"]}, "wings"),
        ({"want": "Gentoo", "allowed": {"sex": ["unknown"]}}, "unknown"),
        ({"want": "Gentoo", "allowed": {"bill_length_mm": (60, 30)}}, "lowest, highest"),
        ({"want": "Gentoo", "prices": {"sex": {"unit": 2}}}, "by unit"),
        ({"want": "Gentoo", "prices": {"sex": -1}}, "from 0"),
    ],
)
def test_bad_input_is_one_sentence(options, message, penguins):
    model = mr.NaiveBayesClassifier().fit(*penguins)
    with pytest.raises(InputError, match=message):
        mr.what_if(model, penguins[0].dropna().iloc[0].to_dict(), **options)


def test_the_pool_is_asked_too(penguins):
    model = mr.AutoBayesClassifier(order=1).fit(*penguins)
    row = penguins[0].dropna().iloc[0].to_dict() | {"sex": None}
    found = mr.what_if(model, row, "Chinstrap", most=2)
    assert not found.exact or len(found.changes) == 1
    assert model.predict(pd.DataFrame([found.row(row)], columns=penguins[0].columns))[0] == "Chinstrap"


def test_changes_that_lead_there_only_together_are_found_beside_dearer_ones_that_do_alone():
    rng = np.random.default_rng(1)
    ill = rng.integers(0, 2, 600)
    rows = pd.DataFrame({name: rng.normal(far * ill, 1) for name, far in {"a": 6, "d": 6, "b": 2.5, "c": 2.5}.items()})
    model = mr.BayesClassifier().fit(rows, np.array(["no", "yes"])[ill])
    row, prices = {"a": 2.3, "d": 2.0, "b": 0.0, "c": 0.0}, {"a": 3, "d": 3, "b": 1, "c": 1}
    numbers = np.linspace(-1, 5, 40)
    pairs = pd.DataFrame([{**row, "b": b, "c": c} for b, c in product(numbers, numbers)])
    singles = pd.DataFrame([{**row, name: value} for name in ("b", "c") for value in numbers])
    assert (model.predict(pairs) == "yes").any() and (model.predict(singles) == "no").all()
    found = mr.what_if(model, row, "yes", prices=prices)
    assert found.price == 2 and model.predict(pd.DataFrame([found.row(row)]))[0] == "yes"


@pytest.mark.parametrize("scale", ["range", "none"])
def test_of_neighbours_numbers_change_within_what_the_rows_hold(scale, penguins):
    numbers = penguins[0].dropna()[["bill_length_mm", "flipper_length_mm"]]
    species = penguins[1][numbers.index]
    model = mr.NearestNeighborsClassifier(scale=scale).fit(numbers, species)
    row = numbers.iloc[0].to_dict()
    found = mr.what_if(model, row, "Gentoo")
    changed = found.row(row)
    assert model.predict(pd.DataFrame([changed]))[0] == "Gentoo"
    assert all(numbers[name].min() <= changed[name] <= numbers[name].max() for name in row)
    unknown = mr.what_if(model, {**row, "flipper_length_mm": None}, "Gentoo")
    assert unknown.hopes == () and "answers to hope for are not told" in unknown.asked
