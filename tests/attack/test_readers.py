"""The standing attacks in short: damaged files on every reader; `make attack` goes on for as long as it is told."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.attack.mutations import forged, mutated
from tests.attack.readers import READERS, SOUND

KEPT = Path(__file__).parent / "kept"
ROOT = Path(__file__).parents[2]


def test_damaged_files_are_refused_or_read_soundly(tmp_path):
    """A few of each reader but packed files, to see that the attacks themselves work."""
    words = ["--readers", *sorted(set(READERS) - {"packed"}), "--tries", "5", "--found", str(tmp_path)]
    done = subprocess.run([sys.executable, "-m", "tests.attack", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_files_that_once_did_harm_do_none(tmp_path):
    """Each file in `kept` is called <reader>-<anything> and is tried in a child process."""
    from tests.attack.pool import outcomes

    tries = [(path.name.partition("-")[0], path) for path in sorted(KEPT.iterdir()) if "-" in path.name]
    assert [(task, ended) for task, ended, _ in outcomes(tries, workers=1) if ended not in SOUND] == []


def test_a_try_is_known_by_its_seed(tmp_path):
    import merula as mr

    mr.NaiveBayesClassifier().fit([["red"], ["blue"]], ["pos", "neg"]).save(tmp_path / "m.merula")
    data = (tmp_path / "m.merula").read_bytes()
    for damage in (mutated, forged):
        first, again = (damage(random.Random("12 model 7"), data, [data]) for _ in range(2))
        assert first == again


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_death_and_a_hang_are_told(monkeypatch, tmp_path):
    """The harness itself: it must see what it is there to see."""
    import os
    import time

    from tests.attack import pool, readers

    ways = {
        "dies": lambda _: os._exit(3),
        "hangs": lambda _: time.sleep(60),
        "greedy": lambda _: bytes(1 << 40),
        "large": lambda _: bytearray(b"1") * 90_000_000 and "read",
        "odd": lambda _: {}["x"],
    }
    monkeypatch.setattr(pool, "SECONDS", 10.0)
    monkeypatch.setattr(pool, "MOST_RESIDENT", 50_000_000)
    held = bytearray(b"1") * 90_000_000  # what the one that counts holds itself is not charged to a try
    for name, way in ways.items():
        monkeypatch.setitem(readers.READERS, name, (way, lambda _: None))
    ended = {task[0]: how for task, how, _ in pool.outcomes([(name, tmp_path) for name in ways], workers=1)}
    del held
    assert ended["dies"].startswith("the process died")
    assert ended["hangs"].startswith("no answer")
    assert ended["greedy"].startswith("MemoryError")
    assert "MB in memory" in ended["large"]
    assert ended["odd"].startswith("KeyError")
