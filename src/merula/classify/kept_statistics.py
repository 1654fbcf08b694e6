"""The statistics that a file keeps: read from plain data, and asked whether they are those of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merula.classify.plan import Plan
from merula.core.sound import HEAVIEST, is_number
from merula.stats import ClassCounts, Collected, Rows


def collected_of(state: Mapping[str, Any] | None, plan: Plan) -> Collected | None:
    """The statistics that `state`, read from a file, describes."""
    if state is None:
        return None
    kinds = [block.family.wanted(block.columns).statistic for block in plan.blocks]
    parts = tuple(kind.from_state(part) for kind, part in zip(kinds, state["blocks"], strict=True))
    counts, shared = ClassCounts.from_state(state["class_counts"]), state.get("shared", 0.0)
    return Collected(state["classes"], counts, parts, shared)


def statistics_fit(plan: Plan, collected: Collected) -> bool:
    """True when each statistic fits the classes and is of its block's columns; one of your own may not tell."""
    count = len(collected.classes)
    if not collected.class_counts.fits(count) or not is_number(collected.shared, 0.0, HEAVIEST):
        return False
    told: list[tuple[Any, Any]] = [(block, part) for block, part in zip(plan.blocks, collected.blocks, strict=True) if hasattr(part, "fits")]  # fmt: skip
    of_blocks = all(tuple(part.columns) == block.columns and part.fits(count) for block, part in told)
    return of_blocks and all(_reads_as(plan, part) for _, part in told if isinstance(part, Rows))


def _reads_as(plan: Plan, rows: Rows) -> bool:
    """True when kept rows hold words where the columns do."""
    words = [plan.schema[name].kind == "categorical" for name in rows.columns]
    return words == [known is not None for known in rows.labels]
