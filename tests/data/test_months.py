"""Months before their year (01.2022, 1/2022) are months in files and data frames, and seasons are no fractions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import merula as mr

MONTHS = [f"{2021 + k // 12}-{k % 12 + 1:02d}" for k in range(36)]
WAYS = {
    "padded, point": lambda year, month: f"{month:02d}.{year}",
    "point": lambda year, month: f"{month}.{year}",
    "padded, slash": lambda year, month: f"{month:02d}/{year}",
    "slash": lambda year, month: f"{month}/{year}",
    "dash": lambda year, month: f"{month:02d}-{year}",
}
quiet = pytest.mark.filterwarnings("ignore::merula.GuessedKindWarning", "ignore::UserWarning")


def written(path: Path, way: str, turnover: str = "{},5") -> Path:
    cells = [WAYS[way](*map(int, month.split("-"))) for month in MONTHS]
    rows = [f"{cell};{turnover.format(100 + k * k)};{'gut' if k % 12 > 5 else 'schwach'}\n" for k, cell in enumerate(cells)]  # fmt: skip
    path.write_text("Monat;Umsatz;Lage\n" + "".join(rows))
    return path


@quiet
@pytest.mark.parametrize("turnover", ["{},5", "{}.5", "{}"])
@pytest.mark.parametrize("way", WAYS)
def test_months_before_their_year_are_instants(tmp_path: Path, way: str, turnover: str) -> None:
    found = mr.look(written(tmp_path / "umsatz.csv", way, turnover), target="Lage")
    assert [column.kind for column in found.columns][:2] == ["datetime", "numeric"]
    assert "year first" not in found.columns[0].why


@quiet
@pytest.mark.parametrize("way", WAYS)
def test_new_rows_may_say_the_month_in_any_way(tmp_path: Path, way: str) -> None:
    table = mr.read_table(written(tmp_path / "umsatz.csv", way))
    model = mr.NaiveBayesClassifier().fit(table.select(["Monat"]), table["Lage"])
    asked = pd.DataFrame({"Monat": pd.to_datetime(["2022-10-01"])})
    expected = model.predict_proba(asked)
    for cell in ("10.2022", "10/2022", "2022-10", "2022-10-01", 10.2022):
        assert np.array_equal(model.predict_proba(pd.DataFrame({"Monat": [cell]})), expected)


def test_what_only_resembles_months_stays_numbers(tmp_path: Path) -> None:
    rates = tmp_path / "rates.csv"
    rates.write_text("rate,trend\n" + "".join(f"1.{1950 + 3 * k},{'up' if k % 3 else 'down'}\n" for k in range(40)))
    assert mr.look(rates).columns[0].kind == "numeric"


@quiet
def test_seasons_are_names() -> None:
    seasons = pd.DataFrame({"Saison": ["2020/21", "2021/22", "2022/23"] * 12})
    assert "divide" not in mr.look(seasons).columns[0].why
