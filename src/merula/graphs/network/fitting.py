"""Networks learned from tables: the raw statistics are kept, probabilities are made from them and from a prior.

`fitted`, `fitted_further` and `merged` change nothing: `BayesianNetwork` takes what they found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import add, sub
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from merula.core import Array, InputError, Option, warn_user
from merula.core.checks import checked_number, one_of
from merula.data.encode import CodedColumns
from merula.graphs.factors.names import title
from merula.graphs.network import gradient
from merula.graphs.network.em import Climb, Climber, Steps, expected_rows, normalised, start
from merula.graphs.network.kept_counts import check_counts, check_statistic
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.network.pseudo_counts import Expert, Prior, check_known, prior_from, prior_state, same_prior
from merula.graphs.network.statistic import (
    FamilyStatistic,
    count_families,
    discrete_parents_first,
    read_further,
    read_rows,
)
from merula.graphs.structure.family_scores import in_units, regressions, spread, typical_floor
from merula.stats import FullMoments, PairCounts
from merula.stats.fading import checked_factor

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

MISSING = ("em", "available")
CLIMBS = {"em": Climber.climb, "gradient": gradient.climb}
RIDGE = 10.0  # that holds a conditional fit near the generative tables unless another is asked for
MOST_NAMED = 4  # variables that a warning lists
MOST_RESTARTS = 10_000  # that a file may ask for: they would only begin with the next rows


class UnobservedParentsWarning(UserWarning):
    """Some configurations of a variable's parents occur in no row: what the network says there is the prior alone.

    Examples
    --------
    >>> import merula as mr, pandas as pd, warnings
    >>> rows = pd.DataFrame({"rain": ["no", "no"], "wet": ["no", "yes"]})
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     network = mr.BayesianNetwork([("rain", "wet")]).fit(rows, levels={"rain": ["no", "yes"]})
    >>> said[0].category is mr.UnobservedParentsWarning, network.query("wet", given={"rain": "yes"})["yes"]
    (True, 0.5)
    """


@dataclass(frozen=True, eq=False)
class Options:
    """How distributions are made from statistics; and the `root` of a tree whose arcs are made from them too.

    With a `target` its conditional likelihood is climbed from there, held near the start by a `ridge`.
    """

    prior: Prior
    missing: str
    steps: Steps
    root: str | None = None
    target: str | None = None
    ridge: float | None = None

    def state(self) -> dict[str, Any]:
        """Plain data, and the nodes of an expert."""
        return {
            "prior": prior_state(self.prior),
            "missing": self.missing,
            "steps": asdict(self.steps),
            "root": self.root,
            "target": self.target,
            "ridge": self.ridge,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Options:
        """The options that `state` describes."""
        known = prior_from(state["prior"]), state["missing"], Steps(**state["steps"]), state["root"]
        options = read_options(*known, state.get("target"), state.get("ridge"))  # earlier files have neither
        np.random.default_rng(options.steps.random_state)  # an error where it is no seed
        return options


@dataclass(frozen=True, eq=False)
class Learned:
    """What a network keeps of the rows it learned from, how it learned, and what came of it.

    ``stated`` are the levels that the network had before it learned (None: numeric); ``counts`` those its tables are made of,
    expected ones where cells were missing; ``log`` is what was climbed at each step: log likelihood + log prior or, with a target,
    its conditional log likelihood less the ridge.
    """

    statistic: FamilyStatistic
    options: Options
    stated: Mapping[str, Any]
    nodes: Mapping[str, AnyNode]
    counts: Mapping[str, Array]
    log: Sequence[float]

    def state(self) -> dict[str, Any]:
        """All but the nodes as plain data."""
        return {
            "statistic": self.statistic.state(),
            "options": self.options.state(),
            "stated": {name: known and list(known) for name, known in self.stated.items()},
            "counts": dict(self.counts),
            "log": list(self.log),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], nodes: Mapping[str, AnyNode]) -> Learned:
        """What `state` describes of these nodes; a ValueError where they do not belong together."""
        statistic = FamilyStatistic.from_state(state["statistic"])
        stated = {name: known and tuple(known) for name, known in state["stated"].items()}
        graph = {name: node.parents for name, node in nodes.items()}
        levels = {name: node.levels or None for name, node in nodes.items()}
        if statistic.graph != graph or statistic.levels != levels or statistic.counts.keys() != state["counts"].keys():
            raise InputError("its counts are those of another network")
        check_statistic(statistic)
        check_counts(state["counts"], statistic.counts)
        options, log = Options.from_state(state["options"]), [float(step) for step in state["log"]]
        strange = (
            options.root not in (None, *graph)
            or options.target not in (None, *statistic.discrete)
            or not stated.keys() <= graph.keys()
        )
        if strange or not np.isfinite(log).all() or options.steps.restarts > MOST_RESTARTS:
            raise InputError("it says to have been learned in a way that cannot be")
        return cls(statistic, options, stated, nodes, state["counts"], log)


def read_options(
    prior: Prior,
    missing: str,
    steps: Steps,
    root: str | None = None,
    target: str | None = None,
    ridge: float | None = None,
) -> Options:
    """The options of a fit, checked."""
    one_of(missing, MISSING, "missing")
    if one_of(steps.method, CLIMBS, "method") == "gradient" and missing == "available":
        raise InputError((Option('method', 'gradient'), " climbs the likelihood of all rows, and ", Option('missing', 'available'), " counts those that know a family"), where='missing', remedy=("use ", Option('missing', 'em'), ", which sums missing cells out"))  # fmt: skip
    if target is not None and steps.method != "gradient":
        raise InputError((Option('target'), " does nothing with ", Option('method', steps.method)), where='target', remedy=("a conditional likelihood is climbed with ", Option('method', 'gradient')))  # fmt: skip
    if ridge is not None and target is None:
        raise InputError((Option('ridge'), " does nothing without ", Option('target')), where='ridge', remedy="it holds the tables near the generative ones while the likelihood of the target is climbed")  # fmt: skip
    strength = RIDGE if ridge is None else checked_number(ridge, "ridge", "a number above 0", lambda held: 0 < held < np.inf)  # fmt: skip
    return Options(prior, missing, _checked_steps(steps), root, target, None if target is None else float(strength))


def fitted(
    network: BayesianNetwork,
    options: Options,
    data: Any,
    weights: Any,
    levels: Mapping[str, Any],
    kinds: Mapping[str, str] | str | None,
    n_jobs: int | None,
    pairs: PairCounts | None = None,
) -> Learned:
    """What a network learns from a table; with the `pairs` of its complete rows, its arcs too."""
    if not network.variables:
        raise InputError("the network has no variables, so there is nothing to learn", remedy="give it arcs, BayesianNetwork([(parent, child), …]), or let mr.learn_structure(data) find them")  # fmt: skip
    _refuse_noisy(network)
    before = network._learned
    stated = before.stated if before else {name: node.levels or None for name, node in network._nodes.items()}
    believed = options.prior.network.levels if isinstance(options.prior, Expert) else {}
    rows, declared = read_rows(network.graph, stated, believed, data, weights, levels, kinds, network._cuts)
    statistic = count_families(discrete_parents_first(network.graph, rows), rows, declared, n_jobs=n_jobs)
    if options.target is not None:
        _check_target(statistic, options.target)
    learned = _learn(replace(statistic, pairs=pairs), options, stated, network.limit, n_jobs)
    return learned if options.target is None else _telling(learned, rows, options.target, network.limit, n_jobs)


def fitted_further(network: BayesianNetwork, data: Any, weights: Any, n_jobs: int | None) -> Learned:
    """What a network that learned knows after further rows."""
    learned = _adding(network, "partial_fit")
    further = read_further(learned.statistic, data, weights, network._cuts, n_jobs)
    return _learn(learned.statistic + further, learned.options, learned.stated, network.limit, n_jobs)


def merged(network: BayesianNetwork, other: BayesianNetwork) -> Learned:
    """What two networks learned together."""
    return _joined(network, other, add, "+", "added")


def unlearned(network: BayesianNetwork, other: BayesianNetwork) -> Learned:
    """What a network knows without the rows of another, which are among its own."""
    cut = next(iter(network._cuts), None)
    if cut is not None:
        raise InputError(f"the cuts of {cut!r} were found with the rows of the part: they do not forget", where=f"variable {cut!r}", remedy="fit on the rows that stay")  # fmt: skip
    return _joined(network, other, sub, "-", "subtracted")


def faded(network: BayesianNetwork, factor: float) -> Learned:
    """What a network knows if the rows so far count `factor` times what they did."""
    learned = _adding(network, "faded")
    left = learned.statistic.scaled(checked_factor(factor, learned.statistic.weight))
    return learned_from(left, learned.options, learned.stated, network.limit, None)


def _joined(
    network: BayesianNetwork, other: BayesianNetwork, join: Callable[[Any, Any], Any], sign: str, done: str
) -> Learned:
    """What the joined statistics of two networks make."""
    mine, theirs = _adding(network, sign), _adding(other, sign)
    _check_same_structure(mine, theirs, done)
    if mine.options.missing != theirs.options.missing:
        raise InputError((f"the networks cannot be {done}: one was fitted with ", Option('missing', mine.options.missing), ", the other with ", Option('missing', theirs.options.missing)))  # fmt: skip
    found = _learn(join(mine.statistic, theirs.statistic), mine.options, mine.stated, network.limit, None)
    for name in found.statistic.discrete:
        first, second = (_believed(found.statistic, each.options.prior, name) for each in (mine, theirs))
        same_prior(first, second, name, found.statistic.graph[name])
    return found


# ------------------------------------------------------------------------------------------------------------ inner ways


def _learn(
    statistic: FamilyStatistic, options: Options, stated: Mapping[str, Any], limit: float, n_jobs: int | None
) -> Learned:
    """What a statistic and the options make, with a warning of configurations that no row shows."""
    learned = learned_from(statistic, options, stated, limit, n_jobs)
    _warn_unobserved(learned.statistic, learned.counts)
    return learned


def learned_from(
    statistic: FamilyStatistic, options: Options, stated: Mapping[str, Any], limit: float, n_jobs: int | None
) -> Learned:
    """The distributions that a statistic and the options make, and for a tree the arcs first."""
    if statistic.pairs is not None:
        statistic = statistic.with_tree(options.root)
    check_known(options.prior, statistic.discrete)
    _check_learnable(statistic, options.missing)
    prior = {name: _believed(statistic, options.prior, name) for name in statistic.discrete}
    found = _tables(statistic, prior, options, limit, n_jobs)
    nodes = {name: _node(statistic, found.tables, name) for name in statistic.graph}
    return Learned(statistic, options, stated, nodes, found.counts, found.log)


def _tables(
    statistic: FamilyStatistic, prior: Mapping[str, Array], options: Options, limit: float, n_jobs: int | None
) -> Climb:
    if options.missing == "em" and len(statistic.rows.cells):
        return maximise(statistic, prior, options.steps, limit, n_jobs)
    counts = {name: statistic.available(statistic.family(name)) for name in statistic.discrete}
    return Climb({name: normalised(found + prior[name]) for name, found in counts.items()}, counts, [], True)


def maximise(
    statistic: FamilyStatistic, prior: Mapping[str, Array], steps: Steps, limit: float, n_jobs: int | None
) -> Climb:
    """The best of several climbs; one that has not converged is said in a warning."""
    codes, weights = statistic.rows.cells.astype(np.int64), statistic.rows.weight[:, 0].copy()
    rows = expected_rows(statistic, statistic.discrete, codes, weights, limit, n_jobs)
    climber = Climber(rows, statistic.counts, prior)
    rng, climb = np.random.default_rng(steps.random_state), CLIMBS[steps.method]
    starts = (start(statistic, prior, rng, again=turn > 0) for turn in range(steps.restarts))
    best = max((climb(climber, tables, steps) for tables in starts), key=lambda found: found.log[-1])
    if not best.converged:
        _warn_unfinished(best.log, steps, "log likelihood + log prior")
    return best


def _warn_unfinished(log: Sequence[float], steps: Steps, height: str) -> None:
    name, rise = "EM" if steps.method == "em" else "the gradient", log[-1] - log[-2]
    warn_user(f"{name} stopped after {steps.max_iterations} iterations while {height} still rose by {rise:.3g}; raise max_iterations or tolerance", ConvergenceWarning)  # fmt: skip


def _telling(learned: Learned, rows: CodedColumns, target: str, limit: float, n_jobs: int | None) -> Learned:
    """What was learned of all variables, but with tables that tell the levels of the target better apart."""
    statistic, options = learned.statistic, learned.options
    codes = rows.codes[[rows.positions[name] for name in statistic.discrete]].T
    weights = np.ones(rows.count) if rows.weights is None else rows.weights
    judged = gradient.conditional(statistic, codes, weights, target, limit, n_jobs)
    tables = {name: node.table for name, node in learned.nodes.items() if isinstance(node, Node)}
    found, log, converged = gradient.climb_conditional(judged, tables, options.ridge or RIDGE, options.steps)
    if not converged:
        _warn_unfinished(log, options.steps, "conditional log likelihood − ridge")
    nodes = {name: _node(statistic, found, name) if name in found else node for name, node in learned.nodes.items()}
    return replace(learned, nodes=nodes, log=log)


def _node(statistic: FamilyStatistic, tables: Mapping[str, Array], name: str) -> Node | GaussianNode:
    if name not in tables:
        return fit_gaussian(statistic, name)
    tables[name].flags.writeable = False
    return Node(name, statistic.known(name), statistic.graph[name], tables[name])


def _believed(statistic: FamilyStatistic, prior: Prior, name: str) -> Array:
    return prior.of(name, statistic.known(name), {parent: statistic.known(parent) for parent in statistic.graph[name]})


def kept(network: BayesianNetwork, what: str) -> Learned:
    """What a network learned; an error where it learned nothing, which `what` needs."""
    if network._learned is None:
        raise InputError.at(what, "needs a network that was fitted, for it works on counts of rows, and this one was stated, or read from a file without them", remedy=("call fit(data) first (", Option('expert'), ", with ", Option('equivalent_sample_size'), ", makes stated probabilities a prior)"))  # fmt: skip
    return network._learned


def _adding(network: BayesianNetwork, what: str) -> Learned:
    """What a network learned, if the counts of further rows may be added to it."""
    learned = kept(network, what)
    if learned.options.target is not None:
        raise InputError.at(what, (f"works on counts, but tables fitted to tell {learned.options.target!r} (", Option('target'), ") are made of no counts"), remedy="fit all rows at once")  # fmt: skip
    return learned


def _refuse_noisy(network: BayesianNetwork) -> None:
    for name, node in network._nodes.items():
        if isinstance(node, NoisyNode):
            raise InputError(f"{name!r} is a noisy-OR or noisy-MAX, whose few numbers fit does not learn", where=f"variable {name!r}", remedy=f"to learn a full table instead, state one first: network.add({name!r}, {list(node.levels)}, network.distribution({name!r}), parents={list(node.parents)})")  # fmt: skip


def _checked_steps(steps: Steps) -> Steps:
    for what, value in (("max_iterations", steps.max_iterations), ("restarts", steps.restarts)):
        checked_number(value, what, "a whole number from 1", lambda number: number >= 1, whole=True)
    checked_number(steps.tolerance, "tolerance", "a number from 0, below 1", lambda number: 0 <= number < 1)
    return replace(steps, random_state=_seed(steps.random_state))


def _seed(random_state: Any) -> Any:
    """A seed, as plain data, that gives the same start whenever statistics are added to and learned from again."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator | np.random.BitGenerator | np.random.SeedSequence):
        return int(np.random.default_rng(random_state).integers(2**32))
    return np.random.SeedSequence().entropy if random_state is None else np.asarray(random_state).tolist()


def _check_learnable(statistic: FamilyStatistic, missing: str) -> None:
    hidden = statistic.never_observed()
    for name in statistic.columns.columns:
        lost = [parent for parent in statistic.discrete_parents(name) if parent in hidden]
        if lost:
            raise InputError(f"no row knows {lost[0]!r}, on which the numeric {name!r} depends: what is never observed is learned from discrete columns alone", remedy=f"discretise {name!r}, or remove the arc")  # fmt: skip
    if hidden and len(hidden) == len(statistic.discrete):
        raise InputError(f"no row holds a value of {', '.join(map(repr, hidden[:MOST_NAMED]))}", remedy="there is nothing to learn from")  # fmt: skip
    if hidden and missing == "available":
        raise InputError((f"no row knows {hidden[0]!r}, so that ", Option('missing', 'available'), " learns nothing of it"), remedy=("use ", Option('missing', 'em')))  # fmt: skip


def _check_target(statistic: FamilyStatistic, target: str) -> None:
    """An error unless the target has levels that some row knows, and no number tells of levels."""
    if one_of(target, statistic.graph, "target") not in statistic.discrete:
        raise InputError.at(f"the target {target!r}", "is numeric: the conditional likelihood climbed is that of levels", remedy=f"discretise {target!r}")  # fmt: skip
    if target in statistic.never_observed():
        raise InputError.at(f"the target {target!r}", "is known in no row, so that there is nothing to learn to tell")
    for name in statistic.columns.columns:
        if statistic.discrete_parents(name):
            raise InputError((f"the numbers of {name!r} tell of {statistic.discrete_parents(name)[0]!r}, and the gradient of ", Option('target'), " is that of networks whose levels depend on levels alone"), where=f"variable {name!r}", remedy=f"discretise {name!r}, or remove the arc")  # fmt: skip


def _check_same_structure(mine: Learned, theirs: Learned, done: str) -> None:
    """The same variables with the same parents; or trees, which are made anew, of the same variables with the same root."""
    first, second = mine.statistic, theirs.statistic
    for name in (*first.graph, *second.graph):
        if name not in first.graph or name not in second.graph:
            raise InputError(f"the networks cannot be {done}: only one of them has the variable {name!r}")
    if (first.pairs is None) != (second.pairs is None):
        raise InputError(f"the networks cannot be {done}: one is a Chow–Liu tree, which is made anew from the pairs of all rows, and the other keeps no counts of pairs", remedy=("learn both with ", Option('method', 'chow-liu'), ", or fit both with the same arcs"))  # fmt: skip
    if mine.options.root != theirs.options.root:
        raise InputError(f"the networks cannot be {done}: their trees have different roots, {mine.options.root!r} and {theirs.options.root!r}", remedy=("learn both with the same ", Option('root')))  # fmt: skip
    for name in first.graph if first.pairs is None else ():
        if set(first.graph[name]) != set(second.graph[name]):
            raise InputError(f"the networks cannot be {done}: {title([name], first.graph[name])} in one is {title([name], second.graph[name])} in the other", remedy="their arcs must be the same")  # fmt: skip


def _warn_unobserved(statistic: FamilyStatistic, found: Mapping[str, Array]) -> None:
    """One warning for all configurations of parents that no row shows."""
    empty = {name: int((table.sum(axis=-1) == 0).sum()) for name, table in found.items() if table.ndim > 1}
    empty |= {name: unobserved_configurations(statistic, name) for name in statistic.columns.columns}
    lines = [f"{count} of {title([name], statistic.graph[name])}" for name, count in empty.items() if count]
    if lines:
        warn_user(
            f"configurations of parents that no row shows: {_listed(lines)}; there the network says what the prior says alone (for numbers, what all rows together say)",
            UnobservedParentsWarning,
        )


def _listed(lines: Sequence[str]) -> str:
    more = len(lines) - MOST_NAMED
    return ", ".join(lines[:MOST_NAMED]) + (f", and those of {more} more variables" if more > 0 else "")


def fit_gaussian(statistic: FamilyStatistic, name: str) -> GaussianNode:
    """The conditional linear-Gaussian distribution of largest likelihood, given the rows complete in its family.

    intercept = mean(y) − slopes · mean(x), with the `regressions` by which structures are scored: for each configuration of
    the discrete parents. One with fewer than two rows per parameter keeps its own means, but takes the slopes and the
    variance of all together; one without rows takes all means too.

    Examples
    --------
    >>> import pandas as pd
    >>> from merula.graphs.network.statistic import count_families
    >>> from merula.data.encode.columns import code_columns
    >>> rows = code_columns(pd.DataFrame({"dose": [0.0, 1, 2, 3, 4, 5], "effect": [1.0, 3, 5, 7, 9, 11]}))
    >>> node = fit_gaussian(count_families({"dose": (), "effect": ("dose",)}, rows, ()), "effect")
    >>> float(node.intercept.round(6)), node.slopes.round(6).tolist()
    (1.0, [2.0])
    """
    part: FullMoments = statistic.moments.part(name)
    if not part.weight.sum() > 0:
        raise InputError(f"no row knows {name!r} and all of its parents {list(statistic.graph[name])} together", remedy="its distribution cannot be learned: complete some rows, or remove an arc")  # fmt: skip
    alone = statistic.columns.with_columns(part.columns)
    each = zip(alone.columns, alone.weight[0].tolist(), alone.mean[0].tolist(), alone.squares[0].tolist(), strict=True)
    spreads = [spread(*column) for column in each]
    words = statistic.discrete_parents(name)
    return regressed(part, spreads, words, statistic.shape(words))


def regressed(
    part: FullMoments, spreads: Sequence[float], words: tuple[str, ...], shape: tuple[int, ...]
) -> GaussianNode:
    """The last of these columns given the others and the configuration of some words that each group of rows has."""
    numeric, name, mass = part.columns[:-1], part.columns[-1], part.weight
    found = part.with_columns([*sorted(numeric), name])
    of = dict(zip(part.columns, spreads, strict=True))
    scatter, units = in_units(found.scatter, [of[column] for column in found.columns])
    floor = typical_floor(mass, found.mean[:, -1], scatter[:, -1, -1], units[-1])
    slopes, variance, _ = regressions(mass, scatter, floor)
    slopes *= units[-1] / units[:-1]
    mean = np.where(mass[:, None] > 0, found.mean, found.mean[np.argmax(mass)])
    rest = np.broadcast_to(found.rest, found.mean.shape).copy()
    rest[mass == 0] = mass @ ((mean - mean[np.argmax(mass)]) + rest) / mass.sum()
    # each configuration from its own means, not from those of another: what lies near 0 loses no digits to what lies far off
    intercept = rest[:, -1] - (slopes * rest[:, :-1]).sum(axis=1) + (mean[:, -1] - (slopes * mean[:, :-1]).sum(axis=1))
    slopes = slopes[:, [found.columns.index(parent) for parent in numeric]]
    return GaussianNode(
        name,
        words,
        numeric,
        intercept.reshape(shape),
        slopes.reshape(*shape, len(numeric)),
        (variance * units[-1] ** 2).reshape(shape),
    )


def unobserved_configurations(statistic: FamilyStatistic, name: str) -> int:
    """How many configurations of the discrete parents no row shows."""
    return int((statistic.moments.part(name).weight == 0).sum())
