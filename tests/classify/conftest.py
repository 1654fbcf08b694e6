"""What several tests of models share: the penguins, and halves of a table to merge."""

from importlib.resources import files

import pandas as pd
import pytest
from sklearn.base import clone


@pytest.fixture(scope="session")
def penguins():
    """The bundled penguins without their species, and their species."""
    frame = pd.read_csv(str(files("merula") / "data" / "penguins.csv"))
    return frame.drop(columns="species"), frame["species"]


def _merged(model, table):
    """Two halves of which the second ranks the same parents otherwise, merged, and the fit on all rows."""
    for seed in range(200):
        frame, y = table(300, 0.1, seed)
        first, second = clone(model).fit(frame[:150], y[:150]), clone(model).fit(frame[150:], y[150:])
        alike = all(set(first.parents_[name]) == set(second.parents_[name]) for name in first.parents_)
        if not alike or first.parents_ == second.parents_:
            continue
        whole = clone(model).fit(frame, y)
        if all(set(first.parents_[name]) == set(whole.parents_[name]) for name in first.parents_):
            return first + second, whole, frame
    raise AssertionError("no table ranks parents otherwise in its halves")


@pytest.fixture
def merged_in_another_order():
    return _merged
