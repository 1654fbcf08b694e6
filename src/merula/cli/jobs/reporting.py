"""Write the report on a table and its model."""

from __future__ import annotations

from merula.cli.jobs.evaluating import evaluate_file
from merula.cli.jobs.models import check_writable
from merula.cli.jobs.task import Asked
from merula.cli.voice import Voice
from merula.evaluation import Evaluation


def report_file(
    asked: Asked, model: str, output: str, voice: Voice, cv: int = 10, repeats: int = 1, costs: str | None = None
) -> None:
    """The report, written to a file."""
    check_writable(output, "a report")
    write = getattr(Evaluation, "to_html", None)
    if write is None:
        raise NotImplementedError("this version of merula writes no reports yet; merula evaluate prints the figures")
    found, _ = evaluate_file(asked, [model], voice, cv, repeats, costs)
    write(found, output)
