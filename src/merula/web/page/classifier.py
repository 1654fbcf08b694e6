"""A fitted classifier as plain data: all that the page's arithmetic needs, and no training row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from merula.answers.explanation.reasons import own_classifier
from merula.classify.base import BayesianClassifier
from merula.classify.fitted import Component, FittedModel
from merula.data.table import plain_label
from merula.web.page.asking import ask_data
from merula.web.page.columns import columns_data
from merula.web.page.context import Context, page_levels
from merula.web.page.dependent_parts import implications_data
from merula.web.page.effects import effects_data
from merula.web.page.parts import factors_count, parts_data
from merula.web.page.plain import array, number
from merula.web.page.unicode_tables import unicode_tables

PAGE = 1  # the version of the data's form


def classifier_data(model: Any, name: str = "") -> dict[str, Any]:
    """A fitted classifier as data that JSON holds: classes, columns, parts, components.

    Parameters
    ----------
    model : a fitted merula classifier, or a DecisionClassifier around one
    name : str
        What the page calls it.

    Examples
    --------
    >>> import merula as mr
    >>> model = mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["ripe", "raw"])
    >>> data = classifier_data(model, name="fruit")
    >>> data["kind"], data["classes"], [part["type"] for part in data["parts"]]
    ('classifier', ['raw', 'ripe'], ['categorical'])
    """
    inner = own_classifier(model, "a page holds the terms of one")
    return {"page": PAGE, "kind": "classifier", "name": name, **arithmetic(inner)}


def arithmetic(model: BayesianClassifier) -> dict[str, Any]:
    """What a model is made of, and the hash of it."""
    fitted = model.fitted_
    levels = page_levels(model.schema_, fitted.distributions)
    context = Context(len(fitted.classes), model.schema_, levels, model.unseen)
    parts, places = _parts(fitted, context)
    data: dict[str, Any] = {
        "model": type(model).__name__,
        "classes": [str(plain_label(label)) for label in fitted.classes.tolist()],
        "log_prior": array(fitted.log_prior),
        "columns": columns_data(model, context),
        "parts": parts,
        "components": [_component(one, places, context) for one in fitted.components],
        "ask": ask_data(model),
        "limits": context.notes,
    }
    for name, told in (
        ("effects", effects_data(fitted, places, context)),
        ("implications", implications_data(fitted, context)),
    ):
        if told is not None:
            data[name] = {"type": name, **told}
    if any(column.kind == "text" for column in model.schema_.columns):
        data["letters"] = unicode_tables()
    if data["ask"]["of"] == "joint":
        data["joint"] = arithmetic(vars(model)["joint_"])
    return {**data, "hash": sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()}


def _parts(fitted: FittedModel, context: Context) -> tuple[list[dict[str, Any]], dict[int, list[int]]]:
    """The page's parts, and which of them each distribution has become."""
    parts: list[dict[str, Any]] = []
    places: dict[int, list[int]] = {}
    for distribution in fitted.distributions:
        own = parts_data(distribution, context)
        assert sum(map(factors_count, own)) == distribution.factors_count  # weights are dealt out by factors
        places[id(distribution)] = list(range(len(parts), len(parts) + len(own)))
        parts += own
    return parts, places


def _component(component: Component, places: Mapping[int, Sequence[int]], context: Context) -> dict[str, Any]:
    condition = component.condition
    return {
        "name": component.name,
        "log_prior": array(component.log_prior),
        "parts": [index for part in component.parts for index in places[id(part)]],
        "weights": array(component.weights) if component.is_weighted else None,
        "log_weight": number(component.log_weight),
        "condition": condition and {
            "column": context.index(condition.column),
            "codes": [code for code, place in enumerate(context.places(condition.column, condition.levels)) if place < len(condition.levels)],
        },
        "fallback": component.fallback,
        "normalised": component.normalised,
    }  # fmt: skip
