"""Plain data in one file: every bit comes back, a crash leaves the old file, a damaged or foreign file is one clear error."""

import io
import json
import math
import os
import pickle
import stat
import struct
import zipfile
from datetime import date
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from merula.core import InputError
from merula.core.archive import ENTRY, VERSION, NotAnArchiveError, _seal, read_state, write_state


@pytest.fixture
def path(tmp_path):
    return tmp_path / "größe 色.merula"


@pytest.fixture
def through(path):
    def send(value):
        write_state(path, {"value": value})
        return read_state(path)["value"]

    return send


def bits(value):
    """Plain data in a form where == means the same types and the same bits; tuples are lists, NaN is NaN."""
    if isinstance(value, np.ndarray):
        return (
            "array",
            value.dtype.str,
            value.shape,
            bits(value.tolist()) if value.dtype.kind == "O" else np.ascontiguousarray(value).tobytes(),
        )
    if isinstance(value, dict):
        return {(type(key).__name__, key): bits(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [bits(item) for item in value]
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    return type(value).__name__, value


STATE = {
    "model": "NaiveBayesClassifier",
    "columns": ["blood pressure", "größe", "色泽", ""],
    "nothing": None,
    "levels": [["klein", 1, 2.5, True, False, None], []],
    "numbers": [0.1, -0.0, 1e308, 5e-324, math.inf, -math.inf, math.nan, 2**200, -1],
    "nested": {"array": 3, "objects": {"pairs": [], "dict": {}}, "": {"deep": [[[{"er": ()}]]]}},
    "mean": np.array([[0.1, -0.0], [np.inf, np.nan]]),
    "classes": np.array(["amsel", None, 3, 2.5, True], dtype=object),
    "prior": {"amsel": 0.5, 3: 0.25, None: 0.125, True: 0.1, 2.5: 0.025},
}


def test_nested_plain_data_come_back(path):
    write_state(path, STATE)
    assert bits(read_state(path)) == bits(STATE)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(exclude_categories=["Cs"]))
)
KEYS = st.one_of(st.text(max_size=5), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False))
PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=5), inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=PLAIN)
def test_any_plain_data_come_back(through, value):
    assert bits(through(value)) == bits(value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=st.floats(width=64))
def test_every_float_comes_back(through, value):
    assert bits(through([value])) == bits([value])


DTYPES = [
    "?",
    "i1",
    "u1",
    "<i2",
    ">i4",
    "i8",
    "u8",
    "f2",
    "f4",
    "f8",
    ">f8",
    "g",
    "c8",
    "c16",
    "M8[D]",
    "M8[ns]",
    "m8[us]",
    "U3",
    ">U3",
    "S4",
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (0, 3), (2, 0, 2)])
def test_arrays_of_any_dtype_and_shape(through, dtype, shape):
    numbers = np.arange(math.prod(shape)).reshape(shape)
    array = numbers.astype("M8[D]").astype(dtype) if dtype.startswith("M") else numbers.astype(dtype)
    assert bits(through(array)) == bits(array)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(array=hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4)))
def test_arrays_of_any_float(through, array):
    assert through(array).tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12.0).reshape(3, 4)[::2, ::-1],
        np.broadcast_to(np.array([1.5]), (3,)),
        np.asfortranarray(np.ones((2, 3))),
    ],
    ids=["transposed", "strided", "broadcast", "fortran"],
)
def test_arrays_of_any_layout(through, array):
    found = through(array)
    assert found.tolist() == array.tolist()
    assert found.shape == array.shape


@pytest.mark.parametrize(
    "array", [np.array([], dtype=object), np.array([["klein", 1], [None, 2.5]], dtype=object)], ids=["empty", "matrix"]
)
def test_arrays_of_objects(through, array):
    found = through(array)
    assert found.dtype == object
    assert found.shape == array.shape
    assert found.tolist() == array.tolist()


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        (np.int8(-3), -3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.True_, True),
        (np.str_("色"), "色"),
        ((1, (2,)), [1, [2]]),
    ],
)
def test_numpy_scalars_and_tuples_become_plain(through, value, plain):
    assert bits(through(value)) == bits(plain)


def test_keys_that_are_tuples_come_back_or_are_refused(path):
    try:
        write_state(path, {"edges": {("rain", "sprinkler"): 0.5}})
    except ValueError:
        return
    assert read_state(path) == {"edges": {("rain", "sprinkler"): 0.5}}


@pytest.mark.parametrize(
    "value",
    [
        {1, 2},
        b"bytes",
        1j,
        date(2020, 1, 1),
        Decimal(1),
        object(),
        len,
        np.datetime64("2020-01-01"),
        np.array([object()]),
        {"deep": [object()]},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_plain_is_refused_and_nothing_is_written(path, value):
    with pytest.raises(ValueError, match="plain data"):
        write_state(path, {"value": value})
    assert list(path.parent.iterdir()) == []


# ---------------------------------------------------------------------------------------------------------------------
# The file


def test_the_same_data_give_the_same_bytes(tmp_path, monkeypatch):
    write_state(tmp_path / "one.merula", STATE)
    monkeypatch.setattr("time.time", lambda: 2e9)
    write_state(tmp_path / "two.merula", STATE)
    write_state(tmp_path / "three.merula", read_state(tmp_path / "one.merula"))
    one, two, three = ((tmp_path / f"{name}.merula").read_bytes() for name in ("one", "two", "three"))
    assert one == two == three


@pytest.mark.parametrize("kind", [str, Path])
def test_paths_of_any_kind(tmp_path, kind):
    write_state(kind(tmp_path / "model"), {"value": 1})
    assert read_state(kind(tmp_path / "model")) == {"value": 1}


def test_a_bare_file_name_is_in_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_state("model.merula", {"value": 1})
    assert read_state("model.merula") == {"value": 1}
    assert os.listdir() == ["model.merula"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_others_may_read_the_file_as_the_umask_says(path, umask, mode):
    before = os.umask(umask)
    try:
        write_state(path, {"value": 1})
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_no_such_file(path):
    with pytest.raises(FileNotFoundError):
        read_state(path)


def test_no_such_directory(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_state(tmp_path / "nowhere" / "model.merula", {"value": 1})


class PowerCutError(BaseException):
    pass


@pytest.mark.parametrize(
    "error",
    [OSError(28, "No space left on device"), PowerCutError(), KeyboardInterrupt()],
    ids=["disk full", "power cut", "interrupt"],
)
@pytest.mark.parametrize(
    ("step", "exists"),
    [*product(["zipfile.ZipFile.writestr", "os.fsync", "os.replace"], [True, False]), ("os.chmod", True)],
)
def test_a_failure_while_writing_leaves_what_was_there(path, monkeypatch, step, error, exists):
    if exists:
        write_state(path, {"value": "old"})
    before = path.read_bytes() if exists else None

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(step, fail)
        with pytest.raises(type(error)):
            write_state(path, {"value": "new", "mean": np.zeros(1000)})
    assert [file.name for file in path.parent.iterdir()] == ([path.name] if exists else [])
    assert (path.read_bytes() if exists else None) == before


def test_a_directory_is_not_replaced(tmp_path):
    (tmp_path / "model").mkdir()
    with pytest.raises(OSError, match="model"):
        write_state(tmp_path / "model", {"value": 1})
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


# ---------------------------------------------------------------------------------------------------------------------
# Files that are damaged, foreign, or changed


def refuses(path):
    """One ValueError that names the file."""
    with pytest.raises(ValueError, match=path.name) as caught:
        read_state(path)
    return str(caught.value)


def test_a_file_cut_short_anywhere(path):
    write_state(path, STATE)
    whole = path.read_bytes()
    for end in [*range(0, len(whole), 7), len(whole) - 1]:
        path.write_bytes(whole[:end])
        refuses(path)


def test_a_damaged_byte_is_found_or_does_not_matter(path):
    write_state(path, STATE)
    whole = path.read_bytes()
    for index in range(len(whole)):
        path.write_bytes(whole[:index] + bytes([whole[index] ^ 0xFF]) + whole[index + 1 :])
        try:
            found = read_state(path)
        except ValueError as error:
            assert path.name in str(error), f"byte {index}"
        else:
            assert bits(found) == bits(STATE), f"byte {index}"


FOREIGN = {
    "empty": b"",
    "text": "größe,色泽\nklein,乌黑\n".encode(),
    "json": b'{"format": "merula model", "version": 1, "state": {}}',
    "pickle": pickle.dumps({"model": 1}),
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files(path, name):
    path.write_bytes(FOREIGN[name])
    assert "cannot be read as a merula model" in refuses(path)


def test_a_directory_is_no_model(tmp_path):
    (tmp_path / "model").mkdir()
    refuses(tmp_path / "model")


def test_a_foreign_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    assert "an archive of something else" in refuses(path)


def test_an_npz_file(path):
    with path.open("wb") as file:
        np.savez(file, mean=np.zeros(3))
    assert "an archive of something else" in refuses(path)


@pytest.mark.parametrize(
    "entry",
    [
        b"not json",
        b"\xff\xfe",
        b"[1, 2]",
        b'"merula model"',
        b'{"format": "other", "version": 1, "state": {}}',
        b'{"format": "merula model", "version": 1}',
        b"",
        b"[" * 100_000,
    ],
)
def test_an_archive_whose_entry_is_something_else(path, entry):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(ENTRY, entry)
    refuses(path)


def rewrite(path, change):
    """Unpack a model file, let `change` edit {name: bytes}, pack it again."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.fixture
def any_seal_fits(monkeypatch):
    """As if the file had been sealed again by whoever changed it."""
    monkeypatch.setattr("merula.core.archive._seal", lambda *_: "fits")


def edit_head(**changes):
    def change(members):
        members[ENTRY] = json.dumps({**json.loads(members[ENTRY]), **changes}).encode()

    return change


def edit_entry(old, new):
    def change(members):
        assert old in members[ENTRY]
        members[ENTRY] = members[ENTRY].replace(old, new)

    return change


def array_bytes(array, allow_pickle=False):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def test_a_file_packed_again_unchanged_is_read(path):
    write_state(path, STATE)
    rewrite(path, lambda members: None)
    assert bits(read_state(path)) == bits(STATE)


@pytest.mark.usefixtures("any_seal_fits")
def test_the_seal_is_all_that_stands_in_the_way_of_a_changed_file(path):
    write_state(path, STATE)
    rewrite(path, CHANGES["a word"])
    assert read_state(path)["columns"][0] == "blood pressur3"


@pytest.mark.parametrize("version", [VERSION + 1, VERSION + 100])
def test_a_newer_version_says_so(path, version):
    write_state(path, STATE)
    rewrite(path, edit_head(version=version))
    assert f"version {version}, this merula reads up to {VERSION}; update merula" in refuses(path)


@pytest.mark.parametrize("version", [None, "1", 1.5, [1]])
def test_a_version_that_is_none(path, version):
    write_state(path, STATE)
    rewrite(path, edit_head(version=version))
    refuses(path)


CHANGES = {
    "a word": edit_entry(b"blood pressure", b"blood pressur3"),
    "a number": edit_entry(b"0.1", b"0.2"),
    "an order": edit_entry("größe".encode(), "grösse".encode()),
    "the seal": edit_head(seal="0" * 64),
    "no seal": edit_head(seal=None),
    "an array": lambda members: members.update({"0.npy": array_bytes(np.array([[0.1, -0.0], [np.inf, 7.0]]))}),
    "an array's dtype": lambda members: members.update(
        {"0.npy": array_bytes(np.array([[0.1, -0.0], [np.inf, np.nan]], dtype=np.float32))}
    ),
    "an array less": lambda members: members.pop("0.npy"),
    "an array more": lambda members: members.update({"1.npy": array_bytes(np.zeros(3))}),
    "something more": lambda members: members.update({"__MACOSX/._0.npy": b"x"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_changed_by_hand_is_refused(path, name):
    write_state(path, STATE)
    rewrite(path, CHANGES[name])
    refuses(path)


class Bomb:
    """Unpickling this would create the file."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


@pytest.mark.usefixtures("any_seal_fits")
def test_nothing_in_a_file_is_executed(path):
    trace = path.with_name("executed")
    bomb = np.empty(1, dtype=object)
    bomb[0] = Bomb(trace)
    write_state(path, STATE)
    rewrite(path, lambda members: members.update({"0.npy": array_bytes(bomb, allow_pickle=True)}))
    with pytest.raises(ValueError, match="an array of object"):
        read_state(path)
    assert not trace.exists()
    pickle.loads(pickle.dumps(Bomb(trace)))
    assert trace.exists()  # the bomb works: it was not set off


FORGED = {
    "an array that is not there": edit_entry(b'{"array": 0}', b'{"array": 9}'),
    "a negative array": edit_entry(b'{"array": 0}', b'{"array": -2}'),
    "an array by name": edit_entry(b'{"array": 0}', b'{"array": "0"}'),
    "no array at all": lambda members: members.update({"0.npy": b"nothing"}),
    "an array cut short": lambda members: members.update({"0.npy": members["0.npy"][:-3]}),
    "an unknown container": edit_entry(b'{"array": 0}', b'{"set": 0}'),
    "a key that is a list": edit_entry(b'"pairs": [[', b'"pairs": [[[], 0], ['),
}


@pytest.mark.usefixtures("any_seal_fits")
@pytest.mark.parametrize("name", FORGED)
def test_a_forged_file_with_a_fitting_seal_is_refused(path, name):
    write_state(path, STATE)
    rewrite(path, FORGED[name])
    with pytest.raises(ValueError):
        read_state(path)


def test_what_is_no_archive_is_told_from_an_archive_that_is_no_model(path):
    path.write_bytes(b"bird,wing\nwren,4.9\n")
    with pytest.raises(NotAnArchiveError, match="another kind of file"):
        read_state(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("birds.csv", "bird,wing\nwren,4.9\n")
    with pytest.raises(ValueError, match="an archive of something else") as said:
        read_state(path)
    assert not isinstance(said.value, NotAnArchiveError)


# ---------------------------------------------------------------------------------------------------------------------
# Files made to harm: whoever can compute a checksum can seal them


def sealed(path, state, members=(), way=zipfile.ZIP_DEFLATED, **head):
    """A model file of this JSON and these members, sealed as `write_state` would."""
    body = json.dumps(state, ensure_ascii=False, sort_keys=True).encode()
    named = [(f"{index}.npy", data) for index, data in enumerate(members)]
    head = {"format": "merula model", "version": VERSION, "seal": _seal(VERSION, body, named), "state": state} | head
    with zipfile.ZipFile(path, "w", way) as archive:
        for name, data in [(ENTRY, json.dumps(head).encode()), *named]:
            archive.writestr(name, data)
    return path


def header(text):
    """An .npy file whose header is this text."""
    padded = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded


def test_what_the_forgers_tool_makes_is_read(path):
    assert read_state(sealed(path, {"dict": {"a": {"array": 0}}}, [array_bytes(np.ones(2))]))["a"].tolist() == [1, 1]


@pytest.mark.parametrize(
    "state",
    [
        5,
        [],
        None,
        {"dict": 5},
        {"dict": {}, "array": 0},
        {"array": 0},
        {"array": True},
        {"array": "0"},
        {"objects": 5},
        {"pairs": [[1]]},
        {"pairs": [[{"dict": {}}, 1]]},
        {"dict": {"a": {"array": 10**30}}},
        {"dict": {"a": {"other": 1}}},
    ],
    ids=str,
)
def test_plain_data_that_are_none(path, state):
    refuses(sealed(path, state, [array_bytes(np.ones(2))]))


@pytest.mark.parametrize(
    "array",
    [
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': (2.5,), }"),
        header("{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }"),
        header("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }"),
        header("{'descr': '|O', 'fortran_order': False, 'shape': (0,), }"),
        header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (0,), }"),
        header("{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 40),
        header("(" * 100),
        header("[" * 50 + "]" * 50),
        header("{'descr': '<f8'}"),
        header("{'descr': 5, 'fortran_order': False, 'shape': (), }"),
        header("9" * 100),
        header("'" * 3),
        b"",
        b"\x93NUMPY\x09\x00",
        array_bytes(np.ones(3))[:-1],
        array_bytes(np.ones(3)) + b" ",
    ],
    ids=range(18),
)
def test_arrays_that_are_none(path, array):
    refuses(sealed(path, {"dict": {"a": {"array": 0}}}, [array]))


def test_a_header_nested_without_end(path):
    text = "(" * 60_000
    data = b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text.encode()
    refuses(sealed(path, {"dict": {"a": {"array": 0}}}, [data]))


@pytest.mark.parametrize("version", [True, -7, 1.5, 0, None, "1", [1]])
def test_versions_that_are_none(path, version):
    assert "version" in refuses(sealed(path, {"dict": {}}, version=version))


def test_a_key_twice(path):
    write_state(path, {"value": 1})
    rewrite(path, edit_entry(b'"value": 1', b'"value": 2, "value": 1'))
    assert "the key 'value' twice" in refuses(path)


def test_a_file_that_declares_gigabytes_is_refused_before_they_are_read(path, monkeypatch):
    monkeypatch.delenv("MERULA_MOST_BYTES", raising=False)
    sealed(path, {"dict": {"a": {"array": 0}}}, [bytes(2**28)])
    monkeypatch.setattr("merula.core.archive._member", None)  # nothing is unpacked
    assert "MERULA_MOST_BYTES" in refuses(path)


def test_a_file_that_declares_less_than_it_holds(path):
    """The sizes in the directory are forged: no more is unpacked than they say."""
    sealed(path, {"dict": {"a": {"array": 0}}}, [bytes(2**22)])
    data = path.read_bytes()
    assert data.count(struct.pack("<I", 2**22)) == 2
    path.write_bytes(data.replace(struct.pack("<I", 2**22), struct.pack("<I", 128)))
    refuses(path)


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_ways_of_packing_whose_size_is_not_known(path, way):
    assert "packed as none is" in refuses(sealed(path, {"dict": {}}, [array_bytes(np.ones(2))], way))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_twice(path):
    write_state(path, {"value": 1})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(ENTRY, b"{}")
    assert "packed as none is" in refuses(path)


def test_lists_in_lists_that_would_take_gigabytes(path, monkeypatch):
    monkeypatch.delenv("MERULA_MOST_BYTES", raising=False)
    refuses(sealed(path, {"dict": {"a": [[]] * 10**6}}))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ENTRY, b"[" * 10_000 + b"]" * 10_000)
    assert "nested too deeply" in refuses(path)


def test_what_packs_like_a_bomb_is_written_so_that_it_can_be_read(path, monkeypatch):
    """The counts of a wide table are nearly all 0."""
    monkeypatch.delenv("MERULA_MOST_BYTES", raising=False)
    monkeypatch.setattr("merula.core.bounded.SMALL", 2**16)
    write_state(path, {"counts": np.zeros(10**6)})
    assert not read_state(path)["counts"].any()


def test_permission_denied_is_told_as_such(path, monkeypatch):
    write_state(path, {"value": 1})

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("io.open", refuse)
    with pytest.raises(PermissionError, match="Permission denied"):
        read_state(path)


def test_what_is_no_archive_is_bad_input(path):
    path.write_bytes(b"wren")
    with pytest.raises(InputError, match="another kind of file") as caught:
        read_state(path)
    assert isinstance(caught.value, NotAnArchiveError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_what_is_no_plain_file_is_not_read_for_a_model(tmp_path):
    """A device without end was read until memory gave out; a pipe waited for whoever writes."""
    os.mkfifo(tmp_path / "pipe.merula")
    for path in ("/dev/zero", "/dev/urandom", tmp_path / "pipe.merula"):
        with pytest.raises(NotAnArchiveError, match="no plain file"):
            read_state(path)
