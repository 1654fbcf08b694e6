"""Gaussian kernel densities in one and in five dimensions beside scikit-learn: whole calls, same data, same process; error; growth.

Run `python benchmarks/kernel_density.py`, or `make bench`, which runs it too. scikit-learn takes half a minute for each call in one dimension,
so that both are timed twice there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neighbors import KernelDensity

import merula as mr
from merula.distributions._kernel_sums import KernelSums
from merula.distributions.bandwidths import cv, isj, silverman

SAMPLE, QUERIES, CALLS = 50_000, 10_000, 2
COLUMNS, PLACES, TIMES = 5, 1_000, 5
SIZES = (10_000, 100_000, 1_000_000)


def seconds(call: Callable[[], Any], calls: int = CALLS) -> list[float]:
    """How long each of several calls takes."""
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def exact_log_density(points: np.ndarray, bandwidth: float, queries: np.ndarray) -> np.ndarray:
    """Term by term, in extended precision."""
    points, h = points.astype(np.longdouble), np.longdouble(bandwidth)
    result = np.empty(len(queries), np.longdouble)
    for i, q in enumerate(queries):
        exponents = -(((q - points) / h) ** 2) / 2
        peak = exponents.max()
        result[i] = peak + np.log(np.exp(exponents - peak).sum())
    return result - np.log(len(points) * h) - np.log(2 * np.longdouble(np.pi)) / 2


def beside_scikit_learn(rng: np.random.Generator) -> None:
    points, queries = rng.normal(size=SAMPLE), rng.normal(scale=1.5, size=QUERIES)
    h = silverman(points)
    ours = seconds(lambda: KernelSums.build(points, None, h).log_density(queries))
    theirs = seconds(lambda: KernelDensity(bandwidth=h).fit(points[:, None]).score_samples(queries[:, None]))
    print(
        f"{SAMPLE:,} points, {QUERIES:,} queries, whole calls: scikit-learn {' '.join(f'{t:.1f}' for t in theirs)} s,"
    )
    print(f"  merula {' '.join(f'{1e3 * t:.1f}' for t in ours)} ms: {min(theirs) / min(ours):,.0f} times as fast")


def in_five_dimensions(rng: np.random.Generator) -> None:
    """merula's log density of a row: log Σ_class P(class, row), the classes being halves of the sample with one bandwidth."""
    points, queries = rng.normal(size=(SAMPLE, COLUMNS)), rng.normal(size=(PLACES, COLUMNS))
    h = float((4 / (COLUMNS + 2)) ** (1 / (COLUMNS + 4)) * SAMPLE ** (-1 / (COLUMNS + 4)))
    half, ours, theirs = np.arange(SAMPLE) % 2, mr.KernelBayesClassifier(bandwidth=h), KernelDensity(bandwidth=h)
    ours.fit(points[:1000], half[:1000]).log_evidence(queries[:10])
    own, peer = (
        seconds(lambda: ours.fit(points, half).log_evidence(queries), TIMES),
        seconds(lambda: theirs.fit(points).score_samples(queries), TIMES),
    )
    print(f"{SAMPLE:,} × {COLUMNS}, {PLACES:,} queries, whole calls, best of {TIMES}: scikit-learn {min(peer):.2f} s,")
    print(f"  merula {min(own):.3f} s: {min(peer) / min(own):.1f} times as fast (bar 5)")
    constant = COLUMNS / 2 * np.log(2 * np.longdouble(np.pi)) + np.log(SAMPLE * np.longdouble(h) ** COLUMNS)
    exact = np.array([_log_sum((q - points.astype(np.longdouble)) / h) for q in queries]) - constant
    for name, found in (("merula", ours.log_evidence(queries)), ("scikit-learn", theirs.score_samples(queries))):
        print(f"  largest relative error, {name}: {float(np.abs(np.expm1(found - exact)).max()):.1e}")


def _log_sum(away: np.ndarray) -> np.longdouble:
    exponents = -(away**2).sum(axis=1) / 2
    return exponents.max() + np.log(np.exp(exponents - exponents.max()).sum())


def errors(rng: np.random.Generator) -> None:
    points = rng.normal(size=SAMPLE)
    h = silverman(points)
    far = h * np.geomspace(10, 1e6, 60)
    indices = [rng.normal(size=300), np.linspace(-8, 8, 300), points.max() + far, points.min() - far]
    queries = np.concatenate(indices)
    exact = exact_log_density(points, h, queries)
    error = np.abs(KernelSums.build(points, None, h).log_density(queries) - exact)
    body = exact > exact.max() + np.log(1e-12)
    print(f"largest relative error of densities above 1e-12 of the peak: {float(np.expm1(error[body].max())):.1e}")
    moderate = ~body & (exact > -1e4)
    print(f"largest error of log densities below, down to −1e4: {float(error[moderate].max()):.1e}")
    worst = (error[~body] / np.abs(exact[~body])).max()
    print(f"  relative to the log density, down to {float(exact.min()):.1e}: {float(worst):.1e}")


def growth(rng: np.random.Generator) -> None:
    print("points = queries    build and query    query again    isj         cv")
    for size in SIZES:
        points, queries = rng.normal(size=size), rng.normal(scale=1.5, size=size)
        h = silverman(points)
        whole = min(seconds(lambda x=points, q=queries, h=h: KernelSums.build(x, None, h).log_density(q), 3))
        sums = KernelSums.build(points, None, h)
        sums.log_density(queries)
        again = min(seconds(lambda s=sums, q=queries: s.log_density(q), 3))
        rules = [min(seconds(lambda rule=rule, x=points: rule(x), 1)) for rule in (isj, cv)]
        print(f"{size:16,d} {1e3 * whole:14.1f} ms {1e3 * again:11.1f} ms {rules[0]:8.3f} s {rules[1]:8.2f} s")


def main() -> None:
    warm = np.random.default_rng(0).normal(size=1_000)
    KernelSums.build(warm, None, 0.3).log_density(warm)  # compiles
    cv(warm)
    for part in (beside_scikit_learn, errors, growth, in_five_dimensions):
        part(np.random.default_rng(7))


if __name__ == "__main__":
    main()
