"""Files of SPSS, Stata and SAS."""

import sys
from datetime import date

import pandas as pd
import pytest

import merula as mr
from merula.core import bounded
from merula.data.table.read import SAS

pyreadstat = pytest.importorskip("pyreadstat")
BIRDS = pd.DataFrame(
    {
        "bird": ["wren", "robin\u00a0", ""],
        "sex": [1.0, 2.0, None],
        "wing": [4.9, None, 7.25],
        "eggs": [5.0, 6.0, 9.0],
        "seen": [date(2024, 12, 31), None, date(2025, 1, 1)],
    }
)
READ = {
    "bird": ["wren", "robin", None],
    "sex": ["male", "female", None],
    "wing": [4.9, None, 7.25],
    "eggs": [5, 6, 9],
    "seen": [date(2024, 12, 31), None, date(2025, 1, 1)],
}
LABELS = {"sex": {1: "male", 2: "female"}, "eggs": {9: "many"}}  # of sex all, of eggs one: these stay numbers
WRITERS = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}


@pytest.mark.parametrize("suffix", WRITERS)
def test_labels_numbers_dates_and_missing(tmp_path, suffix):
    labels = LABELS if suffix == "sav" else {"sex": LABELS["sex"]}
    path = tmp_path / f"birds.{suffix}"
    WRITERS[suffix](BIRDS.assign(sex=BIRDS.sex.astype("Int64") if suffix == "dta" else BIRDS.sex), str(path), variable_value_labels=labels)  # fmt: skip
    assert mr.read_table(path).to_pydict() == READ
    assert mr.read_table(path, words=["eggs"])["eggs"].to_pylist() == ["5", "6", "9"]


def test_a_file_that_is_cut_short(tmp_path):
    path = tmp_path / "birds.sav"
    pyreadstat.write_sav(BIRDS, str(path))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(mr.InputError, match=r"birds\.sav is an SPSS file that cannot be read"):
        mr.read_table(path)
    path.write_bytes(SAS + bytes(2_000))
    with pytest.raises(mr.InputError, match="is a SAS file that cannot be read"):
        mr.read_table(path)


def test_rows_that_are_too_many(tmp_path, monkeypatch):
    path = tmp_path / "birds.sav"
    pyreadstat.write_sav(pd.DataFrame({"wing": [1.0] * 20_000}), str(path), compress=True)
    monkeypatch.setattr(bounded, "SMALL", 100)
    monkeypatch.setattr(bounded, "COLUMNAR", 1)
    with pytest.raises(mr.InputError, match="becomes more than .* bytes in memory"):
        mr.read_table(path)


def test_what_such_files_do_not_have(tmp_path):
    path = tmp_path / "birds.dta"
    pyreadstat.write_dta(BIRDS[["wing"]], str(path))
    with pytest.raises(mr.InputError, match="is a Stata file, which has no sheets; leave sheet out"):
        mr.read_table(path, sheet=1)


def test_without_the_reader(tmp_path, monkeypatch):
    path = tmp_path / "birds.sav"
    pyreadstat.write_sav(BIRDS, str(path))
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(ImportError, match=r"pip install 'merula\[statistics\]'"):
        mr.read_table(path)
