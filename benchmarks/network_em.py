"""Tables of alarm learned from rows with 20 % of the cells removed at random: EM beside available cases and whole rows only.

Run `MERULA_DATA=folder python benchmarks/network_em.py [rows]`; the folder holds networks/alarm.bif. Printed for each way:
Σ_family Σ_parents P(parents) · KL(true row ‖ learned row) over the number of variables, in nats, the same mean of absolute
errors, the log likelihood per row of fresh complete rows, and seconds. EM must be the nearest by every measure.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

import merula as mr
from merula.graphs.network import BayesianNetwork

REMOVED = 0.2
FRESH = 50_000


def alarm(folder: Path) -> BayesianNetwork:
    file = folder / "networks" / "alarm.bif"
    if not file.exists():
        raise SystemExit(f"{file} is not there: set MERULA_DATA to the folder that holds networks/alarm.bif")
    return mr.read_network(file)


def distances(truth: BayesianNetwork, learned: BayesianNetwork) -> tuple[float, float]:
    """The mean over variables of KL divergence and absolute error, each row weighed by the probability of its parents."""
    divergence = error = 0.0
    for name in truth.variables:
        right, found = np.asarray(truth.distribution(name).values), np.asarray(learned.distribution(name).values)
        parents = truth.parents(name)
        weight = np.asarray(truth.query(parents).values) if parents else np.ones(())
        ratio = np.log(np.where(right > 0, right, 1.0)) - np.log(np.where(right > 0, found, 1.0))
        divergence += float((weight * (right * ratio).sum(axis=-1)).sum())
        error += float((weight * np.abs(right - found).mean(axis=-1)).sum())
    return divergence / len(truth.variables), error / len(truth.variables)


def compare(truth: BayesianNetwork, rows: int, fresh: pd.DataFrame) -> bool:
    """Print one table; whether EM is the nearest by every measure."""
    complete = truth.sample(rows, random_state=rows)
    holes = complete.mask(np.random.default_rng(rows).random(complete.shape) < REMOVED)
    ways = {
        "every cell known": (complete, "em"),
        "EM": (holes, "em"),
        "available cases": (holes, "available"),
        "complete rows only": (holes.dropna(), "available"),
    }
    print(f"\nalarm, {rows} rows, {REMOVED:.0%} of the cells removed; complete rows left: {len(holes.dropna())}")
    print(f"{'':<20}{'KL':>10}{'abs error':>11}{'fresh rows':>12}{'seconds':>9}")
    found = {}
    for word, (data, missing) in ways.items():
        begin = perf_counter()
        learned = fitted(truth, data, missing) if len(data) else unlearned(truth)
        seconds = perf_counter() - begin
        found[word] = (*distances(truth, learned), -learned.log_likelihood(fresh) / len(fresh))
        print(f"{word:<20}{found[word][0]:>10.5f}{found[word][1]:>11.5f}{-found[word][2]:>12.4f}{seconds:>9.2f}")
    others = [found["available cases"], found["complete rows only"]]
    return all(ours <= min(theirs) for ours, *theirs in zip(found["EM"], *others, strict=True))


def fitted(truth: BayesianNetwork, data: pd.DataFrame, missing: str) -> BayesianNetwork:
    return mr.BayesianNetwork(truth.graph).fit(data, levels=truth.levels, missing=missing)


def unlearned(truth: BayesianNetwork) -> BayesianNetwork:
    """What the prior alone says when no row is left: even tables."""
    network = mr.BayesianNetwork()
    for name in truth.topological_order:
        shape = np.asarray(truth.distribution(name).values).shape
        network.add(name, truth.levels[name], np.full(shape, 1 / shape[-1]), parents=truth.parents(name))
    return network


def main(sizes: list[int]) -> None:
    warnings.simplefilter("ignore", mr.UnobservedParentsWarning)
    truth = alarm(Path(os.environ.get("MERULA_DATA", "../shared/data")))
    fresh = truth.sample(FRESH, random_state=0)
    best = [compare(truth, rows, fresh) for rows in sizes or (1_000, 5_000, 20_000, 100_000)]
    print(f"\nEM nearest by every measure: {'yes' if all(best) else 'NO'}")
    if not all(best):
        raise SystemExit(1)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
