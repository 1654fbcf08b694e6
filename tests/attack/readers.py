"""What each reader is asked of a damaged file, and the law it keeps: a ValueError or an OSError, or else a sound answer."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.attack.requests import check_answer, check_bytes, read_bytes, read_request

ALLOWED = (ValueError, OSError)
READ, REFUSED, REFUSED_LATER = SOUND = ("read", "refused", "refused when asked")


class BrokenLawError(AssertionError):
    """A file was read, and what came of it is not sound."""


def attempt(reader: str, path: Path) -> str:
    """How a reader ends on a file; anything but these three words is an exception of another kind, and a failure."""
    warnings.simplefilter("ignore")
    read, ask = READERS[reader]
    try:
        found = read(path)
    except ALLOWED:
        return REFUSED
    try:
        ask(found)
    except ALLOWED:
        return REFUSED_LATER
    return READ


def _check_posterior(posterior: Any) -> None:
    posterior = np.asarray(posterior)
    if (
        not np.isfinite(posterior).all()
        or (posterior < 0).any()
        or not np.allclose(posterior.sum(axis=-1), 1, atol=1e-9)
    ):
        raise BrokenLawError(f"posterior {posterior.tolist()!r:.300}")


# ---------------------------------------------------------------------------------------------------------------- models


def _load(path: Path) -> Any:
    import merula as mr

    return mr.load(path)


def _ask_model(model: Any) -> None:
    if not hasattr(model, "schema_"):
        return _ask_network(model)
    table = _rows_for(model.schema_.columns)
    _check_posterior(model.predict_proba(table))
    model.predict(table)
    if model.fitted_.collected is not None:
        str(model)
    return None


def _rows_for(columns: Any) -> Any:
    """Four rows that suit a model: values within, beyond, missing."""
    import pyarrow as pa

    cells = {
        "numeric": [0.0, 120.5, None, -1e6],
        "count": [0, 3, None, 1_000],
        "text": ["pain in the knee", "", None, "zebra"],
        "datetime": pa.array([0, 1_704_067_200, None, 4_000_000_000], pa.timestamp("s")),
        "ignore": [None, None, None, None],
    }

    def held(column: Any) -> Any:
        if column.kind in cells:
            return cells[column.kind]
        levels = list(column.levels or ["yes"])
        chosen = [levels[0], levels[-1], None, levels[0]]
        if any(isinstance(level, str) for level in levels):
            return pa.array([level if isinstance(level, str) else None for level in chosen], pa.string())
        try:
            return pa.array(chosen)
        except (OverflowError, pa.ArrowTypeError):  # what no column of Arrow's holds
            return pa.array([None] * 4, pa.float64())

    return pa.table({str(column.name): held(column) for column in columns})


# -------------------------------------------------------------------------------------------------------------- networks


def _read_network(path: Path) -> Any:
    import merula as mr

    return mr.read_network(path)


def _ask_network(network: Any) -> None:
    if len(network.variables) > 200:
        return
    for found in network.posteriors().values():
        if hasattr(found, "deviation"):
            if not np.isfinite([found.mean, found.deviation]).all():
                raise BrokenLawError(f"{found.variables} has mean {found.mean} and deviation {found.deviation}")
        else:
            _check_posterior([value for _, value in found])


# ---------------------------------------------------------------------------------------------------------------- tables


def _read_table(path: Path) -> Any:
    import merula as mr

    return mr.read_table(path)


def _ask_table(table: Any) -> None:
    """Every cell is touched, and a model is learned where there are classes to learn."""
    import merula as mr

    table.validate(full=True)
    if table.num_columns > 60 or table.num_rows > 2_000:
        return
    cells = {name: _words(table[name]) for name in table.column_names}
    target = next((name for name in cells if 2 <= len(set(cells[name])) <= 9), None)
    if target is None or table.num_columns < 2 or table[target].null_count:
        return
    rows = table.drop_columns([target])
    model = mr.NaiveBayesClassifier().fit(rows, cells[target])
    _check_posterior(model.predict_proba(rows))


def _words(column: Any) -> list[str]:
    """Every cell in words."""

    def word(cell: Any) -> str:
        try:
            return str(cell.as_py())
        except OverflowError:  # a time that Arrow has and Python has not
            return "beyond Python's time"

    return [word(cell) for cell in column]


def _read_costs(path: Path) -> Any:
    from merula.cli.jobs.models import costs_file

    return costs_file(str(path), ["healthy", "ill"])


def _ask_costs(costs: Any) -> None:
    if not np.isfinite(costs.table).all():
        raise BrokenLawError(f"costs {costs.table.tolist()}")


def _read_packed(path: Path) -> Any:
    inner = path.name.removesuffix(".gz")
    return _read_network(path) if inner.endswith((".bif", ".xmlbif", ".net", ".xdsl", ".uai")) else _read_table(path)


def _ask_packed(found: Any) -> None:
    (_ask_network if hasattr(found, "posteriors") else _ask_table)(found)


# ------------------------------------------------------------------------------- tables in pieces, statistics, checkpoints

TARGET = "ill"  # the class in tables of rows
SEALED = ("counts", "checkpoint")  # archives, of which every other try is forged within and sealed anew


def _fit_by_stream(path: Path) -> Any:
    import merula as mr

    return path, mr.NaiveBayesClassifier(kinds={"remark": "ignore"}).fit_table(path, TARGET, engine="stream")


def _ask_streamed(found: Any) -> None:
    path, model = found
    for answers in model.predict_table(path):
        _check_posterior(np.column_stack([answers[f"P({label})"].to_numpy() for label in model.classes_.tolist()]))


def _ask_counts(counts: Any) -> None:
    """Two halves of one land, a model of both, and what is left without one."""
    twice = counts + counts
    _ask_model(twice.model())
    _ask_model((twice - counts).model())
    str(counts)


def _resume(path: Path) -> Any:
    """The model of a fit that goes on where the file says; a copy of it, for what is no longer needed is removed."""
    import merula as mr

    kept = path.with_name(f"{path.name}.kept")
    kept.write_bytes(path.read_bytes())
    try:
        return mr.TANClassifier(numeric="gaussian").fit_table(rows_of_checkpoints(), TARGET, engine="stream", resume=kept)  # fmt: skip
    finally:
        kept.unlink(missing_ok=True)


def rows_of_checkpoints() -> Path:
    """The table that checkpoints are of: always the same file, for a checkpoint knows its files."""
    path = Path(tempfile.gettempdir()) / f"merula attack {os.getuid()}" / "rows.csv"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        lines = [
            f"{60 + k * 7 % 90},{'乌黑' if k % 3 else '浅白'},{'ill' if k % 5 < 2 else 'healthy'}" for k in range(300)
        ]
        part.write_text("\n".join(["blood pressure,色泽,ill", *lines]) + "\n")
        os.utime(part, (1e9, 1e9))
        part.rename(path)
    return path


READERS: dict[str, tuple[Callable[[Path], Any], Callable[[Any], None]]] = {
    "model": (_load, _ask_model),
    "forged": (_load, _ask_model),
    "network": (_read_network, _ask_network),
    "table": (_read_table, _ask_table),
    "packed": (_read_packed, _ask_packed),
    "costs": (_read_costs, _ask_costs),
    "stream": (_fit_by_stream, _ask_streamed),
    "counts": (_load, _ask_counts),
    "checkpoint": (_resume, _ask_model),
    "request": (read_request, check_answer),
    "http": (read_bytes, check_bytes),
}
