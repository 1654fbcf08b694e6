"""Learn, ask, show and convert Bayesian networks in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import merula as mr
from merula.classify.advice import advised_kinds, review
from merula.classify.readable import is_duration
from merula.cli.console import Console
from merula.cli.jobs.models import check_writable
from merula.cli.jobs.task import named_table, note_remarks, stated_kinds
from merula.core import InputError, one_of
from merula.data.encode import infer_schema
from merula.data.schema import Label
from merula.data.table import NOTHING_STATED, FileOptions, open_table
from merula.distributions.discretize import cuts_said
from merula.graphs.formats import FORMATS, names_network
from merula.graphs.network.plain_answers import outline_of, plain_answer
from merula.show.numbers import several
from merula.show.text import listed, shortened, text_table

NOTHING_TOLD = ("text", "empty", "constant")
NOT_HELD = ("text", "datetime")
MOST_LEVELS, LONGEST = 6, 40
SEED = 0  # of the draws that intervals are made of: the same question has the same answer


def learn_file(
    table: str,
    output: str,
    console: Console,
    options: Mapping[str, Any],
    kinds: Sequence[str] = (),
    ignore: Sequence[str] = (),
    file: FileOptions = NOTHING_STATED,
) -> None:
    """A network over a table's columns, learned and written to a file; what tells rows apart and nothing else is left out."""
    check_network_file(output, "table", table)
    if options.get("numeric") == "gaussian" and not output.lower().removesuffix(".gz").endswith(".json"):
        raise InputError(
            "--numeric gaussian keeps numbers, which only .json holds", remedy=f"write to another file than {output}"
        )
    with console.warnings_as_notes():
        data = named_table(table, file)
    for name in ignore:
        one_of(name, data.column_names, "--ignore")
    used = _used_columns(data, stated_kinds(kinds, data.column_names) | dict.fromkeys(ignore, "ignore"), console)
    if not used:
        raise InputError(f"every column of {table} is left out", remedy="there is nothing to learn from")
    categories = {name: kind for name, kind in used.items() if kind == "categorical"}  # numbers may yet be cut
    asked = {key: value for key, value in options.items() if value is not None}
    if asked.get("target") is not None:
        one_of(asked["target"], list(used), "--target")
    with console.warnings_as_notes():
        network = mr.learn_structure(
            data.select(list(used)), kinds=categories or None, progress=console.shows_progress, **asked
        )
        network.write(output)


def _used_columns(data: Any, stated: Mapping[str, str], console: Console) -> dict[str, str]:
    """The kind of every column that a network can hold; a note for each of the others."""
    opened = open_table(data)
    schema, _ = infer_schema(opened, stated)
    remarks = review(opened, schema, None, stated)
    note_remarks([remark for remark in remarks if remark.what not in NOTHING_TOLD], console)
    kinds = advised_kinds(schema, remarks)
    for remark in remarks:
        if remark.what in NOTHING_TOLD and kinds[remark.column] not in NOT_HELD:  # of those it is said below
            console.note(f"column {remark.column!r} {remark.text} and is left out")
            kinds[remark.column] = "ignore"
    for name, kind in kinds.items():
        if kind in NOT_HELD:
            held = "holds durations" if is_duration(schema[name]) else f"is {kind}"
            console.note(f"column {name!r} {held}, which a network does not hold, and is left out")
    return {name: kind for name, kind in kinds.items() if kind not in ("ignore", *NOT_HELD)}


def check_network_file(path: str, role: str, source: str) -> None:
    """An error before any work is done, if a network cannot be written there."""
    check_writable(path, "a network", [(role, source)])
    if not names_network(path):
        raise InputError(f"{path}: networks are written as {', '.join(FORMATS)}, each also with .gz", where=f"{path}")


def open_network(path: str, encoding: str | None = None) -> Any:
    """The network in a file; an error that says so if the file holds a model."""
    try:
        return mr.read_network(path, encoding=encoding)
    except (ValueError, OSError):
        if Path(path).is_file() and is_zipfile(path):
            raise InputError.at(
                f"{path}", "holds a model or another archive, not a network", remedy="merula predict asks a model"
            ) from None
        raise


def outline(path: str, encoding: str | None = None) -> dict[str, Any]:
    """The variables of a network with their levels and parents, as plain data."""
    return {"file": path, **outline_of(open_network(path, encoding))}


def outline_text(found: Mapping[str, Any]) -> str:
    """The same as a table."""
    rows = [("variable", "levels", "parents")]
    for variable in found["variables"]:
        levels = _listed(variable["levels"])
        shown = ", ".join(levels[:MOST_LEVELS]) + (f", … ({len(levels)})" if len(levels) > MOST_LEVELS else "")
        rows.append((variable["variable"], shown or "numeric", ", ".join(_listed(variable["parents"]))))
    sizes = {"variable": len(found["variables"]), "arc": len(found["arcs"]), "parameter": found["parameters"]}
    count = ", ".join(several(size, what) for what, size in sizes.items())
    return f"{count}: {found['file']}\n\n{text_table('', rows, 3)}"


def _listed(labels: Sequence[Any]) -> list[str]:
    """Labels that a list can hold: those with a comma between quotation marks, but for intervals, which have brackets."""
    how = shortened if cuts_said(labels) else listed
    return [how(str(label), LONGEST) for label in labels]


def ask_network(
    path: str,
    variables: Sequence[str],
    given: Sequence[str],
    do: Sequence[str],
    encoding: str | None = None,
    interval: float | None = None,
    equivalent_sample_size: float | None = None,
) -> tuple[str, dict[str, Any]]:
    """The posterior of some variables together, or of each by itself, as text and as plain data; of one with intervals, if asked."""
    _check_interval(variables, do, interval, equivalent_sample_size)
    network = open_network(path, encoding)
    actions, evidence = _read_levels(network, do, "--do"), _read_levels(network, given, "--given")
    for name in variables:
        one_of(name, network.variables, "the variable asked for")
    if actions:
        network = network.do(actions)
    known = {"given": evidence, "do": actions}
    if interval is not None:
        found = network.query_interval(variables[0], evidence, level=interval, equivalent_sample_size=equivalent_sample_size, random_state=SEED)  # fmt: skip
        told = {"level": found.level, "draws": len(found.draws), "prior": found.prior, "rests_on": found.rests_on}
        return str(found), {**known, "variables": list(variables), "probabilities": plain_answer(found), "interval": told}  # fmt: skip
    if variables:
        found = network.query(list(variables), given=evidence)
        return str(found), {**known, "variables": list(variables), "probabilities": plain_answer(found)}
    each = {
        name: found for name, found in network.posteriors(given=evidence).items() if name not in {**evidence, **actions}
    }
    text = "\n\n".join(str(found) for found in each.values())
    return text, {**known, "probabilities": {name: plain_answer(found) for name, found in each.items()}}


def _check_interval(
    variables: Sequence[str], do: Sequence[str], interval: float | None, equivalent_sample_size: float | None
) -> None:
    """An error where what is asked for has no intervals."""
    if interval is None and equivalent_sample_size is not None:
        raise InputError("--equivalent-sample-size does nothing without --interval", remedy="add --interval 0.9")
    if interval is not None and len(variables) != 1:
        raise InputError.at("--interval", f"is of one variable, but {len(variables) or 'none'} {'are' if len(variables) > 1 else 'is'} asked for", remedy="name one")  # fmt: skip
    if interval is not None and do:
        raise InputError.at("--interval", "tells what counts of rows say, and --do cuts arcs that they were counted for", remedy="leave one of them out")  # fmt: skip


def _read_levels(network: Any, stated: Sequence[str], option: str) -> dict[str, Label]:
    """{variable: level} of words such as ``island=Dream``; a level is known by its text, a number by its value."""
    read: dict[str, Label] = {}
    for item in stated:
        names = [name for name in network.variables if item.startswith(f"{name}=")]
        if not names:
            one_of(item.partition("=")[0], network.variables, f"the variable in {option}")
            raise InputError.of(option, item, "VARIABLE=LEVEL")
        name = max(names, key=len)
        text = item[len(name) + 1 :]
        if name in read:
            raise InputError.at(
                option, f"speaks of {name!r} twice", got=item, remedy="state one level for each variable"
            )
        levels = {str(level): level for level in network.levels[name]}
        if not levels or (name in network._cuts and text not in levels):
            read[name] = _number(text, name)
        else:
            read[name] = levels[one_of(text, levels, f"the level of {name!r} in {option}")]
    return read


def _number(text: str, name: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise InputError(
            f"{name!r} holds numbers, but is said to be {text!r}", where=f"variable {name!r}", remedy="give a number"
        )
    return number


def convert_file(source: str, output: str, encoding: str | None = None) -> int:
    """The number of variables of a network that was written in another format."""
    check_network_file(output, "network", source)
    network = open_network(source, encoding)
    network.write(output)
    return len(network.variables)
