"""How often intervals hold what they are of: truths drawn from the prior that the interval states, rows drawn from them, rows asked.

Run `python benchmarks/interval_coverage.py [case …] [--simulations 1000] [--seed 0]`. Of each simulation one row that was learned from
and one that was not are asked, and one class of each. Figures beside a fixed truth, which is no draw from any prior, have no bar.

`--cost` measures an interval beside as many predictions, by processor time. `MERULA_DATA=folder … --tables` shows what averaging
parameters out is worth on samples of 50 rows of each table there that has two columns of numbers, by the mean log loss of other rows.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

import merula as mr

LEVELS, WORDS, NUMBERS = 3, 4, 3
FREEDOM, WORTH = 3.0, 0.1  # of variances about 1; rows that the place of means is worth to each class
SIZES = ((20, 2), (20, 5), (200, 3), (2_000, 2), (2_000, 5))  # rows, classes
LOW, HIGH = 0.87, 0.93
NEVER = 1e-6  # rows that the model is so sure of are not asked: what is left of 1 is soon no number


@dataclass
class Truth:
    """P(class), tables of words (column × class × level), means and variances of numbers (class × column)."""

    prior: np.ndarray
    tables: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    def rows(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Classes, words and numbers of rows."""
        y = rng.choice(len(self.prior), size=n, p=self.prior)
        reached = self.tables.cumsum(axis=2)
        words = (rng.random((n, len(self.tables), 1)) > reached[:, y].transpose(1, 0, 2)).sum(axis=2)
        return y, np.minimum(words, LEVELS - 1), rng.normal(self.mean[y], np.sqrt(self.variance[y]))

    def posterior(self, words: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """P(class given row), from the definition."""
        logs = np.log(np.maximum(self.prior, 1e-300)) + np.zeros((len(words), 1))
        for j, table in enumerate(self.tables):
            logs += np.log(np.maximum(table[:, words[:, j]].T, 1e-300))
        away = numbers[:, None, :] - self.mean
        logs -= 0.5 * (np.log(self.variance) + away**2 / self.variance).sum(axis=2)
        return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def from_prior(classes: int, words: int, numbers: int, rng: np.random.Generator) -> Truth:
    """A truth drawn from what `parameter_priors` states, for smoothing=1 and class_prior='laplace'."""
    prior = rng.dirichlet(np.ones(classes))
    tables = rng.dirichlet(np.ones(LEVELS), size=(words, classes))
    variance = FREEDOM / rng.chisquare(FREEDOM, size=(classes, numbers))
    return Truth(prior, tables, rng.normal(size=variance.shape) * np.sqrt(variance / WORTH), variance)


def fixed(classes: int, words: int, numbers: int, _: np.random.Generator) -> Truth:
    """A truth that stays as it is: even classes, levels and means that move a little from class to class."""
    steps = np.arange(classes)
    shares = np.stack([np.roll([0.6, 0.3, 0.1], k) for k in steps])
    mean = np.repeat(steps[:, None] * 0.8, numbers, axis=1)
    return Truth(
        np.full(classes, 1 / classes),
        np.stack([shares] * words) if words else np.zeros((0, classes, LEVELS)),
        mean,
        np.ones_like(mean),
    )


CASES: dict[str, tuple[int, int]] = {"tables": (WORDS, 0), "numbers": (0, NUMBERS), "mixed": (2, 2)}


def hits(case: str, n: int, classes: int, make: Callable[..., Truth], simulations: int, seed: int, draws: int = 200) -> np.ndarray:  # fmt: skip
    """For each simulation whether the interval held P(class given row): of a row learned from (first), of a new one."""
    words, numbers = CASES[case]
    rng = np.random.default_rng([seed, n, classes, sorted(CASES).index(case)])
    names = [f"x{j}" for j in range(words + numbers)]
    kinds = {name: "categorical" if j < words else "numeric" for j, name in enumerate(names)}
    levels = {name: [float(level) for level in range(LEVELS)] for name in names[:words]}
    options = {"levels": levels, "class_prior": "laplace", "kinds": kinds, "n_jobs": 1}
    found: tuple[list[bool], list[bool]] = ([], [])
    while min(map(len, found)) < simulations:
        truth = make(classes, words, numbers, rng)
        y, held, measured = truth.rows(n + 1, rng)
        rows = np.hstack([held, measured])
        model = mr.NaiveBayesClassifier(**options).partial_fit(rows[:-1], y[:-1], classes=range(classes))
        which, label = [int(rng.integers(n)), n], int(rng.integers(classes))
        said = model.predict_proba(rows[which])[:, label]
        telling = (said > NEVER) & (said < 1 - NEVER)
        if telling.any():
            p = truth.posterior(held[which], measured[which])[:, label]
            low, high = model.predict_interval(rows[which], draws=draws, random_state=int(rng.integers(2**31)))[
                :, label
            ].T
            for k in np.flatnonzero(telling).tolist():
                found[k].append(bool(low[k] <= p[k] <= high[k]))
    return np.array([one[:simulations] for one in found]).T


def coverage(cases: list[str], simulations: int, seed: int) -> None:
    """Print the share of intervals that held, for truths from the prior and, of fewer simulations, for a fixed one."""
    print(
        f"{'case':8} {'rows':>5} {'classes':>7}  {'prior: learned':>14} {'new':>6}  {'fixed: learned':>14} {'new':>6}  seconds"
    )
    missed, count = [], 0
    for case in cases:
        for n, classes in SIZES:
            begun = time.process_time()
            own = hits(case, n, classes, from_prior, simulations, seed).mean(axis=0)
            other = hits(case, n, classes, fixed, simulations // 4, seed + 1).mean(axis=0)
            count += 2
            missed += [f"{case} {n} {classes}: {one:.3f}" for one in own if not LOW <= one <= HIGH]
            print(f"{case:8} {n:5} {classes:7}  {own[0]:14.3f} {own[1]:6.3f}  {other[0]:14.3f} {other[1]:6.3f}  {time.process_time() - begun:7.0f}", flush=True)  # fmt: skip
    print(f"\n{count - len(missed)} of {count} shares lie between {LOW} and {HIGH}; not: {missed or 'none'}")


def cost(draws: int = 200) -> None:
    """Print the processor time of an interval beside that of as many predictions."""
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 2_000)
    numbers = rng.normal(size=(2_000, 10)) + (y == "a")[:, None]
    frame = pd.DataFrame(numbers, columns=[f"number {j}" for j in range(10)])
    for j in range(10):
        frame[f"word {j}"] = rng.choice(["red", "green", "blue"], 2_000)
    models = {
        "naive, numbers": (mr.NaiveBayesClassifier(), list(frame.columns[:10])),
        "naive, words": (mr.NaiveBayesClassifier(), list(frame.columns[10:])),
        "naive, both": (mr.NaiveBayesClassifier(), list(frame.columns)),
        "full, numbers": (mr.BayesClassifier(), list(frame.columns[:10])),
        "tan, words": (mr.TANClassifier(), list(frame.columns[10:])),
        "aode, words": (mr.AODEClassifier(), list(frame.columns[10:])),
    }
    for name, (model, columns) in models.items():
        model.set_params(n_jobs=1).fit(frame[columns], y)
        for count in (1, 1_000, 20_000):
            rows = frame[columns].sample(count, replace=True, random_state=0)
            one = best(lambda rows=rows, model=model: model.predict_proba(rows), 5)
            many = best(lambda rows=rows, model=model: model.predict_interval(rows, draws=draws, random_state=0), 2)
            print(f"{name:15} {count:6} rows  {1e3 * one:9.3f} ms a prediction  {many / draws / one:5.2f} of it for each draw", flush=True)  # fmt: skip


def best(function: Callable[[], Any], times: int) -> float:
    """The least processor time of some calls."""
    function()
    taken = []
    for _ in range(times):
        begun = time.process_time()
        function()
        taken.append(time.process_time() - begun)
    return min(taken)


def tables(samples: int = 5, most: int = 1_000) -> None:
    """Print the mean log loss of plug-in and predictive estimates from 50 rows, for each table with two columns of numbers."""
    from strength import TABLES, read

    wins, count = 0, 0
    for name in TABLES:
        frame, y = read(Path(os.environ["MERULA_DATA"]), name)
        numbers = [column for column in frame if frame[column].dtype != object]
        if len(numbers) < 2 or len(y) < 60:
            continue
        kinds = {column: "numeric" if column in numbers else "categorical" for column in frame}
        losses = np.mean([_losses(frame, y, kinds, np.random.default_rng(k), most) for k in range(samples)], axis=0)
        wins, count = wins + (losses[1] < losses[0]), count + 1
        print(f"{name:16} plug-in {losses[0]:7.4f}  predictive {losses[1]:7.4f}", flush=True)
    print(f"predictive is lower on {wins} of {count} tables")


def _losses(frame: pd.DataFrame, y: np.ndarray, kinds: dict[str, str], rng: np.random.Generator, most: int) -> list[float]:  # fmt: skip
    """The log loss of rows beside a sample of 50, of classes that it holds; no probability is taken for less than 1e-12."""
    order = rng.permutation(len(y))
    sample, rest = order[:50], order[50 : 50 + most]
    rest = rest[np.isin(y[rest], y[sample])]
    found = []
    for estimate in ("plug-in", "predictive"):
        model = mr.NaiveBayesClassifier(kinds=kinds, estimate=estimate).fit(frame.iloc[sample], y[sample])
        logs = model.predict_log_proba(frame.iloc[rest])[np.arange(len(rest)), np.searchsorted(model.classes_, y[rest])]
        found.append(float(-np.maximum(logs, np.log(1e-12)).mean()))
    return found


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--tables", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.cost:
        cost()
    if asked.tables:
        tables()
    if not asked.cost and not asked.tables:
        coverage(asked.cases, asked.simulations, asked.seed)


if __name__ == "__main__":
    main()
