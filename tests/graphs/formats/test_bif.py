"""BIF as it is met in the wild, written by hand: what each text must mean, and what is said about broken ones."""

import re

import numpy as np
import pytest

from merula.graphs.formats.bif import dump, parse
from merula.graphs.network.node import Node

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
LUNG = [[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], [[0.01, 0.99], [0.02, 0.98], [0.03, 0.97]]]
ROWS = """probability ( lung | smoke, age ) {
  (yes, young) 0.1, 0.9;
  (yes, adult) 0.2, 0.8;
  (yes, old) 0.3, 0.7;
  (no, young) 0.01, 0.99;
  (no, adult) 0.02, 0.98;
  (no, old) 0.03, 0.97;
}
"""


def lung(text):
    """P(lung given smoke, age) as read from a text after the usual head."""
    node = parse(HEAD + text)[2]
    assert (node.name, node.parents) == ("lung", ("smoke", "age"))
    return node.table.tolist()


def two(first, second="yes, no", rows=None, name="status"):
    """A variable with the labels `first`, and one child, as text."""
    count = first.count(";") + 1
    labels = [label.strip() for label in first.split(";")]
    body = "".join(f"  ({label}) 0.{index + 1}, 0.{9 - index};\n" for index, label in enumerate(labels))
    table = ", ".join([f"{1 / count:.17g}"] * count)
    return f"""network n {{ }}
variable {name} {{ type discrete [ {count} ] {{ {", ".join(labels)} }}; }}
variable child {{ type discrete [ 2 ] {{ {second} }}; }}
probability ( {name} ) {{ table {table}; }}
probability ( child | {name} ) {{
{rows or body}}}
"""


class TestQuirks:
    def test_rows_in_the_order_of_the_parents(self):
        assert lung(ROWS) == LUNG

    def test_rows_in_any_order(self):
        """States are named per row; readers that assumed an order gave wrong tables (pgmpy #1022, #1053, #1073)."""
        first, *rows, last = ROWS.splitlines()
        assert lung("\n".join([first, *sorted(rows, reverse=True), last])) == LUNG

    def test_first_parent_fastest_as_the_repository_has_it(self):
        first, *rows, last = ROWS.splitlines()
        assert lung("\n".join([first, *(rows[index] for index in (0, 3, 1, 4, 2, 5)), last])) == LUNG

    def test_table_of_a_node_with_parents_has_its_own_states_slowest(self):
        """pgmpy and pyAgrum agree: `table 0.1,0.3,0.9,0.7` of a node with one parent means .1/.9 and .3/.7."""
        text = """network n { }
        variable smoke { type discrete [ 2 ] { yes, no }; }
        variable lung { type discrete [ 2 ] { yes, no }; }
        probability ( smoke ) { table 0.3, 0.7; }
        probability ( lung | smoke ) { table 0.1, 0.3, 0.9, 0.7; }"""
        assert parse(text)[1].table.tolist() == [[0.1, 0.9], [0.3, 0.7]]

    def test_table_with_two_parents_has_the_last_fastest(self):
        table = "0.1, 0.2, 0.3, 0.01, 0.02, 0.03, 0.9, 0.8, 0.7, 0.99, 0.98, 0.97"
        assert lung(f"probability ( lung | smoke, age ) {{ table {table}; }}") == LUNG

    def test_default_row_for_what_is_not_listed(self):
        """Legal; pgmpy 1.1.2 raises (#1633)."""
        text = "probability ( lung | smoke, age ) { default 0.5, 0.5; (yes, old) 0.3, 0.7; }"
        assert lung(text) == [[[0.5, 0.5], [0.5, 0.5], [0.3, 0.7]], [[0.5, 0.5]] * 3]

    def test_default_after_the_rows(self):
        text = "probability ( lung | smoke, age ) { (yes, old) 0.3, 0.7; default 0.5, 0.5; }"
        assert lung(text)[0][2] == [0.3, 0.7]

    def test_default_that_holds_the_whole_table(self):
        """As pgmpy reads it: like ``table``, the node's own states slowest."""
        table = "0.1, 0.2, 0.3, 0.01, 0.02, 0.03, 0.9, 0.8, 0.7, 0.99, 0.98, 0.97"
        assert lung(f"probability ( lung | smoke, age ) {{ default {table}; }}") == LUNG
        assert lung(f"probability ( lung | smoke, age ) {{ default {table}; (yes, old) .5, .5; }}")[0][2] == [0.5, 0.5]

    @pytest.mark.parametrize("separator", [" ", ",", ", ", " ,\n\t", "  "])
    def test_separators(self, separator):
        assert lung(re.sub(r"(\d), (\d)", rf"\1{separator}\2", ROWS)) == LUNG

    @pytest.mark.parametrize("number", ["1e-1", "1E-1", "1.0e-01", "+.1", "0.1", ".1"])
    def test_ways_of_writing_a_number(self, number):
        assert lung(ROWS.replace("0.1, 0.9", f"{number}, 9e-1")) == LUNG

    def test_comments(self):
        text = ROWS.replace("(yes, adult)", "// (yes, adult) 0.5, 0.5;\n /* one\n two } ; */ (yes, adult)")
        assert lung("/* a // b */" + text + "// the end") == LUNG

    def test_properties_are_passed_over(self):
        """pgmpy wrote `property weight = None ;` into every variable (#1552)."""
        text = HEAD.replace("no };", 'no };\n  property weight = None ;\n  property "position = (7, 12)" ;')
        text = text.replace("network unknown {", "network unknown {\n  property version 1.1;\n")
        assert parse(text + ROWS.replace("{\n", '{\n  property source = "a; b";\n'))[2].table.tolist() == LUNG

    def test_rows_over_several_lines(self):
        assert lung(ROWS.replace(", ", ",\n    ").replace(") ", ")\n")) == LUNG

    def test_everything_on_one_line(self):
        assert parse((HEAD + ROWS).replace("\n", " "))[2].table.tolist() == LUNG

    def test_no_blanks_where_none_are_needed(self):
        text = re.sub(r"\s*([{}();,|\[\]])\s*", r"\1", HEAD + ROWS).replace("discrete[", "discrete[")
        assert parse(text)[2].table.tolist() == LUNG

    def test_quoted_names_and_labels(self):
        """pyAgrum 3.3.1: syntax error."""
        text = re.sub(r"\b(smoke|age|lung|yes|no|young|adult|old)\b", r'"\1"', HEAD + ROWS)
        assert parse(text)[2].table.tolist() == LUNG

    def test_old_style_headers_without_a_bar(self):
        assert lung(ROWS.replace("lung | smoke, age", "lung smoke age")) == LUNG
        assert lung(ROWS.replace("lung | smoke, age", '"lung" "smoke" "age"')) == LUNG
        assert lung(ROWS.replace("lung | smoke, age", "lung, smoke, age")) == LUNG

    def test_header_in_another_case_than_the_declaration(self):
        assert lung(ROWS.replace("lung | smoke", "LUNG | Smoke")) == LUNG

    def test_states_without_commas(self):
        assert parse((HEAD + ROWS).replace("{ young, adult, old }", '{ "young""adult" "old" }'))[1].levels == (
            "young",
            "adult",
            "old",
        )
        assert parse((HEAD + ROWS).replace("{ young, adult, old }", "{ young adult old }"))[1].levels == (
            "young",
            "adult",
            "old",
        )

    def test_comma_after_the_last_state(self):
        assert parse((HEAD + ROWS).replace("adult, old }", "adult, old, }"))[1].levels == ("young", "adult", "old")

    def test_probabilities_before_variables(self):
        blocks = re.findall(r"(?:variable|probability).*?\n?\}\n", HEAD + ROWS, re.DOTALL)
        assert [node.name for node in parse("network n { }" + "".join(blocks[::-1]))] == ["lung", "age", "smoke"]

    @pytest.mark.parametrize("name", ["0", "12", "1.5"])
    def test_numeric_names_of_variables(self, name):
        """They break bnlearn for R (pgmpy #1493)."""
        nodes = parse(two("low; high", name=name))
        assert nodes[0].name == name
        assert nodes[1].parents == (name,)

    @pytest.mark.parametrize(
        "name", ["blood pressure", "größe", "色泽", "dog-problem", "a.b", "a, b", "rate (%)", "a|b"]
    )
    def test_names_that_are_no_identifiers(self, name):
        nodes = parse(two("low; high", name=name))
        assert nodes[1].parents == (name,)
        assert nodes[1].table.tolist() == [[0.1, 0.9], [0.2, 0.8]]

    @pytest.mark.parametrize(
        "labels",
        [
            "<=50K; >50K",
            "(1,2]; (2,3]; (3,4]",
            "[1,2); [2, 3)",
            "Asy/Patch; Normal",
            "n/a; yes",
            "10+; 50%",
            "1.5; 2.5",
            "very low; high",
            "größe; größer",
            "色泽; 青绿",
            "; yes",
            "yes; ",
            "it's; isn't",
            "a|b; c",
            "{x}; y",
            "table; default",
            "property; type",
            "f(x); g(x)",
        ],
    )
    def test_labels_that_are_no_identifiers(self, labels):
        nodes = parse(two(labels))
        expected = tuple(label.strip() for label in labels.split(";"))
        assert nodes[0].levels == expected
        assert nodes[1].table.tolist() == [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]][: len(expected)]

    def test_intervals_among_several_parents(self):
        text = """network n { }
        variable dose { type discrete [ 2 ] { (0,1], (1,2] }; }
        variable site { type discrete [ 2 ] { a, b, c }; }
        variable pain { type discrete [ 2 ] { yes, no }; }
        probability ( dose ) { table 0.5 0.5; }
        probability ( site ) { table 0.5 0.5; }
        probability ( pain | dose, site ) {
          ((0,1], a, b) 0.1 0.9; ((0,1], c) 0.2 0.8; ((1,2], a, b) 0.3 0.7; ((1,2], c) 0.4 0.6; }"""
        text = text.replace("{ a, b, c }", '{ "a, b", c }')
        nodes = parse(text)
        assert nodes[1].levels == ("a, b", "c")
        assert nodes[2].table.tolist() == [[[0.1, 0.9], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]]]

    def test_variables_with_one_level(self):
        """bnlearn for R drops them with a warning."""
        nodes = parse(two("always"))
        assert nodes[0].table.tolist() == [1.0]
        assert nodes[1].table.tolist() == [[0.1, 0.9]]

    def test_rows_a_little_off_are_normalised(self):
        """Published files have rows off by up to 3e-7."""
        got = lung(ROWS.replace("0.1, 0.9;", "0.1, 0.8999997;"))
        assert got[0][0] == pytest.approx([0.1 / 0.9999997, 0.8999997 / 0.9999997], abs=1e-15)

    def test_carriage_returns(self):
        assert lung(ROWS.replace("\n", "\r\n")) == LUNG


class TestWhatIsWritten:
    def test_safe_labels_are_left_alone(self):
        text = dump([Node("lung", ("yes", "no", "3", "10mg", "_x"), (), np.full(5, 0.2))])
        assert "{ yes, no, 3, 10mg, _x }" in text
        assert "property" not in text

    def test_hostile_labels_stand_beside_their_identifiers(self):
        text = dump([Node("income", ("<=50K", ">50K"), (), np.array([0.75, 0.25]))])
        assert "{ le_50K, gt_50K }" in text
        assert "property merula_levels = %3C%3D50K,%3E50K;" in text

    def test_names_that_differ_in_case_alone_are_told_apart(self):
        """pgmpy maps names to lower case and would take them for one."""
        nodes = [Node("age", ("a", "b"), (), np.array([0.5, 0.5])), Node("AGE", ("a", "b"), (), np.array([0.1, 0.9]))]
        text = dump(nodes)
        assert "variable age {" in text
        assert "variable AGE_2 {" in text
        assert [node.name for node in parse(text)] == ["age", "AGE"]

    def test_a_wrong_property_is_refused(self):
        text = dump([Node("income", ("<=50K", ">50K"), (), np.array([0.75, 0.25]))]).replace(",%3E50K", "")
        with pytest.raises(
            ValueError, match="'income' has 2 levels, its property merula_levels names 1; correct or delete"
        ):
            parse(text)

    def test_a_property_that_gives_one_name_twice_is_refused(self):
        nodes = [Node("a b", ("x",), (), np.ones(1)), Node("c d", ("x",), (), np.ones(1))]
        with pytest.raises(ValueError, match="merula_name give one name to two variables"):
            parse(dump(nodes).replace("c%20d", "a%20b"))
