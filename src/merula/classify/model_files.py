"""A fitted model ⇄ plain data; `load` finds the class a file names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from merula.classify.plan import packed, unpacked
from merula.core import InputError, bounded, located
from merula.core.archive import NotAnArchiveError, read_state
from merula.distributions import FAMILIES

WRONG = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)


def model_state(model: Any) -> dict[str, Any]:
    """All of a fitted model as plain data: its class and parameters, and what was learned."""
    params = {name: packed(value) for name, value in model.get_params(deep=False).items()}
    return {"model": type(model).__name__, "params": params, **model.fitted_.state()}


def load(path: str | os.PathLike[str], families: Iterable[Any] = ()) -> Any:
    """The model in a file that `save` wrote, or the network in a file of any kind `read_network` reads.

    Parameters
    ----------
    path : path
        The file; networks are known by their suffix (.bif, .xmlbif, .net, .xdsl, .uai, .json, also with .gz).
    families : family classes
        Your own families, if the model uses any: a file names them, it cannot bring them.

    Notes
    -----
    Loading runs nothing. A file that is damaged or forged is a proper model or one ValueError; one that takes more memory
    than the environment variable MERULA_MOST_BYTES allows (by default 300 times its size, at least 64 MiB, and half of the
    machine's memory at the most) is refused before the memory is taken.

    Examples
    --------
    >>> import merula as mr, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "shapes.merula"
    >>> mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["pos", "neg"]).save(path)
    >>> mr.load(path).predict([["blue"]])
    array(['neg'], dtype='<U3')
    """
    with bounded.reading(path):
        try:
            state = read_state(path)
        except (NotAnArchiveError, FileNotFoundError):
            from merula.graphs.formats import names_network  # loaded where a network is: models need none of it

            if not names_network(path):
                raise
            state = None
        if state is not None:
            return model_of(state, path, families)
    from merula.graphs.formats import read_network

    return read_network(path)


def model_of(state: dict[str, Any], path: Any, families: Iterable[Any] = ()) -> Any:
    """The model that a file's plain data describe; a ValueError where they describe none."""
    try:
        return _model(state, path, families)
    except InputError as error:
        raise error if f"{path}" in str(error) else located(error, f"{path}", " does not describe a model: ") from None
    except WRONG as error:
        raise InputError.at(
            f"{path}", f"does not describe a model this merula can read ({error!r})", remedy="save the model again"
        ) from error


def _model(state: dict[str, Any], path: Any, families: Iterable[Any]) -> Any:
    import merula.classify as classifiers

    found: Any = getattr(classifiers, str(state["model"]), None)
    known = FAMILIES | {family.name: family for family in (*getattr(found, "_own_families", ()), *families)}
    if not isinstance(found, type) or not hasattr(found, "predict_proba"):
        raise InputError.at(
            f"{path}",
            f"holds a {state['model']!r}, which this merula does not know",
            got=state["model"],
            remedy="update merula to open it",
        )
    kind: Any = found
    model = kind(**{name: unpacked(value, known, path) for name, value in state["params"].items()})
    model._check_options()
    return model._hold(kind._answering.from_state(state, known, path))
