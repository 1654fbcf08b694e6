"""A classifier or a network → the page that shows it, and the file that holds it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from merula.core import InputError, one_of
from merula.core.atomic_file import atomic_write, check_folder
from merula.web.page.document import LANGUAGES, document
from merula.web.page.labels import Labels, labelled

if TYPE_CHECKING:
    from merula.graphs.network import BayesianNetwork


def write_page(
    model: Any,
    path: str | os.PathLike[str],
    *,
    costs: Any = None,
    labels: Labels | None = None,
    min_cell: float | None = None,
    name: str | None = None,
    language: str = "en",
) -> None:
    """Write one HTML file in which anyone can ask the model: it works offline, from a mail attachment, on a phone.

    Of a classifier it holds a form made of its columns, the probability of every class, the evidence of every column, the decision
    under the costs and what to ask next; of a network its graph, with findings to set and every probability that follows. All is
    worked out in the page; it holds no training row and asks nobody.

    Parameters
    ----------
    model : fitted classifier, or BayesianNetwork
        A DecisionClassifier brings its costs. Of a model that keeps rows it was learned from, its `portable` form is written.
    path : str or path
        Where to write the file.
    costs : None, array, data frame or {action: {class: cost}}
        What each action costs under each class, as for `decide`; the page shows the decision, and its reader may edit the costs.
    labels : {column: text} or {column: {"label": text, "description": text, "unit": text, "range": [low, high]}}, optional
        What columns are called on the page, what they mean, their units, and over what numbers a slider goes.
    min_cell : float, optional
        Pool levels of less weight into '(other)' before anything is written; a model that cannot be pooled is refused.
    name : str, optional
        What stands above the page; the model's class unless given.
    language : {"en", "zh"}
        The language of the page until its reader chooses another.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import merula as mr
    >>> heights, sexes = [[1.60], [1.61], [1.62], [1.80], [1.81], [1.82]], ["f", "f", "f", "m", "m", "m"]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "heights.html"
    >>> mr.write_page(mr.NaiveBayesClassifier().fit(heights, sexes), path, name="Heights")
    >>> path.read_text()[:15]
    '<!DOCTYPE html>'
    """
    check_folder(path)
    page = page_html(model, costs=costs, labels=labels, min_cell=min_cell, name=name, language=language)
    write_document(page, path)


def write_document(page: str, path: str | os.PathLike[str]) -> None:
    """Write the page, in UTF-8; a half of a sign, which that does not hold, is written out."""
    with atomic_write(path) as file:
        file.write(page.encode(errors="backslashreplace"))


def page_html(
    model: Any,
    *,
    costs: Any = None,
    labels: Labels | None = None,
    min_cell: float | None = None,
    name: str | None = None,
    language: str = "en",
    source: str | os.PathLike[str] | None = None,
) -> str:
    """The page as text; `source` is the model's file, whose hash it then tells. The rest is as for `write_page`."""
    one_of(language, LANGUAGES, "language")
    return document(page_data(model, costs=costs, labels=labels, min_cell=min_cell, name=name, source=source), language)


def page_data(
    model: Any,
    *,
    costs: Any = None,
    labels: Labels | None = None,
    min_cell: float | None = None,
    name: str | None = None,
    source: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Everything that a page holds of a model, as plain data."""
    if _is_network(model):
        return _of_network(model, costs, labels, min_cell, name, source)
    return _of_classifier(model, costs, labels, min_cell, name, source)


def _is_network(model: Any) -> bool:
    """True of a Bayesian network, without loading what networks need where none is at hand."""
    return any(kind.__name__ == "BayesianNetwork" for kind in type(model).__mro__)


def _of_network(
    network: BayesianNetwork, costs: Any, labels: Labels | None, min_cell: Any, name: str | None, source: Any
) -> dict[str, Any]:
    from merula.web.page.card import network_card
    from merula.web.page.network import network_data

    for option, given in (("costs", costs), ("min_cell", min_cell)):
        if given is not None:
            raise InputError.at(option, "is for classifiers", remedy="leave it out for a network")
    data = network_data(network)
    data["name"] = name or data.get("name") or type(network).__name__
    data["columns"] = labelled(data["columns"], labels)
    return data | {"card": network_card(network, source)}


def _of_classifier(
    model: Any, costs: Any, labels: Labels | None, min_cell: Any, name: str | None, source: Any
) -> dict[str, Any]:
    from merula.web.page.card import classifier_card
    from merula.web.page.classifier import classifier_data
    from merula.web.page.leaving import costs_of, model_that_leaves

    leaving, said = model_that_leaves(model, min_cell)
    data = classifier_data(leaving, name or type(leaving).__name__)
    data["costs"] = costs_of(model, costs, leaving.classes_)
    data["columns"] = labelled(data["columns"], labels)
    data["limits"] = [*said, *data.get("limits", ())]
    return data | {"card": classifier_card(leaving, data, source)}
