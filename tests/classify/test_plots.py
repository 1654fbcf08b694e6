"""What a column holds given each class, drawn: curves of mass one, bars of the model's probabilities, readable in any script."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm
from sklearn.exceptions import NotFittedError

import merula as mr

RNG = np.random.default_rng(6)
ILL = RNG.random(300) < 0.4
PATIENTS = pd.DataFrame(
    {
        "blood pressure": np.where(ILL, RNG.normal(150, 14, 300), RNG.normal(125, 0.01, 300)),
        "visits": RNG.poisson(np.where(ILL, 4, 1)),
        "größe": np.where(RNG.random(300) < np.where(ILL, 0.7, 0.2), "klein", "groß"),
        "seen on": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 300, 300), unit="D"),
        "rain": RNG.gamma(3, 2, 300) * (RNG.random(300) < np.where(ILL, 0.8, 0.3)),
    }
)
STATE = np.where(ILL, "ill", "healthy")


def fitted(**options):
    options = {"kinds": {"visits": "count"}, "distributions": {"rain": "zero_inflated"}} | options
    return mr.NaiveBayesClassifier(**options).fit(PATIENTS, STATE)


def lines(ax):
    """{class: (x, y)} of the curves."""
    return {line.get_label().split(" (")[0]: line.get_data() for line in ax.get_lines()}


def drawn(ax):
    """Drawing it raises every warning about fonts and layout."""
    ax.figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("family", ["gaussian", "kernel", "histogram", "mixture"])
def test_curves_have_mass_one_however_narrow(pyplot, family):
    ax = fitted(distributions={"blood pressure": family}).plot("blood pressure")
    assert set(lines(ax)) == {"healthy", "ill"}
    for x, y in lines(ax).values():
        assert trapezoid(y, x) == pytest.approx(1.0, abs=0.03)
    drawn(ax)


def test_a_normal_curve_is_scipys(pyplot):
    for label, (x, y) in lines(fitted().plot("blood pressure")).items():
        values = PATIENTS["blood pressure"][label == STATE]
        np.testing.assert_allclose(y, norm.pdf(x, values.mean(), values.std(ddof=0)), rtol=1e-6, atol=1e-12)


def test_joint_models_draw_the_columns_own_distribution(pyplot):
    table = PATIENTS[["blood pressure", "rain"]]
    for model in (mr.BayesClassifier(shrinkage=0), mr.KernelBayesClassifier()):
        for x, y in lines(model.fit(table, STATE).plot("rain")).values():
            assert trapezoid(y, x) == pytest.approx(1.0, abs=0.02)


def test_counts_are_drawn_at_whole_numbers(pyplot):
    for x, y in lines(fitted().plot("visits")).values():
        assert (x == np.arange(len(x))).all()
        assert y.sum() == pytest.approx(1.0, abs=0.01)


def test_masses_of_single_values_are_told_beside_the_curve(pyplot):
    ax = fitted(smoothing=0).plot("rain")
    for line in ax.get_lines():
        label, told = line.get_label()[:-1].split(" (P(0) = ")
        dry = (PATIENTS["rain"][label == STATE] == 0).mean()
        assert float(told) == pytest.approx(dry, abs=1e-3)
        assert trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1 - dry, abs=0.02)


def test_times_stand_on_an_axis_of_times(pyplot):
    ax = fitted().plot("seen on")
    drawn(ax)
    for x, _ in lines(ax).values():
        assert x.dtype.kind == "M"


def test_durations_stand_on_an_axis_in_a_unit_that_suits_them(pyplot):
    waited = pd.DataFrame({"waited": pd.to_timedelta(RNG.normal(90, 20, 300), unit="min")})
    ax = mr.NaiveBayesClassifier().fit(waited, STATE).plot("waited")
    assert ax.get_xlabel() == "hours"
    for x, y in lines(ax).values():
        assert x[np.argmax(y)] == pytest.approx(1.5, abs=0.1)
        assert trapezoid(y, x) == pytest.approx(1.0, abs=0.02)


def test_bars_are_the_probabilities_of_levels(pyplot):
    ax = fitted(smoothing=0).plot("größe")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["groß", "klein"]
    for bars in ax.containers:
        shares = PATIENTS["größe"][bars.get_label() == STATE].value_counts(normalize=True)
        assert [bar.get_width() for bar in bars] == pytest.approx([shares["groß"], shares["klein"]])
    drawn(ax)


def test_intervals_are_levels(pyplot):
    model = fitted(distributions={"rain": mr.Discretized(cuts=(2.0, 8.0)), "visits": "poisson"}, smoothing=0)
    ax = model.plot("rain")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["≤ 2", "(2, 8]", "> 8"]
    for bars in ax.containers:
        own = PATIENTS["rain"][bars.get_label() == STATE]
        expected = [(own <= 2).mean(), ((own > 2) & (own <= 8)).mean(), (own > 8).mean()]
        assert [bar.get_width() for bar in bars] == pytest.approx(expected)


def test_a_column_without_cuts_is_one_interval(pyplot):
    noise = pd.DataFrame({"weekday": RNG.integers(1, 8, 300).astype(float)})
    ax = mr.NaiveBayesClassifier(distributions={"numeric": mr.Discretized("mdl")}).fit(noise, STATE).plot("weekday")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["any"]
    assert [bar.get_width() for bars in ax.containers for bar in bars] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("variant", ["multinomial", "bernoulli"])
def test_texts_are_drawn_by_their_most_telling_words(pyplot, variant):
    letters = ["win cash", "cash prize", "cash now", "see you", "you there", "lunch you"] * 3
    model = mr.NaiveBayesClassifier(kinds="text", distributions={"text": mr.Multinomial(variant)})
    ax = model.fit(pd.DataFrame({"letter": letters}), ["spam", "spam", "spam", "ham", "ham", "ham"] * 3).plot("letter")
    words = [tick.get_text() for tick in ax.get_yticklabels()]
    assert set(words[:2]) == {"cash", "you"}
    widths = {bars.get_label(): [bar.get_width() for bar in bars] for bars in ax.containers}
    # cash is 9 of spam's 18 words, of 8 known ones; it is in 9 of its 9 texts
    expected = (9 + 1) / (18 + 8) if variant == "multinomial" else (9 + 1) / (9 + 2)
    assert widths["spam"][words.index("cash")] == pytest.approx(expected)


def test_given_axes_are_drawn_in_and_returned(pyplot):
    _, ax = pyplot.subplots()
    assert fitted().plot("blood pressure", ax=ax) is ax


def test_given_axes_draw_any_script(pyplot, chinese_font):
    table = pd.DataFrame({"色泽": ["乌黑", "浅白", "乌黑", "青绿"] * 3, "价格 $x$": np.arange(12.0)})
    model = mr.NaiveBayesClassifier().fit(table, ["是", "否"] * 6)
    for name in table:
        _, ax = pyplot.subplots()
        drawn(model.plot(name, ax=ax))
        drawn(model.plot(name))


def test_the_most_probable_classes_are_drawn_or_those_asked_for(pyplot):
    labels = np.repeat([f"class {k}" for k in range(30)], np.arange(30) + 2)
    model = mr.NaiveBayesClassifier().fit(RNG.normal(size=(len(labels), 1)), labels)
    ax = model.plot("x0")
    assert set(lines(ax)) == {f"class {k}" for k in range(22, 30)}
    assert len({line.get_color() for line in ax.get_lines()}) == 8
    assert ax.get_legend().get_texts()[-1].get_text() == "… and 22 more"
    assert list(lines(model.plot("x0", classes=["class 3", "class 1"]))) == ["class 3", "class 1"]


def test_a_class_keeps_its_colour(pyplot):
    model = fitted()
    colors = {line.get_label(): line.get_color() for line in model.plot("visits").get_lines()}
    (alone,) = model.plot("blood pressure", classes=["ill"]).get_lines()
    assert alone.get_color() == colors["ill"]


def test_what_cannot_be_drawn_says_why(pyplot):
    table = PATIENTS.assign(number=range(300), constant=1.0)
    model = mr.NaiveBayesClassifier(kinds={"number": "ignore"}).fit(table, STATE)
    with pytest.raises(ValueError, match="ignored"):
        model.plot("number")
    with pytest.raises(ValueError, match="never varied"):
        model.plot("constant")
    with pytest.raises(ValueError, match="did you mean 'blood pressure'"):
        model.plot("blod pressure")
    with pytest.raises(ValueError, match="expected one or more of the model's"):
        model.plot("visits", classes=["sick"])
    with pytest.raises(ValueError, match="no distribution given a class"):
        mr.NearestNeighborsClassifier().fit(table, STATE).plot("visits")
    with pytest.raises(ValueError, match="modelled together"):
        mr.BayesClassifier(missing="level").fit(table, STATE).plot("blood pressure")
    with pytest.raises(NotFittedError):
        mr.NaiveBayesClassifier().plot("visits")
