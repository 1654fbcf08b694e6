"""The dossier of a model file and its table; every part of it names the command that prints its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

from merula.answers.evaluation import evaluate
from merula.classify.saved import SavedModel, open_model
from merula.cli.console import Console
from merula.cli.jobs.evaluating import folds_of, read_like
from merula.cli.jobs.models import check_writable, columns_of, costs_file, files_of
from merula.cli.jobs.new_rows import check_test, read_test
from merula.cli.jobs.task import SAID, Asked
from merula.core import InputError, one_of
from merula.data.encode import UnseenLevelWarning
from merula.data.table.read import STANDARD

if TYPE_CHECKING:
    from merula.report.dossier import Dossier

ONLY = {
    "card": ("answers",),
    "model": ("model",),
    "data": ("data",),
    "performance": (),
    "sensitivity": ("sensitivity",),
    "limits": ("limits",),
    "origin": ("origin",),
}
EVALUATED = ("card", "performance")
VERSIONS = 'python -c "import merula; merula.show_versions()"'


@dataclass(frozen=True)
class Wanted:
    """What a dossier is asked for besides its model and its table, as it was typed."""

    model: str
    about: str | None = None
    test: str | None = None
    by: Sequence[str] = ()
    act_on: str | None = None
    cv: int | None = None
    repeats: int | None = None
    costs: str | None = None
    title: str | None = None
    only: str | None = None


def dossier_file(wanted: Wanted, asked: Asked, output: str, console: Console) -> Dossier:
    """The dossier of a model and its table, written to a file unless a part alone is asked for."""
    from merula.report.dossier.about import read_about
    from merula.report.dossier.writing import check_written, gather, write

    if asked.table == STANDARD:
        raise InputError.of("--table", STANDARD, "a file, as the dossier names the commands that read it again")
    inputs = [("table", asked.table), ("model", wanted.model), ("test file", wanted.test), ("file of answers", wanted.about), ("table of costs", wanted.costs)]  # fmt: skip
    if wanted.only is None:
        check_writable(output, "a dossier", inputs)
        check_written(output)
    check_test(
        wanted.test, asked.table, cv=wanted.cv, repeats=wanted.repeats, groups=asked.groups, by_time=asked.by_time
    )
    about = read_about(wanted.about)
    with console.warnings_as_notes(but=(*SAID, UnseenLevelWarning)):
        saved = open_model(wanted.model)
        console.remember(saved.notes)
        asked = _with_target(asked, saved)
        alike = replace(asked, file=saved.like_fit(asked.file))
        task, rows, named = read_like(saved, alike, wanted.by, console)
        label = None if wanted.act_on is None else {str(one): one for one in task.classes}[one_of(wanted.act_on, [str(one) for one in task.classes], "--act-on")]  # fmt: skip
        test = None if wanted.test is None else read_test(alike, wanted.test, task, console, wanted.by)
        costs = costs_file(wanted.costs, task.classes) or saved.costs
        evaluation = None
        if wanted.only is None or wanted.only in EVALUATED:
            evaluation = evaluate(named, rows, task.labels, test=test, costs=costs, sample_weight=task.weights, by=list(wanted.by) or None, progress=console.shows_progress, **({} if test else folds_of(task, wanted.cv, wanted.repeats, console)))  # fmt: skip
            evaluation = replace(evaluation, tested=wanted.test or "")
        found = gather(
            replace(saved, target=asked.target, costs=costs),
            columns_of(dict.fromkeys(saved.model.schema_.names, "ignore"), saved.path, rows),
            task.labels,
            evaluation,
            about,
            *named.values(),
            label=label,
            test=_alike(test, saved),
            tested=wanted.test,
            costs=costs,
            sample_weight=task.weights,
            title=wanted.title or f"Dossier of {Path(wanted.model).name}, which tells {asked.target}",
            sources=sources_of(
                wanted, asked, str(task.classes[1]) if len(task.classes) == 2 and not wanted.act_on else wanted.act_on
            ),
            command=_command(wanted, asked, output),
            files=_files(wanted, asked),
            parts=[*sum(ONLY.values(), ())] if wanted.only is None else ONLY[wanted.only],
        )
    if wanted.only is None:
        write(found, output)
    return found


def _with_target(asked: Asked, saved: SavedModel) -> Asked:
    """The same about the target of the model, where none is stated."""
    target = asked.target or saved.target
    if not target:
        raise InputError(f"{saved.path} does not say which column it tells", where="--target", remedy="state it: --target COLUMN")  # fmt: skip
    return asked.with_target(target)


def _alike(test: Any, saved: SavedModel) -> Any:
    """The rows to test on with every column of the model; those that it does not ask may be absent."""
    if test is None:
        return None
    kinds = dict.fromkeys(saved.model.schema_.names, "ignore")
    return columns_of(kinds, saved.path, test[0]), *test[1:]


def _files(wanted: Wanted, asked: Asked) -> list[str]:
    """The files that the dossier rests on."""
    named = [wanted.model, *files_of(asked.table), *(files_of(wanted.test) if wanted.test else []), wanted.about, wanted.costs]  # fmt: skip
    return list(dict.fromkeys(name for name in named if name))


# ------------------------------------------------------------------------------------------------------------- commands


def _words(wanted: Wanted, asked: Asked, **more: Any) -> list[str]:
    """The words of the command that writes the same dossier."""
    stated = {"about": wanted.about, "title": wanted.title, **_measuring(wanted), **more}
    _, table, _, target, *others = asked.typed("dossier", **stated)
    return ["merula", "dossier", wanted.model, "--table", table, "--target", target, *others]


def _measuring(wanted: Wanted) -> dict[str, Any]:
    return {"test": wanted.test, "by": list(wanted.by), "act_on": wanted.act_on, "cv": wanted.cv, "repeats": wanted.repeats, "costs": wanted.costs}  # fmt: skip


def _command(wanted: Wanted, asked: Asked, output: str) -> str:
    return join(_words(wanted, asked, output=output) if wanted.only is None else _words(wanted, asked, only=wanted.only))  # fmt: skip


def sources_of(wanted: Wanted, asked: Asked, acted_on: str | None) -> dict[str, str]:
    """The command that prints the numbers of each part; `acted_on` is the class of the net benefit."""
    evaluated = join(["merula", *asked.typed("evaluate", like=wanted.model, **_measuring(replace(wanted, act_on=acted_on))), "--json"])  # fmt: skip
    model = wanted.model
    own = {"data": Wanted(model), "sensitivity": Wanted(model, costs=wanted.costs), "limits": Wanted(model, test=wanted.test)}  # fmt: skip
    only = {part: join(_words(needed, asked, only=part)) for part, needed in own.items()}
    return {"model": join(["merula", "info", wanted.model]), "performance": evaluated, "calibration": evaluated, "net_benefit": evaluated, **only, "versions": VERSIONS}  # fmt: skip
