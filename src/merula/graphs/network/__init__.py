"""Bayesian networks: a graph and one conditional distribution per variable; queries, learning, sampling."""

from merula.graphs.network.fitting import UnobservedParentsWarning
from merula.graphs.network.mixed import MixedDistribution
from merula.graphs.network.network import BayesianNetwork
from merula.graphs.network.node import GaussianNode, Node, NoisyNode
from merula.graphs.network.normal_mixture import NormalMixture
from merula.graphs.network.parametric import LinearGaussian, NoisyMax, NoisyOr
from merula.graphs.network.structure_learning import learn_structure

__all__ = [
    "BayesianNetwork",
    "GaussianNode",
    "LinearGaussian",
    "MixedDistribution",
    "Node",
    "NoisyMax",
    "NoisyNode",
    "NoisyOr",
    "NormalMixture",
    "UnobservedParentsWarning",
    "learn_structure",
]
