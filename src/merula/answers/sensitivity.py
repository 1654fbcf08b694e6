"""What a row's answer rests on besides the row: how frequent classes are, what mistakes cost, and the entries of the model's tables.

With a class's prior t instead of π the other classes keep their proportions, (1 − t) / (1 − π) of what they were. The action that is
best now stays best in an interval around π; its ends are told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from merula.answers.decision import DecisionClassifier, checked_reject_cost, conditional_risk, least_risk, read_costs
from merula.answers.explanation.reasons import class_index, own_classifier
from merula.classify.base import BayesianClassifier
from merula.classify.network import BayesianNetworkClassifier
from merula.classify.single_row import cells_of, encode_row
from merula.core import Array, InputError, warn_of
from merula.core.logspace import to_posterior
from merula.data.encode import Encoded
from merula.data.schema import Label
from merula.data.table import plain_label
from merula.graphs.network import BayesianNetwork
from merula.graphs.network.sensitivity import Sensitivity
from merula.show.html import html_block, html_table, html_tag
from merula.show.numbers import NOTHING, amount, fixed, short
from merula.show.terminal import colored
from merula.show.text import text_table

HALVINGS = 60
REJECT = "(reject)"


@dataclass(frozen=True, eq=False)
class PriorReach:
    """A class, how frequent it is, and between which priors of it the action stays as it is.

    ``below`` and ``above`` are what is done beyond the ends; None where the action is the same up to 0 or 1.
    """

    label: Label
    prior: float
    low: float
    high: float
    below: Label
    above: Label
    posterior_at: Callable[[float], Array]

    def __call__(self, prior: float) -> Array:
        """P(class given row) if this class had this prior and the others kept their proportions."""
        if not isinstance(prior, int | float | np.number) or not 0 <= prior <= 1:
            raise InputError.of("prior", prior, "a probability from 0 to 1")
        return self.posterior_at(float(prior))


@dataclass(frozen=True)
class CostReach:
    """One entry of the cost table, the value at which another action becomes as good, and which; None where none ever does."""

    action: Label
    truth: Label
    cost: float
    until: float | None
    then: Label


@dataclass(frozen=True)
class CostRatio:
    """Two actions, each right for one of two classes: what one mistake costs beside the other, and at which ratio the other action is as good.

    ``now`` = (cost of the first mistake − of the right action) / (the same of the second); the action changes at ``changes_at`` =
    P(second truth given row) / P(first truth given row).
    """

    first: tuple[Label, Label]
    second: tuple[Label, Label]
    now: float
    changes_at: float

    def __str__(self) -> str:
        one, other = (f"“{action}” where it is {truth}" for action, truth in (self.first, self.second))
        return f"{one} costs {short(self.now)} times what {other} does; from {short(self.changes_at)} times on, the other action is better"  # fmt: skip


@dataclass(frozen=True, eq=False)
class RowSensitivity:
    """What the answer for a row rests on: priors, costs, and the entries of the model's tables.

    ``cost_ratio`` says of two actions and two classes at which ratio of the costs of both mistakes the action changes; it is None of
    others, and where one action is never wrong. ``entries`` is the `Sensitivity` of P(label given row) to every entry, of models that are Bayesian networks; of others it is None, and
    ``no_entries`` says why.
    """

    label: Label
    action: Label
    posterior: Array
    classes: tuple[Label, ...]
    priors: tuple[PriorReach, ...]
    costs: tuple[CostReach, ...]
    entries: Sensitivity | None
    no_entries: str = ""
    cost_ratio: CostRatio | None = None

    def _shown(self) -> list[tuple[str, list[list[str]]]]:
        """Titles and rows: of the priors, of the costs, of the entries."""
        priors = [["class", "prior", f"{self.action} from", "to"]]
        priors += [[str(one.label), fixed(one.prior), fixed(one.low), fixed(one.high)] for one in self.priors]
        costs = [["action", "truth", "cost", "another action from", "which"]]
        costs += [[str(one.action), str(one.truth), amount(one.cost), NOTHING if one.until is None else amount(one.until), "" if one.until is None else str(one.then)] for one in self.costs]  # fmt: skip
        return [(f"the action is {self.action}, whatever the prior within", priors), ("what each cost may be", costs)]

    def __str__(self) -> str:
        texts = [text_table(title, rows, 1) for title, rows in self._shown()]
        texts += [str(self.cost_ratio)] if self.cost_ratio else []
        return "\n\n".join([*texts, str(self.entries) if self.entries is not None else f"entries: {self.no_entries}"])

    def __repr__(self) -> str:
        return str(self)

    __rich__ = colored

    def _repr_html_(self) -> str:
        tables = [html_table(title, rows, 1) for title, rows in self._shown()]
        tables += [html_tag("p", str(self.cost_ratio))] if self.cost_ratio else []
        return html_block(*tables) + (self.entries._repr_html_() if self.entries is not None else "")

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        priors = [
            {
                "label": one.label,
                "prior": one.prior,
                "low": one.low,
                "high": one.high,
                "below": one.below,
                "above": one.above,
            }
            for one in self.priors
        ]
        told = {"label": self.label, "action": self.action, "posterior": self.posterior.tolist(), "priors": priors}
        told["costs"] = [vars(one) for one in self.costs]
        told["cost_ratio"] = self.cost_ratio and vars(self.cost_ratio)
        return told | ({"entries": self.entries.to_dict()} if self.entries else {"no_entries": self.no_entries})


def sensitivity(
    model: Any, row: Any, label: Any = None, *, costs: Any = None, reject_cost: float | None = None
) -> RowSensitivity:
    """What the answer for a row rests on: between which class priors and costs the action stays, and which table entries matter.

    Parameters
    ----------
    model : a fitted merula classifier, or a DecisionClassifier around one
        Entries are told of models that are networks (naive, tree, k-dependence, full and network classifiers without weights).
    row : mapping, sequence, pandas Series or table of one row
    label : optional
        The class whose probability the entries are asked for; by default the most probable one.
    costs, reject_cost : optional
        As for `decide`; by default the 0/1 loss, or those of the DecisionClassifier.

    Examples
    --------
    >>> import merula as mr
    >>> tables = {"cough": {"well": {"no": 0.8, "yes": 0.2}, "ill": {"no": 0.2, "yes": 0.8}}}
    >>> model = mr.NaiveBayesClassifier.from_tables({"well": 0.7, "ill": 0.3}, tables)
    >>> found = mr.sensitivity(model, {"cough": "yes"}, costs={"treat": {"ill": 0, "well": 1}, "wait": {"ill": 3, "well": 0}})
    >>> found.action, [(one.label, round(one.low, 4), one.high) for one in found.priors]
    ('treat', [('ill', 0.0769, 1.0), ('well', 0.0, 0.9230769230769231)])
    >>> [(one.action, one.truth, None if one.until is None else round(one.until, 4)) for one in found.costs]
    [('treat', 'ill', 2.4167), ('treat', 'well', 5.1429), ('wait', 'ill', 0.5833), ('wait', 'well', -4.1429)]
    >>> print(found.cost_ratio)
    “treat” where it is well costs 0.3333 times what “wait” where it is ill does; from 1.714 times on, the other action is better
    """
    if isinstance(model, DecisionClassifier):
        costs = model.costs if costs is None else costs
        reject_cost = model.reject_cost if reject_cost is None else reject_cost
    inner = own_classifier(model, "it has no prior of its own")
    encoded = encode_row(inner, row)
    warn_of(inner._notes(encoded))
    read = read_costs(costs, inner.classes_)
    deciding = _Deciding(inner, encoded, read.table, checked_reject_cost(reject_cost), (*read.actions, REJECT))
    classes = tuple(plain_label(one) for one in inner.classes_.tolist())
    posterior = deciding.posterior(np.exp(inner.class_log_prior_))
    index = int(posterior.argmax()) if label is None else class_index(label, classes, "label")
    entries, why = _entries(inner, encoded, classes[index])
    best = deciding.action(posterior)
    return RowSensitivity(
        classes[index], deciding.names[best], posterior, classes,
        tuple(_prior_reach(deciding, k, name, best) for k, name in enumerate(classes)),
        tuple(_cost_reaches(deciding, posterior, classes)), entries, why, _cost_ratio(deciding, posterior, classes),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Deciding:
    """A row and what mistakes cost: the posterior and the action under any class prior."""

    model: BayesianClassifier
    encoded: Encoded
    costs: Array
    reject_cost: float | None
    names: tuple[Label, ...]

    def posterior(self, prior: Array) -> Array:
        """P(class given row) where classes are as frequent as this."""
        moved = self.model.with_class_prior(dict(zip(self.model.classes_, prior, strict=True))).fitted_
        joint = moved.log_joint(self.encoded)
        to_posterior(joint, moved.log_prior)
        return np.asarray(joint[0])

    def action(self, posterior: Array) -> int:
        """The place of the least-risk action; after the last, of making no decision."""
        chosen, _ = least_risk(posterior[None], self.costs, self.reject_cost)
        return int(chosen[0])


def _prior_reach(deciding: _Deciding, k: int, name: Label, best: int) -> PriorReach:
    """Between which priors of class k the action stays the best."""
    prior = np.exp(deciding.model.class_log_prior_)
    now = float(prior[k])
    others = np.where(np.arange(len(prior)) == k, 0.0, prior)
    shares = others / others.sum() if others.any() else (np.arange(len(prior)) != k) / max(1, len(prior) - 1)

    def posterior_at(t: float) -> Array:
        moved = (1 - t) * shares
        moved[k] = t
        return deciding.posterior(moved)

    def action_at(t: float) -> int:
        return deciding.action(posterior_at(t))

    ends = [_last(action_at, now, end, best) for end in (0.0, 1.0)]
    beyond = [None if action is None else deciding.names[action] for _, action in ends]
    return PriorReach(name, now, ends[0][0], ends[1][0], beyond[0], beyond[1], posterior_at)


def _last(action_at: Callable[[float], int], inside: float, outside: float, best: int) -> tuple[float, int | None]:
    """How far towards `outside` the action stays the same, and what comes then; by halving."""
    then = action_at(outside)
    if then == best:
        return outside, None
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        found = action_at(middle)
        inside, outside, then = (middle, outside, then) if found == best else (inside, middle, found)
    return 0.5 * (inside + outside), then


def _cost_reaches(deciding: _Deciding, posterior: Array, classes: Sequence[Label]) -> list[CostReach]:
    """For each cost the value at which the action changes: the best may cost so much more, any other so much less."""
    risks = conditional_risk(posterior[None], deciding.costs)[0]
    if deciding.reject_cost is not None:
        risks = np.append(risks, deciding.reject_cost)
    best = deciding.action(posterior)
    rivals = [a for a in range(len(risks)) if a != best]
    second = min(rivals, key=lambda a: risks[a]) if rivals else None
    found = []
    for a, row in enumerate(deciding.costs):
        for c, cost in enumerate(row):
            then = second if a == best else a
            until = None
            if then is not None and posterior[c] > 0:
                step = (risks[then] - risks[best]) / posterior[c]
                until = float(cost + (step if a == best else -step))
            found.append(CostReach(deciding.names[a], classes[c], float(cost), until, None if until is None else deciding.names[then]))  # type: ignore[index] # fmt: skip
    return found


def _cost_ratio(deciding: _Deciding, posterior: Array, classes: Sequence[Label]) -> CostRatio | None:
    """The ratio of what both mistakes cost, that of the action now taken first, and where it changes."""
    if deciding.costs.shape != (2, 2) or deciding.reject_cost is not None:
        return None
    right = deciding.costs.argmin(axis=0)  # the action for each class
    extra = np.ptp(deciding.costs, axis=0)  # what the other one costs more
    if right[0] == right[1] or not (extra > 0).all():
        return None
    now = deciding.action(posterior)
    missed, met = (
        (0, 1) if right[1] == now else (1, 0)
    )  # the class that the action now taken is wrong for, and right for
    if not posterior[missed] > 0:
        return None
    mistakes = (deciding.names[now], classes[missed]), (deciding.names[1 - now], classes[met])
    return CostRatio(*mistakes, float(extra[missed] / extra[met]), float(posterior[met] / posterior[missed]))


def _as_network(model: Any) -> tuple[BayesianNetwork, str]:
    """The model as a network, and what its class is called there."""
    if isinstance(model, BayesianNetworkClassifier):
        return model.to_network(), model.target
    names = ("class", *(f"class {k}" for k in range(len(model.schema_.names))))
    target = next(name for name in names if name not in model.schema_.names)
    return model.to_network(target), target


def _entries(model: BayesianClassifier, encoded: Encoded, label: Label) -> tuple[Sensitivity | None, str]:
    """The sensitivity of P(label given row) to every entry, asked of the model as a network; else why there is none."""
    if not hasattr(model, "to_network"):
        return None, f"{type(model).__name__} is no Bayesian network"
    try:
        network, target = _as_network(model)
    except InputError as error:
        return None, str(error)
    known = {name: value for name, value in cells_of(model, encoded).items() if value is not None and name in network.graph}  # fmt: skip
    levels = network.levels
    seen = {name: value for name, value in known.items() if not levels[name] or value in levels[name] or model.schema_[name].cuts}  # fmt: skip
    return network.sensitivity(target, label, seen), ""
