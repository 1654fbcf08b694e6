"""merula network: show, query, learn, convert beside the library."""

import json

import pytest

import merula as mr


@pytest.fixture
def rain(folder):
    """Rain and sprinkler make the grass wet."""
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2]).add("sprinkler", ["off", "on"], [0.6, 0.4])
    tables = {("no", "off"): [1, 0], ("no", "on"): [0.1, 0.9], ("yes", "off"): [0.2, 0.8], ("yes", "on"): [0.01, 0.99]}
    network.add("grass=wet", ["false", "true"], tables, parents=["rain", "sprinkler"]).write("rain.json")
    return network


def test_show_lists_variables_levels_and_parents(merula, rain):
    result = merula("network", "show", "rain.json")
    assert result.exit_code == 0
    assert "3 variables, 2 arcs, 6 parameters" in result.stdout
    assert "rain, sprinkler" in result.stdout.splitlines()[-1]
    assert json.loads(merula("network", "show", "rain.json", "--json").stdout)["arcs"] == [
        list(arc) for arc in rain.arcs
    ]


def test_query_is_the_librarys(merula, rain):
    result = merula("network", "query", "rain.json", "rain", "--given", "grass=wet=true")
    own = rain.query("rain", given={"grass=wet": "true"})
    assert result.stdout.strip() == str(own)
    found = json.loads(
        merula("network", "query", "rain.json", "rain", "sprinkler", "-g", "grass=wet=true", "--json").stdout
    )
    both = rain.query(["rain", "sprinkler"], given={"grass=wet": "true"})
    for row in found["probabilities"]:
        assert row["probability"] == both[row["rain"], row["sprinkler"]]


def test_query_of_every_variable_and_of_what_is_brought_about(merula, rain):
    found = json.loads(merula("network", "query", "rain.json", "--do", "grass=wet=true", "--json").stdout)[
        "probabilities"
    ]
    assert set(found) == {"rain", "sprinkler"}
    assert {row["rain"]: row["probability"] for row in found["rain"]} == pytest.approx({"no": 0.8, "yes": 0.2})


def test_learn_is_the_librarys(merula, folder):
    result = merula("network", "learn", "penguins", "-o", "penguins.json", "--method", "chow-liu")
    assert result.exit_code == 0, result.stderr
    from importlib.resources import files

    table = mr.read_table(files("merula") / "data" / "penguins.csv")
    own = mr.learn_structure(table, method="chow-liu", numeric="quantile", kinds={"year": "categorical"})
    assert sorted(mr.read_network("penguins.json").arcs) == sorted(own.arcs)


def test_learn_leaves_out_what_tells_rows_apart(merula, patients):
    result = merula("network", "learn", patients, "-o", "net.json", "--numeric", "gaussian")
    assert result.exit_code == 0, result.stderr
    assert set(mr.read_network("net.json").variables).isdisjoint({"patient id", "complaint", "hospital"})
    assert "column 'patient id' looks like an identifier" in result.stderr


def test_numbers_are_asked_and_known(merula, patients):
    merula("network", "learn", patients, "-o", "net.json", "--numeric", "gaussian")
    found = json.loads(merula("network", "query", "net.json", "größe", "--json").stdout)
    assert found["probabilities"]["mean"] == pytest.approx(mr.read_network("net.json").query("größe").mean)
    assert merula("network", "query", "net.json", "diagnosis", "--given", "größe=1.7").exit_code == 0


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".net", ".xdsl", ".bif.gz"])
def test_convert_keeps_every_number(merula, rain, suffix):
    assert merula("network", "convert", "rain.json", f"rain{suffix}").exit_code == 0
    again = mr.read_network(f"rain{suffix}")
    assert [row for _, row in again.query(list(again.variables))] == pytest.approx(
        [row for _, row in rain.query(list(rain.variables))], abs=1e-12
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("show", "absent.bif"), "absent.bif"),
        (("show", "notes.txt"), "notes.txt"),
        (("query", "rain.json", "reign"), "did you mean 'rain'?"),
        (("query", "rain.json", "rain", "--given", "sprinkler=of"), "did you mean 'off'?"),
        (("query", "rain.json", "rain", "--given", "sprinkel=off"), "did you mean 'sprinkler'?"),
        (("query", "rain.json", "rain", "--given", "sprinkler"), "expected VARIABLE=LEVEL"),
        (
            ("query", "rain.json", "rain", "--given", "sprinkler=off", "--given", "sprinkler=on"),
            "speaks of 'sprinkler' twice",
        ),
        (("convert", "rain.json", "rain.doc"), ".bif"),
        (("convert", "rain.json", "nowhere/rain.bif"), "no folder nowhere"),
        (("learn", "absent.csv"), "there is no file absent.csv"),
        (("learn", "penguins", "--ignore", "iland"), "did you mean 'island'?"),
        (("learn", "penguins", "--score", "bik"), "did you mean 'bic'?"),
    ],
)
def test_bad_words_are_one_line(merula, rain, words, told):
    result = merula("network", *words)
    assert result.exit_code == 2, (result.stdout, result.stderr)
    (error,) = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    assert told in error


def test_labels_with_commas_are_told_apart(merula, folder):
    rows = "".join(f'{i / 7},"{"red, dark" if i % 2 else "blue"}"\n' for i in range(40))
    (folder / "t.csv").write_text("wing,hue\n" + rows)
    shown = merula("network", "learn", "t.csv", "-o", "t.bif").stdout
    assert "blue, 'red, dark'" in shown
    assert "'(" not in shown  # intervals need no quotation marks


def test_evidence_that_cannot_be(merula, rain):
    result = merula(
        "network", "query", "rain.json", "rain", "-g", "rain=no", "-g", "sprinkler=off", "-g", "grass=wet=true"
    )
    assert result.exit_code == 2
    assert "probability 0" in result.stderr


def test_intervals_are_the_librarys(merula, folder):
    import pandas as pd

    rows = pd.DataFrame({"rain": ["yes", "no", "no", "no"] * 10, "grass wet": ["yes", "no", "yes", "no"] * 10})
    network = mr.BayesianNetwork([("rain", "grass wet")]).fit(rows)
    network.write("rain.json")
    typed = ["network", "query", "rain.json", "rain", "--given", "grass wet=yes", "--interval", "0.8"]
    own = network.query_interval("rain", {"grass wet": "yes"}, level=0.8, random_state=0)
    assert merula(*typed).stdout.strip() == str(own)
    found = json.loads(merula(*typed, "--json").stdout)
    assert [(row["lower"], row["upper"]) for row in found["probabilities"]] == [own.interval("no"), own.interval("yes")]
    assert found["interval"] == {"level": 0.8, "draws": 1000, "prior": own.prior, "rests_on": own.rests_on}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rain", "--interval", "0.9"], "needs counts of rows"),
        (["rain", "--interval", "1.5"], "expected a probability between 0 and 1"),
        (["--interval", "0.9"], "--interval is of one variable, but none is asked for"),
        (["rain", "sprinkler", "--interval", "0.9"], "but 2 are asked for"),
        (["rain", "--interval", "0.9", "--do", "sprinkler=on"], "leave one of them out"),
        (["rain", "--equivalent-sample-size", "50"], "does nothing without --interval"),
    ],
)
def test_intervals_that_cannot_be_are_one_line(merula, rain, words, message):
    result = merula("network", "query", "rain.json", *words)
    assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.stderr


def test_stated_tables_have_intervals_by_what_they_are_worth(merula, rain):
    result = merula("network", "query", "rain.json", "rain", "--interval", "0.9", "--equivalent-sample-size", "50")
    assert result.exit_code == 0 and "as if the stated tables had been learned from 50 rows" in result.stdout
