"""Hugin's NET language, written by hand: what each text must mean, and what is said about broken ones."""

import pytest

from merula.graphs.formats.net import dump, parse
from merula.graphs.network.node import Node

HEAD = """net
{
    node_size = (80 40);
    HR_Grid_X = "10";
}
node smoke
{
    label = "Does the patient smoke? 50% {do}; (really)";
    position = (100 200);
    states = ("yes" "no");
}
node age
{
    states = ("young" "adult" "old");
}
node lung
{
    states = ("yes" "no");
}
potential ( smoke ) { data = ( 0.3 0.7 ); }
potential ( age ) { data = ( 0.2 0.5 0.3 ); }
"""
LUNG = [[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], [[0.01, 0.99], [0.02, 0.98], [0.03, 0.97]]]
DATA = """potential ( lung | smoke age )
{
    data = ((( 0.1 0.9 )      % smoke=yes  age=young
             ( 0.2 0.8 )      % smoke=yes  age=adult
             ( 0.3 0.7 ))     % ; } "
            (( 0.01 0.99 )
             ( 0.02 0.98 )
             ( 0.03 0.97 )));
}
"""


def lung(text):
    node = parse(HEAD + text)[2]
    assert (node.name, node.parents) == ("lung", ("smoke", "age"))
    return node.table.tolist()


class TestQuirks:
    def test_as_hugin_writes_it(self):
        nodes = parse(HEAD + DATA)
        assert [node.name for node in nodes] == ["smoke", "age", "lung"]
        assert nodes[1].levels == ("young", "adult", "old")
        assert nodes[2].table.tolist() == LUNG

    def test_numbers_without_inner_parentheses(self):
        assert lung("potential (lung | smoke age) { data = (.1 .9 .2 .8 .3 .7 1e-2 .99 2e-2 .98 3e-2 .97); }") == LUNG

    def test_a_bar_without_parents_as_pgmpy_writes_it(self):
        assert parse((HEAD + DATA).replace("( smoke ) {", "(smoke |){"))[0].table.tolist() == [0.3, 0.7]

    def test_states_without_quotes_as_pyagrum_writes_them(self):
        assert parse((HEAD + DATA).replace('("young" "adult" "old")', "(young adult old )"))[1].levels == (
            "young",
            "adult",
            "old",
        )

    def test_commas_between_states_and_parents(self):
        text = (
            (HEAD + DATA)
            .replace('("young" "adult" "old")', '("young", "adult", "old")')
            .replace("smoke age )", "smoke, age )")
        )
        assert parse(text)[2].table.tolist() == LUNG

    def test_labels_are_free_text(self):
        labels = ["<=50K", "(1,2]", 'say \\"hi\\"']
        text = (HEAD + DATA).replace('"young" "adult" "old"', " ".join(f'"{label}"' for label in labels))
        assert parse(text)[1].levels == ("<=50K", "(1,2]", 'say "hi"')

    def test_discrete_is_said_aloud(self):
        assert parse((HEAD + DATA).replace("node lung", "discrete node lung"))[2].table.tolist() == LUNG

    def test_numbered_and_boolean_nodes(self):
        text = """net { }
        node count { subtype = number; state_values = (0 1 2.5); }
        node flag { subtype = boolean; }
        potential (count) { data = (0.5 0.25 0.25); }
        potential (flag) { data = (0.5 0.5); }"""
        nodes = parse(text)
        assert nodes[0].levels == ("0", "1", "2.5")
        assert nodes[1].levels == ("false", "true")

    def test_one_line(self):
        text = " ".join(line.partition("%")[0] if "label" not in line else line for line in (HEAD + DATA).splitlines())
        assert parse(text)[2].table.tolist() == LUNG


BROKEN = {
    "utility": (
        "utility cost { }",
        "line 22: cost is a utility; merula reads networks of discrete variables alone: take it out of the file",
    ),
    "decision": ('decision treat { states = ("a"); }', "line 22: treat is a decision"),
    "discrete decision": ("discrete decision treat { }", "line 22: treat is a decision"),
    "continuous": ("continuous node dose { }", "line 22: dose is a continuous variable"),
    "function": ("function f { }", "line 22: f is a function node"),
    "class": ("class C { }", "line 22: C is an object-oriented class"),
    "strange": ("arrow x { }", "line 22: expected 'net', 'node' or 'potential', got 'arrow"),
    "cut": (DATA[:60], r"line 24: the text ends inside potential \( lung \| smoke age \), which begins on line 23"),
    "cut in a header": (
        "potential ( lung",
        "line 22: expected 'net', 'node' or 'potential' and an opening brace, got 'potential'",
    ),
    "nothing more": ("", "variable 'lung' has no probabilities"),
    "no data": (
        "potential ( lung | smoke age ) { model_nodes = (); }",
        "line 22: the potential of 'lung' has no 'data'",
    ),
    "two children": (
        DATA.replace("lung |", "lung smoke |"),
        "line 22: a potential is about lung and smoke, expected one variable",
    ),
    "unknown parent": (
        DATA.replace("smoke age )", "smoke aged )"),
        "line 22: variable 'lung' has the unknown parent 'aged'; did you mean 'age'?",
    ),
    "unknown variable": (
        DATA.replace("( lung", "( long"),
        "line 22: probabilities are given for 'long', which is not a declared variable; did you mean 'lung'?",
    ),
    "too few": (
        DATA.replace("( 0.1 0.9 )", ""),
        "line 22: variable 'lung' has 10 probabilities, expected 2 × 3 × 2 = 12",
    ),
    "no number": (DATA.replace("0.1 0.9", "0.1 x"), "line 22: expected numbers, got 'x'"),
    "row off": (
        DATA.replace("0.1 0.9", "0.1 0.8"),
        r"line 22: P\(lung given smoke = yes, age = young\) sums to 0.9, expected 1",
    ),
    "NaN": (DATA.replace("0.1 0.9", "0.1 nan"), r"P\(lung = no given smoke = yes, age = young\) holds nan"),
    "no attribute": ("node x { states; }", "line 22: expected 'attribute = value;', got 'states'"),
    "no states": ('node x { label = "x"; }', "line 22: node 'x' has no 'states', expected a list of labels"),
    "empty states": ("node x { states = (); }", "variable 'x' has no level"),
    "twice": ('node age { states = ("a"); }', "variable 'age' is declared twice"),
}


@pytest.mark.parametrize("text, message", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_said_about_broken_files(text, message):
    with pytest.raises(ValueError, match=message):
        parse(HEAD + text)


@pytest.mark.parametrize("text", ["{" * 100_000, "net { data = " + "(" * 100_000, '"' * 99_999, "a " * 100_000])
def test_huge_nonsense_ends_soon(text):
    with pytest.raises(ValueError, match="expected|ends inside"):
        parse(text)


def test_a_very_deep_table_does_not_recurse(table):
    roots = [Node(f"x{index}", ("a",), (), table(1)) for index in range(60)]
    child = Node("y", ("a", "b"), tuple(node.name for node in roots), table(*[1] * 60, 2))
    got = parse(dump([*roots, child]))[-1]
    assert got.table.ravel().tolist() == child.table.ravel().tolist()


def test_printable_labels_are_written_as_they_are(table):
    text = dump([Node("income", ("<=50K", "(1,2]", "a//b"), (), table(3))])
    assert 'states = ("<=50K" "state_1_2" "a_b");' in text
    assert 'merula_levels = "%3C%3D50K,%281%2C2%5D,a%2F%2Fb";' in text


@pytest.mark.parametrize(
    "comment", ["/// a line of slashes", "// two", "% Hugin's own, with \" in it", "/* several\n lines } ; */", "/**/"]
)
def test_comments_of_other_programs(comment):
    text = f"""{comment}
    net {{ }} {comment}
    node smoke {{ states = ("yes // or so" "no /* never */"); {comment}
    }}
    {comment}
    potential ( smoke ) {{ data = ( 0.3 {comment}
      0.7 ); }} {comment}
    """
    (node,) = parse(text)
    assert node.levels == ("yes // or so", "no /* never */")
    assert node.table.tolist() == [0.3, 0.7]


def test_a_comment_that_is_not_closed():
    with pytest.raises(ValueError, match=r"line 2: the text ends inside a comment that begins with /\*"):
        parse("net { }\n/* node smoke { }")
