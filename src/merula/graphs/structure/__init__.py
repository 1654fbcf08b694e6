"""Which column depends on which: graphs, scores of families, and searches over them, from counts."""

from merula.graphs.structure.constraints import Constraints, read_constraints
from merula.graphs.structure.equivalence import PartialGraph, consistent_extension, cpdag, structural_hamming_distance
from merula.graphs.structure.graph import (
    Arc,
    Graph,
    ancestors,
    arcs_of,
    build_graph,
    children_of,
    d_separated,
    descendants,
    find_cycle,
    markov_blanket,
    moral_graph,
    skeleton,
    topological_order,
)
from merula.graphs.structure.learn import METHODS, learn
from merula.graphs.structure.pc import Discovery, IndependenceTest, independence_test, pc_stable
from merula.graphs.structure.score import SCORES, Scorer, build_scorer, local_scores, score_graph
from merula.graphs.structure.spanning_tree import chow_liu, pair_information

__all__ = [
    "METHODS",
    "SCORES",
    "Arc",
    "Constraints",
    "Discovery",
    "Graph",
    "IndependenceTest",
    "PartialGraph",
    "Scorer",
    "ancestors",
    "arcs_of",
    "build_graph",
    "build_scorer",
    "children_of",
    "chow_liu",
    "consistent_extension",
    "cpdag",
    "d_separated",
    "descendants",
    "find_cycle",
    "independence_test",
    "learn",
    "local_scores",
    "markov_blanket",
    "moral_graph",
    "pair_information",
    "pc_stable",
    "read_constraints",
    "score_graph",
    "skeleton",
    "structural_hamming_distance",
    "topological_order",
]
