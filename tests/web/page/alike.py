"""Answers of the page's engine beside those of Python, for many rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from merula.core.logspace import to_posterior
from merula.data.encode import Encoded


def encoded(model: Any, cases: Sequence[dict[str, Any]]) -> Encoded:
    """The cases as the model reads them."""
    rows: Encoded = model._encoded(pd.DataFrame(list(cases), columns=list(model.feature_names_in_), dtype=object))
    return rows


def posteriors(model: Any, rows: Encoded) -> Any:
    """P(class given row)."""
    found, _ = model.fitted_.score(rows, None, 1)
    to_posterior(found, model.fitted_.log_prior)
    return found


def check_terms(model: Any, cases: Sequence[dict[str, Any]], ask_engine: Any) -> None:
    """The engine's posteriors to 1e-9 absolute, and the terms of all components to 1e-9 relative."""
    rows = encoded(model, cases)
    answers = [answer for (answer,) in ask_engine(model, cases, [{"ask": "answer"}])]
    refused = [(case, answer["error"]) for case, answer in zip(cases, answers, strict=True) if "error" in answer]
    assert not refused
    np.testing.assert_allclose([one["posterior"] for one in answers], posteriors(model, rows), rtol=0, atol=1e-9)
    for k, component in enumerate(model.fitted_.unsummed(rows)):
        of_rows = [one["components"][k]["terms"] for one in answers]
        assert len(of_rows[0]) == len(component.terms)
        for place, term in enumerate(component.terms):
            mine = [terms[place] for terms in of_rows]
            assert {(tuple(one["columns"]), tuple(one["parents"])) for one in mine} == {(term.part.columns, term.part.parents)}  # fmt: skip
            np.testing.assert_allclose([one["values"] for one in mine], term.values, rtol=1e-9, atol=1e-12, err_msg=str(term.key))  # fmt: skip
