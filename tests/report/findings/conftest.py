"""Small tables whose figures can be worked out beside the package."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def patients():
    """A table with numbers, words, dates and missing cells, and who is ill."""
    rng = np.random.default_rng(1)
    ill = rng.random(150) < 0.4
    table = pd.DataFrame(
        {
            "blood pressure": np.where(ill, rng.normal(150, 14, 150), rng.normal(125, 12, 150)),
            "visits": rng.poisson(np.where(ill, 4, 1)),
            "größe": np.where(rng.random(150) < np.where(ill, 0.7, 0.2), "klein", "groß"),
            "seen on": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 150), unit="D"),
        }
    )
    table.loc[::9, "blood pressure"] = np.nan
    table.loc[::11, "größe"] = None
    return table, np.where(ill, "ill", "healthy")
