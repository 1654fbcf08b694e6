"""merula page: a model or a network as one HTML file."""

import json

import pytest


def test_a_model_becomes_a_page(merula, model, folder):
    result = merula("page", model, "-o", "penguins.html")
    assert result.exit_code == 0, result.stderr
    page = (folder / "penguins.html").read_text(encoding="utf-8")
    assert result.stdout.strip() == f"{len(page.encode()):,} bytes: penguins.html"
    assert "<title>species (penguins)</title>" in page
    assert '"card.file","value":"penguins.merula"' in page


def test_a_network_becomes_a_page(merula, folder):
    (folder / "rain.bif").write_text("network rain {}\nvariable rain { type discrete [ 2 ] { no, yes }; }\nprobability ( rain ) { table 0.8, 0.2; }\n")  # fmt: skip
    result = merula("page", "rain.bif", "-o", "rain.html")
    assert result.exit_code == 0, result.stderr
    assert '"kind":"network"' in (folder / "rain.html").read_text(encoding="utf-8")


def test_costs_labels_name_and_language_reach_the_page(merula, model, folder):
    (folder / "costs.csv").write_text("action,Adelie,Chinstrap,Gentoo\nring,0,4,1\nwait,1,1,1\n")
    (folder / "labels.json").write_text(json.dumps({"island": {"label": "Insel", "description": "Wo sie brüten"}}))
    words = (
        "--costs",
        "costs.csv",
        "--labels",
        "labels.json",
        "--name",
        "Vögel",
        "--language",
        "zh",
        "--min-cell",
        "5",
    )
    result = merula("page", model, "-o", "penguins.html", *words, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["output"] == "penguins.html"
    page = (folder / "penguins.html").read_text(encoding="utf-8")
    for told in (
        '<html lang="zh">',
        "<title>Vögel</title>",
        "Wo sie brüten",
        '"actions":["ring","wait"]',
        '"limit.pooled"',
    ):
        assert told in page


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("absent.merula",), "there is no model file absent.merula"),
        (("penguins.merula", "-o", "penguins.merula"), "is the model itself"),
        (("penguins.merula", "--labels", "labels.json", "-o", "labels.json"), "is the file of labels itself"),
        (("penguins.merula", "-o", "-"), "a page is a file"),
        (("penguins.merula", "--labels", "absent.json"), "there is no file of labels absent.json"),
        (("penguins.merula", "--labels", "penguins.merula"), "is no JSON"),
        (("penguins.merula", "--labels", "labels.json"), "labels"),
        (("penguins.merula", "--language", "la"), "--language"),
        (("penguins.merula", "--min-cell", "0"), "min_cell"),
        (("rain.bif", "--costs", "costs.csv"), "is for classifiers"),
    ],
)
def test_what_cannot_be_is_one_line(merula, model, folder, words, told):
    (folder / "labels.json").write_text('{"absent": "x"}')
    (folder / "costs.csv").write_text("action,no,yes\na,0,1\n")
    (folder / "rain.bif").write_text("network rain {}\nvariable rain { type discrete [ 2 ] { no, yes }; }\nprobability ( rain ) { table 0.8, 0.2; }\n")  # fmt: skip
    result = merula("page", *words)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
