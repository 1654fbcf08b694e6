"""The steps from the prior's log-odds to the posterior's, as pictures draw them: few enough to be seen, and none left out of the sum."""

from __future__ import annotations

from math import isinf

from merula.answers.explanation.layout import Line, Part

Step = tuple[str, float]  # a label and its weight of evidence


def steps_of(part: Part, most: int | None) -> list[Step]:
    """Label and weight of evidence of what is known: strongest first, the weakest together, what is of no column, and what decides alone."""
    known = sorted(part.known, key=lambda line: -abs(line.weight or 0.0))
    deciding = [line for line in known if isinf(line.weight or 0.0)]
    apart = [line for line in part.known if line not in deciding and not _is_of_columns(line)]
    told = [line for line in known[len(deciding) :] if _is_of_columns(line)]
    shown = told if most is None or len(told) <= most + 1 else told[:most]
    return [*map(_step, shown), *_together(told[len(shown) :]), *map(_step, apart), *map(_step, deciding)]


def _is_of_columns(line: Line) -> bool:
    """Whether it tells of columns with their values: not of an allowance, nor of all others together."""
    return any(relation for _, relation, _ in line.parts)


def _step(line: Line) -> Step:
    return line.brief, line.weight or 0.0


def _together(rest: list[Line]) -> list[Step]:
    """Several lines as one step, by what they are: effects, columns, or terms of several columns."""
    if not rest:
        return []
    what = "effects" if rest[0].is_effect else "columns" if all(len(line.parts) == 1 for line in rest) else "terms"
    return [(f"{len(rest):,} other {what}", float(sum(line.weight or 0.0 for line in rest)))]
