"""Networks that learn from tables: `fit`, `partial_fit`, `counts`, `log_likelihood`, `aic` and `bic` are methods of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core import Array, InputError, as_float
from merula.core.checks import one_of
from merula.data.encode import checked_weights
from merula.graphs.network import fitting
from merula.graphs.network.em import Steps
from merula.graphs.network.pseudo_counts import read_prior

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork


def fit(
    network: BayesianNetwork,
    data: Any,
    *,
    weights: Any = None,
    pseudo_counts: Any = None,
    equivalent_sample_size: float | None = None,
    expert: BayesianNetwork | None = None,
    missing: str = "em",
    method: str = "em",
    target: str | None = None,
    ridge: float | None = None,
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
        Rows with missing cells. "em": every row is shared out over its completions by exact inference, until log likelihood + log
        prior has converged (``em_log_`` keeps its course). "available": each table from the rows that know that variable
        and its parents. Numeric variables are always learned in this second way, and the discrete ones from discrete columns
        alone.
    method : {"em", "gradient"}
        How log likelihood + log prior is climbed where cells are missing. "em": by expectation-maximisation. "gradient": by
        L-BFGS on the logarithms of the tables, whose derivatives are the same expected counts, and on by EM until its steps, too,
        have converged. With pseudo-counts both reach the same tables from the same start, the gradient with fewer passes over the
        rows where much is missing or a variable is never observed. Without them (below 0.01) a likelihood has many tops: EM then climbs
        too, and the higher of the two is kept.
    target : str, optional
        With ``method="gradient"``: the variable that the network is to tell from all others. From the tables learned as above,
        Σ weight · log P(target given the rest of the row) − ½ · ridge · Σ_cells tilt² is climbed, where
        P(level given parents) ∝ learned · exp(tilt). What was impossible stays so. `predict_rows` then answers better, above
        all where variables depend on each other in ways that the arcs do not say; other questions lose what it gains, and
        the tables are made of no counts: `partial_fit` and ``+`` are errors. Every number must be cut into intervals before, or
        hang from no level.
    ridge : float, optional
        How firmly a `target` holds the tables near those learned from all variables: 10 by default. Less fits the rows
        more closely and pays with many rows; with few, and large tables of parents, more is safer.
    levels : mapping, optional
        ``{"size": ["small", "large"]}`` fixes levels and their order. A variable named here may lack from the table: it is
        learned as one that is never observed.
    kinds : mapping or str, optional
        "numeric" or "categorical" for each column, or one word for all.
    max_iterations, tolerance : int, float
        A climb stops when what it climbs rises by less than `tolerance` of its size, or after so many steps with a warning.
    restarts : int
        The climb begins this often and the best is kept: the first time at what complete families say, then at random.
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

    Two thermometers say the same twice. Counted tables take them for two witnesses, tables fitted for the target do not:

    >>> rows = pd.DataFrame({"ill": ["yes"] * 40 + ["no"] * 40, "forehead": (["hot"] * 30 + ["cold"] * 10) + (["hot"] * 10 + ["cold"] * 30)})
    >>> rows["ear"] = rows["forehead"]
    >>> network = mr.BayesianNetwork([("ill", "forehead"), ("ill", "ear")])
    >>> network.fit(rows, pseudo_counts=0).predict_rows(rows.head(1), "ill").round(2)
    array([[0.1, 0.9]])
    >>> network.fit(rows, pseudo_counts=0, method="gradient", target="ill", ridge=0.1).predict_rows(rows.head(1), "ill").round(2)
    array([[0.25, 0.75]])
    """
    prior = read_prior(pseudo_counts, equivalent_sample_size, expert)
    steps = Steps(max_iterations, tolerance, restarts, random_state, method)
    options = fitting.read_options(prior, missing, steps, None, target, ridge)
    return network._take(fitting.fitted(network, options, data, weights, levels or {}, kinds, n_jobs))


def partial_fit(
    network: BayesianNetwork, data: Any, *, weights: Any = None, n_jobs: int | None = None
) -> BayesianNetwork:
    """Add further rows to those the network was fitted on; the network itself comes back, as if fitted on all at once.

    The options of `fit` stay. Complete rows are added to the counts; with missing cells the likelihood is climbed anew, from
    the counts and the distinct incomplete rows of all tables. After a fit for a `target` it is an error. New levels are learned unless they were stated.
    The arcs stay too, but for those of a tree that ``learn_structure(method="chow-liu")`` found: it is found anew.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> network = mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["yes", "no"]}))
    >>> network.partial_fit(pd.DataFrame({"rain": ["no", "no"]})).counts("rain").tolist()
    [3.0, 1.0]
    """
    return network._take(fitting.fitted_further(network, data, weights, n_jobs))


def faded(network: BayesianNetwork, factor: float) -> BayesianNetwork:
    """The network whose rows so far count `factor` times what they did, exactly as if they had been fitted with these weights.

    For what changes slowly: let old rows fade, then go on with `partial_fit`. The arcs stay, and so does the prior: what it says
    counts for more beside fewer rows. After a fit for a `target`, whose tables are made of no counts, it is an error.

    Parameters
    ----------
    factor : float
        Above 0, at most 1.

    Examples
    --------
    >>> import merula as mr, pandas as pd
    >>> network = mr.BayesianNetwork({"rain": []}).fit(pd.DataFrame({"rain": ["yes", "yes", "no", "yes"]}))
    >>> network.faded(0.5).partial_fit(pd.DataFrame({"rain": ["no", "no"]})).counts("rain").tolist()  # 1 / 2 + 2, 3 / 2
    [2.5, 1.5]
    """
    return network._with(fitting.faded(network, factor))


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
    found = fitting.kept(network, "counts").counts
    if one_of(name, network.graph, "a variable") not in found:
        raise InputError(f"{name!r} is numeric and has no counts", where=f"variable {name!r}", remedy=f"see distribution({name!r})")  # fmt: skip
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


def _likelihood(network: BayesianNetwork, data: Any, weights: Any, n_jobs: int | None) -> tuple[float, float]:
    """The log likelihood, and the weight of the rows."""
    logs = network.log_probability(data, n_jobs=n_jobs)
    given = checked_weights(weights, len(logs), "weights")
    mass = np.ones(len(logs)) if given is None else given
    return float(logs[mass > 0] @ mass[mass > 0]), float(mass.sum())
