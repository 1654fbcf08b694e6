"""Tasks side by side: in order, in their context, the first error raised."""

import os
import subprocess
import sys
import time
from contextvars import ContextVar
from threading import Barrier, Lock, get_ident

import pytest

from merula.core.threads import for_each_block, side_by_side

WORD = ContextVar("word", default="none")


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_what_tasks_give_comes_in_their_order_and_they_know_the_context(n_jobs):
    token = WORD.set("said")
    try:
        assert side_by_side([lambda k=k: (k, WORD.get()) for k in range(4)], n_jobs) == [(k, "said") for k in range(4)]
    finally:
        WORD.reset(token)


def test_two_tasks_run_at_the_same_time_and_one_thread_is_the_callers():
    both = Barrier(2, timeout=20)
    assert len(set(side_by_side([lambda: (both.wait(), get_ident())[1]] * 2, 2))) == 2
    assert side_by_side([get_ident, get_ident], 1) == [get_ident()] * 2


def test_no_task_gives_nothing_and_an_error_is_raised():
    assert side_by_side([], 2) == []
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1, lambda: 1 // 0], 2)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_however_threads_are_nested_no_more_than_allowed_work_at_a_time(n_jobs):
    busy, most, lock = [0], [0], Lock()

    def block(start):
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.01)
        with lock:
            busy[0] -= 1
        return start

    found = side_by_side([lambda: for_each_block(block, 4, n_jobs, 1)] * 4, n_jobs)
    assert found == [[0, 1, 2, 3]] * 4
    assert most[0] == n_jobs


def test_an_error_that_a_task_deals_with_stops_no_other():
    def forgiving():
        try:
            return for_each_block(lambda start: 1 // start, 3, 2, 1)
        except ZeroDivisionError:
            return for_each_block(lambda start: start, 3, 2, 1)

    assert side_by_side([forgiving, lambda: for_each_block(lambda start: -start, 3, 2, 1)], 2) == [[0, 1, 2], [0, -1, -2]]  # fmt: skip


INTERRUPTED = """
import signal, threading, time
from merula.core.threads import for_each_block, side_by_side
done = []
def slow(start):
    time.sleep(0.3)
    done.append(start)
# By another thread than the first, which is not woken: as where the interrupt comes just before the first begins to wait
threading.Timer(0.1, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    side_by_side([lambda: for_each_block(slow, 40, 2, 1)] * 2, 2)
except KeyboardInterrupt:
    after = time.monotonic() - begun
    time.sleep(1)
    print(after < 3, len(done) <= 6)  # of 12 seconds, and of 80 blocks
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_an_interrupt_is_not_kept_waiting_for_what_has_not_begun():
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stdout == "True True\n", ended.stderr


def test_an_interrupt_within_a_compiled_loop_is_one():
    def interrupted(_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise SystemError("returned a result with an exception set")  # noqa: B904

    with pytest.raises(KeyboardInterrupt):
        for_each_block(interrupted, 1, 1, 1)
