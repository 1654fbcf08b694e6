"""Workbooks of Excel and LibreOffice: sheets, types as they are seen, titles, and what is refused."""

import io
import struct
import sys
import zipfile
from datetime import date, datetime, time
from xml.sax.saxutils import escape

import pyarrow as pa
import pytest

import merula as mr
from merula.core import bounded

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = f'<styleSheet xmlns="{MAIN}"><cellXfs count="4">{"".join(f"<xf numFmtId={chr(34)}{n}{chr(34)}/>" for n in (0, 14, 22, 21))}</cellXfs></styleSheet>'
NAMED = 1
BIRTH = datetime(1899, 12, 30)


def letters(column):
    return (letters(column // 26 - 1) if column >= 26 else "") + chr(65 + column % 26)


def cell(row, column, value):
    name = f"{letters(column)}{row + 1}"
    if value is None:
        return f'<c r="{name}" s="1"/>'
    if isinstance(value, bool):
        return f'<c r="{name}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime | date | time):
        style = {date: 1, datetime: 2, time: 3}[type(value)]
        day = datetime.combine(value, time()) if type(value) is date else value
        moment = datetime.combine(BIRTH, value) if isinstance(value, time) else day
        return f'<c r="{name}" s="{style}"><v>{(moment - BIRTH).total_seconds() / 86400!r}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{name}"><v>{value!r}</v></c>'
    if value.startswith("#"):
        return f'<c r="{name}" t="e"><v>{value}</v></c>'
    return f'<c r="{name}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def sheet(rows):
    lines = "".join(
        f'<row r="{i + 1}">{"".join(cell(i, j, value) for j, value in enumerate(row))}</row>'
        for i, row in enumerate(rows)
    )
    return f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'


def xlsx(sheets, **parts):
    """A workbook of these sheets, {name: rows}; `parts` are further files in it."""
    names = list(sheets)
    listed = "".join(f'<sheet name="{escape(n)}" sheetId="{k}" r:id="rId{k}"/>' for k, n in enumerate(names, 1))
    targets = "".join(
        f'<Relationship Id="rId{k}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k in range(1, len(names) + 1)
    )
    content = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{targets}<Relationship Id="rId99" Type="{RELATIONS}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
        **{f"xl/worksheets/sheet{k}.xml": sheet(sheets[n]) for k, n in enumerate(names, 1)},
        **parts,
    }
    return zipped(content)


def ods(rows, attributes=""):
    """An OpenDocument sheet; `attributes` stand in the first cell of each row."""

    def typed(v):
        return 'office:value-type="string"' if isinstance(v, str) else f'office:value-type="float" office:value="{v}"'

    lines = "".join(
        "<table:table-row>"
        + "".join(
            f"<table:table-cell {attributes if not j else ''} {typed(v)}><text:p>{escape(str(v))}</text:p></table:table-cell>"
            for j, v in enumerate(row)
        )
        + '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        for row in rows
    )
    spaces = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text"))
    body = f'<office:document-content {spaces}><office:body><office:spreadsheet><table:table table:name="Birds">{lines}<table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>'
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": body,
            "META-INF/manifest.xml": manifest,
        }
    )


def zipped(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text, zipfile.ZIP_STORED if name == "mimetype" else None)
    return file.getvalue()


def record(kind, content):
    return struct.pack("<HH", kind, len(content)) + content


def biff(rows):
    """The records of a workbook of Excel 97 with one sheet."""

    def cell(i, j, value):
        if isinstance(value, str):
            text = value.encode("utf-16-le")
            return record(0x0204, struct.pack("<HHHHB", i, j, 0, len(value), 1) + text)
        return record(0x0203, struct.pack("<HHHd", i, j, 0, value))

    cells = b"".join(cell(i, j, v) for i, row in rows.items() for j, v in row.items())
    begin = lambda kind: record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0))  # noqa: E731
    end, name = record(0x000A, b""), b"\x05\x00Birds"
    start = len(begin(5)) + len(record(0x0085, bytes(6) + name)) + len(end)
    return begin(5) + record(0x0085, struct.pack("<IH", start, 0) + name) + end + begin(0x10) + cells + end


def xls(rows):
    """A compound file that holds such records as the stream Workbook: directory, table of sectors, stream."""
    stream = biff(rows).ljust(4096, b"\0")
    count = -(-len(stream) // 512)
    chain = [0xFFFFFFFE, 0xFFFFFFFD, *range(3, count + 2), 0xFFFFFFFE]

    def entry(name, kind, start, size, child=0xFFFFFFFF):
        text = (name + "\0").encode("utf-16-le") if name else b""
        head = struct.pack("<64sHBBIII", text, len(text), kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
        return head + bytes(36) + struct.pack("<IQ", start, size)

    directory = entry("Root Entry", 5, 0xFFFFFFFE, 0, 1) + entry("Workbook", 2, 2, len(stream))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack(
        "<HHHHH6xIIIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 0, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 1, 0xFFFFFFFF
    )
    header = header[:76] + struct.pack("<109I", 1, *[0xFFFFFFFF] * 108)
    table = struct.pack("<128I", *chain, *[0xFFFFFFFF] * (128 - len(chain)))
    return header + directory.ljust(512, b"\0") + table + stream.ljust(count * 512, b"\0")


def test_an_old_workbook(write):
    rows = {0: {0: "bird", 1: "wing"}, 1: {0: "wren", 1: 4.9}, 2: {0: "tit", 1: 6.0}}
    assert mr.read_table(write(xls(rows), "birds.xls")).to_pydict() == {"bird": ["wren", "tit"], "wing": [4.9, 6.0]}
    with pytest.raises(mr.InputError, match="becomes more than .* bytes in memory"):
        mr.read_table(write(xls({0: {0: "bird"}, 65_535: {255: 1.0}})))
    with pytest.raises(mr.InputError, match="is no workbook that can be read"):
        mr.read_table(write(xls(rows)[:600]))


@pytest.fixture
def write(tmp_path):
    def put(content, name="birds.xlsx"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return put


BIRDS = [["bird", "größe", "wing"], ["wren", 9, 4.9], ["robin", None, 7.25], ["tit", 12, 9.0]]
READ = {"bird": ["wren", "robin", "tit"], "größe": [9, None, 12], "wing": [4.9, 7.25, 9.0]}


def test_a_workbook_is_a_table(write):
    assert mr.read_table(write(xlsx({"Birds": BIRDS}))).to_pydict() == READ


def test_an_open_document(write):
    rows = [["bird", "größe", "wing"], ["wren", 9, 4.9], ["tit", 12, 9.0]]
    assert mr.read_table(write(ods(rows), "birds.ods")).to_pydict() == {
        "bird": ["wren", "tit"],
        "größe": [9, 12],
        "wing": [4.9, 9.0],
    }


def test_types_are_those_of_the_cells(write):
    seen = [date(2024, 12, 31), date(2025, 1, 1)]
    at = [datetime(2024, 12, 31, 10, 30), datetime(2025, 1, 1, 6, 0, 1)]
    rows = [["seen", "at", "ringed", "hour"], *zip(seen, at, [True, False], [time(6, 30), time(18)], strict=True)]
    table = mr.read_table(write(xlsx({"Birds": rows})))
    assert table.to_pydict() == {"seen": seen, "at": at, "ringed": [True, False], "hour": [23_400, 64_800]}
    assert pa.types.is_date(table.schema.field("seen").type)


def test_mixed_columns_are_words_as_a_person_sees_them(write):
    rows = [["ring", "room"], [12.0, 7], ["R-17", "7b"], [0.5, True]]
    assert mr.read_table(write(xlsx({"Birds": rows}))).to_pydict() == {
        "ring": ["12", "R-17", "0.5"],
        "room": ["7", "7b", "TRUE"],
    }


def test_numbers_and_dates_beside_words_for_missing(write):
    rows = [
        ["wing", "seen", "plz"],
        [4.9, date(2024, 12, 31), "01067"],
        ["NA", "unknown", "80331"],
        ["#DIV/0!", None, " 04109 "],
    ]
    with pytest.warns(UserWarning, match="'wing' holds numbers and 'NA'.*'seen' holds dates and 'unknown'"):
        table = mr.read_table(write(xlsx({"Birds": rows})))
    assert table.to_pydict() == {
        "wing": [4.9, None, None],
        "seen": [date(2024, 12, 31), None, None],
        "plz": ["01067", "80331", "04109"],
    }


def test_what_is_stated_holds_for_workbooks(write):
    path = write(xlsx({"Birds": [["wing", "ring"], [4, 7], [-9, 8], ["4,5", 9]]}))
    table = mr.read_table(path, missing=["-9"], words=["ring"], decimal=",")
    assert table.to_pydict() == {"wing": [4.0, None, 4.5], "ring": ["7", "8", "9"]}
    assert table.schema.metadata == {b"merula": b'{"missing": ["-9"], "decimal": ","}'}


def test_titles_names_and_empty_columns(write):
    rows = [
        ["Birds of 2024", None, None, None],
        [None, None, None, None],
        [" bird ", "wing", "wing", "n\u00adest"],
        ["wren", 4.9, 5.1, "hedge"],
        ["tit", 6.1, 6.2, "hole"],
    ]
    with pytest.warns(UserWarning) as said:
        table = mr.read_table(write(xlsx({"Birds": rows})))
    assert table.column_names == ["bird", "wing", "wing 2", "nest"]
    assert [str(one.message) for one in said] == [
        "the first 2 lines are a title, not a header, and are skipped ('Birds of 2024'); skip_rows=0 keeps them",
        "the name 'wing' stands over several columns, which are called 'wing', 'wing 2'",
    ]
    with pytest.warns(UserWarning, match="stands over several"):
        assert mr.read_table(write(xlsx({"Birds": rows})), skip_rows=2).num_rows == 2


def test_the_first_sheet_that_holds_anything(write):
    path = write(xlsx({"Cover": [], "Birds": BIRDS, "Nests": [["nest"], ["hedge"]]}))
    with pytest.warns(UserWarning, match="the sheet 'Birds' is read, not 'Nests'; sheet='NAME' says another"):
        assert mr.read_table(path).to_pydict() == READ
    for wanted in ("Nests", 3, "3"):
        assert mr.read_table(path, sheet=wanted).to_pydict() == {"nest": ["hedge"]}
    with pytest.raises(mr.InputError, match=r"has no sheet 'Nest', expected one of 'Cover', .*did you mean 'Nests'"):
        mr.read_table(path, sheet="Nest")
    with pytest.raises(mr.InputError, match="has no sheet 4"):
        mr.read_table(path, sheet=4)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["bird", "wing"]], "has a header but no rows"),
        ([], "whose sheets are empty"),
        ([[1, 2], [3, 4]], "begins with a row of numbers"),
    ],
)
def test_sheets_that_are_no_tables(write, rows, said):
    with pytest.raises(mr.InputError, match=said):
        mr.read_table(write(xlsx({"Birds": rows})))


def test_workbooks_that_are_damaged_or_locked(write):
    whole = xlsx({"Birds": BIRDS})
    with pytest.raises(mr.InputError, match=r"birds\.xlsx is a workbook that is cut short or damaged"):
        mr.read_table(write(whole[:-40]))
    with pytest.raises(mr.InputError, match=r"birds\.xlsx is a workbook that cannot be read"):
        mr.read_table(write(xlsx({"Birds": BIRDS}, **{"xl/workbook.xml": "<workbook"})))
    changed = bytearray(whole)
    changed[whole.index(b"xl/worksheets/sheet1.xml") + 40] ^= 255
    with pytest.raises(mr.InputError, match="is a workbook that is cut short or damaged"):
        mr.read_table(write(bytes(changed)))
    locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1016) + "EncryptedPackage".encode("utf-16-le") + bytes(3000)
    with pytest.raises(mr.InputError, match="is a workbook with a password; save it without one"):
        mr.read_table(write(locked))
    with pytest.raises(mr.InputError, match="is a binary Excel workbook; save it as .xlsx"):
        mr.read_table(write(zipped({"xl/workbook.bin": "x"})))
    with pytest.raises(mr.InputError, match="is a zip archive; unpack it"):
        mr.read_table(write(zipped({"birds.csv": "bird\nwren\n"})))


def test_workbooks_that_are_endless_in_memory(write, monkeypatch):
    corners = f'<worksheet xmlns="{MAIN}"><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
    for text in (corners, corners.replace('"', "'")):
        with pytest.raises(mr.InputError, match="becomes more than .* bytes in memory.*MERULA_MOST_BYTES"):
            mr.read_table(write(xlsx({"Birds": []}, **{"xl/worksheets/sheet1.xml": text})))
    with pytest.raises(mr.InputError, match="named in an unusual way"):
        mr.read_table(write(xlsx({"Birds": []}, **{"xl/worksheets/sheet1.xml": corners.replace("r=", "r =")})))
    wide = 'table:number-columns-repeated="1000000000"'
    with pytest.raises(mr.InputError, match="becomes more than .* bytes in memory"):
        mr.read_table(write(ods([["bird"], ["wren"]], wide)))
    monkeypatch.setattr(bounded, "SMALL", 2**20)
    with pytest.raises(mr.InputError, match="becomes more than .* bytes in memory"):
        mr.read_table(write(xlsx({"Birds": BIRDS}, **{"xl/sharedStrings.xml": "<sst>" + " " * 10**7})))


def test_cells_of_a_colour_alone_take_no_room(write):
    painted = sheet(BIRDS).replace("</sheetData>", '<row r="9"><c r="A9"/><c r="XFD1048576" s="1"/></row></sheetData>')
    assert mr.read_table(write(xlsx({"Birds": []}, **{"xl/worksheets/sheet1.xml": painted}))).to_pydict() == READ


def hidden(book, *names):
    """The workbook with these sheets hidden."""
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    for name in names:
        parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(f'name="{name}"', f'name="{name}" state="hidden"')
    return zipped(parts)


def test_hidden_sheets_are_read_where_they_are_named(write):
    path = write(hidden(xlsx({"Lists": [["nest"], ["hedge"]], "Birds": BIRDS}), "Lists"))
    assert mr.read_table(path).to_pydict() == READ  # and nothing is said of the other
    assert (
        mr.read_table(path, sheet="Lists").to_pydict()
        == mr.read_table(path, sheet=1).to_pydict()
        == {"nest": ["hedge"]}
    )
    assert mr.read_table(write(hidden(xlsx({"Birds": BIRDS}), "Birds"))).to_pydict() == READ


def test_what_a_file_is_called_does_not_matter(write):
    assert mr.read_table(write(xlsx({"Birds": BIRDS}), "birds.csv")).to_pydict() == READ
    assert mr.read_table(write(b"bird,wing\nwren,4.9\n", "birds.xlsx")).to_pydict() == {"bird": ["wren"], "wing": [4.9]}


def test_remarks_below_a_sheet_are_left_out(write):
    path = write(xlsx({"Birds": [*BIRDS, [None, None, None], ["Source: ringing station", None, None]]}))
    with pytest.warns(UserWarning, match="the last 2 lines are no rows but remarks, and left out"):
        assert mr.read_table(path).to_pydict() == READ


def test_a_merged_title_and_a_blank_row_between(write):
    merged = sheet([["Birds of 2024", None, None], [None] * 3, *BIRDS[:2], [None] * 3, *BIRDS[2:]])
    merged = merged.replace("</sheetData>", '</sheetData><mergeCells count="1"><mergeCell ref="A1:C1"/></mergeCells>')
    with pytest.warns(UserWarning, match="the first 2 lines are a title, not a header"):
        table = mr.read_table(write(xlsx({"Birds": []}, **{"xl/worksheets/sheet1.xml": merged})))
    assert table.to_pydict() == READ


def test_words_in_a_workbook_are_understood_as_in_a_file(write):
    rows = [
        ["price", "share", "seen"],
        ["1.204,50 €", 0.125, "14.10.2018"],
        ["12,00 €", 0.5, "05.11.2018"],
        ["7,50 €", 1, "01.02.2019"],
    ]
    table = mr.read_table(write(xlsx({"Birds": rows})))
    assert mr.look(table).kinds == {"price": "numeric", "share": "numeric", "seen": "datetime"}


def test_a_sheet_of_another_file(write):
    with pytest.raises(mr.InputError, match="is a CSV file, which has no sheets; leave sheet out"):
        mr.read_table(write(b"bird\nwren\n"), sheet=1)
    with pytest.raises(mr.InputError, match="is JSON, which has no lines to skip; leave skip rows out"):
        mr.read_table(write(b'{"bird": "wren"}\n'), skip_rows=1)


def test_without_the_reader(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"pip install 'merula\[excel\]'"):
        mr.read_table(write(xlsx({"Birds": BIRDS})))


def test_a_header_that_stands_again_on_every_page_is_no_row(write):
    rows = [[("wren", "robin", "tit")[k % 3], k, k + 0.5] for k in range(40)]
    with pytest.warns(UserWarning, match="the header stands again in 2 lines below it"):
        table = mr.read_table(write(xlsx({"Birds": [BIRDS[0], *rows[:20], BIRDS[0], *rows[20:], BIRDS[0]]})))
    assert table["größe"].to_pylist() == list(range(40)) and table["wing"].to_pylist() == [k + 0.5 for k in range(40)]


@pytest.mark.parametrize("last", [["bird", 3, 4.5], ["wren", 3, "wing"]])
def test_a_row_that_is_its_header_among_such_values_is_one(write, last):
    rows = [["wren", k, k + 0.5] for k in range(40)]
    assert mr.read_table(write(xlsx({"Birds": [BIRDS[0], *rows, BIRDS[0], last]}))).num_rows == 42
