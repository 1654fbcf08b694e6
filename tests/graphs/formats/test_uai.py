"""The UAI format, written by hand: what each text must mean, and what is said about broken ones."""

import pytest

from merula.graphs.formats.uai import dump, parse

TEXT = """BAYES
3
2 3 2
3
1 0
1 1
3 0 1 2

2
 0.3 0.7

3
 0.2 0.5 0.3

12
 0.1 0.9 0.2 0.8 0.3 0.7
 0.01 0.99 0.02 0.98 0.03 0.97
"""
LAST = [[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], [[0.01, 0.99], [0.02, 0.98], [0.03, 0.97]]]
NUMBERS = TEXT[TEXT.index(" 0.1 0.9") :]


class TestOrders:
    def test_the_last_variable_of_the_scope_is_fastest(self):
        """As https://uaicompetition.github.io/uci-2022/file-formats/model-format says."""
        nodes = parse(TEXT)
        assert [node.name for node in nodes] == ["x0", "x1", "x2"]
        assert [node.levels for node in nodes] == [(0, 1), (0, 1, 2), (0, 1)]
        assert nodes[2].parents == ("x0", "x1")
        assert nodes[2].table.tolist() == LAST

    def test_parents_in_the_order_of_the_scope(self):
        text = TEXT.replace("3 0 1 2", "3 1 0 2").replace(
            NUMBERS, "0.1 0.9 0.01 0.99 0.2 0.8 0.02 0.98 0.3 0.7 0.03 0.97"
        )
        node = parse(text)[2]
        assert node.parents == ("x1", "x0")
        assert node.table.transpose(1, 0, 2).tolist() == LAST

    def test_pgmpy_has_the_first_variable_of_the_scope_fastest(self):
        """pgmpy 1.1.2 writes scope (parents reversed, child) and ravels (child, parents): only so do its rows sum to 1."""
        numbers = "0.1 0.01 0.2 0.02 0.3 0.03 0.9 0.99 0.8 0.98 0.7 0.97"
        assert parse(TEXT.replace(NUMBERS, numbers))[2].table.tolist() == LAST

    def test_pyagrum_has_the_first_parent_fastest_and_leaves_names(self):
        """pyAgrum 3.3.1 writes `3 0 1 2   # lung` and the tables in Fortran order of the parents."""
        text = TEXT.replace("\n1 0\n1 1\n3 0 1 2\n", "\n1 0   # smoke\n1 1   # age\n3 0 1 2   # lung\n")
        text = text.replace(NUMBERS, "0.1 0.9 0.01 0.99 0.2 0.8 0.02 0.98 0.3 0.7 0.03 0.97")
        node = parse(text)[2]
        assert (node.name, node.parents) == ("lung", ("smoke", "age"))
        assert node.table.tolist() == LAST

    def test_neither_order_sums_to_one(self):
        with pytest.raises(ValueError, match=r"P\(x2 given x0 = 0, x1 = 0\) sums to 0.8, expected 1"):
            parse(TEXT.replace("0.1 0.9", "0.1 0.7"))


class TestQuirks:
    def test_blanks_mean_nothing(self):
        assert parse(" ".join(TEXT.split()))[2].table.tolist() == LAST

    def test_functions_in_any_order(self):
        text = "BAYES 2 2 3 2  2 0 1  1 0   6 .1 .2 .7 .3 .3 .4   2 .5 .5"
        nodes = parse(text)
        assert [node.name for node in nodes] == ["x0", "x1"]
        assert nodes[1].table.tolist() == [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]

    def test_comments(self):
        text = TEXT.replace("3\n2 3 2", "c made by hand\nc\n3 # three\n2 3 2 # sizes")
        assert parse("c first line\n" + text)[2].table.tolist() == LAST

    def test_lower_case(self):
        assert parse(TEXT.replace("BAYES", "bayes"))[2].table.tolist() == LAST


BROKEN = {
    "Markov": (
        ("BAYES", "MARKOV"),
        "expected a UAI file that begins with BAYES, got 'MARKOV'; a Markov network has no conditional tables",
    ),
    "no word": (("3\n2 3 2", "x\n2 3 2"), "expected whole numbers for the number of variables, got 'x'"),
    "functions": (
        ("2 3 2\n3\n", "2 3 2\n2\n"),
        "the file has 2 functions for 3 variables; a Bayesian network has one for each",
    ),
    "variable": (
        ("3 0 1 2", "3 0 7 2"),
        r"function 2 has the scope \[0, 7, 2\], expected numbers of variables, 0 to 2",
    ),
    "no child": (("3 0 1 2", "3 2 0 1"), "variable 2 is the last of no scope, expected one function for each variable"),
    "twice": (("3 0 1 2", "3 0 0 2"), "the table of variable 2 has 12 probabilities, expected 2 × 2 × 2 = 8"),
    "table": (("12\n", "11\n"), "the table of variable 2 has 11 probabilities, expected 2 × 3 × 2 = 12"),
    "too much": (("0.97\n", "0.97 0.5\n"), "expected the end of the file after the last table, got '0.5'"),
    "number": (("0.97\n", "O.97\n"), "in the table of variable 2: expected numbers, got 'O.97'"),
    "negative": (("0.01 0.99", "-0.01 1.01"), r"P\(x2 = 0 given x0 = 1, x1 = 0\) holds -0.01"),
    "cycle": (
        ("1 0\n1 1\n3 0 1 2\n\n2\n 0.3 0.7\n\n3\n", "2 2 0\n1 1\n3 0 1 2\n\n4\n .5 .5 .5 .5\n\n3\n"),
        "the arcs form a cycle: x0 → x2 → x0",
    ),
}


@pytest.mark.parametrize("change, message", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_said_about_broken_files(change, message):
    with pytest.raises(ValueError, match=message):
        parse(TEXT.replace(*change, 1))


def test_a_file_that_is_cut_short():
    with pytest.raises(
        ValueError,
        match="line 16: the file ends within the table of variable 2, expected 12 numbers there, got 6: it is cut short",
    ):
        parse(TEXT[: TEXT.index(" 0.01")])
    with pytest.raises(ValueError, match="line 3: the file ends within the number of functions"):
        parse("BAYES\n3\n2 3 2\n")
    with pytest.raises(ValueError, match="begins with BAYES, got 'nothing'"):
        parse("")


def test_huge_numbers_take_no_memory():
    with pytest.raises(ValueError, match="ends within the numbers of levels"):
        parse("BAYES 999999999999 2 2")
    with pytest.raises(ValueError, match="is the last of no scope"):
        parse("BAYES 2 2 999999999999 2 1 0 1 0 2 .5 .5 2 .5 .5")


def test_names_stand_in_comments_behind_the_numbers(sprinkler):
    text = dump(sprinkler)
    assert text.startswith("BAYES\n4\n3 2 4 2\n4\n1 0\n1 1\n3 0 1 2\n4 2 0 1 3\n\n3\n")
    nodes = parse(text[: text.index("#")].replace("\t", ""))
    assert [node.name for node in nodes] == ["x0", "x1", "x2", "x3"]
    assert nodes[3].parents == ("x2", "x0", "x1")
    assert nodes[3].table.tolist() == sprinkler[3].table.tolist()


def test_names_that_were_cut_off_are_missed():
    text = dump(parse(TEXT))
    assert [node.name for node in parse(text)] == ["x0", "x1", "x2"]
    for end in range(text.index("# network"), len(text)):
        with pytest.raises(ValueError, match=r"the file ends within the names .*: it is cut short"):
            parse(text[:end])


def test_a_file_cut_anywhere_is_missed(sprinkler):
    text = dump(sprinkler, kept={"discretizer": {"cuts": {"garden": [0.1]}}})
    for end in range(len(text)):
        with pytest.raises(ValueError, match="."):
            parse(text[:end])


def test_a_level_less_variable_beside_a_giant_one():
    """The product of both sizes is 0, so the table of the giant one may be empty."""
    with pytest.raises(ValueError, match="variable 1 has 0 levels"):
        parse("BAYES 2 999999999999 0 2 2 1 0 1 1 0 0")
