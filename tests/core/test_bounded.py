"""Limits on what a file may become in memory: by declared size, by ratio, in total; named in the message, and to be set."""

import gzip
import io
import json
import os
import zlib
from pathlib import Path

import numpy as np
import pytest

from merula.core import InputError, bounded


def without_end(size):
    """Gzip of `size` zero bytes whose end never comes."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(bytes(2**20)) for _ in range(size // 2**20))


def test_half_of_the_memory_is_allowed_unless_more_is_stated(monkeypatch):
    monkeypatch.delenv("MERULA_MOST_BYTES", raising=False)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < bounded.most_bytes() <= memory / 2
    monkeypatch.setenv("MERULA_MOST_BYTES", "32e9")
    assert bounded.most_bytes() == bounded.allowed(1) == 32 * 10**9


@pytest.mark.parametrize("text", ["viel", "-1", "0", "nan", "inf", "1e30"])
def test_a_limit_that_is_none(monkeypatch, text):
    monkeypatch.setenv("MERULA_MOST_BYTES", text)
    with pytest.raises(InputError, match="MERULA_MOST_BYTES.*a number of bytes"):
        bounded.most_bytes()


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.delenv("MERULA_MOST_BYTES", raising=False)
    monkeypatch.setattr(bounded, "SMALL", 2**20)
    with pytest.raises(InputError, match="MERULA_MOST_BYTES"):
        bounded.unpacked(gzip.compress(bytes(2**25)))


def test_a_file_without_end_is_refused(monkeypatch):
    monkeypatch.delenv("MERULA_MOST_BYTES", raising=False)
    monkeypatch.setattr(bounded, "SMALL", 2**20)
    with pytest.raises(InputError, match="more than"):
        bounded.unpacked(without_end(2**26))


@pytest.mark.parametrize("rare", [100, 1000])
def test_repetitive_tables_of_ordinary_use_are_read(monkeypatch, rare):
    """A table of events, one row in a thousand: what gzip packs 240 to 1 is no bomb."""
    monkeypatch.setattr(bounded, "SMALL", 2**16)
    events = np.random.default_rng(0).random((50_000, 20)) < 1 / rare
    rows = "\n".join(",".join(map(str, row)) for row in events.astype(int).tolist()).encode()
    assert bounded.unpacked(gzip.compress(rows)) == rows


def test_several_members_one_after_the_other():
    assert bounded.unpacked(gzip.compress(b"wren ") + gzip.compress(b"tit")) == b"wren tit"


def test_a_stream_longer_than_it_may_be(monkeypatch):
    monkeypatch.setenv("MERULA_MOST_BYTES", "1000")
    assert bounded.read_stream(io.BytesIO(bytes(1000))) == bytes(1000)
    with pytest.raises(InputError, match="more than 1,000 bytes.*MERULA_MOST_BYTES"):
        bounded.read_stream(io.BytesIO(bytes(1001)))


def test_a_device_without_end(monkeypatch):
    monkeypatch.setenv("MERULA_MOST_BYTES", "1e6")
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        bounded.read_whole(bounded.Path("/dev/zero"))


def test_json_is_as_deep_and_as_long_as_it_may_be():
    assert bounded.parsed_json(json.dumps({"birds": [["wren"], 1]}).encode(), 10_000) == {"birds": [["wren"], 1]}
    with pytest.raises(InputError, match="nested too deeply"):
        bounded.parsed_json(b"[" * 100_000 + b"]" * 100_000, 10**9)
    with pytest.raises(InputError, match="10,001 items"):
        bounded.parsed_json(b"[" + b"[]," * 5_000, 100_000)
    with pytest.raises(InputError, match="the key 'wren' twice"):
        bounded.parsed_json(b'{"tit": 1, "wren": {"wren": 1}, "wren": 2}', 10_000)


@pytest.mark.parametrize("name", ["m.merula", "n.bif", "t.csv"])
def test_where_memory_gives_out_a_file_is_bad_input(monkeypatch, tmp_path, name):
    import merula as mr

    def none_left(*_):
        raise MemoryError

    (tmp_path / name).write_bytes(b"")
    for place in ("merula.core.bounded.read_whole", "merula.core.archive._read_members"):
        monkeypatch.setattr(place, none_left)
    read = {"m.merula": mr.load, "n.bif": mr.read_network, "t.csv": mr.read_table}[name]
    with pytest.raises(InputError, match="does not fit into memory") as told:
        read(tmp_path / name)
    assert str(told.value).startswith(str(tmp_path / name))
    assert str(told.value).count(name) == 1


def test_what_a_process_already_takes_is_not_left_for_a_file(monkeypatch):
    resource = pytest.importorskip("resource")
    told = Path("/proc/self/statm")
    if not told.exists():
        pytest.skip("only Linux tells what a process takes")
    used = int(told.read_text().split()[0]) * resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (used + 2**30, used + 2**30))
    monkeypatch.delenv(bounded.VARIABLE, raising=False)
    assert 2**28 < bounded.most_bytes() <= 2**29 + 2**24


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device without end")
@pytest.mark.parametrize("name", ["read_table", "read_network"])
def test_a_device_without_end_is_given_up_soon(name, tmp_path):
    import merula as mr

    path = Path("/dev/zero")
    if name == "read_network":
        path = tmp_path / "zeros.bif"
        path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match="holds more than 67,108,864 bytes"):
        getattr(mr, name)(path)
