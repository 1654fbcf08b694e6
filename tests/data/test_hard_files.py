"""Tables that are damaged, packed without end, or endless in memory: one ValueError, before memory is taken."""

import gzip
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import merula as mr
from merula.core import bounded
from merula.data.table.declared_sizes import arrow_size, parquet_size
from merula.data.table.write import write_table

MEGABYTE = 2**20
BIRDS = pa.table({"bird": ["wren", "tit", None] * 400, "wing": np.arange(1200.0)})


def arrow_bytes(table, kind="file", compression=None):
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    opened = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with opened(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet_bytes(table, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


@pytest.fixture
def refuses(tmp_path):
    def refused(data, match):
        path = tmp_path / "birds.dat"
        path.write_bytes(data)
        with pytest.raises(ValueError, match=match) as caught:
            mr.read_table(path)
        assert "birds.dat" in str(caught.value)

    return refused


@pytest.fixture
def small(monkeypatch):
    """As if any file might take a megabyte only."""
    monkeypatch.setattr(bounded, "SMALL", MEGABYTE)
    monkeypatch.setattr(bounded, "COLUMNAR", 10)


# ------------------------------------------------------------------------------------------------------------- damage


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_an_offset_that_points_out_of_an_arrow_file(refuses, kind):
    """Reading such a table ended the process."""
    data = arrow_bytes(pa.table({"bird": ["wren", "tit", "robin"]}), kind)
    offsets = struct.pack("<4i", 0, 4, 7, 12)
    assert offsets in data
    refuses(data.replace(offsets, struct.pack("<4i", 0, 4, 7, 2**30)), "cut short or damaged")


def test_an_index_that_points_out_of_a_dictionary(refuses):
    birds = pa.array(["wren", "tit", "wren"]).dictionary_encode()
    data = arrow_bytes(pa.table({"bird": birds}))
    indices = struct.pack("<3i", 0, 1, 0)
    assert indices in data
    refuses(data.replace(indices, struct.pack("<3i", 0, 10**6, 0)), "cut short or damaged")


def test_words_of_a_parquet_file_that_are_no_text(refuses):
    data = parquet_bytes(pa.table({"bird": ["wren!", "tit"]}), compression="none", use_dictionary=False)
    assert data.count(b"wren!") >= 1
    refuses(data.replace(b"wren!", b"wr\xff\xfe!"), "damaged")


def test_a_footer_that_points_behind_all_messages(refuses):
    """Found by changing bytes: what pyarrow calls the end of the stream."""
    data = arrow_bytes(BIRDS)
    (length,) = struct.unpack_from("<i", data, len(data) - 10)
    end = struct.pack("<q", len(data) - 10 - length - 8)  # where the mark of the end stands
    block = struct.pack("<q", data.index(b"\xff\xff\xff\xff", data.index(b"\xff\xff\xff\xff") + 4))
    assert data[-10 - length :].count(block) == 1
    refuses(data[: -10 - length] + data[-10 - length :].replace(block, end), "damaged")


READERS = {
    "csv": b"bird,wing\n" + b"wren,4.9\ntit,6.1\n" * 20,
    "json lines": b'{"bird": "wren", "wing": 4.9}\n' * 20,
    "json": json.dumps([{"bird": "wren", "wing": 4.9}] * 20).encode(),
    "parquet": parquet_bytes(BIRDS),
    "parquet zstd": parquet_bytes(BIRDS, compression="zstd"),
    "arrow": arrow_bytes(BIRDS),
    "arrow lz4": arrow_bytes(BIRDS, compression="lz4"),
    "arrow stream": arrow_bytes(BIRDS, "stream", "zstd"),
    "gzip": gzip.compress(b"bird,wing\n" + b"wren,4.9\ntit,6.1\n" * 20),
}

TRY = """
import resource, sys, warnings
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
warnings.simplefilter("ignore")
import numpy as np
import merula as mr
name, seed, tries = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
whole, rng = open(name, "rb").read(), np.random.default_rng(seed)
for attempt in range(tries):
    data = bytearray(whole)
    way = rng.integers(4)
    if way == 0:
        data = data[: rng.integers(len(data))]
    elif way == 1:
        start, stop = sorted(rng.integers(0, len(data), 2))
        data = data[:start] + data[stop:]
    for _ in range(rng.integers(1, 6) if way > 1 else 0):
        data[rng.integers(len(data))] = rng.integers(256)
    open(name + ".forged", "wb").write(data)
    try:
        table = mr.read_table(name + ".forged")
        table.slice(0, 50).to_pylist()
    except ValueError:
        pass
"""


@pytest.mark.parametrize("kind", READERS)
def test_damaged_tables_are_tables_or_one_error(kind, tmp_path):
    """Bytes flipped, cut out and cut off, in a process of its own that may take 4 GB and half a minute."""
    (tmp_path / "whole").write_bytes(READERS[kind])
    words = [sys.executable, "-c", TRY, str(tmp_path / "whole"), "5", "40"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


# -------------------------------------------------------------------------------------------------------------- bombs


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_an_arrow_file_says_what_it_becomes(kind, compression):
    table = pa.table({"wing": np.zeros(100_000), "bird": ["wren"] * 100_000})
    size = arrow_size(arrow_bytes(table, kind, compression))
    assert table.nbytes <= size < 1.1 * table.nbytes


def test_a_parquet_file_says_what_it_becomes():
    table = pa.table({"wing": np.zeros(100_000), "legs": np.full(100_000, 2)})
    data = parquet_bytes(table)
    assert table.nbytes <= parquet_size(data, pq.ParquetFile(io.BytesIO(data)).metadata) < 3 * table.nbytes


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_an_arrow_bomb(refuses, kind):
    zeros = pa.table({"wing": np.zeros(10**6)})
    refuses(arrow_bytes(zeros, kind, "zstd"), "becomes more than 1,048,576 bytes in memory.*MERULA_MOST_BYTES")


@pytest.mark.usefixtures("small")
def test_a_parquet_bomb(refuses):
    zeros = pa.table({"wing": np.zeros(10**6)})
    refuses(parquet_bytes(zeros), "becomes more than 1,048,576 bytes in memory.*MERULA_MOST_BYTES")


@pytest.mark.usefixtures("small")
def test_a_long_word_in_every_row_of_a_parquet_file(refuses):
    refuses(parquet_bytes(pa.table({"song": ["tirili" * 1000] * 1000})), "becomes more than 1,048,576 bytes in memory")


def test_rows_that_take_no_memory(refuses, monkeypatch):
    monkeypatch.setenv("MERULA_MOST_BYTES", "1e6")
    refuses(arrow_bytes(pa.table({"wing": pa.nulls(10**6)})), "1,000,000 rows, which take more than")


@pytest.mark.usefixtures("small")
def test_a_gzip_bomb(refuses, monkeypatch):
    packer = zlib.compressobj(9, wbits=31)
    data = packer.compress(b"bird,wing\n") + b"".join(packer.compress(b"wren,1\n" * 10**5) for _ in range(30))
    monkeypatch.setattr(bounded, "RATIO", 10)
    refuses(data + packer.flush(), "becomes more than .* bytes in memory.*MERULA_MOST_BYTES")


@pytest.mark.parametrize("header", [b",".join([b"a"] * 2 * 10**6), b'"x\ny",' + b";" * 10 + b"," * 2 * 10**6])
def test_a_header_of_two_million_columns(refuses, header):
    """Twenty million ended the process."""
    refuses(header + b"\n1\n", r"has 2,000,\d+ columns, which take more than .* bytes.*MERULA_MOST_BYTES")


def test_as_many_columns_as_are_stated(tmp_path, monkeypatch):
    (tmp_path / "wide.csv").write_text(",".join(f"bird {k}" for k in range(200)) + "\n" + ",".join(["1"] * 200) + "\n")
    assert mr.read_table(tmp_path / "wide.csv").num_columns == 200
    monkeypatch.setenv("MERULA_MOST_BYTES", "5e6")
    with pytest.raises(ValueError, match="200 columns"):
        mr.read_table(tmp_path / "wide.csv")


@pytest.mark.parametrize(
    "data",
    [
        b'{"birds": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b"[{" + b'"a":{' * 50_000,
        b'[{"a": ' + b"[" * 5_000 + b"]" * 5_000 + b"}]",
    ],
    ids=["list in a row", "rows in rows", "lists", "open", "rows of lists"],
)
def test_json_nested_without_end(refuses, data):
    refuses(data, "nested|not a row|no row|cannot be read")


def test_brackets_in_texts_are_not_nested(tmp_path):
    rows = [{"bird": "wren :[ " + "[" * 5, "wing": 4.9}] * 100
    (tmp_path / "smileys.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert mr.read_table(tmp_path / "smileys.jsonl").to_pylist() == rows


@pytest.mark.parametrize("key", ["bird %d", "bird %d" + 300 * "x", '\\"%d', "\\\\" + 300 * "x" + "%d"])
@pytest.mark.parametrize("colon", [":", " \t:"])
def test_a_new_key_in_every_row(refuses, key, colon):
    rows = [f'{{"{key % index}"{colon} 1}}' for index in range(20_000)]
    refuses("\n".join(rows).encode(), "keys, too many cells to hold in memory")


@pytest.mark.parametrize("shape", ["[{%s}]", '{"bird": ["wren"], "eggs": [%d]}', '{%s}\n{"bird": 1, "eggs": 2}'])
def test_whole_numbers_of_forty_digits(refuses, shape):
    row = '"bird": "wren", "eggs": ' + "9" * 40
    refuses(shape.replace("%s", row).replace("%d", "9" * 40).encode(), "more than 64 bits")


def test_an_empty_name():
    with pytest.raises(ValueError, match="the name of the file is empty"):
        mr.read_table("")


def test_a_file_that_may_not_be_read():
    with tempfile.TemporaryDirectory() as folder:  # one that others may enter
        os.chmod(folder, 0o755)
        path = Path(folder) / "secret.csv"
        path.write_text("bird\nwren\n")
        path.chmod(0)
        me = os.geteuid()
        if me == 0:  # root may read anything
            os.seteuid(65_534)
        try:
            with pytest.raises(PermissionError, match=r"secret\.csv may not be read"):
                mr.read_table(path)
        finally:
            os.seteuid(me)


FAR = pa.array([2**60, 0, 5, None], pa.timestamp("s"))  # the year 36,534,350,000


def test_a_time_beyond_python_s_is_one_error():
    table = pa.table({"seen": FAR})
    model = mr.NaiveBayesClassifier(kinds={"seen": "categorical"})
    with pytest.raises(mr.InputError, match="between the years 1 and 9999"):
        model.fit(table, ["wren", "tit", "wren", "tit"])


@pytest.mark.parametrize(
    ("cells", "suffix"),
    [(FAR, "jsonl"), (FAR, "parquet"), (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), "csv")],
)
def test_what_a_format_cannot_hold_is_one_error(cells, suffix, tmp_path):
    with pytest.raises(mr.InputError):
        write_table(pa.table({"seen": cells}), tmp_path / f"table.{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [pa.map_(pa.string(), pa.int8()), pa.list_view(pa.int8())])
def test_a_column_that_cannot_be_coded_is_told_as_lists_are(kind):
    cells = pa.array([[("a", 1)]] * 4 if pa.types.is_map(kind) else [[1]] * 4, kind)
    for family in (mr.NaiveBayesClassifier, mr.NearestNeighborsClassifier):
        with pytest.raises(mr.InputError, match="column 'bird' holds .*(cell|cannot read)"):
            family(kinds={"bird": "categorical"}).fit(pa.table({"bird": cells}), ["wren", "tit"] * 2)


def test_an_open_quotation_mark_in_a_file_with_nameless_columns(tmp_path):
    (tmp_path / "birds.csv").write_text('a,,\n1,2,"3\n')
    with pytest.raises(mr.InputError, match=r"birds\.csv"):
        mr.read_table(tmp_path / "birds.csv")


@pytest.mark.parametrize("codec", ["snappy", "zstd", "none"])
def test_the_footer_of_a_parquet_file_tells_what_pyarrow_tells(codec, tmp_path):
    import pyarrow.parquet as pq

    from merula.data.table.parquet_footer import Chunk, column_chunks

    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "größe": rng.normal(size=5_000),
            "bird": rng.choice(["wren", "tit", "owl"], 5_000),
            "marks": [list(range(k % 5)) for k in range(5_000)],
            "ringed": rng.random(5_000) < 0.5,
            "seen": pa.array(rng.integers(0, 10**9, 5_000), pa.timestamp("s")),
        }
        | {f"column {k}": rng.integers(0, 9, 5_000) for k in range(20)}
    )
    path = tmp_path / "birds.parquet"
    pq.write_table(table, path, row_group_size=700, compression=codec)
    metadata = pq.ParquetFile(path).metadata
    expected = [
        [Chunk(c.num_values, c.total_uncompressed_size) for c in (group.column(j) for j in range(group.num_columns))]
        for group in map(metadata.row_group, range(metadata.num_row_groups))
    ]
    assert column_chunks(path.read_bytes()) == expected


@pytest.mark.parametrize("cells", [pa.array([["Dream"]] * 2), pa.array([1, None], pa.decimal32(5, 1))], ids=str)  # fmt: skip
def test_new_cells_that_are_no_labels_are_bad_input_that_names_the_column(cells):
    model = mr.NaiveBayesClassifier().fit(pa.table({"island": ["Dream", "Biscoe"]}), ["wren", "tit"])
    with pytest.raises(mr.InputError, match="column 'island' holds") as told:
        model.predict(pa.table({"island": cells}))
    assert told.value.where == "column 'island'"
    assert isinstance(told.value, TypeError)  # what scikit-learn expects of such cells


@pytest.mark.parametrize("cells", [pl.Series([[1, 2]] * 2, dtype=pl.Array(pl.Int64, 2)), pl.Series([[1.5], [2.5]])], ids=["array", "list"])  # fmt: skip
def test_new_cells_that_are_no_numbers_are_bad_input_that_names_the_column(cells):
    model = mr.NaiveBayesClassifier().fit(pl.DataFrame({"wing": [4.5, 6.25]}), ["wren", "tit"])
    with pytest.raises(
        mr.InputError, match="column 'wing' holds .* where the model was fitted on numbers; give a number in every cell"
    ):
        model.predict(pl.DataFrame({"wing": cells}))


def test_a_type_without_a_name_of_its_own_is_called_as_its_library_calls_it():
    table = pa.table({"island": pa.array([b"Dream", b"Biscoe"], pa.large_binary())})
    with pytest.raises(mr.InputError, match="column 'island' holds large_binary, which merula cannot read"):
        mr.NaiveBayesClassifier().fit(table, ["wren", "tit"])
