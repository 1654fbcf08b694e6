"""Faults of the machine: killed while saving, a full disk, threads that save and load at once."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import merula as mr

SAVING = """
import sys, numpy as np, merula as mr
path, what = sys.argv[1:]
if what == "model":
    rows = np.random.default_rng(1).normal(size=(4000, 12))
    new = mr.KernelBayesClassifier().fit(rows, rows[:, 0] > 0)
    write = lambda: new.save(path)
else:
    new = mr.BayesianNetwork()
    for k in range(60):
        new.add(f"n{k}", ["no", "yes"], [[.3, .7], [.6, .4]] if k else [.5, .5], parents=[f"n{k-1}"] if k else [])
    write = lambda: new.write(path)
write()
print("ready", flush=True)
while True:
    write()
"""


@pytest.mark.parametrize(("what", "name"), [("model", "m.merula"), ("network", "n.json.gz")])
def test_killed_while_saving_the_file_is_the_old_or_the_new_one(tmp_path, what, name):
    rng, path = random.Random(12), tmp_path / name
    for _ in range(2):
        child = subprocess.Popen([sys.executable, "-c", SAVING, path, what], stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"ready\n"
        whole = path.read_bytes()
        time.sleep(rng.random() * 0.2)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert path.read_bytes() == whole  # every save writes the same bytes: half a file would differ
    assert mr.load(path) is not None


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 100 KB; skipped where none can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small disk can be mounted by root alone")
    yield place
    subprocess.run(["umount", place], check=True)


def test_on_a_full_disk_the_old_file_stays_and_nothing_is_left_behind(small_disk):
    path = small_disk / "m.merula"
    small = mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["pos", "neg"])
    small.save(path)
    before = path.read_bytes()
    rows = np.random.default_rng(1).normal(size=(20_000, 4))
    large = mr.KernelBayesClassifier().fit(rows, rows[:, 0] > 0)
    with pytest.raises(OSError, match="No space left"):
        large.save(path)
    assert (path.read_bytes(), os.listdir(small_disk)) == (before, ["m.merula"])


def test_on_a_full_disk_every_command_says_so_in_one_line(small_disk, monkeypatch):
    from typer.testing import CliRunner

    from merula.cli.app import app

    monkeypatch.chdir(small_disk)
    (small_disk / "filler").write_bytes(bytes(96_000))
    for words in (
        ["fit", "penguins", "--target", "species", "-o", "m.merula"],
        ["network", "learn", "penguins", "-o", "n.json"],
        ["report", "penguins", "--target", "species", "--cv", "2", "-o", "r.html"],
    ):
        result = CliRunner().invoke(app, [*words, "--quiet"])
        assert result.exit_code == 1, words
        assert result.stderr.count("\n") == 1
        assert "no space left" in result.stderr.lower()
    assert os.listdir(small_disk) == ["filler"]


def test_a_full_cache_of_compiled_loops_stops_nothing(small_disk):
    (small_disk / "filler").write_bytes(bytes(90_000))
    script = (
        "import merula as mr; print(mr.NaiveBayesClassifier().fit([[1.0], [2.0], [5.0]], [0, 0, 1]).predict([[4.8]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_CACHE_DIR": str(small_disk)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "[1]\n")
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1


def test_threads_save_load_and_ask_at_once(tmp_path):
    rng = np.random.default_rng(3)
    rows, classes = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    model = mr.NaiveBayesClassifier().fit(rows, classes)
    path, expected = tmp_path / "m.merula", model.predict_proba(rows)
    model.save(path)

    def work(k):
        if k % 3 == 0:
            model.save(path)
        return np.array_equal(mr.load(path).predict_proba(rows), expected)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(60)))
    assert os.listdir(tmp_path) == ["m.merula"]
