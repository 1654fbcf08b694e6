"""The statistics that a file keeps: read from plain data, and asked whether they are those of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merula.classify.plan import Plan
from merula.core.sound import HEAVIEST, is_number
from merula.data.schema import Schema
from merula.stats import ClassCounts, Collected, RoundedCounts, Rows, Wanted

NUMBERS = ("numeric", "datetime", "count")  # kinds of columns that hold them


def collected_of(state: Mapping[str, Any] | None, plan: Plan) -> Collected | None:
    """The statistics that `state`, read from a file, describes."""
    if state is None:
        return None
    kinds = [block.family.wanted(block.columns).statistic for block in plan.blocks]
    parts = tuple(kind.from_state(part) for kind, part in zip(kinds, state["blocks"], strict=True))
    counts, shared = ClassCounts.from_state(state["class_counts"]), state.get("shared", 0.0)
    reference = RoundedCounts.from_state(state["reference"]) if "reference" in state else None
    return Collected(state["classes"], counts, parts, shared, reference)


def reference_wanted(schema: Schema) -> list[Wanted]:
    """What is kept of the columns of numbers so that later rows can be compared with them; nothing where there are none."""
    names = tuple(column.name for column in schema.columns if column.kind in NUMBERS)
    return [Wanted(RoundedCounts, names)] if names else []


def statistics_fit(plan: Plan, collected: Collected) -> bool:
    """True when each statistic fits the classes and is of its block's columns; one of your own may not tell."""
    count = len(collected.classes)
    if not collected.class_counts.fits(count) or not is_number(collected.shared, 0.0, HEAVIEST):
        return False
    told: list[tuple[Any, Any]] = [(block, part) for block, part in zip(plan.blocks, collected.blocks, strict=True) if hasattr(part, "fits")]  # fmt: skip
    reference = collected.reference
    if reference is not None and not (reference.fits(count) and [one.columns for one in reference_wanted(plan.schema)] == [reference.columns]):  # fmt: skip
        return False
    of_blocks = all(tuple(part.columns) == block.columns and part.fits(count) for block, part in told)
    return of_blocks and all(_reads_as(plan, part) for _, part in told if isinstance(part, Rows))


def _reads_as(plan: Plan, rows: Rows) -> bool:
    """True when kept rows hold words where the columns do."""
    words = [plan.schema[name].kind == "categorical" for name in rows.columns]
    return words == [known is not None for known in rows.labels]
