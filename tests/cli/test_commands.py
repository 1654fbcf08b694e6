"""Each command on the penguins and on small tables: what it writes, and that it says what the library says."""

import json
import re
import shlex
from importlib.resources import files
from io import StringIO

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import merula as mr
from merula.cli.console import Console
from merula.cli.jobs.evaluating import usable_folds
from merula.cli.jobs.task import Asked, read_task

from .conftest import PENGUINS

YEAR = {"year": "categorical"}
LABELS = ["Adelie", "Chinstrap", "Gentoo"]


def penguins():
    table = mr.read_table(files("merula") / "data" / "penguins.csv")
    return table.drop_columns(["species"]), table["species"]


def read(text):
    return pd.read_csv(StringIO(text))


# ------------------------------------------------------------------------------------------------------------------ fit


def test_fit_saves_a_model_that_the_library_loads(merula):
    result = merula("fit", "penguins", "--target", "species", "-o", "birds.merula")
    assert result.exit_code == 0
    assert result.stderr.startswith("note: column 'year' holds few whole numbers, read as categories")
    rows, species = penguins()
    own = mr.AutoBayesClassifier(kinds=YEAR).fit(rows, species)
    assert np.array_equal(mr.load("birds.merula").predict_proba(rows), own.predict_proba(rows))
    assert "344 rows, 7 columns, 3 classes" in result.stdout


@pytest.mark.parametrize(
    ("word", "classifier"),
    [
        ("auto", mr.AutoBayesClassifier(kinds=YEAR)),
        ("naive", mr.NaiveBayesClassifier(kinds=YEAR)),
        ("naive-auto", mr.NaiveBayesClassifier(kinds=YEAR, distributions="auto")),
        ("spode", mr.SPODEClassifier(kinds=YEAR)),
        ("tan", mr.TANClassifier(kinds=YEAR)),
        ("aode", mr.AODEClassifier(kinds=YEAR)),
        ("kdb", mr.KDBClassifier(kinds=YEAR)),
        ("network", mr.BayesianNetworkClassifier(kinds=YEAR)),
        ("log-linear", mr.LogLinearClassifier(kinds=YEAR)),
        ("bayes", mr.BayesClassifier(kinds=YEAR)),
        ("kernel", mr.KernelBayesClassifier(kinds=YEAR)),
        ("neighbors", mr.NearestNeighborsClassifier(kinds=YEAR)),
    ],
)
def test_model_names_the_classifier(merula, word, classifier):
    assert merula("fit", "penguins", "-t", "species", "-m", word).exit_code == 0
    rows, species = penguins()
    assert np.array_equal(
        mr.load("model.merula").predict_proba(rows), classifier.fit(rows, species).predict_proba(rows)
    )


def test_what_is_odd_about_columns_is_said_in_one_line_each(merula, patients):
    result = merula("fit", patients, "--target", "diagnosis")
    assert result.exit_code == 0
    notes = result.stderr.splitlines()
    assert all(line.startswith("note: ") for line in notes)
    for column, words in {
        "patient id": "identifier",
        "hospital": "'north' and nothing else",
        "outcome code": "alone predicts the class in 100 % of the rows",
        "complaint": "word by word",
        "blood pressure": "numbers and 'unknown'",
    }.items():
        assert sum(f"column {column!r}" in line and words in line for line in notes) == 1, column
    assert any("2 of 60 rows have no 'diagnosis'" in line for line in notes)
    assert not any("größe" in line for line in notes)
    kinds = {column.name: column.kind for column in mr.load("model.merula").schema_.columns}
    assert kinds["patient id"] == "ignore"
    assert kinds["complaint"] == "text"


def test_kinds_ignore_and_missing_are_heeded(merula, patients):
    options = [
        "--ignore",
        "outcome code",
        "--kinds",
        "patient id=numeric",
        "--kinds",
        "complaint=ignore",
        "--missing",
        "unknown",
    ]
    result = merula("fit", patients, "--target", "diagnosis", *options)
    assert result.exit_code == 0
    assert "outcome code" not in result.stderr
    kinds = {column.name: column.kind for column in mr.load("model.merula").schema_.columns}
    assert (kinds["patient id"], kinds["outcome code"], kinds["complaint"]) == ("numeric", "ignore", "ignore")
    assert kinds["blood pressure"] == "numeric"


def test_a_target_that_is_also_ignored_stays_the_target(merula):
    assert merula("fit", "penguins", "-t", "species", "-m", "naive", "--ignore", "species").exit_code == 0


def test_quiet_says_no_notes(merula, patients):
    assert merula("fit", patients, "-t", "diagnosis", "--quiet").stderr == ""


def test_weight_counts_rows_that_often(merula, folder):
    (folder / "weighted.csv").write_text("colour,times,ripe\nred,3,yes\ngreen,2,no\nred,1,no\n")
    (folder / "repeated.csv").write_text("colour,ripe\n" + "red,yes\n" * 3 + "green,no\n" * 2 + "red,no\n")
    assert merula("fit", "weighted.csv", "-t", "ripe", "--weight", "times", "-o", "w.merula").exit_code == 0
    assert merula("fit", "repeated.csv", "-t", "ripe", "-o", "r.merula").exit_code == 0
    rows = pd.DataFrame({"colour": ["red", "green"]})
    assert np.array_equal(mr.load("w.merula").predict_proba(rows), mr.load("r.merula").predict_proba(rows))


def test_a_table_may_come_through_standard_input(merula):
    text = "colour;ripe\n" + "red;yes\ngreen;no\n" * 5
    result = merula("fit", "-", "--target", "ripe", typed=text)
    assert result.exit_code == 0, result.stderr
    assert mr.load("model.merula").classes_.tolist() == ["no", "yes"]


# -------------------------------------------------------------------------------------------------------------- predict


def test_predictions_are_the_librarys(merula, model):
    result = merula("predict", model, "penguins")
    rows, _ = penguins()
    found, proba = read(result.stdout), mr.load(model).predict_proba(rows)
    assert list(found) == ["class", *(f"P({label})" for label in LABELS)]
    assert np.array_equal(found[[f"P({label})" for label in LABELS]].to_numpy(), proba)
    assert found["class"].tolist() == mr.load(model).predict(rows).tolist()


@pytest.mark.parametrize("name", ["answers.csv", "answers.tsv", "answers.jsonl", "answers.parquet", "answers.arrow"])
def test_answers_are_written_in_every_format(merula, model, name):
    assert merula("predict", model, "penguins", "-o", name).exit_code == 0
    rows, _ = penguins()
    assert np.allclose(
        mr.read_table(name)["P(Gentoo)"].to_numpy(), mr.load(model).predict_proba(rows)[:, 2], rtol=1e-15
    )


def test_json_does_not_change_what_a_file_is(merula, model):
    assert merula("predict", model, "penguins", "-o", "answers.parquet", "--json").exit_code == 0
    assert pq.read_table("answers.parquet").num_rows == 344


def test_append_keeps_the_tables_own_columns(merula, model):
    assert merula("predict", model, "penguins", "--append", "-o", "all.parquet").exit_code == 0
    found = pq.read_table("all.parquet")
    assert found.column_names[:2] == ["species", "island"]
    assert found.num_rows == 344
    assert "class" in found.column_names


def test_actions_cost_least(merula, model, costs):
    result = merula("predict", model, "penguins", "--costs", costs)
    rows, _ = penguins()
    stated = {"release": {"Adelie": 0, "Chinstrap": 5, "Gentoo": 5}, "ring": {"Adelie": 1, "Chinstrap": 0, "Gentoo": 0}}
    proba = mr.load(model).predict_proba(rows)
    assert read(result.stdout)["action"].tolist() == mr.decide(proba, stated, classes=LABELS).tolist()
    assert np.allclose(read(result.stdout)["risk"], mr.bayes_risk(proba, stated, classes=LABELS))


def test_costs_given_at_fit_are_remembered(merula, costs):
    assert merula("fit", "penguins", "-t", "species", "-m", "naive", "--costs", costs).exit_code == 0
    remembered, stated = (
        merula("predict", "model.merula", "penguins"),
        merula("predict", "model.merula", "penguins", "--costs", costs),
    )
    assert "action" in remembered.stdout.splitlines()[0]
    assert remembered.stdout == stated.stdout


def test_costs_of_classes_that_are_numbers(merula, folder):
    (folder / "tumors.csv").write_text("size,malignant\n" + "".join(f"{i % 10},{int(i % 10 > 5)}\n" for i in range(60)))
    (folder / "costs.csv").write_text("do;0;1\nwait;0;20\noperate;1;0\n")
    assert merula("fit", "tumors.csv", "-t", "malignant", "--costs", "costs.csv").exit_code == 0
    found = read(merula("predict", "model.merula", "tumors.csv").stdout)
    assert set(found["action"]) == {"wait", "operate"}
    assert found["class"].tolist() == [int(i % 10 > 5) for i in range(60)]


def test_levels_that_look_like_numbers_stay_words(merula, folder):
    (folder / "birds.csv").write_text("ring colour,sex\n" + "01,f\n02,m\nred,m\n" * 10)
    assert merula("fit", "birds.csv", "-t", "sex").exit_code == 0
    (folder / "new.csv").write_text("ring colour\n01\n02\n")
    result = merula("predict", "model.merula", "new.csv")
    assert result.stderr == ""  # no level is new
    assert read(result.stdout)["class"].tolist() == ["f", "m"]


def test_unseen_levels_are_noted(merula, model, folder):
    (folder / "new.csv").write_text(
        "island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\nMars,,,,,,\n"
    )
    result = merula("predict", model, "new.csv")
    assert result.exit_code == 0
    assert "note: column 'island' holds level 'Mars', never seen at fit" in result.stderr


# ------------------------------------------------------------------------------------------------- evaluate and explain


def test_evaluation_is_the_librarys(merula):
    result = merula("evaluate", "penguins", "-t", "species", "-m", "naive", "--cv", "3", "--json")
    rows, species = penguins()
    models = {"naive": mr.NaiveBayesClassifier(kinds=YEAR)}
    found = mr.evaluate(models, rows, species, cv=3, repeats=1)
    for part in ("models", "baseline"):
        assert json.loads(result.stdout)[part] == json.loads(json.dumps(found.to_dict()[part]))
    assert merula("evaluate", "penguins", "-t", "species", "-m", "naive", "--cv", "3").stdout.strip() == str(found)


def test_several_models_are_compared_under_costs(merula, costs):
    result = merula(
        "evaluate", "penguins", "-t", "species", "-m", "naive", "-m", "bayes", "--cv", "2", "--costs", costs
    )
    assert result.exit_code == 0
    assert "naive" in result.stdout
    assert "bayes" in result.stdout
    assert "cost" in result.stdout


def test_small_tables_take_fewer_folds(merula, folder):
    (folder / "fruit.csv").write_text("colour,ripe\n" + "red,yes\ngreen,no\n" * 4)
    result = merula("evaluate", "fruit.csv", "-t", "ripe")
    assert result.exit_code == 0
    assert result.stdout.startswith("4 folds, 8 rows tested")
    assert "too small for ten folds; 4 are used" in result.stderr


def test_probabilities_worse_than_none_are_pointed_out(merula, folder):
    rng = np.random.default_rng(3)
    rows = [",".join([str(value)] * 12 + [str(rng.integers(2))]) for value in rng.normal(size=200).round(2)]
    (folder / "noise.csv").write_text(
        ",".join([*(f"copy {i}" for i in range(12)), "coin"]) + "\n" + "\n".join(rows) + "\n"
    )
    result = merula("evaluate", "noise.csv", "-t", "coin", "-m", "naive-auto")
    assert "naive-auto does not beat the class frequencies" in result.stdout
    assert "naive-auto is too sure of itself, often because several columns say the same" in result.stderr


def test_a_pool_is_too_sure_of_rows_that_belong_together(merula, folder):
    rng = np.random.default_rng(2)
    patients, coins = np.repeat(np.arange(30), 8), rng.choice(["head", "tail"], 30)
    own = rng.normal(size=(30, 2))[patients] + 0.001 * rng.normal(size=(240, 2))
    frame = pd.DataFrame({"patient": patients, "pressure": own[:, 0], "größe": own[:, 1], "coin": coins[patients]})
    frame.to_csv("visits.csv", index=False)
    result = merula("evaluate", "visits.csv", "-t", "coin", "--groups", "patient", "--cv", "3")
    assert "auto does not beat the class frequencies in log loss" in result.stdout
    assert "auto is too sure of itself, often because rows that belong together (--groups)" in result.stderr


def test_many_rows_take_five_folds(folder):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"pressure": rng.normal(size=10_000).round(3), "coin": rng.choice(["head", "tail"], 10_000)})
    frame.to_csv("many.csv", index=False)
    for rows, folds, notes in (
        (9_999, 10, []),
        (10_000, 5, ["the table has 10,000 rows, for which 5 folds are enough"]),
    ):
        frame[:rows].to_csv("many.csv", index=False)
        console = Console(quiet=True)
        assert usable_folds(read_task(Asked("many.csv", "coin"), console), console) == folds
        assert [note.partition(";")[0] for note in console.notes] == notes


def test_what_may_be_chance_is_not_called_worse(merula, folder):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"pressure": rng.normal(size=200).round(3), "coin": rng.choice(["head", "tail"], 200)})
    table.to_csv("noise.csv", index=False)
    result = merula("evaluate", "noise.csv", "-t", "coin", "-m", "naive")
    assert "naive cannot be told apart from the class frequencies: its log loss is " in result.stdout
    assert result.stderr == ""


def test_whether_more_rows_would_help_is_said_where_it_is_asked(merula):
    words = ("evaluate", "penguins", "-t", "species", "-m", "naive", "--cv", "3")
    assert "the rows" not in merula(*words).stdout
    rows, species = penguins()
    model = {"naive": mr.NaiveBayesClassifier(kinds=YEAR)}
    found = mr.evaluate(model, rows, species, cv=3, repeats=1, learning_curve=True)
    result = merula(*words, "--learning-curve")
    assert result.stdout.splitlines()[-2:] == list(found.verdicts["naive"])
    assert "Twice the rows" in result.stdout
    told = json.loads(merula(*words, "--learning-curve", "--json").stdout)["models"][0]
    assert told["verdict"] == list(found.verdicts["naive"])
    assert told["learning"]["comparison"]["difference"] == found.models[0].learning.comparison.difference


def test_a_report_says_whether_more_rows_would_help_unless_told_not_to(merula, folder):
    words = ("report", "penguins", "-t", "species", "-m", "naive", "--cv", "3", "-o", "birds.html")
    assert merula(*words).exit_code == 0
    page = (folder / "birds.html").read_text(encoding="utf-8")
    assert " beats the class frequencies: its log loss is " in page
    assert "Twice the rows" in page
    assert merula(*words, "--no-learning-curve").exit_code == 0
    page = (folder / "birds.html").read_text(encoding="utf-8")
    assert " beats the class frequencies: its log loss is " in page
    assert "Twice the rows" not in page
    assert "--output birds.html --no-learning-curve" in page  # how to get it again


def test_groups_are_not_parted(merula, folder):
    rng = np.random.default_rng(0)
    patients = np.repeat(np.arange(20), 5)
    frame = pd.DataFrame(
        {"patient": patients, "pressure": rng.normal(size=100).round(3), "ill": np.where(patients % 2, "yes", "no")}
    )
    frame.to_csv("visits.csv", index=False)
    result = merula("evaluate", "visits.csv", "-t", "ill", "-m", "naive", "--cv", "4", "--groups", "patient", "--json")
    own = mr.evaluate(
        {"naive": mr.NaiveBayesClassifier()},
        frame[["pressure"]],
        frame["ill"],
        cv=4,
        repeats=1,
        groups=patients,
    )
    assert json.loads(result.stdout)["models"][0]["figures"] == own.to_dict()["models"][0]["figures"]


def test_explanation_is_the_librarys(merula, model):
    rows, _ = penguins()
    own = mr.explain(mr.load(model), rows.slice(3, 1))
    assert merula("explain", model, "penguins", "--row", "4").stdout.strip() == str(own)
    found = json.loads(merula("explain", model, "penguins", "--row", "4", "--json").stdout)
    assert found["posterior"] == own.posterior.tolist()
    assert "evidence for Gentoo" in merula("explain", model, "penguins", "--label", "Gentoo").stdout


def test_what_is_impossible_is_valid_json(merula, folder):
    rows = "".join(f"{'red' if i % 2 else 'green'},{'yes' if i % 2 else 'no'}\n" for i in range(40))
    (folder / "fruit.csv").write_text("colour,ripe\n" + rows)
    merula("fit", "fruit.csv", "-t", "ripe", "-m", "bayes")
    found = merula("explain", "model.merula", "fruit.csv", "--json")
    json.loads(found.stdout, parse_constant=pytest.fail)


# ----------------------------------------------------------------------------------------------------- merge and info


def test_merged_models_are_as_if_fitted_on_all_rows(merula, folder):
    rows, species = penguins()
    table = rows.append_column("species", species)
    for name, start in (("north", 0), ("south", 1)):
        pq.write_table(table.take(list(range(start, 344, 2))), f"{name}.parquet")
        assert merula("fit", f"{name}.parquet", "-t", "species", "-m", "naive", "-o", f"{name}.merula").exit_code == 0
    result = merula("merge", "north.merula", "south.merula", "-o", "both.merula")
    assert result.exit_code == 0, result.stderr
    together = mr.NaiveBayesClassifier(kinds=YEAR).fit(rows, species)
    assert np.allclose(mr.load("both.merula").predict_proba(rows), together.predict_proba(rows), rtol=1e-9)
    assert json.loads(merula("info", "both.merula", "--json").stdout)["rows"] == 344


def test_chosen_distributions_merge_where_the_second_is_like_the_first(merula):
    merula("fit", "penguins", "-t", "species", "-m", "naive-auto", "-o", "north.merula")
    assert merula("fit", "penguins", "-t", "species", "--like", "north.merula", "-o", "south.merula").exit_code == 0
    assert merula("merge", "north.merula", "south.merula").exit_code == 0
    once, twice = mr.load("north.merula"), mr.load("merged.merula")
    assert twice.classes_.tolist() == once.classes_.tolist()
    assert json.loads(merula("info", "merged.merula", "--json").stdout)["rows"] == 688


def test_a_table_like_a_model_is_read_as_that_one_was(merula, folder):
    """Of columns that the model does not have nothing is said, and codes of letters and digits stay words."""
    (folder / "north.csv").write_text("ward,age,outcome\n" + "A1,40,ill\n7,60,well\n8,50,ill\n" * 20)
    (folder / "south.csv").write_text("ward,age,leak,outcome\n" + "7,41,1,ill\n8,62,0,well\n" * 20)
    assert merula("fit", "north.csv", "-t", "outcome", "-m", "naive-auto", "-o", "north.merula").exit_code == 0
    result = merula("fit", "south.csv", "-t", "outcome", "--like", "north.merula", "-o", "south.merula")
    assert result.exit_code == 0, result.stderr
    assert "leak" not in result.stderr
    assert merula("merge", "north.merula", "south.merula").exit_code == 0
    ward = mr.load("merged.merula").schema_.columns[0]
    assert set(ward.levels) == {"7", "8", "A1"}


def test_fit_says_how_to_evaluate_the_same_rows_and_columns(merula, folder):
    """The line is typed as it stands, and understood."""
    lines = ["größe,weight,visits,outcome", *["1.5,NA,2,ill", "1.8,70,1,well", "1.7,60,3,ill"] * 20]
    (folder / "my patients.csv").write_text("\n".join(lines), encoding="latin-1")
    asked = [
        "--missing",
        "NA",
        "--encoding",
        "latin-1",
        "--kinds",
        "größe=categorical",
        "--weight",
        "visits",
        "-m",
        "naive",
    ]
    result = merula("fit", "my patients.csv", "-t", "outcome", *asked, "-q")
    name, *typed = shlex.split(result.stdout.split("how good it is: ")[1])
    assert name.endswith("merula")
    assert set(asked) - set(typed) == {"-m"}
    assert merula(*typed, "--cv", "2").exit_code == 0
    assert "how good" not in merula("fit", "-", "-t", "bird", typed="wing,bird\n" + "4,wren\n9,tit\n" * 9).stdout


def test_models_of_different_kinds_do_not_merge(merula, model):
    merula("fit", "penguins", "-t", "species", "-m", "bayes", "-o", "other.merula")
    result = merula("merge", model, "other.merula")
    assert result.exit_code == 2
    assert "different kinds" in result.stderr


@pytest.mark.parametrize("word", ["auto", "log-linear"])
def test_models_that_do_not_describe_rows_name_those_that_merge(merula, folder, word):
    (folder / "fruit.csv").write_text("colour,weight,ripe\n" + "red,4,yes\ngreen,2,no\nred,3,no\n" * 12)
    merula("fit", "fruit.csv", "-t", "ripe", "-m", word, "-o", "north.merula", "-q")
    result = merula("merge", "north.merula", "north.merula")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: north.merula and north.merula hold models that do not merge: ")
    for instead in ("naive", "bayes", "tan", "aode"):
        assert re.search(rf"--model .*\b{instead}\b", line)
        for name in ("north", "south"):
            rows = "red,yes\ngreen,no\n" * 9 + ("green,yes\n" if name == "north" else "red,no\n") * 3
            (folder / f"{name}.csv").write_text("colour,ripe\n" + rows)
            merula("fit", f"{name}.csv", "-t", "ripe", "-m", instead, "-o", f"{name}.merula", "-q")
        assert merula("merge", "north.merula", "south.merula").exit_code == 0


def test_numbers_that_were_cut_are_no_matter_of_like(merula, folder):
    rows, species = penguins()
    table = rows.append_column("species", species)
    for name, start in (("north", 0), ("south", 1)):
        pq.write_table(table.take(list(range(start, 344, 2))), f"{name}.parquet")
        merula("fit", f"{name}.parquet", "-t", "species", "-m", "tan", "-o", f"{name}.merula")
    result = merula("merge", "north.merula", "south.merula")
    assert result.exit_code == 2
    assert "(numbers are cut anew for each table; count both with --like one schema" in result.stderr
    assert result.stderr.endswith("or fit both with --model naive or bayes)\n")


def test_a_model_like_a_pool_is_one(merula):
    merula("fit", "penguins", "-t", "species", "-o", "north.merula")
    assert merula("fit", "penguins", "-t", "species", "--like", "north.merula", "-o", "south.merula").exit_code == 0
    one, other = mr.load("north.merula"), mr.load("south.merula")
    assert one.weights_ == other.weights_
    assert np.array_equal(one.predict_proba(penguins()[0]), other.predict_proba(penguins()[0]))


def test_info_tells_the_parts_of_a_pool(merula):
    merula("fit", "penguins", "-t", "species", "-o", "pool.merula")
    own = mr.load("pool.merula")
    found = json.loads(merula("info", "pool.merula", "--json").stdout)
    assert {part["part"]: part["weight"] for part in found["parts"] if part["weight"] is not None} == own.weights_
    assert [part["log_loss"] for part in found["parts"][-2:]] == [
        own.out_of_fold_[name][0] for name in ("pool", "prior")
    ]
    shown = merula("info", "pool.merula").stdout
    assert "learned from 344 rows\n" in shown
    assert "log loss on rows left out" in shown and re.search("column +kind +levels\n", shown)


@pytest.mark.parametrize("word", ["auto", "neighbors"])
def test_a_model_that_holds_rows_says_so(merula, folder, word):
    board = np.random.default_rng(0).uniform(0, 4, size=(300, 2)).round(3)
    color = np.array(["white", "black"])[board.astype(int).sum(axis=1) % 2]
    pd.DataFrame({"rank": board[:, 0], "file": board[:, 1], "color": color}).to_csv("board.csv", index=False)
    assert "(holds 300 rows that it was learned from)" in merula("fit", "board.csv", "-t", "color", "-m", word).stdout
    assert "learned from 300 rows, and holds 300 of them" in merula("info", "model.merula").stdout
    assert json.loads(merula("info", "model.merula", "--json").stdout)["kept_rows"] == 300


def test_info_tells_classes_and_columns(merula, model):
    result = merula("info", model)
    assert "predicts species: Adelie 44.2 %, Gentoo 36 %, Chinstrap 19.8 %" in result.stdout
    assert "learned from 344 rows" in result.stdout
    found = json.loads(merula("info", model, "--json").stdout)
    assert [column["column"] for column in found["columns"]][:2] == ["island", "bill_length_mm"]
    assert found["columns"][0] == {
        "column": "island",
        "kind": "categorical",
        "distribution": "categorical",
        "levels": 3,
    }


# --------------------------------------------------------------------------------------------------------- demo, report


def test_demo_shows_the_whole_job(merula, folder):
    result = merula("demo")
    assert result.exit_code == 0, result.stderr
    for words in (
        "log loss",
        "posterior",
        "what costs least is",
        "merula evaluate my.csv --target outcome",
        "merula predict model.merula",
    ):
        assert words in result.stdout
    assert mr.load("merula-demo/penguins.merula").classes_.tolist() == LABELS
    assert (folder / "merula-demo/penguins.html").stat().st_size > 10_000


def test_demo_on_ones_own_table(merula, patients):
    result = merula("demo", patients, "--target", "diagnosis", "--folder", "out")
    assert result.exit_code == 0, result.stderr
    assert "merula fit patients.csv --target diagnosis" in result.stdout
    assert "the rarest class, costs 5" in result.stdout
    assert merula("demo", patients).exit_code == 2


def test_rows_that_demo_and_report_name_are_those_of_the_file(merula, folder):
    birds = pd.read_csv(PENGUINS)
    pd.concat([birds[:40], birds[:90].assign(species=None), birds[40:]]).to_csv(folder / "holes.csv", index=False)
    told = merula("demo", "holes.csv", "--target", "species", "--folder", "out")
    assert told.exit_code == 0, told.stderr
    row = re.search(r"Why: row ([\d,]+),", told.stdout)[1].replace(",", "")
    reasons = told.stdout.partition("Why: row")[2].partition("── What to do")[0].splitlines()[1:]
    again = merula("explain", "out/holes.merula", "holes.csv", "--row", row).stdout
    assert all(line in again for line in reasons if line.strip())
    page = (folder / "out/holes.html").read_text(encoding="utf-8")
    assert "Of 434 rows in the table, 90 without “species” are left out" in page


def test_report_is_a_page(merula, folder):
    result = merula("report", "penguins", "-t", "species", "-m", "naive", "--cv", "2", "-o", "page.html")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "report: page.html\n"
    assert (folder / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "penguins", "-t", "species", "-m", "naive"),
        ("evaluate", "penguins", "-t", "species", "-m", "naive", "--cv", "2"),
        ("predict", "penguins.merula", "penguins", "-o", "answers.csv"),
        ("explain", "penguins.merula", "penguins"),
        ("info", "penguins.merula"),
        ("merge", "penguins.merula", "penguins.merula"),
        ("network", "learn", "penguins"),
        ("report", "penguins", "-t", "species", "-m", "naive", "--cv", "2"),
    ],
)
def test_json_parses_and_holds_the_notes(merula, model, words):
    result = merula(*words, "--json")
    assert result.exit_code == 0, result.stderr
    notes = json.loads(result.stdout, parse_constant=pytest.fail)["notes"]
    assert [f"note: {note}" for note in notes] == result.stderr.splitlines()


def test_predictions_as_json_lines(merula, model):
    result = merula("predict", model, "penguins", "--json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(lines) == 344
    assert lines[0]["class"] == "Adelie"
    assert sum(lines[0][f"P({label})"] for label in LABELS) == pytest.approx(1, abs=1e-12)


def test_a_class_with_a_comma_is_told_from_two(merula, folder):
    rows = [f"{i % 5 + 0.5},{label}" for i, label in enumerate(["cat", "dog", '"cat, black"'] * 4)]
    (folder / "pets.csv").write_text("\n".join(["weight,pet", *rows]) + "\n", encoding="utf-8")
    result = merula("fit", "pets.csv", "-t", "pet", "-m", "naive", "-o", "pets.merula")
    assert "cat 33.3 %, 'cat, black' 33.3 %, dog 33.3 %" in result.stdout, result.stdout + result.stderr
