"""Why a row is what the model says: the model's own terms or their purified effects, and how far each moves the log-odds.

log-odds(class given row) = log-odds(class) + Σ_term weight of evidence
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from merula.answers.decision import underlying
from merula.answers.explanation.by_effects import effect_terms
from merula.answers.explanation.largest import ALL, checked_top, condensed
from merula.classify.base import BayesianClassifier
from merula.classify.effects.subjects import Subject
from merula.classify.fitted import ComponentTerms, Term, combined
from merula.classify.intervals import DRAWS
from merula.classify.readable import interval_of, shown
from merula.classify.single_row import cells_of, encode_row
from merula.core import Array, InputError, Option, warn_of
from merula.core.logspace import log_sum_exp, to_posterior
from merula.data.encode import Encoded
from merula.data.schema import Column, Label
from merula.data.table import build_frame, label_array, plain_label
from merula.show.brief import brief
from merula.show.terminal import colored
from merula.stats.behind import rows_behind

PRIOR, AVERAGE = "prior", "average row"
LEVEL, SEED = 0.9, 0  # of intervals, unless others are stated
LAST = 1_000_000  # columns: behind all others


@dataclass(frozen=True, eq=False)
class Reason:
    """What one block of columns contributes: ``log_terms[c]`` to the log joint of class c, `evidence` to the log-odds.

    `weight` is the block's exponent in a weighted model; `log_terms` are already multiplied by it. `known` is False where
    every cell is missing, so that the block contributes nothing. Columns in `intervals` are known by the interval they lie in alone.
    Columns that the block depends on besides the class are its `parents`. A purified effect (`is_effect`) is what its columns say
    beyond fewer of them; one that cannot be told by its columns has a `name`. Where an interval was asked for, `rests_on` is the weight of
    each class's rows that the block's estimate comes from.
    """

    columns: tuple[str, ...]
    values: tuple[str, ...]
    log_terms: Array
    evidence: float
    known: bool
    is_density: bool
    weight: float = 1.0
    intervals: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()
    parent_values: tuple[str, ...] = ()
    is_effect: bool = False
    name: str = ""
    rests_on: Array | None = None
    __repr__ = brief

    @property
    def relations(self) -> tuple[str, ...]:
        """What stands between each column and its value: " = ", or what says that it lies in an interval."""
        return self._relations(self.columns, self.values)

    @property
    def parent_relations(self) -> tuple[str, ...]:
        """What stands between each parent and its value."""
        return self._relations(self.parents, self.parent_values)

    def _relations(self, columns: tuple[str, ...], values: tuple[str, ...]) -> tuple[str, ...]:
        pairs = zip(columns, values, strict=True)
        return tuple((" in " if value[0] == "(" else " ") if name in self.intervals else " = " for name, value in pairs)

    @property
    def label(self) -> str:
        """``column = value``, or several of them for a block; behind "given", its parents. Its name, if it has one."""
        if self.name:
            return self.name
        own = ", ".join(map("".join, zip(self.columns, self.relations, self.values, strict=True)))
        given = ", ".join(map("".join, zip(self.parents, self.parent_relations, self.parent_values, strict=True)))
        return f"{own} given {given}" if given else own


@dataclass(frozen=True, eq=False)
class Derivation:
    """One sum of terms, from the prior to its log joint; a mixture has several, each with its share of the posterior.

    The prior `rests_on` rows of each class, where an interval was asked for.

    A sum of effects starts from the average row instead of the prior: `log_prior` is the prior with what effects say on average,
    and `start` says so.
    """

    name: str
    share: float
    log_prior: Array
    reasons: tuple[Reason, ...]
    log_joint: Array
    prior_log_odds: float
    log_odds: float
    start: str = PRIOR
    rests_on: Array | None = None
    __repr__ = brief

    @property
    def lines(self) -> list[tuple[str, float, Array]]:
        """What is added, from the start on: what it is called, its evidence and its log terms."""
        told = [(reason.label, reason.evidence, reason.log_terms) for reason in self.reasons]
        return [(self.start, self.prior_log_odds, self.log_prior), *told]

    def to_dict(self, top: int | str = ALL) -> dict[str, Any]:
        """The same as plain data; with `top`, the largest reasons and the others as one."""
        return {
            "name": self.name,
            "share": self.share,
            "log_prior": self.log_prior.tolist(),
            "log_joint": self.log_joint.tolist(),
            "prior_log_odds": self.prior_log_odds,
            "start": self.start,
            "log_odds": self.log_odds,
            **({} if self.rests_on is None else {"rests_on": self.rests_on.tolist()}),
            "reasons": [
                {
                    "columns": list(reason.columns),
                    "values": list(reason.values),
                    "log_terms": reason.log_terms.tolist(),
                    "evidence": reason.evidence,
                    "known": reason.known,
                    "weight": reason.weight,
                    **({"name": reason.name} if reason.name else {}),
                    **({} if reason.rests_on is None else {"rests_on": reason.rests_on.tolist()}),
                }
                for reason in condensed(self.reasons, checked_top(top))
            ],
        }


@dataclass(frozen=True, eq=False)
class Explanation:
    """One row explained: prior, terms and posterior of every class, and weights of evidence for one of them.

    Attributes
    ----------
    classes : tuple
    label : the class whose log-odds are explained
    against : the class it is compared with, or None for all others together
    derivations : tuple of Derivation
        One for a sum of terms; for a mixture one for each component.
    log_joint, posterior : arrays of shape (n_classes,)
    zero_evidence : bool
        True where the row is impossible under every class, so that the posterior is the prior.
    interval : array of shape (n_classes, 2), or None
        Both ends of the credible interval of each class's posterior, and `level` how probable it is to lie within, if it was asked for.
    """

    classes: tuple[Label, ...]
    label: Label
    against: Label | None
    derivations: tuple[Derivation, ...]
    log_joint: Array
    posterior: Array
    zero_evidence: bool
    interval: Array | None = None
    level: float | None = None

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of a sum; a mixture has its own for each of its `derivations`."""
        if len(self.derivations) > 1:
            raise InputError(f"this model is a mixture of {len(self.derivations)}", remedy="see derivations[i].reasons")
        return self.derivations[0].reasons

    def __str__(self) -> str:
        from merula.answers.explanation.layout import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return str(self)

    def to_frame(self, library: str = "pandas") -> Any:
        """The sum as a table of this library: a line for the start and for each reason, of a mixture for those of every part.

        What stands below a class adds up to the log joint of that class; `evidence` adds up to the log-odds of `label`.

        Examples
        --------
        >>> import merula as mr
        >>> tables = {"cough": {"well": {"no": 0.8, "yes": 0.2}, "ill": {"no": 0.2, "yes": 0.8}}}
        >>> model = mr.NaiveBayesClassifier.from_tables({"well": 0.5, "ill": 0.5}, tables)
        >>> mr.explain(model, {"cough": "yes"}).to_frame().round(3)
                reason  evidence  log term of ill  log term of well
        0        prior     0.000           -0.693            -0.693
        1  cough = yes     1.386           -0.223            -1.609
        """
        lines = [
            (part.name, reason, evidence, terms) for part in self.derivations for reason, evidence, terms in part.lines
        ]
        terms = np.array([terms for *_, terms in lines])
        held = {"part": label_array([line[0] for line in lines])} if len(self.derivations) > 1 else {}
        held |= {"reason": label_array([line[1] for line in lines]), "evidence": np.array([line[2] for line in lines])}
        return build_frame(held | {f"log term of {name}": terms[:, k] for k, name in enumerate(self.classes)}, library)

    __rich__ = colored

    def _repr_html_(self) -> str:
        from merula.answers.explanation.html import as_html

        return as_html(self)

    def to_latex(self, document: bool = False) -> str:
        """The derivation as a textbook writes it: an ``align*`` (amsmath), or a whole document to compile with XeLaTeX."""
        from merula.answers.explanation.latex import as_latex

        return as_latex(self, document)

    def to_text(self, top: int | str | None = None) -> str:
        """The explanation as a table: ``print`` shows a screenful of it.

        Parameters
        ----------
        top : int or "all", optional
            How many reasons stand on a line of their own, those that tell classes apart most; the others are added up on one line, so that
            the sum stays what it is. "all" shows every reason, and every component of a mixture.

        Examples
        --------
        >>> import merula as mr
        >>> rows = [["red", "round", "small"], ["red", "long", "small"], ["green", "long", "large"]]
        >>> model = mr.NaiveBayesClassifier().fit(rows, ["cherry", "cherry", "leek"])
        >>> print(mr.explain(model, ["red", "round", "small"]).to_text(top=1))
        P(class given row)  cherry     leek  evidence for cherry
        prior               0.6667   0.3333               +0.693
        x0 = red              0.75   0.3333               +0.811
        2 other columns      0.375   0.1111               +1.216
        ────────────────────────────────────────────────────────
        joint               0.1875  0.01235
        posterior           0.9382  0.06178               +2.720
        """
        from merula.answers.explanation.layout import as_text

        return as_text(self, top)

    def to_dict(self, top: int | str = ALL) -> dict[str, Any]:
        """The same as plain data: numbers, words, lists; −inf and inf as they are. With `top`, the largest reasons and the others as one."""
        return {
            "classes": list(self.classes),
            "label": self.label,
            "against": self.against,
            "log_joint": self.log_joint.tolist(),
            "posterior": self.posterior.tolist(),
            "zero_evidence": self.zero_evidence,
            **({} if self.interval is None else {"interval": self.interval.tolist(), "level": self.level}),
            "derivations": [part.to_dict(top) for part in self.derivations],
        }

    def plot(self, ax: Any = None, top: int | str = 20) -> Any:
        """A waterfall from prior to posterior log-odds, the `top` strongest columns (or "all") one by one; matplotlib axes."""
        from merula.answers.explanation.plot import waterfall

        return waterfall(self, ax, top)


def explain(
    model: Any,
    row: Any,
    label: Any = None,
    against: Any = None,
    *,
    interval: bool = False,
    level: float = LEVEL,
    draws: int = DRAWS,
    random_state: Any = SEED,
) -> Explanation:
    """The reasons for one row's posterior, as the model's own terms or, of a conditional log-linear model or a pool, purified effects.

    Parameters
    ----------
    model : a fitted merula classifier, or a DecisionClassifier around one
    row : mapping, sequence, pandas Series or table of one row
        Columns that a mapping does not name are unknown.
    label : optional
        The class to explain; by default the most probable one.
    against : optional
        A class to compare it with; by default all others together.
    interval : bool
        Tell how sure the posterior is as well, and how many rows of each class every estimate rests on: see `predict_interval`, which
        `level`, `draws` and `random_state` are for. A model that gives no intervals is an error that says why.

    Notes
    -----
    Between two classes, a block's weight of evidence is the difference of its log terms. Against all others, it is its
    own log term less a weighted mean of the others' log terms, with one set of weights for all blocks: between the
    others' shares before the row was seen and after, so that the sum is exactly the change of the log-odds. A row that is
    impossible under all the classes compared says nothing between them: their odds stay those of the prior.

    The terms of a `LogLinearClassifier` or an `AutoBayesClassifier` overlap: the same pair of columns may be asked in many of them. They
    are explained by effects, which do not. Effects start from the average row, and one is 0 on average along each of its columns: a column's own is what it
    says whatever the others are, a pair's what two say together besides, and so on. The text shows the largest; `reasons` has all.

    Examples
    --------
    >>> import merula as mr
    >>> fruit = {"apple": {"red": 0.5, "green": 0.5}, "cherry": {"red": 1.0, "green": 0.0}}
    >>> model = mr.NaiveBayesClassifier.from_tables({"apple": 0.5, "cherry": 0.5}, {"color": fruit})
    >>> print(mr.explain(model, {"color": "red"}))
    P(class given row)   apple  cherry  evidence for cherry
    prior                  0.5     0.5               +0.000
    color = red            0.5       1               +0.693
    ───────────────────────────────────────────────────────
    joint                 0.25     0.5
    posterior           0.3333  0.6667               +0.693
    """
    model = own_classifier(model)
    if not isinstance(interval, bool | np.bool_):
        raise InputError.of("interval", interval, "True or False", remedy=("say how wide by ", Option("level")))
    if not interval:
        _refuse_options_of_none(level=(level, LEVEL), draws=(draws, DRAWS), random_state=(random_state, SEED))
    encoded = encode_row(model, row)
    ends = model._intervals(encoded, level, draws, random_state)[0] if interval else None
    effects = model.fitted_.effects
    found = [effect_terms(model, effects, encoded)] if effects else model.fitted_.unsummed(encoded)
    told = _explanation(model, encoded, found, label, against)
    return told if ends is None else _with_interval(told, ends, float(level), model, cells_of(model, encoded))


def _refuse_options_of_none(**options: tuple[Any, Any]) -> None:
    """An error for an option of intervals where none is asked for."""
    for name, (stated, default) in options.items():
        if stated is not default and not (type(stated) is type(default) and stated == default):
            raise InputError((Option(name), " does nothing without ", Option("interval", True)), where=name, got=stated, remedy=("leave it out, or say ", Option("interval", True)))  # fmt: skip


def _with_interval(
    explanation: Explanation, ends: Array, level: float, model: BayesianClassifier, cells: Mapping[str, Label]
) -> Explanation:
    """The same with the ends of an interval, and what each reason's estimate rests on."""
    blocks, collected = model.fitted_.plan.blocks, model.fitted_.collected
    of_column = {name: k for k, block in enumerate(blocks) for name in block.columns}

    def resting(reason: Reason) -> Reason:
        given = {name: cells[name] for name in reason.parents}
        told = rows_behind(collected.blocks[of_column[reason.columns[0]]], reason.columns, given) if collected is not None and reason.known else None  # fmt: skip
        return replace(reason, rests_on=told)

    counted = isinstance(model.class_prior, str) and model.class_prior != "uniform" and collected is not None
    classes = collected.class_counts.weight if counted and collected is not None else None
    derivations = tuple(replace(part, reasons=tuple(map(resting, part.reasons)), rests_on=classes) for part in explanation.derivations)  # fmt: skip
    return replace(explanation, derivations=derivations, interval=ends, level=level)


def explain_by_terms(model: BayesianClassifier, row: Any, label: Any = None, against: Any = None) -> Explanation:
    """The same as the model's own terms, also where it has effects."""
    encoded = encode_row(model, row)
    return _explanation(model, encoded, model.fitted_.unsummed(encoded), label, against)


def _explanation(
    model: BayesianClassifier, encoded: Encoded, found: Sequence[ComponentTerms], label: Any, against: Any
) -> Explanation:
    """The explanation of one row by these terms."""
    components = [one for one in found if not np.isneginf(one.log_weight[0])]
    warn_of(model._notes(encoded))
    classes = tuple(plain_label(name) for name in model.classes_.tolist())
    log_joint = combined(components)[0]
    posterior = log_joint[None].copy()
    zero = to_posterior(posterior, model.class_log_prior_) > 0
    index = int(posterior[0].argmax()) if label is None else class_index(label, classes, "label")
    rival = None if against is None else class_index(against, classes, "against")
    if rival == index:
        raise InputError(f"label and against are both {classes[index]!r}", remedy="compare two different classes")
    rivals = [k for k in range(len(classes)) if k != index] if rival is None else [rival]
    cells = cells_of(model, encoded)
    derivations = tuple(
        _derive(part, share, cells, model, index, rivals, zero)
        for part, share in zip(components, _shares(components, zero), strict=True)
    )
    return Explanation(
        classes, classes[index], None if rival is None else classes[rival], derivations, log_joint, posterior[0], zero
    )


def _shares(components: Sequence[ComponentTerms], zero: bool) -> list[float]:
    """How much of the row's probability each component gives; what it weighs where all give none."""
    log_weights = np.array([one.log_weight[0] for one in components])
    log_joints = np.array([one.log_joint()[0] for one in components])
    shares = normalised(log_weights if zero else log_weights + log_sum_exp(log_joints))
    return shares.tolist()  # type: ignore[no-any-return]


def own_classifier(
    model: Any, why: str = "only a model that is made of terms can be explained by them"
) -> BayesianClassifier:
    """The merula classifier itself, or the one a DecisionClassifier wraps; else a ValueError that says `why` it is needed."""
    inner = underlying(model)
    if not isinstance(inner, BayesianClassifier):
        raise InputError.at(f"{type(model).__name__}", f"is no merula classifier: {why}")
    check_is_fitted(inner, "classes_")
    return inner


def class_index(label: Any, classes: tuple[Label, ...], what: str) -> int:
    """Where a class stands among the model's; a ValueError if it is none of them."""
    if plain_label(label) in classes:
        return classes.index(plain_label(label))
    raise InputError.at(what, f"is {label!r}, which the model does not know (classes: {list(classes)})", got=label)


def normalised(log_weights: Array) -> Array:
    """Weights that add up to 1, in proportion to the exponentials of these."""
    weights = np.exp(log_weights - log_sum_exp(log_weights))
    return weights / weights.sum()  # type: ignore[no-any-return]


def _derive(
    part: ComponentTerms,
    share: float,
    cells: Mapping[str, Label],
    model: BayesianClassifier,
    index: int,
    rivals: Sequence[int],
    zero: bool,
) -> Derivation:
    """One component's terms for the first row, and their weights of evidence."""
    are_effects = any(isinstance(term.part, Subject) for term in part.terms)
    names = model.schema_.names
    terms = sorted(part.terms, key=lambda term: (*_size(term), names.index(term.part.columns[0]) if term.part.columns else 0))  # fmt: skip
    values = np.array([term.values[0] for term in terms]).reshape(len(terms), len(part.log_prior))
    evidence = weights_of_evidence(part.log_prior, values, index, rivals)
    log_joint = part.log_joint()[0]
    undecided = zero or bool(np.isneginf(log_joint[[index, *rivals]]).all())
    if undecided:
        evidence = contradictions(evidence)
    return Derivation(
        part.name,
        share,
        part.log_prior,
        tuple(_reason(term, cells, float(weight), model) for term, weight in zip(terms, evidence, strict=True)),
        log_joint,
        log_odds(part.log_prior, index, rivals),
        log_odds(part.log_prior if undecided else log_joint, index, rivals),
        AVERAGE if are_effects else PRIOR,
    )


def _size(term: Term) -> tuple[bool, int]:
    """Small sets of columns come first among effects, what is not purified last, then what is of no column; terms stand as their columns do."""
    part = term.part
    return (bool(part.whole), len(part.columns) or LAST) if isinstance(part, Subject) else (False, 0)


def _reason(term: Term, cells: Mapping[str, Label], evidence: float, model: BayesianClassifier) -> Reason:
    """What one term says of a row."""
    columns, parents = term.part.columns, term.part.parents
    schema = [model.schema_[name] for name in (*columns, *parents)]
    texts = tuple(_cell_text(column, cells[column.name]) for column in schema)
    numbers = any(column.kind in ("numeric", "datetime") for column in schema[: len(columns)])
    is_effect = isinstance(term.part, Subject)
    return Reason(
        columns,
        texts[: len(columns)],
        term.values[0],
        evidence,
        known=is_effect or any(cells[name] is not None or model._answers_missing(name) for name in columns),
        is_density=numbers and not term.part.discrete,
        weight=term.weight,
        intervals=frozenset(column.name for column in schema if column.cuts and cells[column.name] is not None),
        parents=parents,
        parent_values=texts[len(columns) :],
        is_effect=is_effect,
        name=term.part.whole if isinstance(term.part, Subject) and len(columns) != 1 else "",
    )


def _cell_text(column: Column, value: Label) -> str:
    """A cell as a person reads it: its interval where that is all the model knows, and whether its level was never seen."""
    levels = column.kind == "categorical"  # of which an interval may be one
    text = (
        interval_of(column, float(value)) if column.cuts and value is not None and not levels else shown(column, value)
    )
    unseen = levels and value is not None and value not in (column.levels or ())
    return f"{text} (never seen)" if unseen else text


def log_odds(log_weights: Array, index: int, rivals: Sequence[int]) -> float:
    """log of one class's weight over the rivals' together; inf or −inf where one side is impossible, 0 where both are."""
    own, rest = float(log_weights[index]), float(log_sum_exp(log_weights[list(rivals)]))
    return 0.0 if own == rest == -np.inf else own - rest


def weights_of_evidence(log_prior: Array, terms: Array, index: int, rivals: Sequence[int]) -> Array:
    """How far each row of `terms` (blocks × classes) moves the log-odds of a class against its rivals.

    They add up to the log-odds after less those before. −inf: impossible under the class; inf: under every rival.
    """
    own = terms[:, index]
    rest = _rivals_terms(log_prior[list(rivals)], terms[:, list(rivals)])
    both = np.isneginf(own) & np.isneginf(rest)
    return np.where(both, 0.0, own - np.where(both, 0.0, rest))


def contradictions(evidence: Array) -> Array:
    """The weights of a row that is impossible under the class and its rivals alike: it says nothing between them.

    Only blocks that contradict each other, one ruling out the class and another its rivals, keep their infinite weights.
    """
    contradict = (evidence == np.inf).any() and (evidence == -np.inf).any()
    return np.where(np.isinf(evidence) & contradict, evidence, 0.0)


def _rivals_terms(log_prior: Array, terms: Array) -> Array:
    """The rivals' terms as one: they add up to log Σ exp(log_prior + Σ terms) − log Σ exp(log_prior).

    Rivals that stay possible are averaged with weights between their shares before and after (by convexity some such
    weights give the sum exactly). What is gained by rivals becoming impossible goes to the blocks that ruled them out.
    """
    possible_before = log_prior > -np.inf
    if not possible_before.any():
        return np.zeros(len(terms))
    log_prior, terms = log_prior[possible_before], terms[:, possible_before]
    ruled_out = np.isneginf(terms).any(axis=0)
    share = normalised(log_prior)
    blame = np.zeros(len(terms))
    if ruled_out.any():
        guilty = np.isneginf(terms[:, ruled_out])
        blame = (guilty / guilty.sum(axis=0)) @ share[ruled_out] / share[ruled_out].sum()
    if ruled_out.all():
        return np.where(blame > 0, -np.inf, np.where(np.isneginf(terms), 0.0, terms) @ share)
    left_prior, left = log_prior[~ruled_out], terms[:, ~ruled_out]
    total = left.sum(axis=0)
    before, after = normalised(left_prior), normalised(left_prior + total)
    change = float(log_sum_exp(left_prior + total) - log_sum_exp(left_prior))
    low, high = float(before @ total), float(after @ total)
    along = min(1.0, max(0.0, (change - low) / (high - low))) if high > low else 0.5
    lost = float(log_sum_exp(left_prior) - log_sum_exp(log_prior))
    return left @ (before + along * (after - before)) + lost * blame
