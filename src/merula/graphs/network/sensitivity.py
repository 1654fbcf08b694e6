"""Which numbers of a network matter to an answer: derivatives, one-way and two-way functions, the smallest change that is enough.

P(target given findings) = P(target, findings) / P(findings) is a ratio of linear functions of any one number of the network while
the others of its row keep their proportions (Castillo, Gutiérrez & Hadi 1997; Coupé & van der Gaag 2002). With p the answer now,
θ the number now, a and b the derivatives of both probabilities divided by P(findings):

answer(t) = (p + a · (t − θ)) / (1 + b · (t − θ)), answer′(θ) = a − p · b
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from merula.core import Array, InputError, one_of
from merula.data.schema import Label
from merula.data.table import build_frame, label_array
from merula.graphs.factors.names import rank_of
from merula.graphs.network.building import refuse_numeric
from merula.graphs.network.evidence import check_possible
from merula.graphs.network.hybrid import evidence_pieces
from merula.graphs.network.one_way import Change, OneWay, Swing, constraint, log_odds_step
from merula.graphs.network.parameters import Parameter, number_of, rows_of
from merula.graphs.network.two_way import TwoWay, two_way
from merula.show.html import html_block, html_table
from merula.show.numbers import fixed, percent
from merula.show.terminal import colored
from merula.show.text import shortened, text_table

if TYPE_CHECKING:
    from merula.graphs.network.network import BayesianNetwork

MOST_SHOWN, LONGEST = 12, 72  # numbers that are printed, and signs of each: its end often tells it from others
ROUNDING = 1e-13
COPIES = 4  # of the tree's tables: two pieces of evidence, products from either side


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """How an answer of a network depends on each of its numbers; those on which it does not depend are left out.

    ``derivatives``, ``numerators`` and ``denominators`` have an entry for each of the ``parameters``, the strongest first.
    """

    question: str
    answer: float
    parameters: tuple[Parameter, ...]
    numerators: Array
    denominators: Array
    derivatives: Array
    _network: BayesianNetwork
    _asked: tuple[str, Label, Mapping[str, Any]]

    def __len__(self) -> int:
        return len(self.parameters)

    def __iter__(self) -> Iterator[OneWay]:
        return (self._function(k) for k in range(len(self)))

    def __getitem__(self, index: int) -> OneWay:
        return self._function(range(len(self))[index])

    def _function(self, k: int) -> OneWay:
        return OneWay(self.parameters[k], self.answer, float(self.numerators[k]), float(self.denominators[k]))

    def function(self, variable: str, level: Label, given: Mapping[str, Label] | None = None) -> OneWay:
        """The answer as a function of P(variable = level given these levels of its parents)."""
        network, known = self._network, dict(given or {})
        one_of(variable, network.graph, "a variable")
        for k, one in enumerate(self.parameters):
            if one.variable == variable and one.level == level and dict(one.given) == known:
                return self._function(k)
        return OneWay(number_of(network._stated(), variable, level, known), self.answer, 0.0, 0.0)

    # ---------------------------------------------------------------------------------------------------------- changes

    def swings(self, by: float = 0.1) -> tuple[Swing, ...]:
        """What becomes of the answer when each number is `by` of itself smaller or larger, the widest first.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("rain", ["yes", "no"], [0.2, 0.8])
        >>> for swing in network.sensitivity("rain", "yes").swings(by=0.5):
        ...     print(swing.parameter, round(swing.low, 4), round(swing.high, 4))
        P(rain = no) 0.6 0.0
        P(rain = yes) 0.1 0.3
        """
        if not isinstance(by, int | float) or not 0 < by <= 1:
            raise InputError.of("by", by, "a share above 0, up to 1")
        found = []
        for one in self:
            less, more = (1 - by) * one.parameter.value, min(1.0, (1 + by) * one.parameter.value)
            found.append(Swing(one.parameter, less, more, one(less), one(more)))
        return tuple(sorted(found, key=lambda swing: -round(swing.width, 12)))

    def sentences(self, by: float = 0.1, most: int = 5) -> list[str]:
        """The numbers that matter most, in words."""
        return [self._sentence(swing, percent(by)) for swing in self.swings(by)[:most]]

    def _sentence(self, swing: Swing, share: str) -> str:
        """What the larger of the two changes does: a number of 1 cannot be more."""
        more = abs(swing.high - self.answer) >= abs(swing.low - self.answer)
        word, end = ("more", swing.high) if more else ("less", swing.low)
        return f"{share} {word} on {swing.parameter} moves {self.question} from {fixed(self.answer)} to {fixed(end)}"

    def smallest_changes(self, *, at_least: float | None = None, at_most: float | None = None) -> tuple[Change, ...]:
        """For each number that can bring it about alone, the smallest change after which the answer is at least, or at most, this.

        The smallest comes first, measured by how far the log-odds of the number move (Chan & Darwiche 2002): a step from 0.5 to
        0.51 is small, one from 0.001 to 0.011 is not.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("flu", ["yes", "no"], [0.1, 0.9])
        >>> network = network.add("cough", ["yes", "no"], [[0.8, 0.2], [0.3, 0.7]], parents=["flu"])
        >>> found = network.sensitivity("flu", "yes", given={"cough": "yes"})
        >>> print(found.smallest_changes(at_least=0.5)[0])
        P(flu = no): 0.9000 → 0.7273
        """
        bound, met = constraint(at_least, at_most, self.answer)
        if met:
            return ()
        reached = [(one, one.reaching(bound)) for one in self]
        changes = [Change(one.parameter, value, one(value)) for one, value in reached if value is not None]
        return tuple(sorted(changes, key=lambda one: (round(log_odds_step(one), 12), str(one.parameter))))

    def two_way(self, first: Parameter, second: Parameter) -> TwoWay:
        """The answer as a function of two numbers at once; of the same row, the others share what both leave.

        Examples
        --------
        >>> import merula as mr
        >>> network = mr.BayesianNetwork().add("flu", ["yes", "no"], [0.1, 0.9])
        >>> network = network.add("cough", ["yes", "no"], [[0.8, 0.2], [0.3, 0.7]], parents=["flu"])
        >>> found = network.sensitivity("flu", "yes", given={"cough": "yes"})
        >>> flu, cough = (found.function(*named).parameter for named in (("flu", "yes"), ("cough", "yes", {"flu": "yes"})))
        >>> round(found.two_way(flu, cough)(0.2, 0.9), 4)
        0.4286
        """
        return two_way(self, first, second)

    # ------------------------------------------------------------------------------------------------------------ shown

    def to_frame(self, library: str = "pandas") -> Any:
        """A row for each number: what it is, its value, the derivative of the answer by it, the strongest first."""
        words = {"parameter": list(map(str, self.parameters)), "variable": [one.variable for one in self.parameters]}
        numbers = {"value": np.array([one.value for one in self.parameters]), "derivative": self.derivatives}
        return build_frame({name: label_array(held) for name, held in words.items()} | numbers, library)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        told = [
            {
                "variable": one.variable,
                "level": one.level,
                "given": dict(one.given),
                "value": one.value,
                "derivative": slope,
            }
            for one, slope in zip(self.parameters, self.derivatives.tolist(), strict=True)
        ]
        return {"question": self.question, "answer": self.answer, "parameters": told}

    def _shown(self) -> tuple[str, list[list[str]], str]:
        head = ["number", "is", "derivative", "10 % less", "10 % more"]
        rows = [
            [
                shortened(str(one.parameter), LONGEST, middle=True),
                fixed(one.parameter.value),
                f"{one.derivative:+.4g}",
                fixed(low),
                fixed(high),
            ]
            for one in (self[k] for k in range(min(len(self), MOST_SHOWN)))
            for low, high in [(one(0.9 * one.parameter.value), one(min(1.0, 1.1 * one.parameter.value)))]
        ]
        more = f"{len(self) - len(rows):,} more in to_frame()" if len(self) > len(rows) else ""
        return f"{self.question} = {fixed(self.answer)}", [head, *rows] if rows else [["no number changes it"]], more

    def __str__(self) -> str:
        title, rows, note = self._shown()
        return text_table(title, rows, 1, note)

    def __repr__(self) -> str:
        return str(self)

    __rich__ = colored

    def _repr_html_(self) -> str:
        title, rows, note = self._shown()
        return html_block(html_table(title, rows, 1, note))

    def plot(self, ax: Any = None, *, by: float = 0.1, top: int = 10) -> Any:
        """The matplotlib axes with a tornado: a bar from the answer with less to the answer with more of each number, widest on top."""
        from merula.graphs.network.tornado import tornado

        return tornado(self, ax, by, top)


def sensitivity(
    network: BayesianNetwork, target: str, level: Label, given: Any = None, *, limit: float | None = None
) -> Sensitivity:
    """How P(target = level given findings) depends on every number of the network: derivatives and exact functions.

    Two propagations give all of it: of the findings, and of the findings with the target. When a number changes, the others of its
    row keep their proportions; where it is 1, they share what it leaves alike. Numbers of a noisy-OR or noisy-MAX are what each
    cause alone brings about. Numbers of numeric variables (`LinearGaussian`) are not asked about; they may be known.

    Parameters
    ----------
    target : str
        The variable asked for.
    level : label
        The level of it whose probability is asked for.
    given : mapping, optional
        The findings, as for `query`.
    limit : float, optional
        As for the network.

    Examples
    --------
    >>> import merula as mr
    >>> network = mr.BayesianNetwork().add("flu", ["yes", "no"], [0.1, 0.9])
    >>> network = network.add("cough", ["yes", "no"], [[0.8, 0.2], [0.3, 0.7]], parents=["flu"])
    >>> found = network.sensitivity("flu", "yes", given={"cough": "yes"})
    >>> found.sentences(most=1)
    ['10 % more on P(flu = no) moves P(flu = yes given cough = yes) from 0.2286 to 0.0262']
    """
    nodes, evidence = network._stated(), network._read(given)
    one_of(target, nodes, "a variable asked for")
    refuse_numeric(nodes, "sensitivity", [target])
    code, inference = rank_of(level, target, nodes[target].levels), network._inference
    log, extra = evidence_pieces(nodes, inference, evidence, network._limit(limit)) if evidence.numbers else (0.0, [])
    pieces, found = inference.derivatives(target, code, evidence, network._limit(limit) / COPIES, extra)
    check_possible(-np.inf if np.isneginf(log) or not found.values[0] > 0 else 0.0, evidence)
    gains = [table / found.values[0] for table in found.tables[: len(pieces)]]
    answer = float(found.values[1] / found.values[0])
    question = f"P({target} = {nodes[target].levels[code]}{f' given {_findings(evidence)}' if evidence.stated else ''})"
    rows = rows_of(nodes, inference.names, pieces, gains)
    return _sorted(question, answer, rows, network, (target, nodes[target].levels[code], dict(given or {})))


def _findings(evidence: Any) -> str:
    return ", ".join(f"{name} = {known}" for name, known in evidence.stated.items())


def _sorted(question: str, answer: float, rows: Sequence[Any], network: BayesianNetwork, asked: Any) -> Sensitivity:
    """The numbers that matter, the strongest first; equal ones by their words."""
    parameters = [one for some in rows for one in some.parameters()]
    slopes = np.concatenate([some.slopes() for some in rows], axis=1) if rows else np.zeros((2, 0))
    below, above = slopes
    derivatives = above - answer * below
    felt = np.abs(derivatives) > ROUNDING * (
        np.abs(above) + answer * np.abs(below)
    )  # else the answer is the same whatever it is
    kept = np.flatnonzero(felt).tolist()
    kept.sort(key=lambda k: (-round(abs(float(derivatives[k])), 12), str(parameters[k])))
    return Sensitivity(
        question,
        answer,
        tuple(parameters[k] for k in kept),
        above[kept],
        below[kept],
        derivatives[kept],
        network,
        asked,
    )
