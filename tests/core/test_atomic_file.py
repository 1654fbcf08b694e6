"""Files written whole or not at all: plain files, links, and what is no file."""

import os
import threading

import pytest

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
