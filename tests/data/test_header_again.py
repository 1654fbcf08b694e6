"""A header that stands again among the rows is none of them, however it is written there, whoever reads the file."""

import warnings

import pytest

import merula as mr
from merula.core import InputError

ROWS = [f"{('wren', 'robin', 'tit')[k % 3]},{k},{('small', 'large')[k % 2]}" for k in range(40)]


def read(path):
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        table = mr.read_table(path)
    return table, [str(note.message) for note in notes]


def written(tmp_path, header, again, rows=ROWS):
    """A file in which the header stands before the first and the last half of the rows."""
    path = tmp_path / "birds.csv"
    path.write_text("\n".join([header, *rows[:20], again, *rows[20:]]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "again"),
    [
        ("bird,eggs,size", "bird,eggs,size"),
        ('"bird","eggs","size"', '"bird","eggs","size"'),  # as R and others write it
        ("bird,eggs,size", '"bird","eggs","size"'),
        ("bird,eggs,size", "\ufeffbird,eggs,size"),  # files of Excel below one another
        ("bird, eggs, size", "bird,eggs , size "),
        ("bird,eggs,size\n,(n),", "bird,eggs,size\n,(n),"),  # with its line of units
    ],
)
def test_however_it_is_written_it_is_no_row(tmp_path, header, again):
    table, notes = read(written(tmp_path, header, again))
    assert table["eggs"].to_pylist() == list(range(40)) and table["size"].to_pylist() == ["small", "large"] * 20
    assert any("the header stands again in 1 line " in note for note in notes)


@pytest.mark.parametrize("large", [False, True])
def test_a_last_name_may_be_lacking(tmp_path, monkeypatch, large):
    """Exports end every line with a sign; the compiled reader leaves such files to the one for all, too."""
    if large:
        monkeypatch.setattr("merula.data.table.plain.LARGE", 0)
        monkeypatch.setattr("merula.data.table.plain.LARGER", 0)
    rows = [f"{row}," for row in ROWS * 200]
    table, notes = read(written(tmp_path, "bird,eggs,size,", "bird,eggs,size,", rows))
    assert table["eggs"].to_pylist() == list(range(40)) * 200 and table.column_names == ["bird", "eggs", "size"]
    assert any("the header stands again in 1 line " in note for note in notes)


def test_lines_behind_it_keep_their_numbers(tmp_path):
    """Line 1 is the header, 2 to 21 are rows, 22 the header again, 23 to 42 rows."""
    path = written(tmp_path, "bird,eggs,size", "bird,eggs,size")
    path.write_text(path.read_text() + "wren,7,small,brown\n")
    with pytest.raises(InputError, match="line 43 has 4 cells"):
        read(path)


@pytest.mark.parametrize("bytes_at_once", [2**24, 300])
def test_in_pieces_it_is_no_row_either(tmp_path, monkeypatch, bytes_at_once):
    """Also of words alone, where it would be a bird and a size of its own without anyone being told."""
    monkeypatch.setattr("merula.data.stream.lines.BYTES", bytes_at_once)
    words = [f"{row.partition(',')[0]},{row.rpartition(',')[2]}" for row in ROWS]
    path = written(tmp_path, "bird,size", "bird,size", words)
    models = []
    for engine in ("memory", "stream"):
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            models.append(mr.NaiveBayesClassifier().fit_table(path, "size", engine=engine))
        assert sum("the header stands again" in str(note.message) for note in notes) == 1
    assert models[1].classes_.tolist() == ["large", "small"]
    assert models[1].schema_["bird"].levels == ("robin", "tit", "wren")
    for model in models:
        assert model.fitted_.collected.class_counts.weight.tolist() == [20, 20]


def test_a_name_longer_than_cells_of_pythons_reader_is_a_name(tmp_path):
    name = "b" * 200_000
    (tmp_path / "birds.csv").write_text(f"{name}\nwren\nrobin\n" * 10)
    table, _ = read(tmp_path / "birds.csv")
    assert table.column_names == [name]
