"""A fitted model ⇄ plain data; `load` finds the class a file names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from merula.classify.plan import Plan, UnfitError, packed, unpacked
from merula.core import InputError, InPython, bounded, located
from merula.core.archive import NotAnArchiveError, read_state, write_state
from merula.distributions import FAMILIES

if TYPE_CHECKING:
    from merula.classify.counted import Counts

WRONG = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)


def model_state(model: Any) -> dict[str, Any]:
    """All of a fitted model as plain data: its class and parameters, and what was learned; an error where it could not be read again."""
    if model.classes_.dtype.kind == "S" or any(isinstance(label, bytes) for label in model.classes_.tolist()):
        raise InputError("the classes are bytes, which a model file does not hold", remedy="fit with words: [label.decode() for label in y]")  # fmt: skip
    state = {**estimator_state(model), **model.fitted_.state()}
    if not model.fitted_.fits():
        _check_readable(model, state)
    return state


def _check_readable(model: Any, state: dict[str, Any]) -> None:
    """An error where what would be saved cannot be read again: better now than when the model is gone."""
    own = {type(block.family) for block in model.fitted_.plan.blocks} - set(FAMILIES.values())
    with TemporaryDirectory() as folder:
        write_state(Path(folder) / "model", state)
        try:
            load(Path(folder) / "model", own)
        except UnfitError:
            raise InputError("the model holds numbers that are too large or too small for a model file", remedy="measure columns of very large or very small numbers in another unit, and fit again") from None  # fmt: skip
        except InputError:  # a model of your own, say, which this library cannot name
            return


def estimator_state(model: Any) -> dict[str, Any]:
    """The class and the parameters of a model, fitted or not, as plain data."""
    params = {name: packed(value) for name, value in model.get_params(deep=False).items()}
    return {"model": type(model).__name__, "params": params}


def load(path: str | os.PathLike[str], families: Iterable[Any] = ()) -> Any:
    """The model or the `Counts` in a file that `save` wrote, or the network in a file of any kind `read_network` reads.

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
            return (counts_of if "counts" in state else model_of)(state, path, families)
    from merula.graphs.formats import read_network

    return read_network(path)


def model_of(state: dict[str, Any], path: Any, families: Iterable[Any] = ()) -> Any:
    """The model that a file's plain data describe; a ValueError where they describe none."""
    if "counts" in state:
        raise InputError.at(f"{path}", "holds statistics, not a model", remedy=("merula merge makes one of it", InPython(", and so does mr.load(path).model()")))  # fmt: skip
    with _described(path, "a model"):
        model, known = _estimator(state, path, families)
        return model._hold(type(model)._answering.from_state(state, known, path))


def counts_of(state: dict[str, Any], path: Any, families: Iterable[Any] = ()) -> Counts:
    """The statistics that a file's plain data describe; a ValueError where they describe none."""
    from merula.classify.counted import Counts, refuse_model
    from merula.classify.kept_statistics import collected_of

    with _described(path, "statistics"):
        estimator, known = _estimator(state, path, families)
        plan, about = Plan.from_state(state, known, path), state["counts"]
        refuse_model(estimator, plan)
        collected = collected_of(state["collected"], plan)
        found = Counts(estimator, plan, collected, about["target"], about["min_cell"], tuple(about["notes"]))  # type: ignore[arg-type]
        if not found.fits():
            raise InputError("its parts do not fit together", remedy="count them again")
        return found


@contextmanager
def _described(path: Any, what: str) -> Iterator[None]:
    """While plain data are read: what they do not describe is one `InputError` that names the file."""
    try:
        yield
    except InputError as error:
        raise error if f"{path}" in str(error) else located(error, f"{path}", f" does not describe {what}: ") from None
    except WRONG as error:
        raise InputError.at(
            f"{path}", f"does not describe {what} this merula can read ({error!r})", remedy="save the model again"
        ) from error


def _estimator(state: dict[str, Any], path: Any, families: Iterable[Any]) -> tuple[Any, dict[str, Any]]:
    """The unfitted model that a file names, its options checked, and the families that it may use."""
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
    return model, known
