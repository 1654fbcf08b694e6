"""Findings → one HTML page, and the file that holds it: templates filled in, the drawing library inside."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from merula.core.atomic_file import atomic_write, check_folder
from merula.core.versions import installed_version
from merula.report.findings import Findings, collect_findings, findings_of

if TYPE_CHECKING:
    from jinja2 import Environment

    from merula.answers.evaluation import Evaluation
    from merula.answers.monitoring import Monitoring
    from merula.report.layout import Section

NEEDED = "a report needs altair and vl-convert-python: pip install 'merula[report]'"


def check_libraries() -> None:
    """An ImportError that says how to get them, where the libraries that draw are not installed."""
    if not all(map(find_spec, ("altair", "jinja2", "vl_convert"))):
        raise ImportError(NEEDED)


def findings_html(findings: Findings) -> str:
    """The page, ready to be written to a file."""
    check_libraries()
    from altair.utils.schemapi import debug_mode

    from merula.report.sections import sections_of

    with debug_mode(False):  # the tests validate every specification; here it would take a third of the page's time
        sections = sections_of(findings)
    return page_html(findings.title, sections, findings.origin.versions["merula"])


def monitoring_html(monitoring: Monitoring, title: str = "Is the model still true?") -> str:
    """The page on what has changed, ready to be written to a file."""
    check_libraries()
    from merula.report.monitoring import sections_of

    return page_html(title, sections_of(monitoring))


def page_html(title: str, sections: Sequence[Section], version: str | None = None) -> str:
    """One page of sections under a title, by the version of merula that wrote it."""
    check_libraries()
    scripts = [_runtime(), _resource("charts.js")]
    given = {"style": _resource("style.css"), "scripts": scripts, "policy": _policy(scripts)}
    template = _environment().get_template("page.html")
    return template.render(title=title, sections=sections, version=version or installed_version("merula"), **given)


def _policy(scripts: Sequence[str]) -> str:
    """What a browser may do on the page: run these scripts, known by their hashes, and reach for nothing."""
    hashes = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(f"'sha256-{known}'" for known in hashes),
        "style-src": "'unsafe-inline'",  # charts are styled where they are drawn
        "img-src": "data:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{part} {allowed}" for part, allowed in rules.items())


def write_html(page: str, path: str | os.PathLike[str]) -> None:
    """Write the page, in UTF-8; a half of a sign, which that does not hold, is written out."""
    with atomic_write(path) as file:
        file.write(page.encode(errors="backslashreplace"))


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("merula.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip


@cache
def _resource(name: str) -> str:
    return (files("merula.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def _runtime() -> str:
    """Vega, Vega-Lite and vega-embed as one script of the version that Altair writes for."""
    import altair
    import vl_convert

    version = altair.VEGALITE_VERSION.rpartition(".")[0]  # 6.4 of 6.4.1
    bundle: Any = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    return str(bundle).replace("</script", "<\\/script")


# -------------------------------------------------------------------------------------------------------------- writing


def write_evaluation(evaluation: Evaluation, path: str | os.PathLike[str]) -> None:
    """Write one HTML file on an evaluation alone: how good the models are, beside one another.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import merula as mr
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "evaluation.html"
    >>> mr.write_evaluation(mr.evaluate(mr.NaiveBayesClassifier(), heights, sexes, cv=3), path)
    >>> path.read_text()[:15]
    '<!DOCTYPE html>'
    """
    write_html(findings_html(findings_of(evaluation)), path)


def write_monitoring(monitoring: Monitoring, path: str | os.PathLike[str]) -> None:
    """Write one HTML file on what has changed since a model learned: the verdict, what to do, every column, classes, losses.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import merula as mr
    >>> rows, birds = [[20 + k % 5 + 7 * (k % 2)] for k in range(200)], ["tit", "wren"] * 100
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "still-true.html"
    >>> mr.write_monitoring(mr.monitor(mr.NaiveBayesClassifier().fit(rows, birds), rows), path)
    >>> path.read_text()[:15]
    '<!DOCTYPE html>'
    """
    check_folder(path)
    write_html(monitoring_html(monitoring), path)


def write_report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    cv: Any = None,
    repeats: int | None = None,
    groups: Any = None,
    times: Any = None,
    costs: Any = None,
    reject_cost: float | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    learning_curve: bool = True,
    by: Any = None,
    min_rows: int | None = None,
    target: str | None = None,
    title: str | None = None,
    command: str | None = None,
    remarks: Mapping[str, str] | None = None,
    row_numbers: Any = None,
    left_out: Mapping[str, int] | None = None,
    evaluation: Evaluation | None = None,
    progress: bool | None = None,
) -> Findings:
    """Write one HTML file on a table and its model, and return what it says as plain data.

    It needs no network: what the data hold, whether the probabilities beat the class frequencies, which part of a pool helps and whether more rows
    would, what to do under the costs, what each column contributes, the least and most certain rows explained, and how to get it all again.

    Parameters
    ----------
    model : classifier, {name: classifier} or list of classifiers
        All are evaluated; the first is also fitted on all rows and explained.
    X, y, cv, repeats, groups, times, costs, reject_cost, sample_weight, random_state, progress
        As for `evaluate`.
    by, min_rows
        As for `evaluate`: for whom it is good.
    learning_curve : bool
        As for `evaluate`; False leaves out whether more rows would help, and takes two thirds of the time.
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
    row_numbers : array of shape (n_samples,), optional
        The number of each row in the table that it comes from, where some of its rows are left out; 1, 2, 3, … unless given.
    left_out : {column: rows}, optional
        How many rows of that table are not among these, for lack of what.
    evaluation : Evaluation, optional
        What `evaluate` found of these models, by the same names, on these rows in this order, so that it is not done again; models
        beyond those of the report are left out. It is checked: names, classes and weights of rows must be the same. Groups, costs and
        subgroups are its own; `cv`, `repeats`, `random_state` and `learning_curve` are only written down, as how to get it again.

    Returns
    -------
    Findings
        Everything the page says, as plain data; a notebook shows its verdict.

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
    found = collect_findings(
        model,
        X,
        y,
        cv=cv,
        repeats=repeats,
        groups=groups,
        times=times,
        costs=costs,
        reject_cost=reject_cost,
        sample_weight=sample_weight,
        random_state=random_state,
        learning_curve=learning_curve,
        by=by,
        min_rows=min_rows,
        target=target,
        title=title,
        command=command,
        remarks=remarks,
        row_numbers=row_numbers,
        left_out=left_out,
        evaluation=evaluation,
        progress=progress,
    )
    write_html(findings_html(found), path)
    return found
