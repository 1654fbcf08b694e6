"""Models explained by effects, in a report: how much each set matters, curves, bars and maps, beside a functional ANOVA by enumeration."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.report import findings_html
from merula.report.effect_charts import _sides, effect_chart, importance_chart
from merula.report.findings import Findings, collect_findings
from merula.report.findings.contributions import MOST_SETS, importances_of
from merula.report.findings.learned_effects import bends, learned_effects
from merula.report.findings.result import EffectAxis
from merula.report.sections import sections_of

COLUMNS = ["色泽", "song", "wing"]


@pytest.fixture(scope="module")
def birds():
    """Three columns of few values, two classes that they tell of together."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"色泽": rng.choice(["rot", "gelb", "blass"], 240), "song": rng.choice(["long", "short"], 240), "wing": rng.choice([1.0, 2.0, 5.0], 240)})  # fmt: skip
    chance = 0.15 + 0.5 * ((frame["色泽"] == "rot") & (frame["song"] == "long")) + 0.25 * (frame["wing"] > 1)
    return frame, np.where(rng.random(240) < chance, "wren", "tit")


@pytest.fixture(scope="module")
def model(birds):
    return mr.AutoBayesClassifier(3, keep_rows=False, max_rounds=40).fit(*birds)


def pool_odds(model, frame):
    """Log-odds before the slip, from predict_proba alone."""
    prior = np.exp(model.class_log_prior_)
    p = (model.predict_proba(frame) - model.slip_ * prior) / (1 - model.slip_)
    return np.log(p[:, 1]) - np.log(p[:, 0])


def by_enumeration(model, frame):
    """For each set of columns its effect on the log-odds in each row: over all combinations, Σ_{V ⊆ U} (−1)^|U∖V| E[odds given x_V]."""
    states = {name: sorted(frame[name].unique()) for name in COLUMNS}
    grid = pd.DataFrame(list(itertools.product(*states.values())), columns=COLUMNS)
    odds = pool_odds(model, grid).reshape([len(one) for one in states.values()])
    shares = [np.array([(frame[name] == value).mean() for value in states[name]]) for name in COLUMNS]

    def mean_given(kept):
        found = odds
        for axis, share in enumerate(shares):
            if axis not in kept:
                found = (found * share.reshape([-1 if k == axis else 1 for k in range(3)])).sum(
                    axis=axis, keepdims=True
                )
        return np.broadcast_to(found, odds.shape)

    at = tuple(np.array([states[name].index(value) for value in frame[name]]) for name in COLUMNS)
    sets = [some for size in (1, 2, 3) for some in itertools.combinations(range(3), size)]
    return {
        frozenset(COLUMNS[k] for k in some): sum(
            (-1) ** (len(some) - len(inner)) * mean_given(inner)
            for size in range(len(some) + 1)
            for inner in itertools.combinations(some, size)
        )[at]
        for some in sets
    }


def test_importances_are_mean_sizes_of_effects_by_enumeration(model, birds):
    frame, y = birds
    expected = by_enumeration(model, frame)
    truth = (y == "wren").astype(int)
    ranked, shown = importances_of(model, model._encoded(frame), truth, None)
    assert shown == ranked  # so few are all told apart
    assert [one.strength for one in ranked] == sorted((one.strength for one in ranked), reverse=True)
    assert {frozenset(one.columns) for one in ranked} <= set(expected)
    for one in ranked:
        effect = expected[frozenset(one.columns)]
        assert one.strength == pytest.approx(np.abs(effect).mean(), abs=1e-9)
        assert one.evidence == pytest.approx((effect * (2 * truth - 1)).mean(), abs=1e-9)
    weights = np.arange(240) % 3
    heavy = importances_of(model, model._encoded(frame), truth, weights.astype(float))[0]
    for one in heavy:
        assert one.strength == pytest.approx(np.average(np.abs(expected[frozenset(one.columns)]), weights=weights))


def test_what_is_drawn_is_what_rows_say(model, birds):
    frame, y = birds
    expected = by_enumeration(model, frame)
    ranked, _ = importances_of(model, model._encoded(frame), (y == "wren").astype(int), None)
    for found in learned_effects(model, model.fitted_.effects, ranked):
        assert list(found.given) == ["wren"] and found.against == "tit"
        names = [axis.column for axis in found.axes]
        values = np.array(found.given["wren"]).reshape([len(axis.values) for axis in found.axes])
        for k in range(0, 240, 17):
            own = [np.abs(np.array(axis.values) - frame[axis.column][k]).argmin() if axis.form == "numbers" else axis.values.index(frame[axis.column][k]) for axis in found.axes]  # fmt: skip
            exact = all(axis.form == "levels" or axis.values[at] == frame[axis.column][k] for axis, at in zip(found.axes, own, strict=True))  # fmt: skip
            if exact:
                reach = np.ptp(values)
                assert values[tuple(own)] == pytest.approx(expected[frozenset(names)][k], abs=1e-9 + 0.004 * reach)


def test_small_sets_are_told_as_one():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(200, 7)), columns=[f"reading {k}" for k in range(7)])
    y = (frame["reading 0"] * frame["reading 1"] + frame["reading 2"] > 0).to_numpy()
    model = mr.LogLinearClassifier(3, max_rounds=60).fit(frame, y)
    ranked, shown = importances_of(model, model._encoded(frame), y.astype(int), None)
    *largest, rest = shown
    assert tuple(largest) == ranked[:MOST_SETS] and rest.others == len(ranked) - MOST_SETS > 1
    told = [mr.explain(model, frame.iloc[[k]], y[k]).reasons for k in range(200)]
    small = {one.columns for one in ranked[MOST_SETS:]}
    moves = [sum(reason.evidence for reason in reasons if reason.columns in small) for reasons in told]
    assert rest.strength == pytest.approx(np.abs(moves).mean(), abs=1e-9)
    chart = importance_chart(shown)
    assert chart.lines[-1][0] == f"{rest.others} other sets together"
    assert len(chart.lines) == MOST_SETS + 1


# ---------------------------------------------------------------------------------------------------------------------
# The whole report


@pytest.fixture(scope="module")
def found(patients):
    table, labels = patients
    rng = np.random.default_rng(8)
    table = table.assign(stripes=2 * rng.integers(0, 5, 150) + (labels == "ill") + rng.normal(0, 0.05, 150))
    return collect_findings(mr.AutoBayesClassifier(max_rounds=10), table, labels, cv=3, repeats=1, progress=False)


def test_a_pool_is_reported_by_its_effects(found):
    assert found.contributions == () and found.importances
    assert any(one.name == "similar rows" for one in found.importances)
    single = {one.axes[0].column: one for one in found.effects if len(one.axes) == 1}
    assert single["seen on"].axes[0].form == "times" and single["seen on"].axes[0].values[0].startswith("2024")
    assert single["größe"].axes[0].values == ("groß", "klein", "missing")  # it lacks enough cells to be an answer
    assert set(single["blood pressure"].missing) == {"ill"}
    assert not found.nomogram.own and "rows" not in found.notes
    assert {story.explanation.derivations[0].start for story in found.rows} == {"average row"}


def test_the_page_has_a_chart_for_each_and_survives_json(found):
    page = findings_html(found)
    section = next(section for section in sections_of(found) if section.key == "columns")
    keys = [chart.key for group in section.groups for chart in group.charts]
    assert keys[0] == "importance" and sum(key.startswith("effect") for key in keys) == len(found.effects)
    assert "evidence" not in keys and not any(key.startswith("given") for key in keys)
    assert "Figures are log-odds of ill against healthy" in page and "best part of the model" in page
    again = Findings.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert findings_html(again) == page


def test_where_missing_is_no_answer_it_is_no_level(patients):
    table, labels = patients
    model = mr.AutoBayesClassifier(2, missing="marginalise", max_rounds=10)
    told = collect_findings(model, table[["größe", "blood pressure"]], labels, cv=3, repeats=1, progress=False)
    for one in told.effects:
        assert not one.missing and all("missing" not in axis.values for axis in one.axes)
    assert {one.columns for one in told.given_others} == {("größe",), ("blood pressure",)}


def test_a_pool_without_pairs_has_a_nomogram(patients):
    told = collect_findings(mr.AutoBayesClassifier(1, max_rounds=10), *patients, cv=3, repeats=1, progress=False)
    assert all(len(one.axes) == 1 for one in told.effects)
    assert {scale.column for scale in told.nomogram.scales} == set(patients[0])
    assert told.nomogram.remark in findings_html(told)
    totals, chances = zip(*told.nomogram.curve, strict=True)
    assert np.isfinite(totals).all() and (np.diff(chances) > 0).all()


def test_texts_are_told_by_their_words():
    rng = np.random.default_rng(0)
    ill = np.arange(60) % 2 == 0
    remarks = [
        " ".join(rng.choice(["cough", "fever", "tired"] if one else ["well", "tired", "fine"], 4)) for one in ill
    ]
    frame = pd.DataFrame({"remark": remarks, "age": rng.normal(40 + 5 * ill, 10)})
    model = mr.AutoBayesClassifier(2, kinds={"remark": "text"}, max_rounds=5)
    told = collect_findings(model, frame, ill, cv=3, repeats=1, progress=False)
    assert [one.column for one in told.conditionals] == ["remark"]
    assert [one.columns for one in told.importances if "remark" in one.columns] == [("remark",)]
    assert all(axis.column == "age" for one in told.effects for axis in one.axes)
    story = told.rows[0]
    own = next(reason for reason in story.explanation.reasons if reason.columns == ("remark",))
    sign = 1 if story.explanation.label == story.explanation.classes[1] else -1
    weight = sum(weight for _, weight in story.words)
    assert weight == pytest.approx(sign * (own.log_terms[1] - own.log_terms[0]), abs=1e-6)


def test_texts_alone_are_told_too(tmp_path):
    """Where all columns are texts there is nothing to average over; the pool is explained all the same."""
    letters = pd.DataFrame({"letter": [f"{word} {end}" for word in ("win cash", "see you") for end in "abcdefgh"]})
    labels = np.repeat(["spam", "ham"], 8)
    model = mr.AutoBayesClassifier(kinds="text").fit(letters, labels)
    found = mr.explain(model, letters.iloc[[0]])
    np.testing.assert_allclose(found.posterior, model.predict_proba(letters.iloc[[0]])[0], atol=1e-12)
    assert [reason.label for reason in found.reasons] == ["letter = win cash a", "allowance for odd rows"]
    model.save(tmp_path / "letters.merula")
    assert str(mr.explain(mr.load(tmp_path / "letters.merula"), letters.iloc[[0]])) == str(found)
    told = mr.write_report(model, letters, labels, tmp_path / "page.html", cv=2, repeats=1, progress=False)
    assert told.rows and [one.column for one in told.conditionals] == ["letter"] and told.effects == ()


def test_many_classes_are_a_shaded_table_and_a_map_is_of_one():
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 7, 400)
    frame = pd.DataFrame({"shape": np.array(list("abcdefg"))[(kind + rng.integers(0, 2, 400)) % 7], "size": rng.normal(kind, 1.0), "mass": rng.normal(kind % 3, 1.0)})  # fmt: skip
    labels = np.array([f"class number {k}" for k in range(7)])[kind]
    told = collect_findings(mr.LogLinearClassifier(2, max_rounds=40), frame, labels, cv=3, repeats=1, progress=False)
    charts = [effect_chart(one, told.balance, k) for k, one in enumerate(told.effects)]
    marks = {chart.title: json.dumps(chart.spec) for chart in charts}
    assert '"rect"' in marks["shape"] and '"line"' in marks["size"]
    pairs = [one for one in told.effects if len(one.axes) == 2]
    assert pairs and all(len(one.given) == 1 and one.against is None for one in pairs)


def test_the_cells_of_a_map_lie_around_their_places():
    numbers = EffectAxis("wing", "numbers", (1.0, 2.0, 4.0))
    assert _sides(numbers) == [(1.0, 1.5), (1.5, 3.0), (3.0, 4.0)]
    days = EffectAxis("ringed", "times", ("2024-03-01", "2024-03-02", "2024-03-04 12:00"))
    ends = [tuple(map(np.datetime64, pair)) for pair in _sides(days)]
    noon, evening = np.datetime64("2024-03-01T12"), np.datetime64("2024-03-03T06")
    assert ends == [(np.datetime64("2024-03-01"), noon), (noon, evening), (evening, np.datetime64("2024-03-04T12"))]
    assert len({len(side) for pair in _sides(days) for side in pair}) == 1  # of one form, which browsers read alike


def test_a_curve_of_many_teeth_is_told():
    x = np.arange(2_400.0)
    y = (x % 2)[:, None]
    assert sorted(set(bends(x, y, 0, len(x) - 1, 0.003))) == list(range(2_400))


def test_a_curve_keeps_its_bends():
    """What is drawn is straight between the places that are told."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"wing": rng.normal(size=300)})
    y = (frame["wing"] > 0.3) ^ (rng.random(300) < 0.1)
    model = mr.LogLinearClassifier(1, max_rounds=40).fit(frame, y)
    ranked, _ = importances_of(model, model._encoded(frame), y.to_numpy().astype(int), None)
    (drawn,) = learned_effects(model, model.fitted_.effects, ranked)
    (axis,), (curve,) = drawn.axes, drawn.given.values()
    between = frame["wing"].clip(axis.values[0], axis.values[-1]).to_numpy()
    effects = model.fitted_.effects
    values = next(iter(effects.values(model._encoded(pd.DataFrame({"wing": between}))).values()))
    exact = values[:, 1] - values[:, 0]
    np.testing.assert_allclose(np.interp(between, axis.values, curve), exact, atol=0.0031 * np.ptp(exact))
