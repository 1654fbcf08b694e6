"""Is the model still true: nothing where nothing has changed, each change where there is one, and plain words and data of both."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.frozen import FrozenEstimator

import merula as mr
from merula.answers.monitoring.losses import Evidence
from merula.answers.monitoring.result import evidence_told


def patients(rows, rng, prevalence=(0.6, 0.4)):
    """A table of words and numbers with missing cells, and the class of each row: as naive Bayes supposes them to be."""
    ill = rng.choice(2, rows, p=prevalence)
    table = pd.DataFrame(
        {
            "blood pressure": rng.normal(np.array([120.0, 140.0])[ill], 15.0),
            "größe": rng.normal(170.0, 9.0, rows),
            "色泽": [
                ["pale", "red", "blue"][rng.choice(3, p=p)] for p in np.array([[0.2, 0.7, 0.1], [0.5, 0.3, 0.2]])[ill]
            ],
        }
    ).astype({"色泽": object})
    table.loc[rng.random(rows) < 0.05, "größe"] = np.nan
    return table, np.array(["well", "ill"])[ill]


@pytest.fixture(scope="module")
def model():
    return mr.NaiveBayesClassifier().fit(*patients(2_000, np.random.default_rng(0)), reference=True)


@pytest.fixture(scope="module")
def new():
    return patients(1_000, np.random.default_rng(1))


def of(found):
    return [change.of for change in found.changes]


# ---------------------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize("reference", [True, False])
def test_false_alarms_are_rare(reference):
    streams, alarms = 40, 0
    for seed in range(streams):
        rng = np.random.default_rng(seed)
        model = mr.NaiveBayesClassifier().fit(*patients(600, rng), reference=reference)
        table, classes = patients(300, rng)
        alarms += mr.monitor(model, table, classes if seed % 2 else None).changed
    assert alarms <= stats.binom.ppf(0.999, streams, 0.05)


@pytest.mark.parametrize("reference", [True, False])
def test_one_standard_deviation_in_a_thousand_rows_is_found(reference):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        model = mr.NaiveBayesClassifier().fit(*patients(2_000, rng), reference=reference)
        table, _ = patients(1_000, rng)
        found = mr.monitor(model, table.assign(größe=table["größe"] + 9.0))
        assert of(found) == ["größe"]
        assert found.column("größe").compared == ("numbers" if reference else "mean and variance")
        assert " standard deviations higher." in found.changes[0].sentence


# ---------------------------------------------------------------------------------------------------- each change


def test_nothing_has_changed(model, new):
    found = mr.monitor(model, *new)
    assert not found.changed
    assert found.verdict.startswith("Nothing has changed beyond chance")
    assert found.steps == ()
    assert found.labelled == found.rows == 1_000


def test_new_levels_are_named(model, new):
    table, classes = new
    found = mr.monitor(model, table.replace({"色泽": {"blue": "azure"}}), classes)
    assert of(found) == ["色泽"]
    assert "never seen before: azure" in found.changes[0].sentence
    assert found.column("色泽").unseen == {"azure": float((table["色泽"] == "blue").sum())}
    assert "spelling" in found.steps[0]


def test_missing_cells_are_counted(model, new):
    table, classes = new
    found = mr.monitor(model, table.assign(größe=table["größe"].where(np.arange(1_000) % 5 > 0)), classes)
    assert of(found) == ["größe"]
    assert found.column("größe").missing_now == pytest.approx(0.24, abs=0.02)
    assert found.steps[0] == "Find out why 'größe' is missing more often."


def test_a_spread_that_changed_is_seen_in_moments_alone(new):
    then, classes = patients(2_000, np.random.default_rng(0))
    model = mr.NaiveBayesClassifier().fit(then, classes)
    table, _ = new
    middle = table["größe"].mean()
    found = mr.monitor(model, table.assign(größe=middle + 1.5 * (table["größe"] - middle)))
    assert of(found) == ["größe"]
    times = 1.5 * table["größe"].std(ddof=0) / then["größe"].std(ddof=0)
    assert f"it varies more: its standard deviation is {times:.2f} times what it was" in found.changes[0].sentence


def test_a_column_that_never_varied(new):
    table, classes = patients(500, np.random.default_rng(0))
    model = mr.NaiveBayesClassifier().fit(table.assign(größe=170.0), classes)
    assert of(mr.monitor(model, table.assign(größe=170.0))) == []
    assert of(mr.monitor(model, table.assign(größe=np.where(np.arange(500) < 60, 171.0, 170.0)))) == ["größe"]


def test_classes_that_are_more_frequent_are_estimated_and_counted(model):
    table, classes = patients(1_000, np.random.default_rng(2), (0.3, 0.7))
    counted = mr.monitor(model, table, classes)
    assert counted.counted
    assert "class" in of(counted)
    share = counted.prevalence["ill"]
    assert share.now == np.mean(classes == "ill")
    assert share.low < share.now < share.high
    estimated = mr.monitor(model, table)
    assert not estimated.counted
    assert estimated.prevalence["ill"].low < 0.7 < estimated.prevalence["ill"].high
    assert [doubt.of for doubt in estimated.doubts] == ["class"]  # it rests on the model's own probabilities
    assert "with_class_prior({'ill': 0." in estimated.doubts[0].remedy
    assert "with_class_prior" in " ".join(counted.steps)


def test_intervals_of_prevalences_know_how_few_rows_the_model_learned_from():
    rng = np.random.default_rng(5)
    table, classes = patients(60, rng)
    asked, _ = patients(3_000, rng, (0.3, 0.7))
    few = mr.NaiveBayesClassifier().fit(table, classes)
    same = mr.NaiveBayesClassifier().fit(table, classes, sample_weight=np.full(60, 1_000))  # the same means and shares
    narrow, wide = (mr.monitor(one, asked).prevalence["ill"] for one in (same, few))
    assert wide.now == pytest.approx(narrow.now, abs=0.02)
    assert not narrow.low <= 0.7 <= narrow.high
    assert wide.low <= 0.7 <= wide.high
    turned = mr.monitor(few, asked.iloc[::-1]).prevalence["ill"]
    assert (turned.low, turned.high) == pytest.approx((wide.low, wide.high), abs=1e-6)


def test_intervals_of_models_that_do_not_know_how_sure_they_are_say_so(model, new):
    told = "take the model's probabilities as known"
    neighbours = mr.NearestNeighborsClassifier().fit(*patients(200, np.random.default_rng(0)))
    assert told in " ".join(mr.monitor(neighbours, new[0]).remarks)
    assert told not in " ".join(mr.monitor(neighbours, *new).remarks)  # counted
    assert told not in " ".join(mr.monitor(model, new[0]).remarks)


def test_a_conditional_model_is_taken_at_its_word_of_the_classes():
    model = mr.LogLinearClassifier("gaussian").fit(*patients(2_000, np.random.default_rng(0)))
    table, _ = patients(1_000, np.random.default_rng(2), (0.3, 0.7))
    found = mr.monitor(model, table)
    assert "class" in of(found)
    assert found.evidence is None


def test_the_loss_is_a_doubt_until_rows_of_before_tell(model, new):
    table, classes = new
    wrong = np.where(
        np.random.default_rng(0).random(1_000) < 0.25, np.random.default_rng(1).permutation(classes), classes
    )
    alone = mr.monitor(model, table, wrong)
    assert [doubt.of for doubt in alone.doubts] == ["loss"]
    assert not alone.changed
    assert "in doubt" in alone.verdict
    before = patients(1_000, np.random.default_rng(5))
    told = mr.monitor(model, table, wrong, before=before)
    assert of(told) == ["loss"]
    assert told.loss.before < told.loss.realised
    assert told.doubts == ()


def test_a_pool_is_compared_with_its_rows_left_out():
    then = patients(600, np.random.default_rng(0))
    model = mr.AutoBayesClassifier(order=1, max_rounds=5).fit(*then)
    table, classes = patients(800, np.random.default_rng(1))
    assert mr.monitor(model, table, classes).changed is False
    wrong = mr.monitor(model, table, np.random.default_rng(1).permutation(classes))
    assert of(wrong) == ["loss"]
    assert wrong.loss.standard == "rows left out"
    assert wrong.loss.before == model.out_of_fold_["pool"][0]
    assert wrong.evidence.model == "joint part"


def test_evidence_is_tested_beside_rows_of_before_alone(new):
    rng = np.random.default_rng(0)
    one = rng.normal(size=(2_000, 2))
    model = mr.BayesClassifier().fit(np.column_stack([one[:, 0], one.sum(axis=1)]), rng.integers(0, 2, 2_000))

    def rows(sign):
        drawn = rng.normal(size=(1_000, 2))
        return np.column_stack([drawn[:, 0], sign * drawn[:, 0] + drawn[:, 1]])

    found = mr.monitor(model, rows(-1), before=rows(1))  # every column is what it was, both together are not
    assert of(found) == ["evidence"]
    assert found.evidence.surprising > 0.05
    drawn = mr.monitor(model, rows(-1))
    assert not drawn.changed
    assert drawn.evidence.compared_with == "drawn"
    assert drawn.evidence.usual == pytest.approx(found.evidence.usual, abs=0.2)


def test_drawn_rows_lack_what_the_rows_lack(model, new):
    table, _ = new
    found = mr.monitor(model, table.assign(größe=np.nan))
    assert found.evidence.mean == pytest.approx(found.evidence.usual, abs=0.25)


# ---------------------------------------------------------------------------------------------------- laws


def test_order_of_rows_and_columns_does_not_matter(model, new):
    table, classes = new
    order = np.random.default_rng(3).permutation(1_000)
    one = mr.monitor(model, table, classes)
    other = mr.monitor(model, table.iloc[order][table.columns[::-1]], classes[order])
    assert {name: round(p, 9) for name, p in one.tests.items()} == {
        name: round(p, 9) for name, p in other.tests.items()
    }
    assert one.verdict == other.verdict


def test_a_weight_is_repeats(model, new):
    table, classes = (part[:300] for part in new)
    weights = np.random.default_rng(4).integers(0, 4, 300)
    often = np.repeat(np.arange(300), weights)
    weighted = mr.monitor(model, table, classes, sample_weight=weights)
    assert weighted.to_dict() == mr.monitor(model, table.iloc[often], classes[often]).to_dict()


def test_some_classes_may_be_missing_and_some_unknown(model, new):
    table, classes = new
    some = [label if k % 2 else None for k, label in enumerate(classes)]
    found = mr.monitor(model, table, some)
    assert (found.labelled, found.counted) == (500, False)
    strange = mr.monitor(model, table, np.where(np.arange(1_000) < 30, "dead", classes))
    assert of(strange) == ["class"]
    assert "dead" in strange.changes[0].sentence
    assert strange.labelled == 970


def test_a_model_after_saving_says_the_same(model, new, tmp_path):
    model.save(tmp_path / "model.merula")
    assert mr.monitor(mr.load(tmp_path / "model.merula"), *new).to_dict() == mr.monitor(model, *new).to_dict()


def test_fewer_false_alarms_ask_for_more(model, new):
    table, _ = new
    moved = table.assign(größe=table["größe"] + 1.2)
    p = mr.monitor(model, moved).tests["größe: numbers"]
    assert mr.monitor(model, moved, false_alarms=p * 1.01).changed
    assert not mr.monitor(model, moved, false_alarms=p * 0.99).changed


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_few_rows_are_no_trouble(model, new, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mr.monitor(model, new[0][:rows], new[1][:rows])
    assert not found.changed
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_rows_of_which_nothing_is_known(model, new):
    empty = new[0][:50].assign(**{"blood pressure": np.nan, "größe": np.nan, "色泽": None})
    found = mr.monitor(model, empty)
    assert set(of(found)) == {"blood pressure", "größe", "色泽"}
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_stated_probabilities_have_no_columns_to_compare():
    fruit = {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 0.9, "green": 0.1}}
    model = mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, {"color": fruit})
    found = mr.monitor(model, [["red"], ["green"]] * 20, ["cherry", "apple"] * 20)
    assert found.column("color").compared == "nothing"
    assert list(found.tests) == ["classes", "loss"]
    assert not found.changed
    assert "stated, not counted" in " ".join(found.remarks)


def test_texts_are_told_by_their_missing_cells():
    texts = [["buy now", None, "see you", "hello there"][k % 4] for k in range(200)]
    model = mr.NaiveBayesClassifier(kinds={"message": "text"}).fit(
        pd.DataFrame({"message": texts}), ["spam", "ham"] * 100
    )
    found = mr.monitor(model, pd.DataFrame({"message": ["buy now", "hello"] * 50}))
    assert found.column("message").compared == "missing cells"
    assert of(found) == ["message"]


def test_datetimes_are_told_as_such():
    days = pd.date_range("2024-01-01", periods=400, freq="D")
    classes = np.where(np.arange(400) % 3, "a", "b")
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"seen on": days}), classes, reference=True)
    found = mr.monitor(model, pd.DataFrame({"seen on": days[-60:]}))
    assert of(found) == ["seen on"]
    assert "2024-12" in found.changes[0].sentence or "2025-01" in found.changes[0].sentence
    assert any("2024-" in str(name) for name in found.column("seen on").shares)


# ---------------------------------------------------------------------------------------------------- wrappers, errors


def test_wrapped_models_are_asked_inside(new):
    table, classes = patients(500, np.random.default_rng(0))
    inside = mr.NaiveBayesClassifier().fit(table, classes)
    for wrapped in (
        mr.DecisionClassifier(FrozenEstimator(inside), costs=[[0, 1], [2, 0]]).fit(table, classes),
        mr.CalibratedClassifier(mr.NaiveBayesClassifier()).fit(table, classes),
    ):
        found = mr.monitor(wrapped, *new)
        assert [one.column for one in found.columns] == list(table)
    assert mr.monitor(mr.DecisionClassifier(FrozenEstimator(inside)).fit(table, classes), *new).to_dict() == mr.monitor(inside, *new).to_dict()  # fmt: skip


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rows": slice(0, 0)}, "rows has no row"),
        ({"y": ["well"] * 3}, "y has 3 values, expected one for each of the 1,000 rows"),
        ({"sample_weight": [0.5] * 1_000}, "sample_weight does not say how often"),
        ({"sample_weight": [10**7] * 1_000}, "sample_weight makes 10,000,000,000 rows"),
        ({"false_alarms": 0}, "false_alarms is 0, expected a number between 0 and 1"),
        ({"false_alarms": True}, "false_alarms is True"),
    ],
)
def test_wrong_input_is_one_sentence(model, new, given, told):
    rows = new[0].iloc[given.pop("rows", slice(None))]
    with pytest.raises(mr.InputError, match=told):
        mr.monitor(model, rows, **given)


def test_what_cannot_be_monitored_says_so(new):
    with pytest.raises(mr.InputError, match="fit a BayesianNetworkClassifier"):
        mr.monitor(mr.BayesianNetwork().add("rain", ["no", "yes"], [0.5, 0.5]), new[0])
    with pytest.raises(mr.InputError, match="model is 'naive', expected a fitted classifier"):
        mr.monitor("naive", new[0])


@pytest.mark.parametrize("y", [3, "well"])
def test_one_class_for_all_rows_is_no_column_of_classes(model, new, y):
    with pytest.raises(mr.InputError, match="y is .*expected an array, a list or a column with one class for each row"):
        mr.monitor(model, new[0], y)


def test_what_is_no_table_is_refused_by_its_name(model, new, tmp_path):
    table, classes = new
    with pytest.raises(
        mr.InputError, match=r"rows is 'june.csv', expected a table; read the file first: merula.read_table"
    ):
        mr.monitor(model, "june.csv")
    with pytest.raises(
        mr.InputError, match=r"before is .*, expected a table, or a pair of a table and its classes; read"
    ):
        mr.monitor(model, table, before=(tmp_path / "may.csv", classes))
    for wrong in ((table, classes, None), (None, classes)):
        with pytest.raises(mr.InputError, match="before is .*, expected a table, or a pair of a table and its classes"):
            mr.monitor(model, table, before=wrong)


def test_weights_that_are_words_are_refused(model, new):
    with pytest.raises(mr.InputError, match="sample_weight does not say how often each row stands"):
        mr.monitor(model, new[0], sample_weight=["twice"] * len(new[0]))


# ---------------------------------------------------------------------------------------------------- far out


@pytest.mark.parametrize("reference", [False, True])
def test_numbers_whose_squares_overflow_have_changed(new, reference):
    table, classes = new
    model = mr.NaiveBayesClassifier().fit(table, classes, reference=reference)
    found = mr.monitor(model, table.assign(größe=1e300))
    assert found.changed and found.changes[0].column == "größe"
    json.dumps(found.to_dict(), allow_nan=False)
    vast = table.assign(größe=table["größe"] * 1e150)  # squares, not fourth powers, are numbers
    same = mr.monitor(mr.NaiveBayesClassifier().fit(vast, classes, reference=reference), vast)
    assert not [change for change in same.changes if change.column == "größe"]


def test_moments_are_compared_in_any_unit_alike(new):
    table, classes = new
    tests = []
    for unit in (1.0, 1e-40, 1e140):
        model = mr.NaiveBayesClassifier().fit(table.assign(größe=table["größe"] * unit), classes)
        tests.append(mr.monitor(model, table.assign(größe=(table["größe"] * 1.1 + 3) * unit)).tests)
    for other in tests[1:]:
        assert other == pytest.approx(tests[0], rel=1e-6)


# ---------------------------------------------------------------------------------------------------- strange classes


def test_the_prior_that_is_offered_is_one(model, new):
    table, classes = new
    some = np.concatenate([["unknown illness"] * 300, classes[300:]])
    told = next(step for step in mr.monitor(model, table, some).steps if "with_class_prior" in step)
    stated = json.loads(told[told.index("{") : told.index("}") + 1].replace("'", '"'))
    assert sum(stated.values()) == pytest.approx(1, abs=1e-3)
    model.with_class_prior(stated)
    steps = mr.monitor(model, table, ["unknown illness"] * len(table)).steps
    assert not [step for step in steps if "with_class_prior" in step]
    assert "the model knows none of those" in steps[0]


# ---------------------------------------------------------------------------------------------------- shown


def test_it_is_told_as_text_data_frame_and_page(model, new, tmp_path):
    table, classes = new
    found = mr.monitor(model, table.assign(größe=table["größe"] + 9, 色泽="<script>"), classes)
    text = str(found)
    assert text.startswith("Changed: 色泽 and größe")
    assert "What to do" in text
    assert "<script>" not in found._repr_html_()
    state = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert state["changed"]
    assert [one["column"] for one in state["columns"]] == list(table)
    frame = found.to_frame()
    assert frame.loc[frame["column"] == "größe", "changed"].item()
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Changed: 色泽 and größe" in page
    assert "<th scope=row>色泽" in page
    assert "http://" not in page.replace("http://www.w3.org", "")[: page.index("<main")]


@pytest.mark.parametrize(("rows", "told"), [((52,), "(most of all row 53)."), ((52, 9), "(most of all rows 53, 10).")])
def test_one_surprising_row_is_a_row_and_several_are_rows(rows, told):
    (sentence,) = evidence_told(Evidence(-52.1, -51.9, 0.013, rows, "before", "model"))
    assert sentence.endswith(told)
