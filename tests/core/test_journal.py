"""A record is only added to, by any number of writers; what was cut short is passed over, what was tampered with is noticed."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

from merula.core import InputError
from merula.core.journal import Journal, read_journal

WRITER = """
import sys
from merula.core.journal import Journal
journal = Journal(sys.argv[1])
for number in range(40):
    journal.append({"who": sys.argv[2], "number": number, "größe": "x" * (number * 400)})
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.log"


@pytest.fixture
def written(path):
    """A record of five entries."""
    journal = Journal(path)
    for number in range(5):
        journal.append({"patient": number})
    return path


def numbers(path):
    return [entry.told["patient"] for entry in read_journal(path) if entry.told is not None]


def problems(path):
    return {entry.line: entry.broken for entry in read_journal(path) if entry.broken}


def test_each_line_holds_the_hash_of_itself_and_of_the_one_before(written):
    previous = ""
    for line in written.read_bytes().splitlines():
        body, _, end = line.rpartition(b',"hash":"')
        assert json.loads(line)["previous"] == previous
        previous = end.removesuffix(b'"}').decode()
        assert hashlib.sha256(body).hexdigest() == previous
    assert problems(written) == {}


def test_writers_at_the_same_time_leave_whole_lines_in_one_chain(path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, name]) for name in ("north", "south", "east")]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    found = list(read_journal(path))
    assert len(found) == 120 and not any(entry.broken for entry in found)
    for name in ("north", "south", "east"):
        assert [entry.told["number"] for entry in found if entry.told["who"] == name] == list(range(40))


@pytest.mark.parametrize("left", [1, 20, 100])
def test_a_line_that_was_cut_short_is_told_and_the_next_begins_behind_it(written, left):
    whole = written.read_bytes()
    written.write_bytes(whole[:-left])
    before = list(read_journal(written))
    assert [entry.is_cut for entry in before] == [False] * 4 + [left > 1]
    Journal(written).append({"patient": 7})
    assert written.read_bytes().startswith(whole[:-left])
    assert numbers(written) == [0, 1, 2, 3, *([4] if left == 1 else []), 7]
    assert [entry.line for entry in read_journal(written) if entry.broken and not entry.is_cut] == []


def test_lines_longer_than_what_is_read_at_once_are_followed(path):
    journal = Journal(path)
    for number in range(3):
        journal.append({"patient": number, "remark": "ä" * 100_000})
    with path.open("ab") as file:
        file.write(b'{"previous":"' + b"x" * 200_000)
    journal.append({"patient": 3})
    assert numbers(path) == [0, 1, 2, 3] and [entry.line for entry in read_journal(path) if entry.broken] == [4]


def test_an_altered_line_is_noticed(written):
    written.write_bytes(written.read_bytes().replace(b'"patient":2', b'"patient":9'))
    assert list(problems(written)) == [3] and "altered" in problems(written)[3]


@pytest.mark.parametrize("gone", [0, 2])
def test_a_removed_line_is_noticed(written, gone):
    lines = written.read_bytes().splitlines(keepends=True)
    written.write_bytes(b"".join(lines[:gone] + lines[gone + 1 :]))
    assert list(problems(written)) == [gone + 1] and "removed" in problems(written)[gone + 1]


def test_lines_in_another_order_and_lines_put_in_are_noticed(written):
    lines = written.read_bytes().splitlines(keepends=True)
    written.write_bytes(b"".join([lines[0], lines[2], lines[1], *lines[3:]]))
    assert set(problems(written)) == {2, 3, 4}
    written.write_bytes(b"".join([*lines[:2], lines[1], *lines[2:]]))
    assert set(problems(written)) == {3}


def test_a_line_made_unreadable_in_the_middle_breaks_the_chain(written):
    lines = written.read_bytes().splitlines(keepends=True)
    written.write_bytes(b"".join([*lines[:2], b"nothing\n", *lines[3:]]))
    found = list(read_journal(written))
    assert found[2].is_cut and "removed" in found[3].broken


def test_words_of_any_kind_come_back(path):
    told = {"remark": 'a "quote"\n\u2028 \\', "half": "\ud800", "色泽": ["乌黑", None, 0.1, -0.0, 2**70], "empty": {}}
    Journal(path).append(told)
    (entry,) = read_journal(path)
    assert {name: entry.told[name] for name in told} == told and not entry.broken


def test_an_entry_that_looks_like_the_end_of_a_line_is_data(path):
    journal = Journal(path)
    journal.append({"remark": f',"hash":"{"0" * 64}"}}'})
    journal.append({})
    assert [entry.broken for entry in read_journal(path)] == ["", ""]


def test_not_a_number_is_refused_and_nothing_is_written(written):
    size = written.stat().st_size
    with pytest.raises(ValueError, match="JSON"):
        Journal(written).append({"pressure": float("nan")})
    assert written.stat().st_size == size


@pytest.mark.parametrize("content", [b"patient,ward\n1,2\n", b"PK\x03\x04", b"{}\n", b"\n"])
def test_another_file_is_no_record_and_is_left_as_it_is(path, content):
    path.write_bytes(content)
    for opened in (Journal, lambda one: list(read_journal(one))):
        with pytest.raises(InputError, match="is no record of answers"):
            opened(path)
    assert path.read_bytes() == content


def test_folders_and_folders_that_are_not_there(tmp_path):
    with pytest.raises(IsADirectoryError):
        Journal(tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        Journal(tmp_path / "nowhere" / "answers.log")
    with pytest.raises(FileNotFoundError, match="no record"):
        list(read_journal(tmp_path / "answers.log"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_is_no_record(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no plain file"):
        Journal(tmp_path / "pipe")


@pytest.mark.skipif(os.name == "nt", reason="modes are those of Unix")
def test_nobody_else_may_read_a_new_record(written):
    assert written.stat().st_mode & 0o777 == 0o600
