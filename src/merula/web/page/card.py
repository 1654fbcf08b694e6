"""The model card at the foot of a page: what was learned from what, when, by which versions, and how good it was, if known."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from merula.core.versions import installed_version
from merula.stats.labels import times_of_words

FEW = 5  # rows: what a level of fewer says of its rows may say who they were


def classifier_card(model: Any, data: Mapping[str, Any], source: str | os.PathLike[str] | None) -> dict[str, Any]:
    """The card of a classifier whose plain data these are; `source` is the file it came from."""
    used = [column for column in data["columns"] if column["kind"] != "ignore"]
    facts = [
        *_learned_from(model),
        _fact("classes", len(data["classes"])),
        _fact("columns", len(used)),
        *_how_good(model),
        *_origin(source, str(data["hash"])),
    ]
    return {"facts": facts, "limits": [*_few(data["columns"]), *_few_words(model)]}


def network_card(network: Any, source: str | os.PathLike[str] | None) -> dict[str, Any]:
    """The card of a network; `source` is the file it came from."""
    facts = [_fact("nodes", len(network.variables)), _fact("edges", len(network.arcs)), *_origin(source, None)]
    return {"facts": facts, "limits": []}


def _fact(name: str, value: Any) -> dict[str, Any]:
    return {"says": f"card.{name}", "value": value}


def _learned_from(model: Any) -> list[dict[str, Any]]:
    """How many rows it was learned from, by weight where they had one."""
    collected = model.fitted_.collected
    return [] if collected is None else [_fact("rows", float(collected.class_counts.weight.sum()))]


def _how_good(model: Any) -> list[dict[str, Any]]:
    """The log loss on rows left out, beside that of the class frequencies, of models that measured it when they were fitted."""
    losses = getattr(model, "out_of_fold_", None) or {}
    if "pool" in losses:
        own = "portable" if not model.keep_rows and "portable" in losses else "pool"
        (loss, error), prior = losses[own], losses.get("prior", (None,))[0]
        told = {"says": "card.loss.said", "loss": f"{loss:.4f}", "error": f"{error:.4f}"}
        return [_fact("loss", told), *([_fact("loss.prior", f"{prior:.4f}")] if prior is not None else [])]
    loss = getattr(model, "out_of_fold_log_loss_", None)
    return [] if loss is None else [_fact("loss", f"{loss:.4f}")]


def _origin(source: str | os.PathLike[str] | None, known: str | None) -> list[dict[str, Any]]:
    """Where the model came from and when, its hash, and the version that wrote the page."""
    facts = []
    if source is not None:
        path = Path(source)
        saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        facts += [_fact("file", path.name), _fact("saved", f"{saved:%Y-%m-%d %H:%M} UTC")]
        facts += [_fact("hash.file", sha256(path.read_bytes()).hexdigest())]
    elif known is not None:
        facts += [_fact("hash", known)]
    return [*facts, _fact("written", f"{datetime.now(UTC):%Y-%m-%d}"), _fact("version", f"merula {installed_version('merula')}")]  # fmt: skip


def _few(columns: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How many levels rest on few rows, where the model tells."""
    told = [level["rows"] for column in columns for level in column.get("levels") or () if "rows" in level]
    if not told:
        return []
    few = sum(0 < rows < FEW for rows in told)
    return [{"says": "card.few" if few else "card.few.none", "n": few, "least": FEW, "all": len(told)}]


def _few_words(model: Any) -> list[dict[str, Any]]:
    """How many words of texts were met few times, of those that the page knows."""
    collected = model.fitted_.collected
    told = [times_of_words(block) for block in collected.blocks] if collected else []
    times = [count for columns in told for words in columns.values() for count in words.values() if count > 0]
    if not times:
        return []
    few = sum(count < FEW for count in times)
    return [{"says": "card.few.words" if few else "card.few.words.none", "n": few, "least": FEW, "all": len(times)}]
