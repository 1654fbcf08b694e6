"""What is said about broken BIF files: the line, what was met, what was expected; and that nonsense ends soon."""

import pytest

from merula.graphs.formats.bif import parse

HEAD = """network unknown {
}
variable smoke {
  type discrete [ 2 ] { yes, no };
}
variable age {
  type discrete [ 3 ] { young, adult, old };
}
variable lung {
  type discrete [ 2 ] { yes, no };
}
probability ( smoke ) { table 0.3, 0.7; }
probability ( age ) { table 0.2, 0.5, 0.3; }
"""
ROWS = """probability ( lung | smoke, age ) {
  (yes, young) 0.1, 0.9;
  (yes, adult) 0.2, 0.8;
  (yes, old) 0.3, 0.7;
  (no, young) 0.01, 0.99;
  (no, adult) 0.02, 0.98;
  (no, old) 0.03, 0.97;
}
"""


BROKEN = {
    "cut in a row": (
        ROWS[:80],
        r"line 16: the text ends inside probability 'lung \| smoke, age', which begins on line 14",
    ),
    "cut in a header": (
        ROWS[:20],
        "line 14: expected 'network', 'variable' or 'probability' and an opening brace, got 'probability'",
    ),
    "cut after a block": ("", "variable 'lung' has no probabilities, expected a table for every variable"),
    "semicolon missing": (
        ROWS.replace("0.1, 0.9;", "0.1, 0.9"),
        r"line 15: a row of 'lung' names 4 states .*: is a ';' missing\?",
    ),
    "level unknown": (
        ROWS.replace("(yes, adult)", "(yes, adlt)"),
        "line 16: a row of 'lung' names the level 'adlt' of 'age', whose levels are young, adult, old; did you mean 'adult'?",
    ),
    "too few states": (
        ROWS.replace("(yes, adult)", "(yes)"),
        r"line 16: a row of 'lung' names 1 states \(yes\), expected one for each",
    ),
    "parent unknown": (
        ROWS.replace("smoke, age", "smok, age"),
        "line 14: a probability block gives 'lung' the parent 'smok', which no variable block declares; did you mean 'smoke'?",
    ),
    "variable unknown": (
        ROWS.replace("( lung", "( long"),
        "line 14: a probability block gives probabilities for 'long', which no variable block declares; did you mean 'lung'?",
    ),
    "row missing": (
        ROWS.replace("  (no, adult) 0.02, 0.98;\n", ""),
        r"line 14: P\(lung given smoke = no, age = adult\) is missing, expected a row for every combination",
    ),
    "row twice": (
        ROWS.replace("(yes, adult)", "(yes, young)"),
        r"line 16: the row \(yes, young\) of 'lung' is given twice",
    ),
    "too many numbers": (
        ROWS.replace("0.2, 0.8", "0.2, 0.5, 0.3"),
        r"line 16: the row \(yes, adult\) of 'lung' has 3 probabilities, expected 2",
    ),
    "no number": (ROWS.replace("0.2, 0.8", "0.2, O.8"), "line 15: in the rows of 'lung': expected numbers, got 'O.8'"),
    "number with underscore": (ROWS.replace("0.2, 0.8", "0.2, 0_8"), "expected numbers, got '0_8'"),
    "row off": (
        ROWS.replace("0.2, 0.8", "0.2, 0.7"),
        r"line 14: P\(lung given smoke = yes, age = adult\) sums to 0.9, expected 1",
    ),
    "negative": (
        ROWS.replace("0.2, 0.8", "-0.2, 1.2"),
        r"line 14: P\(lung = yes given smoke = yes, age = adult\) holds -0.2; probabilities are numbers from 0 to 1",
    ),
    "NaN": (ROWS.replace("0.2, 0.8", "0.2, nan"), r"P\(lung = no given smoke = yes, age = adult\) holds nan"),
    "infinite": (ROWS.replace("0.2, 0.8", "0.2, 1e999"), r"P\(lung = no given smoke = yes, age = adult\) holds inf"),
    "table too short": (
        "probability ( lung | smoke, age ) { table 0.1, 0.9; }",
        "line 14: in the table of 'lung': variable 'lung' has 2 probabilities, expected 2 × 3 × 2 = 12",
    ),
    "default too long": (
        "probability ( lung | smoke, age ) { default 0.1, 0.8, 0.1; }",
        "in the default of 'lung': variable 'lung' has 3 probabilities, expected 2 = 2",
    ),
    "nothing inside": (
        "probability ( lung | smoke, age ) { }",
        "line 14: the probability block of 'lung' holds no probabilities",
    ),
    "strange statement": (
        "probability ( lung | smoke, age ) { tabel 0.1; }",
        "line 14: expected a row, 'table', 'default' or 'property', got 'tabel 0.1'",
    ),
    "twice": (ROWS + ROWS, "variable 'lung' is given probabilities twice"),
    "its own parent": (
        ROWS.replace("smoke, age", "lung, age"),
        r"line 14: variable 'lung' has the parents \['lung', 'age'\], expected each once, and not itself",
    ),
    "a parent twice": (
        ROWS.replace("smoke, age", "smoke, smoke"),
        r"variable 'lung' has the parents \['smoke', 'smoke'\]",
    ),
    "strange block": (
        ROWS + "decision d { }",
        "line 22: expected 'network', 'variable' or 'probability' and an opening brace, got 'decision'",
    ),
    "declared twice": ("variable age { type discrete [ 1 ] { a }; }" + ROWS, "variable 'age' is declared twice"),
    "count differs": (
        "variable sex { type discrete [ 3 ] { m, f }; }" + ROWS,
        "line 14: variable 'sex' declares 3 levels and lists 2: m, f; correct the count",
    ),
    "level twice": ("variable sex { type discrete [ 2 ] { m, m }; }" + ROWS, "variable 'sex' has the level 'm' twice"),
    "continuous": (
        "variable sex { type continuous; }" + ROWS,
        "line 14: variable 'sex' is not declared as 'type discrete",
    ),
    "no type": ("variable sex { }" + ROWS, "line 14: variable 'sex' has 0 'type' statements, expected one"),
    "open quote": (
        ROWS.replace("(yes, adult)", '("yes, adult)'),
        "the file is cut short, or a ';', '}' or '\"' is missing",
    ),
}


@pytest.mark.parametrize("text, message", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_said_about_broken_files(text, message):
    with pytest.raises(ValueError, match=message):
        parse(HEAD + text)


def test_a_cycle_is_reported_whole():
    arcs = {"rain": "grass", "cloud": "rain", "grass": "cloud", "mood": "rain"}
    text = "network n { }" + "".join(f"variable {name} {{ type discrete [ 2 ] {{ yes, no }}; }}\n" for name in arcs)
    text += "".join(f"probability ( {name} | {parent} ) {{ default .5 .5; }}\n" for name, parent in arcs.items())
    with pytest.raises(ValueError, match="the arcs form a cycle: cloud → rain → grass → cloud; take one of them out"):
        parse(
            text.replace("rain | grass", "rain | cloud")
            .replace("cloud | rain", "cloud | grass")
            .replace("grass | cloud", "grass | rain")
        )


@pytest.mark.parametrize("text", ["", "   \n", "network n { }"])
def test_nothing_is_no_network(text):
    with pytest.raises(ValueError, match="no variable was found"):
        parse(text)


def test_a_node_with_forty_parents_is_refused_before_memory_is_taken():
    names = [f"cause{index}" for index in range(40)]
    text = "network n { }" + "".join(
        f"variable {name} {{ type discrete [ 2 ] {{ yes, no }}; }}\n" for name in [*names, "effect"]
    )
    text += "".join(f"probability ( {name} ) {{ table .5 .5; }}\n" for name in names)
    text += f"probability ( effect | {', '.join(names)} ) {{ default .5 .5; }}"
    with pytest.raises(
        ValueError,
        match="the table of 'effect' given 40 parents would have 2,199,023,255,552 cells \\(17.6 TB\\), the limit is 134 MB",
    ):
        parse(text)


def test_more_parents_than_an_array_has_axes():
    names = [f"cause{index}" for index in range(70)]
    text = "network n { }" + "".join(
        f"variable {name} {{ type discrete [ 1 ] {{ yes }}; }}\n" for name in [*names, "effect"]
    )
    text += f"probability ( effect | {', '.join(names)} ) {{ default 1; }}"
    with pytest.raises(ValueError, match="variable 'effect' has 70 parents; at most 63 are possible"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        "network n { " + "(" * 100_000,
        "/*" * 50_000,
        '"' * 99_999,
        "variable x { type discrete [ 2 ] { " + "a," * 100_000,
    ],
)
def test_huge_nonsense_ends_soon(text):
    with pytest.raises(ValueError, match="expected|ends inside"):
        parse(text)
