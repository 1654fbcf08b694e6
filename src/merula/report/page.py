"""Findings → one HTML page: templates filled in, the drawing library inside."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from merula.core.atomic_file import whole_file
from merula.report.findings import Findings, findings_of

if TYPE_CHECKING:
    from jinja2 import Environment

    from merula.answers.evaluation import Evaluation

NEEDED = "a report needs altair and vl-convert-python: pip install 'merula[report]'"


def check_libraries() -> None:
    """An ImportError that says how to get them, where the libraries that draw are not installed."""
    if not all(map(find_spec, ("altair", "jinja2", "vl_convert"))):
        raise ImportError(NEEDED)


def findings_html(findings: Findings) -> str:
    """The page, ready to be written to a file."""
    check_libraries()
    from merula.report.sections import sections_of

    return (
        _environment()
        .get_template("page.html")
        .render(
            findings=findings,
            sections=sections_of(findings),
            style=_resource("style.css"),
            script=_resource("charts.js"),
            runtime=_runtime(),
        )
    )


def evaluation_html(evaluation: Evaluation) -> str:
    """The page of an evaluation alone."""
    return findings_html(findings_of(evaluation))


def write_html(page: str, path: str | os.PathLike[str]) -> None:
    """Write the page, in UTF-8."""
    with whole_file(path) as file:
        file.write(page.encode())


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
