"""Between merula, pgmpy 1.1.2 and pyAgrum 3.3.1: what one writes the others read, every cell; and where a peer is wrong.

pyAgrum keeps numbers of BIF, NET and UAI files in single precision and writes XMLBIF, XDSL and UAI with six digits, hence
the tolerances. A defect of a peer is asserted, so that the day it is mended shows here.
"""

import logging

import numpy as np
import pytest

from merula.graphs.formats import read_nodes, write_nodes
from merula.graphs.network.node import Node

pytestmark = pytest.mark.filterwarnings("ignore")
SINGLE, SIX_DIGITS = 1e-7, 1e-6
LABELS = [
    ("<=50K", ">50K"),
    ("(1,2]", "(2,3]", "(3,4]"),
    ("Asy/Patch", "n/a", "10+", "50%"),
    ("größe", "色泽"),
    ("", "x", " y "),
]
LABELS += [
    ('say "hi"', "it's"),
    ("a;b", "{x}", "|"),
    ("property", "table", "default"),
    ("1.5", "2", "1e5"),
    ("a//b", "/* c */", "a & b"),
]


@pytest.fixture(scope="module")
def pgmpy():
    """pgmpy's readers and writers, without its log."""
    from pgmpy import readwrite

    logging.getLogger("pgmpy").setLevel(logging.CRITICAL)
    return readwrite


@pytest.fixture(scope="module")
def agrum():
    import pyagrum

    return pyagrum


def model_of(nodes):
    """pgmpy's model of a list of nodes."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model, levels = DiscreteBayesianNetwork(), {node.name: list(node.levels) for node in nodes}
    model.add_nodes_from(levels)
    model.add_edges_from((parent, node.name) for node in nodes for parent in node.parents)
    for node in nodes:
        sizes, values = [len(levels[parent]) for parent in node.parents], node.table.reshape(-1, len(node.levels)).T
        names = {name: levels[name] for name in (node.name, *node.parents)}
        model.add_cpds(TabularCPD(node.name, len(node.levels), values, list(node.parents), sizes, state_names=names))
    return model


def nodes_of_model(model):
    """pgmpy's model as nodes."""
    nodes = []
    for cpd in model.get_cpds():
        child, *parents = cpd.variables
        nodes.append(Node(child, tuple(cpd.state_names[child]), tuple(parents), np.moveaxis(cpd.values, 0, -1)))
    return nodes


def network_of(nodes, agrum):
    """pyAgrum's network of a list of nodes."""
    network = agrum.BayesNet()
    for node in nodes:
        network.add(agrum.LabelizedVariable(node.name, node.name, list(node.levels)))
    for node in nodes:
        for parent in node.parents:
            network.addArc(parent, node.name)
    for node in nodes:
        for index in np.ndindex(*node.table.shape[:-1]):
            given = dict(zip(node.parents, index, strict=True))
            network.cpt(node.name)[given] = node.table[index].tolist()
    return network


def nodes_of_network(network):
    """pyAgrum's network as nodes; an array of its axes runs backwards through the names."""
    nodes = []
    for index in sorted(network.nodes()):
        cpt, variable = network.cpt(index), network.variable(index)
        _, *parents = cpt.names
        table = cpt.toarray()
        nodes.append(
            Node(
                variable.name(),
                tuple(variable.labels()),
                tuple(parents),
                table.transpose([*range(len(parents))[::-1], len(parents)]),
            )
        )
    return nodes


def test_the_translations_of_this_file_are_right(sprinkler, agrum, assert_same):
    assert_same(nodes_of_model(model_of(sprinkler)), sprinkler, order=False)
    assert_same(nodes_of_network(network_of(sprinkler, agrum)), sprinkler, order=False)


def assert_same_arcs(got, expected, assert_same, tolerance=0.0):
    """The same, but for the order of parents: the tables are turned to the expected order."""
    of = {node.name: node for node in expected}
    turned = []
    for node in got:
        axes = [node.parents.index(parent) for parent in of[node.name].parents] + [len(node.parents)]
        turned.append(Node(node.name, node.levels, of[node.name].parents, node.table.transpose(axes)))
    assert_same(turned, expected, tolerance=tolerance, order=False)


class TestWhatWeWriteIsReadBy:
    @pytest.mark.parametrize(
        "reader, suffix",
        [("BIFReader", "bif"), ("XMLBIFReader", "xmlbif"), ("NETReader", "net"), ("XDSLReader", "xdsl")],
    )
    def test_pgmpy(self, reader, suffix, pgmpy, sprinkler, tmp_path, assert_same):
        path = tmp_path / f"lawn.{suffix}"
        write_nodes(sprinkler, path)
        assert_same(nodes_of_model(getattr(pgmpy, reader)(path=str(path)).get_model()), sprinkler, order=False)

    @pytest.mark.parametrize("suffix, tolerance", [("bif", SINGLE), ("bifxml", 1e-15), ("net", SINGLE)])
    def test_pyagrum(self, suffix, tolerance, agrum, sprinkler, tmp_path, assert_same):
        path = tmp_path / f"lawn.{suffix}"
        write_nodes(sprinkler, path)
        assert_same_arcs(nodes_of_network(agrum.loadBN(str(path))), sprinkler, assert_same, tolerance)

    @pytest.mark.parametrize("suffix, reader", [("bif", "BIFReader"), ("bifxml", "XMLBIFReader"), ("net", "NETReader")])
    @pytest.mark.parametrize("labels", LABELS, ids=str)
    def test_both_with_hostile_labels(self, labels, suffix, reader, agrum, pgmpy, table, tmp_path):
        """Under safe identifiers where need be, but with every number in its cell."""
        size = len(labels)
        nodes = [Node("blood pressure", labels, (), table(size)), Node("site", ("arm", "leg", "head"), (), table(3))]
        nodes.append(Node("größe", labels[::-1], ("blood pressure", "site"), table(size, 3, size)))
        path = tmp_path / f"hostile.{suffix}"
        write_nodes(nodes, path)
        for got in (
            nodes_of_network(agrum.loadBN(str(path))),
            nodes_of_model(getattr(pgmpy, reader)(path=str(path)).get_model()),
        ):
            got = {len(node.parents) + node.table.size / 100: node for node in got}
            child = got[max(got)]
            assert "site" in child.parents
            np.testing.assert_allclose(
                child.table if child.parents[1] == "site" else child.table.swapaxes(0, 1), nodes[2].table, atol=SINGLE
            )

    def test_pyagrum_reads_xdsl_of_one_parent(self, agrum, table, tmp_path, assert_same):
        nodes = [
            Node("rain", ("no", "yes"), (), table(2)),
            Node("grass", ("dry", "damp", "wet"), ("rain",), table(2, 3)),
        ]
        write_nodes(nodes, tmp_path / "rain.xdsl")
        assert_same(nodes_of_network(agrum.loadBN(str(tmp_path / "rain.xdsl"))), nodes, SINGLE, order=False)

    def test_pyagrum_reads_uai_of_one_parent(self, agrum, table, tmp_path):
        nodes = [
            Node("rain", ("no", "yes"), (), table(2)),
            Node("grass", ("dry", "damp", "wet"), ("rain",), table(2, 3)),
        ]
        write_nodes(nodes, tmp_path / "rain.uai")
        got = nodes_of_network(agrum.loadBN(str(tmp_path / "rain.uai")))
        np.testing.assert_allclose(got[1].table, nodes[1].table, atol=SINGLE)


class TestWhatTheyWriteWeRead:
    @pytest.mark.parametrize(
        "writer, suffix, tolerance",
        [
            ("BIFWriter", "bif", 0),
            ("XMLBIFWriter", "xmlbif", 0),
            ("NETWriter", "net", 1e-8),
            ("XDSLWriter", "xdsl", 1e-15),
        ],
    )
    def test_pgmpy(self, writer, suffix, tolerance, pgmpy, sprinkler, tmp_path, assert_same):
        path = tmp_path / f"lawn.{suffix}"
        getattr(pgmpy, writer)(model_of(sprinkler)).write(str(path))
        assert_same(read_nodes(path), sprinkler, tolerance, order=False)

    @pytest.mark.parametrize(
        "suffix, tolerance", [("bif", 1e-15), ("bifxml", SIX_DIGITS), ("net", 1e-15), ("xdsl", SIX_DIGITS)]
    )
    def test_pyagrum(self, suffix, tolerance, agrum, sprinkler, tmp_path, assert_same):
        path = tmp_path / f"lawn.{suffix}"
        agrum.saveBN(network_of(sprinkler, agrum), str(path))
        assert_same_arcs(read_nodes(path), sprinkler, assert_same, tolerance)

    def test_pyagrum_uai(self, agrum, sprinkler, tmp_path):
        """Names come from its comments, levels are numbers."""
        agrum.saveBN(network_of(sprinkler, agrum), str(tmp_path / "lawn.uai"))
        got = {node.name: node for node in read_nodes(tmp_path / "lawn.uai")}
        for node in sprinkler:
            axes = [got[node.name].parents.index(parent) for parent in node.parents] + [len(node.parents)]
            np.testing.assert_allclose(got[node.name].table.transpose(axes), node.table, atol=SIX_DIGITS)

    def test_pgmpy_uai(self, pgmpy, sprinkler, tmp_path):
        """It numbers variables by (number of levels as a word, name) and reverses the parents."""
        pgmpy.UAIWriter(model_of(sprinkler)).write(str(tmp_path / "lawn.uai"))
        names = [node.name for node in sorted(sprinkler, key=lambda node: (str(len(node.levels)), node.name))]
        got = {names[int(node.name[1:])]: node for node in read_nodes(tmp_path / "lawn.uai")}
        for node in sprinkler:
            parents = [names[int(parent[1:])] for parent in got[node.name].parents]
            assert parents == list(node.parents)[::-1]
            axes = [parents.index(parent) for parent in node.parents] + [len(parents)]
            np.testing.assert_allclose(got[node.name].table.transpose(axes), node.table, atol=1e-15)

    @pytest.mark.parametrize(
        "labels",
        [("<=50K", ">50K"), ("Asy/Patch", "n/a", "10+"), ("very low", "high"), ("größe", "色泽"), ("1.5", "2.5")],
        ids=str,
    )
    def test_pgmpy_bif_with_labels_as_they_are(self, labels, pgmpy, table, tmp_path, assert_same):
        nodes = [
            Node("status", labels, (), table(len(labels))),
            Node("grass", ("dry", "wet"), ("status",), table(len(labels), 2)),
        ]
        pgmpy.BIFWriter(model_of(nodes)).write(str(tmp_path / "status.bif"))
        assert_same(read_nodes(tmp_path / "status.bif"), nodes, order=False)

    def test_pgmpy_bif_with_intervals(self, pgmpy, table, tmp_path, assert_same):
        """pgmpy cannot read this file of its own (#2231)."""
        nodes = [Node("dose", ("(0,1]", "(1,2]"), (), table(2)), Node("pain", ("no", "yes"), ("dose",), table(2, 2))]
        pgmpy.BIFWriter(model_of(nodes)).write(str(tmp_path / "dose.bif"))
        assert_same(read_nodes(tmp_path / "dose.bif"), nodes, order=False)
        with pytest.raises(ValueError):
            pgmpy.BIFReader(path=str(tmp_path / "dose.bif")).get_model()


class TestDefectsOfPeers:
    """What keeps a peer's file or reader out of the tests above; when one of these fails, the peer was mended."""

    def test_pyagrum_reads_xdsl_with_the_first_parent_fastest(self, agrum, sprinkler, tmp_path):
        """SMILE ("using arrays"): the first parent is the most significant. pyAgrum's own round trip is consistent."""
        write_nodes(sprinkler, tmp_path / "lawn.xdsl")
        got = {node.name: node for node in nodes_of_network(agrum.loadBN(str(tmp_path / "lawn.xdsl")))}["sprinkler"]
        expected = sprinkler[2].table.ravel().reshape(2, 3, 4).transpose(1, 0, 2)  # our numbers in its order
        np.testing.assert_allclose(got.table, expected, atol=SINGLE)
        assert np.abs(got.table - sprinkler[2].table).max() > 0.1

    def test_pyagrum_reads_uai_with_the_first_parent_fastest(self, agrum, sprinkler, tmp_path):
        """UAI: the last variable of the scope is fastest, then the one before it."""
        write_nodes(sprinkler, tmp_path / "lawn.uai")
        got = nodes_of_network(agrum.loadBN(str(tmp_path / "lawn.uai")))[2]
        expected = sprinkler[2].table.ravel().reshape(2, 3, 4).transpose(1, 0, 2)
        np.testing.assert_allclose(got.table, expected, atol=SINGLE)

    def test_pgmpy_reads_uai_with_the_child_slowest(self, pgmpy, tmp_path):
        """The table of the competition's format, P(x1 given x0) with x1 fastest, is read as if x1 were slowest."""
        (tmp_path / "two.uai").write_text("BAYES\n2\n2 2\n2\n1 0\n2 0 1\n\n2\n0.3 0.7\n\n4\n0.1 0.9 0.2 0.8\n")
        with pytest.raises(ValueError, match="not equal to 1"):
            pgmpy.UAIReader(path=str(tmp_path / "two.uai")).get_model().check_model()
        assert read_nodes(tmp_path / "two.uai")[1].table.tolist() == [[0.1, 0.9], [0.2, 0.8]]

    def test_pgmpy_reads_no_default_row(self, pgmpy, tmp_path):
        text = "network n {\n}\nvariable a {\n type discrete [ 2 ] { x, y };\n}\nvariable b {\n type discrete [ 2 ] { x, y };\n}\n"
        text += (
            "probability ( a ) {\n table 0.5, 0.5;\n}\nprobability ( b | a ) {\n default 0.1, 0.9;\n (y) 0.2, 0.8;\n}\n"
        )
        (tmp_path / "default.bif").write_text(text)
        with pytest.raises(ValueError):
            pgmpy.BIFReader(path=str(tmp_path / "default.bif")).get_model()
        assert read_nodes(tmp_path / "default.bif")[1].table.tolist() == [[0.1, 0.9], [0.2, 0.8]]

    def test_pgmpy_xmlbif_writes_two_labels_as_one(self, pgmpy, table, tmp_path):
        pgmpy.XMLBIFWriter(model_of([Node("income", ("<50K", ">50K"), (), table(2))])).write(
            str(tmp_path / "income.xmlbif")
        )
        with pytest.raises(ValueError, match="variable 'income' has the level '_50K' twice"):
            read_nodes(tmp_path / "income.xmlbif")

    def test_pyagrum_bif_keeps_single_precision(self, agrum, tmp_path):
        write_nodes([Node("rain", ("yes", "no"), (), np.array([0.1, 0.9]))], tmp_path / "rain.bif")
        network = agrum.loadBN(str(tmp_path / "rain.bif"))  # must outlive the table it lends
        assert network.cpt("rain")[0] == float(np.float32(0.1))

    def test_pyagrum_rejects_common_labels(self, agrum, tmp_path):
        text = "network n {\n}\nvariable a {\n type discrete [ 2 ] { Asy/Patch, y };\n}\nprobability ( a ) {\n table 0.5, 0.5;\n}\n"
        (tmp_path / "child.bif").write_text(text)
        with pytest.raises(Exception, match="Syntax error"):
            agrum.loadBN(str(tmp_path / "child.bif"))
        assert read_nodes(tmp_path / "child.bif")[0].levels == ("Asy/Patch", "y")

    def test_pgmpy_net_cannot_read_what_pyagrum_writes(self, agrum, pgmpy, sprinkler, tmp_path):
        agrum.saveBN(network_of(sprinkler, agrum), str(tmp_path / "lawn.net"))
        with pytest.raises(Exception, match="reshape"):
            pgmpy.NETReader(path=str(tmp_path / "lawn.net")).get_model()
