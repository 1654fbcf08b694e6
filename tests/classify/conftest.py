"""What pictures and tables of models are drawn from."""

from importlib.resources import files

import pandas as pd
import pytest


@pytest.fixture(scope="session")
def penguins():
    """The bundled penguins without their species, and their species."""
    frame = pd.read_csv(str(files("merula") / "data" / "penguins.csv"))
    return frame.drop(columns="species"), frame["species"]
