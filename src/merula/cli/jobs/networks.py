"""Learn, ask, show and convert Bayesian networks in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import merula as mr
from merula.advice import advised_kinds, review
from merula.cli.jobs.models import check_writable
from merula.cli.jobs.task import check_column, named_table, note_remarks, stated_kinds
from merula.cli.voice import Voice, aligned
from merula.formats import FORMATS
from merula.schema import Label, one_of
from merula.table import open_table

NOTHING_TOLD = ("text", "empty", "constant")
MOST_LEVELS = 6


def learn_file(
    table: str,
    output: str,
    voice: Voice,
    options: Mapping[str, Any],
    kinds: Sequence[str] = (),
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    encoding: str | None = None,
) -> None:
    """A network over a table's columns, learned and written to a file; what tells rows apart and nothing else is left out."""
    check_network_file(output)
    data = named_table(table, (), missing, encoding)
    for name in ignore:
        check_column(name, data.column_names, "--ignore")
    stated = stated_kinds(kinds, data.column_names) | dict.fromkeys(ignore, "ignore")
    opened = open_table(data)
    remarks = review(opened, None, stated)
    note_remarks([remark for remark in remarks if remark.what in ("identifier", "codes")], voice)
    used = advised_kinds(opened, remarks, stated)
    for remark in remarks:
        if remark.what in NOTHING_TOLD:
            voice.note(f"column {remark.column!r} {remark.text} and is left out")
            used[remark.column] = "ignore"
    variables = [name for name, kind in used.items() if kind != "ignore"]
    if not variables:
        raise ValueError(f"every column of {table} is left out; there is nothing to learn from")
    categories = {name: "categorical" for name in variables if used[name] == "categorical"}  # numbers may yet be cut
    asked = {key: value for key, value in options.items() if value is not None}
    with voice.heeding_warnings():
        network = mr.learn_structure(
            data.select(variables), kinds=categories or None, progress=voice.shows_progress, **asked
        )
        network.write(output)


def check_network_file(path: str) -> None:
    """An error before any work is done, if a network cannot be written there."""
    check_writable(path, "a network")
    name = path.lower().removesuffix(".gz")
    if not name.endswith(tuple(FORMATS)):
        raise ValueError(f"{path}: networks are written as {', '.join(FORMATS)}, each also with .gz")


def outline(path: str) -> dict[str, Any]:
    """The variables of a network with their levels and parents, as plain data."""
    network = mr.read_network(path)
    return {
        "file": path,
        "parameters": network.parameters_count,
        "arcs": [list(arc) for arc in network.arcs],
        "variables": [
            {"variable": name, "levels": list(network.levels[name]), "parents": list(network.parents(name))}
            for name in network.variables
        ],
    }


def outline_text(found: Mapping[str, Any]) -> str:
    """The same as a table."""
    rows = [("variable", "levels", "parents")]
    for variable in found["variables"]:
        levels = [str(level) for level in variable["levels"]]
        shown = ", ".join(levels[:MOST_LEVELS]) + (f", … ({len(levels)})" if len(levels) > MOST_LEVELS else "")
        rows.append((variable["variable"], shown or "numeric", ", ".join(variable["parents"])))
    count = f"{len(found['variables'])} variables, {len(found['arcs'])} arcs, {found['parameters']:,} parameters"
    return f"{count}: {found['file']}\n\n{aligned(rows)}"


def ask_network(
    path: str, variables: Sequence[str], given: Sequence[str], do: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    """The posterior of some variables together, or of each by itself, as text and as plain data."""
    network = mr.read_network(path)
    actions, evidence = _read_levels(network, do, "--do"), _read_levels(network, given, "--given")
    for name in variables:
        check_column(name, network.variables, "the variable asked for")
    if actions:
        network = network.do(actions)
    known = {"given": evidence, "do": actions}
    if variables:
        found = network.query(list(variables), given=evidence)
        return str(found), {**known, "variables": list(variables), "probabilities": _plain(found)}
    each = {
        name: found for name, found in network.posteriors(given=evidence).items() if name not in {**evidence, **actions}
    }
    text = "\n\n".join(str(found) for found in each.values())
    return text, {**known, "probabilities": {name: _plain(found) for name, found in each.items()}}


def _read_levels(network: Any, stated: Sequence[str], option: str) -> dict[str, Label]:
    """{variable: level} of words such as ``island=Dream``; a level is known by its text, a number by its value."""
    read: dict[str, Label] = {}
    for item in stated:
        names = [name for name in network.variables if item.startswith(f"{name}=")]
        if not names:
            check_column(item.partition("=")[0], network.variables, f"the variable in {option}")
            raise ValueError(f"{option} is {item!r}, expected VARIABLE=LEVEL")
        name = max(names, key=len)
        text = item[len(name) + 1 :]
        levels = {str(level): level for level in network.levels[name]}
        read[name] = (
            levels[one_of(text, levels, f"the level of {name!r} in {option}")] if levels else _number(text, name)
        )
    return read


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name!r} is numeric, but is said to be {text!r}; give a number") from None


def _plain(found: Any) -> Any:
    """A distribution as plain data: rows of levels with their probability, or mean and deviation of a number."""
    if hasattr(found, "deviation"):
        return {"mean": found.mean, "deviation": found.deviation}
    names = found.variables
    return [
        {**dict(zip(names, levels if isinstance(levels, tuple) else (levels,), strict=True)), "probability": value}
        for levels, value in found
    ]


def convert_file(source: str, output: str) -> int:
    """The number of variables of a network that was written in another format."""
    check_network_file(output)
    network = mr.read_network(source)
    network.write(output)
    return len(network.variables)
