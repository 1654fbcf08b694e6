"""An explanation laid out once, as plain data: text (below), notebook, LaTeX, waterfall and report are drawn from the same lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from merula.answers.explanation.largest import checked_top, condensed
from merula.core import Array
from merula.core.logspace import log_sum_exp
from merula.show.numbers import NOTHING, from_log, short, signed
from merula.show.text import shortened, text_table

if TYPE_CHECKING:
    from merula.answers.explanation.reasons import Derivation, Explanation, Reason

MOST_EFFECTS, MOST_TERMS = 12, 20
MOST_PARTS, MOST_TERMS_OF_PARTS = 3, 4  # of a mixture
MOST_CLASSES, LONGEST_LABEL, LONGEST_CLASS = 5, 36, 20
LONGEST_NAME, LONGEST_VALUE, LONGEST_SET = 40, 20, 48  # of a bar
RESTS_ON = "rests on rows"
AVERAGE, JOINT, PRODUCT = "average row", "joint", "product"
ZERO_EVIDENCE = "The row is impossible under every class: the posterior is the prior."


@dataclass(frozen=True)
class Line:
    """One line: what it is about, the factor of each class shown, and the evidence, as texts.

    ``parts`` are (column, what stands between, value) of each column of a block, or the line's name alone, ``given`` those of
    the columns it depends on besides the class; ``weight`` is the weight of evidence (None where nothing is known, and of
    sums), ``exponent`` that of a weighted block.
    """

    parts: tuple[tuple[str, str, str], ...]
    factors: tuple[str, ...] = ()
    evidence: str = ""
    weight: float | None = None
    exponent: str = ""
    is_density: bool = False
    given: tuple[tuple[str, str, str], ...] = ()
    is_effect: bool = False
    rests_on: str = ""

    @property
    def label(self) -> str:
        """``column = value``, or several of them for a block; behind "given", what it depends on."""
        own, given = (", ".join(map("".join, some)) for some in (self.parts, self.given))
        return f"{own} given {given}" if given else own

    @property
    def labels(self) -> list[str]:
        """The same on as many lines as there are columns, long names shortened."""
        (first, *more), given = _shortened(self.parts), _shortened(self.given)
        exponent = f" ^{self.exponent}" if self.exponent else ""
        below = [*more, *(f"given {label}" for label in given)]
        return [first + exponent + (" and" if more else ""), *(f"  {label}" for label in below)]

    @property
    def brief(self) -> str:
        """The first column with both ends readable, and how many more there are; of an effect all columns, of many their names alone."""
        (name, relation, value), *others = self.parts
        if self.is_effect and others:
            return _in_short(self.parts)
        more = f" and {len(others)} more" if others else ""
        return f"{shortened(name, LONGEST_NAME, middle=True)}{relation}{shortened(value, LONGEST_VALUE)}{more}"

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands beside the label; nothing beside a caption."""
        return (*self.factors, self.evidence, *([self.rests_on] if self.rests_on else [])) if self.factors else ()


@dataclass(frozen=True)
class Part:
    """One sum of terms: the prior, a line for each reason, the joint; its caption is shown where there are several."""

    caption: Line
    prior: Line
    reasons: tuple[Line, ...]
    joint: Line

    @property
    def known(self) -> list[Line]:
        """The reasons of which something is known."""
        return [line for line in self.reasons if line.weight is not None]


@dataclass(frozen=True)
class Layout:
    """The whole: the classes that are shown, the parts, the joint and the posterior, and what is to be noted below."""

    classes: tuple[str, ...]
    heading: str
    parts: tuple[Part, ...]
    joint: Line
    posterior: Line
    hidden: int
    zero_evidence: bool
    impossible: str = ""
    other_parts: tuple[int, float] = (0, 0.0)
    interval: Line | None = None

    @property
    def header(self) -> list[str]:
        """What stands above the lines, the first cell left out."""
        return [*self.classes, self.heading, *([RESTS_ON] if self.interval else [])]

    @property
    def lines(self) -> list[Line | None]:
        """Every line in its order; None is a rule."""
        if len(self.parts) == 1:
            (part,) = self.parts
            return [part.prior, *part.reasons, None, self.joint, *self.answer]
        several = [line for part in self.parts for line in (part.caption, part.prior, *part.reasons, part.joint)]
        return [*several, None, *self.answer]

    @property
    def answer(self) -> list[Line]:
        """The posterior, and its interval where there is one."""
        return [self.posterior, *([self.interval] if self.interval else [])]

    @property
    def notes(self) -> list[str]:
        """How many classes and parts are left out, and whether the row is impossible."""
        count, share = self.other_parts
        others = [f"({count} other components not shown, with a share of {short(share)} in all)"] if count else []
        hidden = [f"({self.hidden} less probable classes not shown)"] if self.hidden else []
        return [*others, *hidden, *([self.impossible] if self.impossible else [])]


def lay_out(
    explanation: Explanation,
    most: int = MOST_CLASSES,
    most_effects: int | None = MOST_EFFECTS,
    most_terms: int | None = None,
    most_parts: int | None = None,
) -> Layout:
    """The lines of an explanation, with at most so many classes, effects or terms (those with the largest spread over classes) and parts."""
    shown, told = _shown_classes(explanation, most), _largest_parts(explanation, most_parts)
    several = len(explanation.derivations) > 1
    against = "" if explanation.against is None else f" against {shortened(str(explanation.against), LONGEST_CLASS)}"
    total = "" if several else signed(explanation.derivations[0].log_odds)
    name = PRODUCT if explanation.derivations[0].start == AVERAGE else JOINT
    return Layout(
        tuple(str(explanation.classes[k]) for k in shown),
        f"evidence for {shortened(str(explanation.label), LONGEST_CLASS)}{against}",
        tuple(_part(part, shown, several, most_effects, most_terms) for part in told),
        _line(name, _factors(explanation.log_joint - _scale(explanation.derivations[0]), shown), ""),
        _line("posterior", [short(explanation.posterior[k]) for k in shown], total),
        len(explanation.classes) - len(shown),
        explanation.zero_evidence,
        _impossible(explanation),
        (len(explanation.derivations) - len(told), 1 - sum(part.share for part in told)),
        _interval(explanation, shown),
    )


def _interval(explanation: Explanation, shown: list[int]) -> Line | None:
    """Both ends of the posterior's interval, of each class shown."""
    if explanation.interval is None or explanation.level is None:
        return None
    ends = [f"{short(low, 3)} – {short(high, 3)}" for low, high in explanation.interval[shown].tolist()]
    return _line(f"{short(100 * explanation.level, 3)} % interval", ends, "")


def _largest_parts(explanation: Explanation, most: int | None) -> list[Derivation]:
    """The parts of the largest shares, in their order; one alone is not worth a line that hides it."""
    parts = explanation.derivations
    if most is None or len(parts) <= most + 1:
        return list(parts)
    ranked = sorted(range(len(parts)), key=lambda k: -parts[k].share)
    return [parts[k] for k in sorted(ranked[:most])]


def _impossible(explanation: Explanation) -> str:
    """What to note of a row that is impossible under every class, or under both that are compared."""
    if explanation.zero_evidence:
        return ZERO_EVIDENCE
    compared = [k for k, name in enumerate(explanation.classes) if name in (explanation.label, explanation.against)]
    if explanation.against is None or np.isfinite(explanation.log_joint[compared]).any():
        return ""
    return f"The row is impossible under {explanation.label} and {explanation.against} alike: it says nothing between them."


def _shown_classes(explanation: Explanation, most: int) -> list[int]:
    """Which classes to show: all if they are few, else the most probable and those the explanation is about."""
    if len(explanation.classes) <= most:
        return list(range(len(explanation.classes)))
    about = [
        index for index, name in enumerate(explanation.classes) if name in (explanation.label, explanation.against)
    ]
    likely = np.argsort(-explanation.posterior, kind="stable").tolist()
    return sorted([*about, *(index for index in likely if index not in about)][:most])


def _part(part: Derivation, shown: list[int], several: bool, most_effects: int | None, most_terms: int | None) -> Part:
    scale = _scale(part)
    return Part(
        _line(f"{part.name or 'component'} (share {short(part.share)})", (), ""),
        replace(
            _line(
                part.start, _factors(part.log_prior - scale, shown), signed(part.prior_log_odds), part.prior_log_odds
            ),
            rests_on=_resting(part.rests_on, shown),
        ),
        tuple(_reasons(part, shown, most_effects, most_terms)),
        _line(JOINT, _factors(part.log_joint - scale, shown), signed(part.log_odds) if several else ""),
    )


def _scale(part: Derivation) -> float:
    """What is taken from all classes alike: effects tell no P(row), so that they start from the probabilities of the average row."""
    start = float(log_sum_exp(part.log_prior))
    return start if part.start == AVERAGE and np.isfinite(start) else 0.0


def _reasons(part: Derivation, shown: list[int], most_effects: int | None, most_terms: int | None) -> Iterator[Line]:
    """A line for each reason; beyond so many for the largest, and one for the rest."""
    effects = any(reason.is_effect for reason in part.reasons)
    for reason in condensed(part.reasons, most_effects if effects else most_terms):
        yield _reason(reason, shown)


def _reason(reason: Reason, shown: list[int]) -> Line:
    parts = tuple(zip(reason.columns, reason.relations, reason.values, strict=True))
    return Line(
        ((reason.name, "", ""),) if reason.name else parts,
        tuple(_factors(reason.log_terms, shown)) if reason.known else (NOTHING,) * len(shown),
        signed(reason.evidence) if reason.known else NOTHING,
        float(reason.evidence) if reason.known else None,
        "" if reason.weight == 1 else short(reason.weight, 3),
        reason.is_density,
        tuple(zip(reason.parents, reason.parent_relations, reason.parent_values, strict=True)),
        reason.is_effect,
        _resting(reason.rests_on, shown),
    )


def _resting(weight: Array | None, shown: list[int]) -> str:
    """How many rows of each class shown an estimate comes from; nothing where it is not told."""
    return "" if weight is None else " / ".join(f"{float(weight[k]):,.6g}" for k in shown)


def _shortened(parts: Iterable[tuple[str, str, str]]) -> list[str]:
    """Each column with its value, long ones shortened."""
    return [
        f"{shortened(name, LONGEST_LABEL, middle=True)}{relation}{shortened(value, LONGEST_LABEL)}"
        for name, relation, value in parts
    ]


def _in_short(parts: tuple[tuple[str, str, str], ...]) -> str:
    """Two columns with their values, or the names of more."""
    if len(parts) > 2:
        return ", ".join(shortened(name, LONGEST_SET // len(parts), middle=True) for name, *_ in parts)
    return ", ".join(
        f"{shortened(name, LONGEST_NAME // 2, middle=True)}{relation}{shortened(value, LONGEST_VALUE // 2)}"
        for name, relation, value in parts
    )


def _line(name: str, factors: Iterable[str], evidence: str, weight: float | None = None) -> Line:
    return Line(((name, "", ""),), tuple(factors), evidence, weight)


def _factors(log_values: Array, shown: list[int]) -> list[str]:
    return [from_log(float(log_values[k])) for k in shown]


# ----------------------------------------------------------------------------------------------------------------- text


def screenful(explanation: Explanation, most: int, top: int | str | None = None) -> Layout:
    """The lines of an explanation that fit a screen, or as many reasons as `top` says, "all" for all there is."""
    if top is None:
        terms = MOST_TERMS if len(explanation.derivations) == 1 else MOST_TERMS_OF_PARTS
        return lay_out(explanation, most, MOST_EFFECTS, terms, MOST_PARTS)
    count = checked_top(top)
    return lay_out(explanation, most, count, count, None if count is None else MOST_PARTS)


def as_text(explanation: Explanation, top: int | str | None = None) -> str:
    """The explanation as a table: a line for the prior, for each column, for the product and for the posterior."""
    layout = screenful(explanation, MOST_CLASSES, top)
    names = (shortened(name, LONGEST_CLASS) for name in layout.classes)
    rows: list[list[str]] = [["P(class given row)", *names, *layout.header[len(layout.classes) :]]]
    for line in layout.lines:
        first, *more = line.labels if line else [""]
        rows += [[first, *line.cells] if line else [], *([label] for label in more)]
    return text_table("", rows, 1, "\n".join(layout.notes))
