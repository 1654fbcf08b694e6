"""A fitted model ⇄ plain data; `load` finds the class a file names."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from merula.classify.plan import Block, Plan
from merula.core.archive import read_state
from merula.data.schema import Schema
from merula.distributions import DISTRIBUTIONS, FAMILIES
from merula.distributions.priors import MEstimate
from merula.stats import ClassCounts, Collected


def model_state(model: Any) -> dict[str, Any]:
    """All of a fitted model as plain data: parameters, schema, statistics, distributions."""
    plan = model._plan
    return {
        "model": type(model).__name__,
        "params": {name: _packed(value) for name, value in model.get_params(deep=False).items()},
        "schema": plan.schema.state(),
        "blocks": [{"family": _packed(block.family), "columns": list(block.columns)} for block in plan.blocks],
        "named": plan.named,
        "library": plan.library,
        "scores": {name: dict(table) for name, table in plan.scores.items()},
        "classes": model.classes_,
        "log_prior": model.class_log_prior_,
        "distributions": [{"name": type(part).__name__, "state": part.state()} for part in model.distributions_],
        "collected": None if model._collected is None else model._collected.state(),
    }


def load(path: str | os.PathLike[str], families: Iterable[Any] = ()) -> Any:
    """The model in a file that `save` wrote, or the network in a file of any kind `read_network` reads.

    Parameters
    ----------
    path : path
        The file; networks are known by their suffix (.bif, .xmlbif, .net, .xdsl, .uai, .json, also with .gz).
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
    if not zipfile.is_zipfile(path):
        from merula.graphs.formats import FORMATS, read_network  # loaded where a network is: models need none of it

        if os.path.splitext(os.fspath(path).lower().removesuffix(".gz"))[1] in FORMATS:
            return read_network(path)
    state = read_state(path)
    try:
        return _model(state, path, families)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(
            f"{path} does not describe a model this merula can read ({error!r}); save the model again"
        ) from error


def _model(state: dict[str, Any], path: Any, families: Iterable[Any]) -> Any:
    """The model that a file's plain data describe."""
    import merula.classify as classifiers

    known = FAMILIES | {family.name: family for family in families}
    kind = getattr(classifiers, str(state["model"]), None)
    if not (isinstance(kind, type) and hasattr(kind, "predict_proba")):
        raise ValueError(
            f"{path} holds a {state['model']!r}, which this merula does not know; update merula to open it"
        )
    model = kind(**{name: _unpacked(value, known, path) for name, value in state["params"].items()})
    blocks = tuple(Block(_unpacked(block["family"], known, path), tuple(block["columns"])) for block in state["blocks"])
    plan = Plan(Schema.from_state(state["schema"]), blocks, state["named"], state["library"], state.get("scores", {}))
    shapes = DISTRIBUTIONS | {family.distribution.__name__: family.distribution for family in known.values()}
    parts = tuple(shapes[part["name"]].from_state(part["state"]) for part in state["distributions"])
    known_columns = {column.name for column in plan.schema.columns if column.kind != "ignore"}
    fitting = all(part.fits(len(state["classes"])) and known_columns.issuperset(part.columns) for part in parts)
    if not fitting or np.shape(state["log_prior"]) != (len(state["classes"]),):
        raise ValueError(f"{path} does not describe a model: its parts do not fit together; save the model again")
    return model._set_model(plan, state["classes"], state["log_prior"], parts, _collected(state["collected"], blocks))


def _collected(state: dict[str, Any] | None, blocks: tuple[Block, ...]) -> Collected | None:
    if state is None:
        return None
    kinds = [block.family.wanted(block.columns).statistic for block in blocks]
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
        raise ValueError(
            f"{path} uses the distribution {value['family']!r}, which is not merula's own; pass its family: load(path, families=[…])"
        )
    return known[value["family"]](**{name: _unpacked(item, known, path) for name, item in value["params"].items()})
