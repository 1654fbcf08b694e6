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


@pytest.mark.parametrize("count", [2, 4, 7])
def test_a_word_of_several_rows_is_a_value(tmp_path, count):
    """A column of grades that was sorted ends with those that are words: none of these rows is lost."""
    grades = [*(str(k % 5) for k in range(15)), *["average"] * count]
    table, notes = read(tmp_path, "grade,price\n" + "".join(f"{grade},{k}\n" for k, grade in enumerate(sorted(grades))))
    assert table["grade"].to_pylist() == sorted(grades)
    assert not any("left out" in note for note in notes)


def test_a_word_in_the_midst_is_a_value_at_the_end_too(tmp_path):
    table, _ = read(tmp_path, "year,wing\n2001,8\naverage,7\n2002,9\naverage,6\n")
    assert table["wing"].to_pylist() == [8, 7, 9, 6]


@pytest.mark.parametrize("last", ["Total Recall", "Balance board", "sum-1", "overall good"])
def test_what_begins_like_a_total_among_few_numbers_is_kept(tmp_path, last):
    """Films are called 1917 and 300, too."""
    table, _ = read(tmp_path, f"title,score\n1917,8.2\n300,7.6\n{last},7.5\n")
    assert table["title"].to_pylist() == ["1917", "300", last]


@pytest.mark.parametrize("last", ["Total 2024", "Total (EUR)", "Total EUR", "Totals: all", "Saldo per 31.12.2024", "Balance as of May"])  # fmt: skip
def test_a_total_of_a_time_or_a_currency_is_left_out_among_few_numbers(tmp_path, last):
    table, _ = read(tmp_path, f"year,wing\n2001,8\n2002,9\n{last},17\n")
    assert table["wing"].to_pylist() == [8, 9]


def test_a_total_of_anything_is_left_out_among_many_numbers(tmp_path):
    table, _ = read(
        tmp_path, "year,wing\n" + "".join(f"{year},4\n" for year in range(2000, 2012)) + "Total revenue,48\n"
    )
    assert table["year"].to_pylist() == list(range(2000, 2012))
