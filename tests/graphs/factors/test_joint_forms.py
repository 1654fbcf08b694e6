"""How a joint distribution is stated, counted, printed and handed on."""

import io
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import merula as mr

LAW = settings(deadline=None, max_examples=60)  # the machine may be busy
CELLS = {("klein", "青绿"): 0.1, ("klein", "乌黑"): 0.2, ("groß", "青绿"): 0.3, ("groß", "乌黑"): 0.4}
NAMES = ["größe", "色泽"]
LEVELS = {"größe": ["klein", "groß"], "色泽": ["青绿", "乌黑"]}
RECORDS = [{"größe": size, "色泽": color, "probability": p} for (size, color), p in CELLS.items()]
ARRAY = [[0.1, 0.2], [0.3, 0.4]]


@pytest.fixture
def melons():
    return mr.JointDistribution(NAMES, CELLS)


# --------------------------------------------------------------------------------------------------------------------
# Stating


@pytest.mark.parametrize(
    "state",
    [
        lambda: mr.JointDistribution(LEVELS, CELLS),
        lambda: mr.JointDistribution(LEVELS, ARRAY),
        lambda: mr.JointDistribution(LEVELS, np.array(ARRAY, dtype=np.float32).astype(float).round(3)),
        lambda: mr.JointDistribution(RECORDS),
        lambda: mr.JointDistribution(RECORDS[::-1]),
        lambda: mr.JointDistribution(NAMES[::-1], RECORDS),
        lambda: mr.JointDistribution([dict(reversed(row.items())) for row in RECORDS]),
        lambda: mr.JointDistribution(pd.DataFrame(RECORDS)),
        lambda: mr.JointDistribution(pl.DataFrame(RECORDS)),
        lambda: mr.JointDistribution(pa.Table.from_pylist(RECORDS)),
        lambda: mr.JointDistribution(pd.DataFrame(RECORDS).astype({"色泽": "category"})),
        lambda: mr.JointDistribution(pd.DataFrame(RECORDS).set_index(NAMES)["probability"]),
        lambda: mr.JointDistribution(LEVELS, {cell: Fraction(round(10 * p), 10) for cell, p in CELLS.items()}),
        lambda: mr.JointDistribution(mr.JointDistribution(NAMES, CELLS).to_frame()),
        lambda: mr.JointDistribution(NAMES, mr.JointDistribution(NAMES, CELLS).to_dict()),
        lambda: mr.JointDistribution(mr.JointDistribution(NAMES, CELLS)),
    ],
    ids=range(16),
)
def test_every_form_states_the_same(melons, state):
    assert state().allclose(melons, 1e-12)


def test_levels_stand_in_the_order_they_were_named(melons):
    assert melons.variables == ("größe", "色泽")
    assert dict(melons.levels) == {"größe": ("klein", "groß"), "色泽": ("青绿", "乌黑")}
    np.testing.assert_allclose(melons.values, ARRAY, atol=1e-15)
    declared = mr.JointDistribution({"色泽": ["乌黑", "浅白", "青绿"], "größe": ["groß", "klein"]}, RECORDS)
    assert dict(declared.levels) == {"色泽": ("乌黑", "浅白", "青绿"), "größe": ("groß", "klein")}
    assert declared["浅白", "klein"] == 0
    assert declared["乌黑", "klein"] == pytest.approx(0.2, abs=1e-12)


def test_one_variable_is_named_by_its_levels():
    coin = mr.JointDistribution("münze", {"kopf": 0.25, "zahl": 0.75})
    assert coin == mr.JointDistribution(["münze"], {("kopf",): 0.25, ("zahl",): 0.75})
    assert coin["kopf"] == coin[("kopf",)] == 0.25
    assert coin.to_dict() == dict(coin) == {"kopf": 0.25, "zahl": 0.75}
    series = pd.Series({"kopf": 0.25, "zahl": 0.75}).rename_axis("münze")
    assert mr.JointDistribution(series) == coin


def test_unlisted_cells_are_0_and_small_errors_are_normalised():
    joint = mr.JointDistribution(NAMES, {("klein", "青绿"): 1 / 3, ("groß", "乌黑"): 0.6666667})
    assert joint["klein", "乌黑"] == 0
    assert joint.values.sum() == pytest.approx(1, abs=1e-15)


def test_levels_may_be_words_numbers_truths_and_missing():
    joint = mr.JointDistribution("wert", {"a": 0.2, 7: 0.2, 2.5: 0.2, False: 0.2, None: 0.2})
    assert joint.levels["wert"] == ("a", 7, 2.5, False, None)
    assert joint.probability(wert={7, None}) == pytest.approx(0.4, abs=1e-12)
    assert joint[np.int64(7)] == joint[np.nan] == 0.2
    assert "missing" in str(joint)


# --------------------------------------------------------------------------------------------------------------------
# Counting


ROWS = {"größe": ["klein", "groß", "groß", "klein", "groß"], "zahl": [2, 10, 2, 2, 10]}
SHARES = {("groß", 2): 1 / 5, ("groß", 10): 2 / 5, ("klein", 2): 2 / 5, ("klein", 10): 0}


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS),
        pa.table(ROWS),
        [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)],
        pd.DataFrame(ROWS).astype("category"),
        pd.DataFrame(ROWS)[::-1],
    ],
    ids=["columns", "pandas", "polars", "arrow", "dicts", "category", "reversed"],
)
def test_relative_frequencies(data):
    joint = mr.JointDistribution.from_rows(data)
    assert joint.to_dict() == pytest.approx(SHARES, abs=1e-15)
    assert dict(joint.levels) == {"größe": ("groß", "klein"), "zahl": (2, 10)}


def test_an_array_is_named_by_the_variables():
    rows = np.array(list(zip(*ROWS.values(), strict=True)), dtype=object)
    assert mr.JointDistribution.from_rows(rows, ["größe", "zahl"]).to_dict() == pytest.approx(SHARES, abs=1e-15)
    assert mr.JointDistribution.from_rows(rows.tolist()).variables == ("x0", "x1")


def test_some_variables_and_declared_levels():
    joint = mr.JointDistribution.from_rows(ROWS, {"größe": ["klein", "mittel", "groß"]})
    assert list(joint) == [("klein", 0.4), ("mittel", 0.0), ("groß", 0.6)]
    assert mr.JointDistribution.from_rows(pd.DataFrame(ROWS), "zahl").to_dict() == {2: 0.6, 10: 0.4}


@LAW
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 3)), min_size=1, max_size=12))
def test_a_weight_equals_repeats(rows):
    repeated = [row[:2] for row in rows for _ in range(row[2])]
    if not repeated:
        return
    frame = pd.DataFrame(rows, columns=["größe", "色泽", "anzahl"])
    counted = mr.JointDistribution.from_rows(pd.DataFrame(repeated, columns=NAMES))
    assert mr.JointDistribution.from_rows(frame, weights="anzahl") == counted
    assert mr.JointDistribution.from_rows(frame[NAMES], weights=frame["anzahl"]) == counted
    assert mr.JointDistribution.from_rows(frame, NAMES, weights=frame["anzahl"].to_numpy()) == counted


def test_missing_cells_are_said_what_to_do_with():
    rows = pd.DataFrame({"größe": ["klein", None, "groß", "groß"], "n": [1.0, 2.0, np.nan, 1.0]})
    with pytest.raises(ValueError, match="'größe' has 1 missing cells; say missing='drop'"):
        mr.JointDistribution.from_rows(rows)
    assert mr.JointDistribution.from_rows(rows, missing="drop").to_dict() == {("groß", 1.0): 0.5, ("klein", 1.0): 0.5}
    level = mr.JointDistribution.from_rows(rows, missing="level")
    assert dict(level.levels) == {"größe": ("groß", "klein", None), "n": (1.0, 2.0, None)}
    assert level[None, 2.0] == level["groß", None] == 0.25


# --------------------------------------------------------------------------------------------------------------------
# Printing and handing on


def test_it_prints_aligned_in_any_script(melons):
    assert str(melons) == repr(melons)
    assert str(melons).splitlines() == [
        "P(größe, 色泽)",
        "größe  色泽  probability",
        "klein  青绿          0.1",
        "klein  乌黑          0.2",
        "groß   青绿          0.3",
        "groß   乌黑          0.4",
    ]


def test_long_tables_are_shortened_and_say_so():
    joint = mr.JointDistribution({"alter": range(70)}, np.full(70, 1 / 70))
    lines = str(joint).splitlines()
    assert len(lines) == 2 + 20 + 1
    assert lines[-1] == "(50 more rows not shown)"
    assert joint._repr_html_().count("<tr>") == 21
    assert "50 more rows not shown" in joint._repr_html_()


def test_two_variables_lie_across_in_a_notebook(melons):
    text = melons._repr_html_()
    assert text.count("<tr>") == 3  # the names of one, and a row for each level of the other
    assert "P(größe, 色泽)" in text
    assert melons.derive("x", lambda größe: größe)._repr_html_().count("<tr>") == 9


def test_html_is_escaped():
    hostile = "<script>alert('x')</script>"
    joint = mr.JointDistribution([hostile, "b & c"], {(hostile, '"'): 1.0})
    three = joint.derive("d<e", lambda **_: hostile)
    for shown in (joint, joint.marginal(hostile), three, three.conditional("d<e", given=[hostile, "b & c"])):
        text = shown._repr_html_()
        assert "<script" not in text
        assert "d<e" not in text
        assert "&lt;script&gt;" in text


def test_a_tidy_table(melons):
    frame = melons.to_frame()
    expected = pd.DataFrame(RECORDS)
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)
    assert frame["probability"].dtype == np.float64


def test_the_bayes_classifier_takes_a_joint(melons):
    model = mr.BayesClassifier.from_joint(melons, target="größe")
    found = model.predict_proba(pd.DataFrame({"色泽": ["青绿", "乌黑"]}))
    assert model.classes_.tolist() == ["groß", "klein"]
    np.testing.assert_allclose(found, [[0.3 / 0.4, 0.1 / 0.4], [0.4 / 0.6, 0.2 / 0.6]], atol=1e-12)
    with pytest.raises(ValueError, match="größe = 'klein', 色泽 = '青绿' stands more than once"):
        mr.BayesClassifier.from_joint([*RECORDS, RECORDS[0]], target="größe")
    with pytest.raises(ValueError, match="the joint distribution is 'größe', expected"):
        mr.BayesClassifier.from_joint("größe", target="größe")


def test_the_unchecked_way_takes_levels_by_name_or_in_order():
    values = np.array([[0.1, 0.2], [0.3, 0.4]])
    in_order = mr.JointDistribution._of(("色泽", "größe"), [("a", "b"), ("c", "d")], values)
    by_name = mr.JointDistribution._of(
        ("色泽", "größe"), {"alter": (1,), "größe": ("c", "d"), "色泽": ("a", "b")}, values
    )
    assert in_order == by_name
    assert dict(by_name.levels) == {"色泽": ("a", "b"), "größe": ("c", "d")}
    assert by_name.to_dict() == {("a", "c"): 0.1, ("a", "d"): 0.2, ("b", "c"): 0.3, ("b", "d"): 0.4}
    assert values.flags.writeable


def test_given_axes_draw_any_script(pyplot, chinese_font):
    figure, ax = pyplot.subplots()
    assert mr.JointDistribution("色泽", {"乌黑": 0.4, "浅白": 0.6}).plot(ax=ax) is ax
    figure.savefig(io.BytesIO(), format="png")  # a sign that its font lacks is a warning, hence an error here
