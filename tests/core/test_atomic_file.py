"""Files written whole or not at all: plain files, links, and what is no file."""

import os
import stat
import threading

import pytest

from merula.core import InputError
from merula.core.atomic_file import atomic_write, nearest_file


def put(path, content=b"wren"):
    with atomic_write(path) as file:
        file.write(content)


def test_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_bytes(b"tit")
    link.symlink_to(real)
    put(link)
    assert link.is_symlink()
    assert real.read_bytes() == b"wren"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in the file system")
def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    put(pipe)
    reader.join(timeout=10)
    assert read == [b"wren"]
    assert not pipe.is_file()


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "birds.txt"
    path.write_bytes(b"tit")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as file:
        file.write(b"wr")
        raise KeyboardInterrupt
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"tit"]


def test_only_a_near_name_is_suggested(tmp_path):
    (tmp_path / "penguins.csv").touch()
    assert nearest_file(tmp_path / "penguin.csv").endswith("penguins.csv?")
    assert nearest_file(tmp_path / "absent.csv") == ""
    assert nearest_file(tmp_path / "penguin.csv", ".merula") == ""


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o664])
def test_a_file_keeps_its_permissions(tmp_path, mode):
    """What was private stays private, also while it is written."""
    path, met = tmp_path / "birds.txt", []
    path.write_bytes(b"tit")
    path.chmod(mode)
    with atomic_write(path) as file:
        met += [stat.S_IMODE(os.fstat(file.fileno()).st_mode)]
        file.write(b"wren")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert met == [0o600]
    assert path.read_bytes() == b"wren"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "birds.txt"
    path.write_bytes(b"tit")
    os.chown(path, 1234, 5678)
    put(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


def test_a_file_that_may_not_be_given_away_is_written_all_the_same(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.chown", refuse)
    put(tmp_path / "birds.txt", b"tit")
    put(tmp_path / "birds.txt")
    assert (tmp_path / "birds.txt").read_bytes() == b"wren"


@pytest.mark.parametrize("name", ["a" * 255, "ß" * 127, "色" * 85])
def test_the_longest_names_there_are(tmp_path, name):
    put(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_the_umask_is_never_set(tmp_path, monkeypatch):
    """Setting it to read it is a race between threads."""
    monkeypatch.setattr("os.umask", None)
    put(tmp_path / "birds.txt")


def test_an_empty_name(tmp_path):
    with pytest.raises(InputError, match="the name of the file is empty"):
        put("")
