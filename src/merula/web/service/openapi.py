"""How the service is asked, as OpenAPI 3.1: the types are those of what is said, the examples rows of the models themselves."""

from __future__ import annotations

from typing import Any

from merula.core.versions import installed_version
from merula.web.said.schema import components
from merula.web.said.version import VERSION
from merula.web.service.formats import ACCEPTED, CSV, JSON, LINES, WRITTEN
from merula.web.service.models import Served
from merula.web.service.shelf import Shelf
from merula.web.service.writing import OFFERED

REFERENCE = "#/components/schemas/{name}"
SAYS = {
    "predict": ("Prediction", "The posterior and the most probable class of each row."),
    "decide": ("Decision", "The action of least expected cost for each row."),
    "explain": ("Explanations", "Why each row is what the model says."),
    "question": ("Questions", "What to find out next of each row."),
}
REFUSED = {
    "400": "The request is no HTTP.", "401": "The token is missing or wrong.", "403": "Pages of other hosts may not ask.",
    "404": "There is no such model.", "406": "There is no answer in a format that is accepted.", "408": "The body came too slowly.",
    "413": "The body or its rows are too many.", "415": "The rows come in a format that is not read.", "421": "The service is not asked by that name.",
    "422": "The rows cannot be read.", "503": "More is asked than is worked on; Retry-After tells when to come again.", "504": "The work takes too long.",
}  # fmt: skip
NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
GETS = {
    "/v1/models": ("ModelList", "The models that are served."),
    "/v1/models/{name}/metadata": ("Metadata", "What a model holds, and what became of a newer file of it."),
    "/healthz": ("Health", "Whether the service lives; no token is needed."),
    "/readyz": ("Health", "Whether it takes requests; no token is needed."),
}
OTHERS = {
    "/": ("text/html", "The page of the one model, or a list of several."),
    "/models/{name}": ("text/html", "The page of a model."),
    "/metrics": ("text/plain", "What was counted, for Prometheus."),
    "/v1/schema.json": ("application/schema+json", "The JSON Schema of everything that is said."),
    "/openapi.json": ("application/json", "This document."),
    "/docs": ("text/html", "This document as a page."),
    "/v2": ("application/json", "The server, as the Open Inference Protocol has it."),
    "/v2/health/live": ("application/json", "Whether it lives, likewise."),
    "/v2/health/ready": ("application/json", "Whether it is ready, likewise."),
    "/v2/models/{name}": ("application/json", "A model, likewise."),
    "/v2/models/{name}/ready": ("application/json", "Whether a model is ready, likewise."),
}


def openapi(shelf: Shelf) -> dict[str, Any]:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "merula",
            "version": f"{installed_version('merula') or '0'}+said.{VERSION}",
            "summary": "Bayesian models as a service: posteriors, decisions, reasons, questions.",
            "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        },
        "security": [{"token": []}, {}],
        "paths": _paths(shelf),
        "components": {
            "schemas": components(REFERENCE) | {"Inference": _INFERENCE},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths(shelf: Shelf) -> dict[str, Any]:
    served = list(shelf.models.values())
    classifier = next((one for one in served if one.saved is not None), None)
    network = next((one for one in served if one.saved is None), None)
    found: dict[str, Any] = {path: {"get": _get(path, _content("application/json", name), what)} for path, (name, what) in GETS.items()}  # fmt: skip
    found |= {path: {"get": _get(path, {media: {}}, what)} for path, (media, what) in OTHERS.items()}
    for verb in SAYS:
        found[f"/v1/models/{{name}}/{verb}"] = {"post": _verb(verb, classifier)}
    found["/v1/models/{name}/query"] = {"post": _query(network)}
    found["/v2/models/{name}/infer"] = {"post": _infer(classifier)}
    return found


def _get(path: str, content: dict[str, Any], what: str) -> dict[str, Any]:
    operation = path.strip("/").replace("/", "_").replace("{name}", "model").replace(".", "_") or "page"
    named = {"parameters": [NAME]} if "{name}" in path else {}
    return {"operationId": f"get_{operation}", "summary": what, **named, "responses": {"200": {"description": what, "content": content}, **_refused()}}  # fmt: skip


def _refused() -> dict[str, Any]:
    return {status: {"description": what, "content": _content("application/json", "Error")} for status, what in REFUSED.items()}  # fmt: skip


def _content(media: str, name: str, **more: Any) -> dict[str, Any]:
    return {media: {"schema": {"$ref": REFERENCE.format(name=name)}, **more}}


def _verb(verb: str, served: Served | None) -> dict[str, Any]:
    name, what = SAYS[verb]
    answers = _content("application/json", name)
    answers |= {WRITTEN[form].partition(";")[0]: {} for form in OFFERED[verb] if form != JSON}
    return {
        "operationId": verb,
        "summary": what,
        "parameters": [NAME, *_stated(verb)],
        "requestBody": {"required": True, "content": _rows(verb, served)},
        "responses": {"200": {"description": what, "content": answers}, **_refused()},
    }


def _stated(verb: str) -> list[dict[str, Any]]:
    """What may stand in the address, where rows come as a table."""
    from merula.web.service.rows_asked import USED

    return [{"name": name, "in": "query", "schema": {"type": "string"}, "description": "As in the body; costs and prices as JSON."} for name in USED[verb]]  # fmt: skip


def _rows(verb: str, served: Served | None) -> dict[str, Any]:
    """The formats in which rows may come, with examples of one model's own columns."""
    row = {} if served is None else example_row(served)
    examples = {
        "one row": {"value": row},
        "several rows": {"value": [row, {}]},
        "columns": {"value": {name: [value, None] for name, value in row.items()}},
        "with what is stated": {"value": {"row": row, **_example_stated(verb, served)}},
    }
    shapes = [
        {"$ref": REFERENCE.format(name="Case")},
        {"type": "array", "items": {"$ref": REFERENCE.format(name="Case")}},
        {"type": "object", "additionalProperties": {"type": "array"}},
        {"$ref": REFERENCE.format(name="Asked")},
    ]
    tables: dict[str, Any] = {media: {} for media, form in ACCEPTED.items() if form not in (JSON, LINES, CSV)}
    tables["text/csv"] = {"example": _csv(row)}
    tables["application/x-ndjson"] = {}
    return {"application/json": {"schema": {"anyOf": shapes}, "examples": examples}, **tables}


def _csv(row: dict[str, Any]) -> str:
    return f"{','.join(row)}\n{','.join('' if value is None else str(value) for value in row.values())}\n"


def example_row(served: Served) -> dict[str, Any]:
    """A row that the model reads: the first level of each column, a number where numbers are."""
    found: dict[str, Any] = {}
    for column in served.model.schema_.columns[:20]:
        if column.kind == "categorical" and column.cuts is None:
            found[column.name] = next((level for level in column.levels or () if level is not None), None)
        elif column.kind != "ignore":
            found[column.name] = {"text": "a few words", "datetime": None}.get(column.kind, 1)
    return found


def _example_stated(verb: str, served: Served | None) -> dict[str, Any]:
    if served is None or verb == "predict":
        return {}
    classes = [str(label) for label in served.classes]
    if verb == "explain":
        return {"label": served.classes[0], "top": 5}
    costs = {"act": dict.fromkeys(classes, 1.0), "wait": {label: 5.0 if place else 0.0 for place, label in enumerate(classes)}}  # fmt: skip
    return {"costs": costs} | ({"prices": {}} if verb == "question" else {})


def _query(served: Served | None) -> dict[str, Any]:
    what = "What a network says: probabilities given findings, the most probable explanation, what depends on what."
    example: dict[str, Any] = {}
    if served is not None:
        name = next(iter(served.model.variables))
        levels = served.model.levels[name]
        example = {"given": {name: levels[0]} if levels else {}}
    return {
        "operationId": "query",
        "summary": what,
        "parameters": [NAME],
        "requestBody": {"required": True, "content": _content("application/json", "QueryAsked", example=example)},
        "responses": {"200": {"description": what, "content": _content("application/json", "NetworkAnswer")}, **_refused()},
    }  # fmt: skip


def _infer(served: Served | None) -> dict[str, Any]:
    what = "Posteriors and classes, as the Open Inference Protocol has them."
    row = {} if served is None else example_row(served)
    inputs = [
        {"name": name, "shape": [1], "datatype": "BYTES" if isinstance(value, str) else "FP64", "data": [value]}
        for name, value in row.items()
    ]
    return {
        "operationId": "infer",
        "summary": what,
        "parameters": [NAME],
        "requestBody": {"required": True, "content": _content("application/json", "Inference", example={"inputs": inputs})},
        "responses": {"200": {"description": what, "content": {"application/json": {}}}, **_refused()},
    }  # fmt: skip


_INFERENCE = {
    "type": "object",
    "required": ["inputs"],
    "properties": {
        "id": {"type": "string"},
        "inputs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "shape", "datatype", "data"],
                "properties": {
                    "name": {"type": "string"},
                    "shape": {"type": "array", "items": {"type": "integer"}},
                    "datatype": {"type": "string"},
                    "data": {"type": "array"},
                },
            },
        },
        "outputs": {"type": "array", "items": {"type": "object", "required": ["name"]}},
    },
}
