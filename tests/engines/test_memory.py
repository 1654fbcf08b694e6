"""Threads over blocks of rows: the same bits for any number of them, and no trace left behind."""

import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from merula.core.logspace import to_posterior
from merula.core.threads import BLOCK, for_each_block, thread_count
from merula.data.encode import encode_rows, encode_target
from merula.data.schema import Column, Schema
from merula.distributions import Categorical, Gaussian, MultivariateGaussian, Setting
from merula.engines import Source, collect, describe, memory
from merula.stats import JointCounts, LevelCounts, Moments, PatternMoments, Wanted

N = 3 * BLOCK + 9_999
RNG = np.random.default_rng(29)
SPECIES = RNG.integers(0, 3, N)
MATRIX = RNG.normal(SPECIES[:, None], [1, 1e3, 1e-3], (N, 3))
HOLEY = np.where(RNG.random((N, 3)) < 0.05, np.nan, MATRIX)
WEIGHTS = RNG.random(N)
FRAME = pd.DataFrame(
    {
        "wing length": HOLEY[:, 0],
        "eggs": RNG.integers(0, 9, N),
        "größe": pd.Categorical.from_codes(RNG.integers(-1, 3, N), ["klein", "mittel", "groß"]),
        "tail": HOLEY[:, 1].astype(np.float32),
    }
)
SOURCES = {
    "matrix": MATRIX,
    "matrix with missing cells": HOLEY,
    "columns of a matrix": np.asfortranarray(HOLEY),
    "pandas": FRAME,
    "pandas of one block": pd.DataFrame(HOLEY, columns=["wing length", "tail", "bill"]),
}


def rows_of(source):
    return encode_rows(source, describe(Source(source))[0], None, "the test")


def wanted(schema):
    numeric, coded = ([column.name for column in schema.of_kind(kind)] for kind in ("numeric", "categorical"))
    statistics = [Wanted(Moments, numeric), Wanted(PatternMoments, numeric)]
    return statistics + ([Wanted(LevelCounts, coded), Wanted(JointCounts, coded)] if coded else [])


def bits(value):
    """Plain data with every array as its bytes."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    return [bits(item) for item in value] if isinstance(value, list | tuple) else repr(value)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("source", SOURCES)
def test_collect_gives_the_same_bits_for_any_number_of_threads(source, weights):
    table = Source(SOURCES[source], SPECIES, weights)
    schema, _ = describe(table)
    found = [bits(collect(table, schema, wanted(schema), n_jobs).state()) for n_jobs in (1, 2, 4)]
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_collect_counts_every_row_once():
    source = Source(FRAME, SPECIES)
    schema, _ = describe(source)
    found = collect(source, schema, wanted(schema), 2)
    moments, _, levels, joint = found.blocks
    assert found.class_counts.weight.tolist() == np.bincount(SPECIES).tolist()
    present = [
        [(~np.isnan(FRAME[name].to_numpy(float)[label == SPECIES])).sum() for name in moments.columns]
        for label in range(3)
    ]
    assert moments.weight.tolist() == present
    assert levels.counts[0].sum() + levels.missing.sum() == N
    assert joint.weight.sum() == N


@pytest.mark.parametrize("source", ["matrix", "matrix with missing cells", "pandas"])
def test_score_gives_the_same_bits_for_any_number_of_threads(source):
    rows, target = rows_of(SOURCES[source]), encode_target(SPECIES, N)
    families = [
        (Gaussian(), list(rows.numeric), "numeric"),
        (MultivariateGaussian(), list(rows.numeric), "numeric"),
        (Categorical(), list(rows.coded), "categorical"),
    ]
    parts = []
    for family, names, kind in families:
        if names:
            (statistic,) = collect(Source(rows, target), Schema(()), [family.wanted(names)], 1).blocks
            setting = Setting(
                (0, 1, 2), np.bincount(SPECIES).astype(float), tuple(Column(name, kind) for name in names)
            )
            parts.append(family.build(statistic, setting))

    def posterior(n_jobs):
        out = np.zeros((N, 3))

        def tile(part, start, stop):
            for distribution in parts:
                distribution.add_log_prob(part, out[start:stop])
            return to_posterior(out[start:stop], np.log([0.3, 0.3, 0.4]))

        assert sum(memory.score(rows, tile, n_jobs)) == 0
        return out.tobytes()

    one = posterior(1)
    assert posterior(2) == one
    assert posterior(4) == one


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_score_answers_in_the_order_of_the_rows(n_jobs):
    rows = rows_of(FRAME)
    tiles = memory.score(rows, lambda part, start, stop: (start, stop, len(part)), n_jobs)
    assert tiles[0][0] == 0
    assert tiles[-1][1] == N
    assert all(stop == following for (_, stop, _), (following, _, _) in itertools.pairwise(tiles))
    assert all(length == stop - start for start, stop, length in tiles)
    assert all(start // BLOCK == (stop - 1) // BLOCK for start, stop, _ in tiles)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_one_block_is_the_error(n_jobs):
    def fail(start):
        if start == BLOCK:
            raise ValueError("column 'wing length' contains infinity")
        return start

    with pytest.raises(ValueError, match="column 'wing length' contains infinity"):
        for_each_block(fail, N, n_jobs)


# ---------------------------------------------------------------------------------------------------------------------
# How many threads


@pytest.fixture
def eight_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


@pytest.mark.parametrize(
    ("n_jobs", "threads"), [(None, 8), (1, 1), (3, 3), (20, 20), (-1, 8), (-2, 7), (-8, 1), (-100, 1), (np.int64(2), 2)]
)
@pytest.mark.usefixtures("eight_cores")
def test_thread_count(n_jobs, threads):
    assert thread_count(n_jobs) == threads


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", [1]])
def test_a_number_of_threads_that_is_none(n_jobs):
    with pytest.raises(ValueError, match=r"n_jobs is .* expected None, a number of threads"):
        thread_count(n_jobs)


@pytest.mark.parametrize("rows", [10, N])
def test_a_wrong_number_of_threads_is_an_error_on_small_tables_too(rows):
    with pytest.raises(ValueError, match="n_jobs is 0"):
        for_each_block(lambda start: start, rows, 0)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_one_thread_inside_a_joblib_worker(backend):
    assert Parallel(n_jobs=2, backend=backend)(delayed(thread_count)(n_jobs) for n_jobs in (None, 4, -1)) == [
        1,
        1,
        1,
    ]


@pytest.mark.usefixtures("eight_cores")
def test_all_threads_again_outside_of_joblib():
    Parallel(n_jobs=2, backend="threading")(delayed(thread_count)(n_jobs) for n_jobs in (None, 4))
    assert thread_count(None) == 8


@pytest.mark.parametrize(("n_jobs", "most"), [(1, 1), (2, 2), (4, 4)])
def test_no_more_threads_than_allowed(n_jobs, most):
    running, peak, lock = 0, 0, threading.Lock()
    gate = threading.Event()

    def block(_):
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        gate.wait(0.02)
        with lock:
            running -= 1

    for_each_block(block, 12 * BLOCK, n_jobs)
    assert peak == most


# ---------------------------------------------------------------------------------------------------------------------
# BLAS


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def in_a_passing_thread(function, *args, **options):
    """Whoever limits OpenBLAS controls it alone while it lives: here, a thread that ends at once."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args, **options).result()


@pytest.fixture
def two_blas_threads():
    limits = in_a_passing_thread(threadpool_limits, 2, user_api="blas")
    before = blas_threads()
    assert set(before) == {2}
    yield before
    in_a_passing_thread(limits.restore_original_limits)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_runs_on_one_thread_meanwhile_and_as_before_afterwards(two_blas_threads, n_jobs):
    seen = for_each_block(lambda _: blas_threads(), N, n_jobs)
    assert {count for counts in seen for count in counts} == {1}
    assert blas_threads() == two_blas_threads


def test_blas_is_restored_after_an_error(two_blas_threads):
    def fail(_):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        for_each_block(fail, N, 2)
    assert blas_threads() == two_blas_threads


def test_blas_is_restored_when_two_threads_of_the_user_overlap(two_blas_threads):
    first_runs, second_runs, first_done = threading.Event(), threading.Event(), threading.Event()

    def first():
        for_each_block(lambda _: (first_runs.set(), second_runs.wait(5)), 1, 1)
        first_done.set()

    def second():
        first_runs.wait(5)
        for_each_block(lambda _: (second_runs.set(), first_done.wait(5)), 1, 1)

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(first), pool.submit(second)]:
            future.result(10)
    assert first_done.is_set()
    assert blas_threads() == two_blas_threads
