"""Files that are not written as most are: parted by blanks, quoted by apostrophes, with a line of units, with 9999 for unknown."""

import warnings

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.data.encode import encode, infer_schema
from merula.data.stream import lines
from merula.data.stream.delimited import DelimitedFiles
from merula.data.table import open_table


@pytest.fixture
def write(tmp_path):
    def written(text, name="birds.txt"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def read(path, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = mr.read_table(path, **options)
    return table.to_pydict(), [str(one.message) for one in said]


# ----------------------------------------------------------------------------------------------------------- blanks


def test_cells_parted_by_any_number_of_blanks(write):
    path = write("  bird    wing  nest\nwren     4.9  low\ntit      6.1   high\n robin   7.25 low\n")
    found, said = read(path)
    assert found == {"bird": ["wren", "tit", "robin"], "wing": [4.9, 6.1, 7.25], "nest": ["low", "high", "low"]}
    assert said == []
    assert "cells are parted by blanks" in str(mr.look(path))


@pytest.mark.parametrize("between", [" ", "\t"])
def test_tables_that_r_writes_have_names_of_rows(write, between):
    lines = [['"wing"', '"nest"'], ['"wren one"', "4.9", '"low \\"old\\" tree"'], ['"tit"', "6.1", '"high"']]
    found, _ = read(write("\n".join(map(between.join, lines)) + "\n"))
    assert list(found.values()) == [["wren one", "tit"], [4.9, 6.1], ['low "old" tree', "high"]]
    assert list(found)[1:] == ["wing", "nest"]


@pytest.mark.parametrize("quote", ['"', "'"])
def test_quoted_names_between_blanks(write, quote):
    names = " ".join(f"{quote}{name}{quote}" for name in ("bird", "body mass", "wing"))
    found, _ = read(write(f"{names}\n{quote}house wren{quote} 11 4.9\ntit 18   6.1\n"))
    assert found == {"bird": ["house wren", "tit"], "body mass": [11, 18], "wing": [4.9, 6.1]}


def test_quoted_sentences_below_a_quoted_name_stay_one_column(write):
    found, _ = read(write('"seen" "today"\n"a wren"\n"two tits"\n'))
    assert len(found) == 1


def test_codes_that_are_protected_from_excel_are_codes(write):
    found = mr.look(write('town;PLZ\n' + "".join(f'{town};="{code}"\n' for town, code in [("Ulm", "89073"), ("Dresden", "01067")] * 6)))  # fmt: skip
    assert "'01067', '89073'" in found.columns[1].why


@pytest.mark.parametrize(
    "text",
    [
        "what was seen\na wren sings\ntwo tits fly\nan owl sleeps\n",  # sentences of as many words as the header
        "body weight\n12 kg\n15 kg\n9 kg\n",  # amounts with their unit
        "message\n3 wrens were seen\n4 tits\n5 owls\n",
    ],
)
def test_one_column_of_words_stays_one(write, text):
    found, _ = read(write(text))
    assert len(found) == 1


def test_blanks_within_cells_parted_otherwise_stay(write):
    found, _ = read(write("bird,place\nwren one,5 a\ntit two,6 b\nowl three,7 c\n"))
    assert found == {"bird": ["wren one", "tit two", "owl three"], "place": ["5 a", "6 b", "7 c"]}


# ------------------------------------------------------------------------------------------------------ apostrophes


def test_cells_quoted_by_apostrophes(write):
    found, _ = read(
        write("'bird','wing','seen by'\n'wren','4.9','O''Neil'\n'tit','6.1','Smith, J'\n'owl','7','O\\'Hara'\n")
    )
    assert found == {"bird": ["wren", "tit", "owl"], "wing": [4.9, 6.1, 7.0], "seen by": ["O'Neil", "Smith, J", "O'Hara"]}  # fmt: skip


def test_apostrophes_within_words_stay(write):
    found, _ = read(write("bird,seen by\nwren,O'Neil\ntit,'Abu\n"))
    assert found == {"bird": ["wren", "tit"], "seen by": ["O'Neil", "'Abu"]}


def test_files_too_large_for_memory_are_not_written_anew(write):
    for text in ("bird wing\nwren 4.9\ntit 6.1\nowl 7\n", "'bird','wing'\n'wren','4.9'\n"):
        with pytest.raises(mr.InputError, match="cannot be read piece by piece"):
            _ = DelimitedFiles((str(write(text)),)).first


# ------------------------------------------------------------------------------------------------------------ units


@pytest.mark.parametrize("units", ["(°C),[bar],(l/min),", "°C,bar,l/min,", "°C,bar,l/min,-", "[°C],,,"])
def test_a_line_of_units_below_the_header_is_no_row(write, units):
    rows = "21.5,1.2,30,run\n22,1.3,31,stop\n19.5,,29,run\n"
    found, said = read(write(f"temperature,pressure,flow,state\n{units}\n{rows}"))
    plain, _ = read(write(f"temperature,pressure,flow,state\n{rows}"))
    assert found == plain
    assert len(said) == 1 and said[0].startswith("the line below the header tells units (")


@pytest.mark.parametrize(
    "first", ["low,bar,30,run", "(20),(1),(3),", "unknown,unknown,30,run", "21,1.1,(x),run"]
)  # words of a column, accounting, missing numbers, a mistake
def test_a_row_like_others_is_one(write, first):
    rows = "21.5,1.2,30,run\n22,1.3,31,stop\n19.5,1.1,29,run\n"
    found, _ = read(write(f"temperature,pressure,flow,state\n{first}\n{rows}"))
    assert len(found["state"]) == 4


def test_units_are_left_out_of_streams_too(write):
    path = write("temperature,pressure,state\n(°C),(bar),\n" + "21.5,1.2,run\n22,1.3,stop\n" * 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mr.NaiveBayesClassifier().fit_table(path, target="state", engine="stream")
        table = mr.read_table(path)
    whole = mr.NaiveBayesClassifier().fit(table.drop_columns(["state"]), table["state"])
    np.testing.assert_array_equal(model.predict_proba(table), whole.predict_proba(table))


# ----------------------------------------------------------------------------------------------------------- titles


def test_titles_above_a_header_whose_first_name_is_empty(write):
    found, said = read(write("# exported\n# version 2\n,wing,nest\n0,4.9,low\n1,6.1,high\n2,7,low\n"))
    assert found == {"column 1": [0, 1, 2], "wing": [4.9, 6.1, 7.0], "nest": ["low", "high", "low"]}
    assert said[0].startswith(
        "the first 2 lines are a title, not a header, and are skipped ('# exported', '# version 2')"
    )


# ------------------------------------------------------------------------------------------------------------- 9999


def ages(unknown="9999", rows=40):
    random = np.random.default_rng(3)
    cells = [unknown if k % 8 == 0 else str(random.integers(20, 80)) for k in range(rows)]
    return "age,bird\n" + "\n".join(f"{cell},{'wren' if k % 2 else 'tit'}" for k, cell in enumerate(cells)) + "\n"


def fitted(table):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = mr.NaiveBayesClassifier().fit(table.drop_columns(["bird"]), table["bird"])
    return model, [str(one.message) for one in said]


@pytest.mark.parametrize("unknown", ["9999", "-999", "99999"])
def test_nines_far_beyond_all_numbers_are_missing(write, unknown):
    model, said = fitted(mr.read_table(write(ages(unknown))))
    empty, _ = fitted(mr.read_table(write(ages(""))))
    new = pd.DataFrame({"age": [25.0, np.nan, 70.0]})
    np.testing.assert_array_equal(model.predict_proba(new), empty.predict_proba(new))
    assert said == [f"column 'age' holds {unknown}, far beyond all its other values, read as missing; keep=['{unknown}'] leaves it a number"]  # fmt: skip


def test_new_rows_are_read_as_those_learned_from_whatever_stands_beside_them(write, tmp_path):
    model, _ = fitted(mr.read_table(write(ages())))
    model.save(tmp_path / "ages.merula")
    for one in (model, mr.load(tmp_path / "ages.merula")):
        alone = one.predict_proba(pd.DataFrame({"age": [9999]}))
        np.testing.assert_array_equal(alone, one.predict_proba(pd.DataFrame({"age": [np.nan]})))
    plain, _ = fitted(mr.read_table(write(ages("50"))))  # which never met nines
    many = plain.predict_proba(mr.read_table(write(ages()).rename(tmp_path / "new.csv")))
    np.testing.assert_array_equal(many[:1], plain.predict_proba(pd.DataFrame({"age": [9999]})))


@pytest.mark.parametrize("kinds", [None, {"age": "categorical"}])
def test_nines_stay_where_they_are_kept(write, kinds):
    table = mr.read_table(write(ages()), keep=["9999"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mr.NaiveBayesClassifier(kinds=kinds).fit(table.drop_columns(["bird"]), table["bird"])
    nines, nothing = (model.predict_proba(pd.DataFrame({"age": [cell]})) for cell in (9999.0, np.nan))
    assert (nines != nothing).any()


def test_nines_are_no_level_where_numbers_are_categories(write):
    table = mr.read_table(write(ages()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mr.NaiveBayesClassifier(kinds={"age": "categorical"}).fit(table.drop_columns(["bird"]), table["bird"])
    assert 9999 not in model.schema_["age"].levels


@pytest.mark.parametrize(
    "cells",
    [
        ["9999", *map(str, range(20, 60))],  # once
        [*map(str, range(9_900, 10_000)), "9999"],  # among its like
        [*["9999"] * 5, *["20"] * 8],  # too few others
    ],
)
def test_numbers_that_may_be_meant_stay(write, cells):
    table = mr.read_table(write("age,bird\n" + "\n".join(f"{cell},wren" for cell in cells) + "\n"))
    assert table.schema.metadata is None


@pytest.mark.parametrize("empty", ["", "31"])
@pytest.mark.parametrize("places", [(0, 1), (10, 11), (12_345, 39_000), (39_998, 39_999)])
def test_a_few_nines_are_missing_wherever_they_stand(write, places, empty):
    cells = [str(20 + k % 60) for k in range(40_000)]
    cells[7] = empty
    for place in places:
        cells[place] = "9999"
    table = mr.read_table(write("age,bird\n" + "\n".join(f"{cell},wren" for cell in cells) + "\n"))
    assert open_table(table).hints.stand_ins == {"age": ("9999",)}


def test_arrays_say_their_own_numbers():
    values = np.array([[20.0 + k % 40] for k in range(60)] + [[9999.0]] * 4)
    y = ["wren", "tit"] * 32
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        model = mr.NaiveBayesClassifier().fit(values, y)
    assert model.schema_["x0"].reading is None


# ---------------------------------------------------------------------------------------- drawn tables, zeros, thousands

DRAWN = {
    "a terminal's": " bird | wing \n------+------\n wren |  4.9\n tit  |  6.1\n(2 rows)\n",
    "a frame": "+------+------+\n| bird | wing |\n+------+------+\n| wren |  4.9 |\n| tit  |  6.1 |\n+------+------+\n",
    "Markdown": "| bird | wing |\n|:-----|-----:|\n| wren | 4.9 |\n| tit | 6.1 |\n",
    "a report": "List of birds\n\n-------------\n|bird |wing |\n-------------\n|wren | 4.9 |\n|tit  | 6.1 |\n-------------\n",
}


@pytest.mark.parametrize("case", DRAWN)
def test_tables_that_are_drawn(write, case):
    path = write(DRAWN[case])
    assert read(path)[0] == {"bird": ["wren", "tit"], "wing": [4.9, 6.1]}
    assert "cells are parted by bars, between lines that are drawn" in str(mr.look(path))


def test_bars_and_missing_cells_are_no_drawing(write):
    found, _ = read(write("bird|wing\nwren|4.9\n-|-\ntit|6.1\n"))
    assert found["bird"] == ["wren", "-", "tit"]


def test_zero_bytes_between_characters(write):
    found, said = read(write("bird,note\nwren,a\x00b\ntit,\x00\n"))
    assert found == {"bird": ["wren", "tit"], "note": ["ab", None]}
    assert any("2 zero bytes between characters" in text for text in said)
    path = write("")
    path.write_bytes(b"\x00\x01bird,note\nwren,a\n")
    with pytest.raises(mr.InputError, match="binary data"):
        mr.read_table(path)


def test_signs_of_control_among_the_cells_and_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BYTES", 500)
    path = tmp_path / "birds.csv"
    rows = b"".join(b"wren%d,%d.5\n" % (k % 3, k) for k in range(200))
    plain = b"bird,wing\n" + rows
    path.write_bytes(plain)
    expected, _ = read(path)
    strange = plain.replace(b"wren2,2.5\n", b"wr\x02en2,2.5\x1a\x1a\n")
    for text in (
        plain + b"\x1a",
        plain.replace(b"\n", b"\r\n") + b"\x1a\x1a\r\n",
        strange,
        plain.rstrip() + b"\x1a",
        30 * rows + b"\x1a",
    ):
        path.write_bytes(text if text.startswith(b"bird") else b"bird,wing\n" + text)
        found, said = read(path)
        times = len(found["bird"]) // 200
        assert found == {name: cells * times for name, cells in expected.items()} and said == []
        parts = [part for piece in DelimitedFiles((str(path),)).pieces() for part in piece.read(["bird", "wing"], {})]
        assert [cell for part in parts for cell in part["wing"].to_pylist()] == found["wing"]


def test_many_signs_that_stand_for_letters_are_no_binary_data(tmp_path):
    path = tmp_path / "birds.csv"
    path.write_bytes(b"bird,note\n" + b"wren,the bird\x1a\x1a\x1as nest\n" * 30)
    assert read(path)[0]["note"] == ["the birds nest"] * 30


@pytest.mark.parametrize("text", ["wren,巣\n".encode("iso2022_jp"), b"\x01\x02\x03\x04,\x05\n", b"wren,\x1b[31mred\n"])
def test_signs_that_switch_to_others_and_many_of_control_are_no_text(tmp_path, text):
    path = tmp_path / "birds.csv"
    path.write_bytes(b"bird,note\n" + text * 30)
    with pytest.raises(mr.InputError, match="binary data"):
        mr.read_table(path)


VISITORS = [997, 850, 1005, 912, 12300, 2010, 640, 1100]


def in_thousands(values):
    return "\n".join(f"{value:,};{'full' if value > 1000 else 'free'}".replace(",", ".") for value in values)


def test_points_between_thousands_are_none_of_decimals(write):
    path = write(f"visitors;museum\n{in_thousands(VISITORS * 3)}\n", "museum.csv")
    schema, _ = infer_schema(open_table(mr.read_table(path).select(["visitors"])))
    assert (schema["visitors"].reading.decimal, schema["visitors"].reading.grouping) == (",", ".")
    values = encode(open_table(mr.read_table(path).select(["visitors"])), schema, [0]).values(("visitors",))[:, 0]
    assert values.tolist() == [float(value) for value in VISITORS * 3]


@pytest.mark.parametrize("between", [".", ","])
def test_new_rows_are_counted_in_thousands_as_those_learned_from(write, between):
    """A file of one such number would by itself be of a fraction."""
    visitors = np.array(VISITORS * 3)
    path = write(f"visitors;museum\n{in_thousands(visitors.tolist()).replace('.', between)}\n", "museum.csv")
    table = mr.read_table(path)
    model, _ = fitted(table.rename_columns(["visitors", "bird"]))
    new = write(f"visitors;keeper\n12{between}300;x\n", "new.csv")
    (answer,) = model.predict_table(new)
    whole = mr.NaiveBayesClassifier().fit(
        pd.DataFrame({"visitors": visitors}), np.where(visitors > 1000, "full", "free")
    )
    assert answer["P(full)"][0].as_py() == whole.predict_proba(pd.DataFrame({"visitors": [12_300]}))[0, 1]


def test_points_alone_are_in_doubt_and_told(write):
    text = "visitors;museum\n" + in_thousands([9190, 11190, 4565, 7125] * 5) + "\n"
    found, said = read(write(text))
    assert found["visitors"][:2] == [9.19, 11.19]
    assert any("column 'visitors' holds numbers such as 9.190, read with a decimal point" in one for one in said)
    schema, _ = infer_schema(open_table(mr.read_table(write(text), decimal=",")))
    assert schema["visitors"].reading.grouping == "."
    assert read(write(text), decimal=".")[1] == []
    assert read(write(text.replace(";", ",")))[1] == []  # who parts cells by commas writes points before fractions


@pytest.mark.parametrize(
    "cells", [["1.125", "2", "3", "1.5", "2.25"], ["21.503", "19.250", "18.300"], ["997", "0.125", "1.005"]]
)
def test_decimals_stay_decimals_without_a_note(write, cells):
    found, said = read(write("wing,bird\n" + "".join(f"{cell},wren\n" for cell in cells * 8)))
    assert found["wing"][: len(cells)] == [float(cell) for cell in cells] and said == []


def test_decimal_commas_tell_what_points_are(write):
    found, said = read(write("people;share\n1.234;3,5\n12.345;4,25\n1.100;7,5\n"))
    assert found["share"] == [3.5, 4.25, 7.5] and said == []
    schema, _ = infer_schema(open_table(mr.read_table(write("people;share\n1.234;3,5\n12.345;4,25\n1.100;7,5\n"))))
    assert (schema["people"].reading.decimal, schema["people"].reading.grouping) == (",", ".")


def test_keys_that_look_like_powers_are_words(write):
    found, _ = read(write("key,wing\n0065e00000123,4.9\n0065e00000124,6.1\n"))
    assert found["key"] == ["0065e00000123", "0065e00000124"]
    assert read(write("wing\n1e5\n0.5\n"))[0] == {"wing": [1e5, 0.5]}


@pytest.mark.parametrize("form", ["%d %b %Y", "%Y-%m-%d", "%d/%m/%Y"])
@pytest.mark.parametrize(("order", "day"), [("dmy", "2018-05-03"), ("mdy", "2018-03-05")])
def test_the_order_that_is_said_of_new_days_holds(write, form, order, day):
    days = pd.date_range("2018-01-01", periods=40, freq="9D")
    path = write("day,bird\n" + "\n".join(f"{one.strftime(form)},{'wren' if one.month < 5 else 'tit'}" for one in days))
    table = mr.read_table(path)
    new = mr.read_table(write("day\n03/05/2018\n", "new.csv"), date_order=order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, exact = fitted(table)[0], mr.NaiveBayesClassifier()
        exact.fit(pd.DataFrame({"day": days}), table["bird"])
        found = model.predict_proba(new)
        (answers,) = model.predict_table(write("day\n03/05/2018\n", "new.csv"), date_order=order)
    assert answers["P(wren)"].to_pylist() == found[:, 1].tolist()
    np.testing.assert_allclose(found, exact.predict_proba(pd.DataFrame({"day": pd.to_datetime([day])})), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:column .day. holds dates")
def test_days_of_named_months_do_not_tell_the_order_of_new_ones(write):
    """Alone, 03/05/2018 has the month first, as anywhere where nothing tells."""
    days = pd.Series(pd.date_range("2018-01-01", periods=40, freq="9D"))
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame({"day": days.dt.strftime("%d %b %Y")}), days.dt.month < 5)
    written, plain = (model.predict_proba(pd.DataFrame({"day": [one]})) for one in ("03/05/2018", "5 Mar 2018"))
    np.testing.assert_array_equal(written, plain)


@pytest.mark.parametrize("header", ["{id},wing", "{id}\twing", "{ ring no. },wing", "[id],wing"])
def test_names_in_braces_are_no_json(write, header):
    sign = "\t" if "\t" in header else ","
    path = write(header + "\n" + "".join(f"{k}{sign}{4.9 + k}\n" for k in range(30)))
    found, _ = read(path)
    assert list(found.values()) == [list(range(30)), [4.9 + k for k in range(30)]]
    name = header.partition(sign)[0]
    assert mr.NaiveBayesClassifier().fit_table(path, target=name).schema_.names == ("wing",)


@pytest.mark.parametrize("text", ['{id: 1, "wing": 4.9}', "{'id': 1}", "{id"])
def test_what_only_begins_like_json_is_told_so(write, text):
    with pytest.raises(mr.InputError):
        mr.read_table(write(text + "\n"))


@pytest.mark.parametrize("size", [200, 2**24])
def test_zero_bytes_between_characters_in_pieces(write, monkeypatch, size):
    path = write("bird,wing\n" + "wren,4.9\x00\ntit,\x006.1\nti\x00t,5.8\n" * 40)
    monkeypatch.setattr(lines, "BYTES", size)
    with pytest.warns(UserWarning, match="zero bytes between characters, which no text holds, left out"):
        model = mr.NaiveBayesClassifier().fit_table(path, target="bird")
    assert model.classes_.tolist() == ["tit", "wren"]
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [2 / 3, 1 / 3])
