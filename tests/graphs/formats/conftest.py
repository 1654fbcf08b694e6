"""Random networks with hostile names, and how two lists of nodes are compared: every cell."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from merula.graphs.network.node import Node

HOSTILE = [
    *(
        "<=50K",
        ">50K",
        "(1,2]",
        "[2, 3)",
        "Asy/Patch",
        "n/a",
        "10+",
        "50%",
        "1.5",
        "very low",
        "größe",
        "色泽",
        "",
        "yes",
    ),
    *(
        'say "hi"',
        "it's",
        "a,b",
        "a;b",
        "{x}",
        "|",
        "a|b",
        "property",
        "table",
        "default",
        "%",
        "%41",
        "a//b",
        "/* c */",
    ),
    *(
        "# no",
        "&amp;",
        "<b>",
        "\\",
        '"',
        "state",
        "state_2",
        "x",
        "(",
        ")",
        "}",
        "};",
        " padded ",
        "tab\there",
        "\u2028",
    ),
]
DATA = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[3].parent / "shared" / "data")) / "networks"


@st.composite
def random_networks(draw, words=None, most=5):
    """A few variables, each with up to three earlier ones as parents, unequal numbers of levels, random tables."""
    words = st.sampled_from(HOSTILE) if words is None else words
    names = draw(st.lists(words.filter(bool), min_size=1, max_size=most, unique=True))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    nodes = []
    for name in names:
        levels = draw(st.lists(words, min_size=1, max_size=4, unique=True))
        parents = draw(st.lists(st.sampled_from(nodes), max_size=3, unique_by=id)) if nodes else []
        shape = [len(parent.levels) for parent in parents] + [len(levels)]
        weights = numbers.random(shape) * numbers.integers(0, 2, shape) + 1e-9
        table = weights / weights.sum(axis=-1, keepdims=True)
        nodes.append(Node(name, tuple(levels), tuple(parent.name for parent in parents), table))
    return nodes


def table_of(*shape, seed=0):
    """A random table: no two cells alike."""
    weights = np.random.default_rng(seed).random(shape) + 0.05
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.fixture(scope="session")
def networks():
    """The strategy that draws random networks."""
    return random_networks


@pytest.fixture(scope="session")
def table():
    return table_of


@pytest.fixture(scope="session")
def sprinkler():
    """Three variables with 3, 2 and 4 levels, a child of both, and its child; names that every program reads."""
    return [
        Node("season", ("dry", "wet", "cold"), (), table_of(3, seed=1)),
        Node("garden", ("big", "small"), (), table_of(2, seed=2)),
        Node("sprinkler", ("off", "low", "mid", "high"), ("season", "garden"), table_of(3, 2, 4, seed=3)),
        Node("grass", ("green", "brown"), ("sprinkler", "season", "garden"), table_of(4, 3, 2, 2, seed=4)),
    ]


@pytest.fixture(scope="session")
def assert_same():
    """Fails unless two lists of nodes agree: names, levels, parents, and every cell (bit for bit by default)."""

    def check(got, expected, tolerance=0.0, order=True):
        if not order:
            got, expected = (sorted(nodes, key=lambda node: node.name) for nodes in (got, expected))
        assert [node.name for node in got] == [node.name for node in expected]
        for one, other in zip(got, expected, strict=True):
            assert one.levels == other.levels
            assert one.parents == other.parents
            assert one.table.shape == other.table.shape
            np.testing.assert_allclose(one.table, other.table, rtol=0, atol=tolerance)

    return check


@pytest.fixture(scope="session")
def real_networks():
    """Where each of the 24 published networks is: in the data folder, else inside pgmpy."""
    folder = DATA
    if not folder.is_dir():
        import pgmpy

        folder = Path(pgmpy.__file__).parent / "utils" / "example_models"
    return {path.name.partition(".")[0]: path for path in folder.glob("*.bif*")}
