"""Small cells pooled before statistics leave: no count between 0 and min_cell is in the file, nor the name of a rare level."""

from __future__ import annotations

import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.data.schema import OTHER

TARGET = "Befund"
PARENTS = {"色泽": ("Beruf", "'")}
MODELS = {
    "naive": mr.NaiveBayesClassifier(),
    "missing is a level": mr.NaiveBayesClassifier(missing="level"),
    "full Bayes": mr.BayesClassifier(),
    "tree": mr.TANClassifier(),
    "averaged": mr.AODEClassifier(),
    "parents": mr.KDBClassifier(2, parents=PARENTS),
}
RARE = ("Bürgermeisterin", "Leuchtturmwärter", *(f"selten {k}" for k in range(10)))


def patients(rows=400, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    work = rng.choice(["Koch", "Maurer", "Lehrer"], rows, p=[0.6, 0.3, 0.1]).astype(object)
    work[:48] = np.repeat(RARE, 4)
    return pd.DataFrame(
        {
            "größe": np.where(rng.random(rows) < 0.01, np.nan, rng.normal(170 + 6 * y, 8)),
            "色泽": np.where(rng.random(rows) < 0.1, None, np.array(["rot", "blau"])[(rng.random(rows) < 0.3 + 0.3 * y).astype(int)]),
            "Beruf": work,
            "'": rng.choice(["p", "q"], rows),
            TARGET: np.array(["gesund", "krank"])[y],
        }
    )  # fmt: skip


def pooled(model, table, min_cell=5.0):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mr.count(table, target=TARGET, model=model, min_cell=min_cell)


def weights(state, name=""):
    """Every array of a state that counts rows."""
    if isinstance(state, np.ndarray):
        if name in ("weight", "counts", "missing"):
            yield state
    elif isinstance(state, dict):
        for key, value in state.items():
            yield from weights(value, key)
    elif isinstance(state, list):
        for value in state:
            yield from weights(value, name)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_no_count_between_0_and_min_cell_leaves(name, seed, tmp_path):
    table = patients(seed=seed)
    before = list(weights(mr.count(table, target=TARGET, model=MODELS[name]).collected.state()))
    assert any(((part > 0) & (part < 5)).any() for part in before)
    counts = pooled(MODELS[name], table)
    counts.save(tmp_path / "pooled.counts")
    again = mr.load(tmp_path / "pooled.counts")
    for part in weights(again.collected.state()):
        assert not ((part > 0) & (part < 5)).any()
    with zipfile.ZipFile(tmp_path / "pooled.counts") as archive:
        text = archive.read("merula.json").decode()
    assert not any(word in text for word in RARE)
    assert again.min_cell == 5 and "no cell below 5" in repr(again) and again.notes == counts.notes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mr.UnseenLevelWarning)  # where even '(other)' was too rare
        probabilities = again.model().predict_proba(table.drop(columns=TARGET))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_rare_levels_become_one_and_what_was_never_seen_goes_there():
    table = patients()
    counts = pooled(mr.NaiveBayesClassifier(), table)
    model = counts.model()
    assert model.schema_["Beruf"].levels == (OTHER, "Koch", "Lehrer", "Maurer")
    renamed = table.replace({"Beruf": dict.fromkeys(RARE, OTHER)})
    works = pd.DataFrame(
        {"größe": [np.nan] * 3, "色泽": [None] * 3, "Beruf": [RARE[0], "nie gesehen", OTHER], "'": [None] * 3}
    )
    answers = model.predict_proba(works)  # without a warning: a level that was pooled is '(other)'
    assert (answers == answers[0]).all()
    by_hand = mr.NaiveBayesClassifier().fit(renamed.drop(columns=TARGET), renamed[TARGET])
    if (renamed.groupby([TARGET, "Beruf"]).size() >= 5).all():
        np.testing.assert_allclose(answers, by_hand.predict_proba(works))


def test_pooling_rows_that_are_renamed_changes_nothing_else():
    """An oracle: with no cell small within a class, pooling is the table with '(other)' written into it."""
    table = pd.DataFrame({"Beruf": ["Koch"] * 20 + ["Maurer"] * 12 + ["a", "b", "c", "d", "e", "f"] * 2, TARGET: ["gesund"] * 10 + ["krank"] * 10 + ["gesund"] * 6 + ["krank"] * 12 + ["gesund"] * 6})  # fmt: skip
    written = table.replace({"Beruf": dict.fromkeys("abcdef", OTHER)})
    found, expected = pooled(mr.NaiveBayesClassifier(), table), mr.count(written, target=TARGET)
    assert found.schema["Beruf"].levels == expected.schema["Beruf"].levels == (OTHER, "Koch", "Maurer")
    rows = written.drop(columns=TARGET)
    np.testing.assert_allclose(found.model().predict_proba(rows), expected.model().predict_proba(rows), rtol=1e-12)
    assert found.notes == ("no cell below 5 is kept: 6 levels of 'Beruf' (together 12) pooled into '(other)'",)


def test_classes_of_few_rows_are_left_out_with_a_note_that_does_not_name_them(tmp_path):
    table = patients()
    table.loc[:2, TARGET] = "Lepra"
    with pytest.warns(UserWarning, match="1 class of fewer rows left out"):
        counts = mr.count(table, target=TARGET, min_cell=5)
    assert counts.classes.tolist() == ["gesund", "krank"]
    counts.save(tmp_path / "x.counts")
    with zipfile.ZipFile(tmp_path / "x.counts") as archive:
        assert all("Lepra".encode(code) not in archive.read(name) for name in archive.namelist() for code in ("utf-8", "utf-32-le"))  # fmt: skip


def test_moments_of_few_rows_are_left_out():
    table = patients()
    table["selten"] = np.where(np.arange(len(table)) < 4, 7.25, np.nan)
    counts = pooled(mr.NaiveBayesClassifier(kinds={"selten": "numeric"}), table)
    moments = next(block for block in counts.collected.blocks if "selten" in getattr(block, "columns", ()))
    assert not moments.weight[:, moments.columns.index("selten")].any()
    assert not moments.mean[:, moments.columns.index("selten")].any()


def test_pooled_statistics_add_and_do_not_subtract():
    one, other = pooled(mr.TANClassifier(), patients()), patients(seed=2)
    both = one + mr.count(other, target=TARGET, like=one)
    assert both.min_cell is None and both.notes == one.notes
    assert set(both.schema["Beruf"].levels) >= {"Koch", *RARE}  # what the other did not pool
    with pytest.raises(mr.InputError, match="cells of one of them were pooled.*before they are pooled"):
        both - one


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (mr.NaiveBayesClassifier(distributions={"numeric": "histogram"}), "keeps every distinct number"),
        (mr.NaiveBayesClassifier(kinds={"Beruf": "text"}), "counts words, not rows"),
        (mr.TANClassifier(numeric="gaussian"), "keeps moments of numbers beside words"),
        (mr.BayesianNetworkClassifier(method="chow-liu"), "keeps whole rows that lack a cell; use tan"),
    ],
)
def test_what_cannot_be_pooled_is_refused(model, told):
    with pytest.raises(mr.InputError, match=told):
        pooled(model, patients())


@pytest.mark.parametrize("min_cell", [0, 1, -3, "5", np.nan, True, None])
def test_min_cell_is_a_weight_above_1(min_cell):
    counts = mr.count(patients(), target=TARGET)
    with pytest.raises(mr.InputError, match="min_cell is .*a weight above 1"):
        counts.pooled(min_cell)


def test_nothing_may_leave_where_every_class_is_small():
    with pytest.raises(mr.InputError, match="no class has 500 rows"):
        pooled(mr.NaiveBayesClassifier(), patients(), 500)


@pytest.mark.filterwarnings("ignore:no cell below")
def test_no_note_tells_how_small_a_small_cell_was():
    table = pd.DataFrame({"w": ["u"] * 10 + ["S"], "y": ["a"] * 5 + ["b"] * 6})
    assert "together" not in mr.count(table, target="y", min_cell=5).notes[0]
    rare = pd.DataFrame({"w": ["u"] * 13, "y": ["a"] * 5 + ["b"] * 5 + ["c"] * 3})
    assert "together" not in mr.count(rare, target="y", min_cell=5).notes[0]


@pytest.mark.filterwarnings("ignore:no cell below")
def test_what_is_added_to_cells_that_were_not_pooled_is_not_pooled():
    table = pd.DataFrame({"w": ["u", "v"] * 10, "y": ["a"] * 10 + ["b"] * 10})
    pooled, plain = mr.count(table, target="y", min_cell=5), mr.count(table, target="y")
    assert (pooled + plain).min_cell is None and (pooled + pooled).min_cell == 5
