"""Nomograms: the points of a row lead to the model's own probability; the table and the drawing say the same."""

import io
import json
import re
from unicodedata import category, east_asian_width, normalize

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import merula as mr
from merula.answers.explanation.nomogram_plot import draw
from merula.classify.fitted import Component


def odd_rows(frame, count, seed=4):
    """Cells of different rows side by side, every seventh missing."""
    rng = np.random.default_rng(seed)
    mixed = frame.apply(lambda column: column.iloc[rng.integers(0, len(frame), count)].to_numpy())
    return mixed.mask(rng.random(mixed.shape) < 1 / 7)


def pairwise(model, rows, label, against):
    """P(label given label or against), from the model's log joint."""
    indices = {name: k for k, name in enumerate(model.classes_.tolist())}
    log_joint = model.predict_joint_log_proba(rows)
    return expit(log_joint[:, indices[label]] - log_joint[:, indices[against]])


# --------------------------------------------------------------------------------------------------------------------
# Points


def test_the_points_of_a_row_lead_to_the_models_posterior(real_table):
    frame, y = real_table
    model = mr.NaiveBayesClassifier().fit(frame, y)
    classes = model.classes_.tolist()
    for label, against in ((classes[0], classes[-1]), (classes[1], classes[0])):
        picture = mr.nomogram(model, label, against)
        rows = odd_rows(frame, 40)
        expected = pairwise(model, rows, label, against)
        for k in range(len(rows)):
            points = picture.points(model, rows.iloc[[k]])
            assert picture.probability(sum(points.values())) == pytest.approx(expected[k], rel=0, abs=1e-9)
            assert set(points) == set(frame)


def test_between_two_classes_the_points_lead_to_predict_proba(melons):
    frame, good = melons
    model = mr.NaiveBayesClassifier().fit(frame, good)
    picture = mr.nomogram(model)
    assert (picture.label, picture.against) == ("是", "否")  # the second against the first
    rows = odd_rows(frame, 60)
    totals = np.array([sum(picture.points(model, rows.iloc[[k]]).values()) for k in range(len(rows))])
    np.testing.assert_allclose(picture.probability(totals), model.predict_proba(rows)[:, 1], rtol=0, atol=1e-9)


def test_nothing_known_leads_to_the_prior(penguins):
    frame, y = penguins
    model = mr.NaiveBayesClassifier().fit(frame, y)
    picture = mr.nomogram(model, "Adelie", "Chinstrap")
    counts = y.value_counts()
    share = counts["Adelie"] / (counts["Adelie"] + counts["Chinstrap"])
    assert picture.probability(sum(picture.points(model, {}).values())) == pytest.approx(share, abs=1e-12)
    assert sum(picture.points(model, {}).values()) == pytest.approx(sum(scale.missing for scale in picture.scales))


def test_the_largest_scale_has_a_hundred_points_and_every_scale_starts_at_zero(real_table):
    frame, y = real_table
    model = mr.NaiveBayesClassifier().fit(frame, y)
    picture = mr.nomogram(model, *model.classes_[:2].tolist())
    spans = [(min([*scale.points, scale.missing]), max([*scale.points, scale.missing])) for scale in picture.scales]
    assert max(high for _, high in spans) == pytest.approx(100)
    assert all(low == pytest.approx(0, abs=1e-9) for low, _ in spans)


def test_a_scale_holds_the_points_that_a_row_gets(penguins):
    frame, y = penguins
    model = mr.NaiveBayesClassifier().fit(frame, y)
    picture = mr.nomogram(model, "Gentoo", "Adelie")
    assert [scale.column.name for scale in picture.scales] == list(frame)
    for scale in picture.scales:
        name = scale.column.name
        for k in scale.ticks:
            assert picture.points(model, {name: scale.values[k]})[name] == pytest.approx(scale.points[k], abs=1e-9)
        assert picture.points(model, {})[name] == pytest.approx(scale.missing)


def test_a_levels_points_are_its_log_likelihood_ratio(melons, textbook):
    """W1: 纹理 has 7/8 against 2/9 for 清晰 and 1/8 against 4/9 for 稍糊."""
    scale = next(scale for scale in mr.nomogram(textbook).scales if scale.column.name == "纹理")
    points = dict(zip(scale.values, scale.points, strict=True))
    unit = mr.nomogram(textbook).unit
    expected = np.log((7 / 8) / (2 / 9)) - np.log((1 / 8) / (4 / 9))
    assert (points["清晰"] - points["稍糊"]) * unit == pytest.approx(expected, rel=1e-12)
    assert (scale.missing - points["稍糊"]) * unit == pytest.approx(-np.log((1 / 8) / (4 / 9)), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "cells", "whole"),
    [
        ("lasted", lambda days: pd.to_timedelta(days, unit="D"), r"\d+ d"),
        ("lasted", lambda days: pd.to_timedelta(days * 20, unit="s"), r"\d+ min|\d+:\d0 min|-?\d+ s|0 s"),
        ("day", lambda days: pd.Timestamp("2024-03-01") + pd.to_timedelta(days * 9, unit="D"), r"\d{4}-\d\d-\d\d"),
        ("time", lambda days: [f"{8 + int(day) // 6}:{int(day) % 6}5" for day in days], r"\d+:[03]0"),
    ],
)
def test_times_are_listed_at_whole_days_hours_minutes(name, cells, whole):
    ill = np.arange(240) % 2
    days = np.arange(240) % 30 + 8 * ill
    model = mr.NaiveBayesClassifier(kinds={"time": "numeric"} if name == "time" else None)
    picture = mr.nomogram(model.fit(pd.DataFrame({name: cells(days)}), np.where(ill, "ill", "well")))
    listed = [text for text, _ in picture.scales[0].shown()]
    assert len(listed) >= 3
    assert [text for text in listed if not re.fullmatch(f"-?(0 s|{whole})", text)] == []


def test_a_number_has_its_points_along_a_range_that_holds_the_data(penguins):
    frame, y = penguins
    picture = mr.nomogram(mr.NaiveBayesClassifier().fit(frame, y), "Gentoo", "Adelie")
    for scale in picture.scales:
        if scale.column.kind == "numeric":
            own = frame.loc[y.isin(["Gentoo", "Adelie"]), scale.column.name].dropna()
            assert scale.values[0] <= own.quantile(0.01)
            assert scale.values[-1] >= own.quantile(0.99)
            assert list(scale.values) == sorted(scale.values)
            assert len(scale.values) >= 100


def test_total_points_and_probability_are_inverse(penguins):
    frame, y = penguins
    picture = mr.nomogram(mr.NaiveBayesClassifier().fit(frame, y), "Gentoo", "Adelie")
    p = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(picture.probability(picture.total_points(p)), p, rtol=1e-12)
    totals = picture.total_points(p)
    np.testing.assert_allclose(np.diff(logit(p)) / np.diff(totals), picture.unit, rtol=1e-9)


def test_totals_far_away_are_certain_without_overflow(penguins):
    frame, y = penguins
    picture = mr.nomogram(mr.NaiveBayesClassifier().fit(frame, y), "Gentoo", "Adelie")
    np.testing.assert_allclose(picture.probability([-1e9, 1e9, -np.inf, np.inf]), [0, 1, 0, 1], atol=1e-12)


def test_a_decision_classifier_is_unwrapped(melons):
    model = mr.DecisionClassifier(mr.NaiveBayesClassifier(), reject_cost=0.2).fit(*melons)
    assert str(mr.nomogram(model)) == str(mr.nomogram(mr.NaiveBayesClassifier().fit(*melons)))


@pytest.mark.parametrize(("options", "label"), [({"label": "否"}, "否"), ({"label": "是"}, "是"), ({"against": "否"}, "是"), ({"against": "是"}, "否")])  # fmt: skip
def test_of_two_classes_naming_one_is_enough(textbook, options, label):
    picture = mr.nomogram(textbook, **options)
    assert (picture.label, picture.against) == (label, "是" if label == "否" else "否")


# --------------------------------------------------------------------------------------------------------------------
# Impossible levels


def test_an_impossible_level_decides_alone(melons, textbook):
    frame, _ = melons
    for label, expected in (("是", 0.0), ("否", 1.0)):
        picture = mr.nomogram(textbook, label)
        points = picture.points(textbook, frame.iloc[0].to_dict() | {"敲声": "清脆"})
        assert np.isinf(points["敲声"])
        assert picture.probability(sum(points.values())) == pytest.approx(expected, abs=1e-12)
        word = "impossible" if label == "是" else "certain"
        assert re.search(rf"清脆 +{word}", str(picture))
        finite = [scale.points[np.isfinite(scale.points)] for scale in picture.scales]
        assert max(points.max() for points in finite) == pytest.approx(100)


def test_plain_data_survive_json_with_words_for_what_is_infinite(textbook):
    picture = mr.nomogram(textbook)
    again = json.loads(json.dumps(picture.to_dict(), allow_nan=False))
    words = {np.inf: "certain", -np.inf: "impossible"}
    for scale, written in zip(picture.scales, again["scales"], strict=True):
        assert written["column"] == scale.column.name
        assert written["points"] == [words.get(points, points) for points in scale.points.tolist()]
        assert [written["shown"][k] for k in range(len(scale.ticks))] == [text for text, _ in scale.shown()]
    assert "impossible" in str(again)
    assert [picture.total_points(p) for p, _ in again["totals"]] == pytest.approx(
        [total for _, total in again["totals"]]
    )


def test_a_level_impossible_under_both_classes_says_nothing(penguins):
    tables = {
        "color": {"apple": {"red": 0.5, "green": 0.5, "blue": 0.0}, "cherry": {"red": 0.9, "green": 0.1, "blue": 0.0}}
    }
    model = mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, tables)
    picture = mr.nomogram(model)
    assert picture.points(model, {"color": "blue"})["color"] == picture.points(model, {})["color"]


# --------------------------------------------------------------------------------------------------------------------
# Refused


def test_joint_blocks_are_refused_by_name(penguins):
    with pytest.raises(ValueError, match="'island', 'sex' are modelled together|'bill_length_mm', .*modelled together"):
        mr.nomogram(mr.BayesClassifier().fit(*penguins), "Gentoo", "Adelie")


def test_a_model_where_missing_is_a_level_is_refused(melons):
    with pytest.raises(ValueError, match="missing='marginalise'"):
        mr.nomogram(mr.NaiveBayesClassifier(missing="level").fit(*melons))


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ((), r"compares two classes: give label= and against= .*'Adelie'"),
        (("Gentoo",), "compares two classes"),
        (("Gentoo", "Gentoo"), "both 'Gentoo'"),
        (("Gentoo", "Amsel"), "against is 'Amsel', which the model does not know"),
        (("Amsel", "Gentoo"), "label is 'Amsel'"),
    ],
)
def test_bad_classes_are_named(penguins, classes, message):
    with pytest.raises(ValueError, match=message):
        mr.nomogram(mr.NaiveBayesClassifier().fit(*penguins), *classes)


def test_a_mixture_is_refused(melons, twice):
    with pytest.raises(ValueError, match="mixture of 2; a nomogram needs a single sum"):
        mr.nomogram(twice.fit(*melons))


# --------------------------------------------------------------------------------------------------------------------
# As a table


def shown_width(text):
    return sum(
        2 if east_asian_width(sign) in "WF" else 1
        for sign in normalize("NFC", text)
        if category(sign) not in ("Mn", "Me")
    )


def test_the_table_lists_every_level_with_its_rounded_points(melons, textbook):
    picture = mr.nomogram(textbook)
    lines = str(picture).splitlines()
    assert lines[0] == "points for 是 against 否"
    for scale in picture.scales:
        start = lines.index(scale.column.name)
        for offset, (value, points) in enumerate([*scale.shown(), ("(unknown)", scale.missing)], start=1):
            name, number = re.split(r"\s{2,}", lines[start + offset].strip())
            assert name == value
            assert number == (f"{round(points)}" if np.isfinite(points) else "impossible")
    percent, totals = (re.findall(r"-?[\d.]+", line) for line in lines[-2:])
    for p, total in zip(percent, totals, strict=True):
        assert float(total) == pytest.approx(picture.total_points(float(p) / 100), abs=0.5 + 1e-9)


def test_the_table_aligns_in_any_script(melons, textbook):
    model = mr.NaiveBayesClassifier().fit(
        melons[0].rename(columns={"色泽": "cafe\u0301 色"}).replace({"青绿": "gru\u0308n 青绿"}), melons[1]
    )
    for picture in (mr.nomogram(textbook), mr.nomogram(model)):
        lines = str(picture).splitlines()
        values = [line for line in lines[1:-3] if line.startswith("  ")]
        assert len({shown_width(line) for line in values}) == 1
        assert shown_width(lines[-1]) == shown_width(lines[-2])


def test_labels_with_new_lines_stay_on_one_line():
    frame = pd.DataFrame({"two\nlines": ["up\ndown", "x"] * 10})
    picture = mr.nomogram(mr.NaiveBayesClassifier().fit(frame, ["yes\nno", "maybe"] * 10))
    assert len(str(picture).splitlines()) == 1 + (1 + 3) + 3


# --------------------------------------------------------------------------------------------------------------------
# Drawn


def check_drawing(ax, overlaps, outside):
    ax.figure.savefig(io.BytesIO(), format="png")
    assert overlaps(ax) == []
    assert outside(ax) == []


def test_three_columns_are_drawn_without_overlaps(penguins, pyplot, overlaps, outside):
    frame, y = penguins
    for names in (["island", "bill_length_mm", "sex"], ["flipper_length_mm", "body_mass_g", "year"]):
        model = mr.NaiveBayesClassifier().fit(frame[names], y)
        for pair in (("Gentoo", "Adelie"), ("Adelie", "Chinstrap"), ("Chinstrap", "Gentoo")):
            check_drawing(mr.nomogram(model, *pair).plot(), overlaps, outside)


def test_all_penguin_columns_are_drawn_without_overlaps(penguins, pyplot, overlaps, outside):
    check_drawing(mr.nomogram(mr.NaiveBayesClassifier().fit(*penguins), "Gentoo", "Adelie").plot(), overlaps, outside)


def test_forty_columns_are_drawn_without_overlaps(many_columns, pyplot, chinese_font, overlaps, outside):
    check_drawing(mr.nomogram(many_columns[2]).plot(), overlaps, outside)


def test_impossible_levels_are_drawn(textbook, pyplot, chinese_font, overlaps, outside):
    check_drawing(mr.nomogram(textbook).plot(), overlaps, outside)


def test_long_and_many_levels_are_drawn_without_overlaps(pyplot, overlaps, outside):
    rng = np.random.default_rng(7)
    levels = [f"a rather long level name, number {k}" for k in range(12)]
    frame = pd.DataFrame(
        {
            "a column with a long and winding name": rng.choice(levels, 500),
            "blood type": rng.choice(["A", "B", "AB", "0"], 500),
        }
    )
    model = mr.NaiveBayesClassifier().fit(frame, rng.choice(["ja", "nein"], 500))
    check_drawing(mr.nomogram(model).plot(), overlaps, outside)


def test_dollar_signs_are_drawn_as_they_are(pyplot):
    frame = pd.DataFrame({"income in $": ["$5 to $10", "< $5"] * 10, "größe": ["$a$", "b"] * 10})
    ax = mr.nomogram(mr.NaiveBayesClassifier().fit(frame, ["$yes$", "no"] * 8 + ["no", "$yes$"] * 2)).plot()
    ax.figure.savefig(io.BytesIO(), format="png")
    for text in (*ax.texts, *ax.get_yticklabels(), ax.xaxis.label):
        assert not text._preprocess_math(text.get_text())[1]


def test_a_model_that_says_nothing_can_be_drawn(pyplot, chinese_font):
    frame = pd.DataFrame({"größe": [171.0] * 8, "色泽": ["青绿"] * 8, "empty": [None] * 8})
    model = mr.NaiveBayesClassifier().fit(frame, ["ja", "nein"] * 4)
    picture = mr.nomogram(model)
    assert picture.probability(sum(picture.points(model, {}).values())) == pytest.approx(0.5)
    assert "größe" in str(picture)
    picture.plot().figure.savefig(io.BytesIO(), format="png")


def test_a_class_of_prior_zero_can_be_shown_and_drawn(pyplot):
    tables = {"color": {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 0.9, "green": 0.1}}}
    model = mr.NaiveBayesClassifier.from_tables({"apple": 1.0, "cherry": 0.0}, tables)
    picture = mr.nomogram(model, "cherry")
    assert picture.probability(sum(picture.points(model, {"color": "red"}).values())) == pytest.approx(0.0, abs=1e-12)
    assert "nan" not in str(picture)
    picture.plot().figure.savefig(io.BytesIO(), format="png")


def test_times_are_drawn(pyplot, overlaps):
    rng = np.random.default_rng(9)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, 60), unit="D")
    model = mr.NaiveBayesClassifier().fit(
        pd.DataFrame({"Aufnahme": days}), np.where(days > "2024-02-15", "spät", "früh")
    )
    picture = mr.nomogram(model)
    expected = model.predict_proba(pd.DataFrame({"Aufnahme": [pd.Timestamp("2024-02-14")]}))[0, 1]
    assert picture.probability(picture.points(model, {"Aufnahme": "2024-02-14"})["Aufnahme"]) == pytest.approx(
        expected, abs=1e-9
    )
    ax = picture.plot()
    ax.figure.savefig(io.BytesIO(), format="png")
    assert overlaps(ax) == []


def test_a_given_axes_is_drawn_on(textbook, pyplot, chinese_font):
    _, ax = pyplot.subplots()
    assert draw(mr.nomogram(textbook), ax) is ax


def test_all_columns_are_asked_for_at_once(monkeypatch):
    rng = np.random.default_rng(3)
    birds = pd.DataFrame({"wing": rng.normal(size=40), "colour": rng.choice(["red", "blue"], 40), "empty": [None] * 40})
    model = mr.NaiveBayesClassifier().fit(birds, ["wren", "tit"] * 20)
    asked = []
    terms = Component.terms
    monkeypatch.setattr(Component, "terms", lambda self, rows: (asked.append(len(rows)), terms(self, rows))[1])
    picture = mr.nomogram(model)
    assert len(asked) == 1
    for scale in picture.scales:
        alone = [picture.points(model, {scale.column.name: value})[scale.column.name] for value in scale.values]
        assert alone == pytest.approx(scale.points.tolist(), abs=1e-9)
