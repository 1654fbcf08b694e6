"""Measure how good models are on a table."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.dummy import DummyClassifier

import merula as mr
from merula.cli.jobs.models import costs_file, new_model
from merula.cli.jobs.task import Asked, Task, read_task
from merula.cli.voice import Voice
from merula.evaluation import Evaluation
from merula.table import plain_label

GUESS = "prior alone"


def evaluate_file(
    asked: Asked,
    models: Sequence[str],
    voice: Voice,
    cv: int = 10,
    repeats: int = 1,
    costs: str | None = None,
) -> tuple[Evaluation, Task]:
    """Figures of models on rows they were not fitted on, beside guessing by the classes' frequencies alone."""
    with voice.heeding_warnings():
        task = read_task(asked, voice)
        read = costs_file(costs, [plain_label(label) for label in task.classes.classes.tolist()])
        candidates = {name: new_model(name, task.kinds) for name in models}
        found = mr.evaluate(
            {**candidates, GUESS: DummyClassifier(strategy="prior")},
            task.features,
            task.labels,
            cv=cv,
            repeats=repeats,
            groups=task.groups,
            costs=read,
            sample_weight=task.weights,
            progress=voice.shows_progress,
        )
    return found, task
