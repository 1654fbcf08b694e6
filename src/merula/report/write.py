"""Write a report: gather what there is to say, and say it in HTML."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from merula.core.atomic_file import check_folder
from merula.report.findings import Findings, gather
from merula.report.page import check_libraries, findings_html, write_html


def write_report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    cv: Any = 10,
    repeats: int | None = None,
    groups: Any = None,
    costs: Any = None,
    reject_cost: float | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    target: str | None = None,
    title: str | None = None,
    command: str | None = None,
    remarks: Mapping[str, str] | None = None,
    progress: bool | None = None,
) -> Findings:
    """Write one HTML file on a table and its model, and return what it says as plain data.

    It needs no network: what the data hold, how good the probabilities are beside guessing, what to do under the costs,
    what each column contributes, the least and most certain rows explained, and how to get it all again.

    Parameters
    ----------
    model : classifier, {name: classifier} or list of classifiers
        All are evaluated; the first is also fitted on all rows and explained.
    X, y, cv, repeats, groups, costs, reject_cost, sample_weight, random_state, progress
        As for `evaluate`.
    path : str or path
        Where to write the file.
    target : str, optional
        What the class is called.
    title : str, optional
        What stands above the report.
    command : str, optional
        The command line that asked for it, to be shown.
    remarks : {column: words}, optional
        What was already pointed out of columns, such as why one is left out, or "" for nothing; the other columns are
        looked at here.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import merula as mr
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> found = mr.write_report(mr.NaiveBayesClassifier(), heights, sexes, path, cv=3, progress=False)
    >>> found.evaluation.figures["NaiveBayesClassifier"]["error"].value, path.read_text()[:15]
    (0.0, '<!DOCTYPE html>')
    """
    check_libraries()
    check_folder(path)
    found = gather(
        model,
        X,
        y,
        cv=cv,
        repeats=repeats,
        groups=groups,
        costs=costs,
        reject_cost=reject_cost,
        sample_weight=sample_weight,
        random_state=random_state,
        target=target,
        title=title,
        command=command,
        remarks=remarks,
        progress=progress,
    )
    write_html(findings_html(found), path)
    return found
