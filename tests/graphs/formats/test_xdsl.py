"""GeNIe's XDSL, written by hand: what each text must mean, and what is said about broken ones."""

from itertools import product

import numpy as np
import pytest

from merula.graphs.formats.xdsl import dump, parse
from merula.graphs.network.node import Node, NoisyNode

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="Network1" numsamples="10000" discsamples="10000">
  <nodes>
    <cpt id="smoke"><state id="yes" /><state id="no" /><probabilities>0.3 0.7</probabilities></cpt>
    <cpt id="age" diagtype="observation"><state id="young" /><state id="adult" fault="true" /><state id="old" />
      <probabilities>0.2 0.5 0.3</probabilities><property id="literature">none; 1 2 3</property></cpt>
"""
TAIL = """  </nodes>
  <extensions>
    <genie version="1.0" app="GeNIe 4.0.0" name="Network1" faultnameformat="nodestate">
      <node id="smoke"><name>Does the patient smoke?</name><interior color="e5f6f7" /></node>
    </genie>
  </extensions>
</smile>
"""
CPT = """<cpt id="lung"><state id="yes" /><state id="no" /><parents>smoke age</parents>
  <probabilities>0.1 0.9 0.2 0.8 0.3 0.7 0.01 0.99 0.02 0.98 0.03 0.97</probabilities></cpt>"""
LUNG = [[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], [[0.01, 0.99], [0.02, 0.98], [0.03, 0.97]]]


def lung(text, tail=TAIL):
    node = parse(HEAD + text + tail)[2]
    assert (node.name, node.parents) == ("lung", ("smoke", "age"))
    return node.table


class TestTables:
    def test_the_first_parent_is_the_most_significant(self):
        assert lung(CPT).tolist() == LUNG

    def test_files_of_agrum_have_the_first_parent_fastest(self):
        """pyAgrum 3.3.1 `saveBN(bn, "x.xdsl")`; its file says app="aGrUM 3.3.1"."""
        text = CPT.replace(
            "0.1 0.9 0.2 0.8 0.3 0.7 0.01 0.99 0.02 0.98 0.03 0.97",
            "0.1 0.9 0.01 0.99 0.2 0.8 0.02 0.98 0.3 0.7 0.03 0.97",
        )
        assert lung(text, TAIL.replace("GeNIe 4.0.0", "aGrUM 3.3.1")).tolist() == LUNG

    def test_deterministic_nodes(self):
        text = """<deterministic id="lung"><state id="yes" /><state id="no" /><parents>smoke age</parents>
          <resultingstates>yes no no no no yes</resultingstates></deterministic>"""
        assert lung(text)[..., 0].tolist() == [[1, 0, 0], [0, 0, 1]]

    def test_no_extensions(self):
        assert lung(CPT, "</nodes></smile>").tolist() == LUNG


def smile_noisy_max(effects, leak):
    """P(child given parents) by the definition: the child is in the first (strongest) state that any cause reaches."""
    table = np.zeros([len(effect) for effect in effects] + [len(leak)])
    for index in product(*(range(len(effect)) for effect in effects)):
        causes = [effect[state] for effect, state in zip(effects, index, strict=True)] + [leak]
        for reached in product(range(len(leak)), repeat=len(causes)):
            table[(*index, min(reached))] += np.prod(
                [cause[state] for cause, state in zip(causes, reached, strict=True)]
            )
    return table


AGE = [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.0, 0.0, 1.0]]
SMOKE = [[0.4, 0.1, 0.5], [0.0, 0.0, 1.0]]
LEAK = [0.05, 0.05, 0.9]


class TestNoisyMax:
    def text(self, strengths, age=AGE):
        numbers = " ".join(str(number) for row in [*SMOKE, *age, LEAK] for number in row)
        return f"""<noisymax id="lung"><state id="bad" /><state id="fair" /><state id="good" /><parents>smoke age</parents>
          {strengths}<parameters>{numbers}</parameters></noisymax>"""

    def table(self, text):
        """P(lung given smoke, age) with the states in the order of the file."""
        node = parse(HEAD + text + TAIL)[2]
        assert (node.name, node.parents, node.levels) == ("lung", ("smoke", "age"), ("good", "fair", "bad"))
        return node.table[..., ::-1]

    def test_against_enumeration_of_the_causes(self):
        expected = smile_noisy_max([SMOKE, AGE], LEAK)
        np.testing.assert_allclose(self.table(self.text("<strengths>0 1 0 1 2</strengths>")), expected, atol=1e-15)
        np.testing.assert_allclose(self.table(self.text("")), expected, atol=1e-15)

    def test_strengths_say_which_state_each_column_is_about(self):
        """SMILE: GetOutcomeOfStrength(parent, k) is strengths[k]. Here column 0 is about `old`, 1 about `young`, 2 about `adult`."""
        by_state = [AGE[1], AGE[2], AGE[0]]  # young, adult, old
        expected = smile_noisy_max([SMOKE, by_state], LEAK)
        np.testing.assert_allclose(self.table(self.text("<strengths>0 1 2 0 1</strengths>")), expected, atol=1e-15)

    def test_absent_causes_leave_the_leak(self):
        np.testing.assert_allclose(self.table(self.text(""))[1, 2], LEAK, atol=1e-15)

    @pytest.mark.parametrize("strengths", ["0 1 0 1", "0 1 0 1 2 3", "0 1 0 0 2", "0 1 a b c", "0 1 0 1 -2"])
    def test_strengths_that_are_no_permutation(self, strengths):
        with pytest.raises(
            ValueError,
            match=f"in node 'lung': the strengths are {strengths}, expected for each parent its states' numbers, each once",
        ):
            self.table(self.text(f"<strengths>{strengths}</strengths>"))

    def test_too_few_parameters(self):
        with pytest.raises(
            ValueError,
            match=r"in node 'lung': 15 noisy-MAX parameters, expected 3 states × \(2 \+ 3 parents' states \+ 1 leak\) = 18",
        ):
            self.table(self.text("", AGE[:2]))

    def test_a_row_that_does_not_sum_to_one(self):
        with pytest.raises(ValueError, match=r"in node 'lung': P\(child given column = 2\) sums to 0.9, expected 1"):
            self.table(self.text("", [[0.6, 0.2, 0.1], *AGE[1:]]))


class TestWritingNoisyMax:
    def node(self, smoke=SMOKE, levels=("good", "fair", "bad")):
        effects = tuple(np.array(effect)[:, ::-1] for effect in (smoke, AGE))
        return NoisyNode("lung", levels, ("smoke", "age"), effects, np.array(LEAK[::-1]))

    def network(self, node):
        return [
            Node("smoke", ("yes", "no"), (), np.array([0.3, 0.7])),
            Node("age", ("old", "adult", "young"), (), np.array([0.3, 0.5, 0.2])),
            node,
        ]

    @pytest.mark.parametrize("levels", [("good", "fair", "bad"), ("<1", "1-2", ">2")])
    def test_few_numbers_stay_few(self, levels):
        node = self.node(levels=levels)
        text = dump(self.network(node))
        assert "<strengths>0 1 0 1 2</strengths>" in text
        got = parse(text)[2]
        assert isinstance(got, NoisyNode)
        assert (got.levels, got.parents) == (levels, node.parents)
        assert got.leak.tolist() == node.leak.tolist()
        for one, other in zip(got.strengths, node.strengths, strict=True):
            assert one.tolist() == other.tolist()

    def test_the_state_that_does_nothing_comes_last(self):
        node = self.node(smoke=SMOKE[::-1])
        text = dump(self.network(node))
        assert "<strengths>1 0 0 1 2</strengths>" in text
        np.testing.assert_allclose(parse(text)[2].table, node.table, atol=1e-15)

    def test_without_such_a_state_the_table_is_written(self):
        node = self.node(smoke=[[0.4, 0.1, 0.5], [0.1, 0.1, 0.8]])
        text = dump(self.network(node))
        assert "<noisymax" not in text
        assert parse(text)[2].table.tolist() == node.table.tolist()

    def test_forty_causes(self):
        causes = [Node(f"cause{index}", ("yes", "no"), (), np.array([0.3, 0.7])) for index in range(40)]
        effect = np.array([[0.9, 0.1], [1.0, 0.0]])
        node = NoisyNode(
            "effect", ("no", "yes"), tuple(cause.name for cause in causes), (effect,) * 40, np.array([1.0, 0.0])
        )
        got = parse(dump([*causes, node]))[-1]
        assert len(got.strengths) == 40
        assert got.strengths[7].tolist() == effect.tolist()


BROKEN = {
    "decision": (
        '<decision id="treat"><state id="a" /></decision>',
        r"node 'treat' is <decision>; merula reads networks of discrete chance nodes \(cpt, noisymax, deterministic\) alone",
    ),
    "utility": (
        '<utility id="cost"><parents>smoke</parents><utilities>1 2</utilities></utility>',
        "node 'cost' is <utility>",
    ),
    "equation": ('<equation id="dose" />', "node 'dose' is <equation>"),
    "mau": ('<mau id="sum" />', "node 'sum' is <mau>"),
    "unknown parent": (
        CPT.replace("smoke age", "smoke aged"),
        "variable 'lung' has the unknown parent 'aged'; did you mean 'age'?",
    ),
    "too few": (CPT.replace("0.1 0.9 ", ""), "variable 'lung' has 10 probabilities, expected 2 × 3 × 2 = 12"),
    "no number": (CPT.replace("0.1 0.9 ", "0.1 x "), "in node 'lung': expected numbers, got 'x'"),
    "row off": (CPT.replace("0.1 0.9 ", "0.1 0.8 "), r"P\(lung given smoke = yes, age = young\) sums to 0.9"),
    "twice": (CPT + CPT, "variable 'lung' is declared twice"),
    "no state": ('<cpt id="x"><probabilities>1</probabilities></cpt>', "variable 'x' has no level"),
    "unknown state": (
        '<deterministic id="x"><state id="yes" /><state id="no" /><resultingstates>yse</resultingstates></deterministic>',
        "in node 'x': the state 'yse' is not one of yes, no; did you mean 'yes'?",
    ),
    "cycle": (
        '<cpt id="hen"><state id="a" /><parents>egg</parents><probabilities>1</probabilities></cpt><cpt id="egg"><state id="a" /><parents>hen</parents><probabilities>1</probabilities></cpt>',
        "the arcs form a cycle: egg → hen → egg",
    ),
}


@pytest.mark.parametrize("text, message", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_said_about_broken_files(text, message):
    with pytest.raises(ValueError, match=message):
        parse(HEAD + text + TAIL)


def test_other_xml_and_dynamic_networks():
    with pytest.raises(ValueError, match="expected XDSL with <smile> and <nodes>, got XML that begins with <BIF>"):
        parse("<BIF/>")
    with pytest.raises(ValueError, match="the network is dynamic"):
        parse(HEAD + TAIL.replace("</smile>", '<dynamic numslices="3" /></smile>'))


def test_identifiers_are_what_genie_allows(table):
    text = dump([Node("blood pressure", ("10+", "größer"), (), table(2))], name="2nd try")
    assert 'id="x_2nd_try"' in text
    assert '<cpt id="blood_pressure">' in text
    assert '<state id="state_10_plus" />\n      <state id="grosser" />' in text
    assert '<property id="merula_name">blood%20pressure</property>' in text
    assert "<name>blood pressure</name>" in text


def test_parents_stand_before_children(sprinkler):
    text = dump(sprinkler[::-1])
    indices = [text.index(f'<cpt id="{node.name}">') for node in sprinkler]
    assert max(indices[:2]) < indices[2] < indices[3]
