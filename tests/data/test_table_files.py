"""Tables in files: every format, every dialect, and back."""

import gzip
import io
import json
from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import merula as mr
from merula.data.encode import encode, infer_schema
from merula.data.table import open_table
from merula.data.table.write import write_table

BIRDS = {"bird": ["wren", "robin", None], "größe": [9, None, 12], "wing": [4.9, 7.25, 9.0]}
CSV = "bird,größe,wing\nwren,9,4.9\nrobin,,7.25\n,12,9.0\n"


@pytest.fixture
def write(tmp_path):
    def put(content, name="table"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def as_file(writer):
    buffer = io.BytesIO()
    writer(pa.table(BIRDS), buffer)
    return buffer.getvalue()


def stream(table, file):
    with pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table)


CONTENT = {
    "csv": CSV.encode(),
    "semicolons": CSV.replace(",", ";").encode(),
    "tabs": CSV.replace(",", "\t").encode(),
    "bars": CSV.replace(",", "|").encode(),
    "decimal commas": CSV.replace(",", ";").replace(".", ",").encode(),
    "carriage returns": CSV.replace("\n", "\r\n").encode(),
    "byte-order mark": CSV.encode("utf-8-sig"),
    "utf-16": CSV.encode("utf-16"),
    "quotes": b'"bird","gr\xc3\xb6\xc3\x9fe","wing"\n"wren","9","4.9"\n"robin","","7.25"\n"","12","9.0"\n',
    "gzip": gzip.compress(CSV.encode()),
    "json lines": "\n".join(json.dumps(row) for row in pa.table(BIRDS).to_pylist()).encode(),
    "json list": json.dumps(pa.table(BIRDS).to_pylist()).encode(),
    "parquet": as_file(pq.write_table),
    "feather": as_file(pyarrow.feather.write_feather),
    "arrow stream": as_file(stream),
}


@pytest.mark.parametrize("what", CONTENT)
def test_every_format_is_read_by_what_it_holds(write, what):
    assert mr.read_table(write(CONTENT[what])).to_pydict() == BIRDS


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    assert mr.read_table("-").to_pydict() == BIRDS


def test_types_suit_every_cell_of_a_long_file(write):
    rows = "".join(f"{i},{i % 2}\n" for i in range(300_000))  # the odd one comes last
    table = mr.read_table(write("ring,seen\n" + rows + "R-17,0.5\n"))
    assert table.schema.field("ring").type == pa.string()
    assert table["seen"][-1].as_py() == 0.5


def test_dates_truth_and_times(write):
    table = mr.read_table(write("day,seen,time\n2024-12-31,true,06:30\n2025-01-01,false,18:00\n"))
    assert table.to_pydict() == {
        "day": [date(2024, 12, 31), date(2025, 1, 1)],
        "seen": [True, False],
        "time": [23400, 64800],
    }


def test_cells_may_hold_separators_quotes_and_lines(write):
    cells = ['a "quoted" word', "one; two, three", "two\nlines"]
    path = write(pd.DataFrame({"note": cells, "n": [1, 2, 3]}).to_csv(index=False))
    assert mr.read_table(path)["note"].to_pylist() == cells


def test_what_always_means_missing_is_missing_among_words_too(write):
    path = write("bird,weight\nNA,1\nnull,?\nwren,3\n")
    said = "column 'bird' holds words and 'NA', 'null'; column 'weight' holds numbers and '?', read as missing; keep=['NA'] leaves it a word"
    with pytest.warns(UserWarning) as caught:
        assert mr.read_table(path).to_pydict() == {"bird": [None, None, "wren"], "weight": [1, None, 3]}
    assert [str(one.message) for one in caught] == [said]
    kept = mr.read_table(path, words=["weight"], keep=["NA", "null", "?"])
    assert kept.to_pydict() == {"bird": ["NA", "null", "wren"], "weight": ["1", "?", "3"]}
    table = mr.read_table(path, missing=["?", "NA", "null"])  # what is stated needs no note
    assert table.to_pydict() == {"bird": [None, None, "wren"], "weight": [1, None, 3]}


@pytest.mark.parametrize(
    ("cells", "expected", "said"),
    [
        (["4,9", "NA", "-1"], [4.9, None, -1.0], "numbers and 'NA'"),
        (["7", "-", "n/a", ""], [7, None, None, None], "numbers and '-', 'n/a'"),
        (["7", "unknown", "#DIV/0!", "None"], [7, None, None, None], "numbers and 'unknown', '#DIV/0!', 'None'"),
        (["7.5", "inf", "n.a."], [7.5, float("inf"), None], "numbers and 'n.a.'"),
        (["2024-12-31", "?", "2023-01-01"], [date(2024, 12, 31), None, date(2023, 1, 1)], "dates and '?'"),
        (
            ["2024-12-31 10:30:00", "NULL", "2023-01-01 00:00:00"],
            [datetime(2024, 12, 31, 10, 30), None, datetime(2023, 1, 1)],
            "times and 'NULL'",
        ),
    ],
)
def test_words_for_missing_among_numbers_and_dates(write, cells, expected, said):
    path = write("bird;wing;weight\n" + "".join(f"wren;{cell};{cell}\n" for cell in cells))
    with pytest.warns(UserWarning, match=f"^columns 'wing', 'weight' hold {said}".replace("?", r"\?")):
        table = mr.read_table(path)
    assert table["wing"].to_pylist() == table["weight"].to_pylist() == expected


def test_other_words_leave_a_column_words(write):
    path = write("code,mark,test\n12,none,+\nunknown,-,-\nR-7,.,+\n")
    assert mr.read_table(path).to_pydict() == {
        "code": ["12", "unknown", "R-7"],
        "mark": ["none", "-", "."],
        "test": ["+", "-", "+"],
    }


def test_words_stay_words(write):
    path = write("ring,n\n7,1\n11,2\n")
    assert mr.read_table(path)["ring"].to_pylist() == [7, 11]
    assert mr.read_table(path, words=["ring", "absent"])["ring"].to_pylist() == ["7", "11"]


def test_one_column(write):
    assert mr.read_table(write("bird\nwren\nrobin\n")).to_pydict() == {"bird": ["wren", "robin"]}


def test_amounts_of_a_month_without_thousands_are_words_as_they_stand_beside_one_with_them(tmp_path):
    """Alone, the first month is of numbers and the second of words."""
    months = {"1": ["4,90", "12", "007,5", ""], "2": ["1.080,85", "3,10", "2.000"]}
    for month, cells in months.items():
        lines = [f"{cell};{place}" for cell, place in zip(cells, ["80331", "20095", "01067", "04109"], strict=False)]
        (tmp_path / f"{month}.csv").write_text("\n".join(["amount;place", *lines, "8,25;10115"]) + "\n")
    table = mr.read_table(tmp_path / "*.csv")
    assert table["amount"].to_pylist() == ["4,90", "12", "007,5", None, "8,25", "1.080,85", "3,10", "2.000", "8,25"]
    assert table["place"].to_pylist() == [
        "80331",
        "20095",
        "01067",
        "04109",
        "10115",
        "80331",
        "20095",
        "01067",
        "10115",
    ]
    opened = open_table(table.select(["amount"]))
    numbers = encode(opened, infer_schema(opened)[0], [0]).numeric["amount"]
    np.testing.assert_array_equal(numbers, [4.9, 12, 7.5, np.nan, 8.25, 1080.85, 3.1, 2000, 8.25])


def test_patterns_put_files_one_below_the_other(write, tmp_path):
    write("bird,ring\nwren,1\n", "part-1.csv")
    write("ring,bird\nR-2,robin\n", "part-2.csv")
    assert mr.read_table(tmp_path / "part-*.csv").to_pydict() == {"bird": ["wren", "robin"], "ring": ["1", "R-2"]}
    write("bird,weight\nwren,1.5\n", "part-1.csv")
    with pytest.raises(ValueError, match="has no column"):
        mr.read_table(tmp_path / "part-*.csv")
    write("bird,ring\nwren,1.5\n", "part-1.csv")
    write("bird,ring\nwren,2\n", "part-2.csv")
    assert mr.read_table(tmp_path / "part-?.csv")["ring"].to_pylist() == [1.5, 2.0]


def test_a_name_with_brackets_is_a_file_first(write):
    assert mr.read_table(write(CSV, "birds[1].csv")).to_pydict() == BIRDS


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather"])
def test_written_and_read_again(tmp_path, suffix):
    path = tmp_path / f"birds{suffix}"
    write_table(pa.table(BIRDS), path)
    assert mr.read_table(path).to_pydict() == BIRDS
    assert [file.name for file in tmp_path.iterdir()] == [path.name]  # nothing temporary is left


def test_csv_quotes_only_what_needs_it(tmp_path):
    path = tmp_path / "birds.csv"
    write_table(pa.table({"bird": ["wren", None], "P(wren)": [0.25, 1e-20]}), path)
    assert path.read_text() == "bird,P(wren)\nwren,0.25\n,1e-20\n"
    write_table(pa.table({"a, b": ['say "hi"', "x,y"]}), path)
    assert path.read_text() == '"a, b"\n"say ""hi"""\n"x,y"\n'


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "birds.parquet"
    path.write_text("old")
    monkeypatch.setattr(pq, "write_table", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_table(pa.table(BIRDS), path)
    assert [file.name for file in tmp_path.iterdir()] == ["birds.parquet"]
    assert path.read_text() == "old"


def test_unknown_suffix_suggests_the_nearest(tmp_path):
    with pytest.raises(ValueError, match=r"did you mean '\.parquet'\?"):
        write_table(pa.table(BIRDS), tmp_path / "birds.parquett")


# ------------------------------------------------------------------------------------------------------- odd but readable


def test_json_rows_with_a_late_key_keep_it(write):
    rows = [{"bird": "wren"}, {"bird": "robin", "ring": 7}]
    expected = {"bird": ["wren", "robin"], "ring": [None, 7]}
    assert mr.read_table(write(json.dumps(rows))).to_pydict() == expected
    assert mr.read_table(write("\n".join(map(json.dumps, rows)))).to_pydict() == expected


def test_json_lines_of_numbers_and_words_are_words(write):
    lines = '{"eggs": 3}\n{"eggs": "many"}\n{"eggs": null}\n'
    assert mr.read_table(write(lines)).to_pydict() == {"eggs": ["3", "many", None]}


def test_a_name_in_brackets_begins_a_csv_file(write):
    assert mr.read_table(write("[ring],bird\n7,wren\n")).to_pydict() == {"[ring]": [7], "bird": ["wren"]}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_marked_encodings(write, encoding):
    assert mr.read_table(write(CSV.encode(encoding))).to_pydict() == BIRDS


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"made\nwren,4.9\nrobin,7\n", "2 cells in every row from the second on, but 1 in its first .*skip_rows='N'"),
        (b"bird,wing", "has a header but no rows"),
        (b"bird,wing\nwren,4.9\nrobin\ntit,1,2\n", "line 3 has 1 cell .* and 1 more row is uneven;.*on_error='skip'"),
        (b'[{"bird": "wren"', "cannot be read as JSON"),
        (b'{"format": "merula network", "version": 1}', "is a network, expected a table"),
    ],
)
def test_messages(write, content, words):
    with pytest.raises(ValueError, match=words):
        mr.read_table(write(content))


def test_uneven_rows_are_an_error_where_that_is_stated_or_nothing_is(write):
    path = write(b"bird,wing\nwren,4.9\nrobin\n")
    for stated in ({}, {"on_error": "raise"}):
        with pytest.raises(mr.InputError, match="line 3 has 1 cell"):
            mr.read_table(path, **stated)
    with pytest.warns(UserWarning, match="1 row has more or fewer cells than the header and is left out"):
        assert mr.read_table(path, on_error="skip").num_rows == 1
    with pytest.raises(mr.InputError, match="'raise'"):
        mr.read_table(path, on_error="stop")


def test_parquet_damaged_in_the_middle(write):
    file = io.BytesIO()
    pq.write_table(pa.table({"wing": list(range(5_000))}), file)
    data = bytearray(file.getvalue())
    data[100:3_000] = bytes(2_900)
    with pytest.raises(ValueError, match="table cannot be read: it is cut short or damaged"):
        mr.read_table(write(bytes(data)))


def test_nested_columns_in_csv(tmp_path):
    table = pa.table({"eggs": [[1, 2], None], "nest": [{"x": 1}, {"x": 2}], "ring": [b"a", b"b"]})
    write_table(table, tmp_path / "nests.csv")
    read = mr.read_table(tmp_path / "nests.csv")
    assert read.to_pydict() == {"eggs": ["[1, 2]", None], "nest": ['{"x": 1}', '{"x": 2}'], "ring": ["a", "b"]}


def test_what_excel_writes_before_the_header(write):
    assert mr.read_table(write("sep=;\r\nbird;wing\r\nwren;4,9\r\n")).to_pydict() == {"bird": ["wren"], "wing": [4.9]}


@pytest.mark.parametrize(
    "content",
    ['{"bird": ["wren", "tit"], "eggs": [5, 9]}', pd.DataFrame({"bird": ["wren", "tit"], "eggs": [5, 9]}).to_json()],
)
def test_json_by_columns(write, content):
    assert mr.read_table(write(content)).to_pydict() == {"bird": ["wren", "tit"], "eggs": [5, 9]}
    with pytest.raises(ValueError, match="lists of equal length"):
        mr.read_table(write('{"bird": ["wren"], "eggs": [5, 9]}'))


def test_json_lines_in_utf_16(write):
    assert mr.read_table(write('{"vogel": "Zaunkönig"}\n'.encode("utf-16"))).to_pydict() == {"vogel": ["Zaunkönig"]}


def test_quotation_marks_inside_cells_lose_no_rows(write):
    with pytest.raises(ValueError, match=r"quotation mark inside a cell, at line 3 .*so that rows run together"):
        mr.read_table(write('wing,bird\n4.9,"wren\n7,"tit\n5,"wren\n8,"tit\n'))
    lines = 'wing,note\n4.9,"two\nlines"\n\n7,plain\n'
    assert mr.read_table(write(lines)).to_pydict() == {"wing": [4.9, 7.0], "note": ["two\nlines", "plain"]}


def test_groups_of_digits_in_a_file_of_tabs_are_thousands(write):
    """Only semicolons, or a comma before other than three digits, tell that commas are decimal."""
    shops = write("name\tamount\nA, Inc.\t1,234\nB, Ltd.\t22,345\n")
    assert mr.read_table(shops)["amount"].to_pylist() == ["1,234", "22,345"]
    told = mr.look(shops).to_frame().set_index("column")["why"]["amount"]
    assert told == "holds numbers ('1,234', '22,345'), read as numbers, though another decimal sign would fit as well"
    assert mr.read_table(write("name\tamount\nwren\t1,234\ntit\t2,5\n"))["amount"].to_pylist() == [1.234, 2.5]
    assert mr.read_table(write("name;amount\nwren;1,234\ntit;2,345\n"))["amount"].to_pylist() == [1.234, 2.345]


def test_short_whole_numbers_beside_groups_of_digits_tell_thousands_in_a_file_of_semicolons(write):
    """Were commas decimal, some numbers would have one or two figures behind them."""
    cells, numbers = ["997", "1,005", "850", "", "12,300", "912", "-2,010"], [997, 1005, 850, np.nan, 12300, 912, -2010]
    text = "name;people;eggs\n" + "".join(f"wren;{cell};{k}\n" for k, cell in enumerate(cells))
    table = open_table(mr.read_table(write(text)))
    schema, _ = infer_schema(table)
    np.testing.assert_array_equal(encode(table, schema, [0, 1, 2]).numeric["people"], numbers)
    assert mr.read_table(write(text.replace("850", "8,5")))["people"].to_pylist()[:3] == [997.0, 1.005, 8.5]
    assert mr.read_table(write(text), decimal=",")["people"].to_pylist()[:3] == [997.0, 1.005, 850.0]


def test_titles_above_a_table_whose_lines_all_end_with_signs(write):
    path = write(
        "Umsatz 2023;;;\n;;;\nDatum;Betrag;Konto;\n" + "01.03.2023;1.234,50 €;Miete;\n02.03.2023;7,00 €;Strom;\n"
    )
    with pytest.warns(UserWarning) as said:
        table = mr.read_table(path)
    assert ["the first 2 lines are a title, not a header" in str(one.message) for one in said] == [True, False]
    assert "the last column has neither a name nor a cell" in str(said[1].message)
    assert (table.column_names, table.num_rows) == (["Datum", "Betrag", "Konto"], 2)


def test_remarks_above_a_table(write):
    path = write("# exported by scope 7, version 2, serial 33\n# by X, Y\ntime,value,state\n1,2.5,on\n2,3.5,off\n")
    with pytest.warns(UserWarning, match="the first 2 lines are a title, not a header"):
        assert mr.read_table(path).column_names == ["time", "value", "state"]
    assert mr.read_table(write("#ring,bird\n7,wren\n8,tit\n")).column_names == ["#ring", "bird"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_that_end_with_the_sign_between_cells(write, end):
    path = write(end.join(["bird;wing", "wren;4,5;", "tit;6,25;", ""]))
    with pytest.warns(UserWarning, match="the last column has neither a name nor a cell"):
        assert mr.read_table(path).to_pydict() == {"bird": ["wren", "tit"], "wing": [4.5, 6.25]}
    with pytest.raises(mr.InputError, match="has 3 cells in every row from the second on, but 2 in its first line"):
        mr.read_table(write("bird,wing\n1,wren,4.5\n2,tit,6\n"))


def test_a_first_row_that_is_short_is_named(write):
    with pytest.raises(
        mr.InputError, match="is ragged: line 2 has 2 cells where the header has 3.*and 1 more row is uneven"
    ):
        mr.read_table(write("bird,wing,sex\nwren,4\ntit,6,m\nowl,7,f\nrook,8\n"))


@pytest.mark.parametrize(("sign", "title"), [("€", "Windows-1252"), ("£", "Windows-1252"), ("°C", "Windows-1252")])
def test_signs_alone_tell_that_a_file_is_western(tmp_path, sign, title):
    """A bookkeeper's file in which only the sign of money is no plain letter."""
    path = tmp_path / "sold.csv"
    path.write_bytes("".join(["bird;price\n", *(f"wren;{k},50 {sign}\n" for k in range(60))]).encode("cp1252"))
    with pytest.warns(UserWarning, match=f"read as {title}"):
        assert mr.read_table(path)["price"][7].as_py() == f"7,50 {sign}"


def test_single_letters_of_another_alphabet_are_not_western(tmp_path):
    pytest.importorskip("charset_normalizer")
    path = tmp_path / "people.csv"
    path.write_bytes("".join(["sex;age\n", *(f"{'МЖ'[k % 2]};{k}\n" for k in range(60))]).encode("cp1251"))
    with pytest.warns(UserWarning, match="found by its bytes"):
        assert mr.read_table(path)["sex"][0].as_py() not in "ÌÆ"


def test_codes_are_words_and_other_numbers_with_a_zero_before_them_are_not(write):
    table = mr.read_table(write("place,ring,wing,bird\n0x1f,007,1.5,wren\n0xA0,12,0123,tit\n"))
    assert table["place"].to_pylist() == [31, 160]
    assert table["ring"].to_pylist() == ["007", "12"]
    assert table["wing"].to_pylist() == [1.5, 123.0]


@pytest.mark.parametrize("last", ["3.125", "3.125 ", "NA"])
@pytest.mark.filterwarnings("ignore:column")
def test_a_point_between_thousands_is_no_decimal_sign_where_that_is_a_comma(tmp_path, last):
    path = tmp_path / "rents.csv"
    path.write_text(f"rent;rooms\n1.250;2\n2.500;3,5\n{last};1\n")
    model = mr.NaiveBayesClassifier().fit(mr.read_table(path, decimal=","), ["small", "large", "large"])
    assert (model.schema_["rent"].reading.decimal, model.schema_["rent"].reading.grouping) == (",", ".")
    assert model.schema_["rooms"].reading.decimal == ","


@pytest.mark.parametrize("option", [{"missing": [1]}, {"missing": 5}, {"keep": [None]}, {"encoding": 5}])
def test_options_of_another_type_are_refused_in_a_sentence(tmp_path, option):
    (tmp_path / "birds.csv").write_text("bird,wing\nwren,4.9\n")
    with pytest.raises(ValueError, match=f"{next(iter(option))} is .*, expected"):
        mr.read_table(tmp_path / "birds.csv", **option)


def test_lines_to_skip_are_counted_against_those_there_are(tmp_path):
    (tmp_path / "birds.csv").write_text("bird,wing\nwren,4.9\n")
    with pytest.raises(ValueError, match="has 2 lines, and 5"):
        mr.read_table(tmp_path / "birds.csv", skip_rows=5)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("birds.json", b'{"bird": "wren", "wing": 4.9}\n{"bird": "tit", "wing": 6}\n', "JSON"),
        ("rows.json", b'[{"bird": "wren", "wing": 4.9}, {"bird": "tit", "wing": 6}]', "JSON"),
        ("birds.parquet", None, "a Parquet file"),
        ("birds.arrow", None, "an Arrow file"),
    ],
)
@pytest.mark.parametrize(
    ("stated", "lacks"),
    [({"encoding": "cp1252"}, "encoding to state; leave encoding out"), ({"on_error": "skip"}, "rows of more or fewer cells than others; leave on error out")],
    ids=["encoding", "on_error"],
)  # fmt: skip
def test_what_a_file_does_not_have_cannot_be_stated(tmp_path, name, content, what, stated, lacks):
    path = tmp_path / name
    table = pa.table({"bird": ["wren", "tit"], "wing": [4.9, 6.0]})
    if content is not None:
        path.write_bytes(content)
    elif name.endswith("parquet"):
        pq.write_table(table, path)
    else:
        pa.feather.write_feather(table, path, compression="uncompressed")
    with pytest.raises(mr.InputError, match=f"is {what}, which has no {lacks}"):
        mr.read_table(path, **stated)
    assert mr.read_table(path).num_rows == 2


def test_a_very_long_word_does_not_keep_an_encoding_from_being_found(tmp_path):
    """How long that may take, tests/attack/kept/packed-long-words-beside-other-letters.csv.gz tells."""
    path = tmp_path / "birds.csv"
    path.write_bytes(
        f"bird,note\n{'a' * 5_000},x\n".encode() + "Größe,Zaunkönig\nMöwe,Käuzchen\n".encode("cp1252") * 30
    )
    with pytest.warns(UserWarning, match="read as Windows-1252"):
        table = mr.read_table(path)
    assert table["bird"].to_pylist()[1:3] == ["Größe", "Möwe"] and len(table["bird"][0].as_py()) == 5_000


def test_notes_cut_cells_that_are_long(tmp_path):
    """A remark of thousands of letters among numbers is told, not printed."""
    path = tmp_path / "birds.csv"
    path.write_text("wing,bird\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(200)) + f"{'1:' * 10_000},a\n")
    assert len(str(mr.look(path))) < 1_000
    with pytest.warns(UserWarning, match="holds numbers and '1:1:") as notes:
        mr.NaiveBayesClassifier().fit_table(path, "bird")
    assert all(len(str(note.message)) < 400 for note in notes)
