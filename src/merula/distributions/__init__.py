"""Distributions of columns given the class, and the families that build them from statistics."""

from merula.distributions.base import BaseFamily, Distribution, Family, Setting
from merula.distributions.categorical import Bernoulli, Categorical, CategoricalDistribution
from merula.distributions.gaussian import Gaussian, GaussianDistribution
from merula.distributions.histogram import Discretized, DiscretizedDistribution, Histogram, HistogramDistribution
from merula.distributions.joint_table import JointCategorical, JointTable
from merula.distributions.kernel import Kernel, KernelDistribution
from merula.distributions.mixture import GaussianMixture, MixtureDistribution
from merula.distributions.multinomial import Multinomial, TokenDistribution
from merula.distributions.multivariate import MultivariateGaussian, MultivariateGaussianDistribution
from merula.distributions.neighbors import NearestNeighbors, NeighborDistribution
from merula.distributions.poisson import CountDistribution, NegativeBinomial, Poisson
from merula.distributions.product_kernel import ProductKernel, ProductKernelDistribution
from merula.distributions.student import JointStudentDistribution, StudentDistribution
from merula.distributions.zero_inflated import ZeroInflated, ZeroInflatedDistribution

FAMILIES: dict[str, type[BaseFamily]] = {
    family.name: family
    for family in (
        Gaussian,
        MultivariateGaussian,
        Categorical,
        Bernoulli,
        JointCategorical,
        Kernel,
        Multinomial,
        Discretized,
        GaussianMixture,
        Histogram,
        NearestNeighbors,
        NegativeBinomial,
        Poisson,
        ProductKernel,
        ZeroInflated,
    )
}
DISTRIBUTIONS: dict[str, type[Distribution]] = {
    kind.__name__: kind
    for kind in (
        CategoricalDistribution,
        CountDistribution,
        DiscretizedDistribution,
        GaussianDistribution,
        HistogramDistribution,
        JointStudentDistribution,
        JointTable,
        KernelDistribution,
        MixtureDistribution,
        MultivariateGaussianDistribution,
        NeighborDistribution,
        ProductKernelDistribution,
        StudentDistribution,
        TokenDistribution,
        ZeroInflatedDistribution,
    )
}

__all__ = [
    "DISTRIBUTIONS",
    "FAMILIES",
    "BaseFamily",
    "Bernoulli",
    "Categorical",
    "CategoricalDistribution",
    "CountDistribution",
    "Discretized",
    "DiscretizedDistribution",
    "Distribution",
    "Family",
    "Gaussian",
    "GaussianDistribution",
    "GaussianMixture",
    "Histogram",
    "HistogramDistribution",
    "JointCategorical",
    "JointStudentDistribution",
    "JointTable",
    "Kernel",
    "KernelDistribution",
    "MixtureDistribution",
    "Multinomial",
    "MultivariateGaussian",
    "MultivariateGaussianDistribution",
    "NearestNeighbors",
    "NegativeBinomial",
    "NeighborDistribution",
    "Poisson",
    "ProductKernel",
    "ProductKernelDistribution",
    "Setting",
    "StudentDistribution",
    "TokenDistribution",
    "ZeroInflated",
    "ZeroInflatedDistribution",
]
