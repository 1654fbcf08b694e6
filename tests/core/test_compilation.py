"""Loops that are compiled are told and timed; those that are found on disk are not."""

import json
import os
import subprocess
import sys

import pytest

from merula.core.compilation import WATCHING, watched_compilation

LOOPS = """
from merula.core.compiled import kernel

@kernel
def doubled(x):
    return 2 * x

@kernel
def summed(values):
    total = 0.0
    for value in values:
        total += doubled(value)
    return total
"""
ASK = """
import json, time
import numpy as np
from loops import summed
from merula.core.compilation import watched_compilation
begun, start = [], time.perf_counter()
with watched_compilation(begun.append) as found:
    first = summed(np.ones(3))
    before = found.loops
    again = summed(np.ones(4))
took = time.perf_counter() - start
with watched_compilation(begun.append) as later:
    summed(np.ones(5))
print(json.dumps([first, again, begun, before, found.loops, found.seconds, took, later.loops]))
"""


def asked(folder, **environment):
    """What a fresh interpreter says of two loops, one of which calls the other."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK], cwd=folder, env=os.environ | environment, capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, again, *rest = json.loads(done.stdout)
    assert (first, again) == (6.0, 8.0)
    return rest


def test_a_loop_is_told_and_timed_when_it_is_compiled_and_not_when_it_is_found(tmp_path):
    (tmp_path / "loops.py").write_text(LOOPS)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    begun, before, loops, seconds, took, later = asked(tmp_path, **cache)
    assert begun == [True] and before == loops == 2 and later == 0
    assert 0 < seconds < took
    begun, before, loops, seconds, _, later = asked(tmp_path, **cache)
    assert (begun, before, loops, seconds, later) == ([], 0, 0, 0.0, 0)


def test_loops_within_loops_are_timed_once(monkeypatch):
    clock = iter([10.0, 13.0, 20.0, 21.0])
    monkeypatch.setattr("merula.core.compilation.perf_counter", lambda: next(clock))
    with watched_compilation() as found:
        found.starts(kept=True)  # at 10
        found.starts(kept=True)
        found.ends()
        found.ends()  # at 13
        found.starts(kept=True)  # at 20
        found.ends()  # at 21
    assert (found.loops, found.seconds) == (3, 4.0)


def test_what_began_before_is_not_counted():
    with watched_compilation() as found:
        found.ends()
    assert (found.loops, found.seconds) == (0, 0.0)


def test_nobody_watches_after_an_error():
    with pytest.raises(KeyError), watched_compilation():
        raise KeyError
    assert not WATCHING


def test_what_compilation_leaves_behind_is_cleared_away_now_and_then(monkeypatch):
    from merula.core import compiled

    cleared, listener = [], compiled._Listener()
    monkeypatch.setattr(compiled.gc, "collect", lambda: cleared.append(True))
    for _ in range(2 * compiled.TIDIED):
        listener.on_end(None)
    assert len(cleared) == 2
