"""The types as JSON Schema: one document with a definition for each of them."""

from __future__ import annotations

from typing import Any

from msgspec.json import schema_components

from merula.web.said.answers import Case, Decision, Explanation, Explanations, Note, Prediction, Questions
from merula.web.said.networks import FindingSaid, FindingsSaid, Moments, NetworkAnswer
from merula.web.said.requests import Asked, QueryAsked
from merula.web.said.service import Error, Health, Metadata, ModelList
from merula.web.said.version import VERSION

SAID: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Asked, QueryAsked, Prediction, Decision, Explanation, Explanations, Questions, NetworkAnswer, FindingSaid, Moments, Note, Metadata, ModelList,
        Health, Error,
    )
}  # fmt: skip
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def components(template: str) -> dict[str, Any]:
    """A definition for each type, which refer to one another as the template says; {name} stands for the name."""
    (case, findings), _ = schema_components([Case, FindingsSaid], ref_template=template)
    _, found = schema_components(list(SAID.values()), ref_template=template)
    return {**found, "Case": case, "Findings": findings}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of everything that is said, under ``$defs``.

    Examples
    --------
    >>> found = json_schema()
    >>> found["version"], sorted(found["$defs"]["Prediction"]["properties"])
    (1, ['class', 'classes', 'hash', 'model', 'notes', 'posterior', 'version'])
    """
    return {
        "$schema": DIALECT,
        "$id": f"urn:merula:said:{VERSION}",
        "title": "What merula's pages and services say",
        "version": VERSION,
        "$defs": components("#/$defs/{name}"),
    }
