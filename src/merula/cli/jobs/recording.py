"""What a command answers, written down so that it can be worked out again; and worked out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from merula.answers.decision import Costs
from merula.classify.saved import SavedModel
from merula.cli.jobs.models import check_writable
from merula.core import InputError
from merula.core.fingerprint import file_hash
from merula.core.journal import Journal
from merula.core.notes import silenced
from merula.core.plain import to_plain
from merula.core.recording import entry_of
from merula.data.encode import encode_rows
from merula.data.schema import Label
from merula.data.table import open_table, plain_label
from merula.data.table.exact_cells import plain_table, table_of

Plain = dict[str, Any]


def recorder_of(log: str, model: str, inputs: Sequence[tuple[str, str | None]] = ()) -> Recorder:
    """Where answers are recorded. Nothing that is read may be added to."""
    check_writable(log, "the record of answers", [("model", model), *inputs])
    return Recorder(log, model)


class Recorder:
    """Where the answers of one command are recorded: the model's file has been read by then, and is named by its hash."""

    def __init__(self, log: str, model: str) -> None:
        self._journal, self._model, self._path = Journal(log), {"name": model, "hash": file_hash(model)}, model

    def write(self, asked: Mapping[str, Any], answered: Any) -> None:
        """Record what was asked and answered; an error where the model's file is no longer what it was."""
        if file_hash(self._path) != self._model["hash"]:
            raise InputError.at(self._path, "changes while it is asked", remedy="ask again")
        self._journal.append(entry_of(self._model, asked, answered))


# -------------------------------------------------------------------------------------------------------------- predict


def predicted(table: str, rows: Any, costs: Costs | None) -> Plain:
    """What `merula predict` was asked: rows as they were read, and the costs that were stated."""
    return {"by": "predict", "table": table, "costs": _plain_costs(costs), "rows": plain_table(rows)}


def predicted_again(saved: SavedModel, asked: Mapping[str, Any]) -> Plain:
    """The answers to the same rows."""
    from merula.cli.jobs.answering import answered

    with silenced():
        return plain_table(answered(saved, open_table(table_of(asked["rows"])), _costs(asked["costs"], saved)))


def _plain_costs(costs: Costs | None) -> Plain | None:
    if costs is None:
        return None
    return {
        "actions": [plain_label(one) for one in costs.actions],
        "classes": list(costs.classes),
        "table": costs.table.tolist(),
    }


def _costs(told: Mapping[str, Any] | None, saved: SavedModel) -> Costs | None:
    """The costs that were recorded; their classes are those of the model, in its order, as they were."""
    if told is None:
        return None
    return Costs(np.array(told["table"], dtype=np.float64), tuple(told["actions"]), tuple(saved.classes))


# -------------------------------------------------------------------------------------------------------------- explain


def explained(
    saved: SavedModel, table: str, rows: Any, chosen: Sequence[int], label: Label, found: Sequence[Any]
) -> tuple[Plain, list[Plain]]:
    """What `merula explain` was asked, and what it answered: the rows it was asked about alone, where they are read the same way by themselves."""
    numbers, answers = [row + 1 for row in chosen], [_plain_reasons(why) for why in found]
    told = {"by": "explain", "table": table, "label": label, "numbers": numbers}
    alone = told | {"rows": plain_table(rows.take(list(chosen))), "places": list(range(len(chosen)))}
    if explained_again(saved, alone) == answers:
        return alone, answers
    return told | {"rows": plain_table(rows), "places": list(chosen)}, answers


def explained_again(saved: SavedModel, asked: Mapping[str, Any]) -> list[Plain]:
    """The reasons for the same rows."""
    from merula.answers.explanation import explain

    model = saved.model
    with silenced():
        rows = encode_rows(open_table(table_of(asked["rows"])), model.schema_, model.fitted_.plan.named, type(model).__name__)  # fmt: skip
        return [_plain_reasons(explain(model, rows.take(np.array([place])), asked["label"])) for place in asked["places"]]  # fmt: skip


def _plain_reasons(why: Any) -> Plain:
    return to_plain(why.to_dict("all"))  # type: ignore[no-any-return]


# -------------------------------------------------------------------------------------------------------------- network


def queried(
    variables: Sequence[str],
    given: Sequence[str],
    do: Sequence[str],
    encoding: str | None,
    interval: float | None,
    equivalent_sample_size: float | None,
) -> Plain:
    """What `merula network query` was asked, in the words that were typed."""
    question = {"variables": list(variables), "given": list(given), "do": list(do), "encoding": encoding}
    return {"by": "network query", **question, "interval": interval, "equivalent_sample_size": equivalent_sample_size}


def queried_again(path: str, asked: Mapping[str, Any]) -> Plain:
    """The answer to the same question."""
    from merula.cli.jobs.networks import ask_network

    words = [asked[name] for name in ("variables", "given", "do", "encoding", "interval", "equivalent_sample_size")]
    return to_plain(ask_network(path, *words)[1])  # type: ignore[no-any-return]
