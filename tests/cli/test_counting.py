"""Three hospitals that share no row: each counts, one merges, and the model is that of all rows."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import merula as mr

from .conftest import PENGUINS

PARTS = {"north": slice(0, None, 3), "south": slice(1, None, 3), "west": slice(2, None, 3)}


@pytest.fixture
def hospitals(folder):
    """The penguins in three files, columns in another order in one of them."""
    table = pd.read_csv(PENGUINS)
    for name, some in PARTS.items():
        part = table[some]
        (part[part.columns[::-1]] if name == "west" else part).to_csv(folder / f"{name}.csv", index=False)
    return table


def done(result):
    assert result.exit_code == 0, result.stderr
    return result


@pytest.mark.parametrize("model", ["naive", "bayes", "spode", "tan", "aode"])
def test_three_hospitals_have_the_model_of_all_rows(merula, hospitals, folder, model):
    done(
        merula(
            "count",
            "penguins",
            "--target",
            "species",
            "--model",
            model,
            "--schema-out",
            "schema.json",
            "-o",
            "all.counts",
        )
    )
    for name in PARTS:
        done(
            merula(
                "count",
                f"{name}.csv",
                "--target",
                "species",
                "--model",
                model,
                "--like",
                "schema.json",
                "-o",
                f"{name}.counts",
            )
        )
    done(merula("merge", "south.counts", "west.counts", "north.counts", "-o", "merged.merula"))
    done(merula("fit", "penguins", "--target", "species", "--model", model, "-o", "all.merula"))
    rows = mr.read_table(PENGUINS).drop_columns("species")
    merged, whole = mr.load(folder / "merged.merula"), mr.load(folder / "all.merula")
    assert merged.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(merged.predict_proba(rows), whole.predict_proba(rows), atol=1e-9)
    done(merula("predict", "merged.merula", "north.csv", "-o", "answers.csv"))
    assert len(pd.read_csv("answers.csv")) == len(hospitals[PARTS["north"]])


def test_the_first_hospital_is_the_pattern_of_the_others_and_models_mix_with_counts(merula, hospitals, folder):
    done(merula("count", "north.csv", "--target", "species", "--model", "tan", "-o", "north.counts"))
    for name in ("south", "west"):
        done(merula("count", f"{name}.csv", "--target", "species", "--like", "north.counts", "-o", f"{name}.counts"))
    done(merula("merge", "north.counts", "south.counts", "-o", "two.merula"))
    told = json.loads(done(merula("merge", "two.merula", "west.counts", "-o", "three.merula", "--json")).stdout)
    done(merula("merge", "north.counts", "south.counts", "west.counts", "-o", "at-once.merula"))
    assert "rows" in json.dumps(told)
    rows = mr.read_table(PENGUINS).drop_columns("species")
    one, other = mr.load(folder / "three.merula"), mr.load(folder / "at-once.merula")
    np.testing.assert_allclose(one.predict_proba(rows), other.predict_proba(rows), atol=1e-12)


def test_structure_of_a_second_pass_comes_with_a_model(merula, hospitals, folder):
    refused = merula("count", "north.csv", "--target", "species", "--model", "kdb")
    assert (
        refused.exit_code == 2
        and "chooses from all rows, in a second pass; count like a fitted model (--like)" in refused.stderr
    )
    done(merula("fit", "penguins", "--target", "species", "--model", "kdb", "-o", "kdb.merula"))
    for name in PARTS:
        done(merula("count", f"{name}.csv", "--target", "species", "--like", "kdb.merula", "-o", f"{name}.counts"))
    done(merula("merge", "north.counts", "south.counts", "west.counts", "-o", "merged.merula"))
    rows = mr.read_table(PENGUINS).drop_columns("species")
    one, other = mr.load(folder / "merged.merula"), mr.load(folder / "kdb.merula")
    np.testing.assert_allclose(one.predict_proba(rows), other.predict_proba(rows), atol=1e-9)


def test_numbers_cut_apart_do_not_merge_and_the_way_out_is_said(merula, hospitals):
    for name in ("north", "south"):
        done(merula("count", f"{name}.csv", "--target", "species", "--model", "tan", "-o", f"{name}.counts"))
    refused = merula("merge", "north.counts", "south.counts")
    assert refused.exit_code == 2
    assert "south.counts: " in refused.stderr and "cuts" in refused.stderr and "--like" in refused.stderr


def test_rare_levels_are_pooled_and_the_loss_is_said(merula, folder):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"Beruf": ["Koch", "Maurer"] * 30, "色泽": rng.choice(["rot", "blau"], 60), "Befund": ["krank", "gesund"] * 30}
    )
    table.loc[[4, 7], "Beruf"] = ["Bürgermeisterin", "Papst"]
    table.to_csv(folder / "rows.csv", index=False)
    result = done(merula("count", "rows.csv", "--target", "Befund", "--model", "tan", "--min-cell", "5", "--schema-out", "s.json", "-o", "x.counts", "--kinds", "Beruf=categorical"))  # fmt: skip
    assert "2 levels of 'Beruf' pooled into '(other)'" in result.stderr
    with zipfile.ZipFile(folder / "x.counts") as archive:
        text = archive.read("merula.json").decode() + (folder / "s.json").read_text()
    assert "Papst" not in text and "Bürgermeisterin" not in text
    info = done(merula("merge", "x.counts", "-o", "m.merula"))
    assert "tree-augmented" in info.stdout
    assert (
        "no cell below 5 is kept"
        in done(merula("info", "m.merula")).stdout + done(merula("info", "m.merula", "--json")).stdout
    )


def test_what_a_count_tells_a_machine(merula, hospitals):
    told = json.loads(done(merula("count", "north.csv", "--target", "species", "-o", "n.counts", "--json")).stdout)
    assert told["counts"] == "n.counts" and told["model"] == "NaiveBayesClassifier" and told["rows"] == 115
    assert told["classes"].keys() == {"Adelie", "Chinstrap", "Gentoo"} and told["min_cell"] is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--like", "none.json"], "there is no file none.json"),
        (["--like", "north.csv"], "is the file that columns are read like itself|cannot be read"),
        (["--min-cell", "1"], "a weight above 1"),
        (["--model", "auto"], "auto"),
        (["--like", "s.json", "--ignore", "sex"], "leave out --kinds and --ignore"),
        (["-o", "north.csv"], "north.csv is the table itself"),
        (["--schema-out", "table.counts"], "where the statistics are written"),
    ],
)
def test_what_is_asked_wrongly_is_one_line(merula, hospitals, words, told):
    import re

    done(merula("count", "north.csv", "--target", "species", "--schema-out", "s.json", "-o", "n.counts"))
    result = merula("count", "north.csv", "--target", "species", *words)
    assert result.exit_code == 2 and result.stderr.count("error:") == 1 and re.search(told, result.stderr)


def test_statistics_are_no_model(merula, hospitals):
    done(merula("count", "north.csv", "--target", "species", "-o", "n.counts"))
    for words in (["info", "n.counts"], ["predict", "n.counts", "north.csv"]):
        result = merula(*words)
        assert (
            result.exit_code == 2
            and "n.counts holds statistics, not a model; merula merge makes one of it" in result.stderr
        )
    assert "one model is already merged" in merula("merge", "x.merula").stderr


def test_weights_are_counted(merula, folder):
    pd.DataFrame({"beak": ["red", "grey", "red"], "n": [2, 3, 1], "bird": ["finch", "tit", "tit"]}).to_csv(
        "birds.csv", index=False
    )
    told = json.loads(
        done(
            merula("count", "birds.csv", "--target", "bird", "--weight", "n", "--json", "--kinds", "beak=categorical")
        ).stdout
    )
    assert told["rows"] == 6 and told["classes"] == {"finch": 2, "tit": 4}


@pytest.mark.parametrize("model", ["naive", "tan"])
def test_a_part_may_be_of_one_class(merula, folder, model):
    table = pd.read_csv(PENGUINS)
    for species, part in table.groupby("species"):
        part.to_csv(folder / f"{species}.csv", index=False)
    done(merula("count", "penguins", "-t", "species", "--model", model, "--schema-out", "schema.json", "-o", "all.counts"))  # fmt: skip
    parts = [f"{species}.counts" for species in table["species"].unique()]
    for part in parts:
        done(merula("count", part.replace("counts", "csv"), "-t", "species", "--model", model, "--like", "schema.json", "-o", part))  # fmt: skip
    done(merula("merge", *parts, "-o", "parts.merula"))
    done(merula("merge", "all.counts", "-o", "whole.merula"))
    rows = table.drop(columns="species")
    found, expected = (mr.load(folder / name).predict_proba(rows) for name in ("parts.merula", "whole.merula"))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    alone = merula("merge", parts[0], "-o", "alone.merula")
    assert alone.exit_code == 2 and "one class only" in alone.stderr and not (folder / "alone.merula").exists()
