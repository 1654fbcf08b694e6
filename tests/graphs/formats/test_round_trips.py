"""What a format writes it reads back: names, levels, parents and every cell, whatever the names are."""

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from merula.graphs.formats import bif, merula_json, net, read_nodes, uai, write_nodes, xdsl, xmlbif
from merula.graphs.formats.network_files import FORMATS
from merula.graphs.network.node import GaussianNode, Node, NoisyNode

MODULES = {module.__name__.rpartition(".")[2]: module for module in (bif, merula_json, net, uai, xdsl, xmlbif)}
SUFFIXES = [".bif", ".xmlbif", ".bifxml", ".xml", ".net", ".xdsl", ".uai", ".json"]


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES.keys())
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_hostile_names_survive(module, data, networks, assert_same):
    nodes = data.draw(networks())
    assert_same(module.parse(module.dump(nodes)), nodes)


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES.keys())
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_any_text_survives(module, data, networks, assert_same):
    words = st.text(st.characters(codec="utf-8"), max_size=6)
    nodes = data.draw(networks(words, most=3))
    assert_same(module.parse(module.dump(nodes, name=data.draw(words))), nodes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged")


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES.keys())
@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_damaged_files_are_read_or_refused(module, data, sprinkler, folder):
    """Whatever is cut out, repeated or put in: a network, or a ValueError of one line; never anything else."""
    (suffix,) = [
        suffix for suffix, known in FORMATS.items() if known.parse is module.parse and suffix not in (".xml", ".bifxml")
    ]
    text = module.dump(sprinkler)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 40, len(text))))
        new = ["", text[start:end] * 2, *'"{}(;|,<>é', "-1", "nan", "9" * 5000]
        text = text[:start] + data.draw(st.sampled_from(new)) + text[end:]
    path = folder / f"damaged{suffix}"
    path.write_text(text)
    try:
        nodes = read_nodes(path)
    except ValueError as error:
        assert len(str(error)) < 800
        assert "\n" not in str(error)
    else:
        assert all(np.allclose(node.table.sum(axis=-1), 1) for node in nodes)


@pytest.mark.parametrize("suffix", [one + packed for one in SUFFIXES for packed in ("", ".gz")])
def test_files_hold_the_network(suffix, sprinkler, tmp_path, assert_same):
    path = tmp_path / f"lawn.v2{suffix}"
    write_nodes(sprinkler, path)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == suffix.endswith(".gz")
    assert_same(read_nodes(path), sprinkler)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES.keys())
def test_tiny_and_certain_probabilities_keep_every_bit(module, assert_same):
    nodes = [
        Node("rare", ("yes", "no"), (), np.array([5e-324, 1.0])),
        Node("certain", ("yes", "no"), ("rare",), np.array([[1.0, 0.0], [1e-17, 1 - 1e-17]])),
        Node("thirds", ("one", "two", "three"), ("certain",), np.array([[1 / 3, 1 / 3, 1 / 3], [0.1, 0.2, 0.7]])),
    ]
    assert_same(module.parse(module.dump(nodes)), nodes)


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES.keys())
def test_many_parents_keep_their_order(module, table, assert_same):
    sizes = [2, 3, 1, 4, 2, 5]
    roots = [Node(f"parent{index}", tuple("abcde"[:size]), (), table(size)) for index, size in enumerate(sizes)]
    order = [3, 0, 5, 2, 4, 1]
    child = Node(
        "child", ("low", "high"), tuple(f"parent{index}" for index in order), table(*(sizes[p] for p in order), 2)
    )
    assert_same(module.parse(module.dump([*roots, child])), [*roots, child])


def test_a_child_may_stand_before_its_parents(sprinkler, assert_same):
    for module in MODULES.values():
        assert_same(module.parse(module.dump(sprinkler[::-1])), sprinkler[::-1], order=module is not xdsl)


@pytest.mark.parametrize("module", [module for name, module in MODULES.items() if name != "merula_json"])
def test_labels_of_other_kinds_become_words(module, table):
    nodes = [Node("rooms", (1, 2, 3), (), table(3)), Node("big", (True, False), ("rooms",), table(3, 2))]
    got = module.parse(module.dump(nodes))
    assert got[0].levels == ("1", "2", "3")
    assert got[1].levels == ("True", "False")
    assert np.array_equal(got[1].table, nodes[1].table)


@pytest.mark.parametrize("module", [module for name, module in MODULES.items() if name != "merula_json"])
def test_labels_that_read_the_same_are_refused(module, table):
    with pytest.raises(
        ValueError,
        match=r"variable 'rooms' has levels of different kinds that read the same \(1, '1'\); write merula's own .json",
    ):
        module.dump([Node("rooms", (1, "1"), (), table(2))])


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES.keys())
class TestWritingWhatIsNoNetwork:
    def test_unknown_parent(self, module, table):
        with pytest.raises(ValueError, match="variable 'grass' has the unknown parent 'rain'"):
            module.dump([Node("grass", ("wet", "dry"), ("rain",), table(2, 2))])

    def test_wrong_shape(self, module, table):
        with pytest.raises(ValueError, match=r"'grass'.* the shape \(3,\), expected \(2,\)"):
            module.dump([Node("grass", ("wet", "dry"), (), table(3))])

    def test_one_name_twice(self, module, table):
        with pytest.raises(ValueError, match="variable 'grass' is declared twice"):
            module.dump([Node("grass", ("wet", "dry"), (), table(2))] * 2)

    def test_rows_that_do_not_sum_to_one(self, module):
        with pytest.raises(ValueError, match=r"P\(grass\) sums to 0.9, expected 1"):
            module.dump([Node("grass", ("wet", "dry"), (), np.array([0.5, 0.4]))])

    def test_nothing(self, module):
        with pytest.raises(ValueError, match="no variable was found"):
            module.dump([])

    def test_a_cycle(self, module, table):
        hen = Node("hen", ("yes", "no"), ("egg",), table(2, 2))
        egg = Node("egg", ("yes", "no"), ("hen",), table(2, 2))
        with pytest.raises(ValueError, match="the arcs form a cycle: egg → hen → egg; take one of them out"):
            module.dump([hen, egg])


@pytest.mark.parametrize("module", [module for name, module in MODULES.items() if name != "merula_json"])
class TestOtherKindsOfNodes:
    def test_numbers_are_refused(self, module):
        node = GaussianNode("height", (), (), np.array(170.0), np.zeros(0), np.array(49.0))
        with pytest.raises(
            ValueError,
            match="variable 'height' is a number, and this format holds discrete variables alone; write merula's own .json",
        ):
            module.dump([node])

    def test_noisy_nodes_keep_their_table(self, module, table):
        node = NoisyNode("pain", ("none", "mild", "bad"), ("age",), (table(2, 3),), np.array([0.9, 0.1, 0.0]))
        got = module.parse(module.dump([Node("age", ("young", "old"), (), table(2)), node]))[1]
        np.testing.assert_allclose(got.table, node.table, rtol=0, atol=0)

    def test_noisy_nodes_with_too_many_parents(self, module):
        if module is xdsl:
            return  # which keeps the few numbers
        causes = [Node(f"cause{index}", ("no", "yes"), (), np.array([0.3, 0.7])) for index in range(40)]
        node = NoisyNode(
            "effect", ("no", "yes"), tuple(cause.name for cause in causes), (np.eye(2),) * 40, np.eye(2)[0]
        )
        with pytest.raises(
            ValueError, match="the table of 'effect' given 40 parents would have 2,199,023,255,552 cells"
        ):
            module.dump([*causes, node])


def test_json_is_json_that_others_can_read(sprinkler):
    content = json.loads(merula_json.dump(sprinkler, name="lawn"))
    assert content["format"], content["version"] == ("merula network", 1)
    assert content["name"] == "lawn"
    assert content["nodes"][2]["parents"] == ["season", "garden"]
    assert content["nodes"][2]["probabilities"] == sprinkler[2].table.tolist()
