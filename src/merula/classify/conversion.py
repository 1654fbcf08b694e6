"""Classifiers as Bayesian networks: the class above the columns; and networks of that form as naive Bayes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from merula.classify.fitted import FittedModel
from merula.classify.plan import Block, Plan
from merula.core import Array, InputError, Option, one_of
from merula.core.logspace import safe_log
from merula.data.encode import encode_target
from merula.data.schema import Column, Schema
from merula.data.table import plain_label
from merula.distributions import (
    Categorical,
    CategoricalDistribution,
    Distribution,
    Gaussian,
    GaussianDistribution,
    JointStudentDistribution,
    JointTable,
    MultivariateGaussianDistribution,
    StudentDistribution,
)
from merula.graphs.dependence.columns import DependentColumns
from merula.graphs.dependence.network_columns import NetworkColumns
from merula.graphs.dependence.network_family import Network, network_columns
from merula.graphs.network import BayesianNetwork, GaussianNode, LinearGaussian, Node, NoisyNode
from merula.graphs.network.node import AnyNode

if TYPE_CHECKING:
    from merula.classify.base import BayesianClassifier

MOST_CELLS = 2**22  # of a joint table that is written out
Variable = tuple[str, Any, Any, list[str]]  # as a network takes it: name, levels or density, probabilities, parents


def as_network(model: BayesianClassifier, target: str) -> BayesianNetwork:
    """The network of a fitted classifier: the class, and every column that says something of it."""
    check_is_fitted(model, "classes_")
    if target in model.schema_.names:
        raise InputError.at("target", f"is {target!r}, which is a column of the model", got=target, remedy="give the class another name")  # fmt: skip
    if not model.fitted_.is_plain_sum:
        raise InputError("this model is a mixture or a weighted sum, which a network cannot be", remedy="only a plain sum of terms becomes one")  # fmt: skip
    found: dict[str, Variable] = {}
    for part in model.distributions_:
        if not isinstance(part, NetworkColumns):
            _refuse(model, part)
            found |= {variable[0]: variable for variable in WRITERS[type(part)](part, target, model)}
    network = _with_class(model, target)
    waiting = [found[name] for name in model.schema_.names if name in found]
    while waiting:  # in the order of the columns, but parents first
        ready = next(one for one in waiting if set(one[3]) <= {target, *network.variables})
        network.add(*ready)
        waiting = [one for one in waiting if one is not ready]
    return network


def _with_class(model: BayesianClassifier, target: str) -> BayesianNetwork:
    """The class, with the columns that a network joins with it where the model has such."""
    labels, prior = [plain_label(label) for label in model.classes_.tolist()], np.exp(model.class_log_prior_)
    part = next((one for one in model.distributions_ if isinstance(one, NetworkColumns)), None)
    if part is None:
        return BayesianNetwork().add(target, labels, prior)
    if part.class_parents and not np.allclose(prior, np.exp(part.log_class), rtol=1e-9, atol=0):
        raise InputError(f"the class depends on {part.class_parents[0]!r} in this network, so that it has no prior of its own that could be {prior.round(6).tolist()}", where="class_prior", remedy=("fit with ", Option("class_prior", "network")))  # fmt: skip
    own = part.class_table if part.class_parents else prior
    nodes = [Node(target, tuple(labels), part.class_parents, own) if name == part.target else _named(part, node, target) for name, node in part.nodes.items()]  # fmt: skip
    return BayesianNetwork._of(nodes)


def _named(part: NetworkColumns, node: Any, target: str) -> Node | GaussianNode:
    """A variable with the class under this name, and numbers in their own units."""
    if not isinstance(node, GaussianNode):
        return Node(node.name, node.levels, _renamed(node.parents, part, target), node.table)
    at = [part.columns.index(name) for name in (*node.numeric, node.name)]
    centre, unit = part.centre[at], part.unit[at]
    slopes = node.slopes * unit[-1] / unit[:-1]
    intercept = centre[-1] + unit[-1] * node.intercept - slopes @ centre[:-1]
    words = _renamed(node.discrete, part, target)
    return GaussianNode(node.name, words, node.numeric, intercept, slopes, node.variance * unit[-1] ** 2)


def _renamed(names: tuple[str, ...], part: NetworkColumns, target: str) -> tuple[str, ...]:
    return tuple(target if name == part.target else name for name in names)


def _refuse(model: BayesianClassifier, part: Distribution) -> None:
    """An error for what a network has no distribution for."""
    kinds = {column.name: column.kind for column in model.schema_.columns}
    for name in part.columns:
        if isinstance(part, StudentDistribution | JointStudentDistribution):
            raise InputError.at(f"column {name!r}", "follows Student's t distribution, its parameters averaged out, which a network does not have", remedy=("fit with ", Option("estimate", "plug-in")))  # fmt: skip
        if type(part) not in WRITERS:
            raise InputError.at(f"column {name!r}", f"is modelled by {type(part).__name__}, which a network does not have", remedy=("fit with ", Option('distributions', 'gaussian', column=name), ", or discretise the column"))  # fmt: skip
        if kinds[name] == "datetime":
            raise InputError.at(f"column {name!r}", "holds times, a network's numbers have no unit", remedy=("turn it into a number, or ignore it: ", Option('kinds', 'ignore', column=name)))  # fmt: skip
    missing = getattr(part, "log_missing", np.zeros((1, len(part.columns))))
    if missing.any():
        name = part.columns[int(missing.any(axis=0).argmax())]
        raise InputError.at(f"column {name!r}", ("is numeric and ", Option('missing', 'level'), " lets its missing cells speak, which a network cannot"), remedy=("fit with ", Option('missing', 'marginalise')))  # fmt: skip


# ------------------------------------------------------------------------------------------------- distributions as nodes


def _tables(part: CategoricalDistribution, target: str, _: Any) -> Iterator[Variable]:
    for name, levels in part.levels.items():
        if levels:
            yield name, levels, part.probabilities(name).T, [target]


def _normals(part: GaussianDistribution, target: str, _: Any) -> Iterator[Variable]:
    """A column that never varied has infinite variance: it says nothing, and is left out."""
    for j, name in enumerate(part.columns):
        if np.isfinite(part.variance[:, j]).all():
            yield name, LinearGaussian(part.mean[:, j], part.variance[:, j]), None, [target]


def _regressions(part: MultivariateGaussianDistribution, target: str, model: Any) -> Iterator[Variable]:
    """Each column as a regression on those before it: z_j = mean_j − Σ_{k<j} (R_jk / R_jj)·(z_k − mean_k) + e_j / R_jj.

    R = L⁻¹ with the covariance L·Lᵀ in standard units z = (x − centre) / unit.
    """
    labels = [plain_label(label) for label in model.classes_.tolist()]
    roots = np.broadcast_to(part.whitening.swapaxes(1, 2), (len(labels), *part.whitening.shape[1:]))
    names = [part.columns[k] for k in part.kept]
    unit, centre = part.unit[part.kept], part.centre[part.kept]
    means = centre + unit * part.mean
    for j, name in enumerate(names):
        own = roots[:, j, j]
        slopes = -roots[:, j, :j] / own[:, None] * unit[j] / unit[:j]
        intercept = means[:, j] - (slopes * means[:, :j]).sum(axis=1)
        by_class = {label: dict(zip(names[:j], row.tolist(), strict=True)) for label, row in zip(labels, slopes, strict=True)}  # fmt: skip
        yield name, LinearGaussian(intercept, (unit[j] / own) ** 2, by_class if j else None), None, [target, *names[:j]]


def _chain(part: JointTable, target: str, _: Any) -> Iterator[Variable]:
    """Each column given the class and the columns before it; what cannot happen is followed by anything."""
    joint = _written_out(part)
    for j, name in enumerate(part.columns):
        above = joint.sum(axis=tuple(range(j + 2, joint.ndim)))
        totals = above.sum(axis=-1, keepdims=True)
        table = np.where(totals > 0, above / np.where(totals > 0, totals, 1.0), 1 / above.shape[-1])
        yield name, part.level_sets[j], table, [target, *part.columns[:j]]


def _written_out(part: JointTable) -> Array:
    """P(all columns given class), an axis for the class and one for each column."""
    shape = tuple(len(levels) for levels in part.level_sets)
    if prod(shape) * len(part.log_rest) > MOST_CELLS or not all(shape):
        raise InputError(f"the joint table of {', '.join(map(repr, part.columns[:4]))}{' …' if len(shape) > 4 else ''} has {min(prod(shape), 10**300):.3g} cells for each class, a network would write out all", expected=f"from 1 to {MOST_CELLS:,}: use NaiveBayesClassifier, or fewer columns")  # fmt: skip
    joint = np.repeat(np.exp(part.log_rest)[:, None], prod(shape), axis=1)
    joint[:, np.ravel_multi_index(tuple(part.cells.T.astype(np.int64)), shape)] = np.exp(part.log_cell).T
    return joint.reshape(-1, *shape)


def _dependent(part: DependentColumns, target: str, _: Any) -> Iterator[Variable]:
    for name, levels, parents, logs in zip(
        part.columns, part.level_sets, part.parent_sets, part.log_table, strict=True
    ):
        if levels:
            yield name, levels, np.moveaxis(np.exp(logs[..., :-1, :]), -1, 0), [target, *parents]


WRITERS: Mapping[type[Distribution], Callable[..., Iterator[Variable]]] = {
    CategoricalDistribution: _tables,
    GaussianDistribution: _normals,
    MultivariateGaussianDistribution: _regressions,
    JointTable: _chain,
    DependentColumns: _dependent,
}


# -------------------------------------------------------------------------------------------------------------- and back


def _class_and_others(network: BayesianNetwork, target: str) -> tuple[Node | NoisyNode, list[AnyNode]]:
    """The variable that is to be the class, which must have levels, and all others."""
    nodes = network._stated()
    root = nodes[one_of(target, nodes, "target")]
    if isinstance(root, GaussianNode):
        raise InputError.at("target", f"is {target!r}, which is numeric", got=target, remedy="a class has levels")
    return root, [node for name, node in nodes.items() if name != target]


def naive_model(network: BayesianNetwork, target: str) -> FittedModel:
    """The naive Bayes model of a network whose arcs go from the target to all others."""
    root, others = _class_and_others(network, target)
    if root.parents or not others:
        raise InputError(f"{target!r} has {f'the parent {root.parents[0]!r}' if root.parents else 'no children'}", where=f"variable {target!r}", remedy="naive Bayes is a network whose arcs go from the class to every other variable")  # fmt: skip
    for node in others:
        if node.parents != (target,):
            raise InputError(f"{node.name!r} has the parents {list(node.parents)}", where=f"variable {node.name!r}", got=list(node.parents), expected=f"[{target!r}] alone: naive Bayes is a network whose arcs go from the class to every other variable")  # fmt: skip
    classes = encode_target(list(root.levels), len(root.levels)).classes
    order = [root.levels.index(label) for label in classes.tolist()]
    parts = (_categorical([n for n in others if not isinstance(n, GaussianNode)], order), _gaussian([n for n in others if isinstance(n, GaussianNode)], root.table, order))  # fmt: skip
    columns = [Column(n.name, "numeric") if isinstance(n, GaussianNode) else Column(n.name, "categorical", n.levels, declared=True) for n in others]  # fmt: skip
    families = zip((Categorical(), Gaussian()), parts, strict=True)
    blocks = tuple(Block(family, part.columns) for family, part in families if part.columns)
    plan = Plan(Schema(tuple(columns)), blocks, None, "pandas")
    return FittedModel.plain_sum(
        plan, classes, safe_log(root.table[order]), tuple(part for part in parts if part.columns)
    )


def network_model(network: BayesianNetwork, target: str) -> FittedModel:
    """The model of a network's variable `target` given all others."""
    root, others = _class_and_others(network, target)
    if not others:
        raise InputError(f"{target!r} is the only variable of the network", remedy="a classifier needs a column at least")  # fmt: skip
    classes = encode_target(list(root.levels), len(root.levels)).classes
    order = [root.levels.index(label) for label in classes.tolist()]
    found = {node.name: _sorted_by_class(node, target, order) for node in (root, *others)}
    numeric = tuple(sorted(node.name for node in others if isinstance(node, GaussianNode)))
    levels = {node.name: node.levels for node in others if node.name not in numeric}
    part = network_columns([node.name for node in others], target, found, levels, {}, {})
    columns = [_stated_column(node, network._cuts.get(node.name)) for node in others]
    family = Network(arcs=tuple(sorted(network.arcs)), target=target, numeric=numeric)
    plan = Plan(Schema(tuple(columns)), (Block(family, part.columns),), None, "pandas")
    return FittedModel.plain_sum(plan, classes, part.log_class, (part,))


def _stated_column(node: Any, cuts: Any) -> Column:
    if isinstance(node, GaussianNode):
        return Column(node.name, "numeric")
    return Column(node.name, "categorical", node.levels, None if cuts is None else tuple(cuts), declared=True)


def _sorted_by_class(node: Any, target: str, order: list[int]) -> Node | GaussianNode:
    """A variable with the levels of the class in another order; a noisy one written out as its table."""

    def turned(table: Array, names: tuple[str, ...]) -> Array:
        return np.take(table, order, axis=names.index(target)) if target in names else table

    if isinstance(node, GaussianNode):
        if not node.variance.all():
            raise InputError(f"{node.name!r} was set to a number by do, which leaves nothing to tell from it", where=f"variable {node.name!r}", remedy="use the network as it was before")  # fmt: skip
        parts = (turned(part, node.discrete) for part in (node.intercept, node.slopes, node.variance))
        return GaussianNode(node.name, node.discrete, node.numeric, *parts)
    if isinstance(node, NoisyNode) and prod(map(len, node.strengths)) * len(node.levels) > MOST_CELLS:
        raise InputError(f"the table of {node.name!r} given {len(node.parents)} parents is too large to be written out", where=f"variable {node.name!r}", remedy="ask the network itself: predict_rows")  # fmt: skip
    levels = tuple(node.levels[k] for k in order) if node.name == target else node.levels
    return Node(node.name, levels, node.parents, turned(node.table, (*node.parents, node.name)))


def _categorical(nodes: list[Node | NoisyNode], order: list[int]) -> CategoricalDistribution:
    logs = [np.concatenate([safe_log(node.table[order]).T, np.zeros((2, len(order)))]) for node in nodes]
    return CategoricalDistribution(tuple(n.name for n in nodes), tuple(n.levels for n in nodes), tuple(logs))


def _gaussian(nodes: list[GaussianNode], prior: Array, order: list[int]) -> GaussianDistribution:
    """Means and variances by class, and the centre and spread of the whole column."""
    names, nothing = tuple(node.name for node in nodes), np.zeros((len(order), len(nodes)))
    if not nodes:
        return GaussianDistribution((), nothing, nothing, np.zeros(0), np.zeros(0), nothing, nothing)
    mean, variance = (np.stack([getattr(node, what) for node in nodes], axis=1) for what in ("intercept", "variance"))
    centre = prior @ mean
    spread = np.sqrt(prior @ (variance + (mean - centre) ** 2))
    return GaussianDistribution(names, mean[order], variance[order], centre, spread, nothing, nothing)
