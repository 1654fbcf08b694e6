"""What is believed of a family before any row: pseudo-counts for each cell, applied to counts and never stored in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from merula.core import Array, InputError, Option
from merula.core.checks import checked_number, one_of
from merula.data.schema import Label
from merula.graphs.factors.names import Levels, title
from merula.graphs.structure.score import DEFAULT_SAMPLE_SIZE

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

LAPLACE = 1.0  # the pseudo-count of every cell unless another is asked for: that of every classifier


class Prior(Protocol):
    """Pseudo-counts for the cells of each discrete variable's family."""

    def of(self, name: str, levels: tuple[Label, ...], parents: Levels) -> Array:
        """What to add to the counts of a family: an axis for each parent, the variable's levels last."""


@dataclass(frozen=True)
class SamePseudoCount:
    """The same number of imaginary rows in every cell: 0 is maximum likelihood, 1 is Laplace's rule."""

    count: float

    def of(self, name: str, levels: tuple[Label, ...], parents: Levels) -> Array:
        return np.full(_shape(levels, parents), self.count)


@dataclass(frozen=True)
class BDeu:
    """equivalent_sample_size / (configurations · levels) in every cell: every joint configuration equally likely."""

    size: float

    def of(self, name: str, levels: tuple[Label, ...], parents: Levels) -> Array:
        shape = _shape(levels, parents)
        return np.full(shape, self.size / np.prod(shape, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class PerVariable:
    """A number for all cells of a variable's family or one for each cell; variables not named have none."""

    stated: Mapping[str, Array]

    def of(self, name: str, levels: tuple[Label, ...], parents: Levels) -> Array:
        shape, stated = _shape(levels, parents), self.stated.get(name, np.zeros(()))
        try:
            return np.broadcast_to(stated, shape).copy()
        except ValueError:
            raise InputError.at(f"pseudo_counts of {name!r}", f"has the shape {stated.shape}", got=stated.shape, expected=f"{shape}: an axis for each parent in the order {list(parents)}, then the levels {list(levels)}", remedy="or one number, or one for each level") from None  # fmt: skip


@dataclass(frozen=True, eq=False)
class Expert:
    """equivalent_sample_size · P_expert(parents, variable): as if the expert's network had shown that many rows."""

    network: BayesianNetwork
    size: float

    def of(self, name: str, levels: tuple[Label, ...], parents: Levels) -> Array:
        known = {**parents, name: levels}
        believed = self.network.query(tuple(known))
        for variable, own in known.items():
            _check_levels(variable, own, believed.levels[variable])
        indices = [[believed.levels[variable].index(level) for level in own] for variable, own in known.items()]
        return self.size * np.asarray(believed.values)[np.ix_(*indices)]


def read_prior(pseudo_counts: Any, equivalent_sample_size: Any, expert: Any) -> Prior:
    """The prior that the options of `fit` ask for; contradictory ones are an error.

    Examples
    --------
    >>> read_prior(None, None, None)
    SamePseudoCount(count=1.0)
    >>> read_prior("bdeu", 10, None).of("wet", ("no", "yes"), {"rain": ("no", "yes")}).tolist()
    [[2.5, 2.5], [2.5, 2.5]]
    """
    if expert is not None:
        return _read_expert(pseudo_counts, equivalent_sample_size, expert)
    if isinstance(pseudo_counts, str):
        one_of(pseudo_counts, ("bdeu",), "pseudo_counts")
        return BDeu(DEFAULT_SAMPLE_SIZE if equivalent_sample_size is None else _size(equivalent_sample_size))
    if equivalent_sample_size is not None:
        raise InputError((Option('equivalent_sample_size'), " does nothing with ", Option('pseudo_counts', pseudo_counts)), where='equivalent_sample_size', remedy=("it belongs to ", Option('pseudo_counts', 'bdeu'), " and to ", Option('expert')))  # fmt: skip
    if isinstance(pseudo_counts, Mapping):
        return PerVariable({name: _checked(f"pseudo_counts of {name!r}", stated) for name, stated in pseudo_counts.items()})  # fmt: skip
    stated = _checked("pseudo_counts", LAPLACE if pseudo_counts is None else pseudo_counts)
    if stated.ndim:
        raise InputError.at("pseudo_counts", f"has the shape {stated.shape}", got=stated.shape, expected="one number, 'bdeu', or {variable: number or array}")  # fmt: skip
    return SamePseudoCount(float(stated))


def prior_state(prior: Prior) -> dict[str, Any]:
    """A prior as plain data, with the nodes of an expert."""
    if isinstance(prior, Expert):
        return {"expert": list(prior.network._nodes.values()), "size": prior.size}
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in vars(prior).items()}


def prior_from(state: Mapping[str, Any]) -> Prior:
    """The prior that `state` describes."""
    if "expert" in state:
        from merula.graphs.network.network import BayesianNetwork  # a network's prior may be a network

        return Expert(BayesianNetwork._of(state["expert"]), _size(state["size"]))
    ((kind, stated),) = state.items()
    if kind not in ("count", "size", "stated") or isinstance(stated, Mapping) != (kind == "stated"):
        raise InputError(f"its prior is {dict(state)!r:.60}, which none is")
    return read_prior("bdeu", stated, None) if kind == "size" else read_prior(stated, None, None)


def _read_expert(pseudo_counts: Any, size: Any, expert: Any) -> Expert:
    if pseudo_counts is not None:
        raise InputError((Option('expert'), " and ", Option('pseudo_counts', pseudo_counts), " are two priors"), where='expert', remedy="give one of them")  # fmt: skip
    if not (hasattr(expert, "query") and hasattr(expert, "graph")):
        raise InputError.of("expert", expert, "a BayesianNetwork over the same variables")
    if size is None:
        raise InputError((Option('expert'), " needs ", Option('equivalent_sample_size'), ": how many rows the expert's word is worth"), where='expert')  # fmt: skip
    return Expert(expert._of(expert._stated().values(), expert.limit), _size(size))


def _size(size: Any) -> float:
    return float(checked_number(size, "equivalent_sample_size", "a number above 0", lambda rows: 0 < rows < np.inf))


def _checked(what: str, stated: Any) -> Array:
    """Pseudo-counts as an array of finite numbers from 0."""
    try:
        found = np.array(stated, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if isinstance(stated, bool) or not ((found >= 0) & (found < np.inf)).all():
        raise InputError.of(what, stated, "numbers from 0 (0 for maximum likelihood, 1 for Laplace's rule), 'bdeu', or {variable: number or array}")  # fmt: skip
    return found


def check_known(prior: Prior, discrete: tuple[str, ...]) -> None:
    """An error when the prior speaks of a variable that has no levels, or when it has nothing to say at all."""
    if isinstance(prior, PerVariable):
        for name in prior.stated:
            one_of(name, discrete, "a discrete variable of pseudo_counts")
    if isinstance(prior, Expert):
        for name in discrete:
            one_of(name, prior.network.variables, f"expert= has to know every discrete variable; {name!r}")
            if not prior.network.levels[name]:
                raise InputError((f"{name!r} has levels, but is numeric in ", Option('expert')), where=f"variable {name!r}", remedy="state it there by levels")  # fmt: skip
    if isinstance(prior, Expert | BDeu) and not discrete:
        raise InputError(("every variable is numeric: pseudo_counts and ", Option('expert'), " have nothing to smooth"), remedy="leave them out")  # fmt: skip


def _check_levels(name: str, own: tuple[Label, ...], believed: tuple[Label, ...]) -> None:
    if set(own) != set(believed):
        raise InputError.at(f"the levels of {name!r}", (f"are {list(believed)} in ", Option('expert'), f", but {list(own)} here: they must be the same, in any order"))  # fmt: skip


def _shape(levels: tuple[Label, ...], parents: Levels) -> tuple[int, ...]:
    return (*(len(known) for known in parents.values()), len(levels))


def same_prior(first: Array, second: Array, name: str, parents: tuple[str, ...]) -> None:
    """An error when two networks hold different beliefs of a family."""
    if not np.array_equal(first, second):
        raise InputError(f"the networks cannot be added: their pseudo-counts of {title([name], parents)} differ", remedy="fit both with the same prior")  # fmt: skip
