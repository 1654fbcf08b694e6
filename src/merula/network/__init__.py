"""Bayesian networks: a graph and one conditional distribution per variable; queries, learning, sampling."""

from merula.network.discover import learn_structure
from merula.network.learning import UnobservedParentsWarning
from merula.network.mixed import MixedDistribution
from merula.network.network import BayesianNetwork
from merula.network.node import GaussianNode, Node, NoisyNode
from merula.network.normal_mixture import NormalMixture
from merula.network.stated import LinearGaussian, NoisyMax, NoisyOr

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
