"""A saved model or a network file as one HTML page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from merula.cli.jobs.models import check_writable, costs_file, open_model
from merula.core import InputError
from merula.core.atomic_file import nearest_file
from merula.data.table.read import STANDARD


def written_page(
    path: str, output: str, costs: str | None, labels: str | None, min_cell: float | None, name: str | None, language: str
) -> int:  # fmt: skip
    """How many bytes the page has that was written; costs are those given, else those that the model file keeps."""
    from merula.web.page.writing import page_html, write_document

    if output == STANDARD:
        raise InputError.at("--output", "is -, but a page is a file", remedy="name one, such as -o model.html")
    check_writable(output, "the page", [("model", path), ("table of costs", costs), ("file of labels", labels)])
    model, read, called = _opened(path, costs)
    page = page_html(
        model,
        costs=read,
        labels=labels_file(labels),
        min_cell=min_cell,
        name=name or called,
        language=language,
        source=path,
    )
    write_document(page, output)
    return Path(output).stat().st_size


def _opened(path: str, costs: str | None) -> tuple[Any, Any, str]:
    """The model or network in a file, the costs, and what it is called unless a name is given."""
    from merula.graphs.formats import names_network, read_network

    called = Path(path).name.split(".")[0] or Path(path).name
    if names_network(path) and Path(path).is_file():
        if costs is not None:
            raise InputError.at("--costs", "is for classifiers", remedy="leave it out for a network")
        return read_network(path), None, called
    saved = open_model(path)
    read = costs_file(costs, saved.classes) or saved.costs
    return saved.model, read, f"{saved.target} ({called})" if saved.target else called


def labels_file(path: str | None) -> Any:
    """What a JSON file says columns are called; None where none is named."""
    if path is None:
        return None
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file of labels {path}{nearest_file(Path(path), '.json')}")
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError.at(
            path,
            f"is no JSON ({error!s:.200})",
            expected='{"column": "label"} or {"column": {"label": …, "description": …, "unit": …}}',
        ) from None
