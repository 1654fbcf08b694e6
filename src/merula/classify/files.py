"""A fitted model ⇄ plain data; `load` finds the class a file names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from merula.classify.blocks import Block
from merula.distributions import DISTRIBUTIONS, FAMILIES
from merula.persist import read_state
from merula.priors import MEstimate
from merula.schema import Schema
from merula.stats import ClassCounts, Collected


def model_state(model: Any) -> dict[str, Any]:
    """All of a fitted model as plain data: parameters, schema, statistics, distributions."""
    return {
        "model": type(model).__name__,
        "params": {name: _packed(value) for name, value in model.get_params(deep=False).items()},
        "schema": model._schema.state(),
        "blocks": [{"family": _packed(block.family), "columns": list(block.columns)} for block in model._blocks],
        "named": model._named,
        "library": model._library,
        "features": model.n_features_in_,
        "classes": model.classes_,
        "log_prior": model.class_log_prior_,
        "distributions": [{"name": type(part).__name__, "state": part.state()} for part in model.distributions_],
        "collected": None if model._collected is None else model._collected.state(),
    }


def load(path: str | os.PathLike[str], families: Iterable[Any] = ()) -> Any:
    """The model in a file that `save` wrote.

    Parameters
    ----------
    path : path
        The file.
    families : family classes
        Your own families, if the model uses any: a file names them, it cannot bring them.

    Examples
    --------
    >>> import merula as mr, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "shapes.merula"
    >>> mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["pos", "neg"]).save(path)
    >>> mr.load(path).predict([["blue"]])
    array(['neg'], dtype='<U3')
    """
    import merula.classify as classifiers

    state = read_state(path)
    known = FAMILIES | {family.name: family for family in families}
    kind = getattr(classifiers, str(state.get("model")), None)
    if not isinstance(kind, type):
        raise ValueError(f"{path} holds a {state.get('model')!r}, which this merula does not know; update merula to open it")
    model = kind(**{name: _unpacked(value, known, path) for name, value in state["params"].items()})
    model._schema = Schema.from_state(state["schema"])
    model._blocks = tuple(Block(_unpacked(block["family"], known, path), tuple(block["columns"])) for block in state["blocks"])
    model._named, model._library, model.n_features_in_ = state["named"], state["library"], state["features"]
    if model._named:
        import numpy as np

        model.feature_names_in_ = np.array(model._schema.names, dtype=object)
    model._collected = _collected(state["collected"], model._blocks)
    shapes = DISTRIBUTIONS | {family.distribution.__name__: family.distribution for family in known.values()}
    parts = tuple(shapes[part["name"]].from_state(part["state"]) for part in state["distributions"])
    model._state_model(state["classes"], _exp(state["log_prior"]), parts)
    model.class_log_prior_ = state["log_prior"]
    return model


def _exp(log_prior: Any) -> Any:
    import numpy as np

    return np.exp(log_prior)


def _collected(state: dict[str, Any] | None, blocks: tuple[Block, ...]) -> Collected | None:
    if state is None:
        return None
    kinds = [type(block.family.wanted(block.columns, 0)) for block in blocks]
    parts = tuple(kind.from_state(part) for kind, part in zip(kinds, state["blocks"], strict=True))
    return Collected(state["classes"], ClassCounts.from_state(state["class_counts"]), parts)


def _packed(value: Any) -> Any:
    """A parameter as plain data: families and m-estimates by name and parameters."""
    if isinstance(value, MEstimate):
        return {"m-estimate": {"m": value.m, "p": value.p}}
    if hasattr(value, "get_params"):
        return {"family": value.name, "params": {name: _packed(item) for name, item in value.get_params().items()}}
    if isinstance(value, Mapping):
        return {"mapping": {key: _packed(item) for key, item in value.items()}}
    return value


def _unpacked(value: Any, known: Mapping[str, Any], path: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "m-estimate" in value:
        return MEstimate(**value["m-estimate"])
    if "mapping" in value:
        return {key: _unpacked(item, known, path) for key, item in value["mapping"].items()}
    if value["family"] not in known:
        raise ValueError(f"{path} uses the distribution {value['family']!r}, which is not merula's own; pass its family: load(path, families=[…])")
    return known[value["family"]](**{name: _unpacked(item, known, path) for name, item in value["params"].items()})
