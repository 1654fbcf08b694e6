"""Parts of pools and of conditional log-linear models, and joint normals, as data of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merula.classify.log_linear.terms import QuadraticTerms, TableTerms
from merula.classify.pooled.known import KnownCells
from merula.classify.pooled.pairs import GainDistribution
from merula.classify.pooled.reading import ReadAs
from merula.classify.pooled.tails import StudentTails
from merula.core import Array
from merula.data.intervals import interval_labels
from merula.data.schema import Label
from merula.distributions import JointStudentDistribution, MultivariateGaussianDistribution
from merula.web.page.context import Context
from merula.web.page.plain import array, integers

Say = Callable[[Any, Context], dict[str, Any]]
NOTHING = -1  # the code of a cell that says nothing


def codes_of_levels(name: str, levels: tuple[Label, ...], lost: int, context: Context) -> list[int]:
    """The place among a part's levels of each code of a cell; `lost` for missing ones and those that the part does not know."""
    return [place if place < len(levels) else lost for place in context.places(name, levels)]


# ------------------------------------------------------------------------------------------- tables of questions


def tables_of_questions(part: TableTerms, context: Context) -> dict[str, Any]:
    """The questions of each column, those that each table asks, what its cells add, without cells that add nothing, and the share of yes to each question."""
    filled: NDArray[np.bool_] = np.any(part.values, axis=2)
    return {
        "type": "tables_of_questions",
        "factors": context.factors_of(part),
        "questions": [_questions(part, j, context) for j in range(len(part.columns))],
        "order": part.tables.shape[1],
        "tables": integers(part.tables),
        "filled": bits(filled),
        "values": array(part.values[filled]),
        **({} if part.shares is None else {"shares": array(part.shares)}),
    }


def _questions(part: TableTerms, j: int, context: Context) -> dict[str, Any]:
    """What is asked of a column: its bounds, with numbers' sign and code of a missing one, or with words' codes."""
    bounds, known = part.bounds[part.asked == j], part.level_sets[j]
    if known is None:
        return {"bounds": array(bounds), "sign": int(part.signs[j]), "lost": 0 if part.gaps[j] else NOTHING}
    lost = len(known) if part.gaps[j] else NOTHING
    return {"bounds": integers(bounds), "codes": integers(codes_of_levels(part.columns[j], known, lost, context))}


def bits(flags: NDArray[np.bool_]) -> list[int] | dict[str, Any]:
    """Flags as the bits of whole numbers, 32 of them in each, the first in the lowest bit.

    Examples
    --------
    >>> import numpy as np
    >>> bits(np.array([True, False, True]))
    [5]
    """
    packed = np.packbits(flags.ravel(), bitorder="little")
    return integers(np.pad(packed, (0, -len(packed) % 4)).view("<i4"))


# ------------------------------------------------------------------------------------------- numbers and products


def quadratic(part: QuadraticTerms, context: Context) -> dict[str, Any]:
    """Weights of numbers, squares, products and levels."""
    fields = ("center", "scale", "constant", "linear", "square", "missing", "middle", "products")
    return {
        "type": "quadratic",
        "factors": context.factors_of(part),
        **{name: array(getattr(part, name)) for name in fields},
        "gaps": [int(gap) for gap in part.gaps],
        "pairs": integers(part.pairs),
        "words": [_weights_of_levels(part, j, context) for j in range(len(part.columns))],
    }


def _weights_of_levels(part: QuadraticTerms, j: int, context: Context) -> dict[str, Any] | None:
    """What each level of a column of words adds, a missing one last, and the row of each code; None for numbers."""
    known = part.level_sets[j]
    if known is None:
        return None
    return {
        "rows": integers(codes_of_levels(part.columns[j], known, len(known), context)),
        "table": array(part._words[j]),
    }


def normals(part: MultivariateGaussianDistribution, _: Context) -> dict[str, Any]:
    """The classes' normal distributions, and what known and missing cells add."""
    return {"type": "normals", **_shapes(part), "present": array(part.log_present), "missing": array(part.log_missing)}


def students(part: JointStudentDistribution, _: Context) -> dict[str, Any]:
    """The classes' t distributions, and what known and missing cells add."""
    fields = ("freedom", "constants")
    ends = {"present": array(part.log_present), "missing": array(part.log_missing)}
    return {"type": "students", **_shapes(part.normal), **ends, **{name: array(getattr(part, name)) for name in fields}}


def tails(part: StudentTails, _: Context) -> dict[str, Any]:
    """What t distributions say beyond normal ones: their degrees of freedom, share of the square, and what they say at the mean."""
    fields = ("freedom", "share", "constants")
    return {"type": "tails", **_shapes(part.normal), **{name: array(getattr(part, name)) for name in fields}}


def _shapes(part: MultivariateGaussianDistribution) -> dict[str, Any]:
    """The classes' means, and roots of their inverse covariances, in standard units."""
    return {
        "kept": integers(part.kept),
        "centre": array(np.nan_to_num(part.centre)),
        "unit": array(part.unit),
        "mean": array(part.mean),
        "whitening": array(part.whitening),
    }


# --------------------------------------------------------------------------------------------------- one or two columns


def gains(part: GainDistribution, context: Context) -> dict[str, Any]:
    """What one column more adds to what is said of another, with a last row and column of nothing."""
    every = zip(part.columns, part.givers, part.level_sets, part.giver_levels, part.log_table, strict=True)
    return {
        "type": "gains",
        "factors": context.factors_of(part),
        "pairs": [
            {
                "giver": context.index(giver),
                "column": context.index(name),
                "rows": _places_or_missing(giver, above, context),
                "places": _places_or_missing(name, own, context),
                "width": len(own) + 1,
                "table": array(_with_nothing(table)),
            }
            for name, giver, own, above, table in every
        ],
    }


def _places_or_missing(name: str, levels: tuple[Label, ...], context: Context) -> list[int]:
    """The place of each code; one that the part does not know is where a missing one is."""
    places = context.places(name, levels)
    missing = places[len(places) - 2]
    return [place if place <= len(levels) else missing for place in places]


def _with_nothing(table: Array) -> Array:
    return np.pad(table, ((0, 1), (0, 1), (0, 0)))


def known_cells(part: KnownCells, context: Context) -> dict[str, Any]:
    """What a known cell of each column adds, and which codes are known."""
    every = zip(part.columns, part.level_sets, part.always, strict=True)
    codes = [
        integers([place < len(known) or always for place in context.places(name, known)]) if known is not None else int(always)
        for name, known, always in every
    ]  # fmt: skip
    return {
        "type": "known_cells",
        "factors": context.factors_of(part),
        "known": codes,
        "bias": array(part.bias.T),
    }


def read_as(part: ReadAs, context: Context) -> dict[str, Any]:
    """Parts that are told numbers as intervals, or held between two bounds."""
    from merula.web.page.parts import parts_data  # it lists this function

    labels = {name: interval_labels(cuts) for name, cuts in part.reading.cuts.items()}
    asked = {*part.columns, *part.parents}
    return {
        "type": "read_as",
        "factors": context.factors_of(part),
        "cuts": [[context.index(name), array(cuts)] for name, cuts in part.reading.cuts.items() if name in asked],
        "bounds": [[context.index(name), array(pair)] for name, pair in part.reading.bounds.items() if name in asked],
        "parts": parts_data(part.part, context.reading(labels)),
    }


PARTS: dict[type[Any], Say] = {
    TableTerms: tables_of_questions,
    QuadraticTerms: quadratic,
    MultivariateGaussianDistribution: normals,
    JointStudentDistribution: students,
    StudentTails: tails,
    GainDistribution: gains,
    KnownCells: known_cells,
    ReadAs: read_as,
}
