"""Whether explanations say what models predict: the largest deviation of their totals from predict_proba, on the tables of strength.py.

Run `MERULA_DATA=folder python benchmarks/explained.py [table …]`. An explanation's own product of factors, from the average row to the
slip, is normalised and compared with predict_proba, for rows spread evenly over the table and for one of which nothing is known.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

import merula as mr
from strength import TABLES, read

ROWS, ALLOWED = 8, 1e-9


def deviation(model: Any, row: Any) -> float:
    """How far the product of an explanation's factors is from what the model predicts of the row."""
    found = mr.explain(model, row)
    (part,) = found.derivations
    total = part.log_prior + sum(reason.log_terms for reason in part.reasons)
    proba = model.predict_proba(row)[0]
    return max(float(np.abs(given - proba).max()) for given in (softmax(total), found.posterior))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=TABLES)
    folder, worst = Path(os.environ["MERULA_DATA"]), 0.0
    warnings.simplefilter("ignore")
    for name in parser.parse_args().tables:
        X, y = read(folder, name)
        model = mr.AutoBayesClassifier().fit(X, y)
        rows = [X.iloc[[k]] for k in np.linspace(0, len(X) - 1, ROWS).round().astype(int)]
        nothing = pd.DataFrame({column: [None] for column in X}).astype(dict.fromkeys(X.select_dtypes("number"), float))
        start = time.perf_counter()
        found = max(deviation(model, row) for row in (*rows, nothing))
        seconds = (time.perf_counter() - start) / (ROWS + 1)
        worst = max(worst, found)
        print(
            f"{name:16}{len(model.fitted_.effects.subjects):8,} effects  {found:8.1e}  {seconds:6.2f} s for a row",
            flush=True,
        )
    print(f"largest deviation {worst:.1e}: {'as it should be' if worst < ALLOWED else 'TOO LARGE'}")


if __name__ == "__main__":
    main()
