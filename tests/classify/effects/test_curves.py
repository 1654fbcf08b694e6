"""Learned effects along columns, and drawn: what they say is what rows say."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

import merula as mr
from merula.classify.effects.curves import effect_curve
from merula.classify.effects.plot import effect_plot
from merula.classify.effects.purified import Subject


def birds(n=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 2)).round(2), columns=["wing", "größe"])
    frame["色泽"] = rng.choice(["blass", "gelb", "rot"], n, p=[0.2, 0.5, 0.3])
    frame["seen on"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    label = np.where(frame["wing"] * frame["größe"] + (frame["色泽"] == "rot") > 0.4, "tit", np.where(frame["wing"] > 0, "wren", "owl"))  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "色泽"] = None
    return frame, label


@pytest.fixture(scope="module", params=[2, "gaussian"])
def model(request):
    options = {"max_rounds": 80} if request.param == 2 else {}
    return mr.LogLinearClassifier(request.param, **options).fit(*birds())


def test_a_curve_is_the_effect_of_rows_with_these_numbers(model):
    frame, _ = birds()
    effects = model.fitted_.effects
    found = effect_curve(effects, ("wing",))
    (places,) = found.places
    rows = frame.iloc[np.zeros(places.count, dtype=int)].assign(wing=list(places.values), größe=np.linspace(-1, 1, places.count))  # fmt: skip
    expected = effects.values(model._encoded(rows))[Subject(("wing",))]
    np.testing.assert_allclose(found.effects, expected, atol=1e-12)
    assert frame["wing"].min() <= places.values[0] < places.values[-1] <= frame["wing"].max()


def test_a_map_is_the_effect_of_every_combination():
    frame, label = birds()
    model = mr.LogLinearClassifier(2, max_rounds=80).fit(frame, label)
    effects = model.fitted_.effects
    found = effect_curve(effects, ("色泽", "wing"))
    wing, colour = found.places
    assert (wing.name, colour.name) == ("wing", "色泽") and colour.values == ("gelb", "rot", "blass", None)
    for k, word in enumerate(colour.values):
        rows = frame.iloc[np.zeros(wing.count, dtype=int)].assign(wing=list(wing.values), 色泽=word)
        expected = effects.values(model._encoded(rows))[Subject(("wing", "色泽"))]
        np.testing.assert_allclose(found.effects[:, k], expected, atol=1e-12)


def test_steps_have_both_sides_of_each_cut():
    frame, label = birds()
    model = mr.LogLinearClassifier(1, max_rounds=30).fit(frame, label)
    found = effect_curve(model.fitted_.effects, ("wing",))
    values = np.array(found.places[0].values)
    jumps = np.flatnonzero(np.abs(np.diff(found.effects, axis=0)).max(axis=1) > 1e-9)
    assert len(jumps) and (values[jumps + 1] == np.nextafter(values[jumps], np.inf)).all()


def test_columns_that_have_no_effect_together_are_named(model):
    if model.order == "gaussian":
        with pytest.raises(mr.InputError, match="'wing' and '色泽' have no effect in this model"):
            effect_curve(model.fitted_.effects, ("wing", "色泽"))
    with pytest.raises(mr.InputError, match="'tail' has no effect in this model"):
        effect_curve(model.fitted_.effects, ("tail",))
    for columns in (("wnig",), ("größe", "wnig")):
        with pytest.raises(mr.InputError, match=r"column is 'wnig', expected one of .*; did you mean 'wing'\?"):
            effect_plot(model, columns)
    with pytest.raises(mr.InputError, match="both columns are 'wing'; name two different columns"):
        effect_plot(model, ("wing", "wing"))
    with pytest.raises(mr.InputError, match="effects of one column or of two are drawn"):
        effect_plot(model, ("wing", "größe", "色泽"))
    with pytest.raises(mr.InputError, match="of a model that has them"):
        effect_plot(mr.NaiveBayesClassifier().fit(*birds()), ("wing",))


@pytest.mark.parametrize("column", ["wing", "色泽", "seen on"])
def test_one_column_is_drawn_for_each_class(model, column, chinese_font, pyplot):
    ax = effect_plot(model, (column,))
    assert {text.get_text() for text in ax.figure.legends[0].get_texts()} if ax.figure.legends else ax.get_legend()
    curve = effect_curve(model.fitted_.effects, (column,))
    found = curve.effects
    if column == "色泽":  # levels in their own order, whatever is the most frequent
        assert [text.get_text() for text in ax.get_yticklabels()] == ["blass", "gelb", "rot", "missing"]
        found = found[[curve.places[0].values.index(level) for level in ("blass", "gelb", "rot", None)]]
        drawn = [[bar.get_width() for bar in group] for group in ax.containers]
    else:
        drawn = [line.get_ydata() for line in ax.get_lines()[:3]]
    np.testing.assert_allclose(drawn, found.T)
    assert len(effect_plot(model, (column,), classes=["tit"]).get_legend_handles_labels()[1]) == 1


@pytest.mark.parametrize(("order", "columns"), [(2, ("wing", "größe")), (2, ("色泽", "wing")), ("gaussian", ("seen on", "wing"))])  # fmt: skip
def test_two_columns_are_drawn_as_a_map_of_one_class(order, columns, chinese_font, pyplot):
    model = mr.LogLinearClassifier(order).fit(*birds())
    ax = effect_plot(model, columns, classes=["wren"])
    found = effect_curve(model.fitted_.effects, columns)
    values = found.effects[..., model.classes_.tolist().index("wren")]
    for axis, places in enumerate(found.places):
        if not places.is_number:  # in their own order, which the schema has
            own = [*filter(None, model.schema_[places.name].levels), *([None] if None in places.values else [])]
            values = np.take(values, [places.values.index(level) for level in own], axis=axis)
    drawn = np.asarray(ax.collections[0].get_array())
    np.testing.assert_allclose(np.sort(drawn, axis=None), np.sort(values, axis=None))
    first = found.places[0].name == ax.get_xlabel()
    np.testing.assert_allclose(drawn, values.T if first else values)
    assert "wren" in ax.figure.axes[-1].get_ylabel()


def test_of_two_classes_the_log_odds_are_drawn(chinese_font, pyplot):
    frame, label = birds()
    frame.loc[::7, "wing"] = np.nan
    model = mr.LogLinearClassifier(2, max_rounds=40, missing="level").fit(frame, label == "tit")
    found = effect_curve(model.fitted_.effects, ("wing",))
    ax = effect_plot(model, ("wing",))
    curve, dotted, _ = ax.get_lines()
    np.testing.assert_allclose(curve.get_ydata(), found.effects[:, 1] - found.effects[:, 0])
    lost = frame.assign(wing=np.nan).iloc[[0]]
    expected = model.fitted_.effects.values(model._encoded(lost))[Subject(("wing",))][0]
    np.testing.assert_allclose(found.missing, expected, atol=1e-12)
    np.testing.assert_allclose(dotted.get_ydata(), expected[1] - expected[0])
    assert "True against False" in ax.get_ylabel() and ax.get_legend() is None
    bars = effect_plot(model, ("色泽",)).containers[0]
    words = effect_curve(model.fitted_.effects, ("色泽",))
    own = [words.places[0].values.index(level) for level in ("blass", "gelb", "rot", None)]  # levels in their own order
    np.testing.assert_allclose([bar.get_width() for bar in bars], (words.effects[:, 1] - words.effects[:, 0])[own])
    assert len(effect_plot(model, ("wing",), classes=[False]).get_legend_handles_labels()[1]) == 1
    table = effect_plot(model, ("wing", "größe"))
    values = effect_curve(model.fitted_.effects, ("wing", "größe")).effects
    drawn = np.asarray(table.collections[0].get_array())
    np.testing.assert_allclose(np.sort(drawn, axis=None), np.sort(values[..., 1] - values[..., 0], axis=None))


def test_a_text_is_drawn_by_its_words(pyplot):
    letters = pd.DataFrame({"letter": [f"{word} {end}" for word in ("win cash", "see you") for end in "abcdefgh"]})
    model = mr.AutoBayesClassifier(kinds="text").fit(letters, np.repeat(["spam", "ham"], 8))
    words = {tick.get_text() for tick in model.plot("letter").get_yticklabels()}
    assert {"win", "cash", "see", "you"} <= words
    with pytest.raises(mr.InputError, match="both columns are 'letter'"):
        model.plot("letter", "letter")


def test_levels_that_begin_alike_are_told_apart(pyplot):
    """Long texts, cut in the middle where their ends differ, and by a number where these do not."""
    levels = ["the same long beginning of a remark, and then red", "the same long beginning of a remark, and then blue"]
    more = ["a long beginning, the one thing in the middle, a long and equal end", "a long beginning, the other thing in the middle, a long and equal end"]  # fmt: skip
    for words in (levels, more):
        model = mr.LogLinearClassifier(order=1, kinds="categorical").fit(pd.DataFrame({"remark": words * 30}), ["yes", "no"] * 30)  # fmt: skip
        ax = effect_plot(model, ("remark",))
        told = [tick.get_text() for tick in ax.get_yticklabels()]
        assert len(set(told)) == len(told) >= 2


@pytest.mark.filterwarnings("ignore::merula.data.encode.kinds.GuessedKindWarning")
def test_a_unit_that_the_name_holds_is_not_said_twice(pyplot):
    money = pd.DataFrame({"Betrag (€)": [f"{k % 40},50 €" for k in range(120)], "Menge": [f"{k * 7 % 30} kg" for k in range(120)]})  # fmt: skip
    label = [k % 40 > 20 and k * 7 % 30 > 10 for k in range(120)]
    ax = effect_plot(mr.LogLinearClassifier(order=2).fit(money, label), ("Betrag (€)", "Menge"))
    assert {ax.get_xlabel(), ax.get_ylabel()} == {"Betrag (€)", "Menge (kg)"}


def test_long_levels_below_a_map_do_not_run_into_each_other():
    rng = np.random.default_rng(0)
    crew = [f"{kind} crew" for kind in ("deck", "engineering", "restaurant", "victualling", "cleaning")]
    frame = pd.DataFrame({"class": rng.choice(crew, 400), "sex": rng.choice(["female", "male"], 400)})
    y = (frame["class"] == crew[1]) ^ (frame["sex"] == "male")
    model = mr.AutoBayesClassifier(2, max_rounds=10).fit(frame, y)
    ax = model.plot("class", "sex")
    ax.figure.canvas.draw()
    levels = [label for label in ax.get_xticklabels() if label.get_text()]
    assert len(levels) == 5 and {label.get_rotation() for label in levels} == {35.0}
    low, high = ax.get_ylim()
    assert low > high  # levels from top to bottom
    short = mr.AutoBayesClassifier(2, max_rounds=10).fit(frame.replace(dict(zip(crew, "abcde", strict=True))), y)
    assert {label.get_rotation() for label in short.plot("class", "sex").get_xticklabels()} == {0.0}
    plt.close("all")
