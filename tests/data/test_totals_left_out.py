"""Totals below a table are no rows, in the file that a model learns from as in the files that it answers."""

import warnings

import pytest

import merula as mr

HEADER = "Buchungstag;Verwendungszweck;Betrag;Art\n"
ROWS = [f"{day:02d}.01.2024;{'Miete' if day % 2 else 'Gehalt'};{'-' if day % 2 else ''}{day}50,00;{'Ausgabe' if day % 2 else 'Einnahme'}\n" for day in range(1, 25)]  # fmt: skip


def read(tmp_path, text):
    path = tmp_path / "konto.csv"
    path.write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        table = mr.read_table(path)
    return table, [str(note.message) for note in notes]


@pytest.mark.parametrize("total", ["Endsaldo;;1.234,56;\n", "Saldo am 31.01.2024;;1.234,56;\n", "Endsaldo;1.234,56\n", "Summe;;1.234,56;EUR\n", "\nEndsaldo;;1.234,56;\n"])  # fmt: skip
def test_a_total_below_days_is_left_out_with_a_note(tmp_path, total):
    """Its word stands where every other row has a day."""
    table, notes = read(tmp_path, HEADER + "".join(ROWS) + total)
    clean, _ = read(tmp_path, HEADER + "".join(ROWS))
    assert table.equals(clean)
    assert any("left out" in note and total.strip().split(";")[0] in note for note in notes)


def test_totals_of_few_rows_and_several_totals(tmp_path):
    """A file of one row to be answered ends as one of many; sums in between and at the end are all left out."""
    for rows in (ROWS[:1], ROWS[:2], ROWS):
        table, _ = read(tmp_path, HEADER + "".join(rows) + "Zwischensumme;;7,00;\n\nEndsaldo;;9,00;\n")
        assert table.num_rows == len(rows)


@pytest.mark.parametrize("last", ["gestern;Miete;12,00;Ausgabe\n", ";Endsaldo;12,00;Ausgabe\n", "Wert;Saldo;12,00;Ausgabe\n"])  # fmt: skip
def test_rows_that_are_called_no_total_are_kept(tmp_path, last):
    """A word that is no total, or that stands among words, is a cell like others."""
    table, _ = read(tmp_path, HEADER + "".join(ROWS) + last)
    assert table.num_rows == len(ROWS) + 1


def test_totals_among_words_are_kept(tmp_path):
    """A column of words may hold the word."""
    table, notes = read(tmp_path, "konto;betrag\nGiro;4\nTagesgeld;5\nSumme;9\n")
    assert table.num_rows == 3 and any("looks like a total" in note for note in notes)


@pytest.mark.filterwarnings("ignore::merula.data.encode.kinds.GuessedKindWarning")
def test_new_files_are_answered_without_their_total(tmp_path):
    """The answers are those of the file without it."""
    import numpy as np

    first, _ = read(tmp_path, HEADER + "".join(ROWS) + "Endsaldo;;1.234,56;\n")
    model = mr.NaiveBayesClassifier().fit(first.drop_columns(["Art"]), first["Art"])
    new, clean = (read(tmp_path, HEADER + "".join(ROWS[:5]) + end)[0] for end in ("Endsaldo;;1.234,56;\n", ""))
    given = [model.predict_proba(table.drop_columns(["Art"])) for table in (new, clean)]
    assert given[0].shape == (5, 2)
    np.testing.assert_array_equal(*given)
