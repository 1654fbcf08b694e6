"""The dossier of a model file: every number of it is printed by the command that it names, and it says what it was measured on."""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.report.dossier import Dossier

PENGUINS = mr.__path__[0] + "/data/penguins.csv"
COSTS = "action,Adelie,Chinstrap,Gentoo\nrelease,0,5,5\nring,1,0,0\n"
ABOUT = "purpose:\n  use: Which birds are ringed\n  population: penguins of | three *islands*\ndetails: {owner: The station}\n"


def numbers(told):
    """Every number in plain data."""
    if isinstance(told, dict):
        return set().union(*(numbers(one) for one in told.values())) if told else set()
    if isinstance(told, list):
        return set().union(*map(numbers, told)) if told else set()
    return {told} if isinstance(told, int | float) and not isinstance(told, bool) else set()


@pytest.fixture
def files(merula, folder):
    """A table, costs, what people know, and a calibrated model with costs of its own."""
    shutil.copy(PENGUINS, folder / "my birds.csv")
    (folder / "costs.csv").write_text(COSTS)
    (folder / "about.yaml").write_text(ABOUT)
    asked = ("--target", "species", "--model", "naive", "--calibrate", "--ignore", "sex", "--costs", "costs.csv")
    assert merula("fit", "my birds.csv", *asked, "-o", "birds.merula").exit_code == 0
    return folder


ASKED = (
    "--table",
    "my birds.csv",
    "--about",
    "about.yaml",
    "--by",
    "sex",
    "--by",
    "island",
    "--act-on",
    "Gentoo",
    "--cv",
    "4",
)


def dossier_of(merula, *more, asked=ASKED):
    found = merula("dossier", "birds.merula", *asked, "-o", "dossier.json", *more)
    assert found.exit_code == 0, found.stderr
    with open("dossier.json", encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize("more", [(), ("--test", "new.csv")], ids=["folds", "test"])
def test_every_number_is_printed_by_the_command_that_is_named(merula, files, more):
    pd.read_csv(PENGUINS)[::3].to_csv("new.csv", index=False)
    asked = ASKED[:-2] if more else ASKED
    found = dossier_of(merula, *more, asked=asked)
    parts = {
        "performance": "performance",
        "net_benefit": "net_benefit",
        "data": "data",
        "stability": "sensitivity",
        "limits": "limits",
    }
    for part, source in parts.items():
        words = shlex.split(found["sources"][source])
        assert words[0] == "merula" and found[part] is not None
        printed = merula(*words[1:], *(() if "--json" in words else ("--json",)))
        assert printed.exit_code == 0, printed.stderr
        told = json.loads(printed.stdout)
        assert numbers(found[part]) <= numbers(told), part
        assert part not in told or part == "net_benefit" or told[part] == found[part]
    info = json.loads(merula(*shlex.split(found["sources"]["model"])[1:], "--json").stdout)
    told = found["model"]
    assert dict(told["classes"]) == info["classes"] and told["parameters"] == info["parameters"]
    assert told["temperature"] == info["temperature"] and told["rows"] == info["rows"]


def test_commands_for_people_print_the_very_numbers_of_the_markdown(merula, files):
    assert merula("dossier", "birds.merula", *ASKED, "-o", "dossier.md").exit_code == 0
    text = (files / "dossier.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    for title in ("The data", "What the answers rest on", "Known limits"):
        command = re.search(r"printed by `(.*)`", parts[title])[1]
        assert parts[title].strip() in merula(*shlex.split(command)[1:]).stdout
    command = shlex.split(re.search(r"printed by `(.*)`", parts["Performance"])[1])
    printed = merula(*[word for word in command[1:] if word != "--json"]).stdout
    shown = re.findall(r"\d+\.\d+ ± \d+\.\d+", parts["Performance"])
    assert len(shown) > 5 and all(one in printed for one in shown)
    assert all(
        one.replace("\\", "") in printed for one in re.findall(r"\\\[[\d., ]+\\\]", parts["Subgroups by sex, island"])
    )


def test_the_command_in_it_writes_it_again_and_hashes_are_those_of_the_files(merula, files):
    found = dossier_of(merula)
    command = shlex.split(found["origin"]["command"])
    assert merula(*command[1:]).exit_code == 0
    again = json.loads((files / "dossier.json").read_text(encoding="utf-8"))
    again["origin"]["written"] = found["origin"]["written"]
    assert again == found
    for name, digest in found["origin"]["hashes"].items():
        assert hashlib.sha256((files / name).read_bytes()).hexdigest() == digest
    assert set(found["origin"]["hashes"]) == {"birds.merula", "my birds.csv", "about.yaml"}
    words = shlex.split(found["sources"]["versions"])
    printed = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=True).stdout
    assert all(version in printed for name, version in found["origin"]["versions"].items() if name != "machine")


def test_figures_are_those_of_models_that_have_not_seen_the_rows(merula, files):
    """By hand: the same folds, a model fitted anew for each, with the options of the file."""
    table = pd.read_csv(PENGUINS)
    rows, species = table.drop(columns=["species", "sex"]), table["species"]
    by_hand = mr.evaluate(mr.CalibratedClassifier(mr.NaiveBayesClassifier(kinds={"year": "categorical"})), rows, species, cv=4, repeats=1)  # fmt: skip
    found = Dossier.from_dict(dossier_of(merula))
    figures = {one.name: one.value for one in found.performance.figures}
    assert figures["log_loss"] == pytest.approx(by_hand["log_loss"].value, rel=1e-9)
    assert "had not learned from it" in found.performance.how
    assert "bit for bit (344 rows compared)" in found.origin.refitted
    assert {one.name for one in found.performance.groups} >= {
        "sex = male",
        "sex = female",
        "sex = missing",
        "island = Dream",
    }


def test_a_model_of_other_rows_is_told(merula, files):
    pd.read_csv(PENGUINS)[:200].to_csv("some.csv", index=False)
    assert merula("fit", "some.csv", "--target", "species", "--model", "naive", "-o", "birds.merula").exit_code == 0
    assert "not learned from these rows alone" in dossier_of(merula)["origin"]["refitted"]


def test_what_is_not_stated_is_shown_as_missing(merula, files):
    assert merula("dossier", "birds.merula", *ASKED, "-o", "dossier.md").exit_code == 0
    text = (files / "dossier.md").read_text(encoding="utf-8")
    assert "| What it is for | Which birds are ringed | people |" in text
    assert "penguins of \\| three \\*islands\\*" in text
    assert "| Who paid for it | not stated (details.funding) |  |" in text
    assert text.count("not stated (") == 31 - 6


def test_more_than_two_classes_need_a_class_to_act_on(merula, files):
    assert merula("dossier", "birds.merula", "--table", "my birds.csv", "--cv", "3", "-o", "dossier.md").exit_code == 0
    text = (files / "dossier.md").read_text(encoding="utf-8")
    assert "none was named that is acted on" in text and "No subgroups were asked for" in text


def test_the_page_shows_hostile_words_as_they_are(merula, folder):
    pytest.importorskip("altair")
    rng = np.random.default_rng(0)
    ill = rng.random(60) < 0.5
    rows = pd.DataFrame({"<script>alert(1)</script>": rng.normal(ill, 1), "a|b`c`": np.where(rng.random(60) < 0.5, "</td>", "`x`"), "ill": np.where(ill, "<b>ja</b>", "n|ein")})  # fmt: skip
    rows.to_csv("rows.csv", index=False)
    assert merula("fit", "rows.csv", "--target", "ill", "--model", "naive", "-o", "rows.merula").exit_code == 0
    asked = ("dossier", "rows.merula", "--table", "rows.csv", "--by", "a|b`c`", "--cv", "3")
    assert merula(*asked, "-o", "page.html").exit_code == 0 and merula(*asked, "-o", "page.md").exit_code == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    body = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "<b>ja</b>" not in body and "alert(1)<" not in body and "&lt;b&gt;ja&lt;/b&gt;" in body
    lines = (folder / "page.md").read_text(encoding="utf-8").splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert tables and all("<b>" not in re.sub(r"\\.", "", line) for line in tables)


# ------------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--about", "bad.yaml"), "bad.yaml, line 2: purpose has no question 'usee'; did you mean 'use'?"),
        (("--about", "none.yaml"), "there is no file none.yaml"),
        (("--by", "sexx"), "'sexx'"),
        (("--act-on", "Gento"), "did you mean 'Gentoo'?"),
        (("--target", "specie"), "did you mean 'species'?"),
        (("-o", "dossier.docx"), "dossier.docx is to hold a dossier, expected a name that ends in .html"),
        (("-o", "my birds.csv"), "is the table itself"),
        (("-o", "about.yaml"), "about.yaml"),
        (("-o", "nowhere/dossier.md"), "there is no folder"),
        (("--table", "-"), "--table is '-'"),
        (("--test", "my birds.csv", "--cv", "3"), "leave out --cv"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_bad_input_is_one_line(merula, files, words, told):
    (files / "bad.yaml").write_text("purpose:\n  usee: x\n")
    found = merula("dossier", "birds.merula", "--table", "my birds.csv", "--about", "about.yaml", *words)
    assert found.exit_code == 2 and told in found.stderr.splitlines()[-1], found.stderr
    assert found.stderr.splitlines()[-1].startswith("error: ") and "Traceback" not in found.stderr


def test_evaluate_like_a_model_takes_nothing_else(merula, files):
    found = merula("evaluate", "my birds.csv", "--target", "species", "--like", "birds.merula", "--model", "tan")
    assert found.exit_code == 2 and "leave out --model" in found.stderr


def test_net_benefit_is_printed_for_people_too(merula, files):
    found = merula(
        "evaluate", "my birds.csv", "--target", "species", "--like", "birds.merula", "--cv", "3", "--act-on", "Gentoo"
    )
    assert found.exit_code == 0 and "net benefit of acting on Gentoo" in found.stdout and "act always" in found.stdout
    found = merula("evaluate", "my birds.csv", "--target", "species", "--model", "naive", "--act-on", "Gentu")
    assert found.exit_code == 2 and "did you mean 'Gentoo'?" in found.stderr
