"""The waterfall of an explanation: its bars add up, its labels can be read, in any script and with many columns."""

import io

import numpy as np
import pandas as pd
import pytest

import merula as mr


def drawn(ax):
    """The figure as PNG: drawing it raises every warning about fonts and layout."""
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, format="png")
    return buffer.getvalue()


def bars(ax):
    """(start, end) of each bar, from top to bottom."""
    patches = sorted(ax.patches, key=lambda bar: bar.get_y())
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in patches]


def labels(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def check_steps(ax, part):
    """Prior from 0, each step from where the last one ended, posterior back to 0."""
    first, *steps, last = bars(ax)
    assert first == pytest.approx((0.0, part.prior_log_odds))
    index = part.prior_log_odds
    for start, end in steps:
        assert start == pytest.approx(index, abs=1e-9)
        index = end
    assert last == pytest.approx((0.0, part.log_odds), abs=1e-9)
    assert index == pytest.approx(part.log_odds, abs=1e-9)
    return [end - start for start, end in steps]


def test_the_bars_add_up_from_prior_to_posterior(penguins, pyplot):
    frame, y = penguins
    for kind in (mr.NaiveBayesClassifier, mr.BayesClassifier):
        model = kind().fit(frame, y)
        for row in range(0, 344, 49):
            found = mr.explain(model, frame.iloc[row])
            ax = found.plot()
            lengths = check_steps(ax, found.derivations[0])
            known = sorted(
                (reason.evidence for reason in found.reasons if reason.known), key=lambda weight: -abs(weight)
            )
            assert lengths[: len(known)] == pytest.approx(known, abs=1e-9)  # strongest first
            assert labels(ax)[0] == "prior"
            assert labels(ax)[-1] == "posterior"
            pyplot.close(ax.figure)


def test_each_bar_says_its_weight(melons, textbook, pyplot, chinese_font):
    found = mr.explain(textbook, melons[0].iloc[0], "是")
    ax = found.plot()
    texts = {note.get_text() for note in ax.texts}
    for factor in (
        (3 / 8) / (3 / 9),
        (5 / 8) / (3 / 9),
        (6 / 8) / (4 / 9),
        (7 / 8) / (2 / 9),
        (5 / 8) / (2 / 9),
        8 / 9,
    ):
        assert f"{np.log(factor):+.3f}" in texts
    assert set(labels(ax)[1:-1]) >= {"色泽 = 青绿", "根蒂 = 蜷缩", "密度 = 0.697"}
    assert "是" in ax.get_xlabel()


def test_missing_columns_are_one_step_of_nothing(penguins, pyplot):
    frame, y = penguins
    ax = mr.explain(mr.NaiveBayesClassifier().fit(frame, y), {"bill_length_mm": 45.0}).plot()
    assert labels(ax) == ["prior", "bill_length_mm = 45", "6 missing", "posterior"]
    start, end = bars(ax)[2]
    assert start == end


@pytest.mark.parametrize("top", [1, 3, 10, 39, 40, 100, np.int64(5), "all"])
def test_columns_beyond_the_strongest_are_drawn_together(many_columns, pyplot, chinese_font, top):
    frame, _, model = many_columns
    found = mr.explain(model, frame.iloc[2])
    ax = found.plot(top=top)
    lengths = check_steps(ax, found.derivations[0])
    strongest = sorted((reason.evidence for reason in found.reasons), key=lambda weight: -abs(weight))
    shown = len(lengths)
    if top != "all" and top < 39:
        assert shown == top + 1
        assert labels(ax)[-2] == f"{40 - top} other columns"
        assert lengths[:-1] == pytest.approx(strongest[:top], abs=1e-9)
        assert lengths[-1] == pytest.approx(sum(strongest[top:]), abs=1e-9)
    else:
        assert shown == 40
        assert lengths == pytest.approx(strongest, abs=1e-9)


@pytest.mark.filterwarnings("ignore::merula.UnseenLevelWarning")
def test_what_is_not_drawn_by_itself_is_one_bar_by_its_own_name(penguins, pyplot):
    """Of a pool these are effects, and what no part explains is a bar of its own, behind them."""
    frame, y = penguins
    found = mr.explain(mr.AutoBayesClassifier(2, max_rounds=20).fit(frame, y), frame.iloc[0])
    ax = found.plot(top=4)
    effects = sum(bool(reason.columns) for reason in found.reasons)
    assert effects > 6
    assert labels(ax)[5:-1] == [f"{effects - 4} other effects", *(reason.name for reason in found.reasons if not reason.columns)]  # fmt: skip
    check_steps(ax, found.derivations[0])


@pytest.mark.parametrize("top", [0, -1, 2.5, True, "every", None])
def test_a_bad_number_of_columns_is_named(melons, textbook, pyplot, top):
    with pytest.raises(ValueError, match="top is"):
        mr.explain(textbook, melons[0].iloc[0]).plot(top=top)


def test_what_decides_alone_comes_last_and_reaches_the_edge(melons, textbook, pyplot, chinese_font, overlaps):
    crisp = melons[0].iloc[0].to_dict() | {"敲声": "清脆"}
    for label, side in (("是", 0), ("否", 1)):
        ax = mr.explain(textbook, crisp, label).plot()
        assert labels(ax)[-2] == "敲声 = 清脆"
        assert bars(ax)[-2][1] == pytest.approx(ax.get_xlim()[side])
        assert bars(ax)[-1][1] == pytest.approx(ax.get_xlim()[side])
        assert {"impossible" if side == 0 else "certain"} <= {note.get_text() for note in ax.texts}
        drawn(ax)
        assert overlaps(ax) == []


def test_zero_evidence_can_be_drawn(pyplot):
    tables = {
        name: {"apple": {"red": 1.0, "blue": 0.0}, "cherry": {"red": 1.0, "blue": 0.0}} for name in ("skin", "flesh")
    }
    model = mr.NaiveBayesClassifier.from_tables({"apple": 0.9, "cherry": 0.1}, tables)
    assert drawn(mr.explain(model, {"skin": "blue", "flesh": "red"}).plot())


def test_a_given_axes_is_drawn_on(melons, textbook, pyplot, chinese_font):
    _, ax = pyplot.subplots()
    assert mr.explain(textbook, melons[0].iloc[0]).plot(ax=ax) is ax
    assert len(ax.patches) == 10


# --------------------------------------------------------------------------------------------------------------------
# Texts can be read


def three_columns(columns, classes, levels, seed=1):
    rng = np.random.default_rng(seed)
    y = np.array(classes)[np.arange(90) % len(classes)]
    frame = pd.DataFrame({name: np.array(levels)[rng.integers(0, len(levels), 90)] for name in columns})
    return mr.NaiveBayesClassifier().fit(frame, y), frame


@pytest.mark.parametrize("row", [0, 3, 100, 250])
@pytest.mark.parametrize("kind", [mr.NaiveBayesClassifier, mr.BayesClassifier])
def test_no_texts_overlap(penguins, pyplot, overlaps, outside, kind, row):
    frame, y = penguins
    ax = mr.explain(kind().fit(frame, y), frame.iloc[row]).plot()
    assert drawn(ax)
    assert overlaps(ax) == []
    assert outside(ax) == []


@pytest.mark.parametrize("top", [3, 20, 40])
@pytest.mark.parametrize("row", range(4))
def test_no_texts_overlap_with_forty_columns(many_columns, pyplot, chinese_font, overlaps, outside, top, row):
    frame, _, model = many_columns
    ax = mr.explain(model, frame.iloc[row]).plot(top=top)
    assert drawn(ax)
    assert overlaps(ax) == []
    assert outside(ax) == []


@pytest.mark.parametrize("sample", range(5))
def test_no_texts_overlap_with_three_columns(pyplot, overlaps, outside, sample):
    model, frame = three_columns(
        ["wing span", "größe", "bill color"], ["amsel", "drossel"], ["yellow", "dark brown"], sample
    )
    ax = mr.explain(model, frame.iloc[sample]).plot()
    assert drawn(ax)
    assert overlaps(ax) == []
    assert outside(ax) == []


def test_chinese_labels_are_drawn_by_a_font_that_has_them(melons, textbook, pyplot, chinese_font, overlaps):
    ax = mr.explain(textbook, melons[0].iloc[0]).plot()
    assert drawn(ax)
    assert overlaps(ax) == []


def test_signs_no_font_can_draw_are_warned_about_not_drawn_as_boxes(pyplot):
    """matplotlib's own font of last resort claims every character, but draws boxes."""
    sign = "\U000f1234"  # of private use: it means nothing
    model, frame = three_columns([f"{sign} height"], ["ja", "nein"], ["x", "y"])
    with pytest.warns(UserWarning, match="no installed font can draw"):
        mr.explain(model, frame.iloc[0]).plot()


@pytest.mark.parametrize(
    "label", ["$5 to $10", "a$", "$\\frac{1}{2}$", "100 %", "x_1^2", "\\alpha", "{}", "<b>", "new\nline"]
)
def test_labels_are_drawn_as_they_are(pyplot, label):
    model, _ = three_columns([label, "größe"], [label, "nein"], [label, "x"])
    ax = mr.explain(model, {label: label}, label).plot()
    assert drawn(ax)
    tick = ax.get_yticklabels()[1]
    shown, is_math = tick._preprocess_math(tick.get_text())
    assert not is_math
    line = " ".join(label.split())
    assert shown == f"{line} = {line}"


def test_long_names_keep_both_ends(pyplot, overlaps, outside):
    names = [f"the measurement of something with a very long name, number {k}" for k in range(3)]
    model, frame = three_columns(names, ["ja", "nein"], ["a level that is quite long as well", "short"])
    ax = mr.explain(model, frame.iloc[0]).plot()
    assert drawn(ax)
    assert all(label.startswith("the meas") for label in labels(ax)[1:-1])
    assert len(set(labels(ax))) == 5
    assert overlaps(ax) == []
    assert outside(ax) == []


def test_a_mixture_is_refused(melons, pyplot, twice):
    with pytest.raises(ValueError, match="mixture of 2"):
        mr.explain(twice.fit(*melons), melons[0].iloc[0]).plot()
