"""The joint distribution of named variables: a table of probabilities that answers questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np

from merula.core import Array, InputError, one_of
from merula.data.schema import Label, sort_labels
from merula.data.table import plain_label
from merula.graphs.factors.conditional import ConditionalDistribution
from merula.graphs.factors.errors import ImpossibleEvidenceError
from merula.graphs.factors.events import (
    as_numbers,
    constraints,
    described,
    evaluated,
    fixed_levels,
    joined,
    restricted,
    spread,
)
from merula.graphs.factors.frequencies import count_rows
from merula.graphs.factors.named import NamedTable, first_largest
from merula.graphs.factors.names import Levels, chosen, key_of, rank_of
from merula.graphs.factors.probability_tables import checked_size, read_joint


@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class JointDistribution(NamedTable):
    """The joint distribution P(variables): one probability for each combination of their levels, which sum to 1.

    Parameters
    ----------
    variables : str, sequence of str, or mapping
        The variables' names, or ``{name: levels}`` to say which levels there are and in which order. A table that names
        its columns may stand here alone.
    probabilities : mapping, array or table
        ``{levels: probability}`` (combinations that are not listed have probability 0); an array with one axis for each
        variable, for levels that are stated; a data frame or a list of dicts with a column "probability"; or a pandas
        Series with a named index. They must sum to 1 within 1e-6, and are then normalised.

    Attributes
    ----------
    variables : tuple of str
        The names, in the order of the axes.
    levels : mapping
        The levels of each variable, in the order of its axis.
    values : read-only array
        The probabilities, one axis for each variable.

    Notes
    -----
    A cell is named by the tuple of its levels; where there is one variable, by the level itself.

    Examples
    --------
    >>> import merula as mr
    >>> shapes = mr.JointDistribution(
    ...     ["color", "shape", "category"],
    ...     {
    ...         ("red", "circle", "pos"): 0.20, ("red", "square", "pos"): 0.02,
    ...         ("blue", "circle", "pos"): 0.02, ("blue", "square", "pos"): 0.01,
    ...         ("red", "circle", "neg"): 0.05, ("red", "square", "neg"): 0.30,
    ...         ("blue", "circle", "neg"): 0.20, ("blue", "square", "neg"): 0.20,
    ...     },
    ... )
    >>> shapes.marginal("color", "shape")
    P(color, shape)
    color  shape   probability
    red    circle         0.25
    red    square         0.32
    blue   circle         0.22
    blue   square         0.21
    >>> round(shapes.probability(category="pos", given={"color": "red", "shape": "circle"}), 12)
    0.8
    """

    def __init__(self, variables: Any, probabilities: Any = None) -> None:
        if probabilities is None:
            variables, probabilities = None, variables
        levels, values = read_joint(variables, probabilities)
        self._become(tuple(levels), levels, values)

    @classmethod
    def from_rows(cls, data: Any, variables: Any = None, weights: Any = None, *, missing: str = "error") -> Self:
        """The relative frequencies of a table's rows.

        P(cell) = Σ weights of the rows in the cell / Σ weights

        Parameters
        ----------
        data : data frame, array, list of rows or of dicts, or mapping of columns
            The rows to count.
        variables : None, sequence of str, or mapping
            The columns to count, by name or as ``{name: levels}``; they name the columns of an array. By default all, with
            the levels that were met, sorted.
        weights : None, array or str
            How often each row counts, or the column that says so.
        missing : "error", "drop" or "level"
            Rows with a missing cell are an error, are not counted, or have None for a level.

        Examples
        --------
        >>> import merula as mr
        >>> mr.JointDistribution.from_rows({"sky": ["clear", "grey", "grey", "grey"], "rain": [False, True, False, True]})
        P(sky, rain)
        sky    rain   probability
        clear  False         0.25
        clear  True             0
        grey   False         0.25
        grey   True           0.5
        """
        levels, values = count_rows(data, variables, weights, missing)
        return cls._of(tuple(levels), levels, values)

    # ------------------------------------------------------------------------------------------------------- probability

    def probability(self, event: Any = None, /, *, given: Any = None, **levels: Any) -> float:
        """The probability of an event, also given another: P(event and given) / P(given).

        Parameters
        ----------
        event : mapping or function
            ``{variable: level}``, ``{variable: set of levels}`` or ``{variable: predicate}``, all of which must hold; or a
            predicate whose arguments are called like variables (one called ``outcome`` gets the dict of all).
        given : None, mapping or function
            What is known, stated the same way. Probability 0 raises `ImpossibleEvidenceError`.
        **levels
            The event by keywords; a variable called "given" can only stand in a mapping.

        Examples
        --------
        >>> import merula as mr
        >>> die = mr.JointDistribution("face", {face: 1 / 6 for face in range(1, 7)})
        >>> round(die.probability(face={1, 3, 5}), 12), round(die.probability(lambda face: face > 4), 12)
        (0.5, 0.333333333333)
        >>> round(die.probability(face=3, given={"face": {1, 3, 5}}), 12)
        0.333333333333
        """
        demands = constraints(joined(event, levels), self.levels)
        if given is None:
            return float(restricted(self.values, demands).sum())
        known = restricted(self.values, constraints(given, self.levels))
        return float(restricted(known, demands).sum()) / self._possible(known, given)

    def _possible(self, known: Array, evidence: Any) -> float:
        """The probability of the evidence, which must not be 0."""
        total = float(known.sum())
        if not total:
            raise ImpossibleEvidenceError(f"{described(evidence)} has probability 0", remedy="condition on something that can happen")  # fmt: skip
        return total

    def given(self, evidence: Any = None, /, **levels: Any) -> JointDistribution:
        """P(the rest given evidence): variables set to one level drop out, those that may take several stay.

        Parameters
        ----------
        evidence : mapping or function
            As for `probability`.
        **levels
            The evidence by keywords.

        Examples
        --------
        >>> import merula as mr
        >>> weather = mr.JointDistribution(["sky", "rain"], {("clear", "no"): 0.5, ("grey", "no"): 0.25, ("grey", "yes"): 0.25})
        >>> weather.given(sky="grey")
        P(rain)
        rain  probability
        no            0.5
        yes           0.5
        """
        evidence = joined(evidence, levels)
        known = restricted(self.values, constraints(evidence, self.levels))
        total = self._possible(known, evidence)
        dropped = fixed_levels(evidence, self.levels)
        index = tuple(dropped.get(name, slice(None)) for name in self.variables)
        left = tuple(name for name in self.variables if name not in dropped)
        return JointDistribution._of(left, [self.levels[name] for name in left], np.asarray(known[index] / total))

    def marginal(self, *variables: Any) -> JointDistribution:
        """P(variables), the others summed out, in the order asked for: the sum rule.

        P(x) = Σ_y P(x, y)

        Examples
        --------
        >>> import merula as mr
        >>> weather = mr.JointDistribution(["sky", "rain"], {("clear", "no"): 0.5, ("grey", "no"): 0.25, ("grey", "yes"): 0.25})
        >>> weather.marginal("rain")["no"]
        0.75
        """
        names = chosen([name for group in variables for name in ([group] if isinstance(group, str) else group)], self.variables)  # fmt: skip
        summed = tuple(axis for axis, name in enumerate(self.variables) if name not in names)
        kept = [name for name in self.variables if name in names]
        values = self.values.sum(axis=summed) if summed else self.values
        ordered = np.asarray(values).transpose([kept.index(name) for name in names])
        return JointDistribution._of(names, [self.levels[name] for name in names], ordered)

    def conditional(self, variables: Any, given: Any) -> ConditionalDistribution:
        """P(variables given given), a distribution for each combination of the levels of `given`.

        Examples
        --------
        >>> import merula as mr
        >>> weather = mr.JointDistribution(["sky", "rain"], {("clear", "no"): 0.5, ("grey", "no"): 0.25, ("grey", "yes"): 0.25})
        >>> weather.conditional("rain", given="sky")
        P(rain given sky)
        sky     no  yes
        clear    1    0
        grey   0.5  0.5
        """
        targets, parents, _ = self._apart(variables, given, ())
        table = self.marginal(*parents, *targets)
        weight = table.values.sum(axis=tuple(range(len(parents), len(table.variables))))
        wide = weight.reshape(weight.shape + (1,) * len(targets))
        values = np.divide(table.values, wide, out=np.zeros_like(table.values), where=wide > 0)
        return ConditionalDistribution._of(targets, parents, table.levels, values)

    def times(self, other: JointDistribution | ConditionalDistribution) -> JointDistribution:
        """The product P(prior)·P(other given prior): the product rule; of two distributions of other variables, if they are independent.

        Examples
        --------
        >>> import merula as mr
        >>> box = mr.JointDistribution("box", {"B1": 3 / 5, "B2": 2 / 5})
        >>> ball = mr.ConditionalDistribution("ball", "box", {"B1": {"white": 2 / 3, "black": 1 / 3}, "B2": {"white": 1 / 2, "black": 1 / 2}})
        >>> box.times(ball).marginal("ball")  # total probability
        P(ball)
        ball   probability
        white          0.6
        black          0.4
        """
        if isinstance(other, ConditionalDistribution):
            return other.times(self)
        if not isinstance(other, JointDistribution):
            raise TypeError(f"got {other!r}, expected a JointDistribution or a ConditionalDistribution")
        shared = [name for name in self.variables if name in other.variables]
        if shared:
            raise InputError(f"both distributions have {shared[0]!r}", remedy=f"multiply by a conditional that is given {shared[0]!r}")  # fmt: skip
        levels = {**self.levels, **other.levels}
        checked_size(levels)
        return JointDistribution._of(tuple(levels), levels, np.multiply.outer(self.values, other.values))

    def __mul__(self, other: Any) -> JointDistribution:
        return self.times(other) if isinstance(other, JointDistribution | ConditionalDistribution) else NotImplemented

    __rmul__ = __mul__  # a conditional times its prior is the same product

    # --------------------------------------------------------------------------------------------------- random variables

    def derive(self, name: str, function: Any, *, of: Any = None) -> JointDistribution:
        """The joint with one more variable, a function of those it has.

        Parameters
        ----------
        name : str
            What to call it.
        function : function or mapping
            Its arguments are called like the variables it needs, or it is a mapping of their levels. Numbers become levels
            in ascending order, other values in order of appearance.
        of : None, str or sequence of str
            The variables to pass by position, or whose levels the mapping names.

        Examples
        --------
        >>> import merula as mr
        >>> die = mr.JointDistribution("face", {face: 1 / 6 for face in range(1, 7)})
        >>> die.derive("parity", lambda face: face % 2).marginal("parity")
        P(parity)
        parity  probability
        0               0.5
        1               0.5
        """
        if not isinstance(name, str) or name in self.levels:
            raise InputError(f"the new variable is called {name!r}", expected=f"a word that is not among {list(self.variables)}")  # fmt: skip
        names, found = evaluated(function, self.levels, of)
        labels = [plain_label(value) for value in found.flat]
        met = tuple(dict.fromkeys(labels))
        new = sort_labels(met) if all(isinstance(label, int | float) for label in met) else met
        levels = {**self.levels, name: new}
        checked_size(levels)
        rank = {label: index for index, label in enumerate(new)}
        codes = np.array([rank[label] for label in labels], dtype=np.int64).reshape(found.shape)
        takes = spread(codes, names, self.variables)[..., None] == np.arange(len(new))
        return JointDistribution._of(tuple(levels), levels, self.values[..., None] * takes)

    def expectation(self, function: Any, *, of: Any = None) -> float:
        """The mean of a function of the variables, or of a variable whose levels are numbers.

        E = Σ_x P(x)·function(x)

        Parameters
        ----------
        function : str, function or mapping
            A variable's name, or as for `derive`.
        of : None, str or sequence of str
            As for `derive`.

        Examples
        --------
        >>> import merula as mr
        >>> die = mr.JointDistribution("face", {face: 1 / 6 for face in range(1, 7)})
        >>> round(die.expectation("face"), 12), round(die.expectation(lambda face: face**2), 12)
        (3.5, 15.166666666667)
        """
        if isinstance(function, str):
            function, of = (lambda level: level), chosen(function, self.variables)
        names, found = evaluated(function, self.levels, of)
        numbers, weight = as_numbers(found, "the function"), self.marginal(*names).values
        return float((numbers[weight > 0] * weight[weight > 0]).sum())

    # ------------------------------------------------------------------------------------------ independence, information

    def independent(self, first: Any, second: Any, *, given: Any = (), tolerance: float = 1e-9) -> bool:
        """True if two variables, or groups of them, are independent, also given others.

        |P(first, second given g) − P(first given g)·P(second given g)| ≤ tolerance for every g that can happen

        Examples
        --------
        >>> import merula as mr
        >>> dice = mr.JointDistribution("first", {1: 0.5, 2: 0.5}) * mr.JointDistribution("second", {1: 0.5, 2: 0.5})
        >>> throws = dice.derive("sum", lambda first, second: first + second)
        >>> throws.independent("first", "second"), throws.independent("first", "second", given="sum")
        (True, False)
        """
        one, other, known = self._apart(first, second, given)
        groups = [int(np.prod([len(self.levels[name]) for name in names])) for names in (known, one, other)]
        cells = self.marginal(known + one + other).values.reshape(groups)
        weight = cells.sum(axis=(1, 2))
        possible = cells[weight > 0] / weight[weight > 0][:, None, None]
        separate = possible.sum(axis=2)[:, :, None] * possible.sum(axis=1)[:, None, :]
        return float(np.abs(possible - separate).max()) <= tolerance

    def entropy(self, *variables: str, given: Any = ()) -> float:
        """H(variables given given) in bits, of all variables if none is named: −Σ p·log2 p, with 0·log 0 = 0.

        Examples
        --------
        >>> import merula as mr
        >>> mr.JointDistribution("coin", {"heads": 0.5, "tails": 0.5}).entropy()
        1.0
        """
        known = chosen(given, self.variables)
        asked = chosen(variables, self.variables) or tuple(name for name in self.variables if name not in known)
        return max(0.0, self._bits(tuple(name for name in asked if name not in known) + known) - self._bits(known))

    def mutual_information(self, first: Any, second: Any, *, given: Any = ()) -> float:
        """I(first; second given given) in bits: what knowing one tells about the other; 0 if they are independent.

        I = Σ p(a, b, g)·log2(p(a, b, g)·p(g) / (p(a, g)·p(b, g)))

        Examples
        --------
        >>> import merula as mr
        >>> twins = mr.JointDistribution(["one", "other"], {("fair", "fair"): 0.5, ("dark", "dark"): 0.5})
        >>> twins.mutual_information("one", "other")
        1.0
        """
        one, other, known = self._apart(first, second, given)
        alone = self._bits(one + known) + self._bits(other + known)
        return max(0.0, alone - self._bits(one + other + known) - self._bits(known))

    def _bits(self, variables: tuple[str, ...]) -> float:
        """H(variables) = −Σ p·log2 p, with 0·log 0 = 0."""
        values = self.marginal(variables).values
        positive = values[values > 0]
        return max(0.0, -float((positive * np.log2(positive)).sum()))

    def _apart(self, *groups: Any) -> tuple[tuple[str, ...], ...]:
        """Three groups of variables, none of them in two, the first two not empty."""
        found = tuple(chosen(names, self.variables) for names in groups)
        together = [name for group in found for name in group]
        twice = next((name for name in together if together.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"variable {twice!r} stands in two of the groups {[list(group) for group in found]}", remedy="name it once")  # fmt: skip
        if not found[0] or not found[1]:
            raise InputError("a group of variables is empty", remedy="name at least one variable on either side")
        return found

    # ---------------------------------------------------------------------------------------------------------- decisions

    def bayes_rule(self, target: str) -> dict[Any, Label]:
        """The Bayes classifier of a variable: ``{levels of the others: the most probable level}``, of equal ones the first.

        Examples
        --------
        >>> import merula as mr
        >>> weather = mr.JointDistribution(["sky", "rain"], {("clear", "no"): 0.5, ("grey", "no"): 0.2, ("grey", "yes"): 0.3})
        >>> weather.bayes_rule("rain")
        {'clear': 'no', 'grey': 'yes'}
        """
        others, values = self._target_last(target)
        best = [self.levels[target][index] for index in first_largest(values).reshape(-1).tolist()]
        return dict(zip(map(key_of, product(*others.values())), best, strict=True))

    def bayes_error(self, target: str) -> float:
        """How often the Bayes classifier of a variable errs, which no other rule undercuts: 1 − Σ_x max_c P(c, x).

        Examples
        --------
        >>> import merula as mr
        >>> weather = mr.JointDistribution(["sky", "rain"], {("clear", "no"): 0.5, ("grey", "no"): 0.2, ("grey", "yes"): 0.3})
        >>> round(weather.bayes_error("rain"), 12)
        0.2
        """
        return max(0.0, 1.0 - float(self._target_last(target)[1].max(axis=-1).sum()))

    def error_of(self, rule: Any, target: str) -> float:
        """How often a rule errs: P(target ≠ rule(the others)).

        Parameters
        ----------
        rule : function or mapping
            A function whose arguments are called like other variables, or ``{levels of the others: level}``.
        target : str
            The variable that it decides.

        Examples
        --------
        >>> import merula as mr
        >>> weather = mr.JointDistribution(["sky", "rain"], {("clear", "no"): 0.5, ("grey", "no"): 0.2, ("grey", "yes"): 0.3})
        >>> weather.error_of(lambda sky: "no", "rain")
        0.3
        """
        others, values = self._target_last(target)
        names, answers = evaluated(rule, others)
        indices = np.empty(answers.shape, dtype=np.int64)
        for cell in np.ndindex(answers.shape):
            indices[cell] = rank_of(answers[cell], target, self.levels[target])
        decided = spread(indices, names, tuple(others))[..., None] == np.arange(values.shape[-1])
        return float(np.where(decided, 0.0, values).sum())

    def _target_last(self, target: str) -> tuple[Levels, Array]:
        """The other variables' levels, and the table with the target's axis last."""
        axis = self.variables.index(one_of(target, self.variables, "target"))
        others = {name: labels for name, labels in self.levels.items() if name != target}
        return others, np.moveaxis(self.values, axis, -1)
