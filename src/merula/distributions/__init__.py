"""Distributions of columns given the class, and the families that build them from statistics."""

from merula.distributions.base import BaseFamily, Distribution, Family, Setting
from merula.distributions.categorical import Bernoulli, Categorical, CategoricalDistribution
from merula.distributions.gaussian import Gaussian, GaussianDistribution
from merula.distributions.joint import JointCategorical, JointTable
from merula.distributions.multinomial import Multinomial, TokenDistribution
from merula.distributions.multivariate import MultivariateGaussian, MultivariateGaussianDistribution

FAMILIES: dict[str, type[BaseFamily]] = {
    family.name: family
    for family in (Gaussian, MultivariateGaussian, Categorical, Bernoulli, JointCategorical, Multinomial)
}
DISTRIBUTIONS: dict[str, type[Distribution]] = {
    kind.__name__: kind
    for kind in (
        CategoricalDistribution,
        GaussianDistribution,
        JointTable,
        MultivariateGaussianDistribution,
        TokenDistribution,
    )
}

__all__ = [
    "DISTRIBUTIONS",
    "FAMILIES",
    "BaseFamily",
    "Bernoulli",
    "Categorical",
    "CategoricalDistribution",
    "Distribution",
    "Family",
    "Gaussian",
    "GaussianDistribution",
    "JointCategorical",
    "JointTable",
    "Multinomial",
    "MultivariateGaussian",
    "MultivariateGaussianDistribution",
    "Setting",
    "TokenDistribution",
]
