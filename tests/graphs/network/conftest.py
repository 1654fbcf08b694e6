"""Random networks beside their full joint table, which answers every question by enumeration."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

import merula as mr

NAMES = ["blood pressure", "größe", "色泽", "smoker", "x-ray", "age", "根蒂", "Ödem", "season", "<=50K", "visit to Asia", "naïve?"]  # fmt: skip
POOLS = [
    ("no", "yes", "n/a", "<=50K"),
    (0, 1, 2, 3),
    ("青绿", "乌黑", "浅白", "(1,2]"),
    (False, True),
    ("low", "mid", "high", "Ü"),
]
MOST_CELLS = 2**14


@dataclass(frozen=True)
class Stated:
    """A network and, apart from it, the tables it was stated by."""

    levels: dict
    parents: dict
    tables: dict

    @cached_property
    def network(self):
        network = mr.BayesianNetwork()
        for name, levels in self.levels.items():
            network.add(name, levels, self.tables[name], parents=self.parents[name])
        return network

    @property
    def names(self):
        return list(self.levels)

    @cached_property
    def joint(self):
        """P(all variables), one axis for each, in their order."""
        axis = {name: index for index, name in enumerate(self.names)}
        operands = []
        for name, table in self.tables.items():
            operands += [table, [axis[one] for one in (*self.parents[name], name)]]
        return np.einsum(*operands, list(range(len(axis))))

    def likelihood(self, name, known):
        """What evidence of any kind says of a variable's levels."""
        levels = self.levels[name]
        if isinstance(known, Mapping):
            return np.array([known[level] for level in levels], dtype=float)
        allowed = known if isinstance(known, set | frozenset | list) else [known]
        return np.array([float(any(level is one or level == one for one in allowed)) for level in levels])

    def weighted(self, given=None):
        """P(all variables, evidence)."""
        joint = self.joint
        for name, known in (given or {}).items():
            shape = [-1 if one == name else 1 for one in self.names]
            joint = joint * self.likelihood(name, known).reshape(shape)
        return joint

    def sums(self, targets, given=None):
        """P(targets, evidence), an axis for each target in their order."""
        axis = {name: index for index, name in enumerate(self.names)}
        return np.einsum(self.weighted(given), list(range(len(axis))), [axis[name] for name in targets])

    def posterior(self, targets, given=None):
        sums = self.sums(targets, given)
        return sums / sums.sum()

    def probability(self, given=None):
        return float(self.weighted(given).sum())


def random_table(rng, shape, zeros):
    """Rows that sum to 1; a share of their cells is 0, some rows are certain."""
    table = rng.dirichlet(np.full(shape[-1], 0.7), size=shape[:-1]) + 1e-3
    table = table * (rng.random(shape) >= zeros)
    flat = table.reshape(-1, shape[-1])
    empty = flat.sum(axis=1) == 0
    flat[empty, rng.integers(shape[-1], size=int(empty.sum()))] = 1.0
    return table / table.sum(axis=-1, keepdims=True)


@st.composite
def _networks(draw, most=12):
    count = draw(st.integers(1, most), label="variables")
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    kind = draw(st.sampled_from(["sparse", "chain", "dense", "apart", "naive"]), label="kind")
    zeros = draw(st.sampled_from([0.0, 0.0, 0.3, 0.7]), label="zeros")
    levels, cells = {}, 1
    for name in rng.permutation(NAMES)[:count].tolist():
        pool = POOLS[rng.integers(len(POOLS))]
        card = int(rng.integers(1, len(pool) + 1)) if rng.random() < 0.8 else 2
        card = card if cells * card <= MOST_CELLS else 1
        levels[name], cells = tuple(pool[i] for i in rng.permutation(len(pool))[:card].tolist()), cells * card
    names, parents = list(levels), {}
    for position, name in enumerate(names):
        limit = {"sparse": 2, "chain": 1, "dense": 5, "apart": 1, "naive": 1}[kind]
        before = {"chain": names[max(0, position - 1) : position], "naive": names[: min(1, position)]}.get(
            kind, names[:position]
        )
        if kind == "apart":
            before = [one for one in before if names.index(one) % 2 == position % 2]
        few = len(before) if kind in ("chain", "naive") else int(rng.integers(0, min(limit, len(before)) + 1))
        parents[name] = tuple(rng.permutation(np.array(before, dtype=object))[:few].tolist())
    shapes = {name: [len(levels[one]) for one in (*parents[name], name)] for name in names}
    return Stated(levels, parents, {name: random_table(rng, tuple(shape), zeros) for name, shape in shapes.items()})


@st.composite
def _evidence(draw, stated, kinds=("hard", "soft", "set"), most=4):
    """Evidence of every kind about some variables; it may be impossible."""
    given = {}
    for name in draw(st.lists(st.sampled_from(stated.names), max_size=most, unique=True), label="known"):
        levels, kind = stated.levels[name], draw(st.sampled_from(kinds))
        if kind == "hard":
            given[name] = draw(st.sampled_from(levels))
        elif kind == "set":
            given[name] = set(draw(st.lists(st.sampled_from(levels), min_size=1, unique=True)))
        else:
            weights = draw(
                st.lists(st.sampled_from([0.0, 0.01, 0.3, 1.0, 2.5]), min_size=len(levels), max_size=len(levels))
            )
            given[name] = dict(zip(levels, weights if any(weights) else [1.0] * len(levels), strict=True))
    return given


@pytest.fixture(scope="session")
def networks():
    """A strategy: networks of up to `most` variables, with the tables they were stated by."""
    return _networks


@pytest.fixture(scope="session")
def evidence():
    """A strategy: evidence for such a network."""
    return _evidence


@pytest.fixture(scope="session")
def state():
    """A network beside its joint table, from {name: (levels, parents, table)}."""

    def build(nodes):
        levels, parents, tables = ({name: node[i] for name, node in nodes.items()} for i in range(3))
        return Stated(levels, parents, {name: np.asarray(table, dtype=float) for name, table in tables.items()})

    return build


@pytest.fixture
def asia(state):
    """Lauritzen and Spiegelhalter's (1988) clinic, with the published probabilities."""
    yes = ("yes", "no")
    return state(
        {
            "visit to Asia": (yes, (), [0.01, 0.99]),
            "tuberculosis": (yes, ("visit to Asia",), [[0.05, 0.95], [0.01, 0.99]]),
            "smoker": (yes, (), [0.5, 0.5]),
            "lung cancer": (yes, ("smoker",), [[0.1, 0.9], [0.01, 0.99]]),
            "bronchitis": (yes, ("smoker",), [[0.6, 0.4], [0.3, 0.7]]),
            "either": (yes, ("lung cancer", "tuberculosis"), [[[1, 0], [1, 0]], [[1, 0], [0, 1]]]),
            "x-ray": (yes, ("either",), [[0.98, 0.02], [0.05, 0.95]]),
            "dyspnoea": (yes, ("bronchitis", "either"), [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]]),
        }
    )


@pytest.fixture(scope="session")
def picture():
    """Everything a network states, bit by bit, to see whether it changed."""

    def take(network):
        nodes = []
        for node in network._nodes.values():
            arrays = [getattr(node, part, None) for part in ("table", "leak")] + list(getattr(node, "strengths", ()))
            bits = [None if array is None else (array.shape, array.tobytes()) for array in arrays]
            nodes.append((node.name, node.levels, node.parents, bits))
        return network.variables, network.graph, network.limit, nodes

    return take


@pytest.fixture(scope="session")
def network_file():
    """Where the BIF file of a published network lies; the test is skipped when it is nowhere."""

    def find(name):
        folder = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[4] / "shared" / "data")) / "networks"
        pgmpy = find_spec("pgmpy")
        folders = [folder] + ([Path(pgmpy.origin).parent / "utils" / "example_models"] if pgmpy else [])
        for index in folders:
            for file in (index / f"{name}.bif", index / f"{name}.bif.gz"):
                if file.exists():
                    return file
        return pytest.skip(f"{name}.bif is neither in {folder} (set MERULA_DATA) nor in pgmpy's example models")

    return find


@pytest.fixture(scope="session")
def read_network(network_file):
    """A published network by its name, read once."""
    from merula.graphs.formats import read_nodes

    kept = {}

    def read(name):
        if name not in kept:
            kept[name] = mr.BayesianNetwork._of(read_nodes(network_file(name)))
        return kept[name]

    return read
