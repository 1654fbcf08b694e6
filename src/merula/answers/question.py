"""What to find out next: how much knowing each unknown column is expected to lower the risk of the decision.

reduction(column) = risk(known) − Σ_value P(value given known) · risk(known, value), risk = min_action expected cost
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import entr

from merula.answers.decision import DecisionClassifier, checked_reject_cost, least_risk, read_costs
from merula.answers.explanation.reasons import own_classifier
from merula.classify.base import BayesianClassifier
from merula.classify.conditionals import atoms, quantiles
from merula.classify.single_row import cells_of, encode_row
from merula.core import Array, InputError, Option, one_of, warn_of
from merula.core.logspace import log_sum_exp, to_posterior
from merula.data.encode import Cells, Encoded, with_cells
from merula.data.schema import Column
from merula.data.table import build_frame, label_array
from merula.show.html import html_block, html_table
from merula.show.numbers import fixed
from merula.show.terminal import colored
from merula.show.text import shortened, text_table

Integrand = Callable[[Array], Array]
MOST_SHOWN = 25  # questions that are printed
POINTS = 12  # in an interval
LANDMARKS = np.array([1e-15, 1e-9, 1e-5, 0.001, 0.02, 0.16, 0.5, 0.84, 0.98, 0.999, 1 - 1e-5, 1 - 1e-9, 1 - 1e-15])
MISSED = 1e-9  # of a column's mass, by an integral that must look again
GRID, ZOOMS = 65, 12  # places of a zoom on a peak, and how often it zooms in
TOLERANCE, ROUNDS = 1e-13, 40  # halves that agree with the whole to this are done; at most so many halvings


@dataclass(frozen=True)
class Question:
    """One unknown column: what knowing it is expected to be worth.

    `gain` is the reduction of the risk less the price; `information` the mutual information with the class, in nats;
    `error` bounds what quadrature may have missed of the reduction (0 for a column of levels).
    """

    column: str
    gain: float
    reduction: float
    price: float
    information: float
    error: float


@dataclass(frozen=True)
class Questions:
    """The columns not yet known, best first, and the risk of deciding now; `asked` says which part of a pool told it."""

    risk: float
    questions: tuple[Question, ...]
    asked: str = ""

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, index: int) -> Question:
        return self.questions[index]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        found = {"risk": self.risk, "questions": [vars(question) for question in self.questions]}
        return found | ({"asked": self.asked} if self.asked else {})

    def to_frame(self, library: str = "pandas") -> Any:
        """The questions as a table of this library, best first.

        Examples
        --------
        >>> import merula as mr
        >>> tables = {"cough": {"well": {"no": 0.8, "yes": 0.2}, "ill": {"no": 0.2, "yes": 0.8}}}
        >>> model = mr.NaiveBayesClassifier.from_tables({"well": 0.5, "ill": 0.5}, tables)
        >>> mr.next_question(model, {}).to_frame()[["column", "gain", "price"]].round(3)
          column  gain  price
        0  cough   0.3    0.0
        """
        numbers = ("gain", "reduction", "price", "information", "error")
        held = {name: np.array([getattr(one, name) for one in self], dtype=np.float64) for name in numbers}
        return build_frame({"column": label_array([one.column for one in self])} | held, library)

    def _shown(self) -> tuple[str, list[list[str]], str]:
        """A title, the best questions as rows, and what is to be said below them."""
        head = ["column", "gain", "lowers risk by", "price", "information"]
        rows = [
            [shortened(q.column, 40), *(f"{value:.4g}" for value in (q.gain, q.reduction, q.price, q.information))]
            for q in self.questions[:MOST_SHOWN]
        ]
        more = f"{len(self) - len(rows):,} more in to_frame()" if len(self) > len(rows) else ""
        title = f"risk of deciding now: {self.risk:.4g}"
        return title, [head, *rows] if rows else [["nothing to ask"]], "\n".join(filter(None, (more, self.asked)))

    def __str__(self) -> str:
        title, rows, note = self._shown()
        return text_table(title, rows, 1, note)

    def __repr__(self) -> str:
        return str(self)

    __rich__ = colored

    def _repr_html_(self) -> str:
        title, rows, note = self._shown()
        return html_block(html_table(title, rows, 1, note))


def next_question(
    model: Any, row: Any, costs: Any = None, prices: Any = None, *, reject_cost: float | None = None
) -> Questions:
    """The columns not yet known of a row, ranked by how much knowing each is expected to lower the risk, less its price.

    Parameters
    ----------
    model : a fitted merula classifier that averages missing cells out, or a DecisionClassifier around one
        Of an AutoBayesClassifier, which gives no P(row), its joint part `joint_` is asked; the answer says so.
    row : mapping, sequence, pandas Series or table of one row
        What is known; columns that a mapping does not name are unknown.
    costs : optional
        As for `decide`; by default the 0/1 loss, or the costs of the DecisionClassifier.
    prices : None, number or {column: price}
        What it costs to find a column out, in the unit of the costs; columns not named are free.
    reject_cost : float, optional
        What it costs to make no decision.

    Notes
    -----
    Columns of levels, and counts, are summed exactly; texts are not asked about. Numbers are integrated by adaptive Gauss–Lobatto quadrature, with the error
    stated. Ties are broken by mutual information with the class, then by name.

    Examples
    --------
    >>> import merula as mr
    >>> tables = {
    ...     "x-ray": {"ill": {"shadow": 0.9, "clear": 0.1}, "well": {"shadow": 0.1, "clear": 0.9}},
    ...     "cough": {"ill": {"yes": 0.6, "no": 0.4}, "well": {"yes": 0.4, "no": 0.6}},
    ... }
    >>> model = mr.NaiveBayesClassifier.from_tables({"ill": 0.5, "well": 0.5}, tables)
    >>> print(mr.next_question(model, {}, prices={"x-ray": 0.2}))
    risk of deciding now: 0.5
    column  gain  lowers risk by  price  information
    x-ray    0.2             0.4    0.2       0.3681
    cough    0.1             0.1      0      0.02014
    """
    if isinstance(model, DecisionClassifier):
        costs = model.costs if costs is None else costs
        reject_cost = model.reject_cost if reject_cost is None else reject_cost
    inner = own_classifier(model, "it cannot say what an unknown column may hold")
    model = askable(vars(inner).get("joint_", inner))
    known = encode_row(model, row)
    log_joint = model.fitted_.log_joint(known)
    warn_of(model._notes(known))
    table = read_costs(costs, model.classes_).table
    view = _View(model, known, table, checked_reject_cost(reject_cost), known_evidence(log_joint))
    cells, paid = cells_of(model, known), _prices(prices, model.schema_.names)
    risk, entropy, _ = view.outcome(log_joint)[0]
    found = [
        _question(view, column, paid.get(column.name, 0.0), risk, entropy)
        for column in model.schema_.columns
        if column.kind not in ("ignore", "text") and cells[column.name] is None
    ]
    found.sort(key=lambda q: (-round(q.gain / view.scale, 12), -round(q.information, 12), q.column))
    return Questions(float(risk), tuple(found), "" if model is inner else asked_instead(inner))


def asked_instead(pool: Any) -> str:
    """Which model it was that was asked instead of a pool, and how good it is beside it."""
    losses = [pool.out_of_fold_[name][0] for name in ("joint", "pool") if name in pool.out_of_fold_]
    beside = " (log loss {} out of fold, the pool's {})".format(*map(fixed, losses)) if len(losses) == 2 else ""
    return f"as {type(pool.joint_).__name__}, the joint part of the pool, sees it{beside}"


def askable(inner: BayesianClassifier) -> BayesianClassifier:
    """The model itself, if it gives P(row) whatever cells are known; else an error that says why not."""
    if reason := inner.fitted_.no_joint or ("its weights depend on the row" if inner.fitted_.weights_vary else ""):
        raise InputError.at(
            "next_question", f"needs P(row), known and unknown cells alike, which this model does not give: {reason}"
        )
    if inner.missing != "marginalise":
        raise InputError(
            (
                "this model takes a missing cell for a level of its own (",
                Option("missing", "level"),
                "), so it cannot tell what is not yet known",
            ),
            remedy=("fit it with ", Option("missing", "marginalise")),
        )
    return inner


def _prices(prices: Any, names: tuple[str, ...]) -> dict[str, float]:
    if hasattr(prices, "to_dict"):
        prices = prices.to_dict()
    if isinstance(prices, int | float | np.number):
        prices = dict.fromkeys(names, prices)
    if not isinstance(prices, Mapping | None):
        raise InputError.of("prices", prices, "one price for all columns or {column: price}")
    paid = dict(prices or {})
    for name, price in paid.items():
        one_of(name, names, "a key of prices=")
        if not isinstance(price, int | float | np.number) or not 0 <= price < np.inf:
            raise InputError.of(f"the price of {name!r}", price, "a number from 0")
    return {name: float(price) for name, price in paid.items()}


def known_evidence(log_joint: Array) -> float:
    """log P(what is known)."""
    log_evidence = float(log_sum_exp(log_joint)[0])
    if log_evidence == -np.inf:
        raise InputError(
            "what is known of this row is impossible under every class", remedy="smoothing > 0 avoids this"
        )
    return log_evidence


@dataclass(frozen=True, eq=False)
class _View:
    """What is known of a row, and what a decision costs: enough to say what a further value would change."""

    model: BayesianClassifier
    known: Encoded
    costs: Array
    reject_cost: float | None
    log_evidence: float

    @property
    def scale(self) -> float:
        """What the costs are measured by, so that their unit does not matter."""
        return float(np.abs(self.costs).max()) or 1.0

    def with_values(self, column: Column, values: Cells) -> Array:
        """log P(class, known, column = value) for each of these values, values × classes."""
        return self.model.fitted_.score(with_cells(self.known, column, values), None, self.model.n_jobs)[0]

    def outcome(self, log_joint: Array) -> Array:
        """Risk, entropy of the class and 1, each times P(row given known): rows × 3."""
        posterior = log_joint.copy()
        to_posterior(posterior, self.model.class_log_prior_)
        _, risk = least_risk(posterior, self.costs, self.reject_cost)
        mass = np.exp(log_sum_exp(log_joint) - self.log_evidence)
        return np.column_stack([mass * risk, mass * entr(posterior).sum(axis=1), mass])


def _question(view: _View, column: Column, price: float, risk: float, entropy: float) -> Question:
    if column.kind == "categorical":
        levels = column.levels or ()
        outcomes = view.outcome(view.with_values(column, levels)) if levels else np.array([[risk, entropy, 1.0]])
        expected, error = outcomes.sum(axis=0), 0.0
    else:
        expected, error = _over_numbers(view, column)
        if not expected[2]:  # it never varies
            return Question(column.name, -price, 0.0, price, 0.0, 0.0)
    lowered = float(risk - expected[0])
    reduction = lowered if lowered > error + 1e-15 * view.scale else 0.0  # less than rounding is nothing
    return Question(
        column.name, reduction - price, reduction, price, max(0.0, float(entropy - expected[1])), float(error)
    )


def _over_numbers(view: _View, column: Column) -> tuple[Array, float]:
    """Expected risk, entropy and mass over a numeric column: its atoms summed, its density integrated; a bound on the error."""
    unit = np.array([view.scale, 1.0, 1.0])

    def outcome(x: Array) -> Array:
        return view.outcome(view.with_values(column, x)) / unit  # type: ignore[no-any-return]

    edges = np.unique(quantiles(view.model, column.name, LANDMARKS))
    edges = edges[np.isfinite(edges)]  # between them densities change smoothly, from one far tail to the other
    if len(edges) < 2:
        return np.zeros(3), 0.0
    masses = atoms(view.model, column.name)
    total, gap = (outcome(masses).sum(axis=0) if len(masses) else np.zeros(3)), 0.0
    if not all(part.discrete for part in view.model.fitted_.factors_of(column.name)):
        smooth, gap = integrate(outcome, edges)
        if abs(total[2] + smooth[2] - 1) > MISSED:  # what is known leaves so little room that all nodes fell beside it
            smooth, gap = integrate(outcome, np.union1d(edges, _peaks(view, column, edges)))
        total = total + smooth
    return total * unit, view.scale * (gap + abs(float(total[2]) - 1))


def _peaks(view: _View, column: Column, edges: Array) -> Array:
    """Places around each class's most probable value, given what is known: found by zooming in on the log density."""
    classes = len(view.model.classes_)
    left, right = np.full(classes, edges[0]), np.full(classes, edges[-1])
    for _ in range(ZOOMS):
        x = np.linspace(left, right, GRID)  # places × classes
        own = np.einsum("pcc->pc", view.with_values(column, x.ravel()).reshape(GRID, classes, classes))
        best = own.argmax(axis=0).clip(1, GRID - 2)
        every = np.arange(classes)
        left, right = x[best - 1, every], x[best + 1, every]
        step, fall = right - x[best, every], 2 * own[best, every] - own[best - 1, every] - own[best + 1, every]
        if (fall < 1).all():  # the density hardly falls from one place to the next: its width is seen
            break
    width = step / np.sqrt(np.maximum(fall, 1e-12))
    around = x[best, every] + np.array([-9, -6, -4, -2, -1, 0, 1, 2, 4, 6, 9])[:, None] * width
    return np.clip(around, edges[0], edges[-1]).ravel()  # type: ignore[no-any-return]


def integrate(function: Integrand, edges: Array) -> tuple[Array, float]:
    """The integral of a vector-valued function over the intervals between edges, and a bound on its error.

    Intervals are halved while the halves together differ from the whole; all pending ones are evaluated in one call.
    """
    left, right = edges[:-1], edges[1:]
    whole, total, error = _sums(function, left, right), 0.0, 0.0
    for _ in range(ROUNDS):
        middle = 0.5 * (left + right)
        parts = _sums(function, np.concatenate([left, middle]), np.concatenate([middle, right]))
        halves = parts.reshape(2, len(left), -1)
        gap = np.abs(halves.sum(axis=0) - whole).max(axis=1)
        done = (gap <= TOLERANCE) | (middle <= left) | (middle >= right)
        total, error = total + halves[:, done].sum(axis=(0, 1)), error + float(gap[done].sum())
        if done.all():
            return total, error
        left = np.concatenate([left[~done], middle[~done]])
        right = np.concatenate([middle[~done], right[~done]])
        whole = halves[:, ~done].reshape(len(left), -1)
    return total + whole.sum(axis=0), error + float(gap[~done].sum())


def _lobatto(points: int) -> tuple[Array, Array]:
    """Nodes and weights of the Gauss–Lobatto rule on [−1, 1]: the ends are nodes, so that a bend close to one is seen."""
    legendre = np.polynomial.Legendre.basis(points - 1)
    nodes = np.concatenate([[-1.0], np.sort(legendre.deriv().roots().real), [1.0]])
    return nodes, 2 / (points * (points - 1) * legendre(nodes) ** 2)


NODES, WEIGHTS = _lobatto(POINTS)


def _sums(function: Integrand, left: Array, right: Array) -> Array:
    """The quadrature sums of each interval, intervals × outputs; its ends are taken from inside, where a density may jump."""
    half = 0.5 * (right - left)
    x = (0.5 * (left + right))[:, None] + half[:, None] * NODES
    x[:, 0], x[:, -1] = np.nextafter(left, right), np.nextafter(right, left)
    return np.einsum("n,ink,i->ik", WEIGHTS, function(x.ravel()).reshape(*x.shape, -1), half)  # type: ignore[no-any-return]
