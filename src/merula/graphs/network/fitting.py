"""Networks learned from tables: the raw statistics are kept, probabilities are made from them and from a prior.

`fit`, `update`, `added`, `counts`, `log_likelihood`, `aic` and `bic` are methods of `BayesianNetwork`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core.arrays import Array
from merula.core.checks import as_float, one_of
from merula.core.notes import warn_user
from merula.data.encode import checked_weights
from merula.graphs.factors.names import Levels, title
from merula.graphs.network.em import Climb, Steps, maximise, normalised
from merula.graphs.network.fitting_data import read_further, read_statistic
from merula.graphs.network.gaussian_fit import fit_gaussian, unobserved_configurations
from merula.graphs.network.node import AnyNode, GaussianNode, Node, NoisyNode
from merula.graphs.network.pseudo_counts import Prior, check_known, read_prior, same_prior
from merula.graphs.network.statistic import FamilyStatistic

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

MISSING = ("em", "available")
MOST_NAMED = 4  # variables that a warning lists


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
    """How probabilities are made from statistics."""

    prior: Prior
    missing: str
    steps: Steps


@dataclass(frozen=True, eq=False)
class Learned:
    """What a network keeps of the rows it learned from, and how it learned.

    ``stated`` are the levels that the network had before it learned (None: numeric); ``counts`` those its tables are made of,
    expected ones where cells were missing.
    """

    statistic: FamilyStatistic
    options: Options
    stated: Mapping[str, Any]
    counts: dict[str, Array]


def fit(
    network: BayesianNetwork,
    data: Any,
    *,
    weights: Any = None,
    pseudo_counts: Any = None,
    equivalent_sample_size: float | None = None,
    expert: BayesianNetwork | None = None,
    missing: str = "em",
    levels: Mapping[str, Any] | None = None,
    kinds: Mapping[str, str] | str | None = None,
    max_iterations: int = 1000,
    tolerance: float = 1e-8,
    restarts: int = 1,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> BayesianNetwork:
    """Learn every variable's distribution from a table; the network itself comes back.

    P(level given parents) = (count + pseudo-count) / Σ_levels (count + pseudo-count)

    Parameters
    ----------
    data : table
        A column for each variable, by name; other columns are ignored. A network that was stated keeps its levels, and a
        label that they do not name is an error. One given by arcs takes the levels that the table holds, sorted; its columns
        of integers and floats become numeric variables unless `kinds` or `levels` says otherwise; dates are seconds since
        1970.
    weights : array, optional
        How often each row counts.
    pseudo_counts : number, "bdeu", or mapping
        Imaginary rows in each cell of a variable's table. 1, Laplace's rule, by default, as for the classifiers; 0 is maximum
        likelihood; "bdeu" is equivalent_sample_size / number of cells; ``{variable: number or array}`` is a Dirichlet
        distribution for each configuration of the parents, cell by cell (an axis for each parent, the levels last, or
        anything that broadcasts to that), and none for variables that are not named. They do not touch numeric variables.
    equivalent_sample_size : float, optional
        How many rows the prior is worth: of "bdeu" (1 by default) or of the expert.
    expert : BayesianNetwork, optional
        A prior by another network over the same levels, of any structure, instead of `pseudo_counts`:
        pseudo-count = equivalent_sample_size · P_expert(parents, variable).
    missing : {"em", "available"}
        Rows with missing cells. "em": expectation-maximisation, every row shared out over its completions by exact inference,
        until log likelihood + log prior has settled (``em_log_`` keeps its course). "available": each table from the rows
        that know that variable and its parents. Numeric variables are always learned in this second way, and the discrete
        ones from discrete columns alone.
    levels : mapping, optional
        ``{"size": ["small", "large"]}`` fixes levels and their order. A variable named here may lack from the table: it is
        learned as one that is never observed.
    kinds : mapping or str, optional
        "numeric" or "categorical" for each column, or one word for all.
    max_iterations, tolerance : int, float
        EM stops when log likelihood + log prior rises by less than `tolerance` of its size, or with a warning.
    restarts : int
        EM begins this often and the best climb is kept: the first time at what complete families say, then at random.
    random_state : int or Generator
        For random starts: those of variables never observed, and of `restarts`.
    n_jobs : int, optional
        Threads; all cores by default. The result is the same.

    Notes
    -----
    Configurations of the parents that occur in no row have the prior alone (even probabilities if there is none; for numbers,
    what all configurations together say), with one `UnobservedParentsWarning`. Noisy-OR and noisy-MAX variables are not
    learned: that is an error, never a silent change to a full table. After an error the network is as it was.

    Numeric variables: least squares on the numeric parents for each configuration of the discrete ones; the variance is
    RSS / n, at least 1e-9 of the column's; a configuration with fewer than two rows per parameter takes the slopes
    and the variance of all together.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> rows = pd.DataFrame({"rain": ["yes", "no", "no", "no"], "wet": ["yes", "no", "yes", "no"]})
    >>> network = mr.BayesianNetwork([("rain", "wet")]).fit(rows, pseudo_counts=0)
    >>> round(network.query("wet", given={"rain": "no"})["yes"], 4)
    0.3333
    """
    if not network.variables:
        raise ValueError("the network has no variables, so there is nothing to learn; give it arcs, BayesianNetwork([(parent, child), …]), or let mr.learn_structure(data) find them")  # fmt: skip
    _refuse_noisy(network)
    prior = read_prior(pseudo_counts, equivalent_sample_size, expert)
    steps = _checked_steps(Steps(max_iterations, tolerance, restarts, random_state))
    options = Options(prior, one_of(missing, MISSING, "missing"), steps)
    stated = network._learned.stated if network._learned else {name: node.levels or None for name, node in network._nodes.items()}  # fmt: skip
    believed = {} if expert is None else {name: known for name, known in expert.levels.items() if known}
    statistic = read_statistic(network.graph, stated, believed, data, weights, levels or {}, kinds, network._cuts)
    return _learn(network, statistic, options, stated, n_jobs)


def update(network: BayesianNetwork, data: Any, *, weights: Any = None, n_jobs: int | None = None) -> BayesianNetwork:
    """Add further rows to those the network was fitted on; the network itself comes back, as if fitted on all at once.

    The options of `fit` stay. Complete rows are added to the counts; with missing cells expectation-maximisation runs again on
    the counts and the distinct incomplete rows of all tables. New levels are learned unless they were stated.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> network = mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["yes", "no"]}))
    >>> network.update(pd.DataFrame({"rain": ["no", "no"]})).counts("rain").tolist()
    [3.0, 1.0]
    """
    learned = _learned(network, "update")
    further = read_further(learned.statistic, data, weights, network._cuts)
    return _learn(network, learned.statistic + further, learned.options, learned.stated, n_jobs)


def added(first: BayesianNetwork, second: BayesianNetwork) -> BayesianNetwork:
    """The network that both tables together would have given: `first + second`.

    Both must have the same arcs and the same prior; levels are matched by label.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> north = mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["yes", "no"]}))
    >>> south = mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["no", "drizzle"]}))
    >>> (north + south).counts("rain").tolist(), (north + south).levels["rain"]
    ([1.0, 2.0, 1.0], ('drizzle', 'no', 'yes'))
    """
    if not isinstance(second, type(first)):
        return NotImplemented  # type: ignore[no-any-return]
    mine, theirs = _learned(first, "+"), _learned(second, "+")
    _check_same_arcs(mine.statistic, theirs.statistic)
    if mine.options.missing != theirs.options.missing:
        raise ValueError(f"the networks cannot be added: one was fitted with missing={mine.options.missing!r}, the other with missing={theirs.options.missing!r}")  # fmt: skip
    statistic = mine.statistic + theirs.statistic
    for name in statistic.discrete:
        same_prior(_believed(statistic, mine.options.prior, name), _believed(statistic, theirs.options.prior, name), name, statistic.graph[name])  # fmt: skip
    both = type(first)(statistic.graph, limit=first.limit)
    both.discretizer_ = first.discretizer_
    return _learn(both, statistic, mine.options, mine.stated, None)


def counts(network: BayesianNetwork, name: str) -> Array:
    """The weight of the rows in each cell of a variable's table, without any prior: an axis per parent, its levels last.

    Where cells are missing these are expected counts, or those of the rows that know the variable and its parents.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> rows = pd.DataFrame({"rain": ["yes", "no", "no", "no"], "wet": ["yes", "no", "yes", "no"]})
    >>> mr.BayesianNetwork([("rain", "wet")]).fit(rows).counts("wet").tolist()
    [[2.0, 1.0], [0.0, 1.0]]
    """
    found = _learned(network, "counts").counts
    if one_of(name, network.graph, "a variable") not in found:
        raise ValueError(f"{name!r} is numeric and has no counts; see distribution({name!r})")
    return found[name].copy()


def log_likelihood(network: BayesianNetwork, data: Any, *, weights: Any = None, n_jobs: int | None = None) -> float:
    """Σ weight · log P(row) over the rows of a table, missing cells summed out.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.75, 0.25])
    >>> round(network.log_likelihood(pd.DataFrame({"rain": ["no", "yes"]})), 6)
    -1.673976
    """
    return _likelihood(network, data, weights, n_jobs)[0]


def aic(network: BayesianNetwork, data: Any, *, weights: Any = None, n_jobs: int | None = None) -> float:
    """log likelihood − parameters (larger is better, as R's bnlearn writes it).

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.75, 0.25])
    >>> round(network.aic(pd.DataFrame({"rain": ["no", "yes"]})), 6)
    -2.673976
    """
    return log_likelihood(network, data, weights=weights, n_jobs=n_jobs) - as_float(network.parameters_count)


def bic(network: BayesianNetwork, data: Any, *, weights: Any = None, n_jobs: int | None = None) -> float:
    """log likelihood − ½ · parameters · log n (larger is better, as R's bnlearn writes it).

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.75, 0.25])
    >>> round(network.bic(pd.DataFrame({"rain": ["no", "yes"]})), 6)
    -2.02055
    """
    likelihood, rows = _likelihood(network, data, weights, n_jobs)
    return likelihood - 0.5 * as_float(network.parameters_count) * float(np.log(rows))


# ------------------------------------------------------------------------------------------------------------ inner ways


def _likelihood(network: BayesianNetwork, data: Any, weights: Any, n_jobs: int | None) -> tuple[float, float]:
    """The log likelihood, and the weight of the rows."""
    logs = network.log_probability(data, n_jobs=n_jobs)
    given = checked_weights(weights, len(logs), "weights")
    mass = np.ones(len(logs)) if given is None else given
    return float(logs[mass > 0] @ mass[mass > 0]), float(mass.sum())


def _learn(
    network: BayesianNetwork,
    statistic: FamilyStatistic,
    options: Options,
    stated: Mapping[str, Any],
    n_jobs: int | None,
) -> BayesianNetwork:
    """Give the network the distributions that the statistic and the options make; nothing is changed by an error."""
    check_known(options.prior, statistic.discrete)
    _check_learnable(statistic, options.missing)
    prior = {name: _believed(statistic, options.prior, name) for name in statistic.discrete}
    found = _tables(statistic, prior, options, network.limit, n_jobs)
    nodes: dict[str, AnyNode] = {name: _node(statistic, found.tables, name) for name in statistic.graph}
    _warn_unobserved(statistic, found.counts)
    network._nodes, network._graph = nodes, dict(statistic.graph)
    network._forget()
    network._learned = Learned(statistic, options, stated, found.counts)
    network.em_log_ = found.log
    return network


def _tables(
    statistic: FamilyStatistic, prior: Mapping[str, Array], options: Options, limit: float, n_jobs: int | None
) -> Climb:
    if options.missing == "em" and len(statistic.rows):
        return maximise(statistic, prior, options.steps, limit, n_jobs)
    counts = {name: statistic.available(statistic.family(name)) for name in statistic.discrete}
    return Climb({name: normalised(found + prior[name]) for name, found in counts.items()}, counts, [], True)


def _node(statistic: FamilyStatistic, tables: Mapping[str, Array], name: str) -> Node | GaussianNode:
    if name not in tables:
        return fit_gaussian(statistic, name)
    tables[name].flags.writeable = False
    return Node(name, statistic.known(name), statistic.graph[name], tables[name])


def _believed(statistic: FamilyStatistic, prior: Prior, name: str) -> Array:
    parents: Levels = {parent: statistic.known(parent) for parent in statistic.graph[name]}
    return prior.of(name, statistic.known(name), parents)


def _learned(network: BayesianNetwork, what: str) -> Learned:
    if network._learned is None:
        raise ValueError(
            f"{what} needs a network that was fitted, for it works on counts of rows; call fit(data) first (expert=, with equivalent_sample_size=, makes stated probabilities a prior)"
        )
    found: Learned = network._learned
    return found


def _refuse_noisy(network: BayesianNetwork) -> None:
    for name, node in network._nodes.items():
        if isinstance(node, NoisyNode):
            raise ValueError(
                f"{name!r} is a noisy-OR or noisy-MAX, whose few numbers fit does not learn; to learn a full table instead, state one first: network.add({name!r}, {list(node.levels)}, network.distribution({name!r}), parents={list(node.parents)})"
            )


def _checked_steps(steps: Steps) -> Steps:
    for what, value in (("max_iterations", steps.max_iterations), ("restarts", steps.restarts)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"{what} is {value!r}, expected a whole number from 1")
    least = steps.tolerance
    if isinstance(least, bool) or not isinstance(least, int | float | np.number) or not 0 <= least < 1:
        raise ValueError(f"tolerance is {least!r}, expected a number from 0, below 1")
    return replace(steps, random_state=_seed(steps.random_state))


def _seed(random_state: Any) -> Any:
    """A seed that gives the same start whenever statistics are added to and learned from again."""
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return int(random_state.integers(2**32) if isinstance(random_state, np.random.Generator) else random_state.randint(2**31))  # fmt: skip
    return np.random.SeedSequence().entropy if random_state is None else random_state


def _check_learnable(statistic: FamilyStatistic, missing: str) -> None:
    hidden = statistic.never_observed()
    for name in statistic.moments:
        lost = [parent for parent in statistic.discrete_parents(name) if parent in hidden]
        if lost:
            raise ValueError(f"no row knows {lost[0]!r}, on which the numeric {name!r} depends: what is never observed is learned from discrete columns alone; discretise {name!r}, or remove the arc")  # fmt: skip
    if hidden and len(hidden) == len(statistic.discrete):
        raise ValueError(f"no row holds a value of {', '.join(map(repr, hidden[:MOST_NAMED]))}; there is nothing to learn from")  # fmt: skip
    if hidden and missing == "available":
        raise ValueError(
            f"no row knows {hidden[0]!r}, so that missing='available' learns nothing of it; use missing='em'"
        )


def _check_same_arcs(first: FamilyStatistic, second: FamilyStatistic) -> None:
    for name in (*first.graph, *second.graph):
        if name not in first.graph or name not in second.graph:
            raise ValueError(f"the networks cannot be added: only one of them has the variable {name!r}")
        mine, theirs = first.graph[name], second.graph[name]
        if set(mine) != set(theirs):
            raise ValueError(f"the networks cannot be added: {title([name], mine)} in one is {title([name], theirs)} in the other; their arcs must be the same")  # fmt: skip


def _warn_unobserved(statistic: FamilyStatistic, found: Mapping[str, Array]) -> None:
    """One warning for all configurations of parents that no row shows."""
    empty = {name: int((table.sum(axis=-1) == 0).sum()) for name, table in found.items() if table.ndim > 1}
    empty |= {name: unobserved_configurations(statistic, name) for name in statistic.moments}
    lines = [f"{count} of {title([name], statistic.graph[name])}" for name, count in empty.items() if count]
    if lines:
        warn_user(
            f"configurations of parents that no row shows: {_listed(lines)}; there the network says what the prior says alone (for numbers, what all rows together say)",
            UnobservedParentsWarning,
        )


def _listed(lines: Sequence[str]) -> str:
    more = len(lines) - MOST_NAMED
    return ", ".join(lines[:MOST_NAMED]) + (f", and those of {more} more variables" if more > 0 else "")
