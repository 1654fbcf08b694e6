"""Structures found again from samples of published networks, merula beside pyAgrum; and how long the searches take.

Run `python benchmarks/structures.py [network …]`. MERULA_DATA names the folder that holds networks/*.bif, else
../shared/data. Printed: the mean structural Hamming distance between CPDAGs over the samples (0 = found again; lower is
better), the mean BIC per row less that of the true graph, then times (best of several, from the table to the graph).
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import merula as mr
from merula.data.encode import CodedColumns, code_columns
from merula.graphs.structure import Graph, learn, score_graph, structural_hamming_distance

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyagrum

FOLDER = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[2] / "shared" / "data")) / "networks"
NETWORKS, SIZES, SEEDS = ("asia", "child", "insurance", "alarm"), (500, 2_000, 10_000), range(4)
REPEATS = 5
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

Learner = Callable[[pd.DataFrame], Graph]


def with_pyagrum(choose: str, threads: int = 1) -> Learner:
    """pyAgrum's search by BIC as a function of a table; one thread is its fastest on small tables."""

    def search(table: pd.DataFrame) -> Graph:
        learner = pyagrum.BNLearner(table)
        learner.useScoreBIC()
        learner.setNumberOfThreads(threads)
        getattr(learner, choose)()
        found, names = learner.learnDAG(), learner.names()
        return {names[node]: tuple(sorted(names[parent] for parent in found.parents(node))) for node in found.nodes()}

    return search


def with_merula(method: str) -> Learner:
    """merula's search as a function of a table."""
    return lambda table: learn(code_columns(table), method)


LEARNERS: dict[str, Learner] = {
    "merula hill-climb": with_merula("hill-climb"),
    "merula tabu": with_merula("tabu"),
    "merula pc": with_merula("pc"),
    "pyAgrum hill climbing": with_pyagrum("useGreedyHillClimbing"),
    "pyAgrum tabu": with_pyagrum("useLocalSearchWithTabuList"),
}


def samples(network: mr.BayesianNetwork, size: int) -> list[pd.DataFrame]:
    """Samples with their columns shuffled: the order of a published file is the order of its arcs."""
    drawn = [network.sample(size, random_state=seed).astype(str) for seed in SEEDS]
    return [table.sample(frac=1, axis=1, random_state=seed) for seed, table in zip(SEEDS, drawn, strict=True)]


def per_row(rows: CodedColumns, found: Graph, truth: Graph) -> float:
    """How much better the found graph's BIC is than the true one's, per row."""
    return (score_graph(rows, found) - score_graph(rows, truth)) / rows.total


def recovery(names: list[str]) -> None:
    """Print the distances, and their means over all networks and sizes."""
    print(f"{'network':10} {'rows':>6}  " + "  ".join(f"{name:>22}" for name in LEARNERS))
    every: dict[str, list[float]] = {name: [] for name in LEARNERS}
    for network in names:
        truth = mr.read_network(FOLDER / f"{network}.bif")
        graph = {name: tuple(truth.parents(name)) for name in truth.variables}
        for size in SIZES:
            tables = samples(truth, size)
            cells = []
            for name, search in LEARNERS.items():
                found = [search(table) for table in tables]
                far = float(np.mean([structural_hamming_distance(one, graph) for one in found]))
                gain = np.mean([per_row(code_columns(t), one, graph) for t, one in zip(tables, found, strict=True)])
                every[name].append(far)
                cells.append(f"{far:8.2f} (BIC {gain:+8.3f})")
            print(f"{network:10} {size:6}  " + "  ".join(f"{cell:>22}" for cell in cells), flush=True)
    print(f"{'mean':10} {'':6}  " + "  ".join(f"{np.mean(distances):8.2f}{'':14}" for distances in every.values()))


def best_time(call: Callable[[], object]) -> float:
    """The shortest of several runs, in seconds; the first, which may compile, is not counted."""
    call()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def hill_climbing_time(rows: int = 20_000) -> None:
    """Hill climbing with BIC on a sample of alarm: times, and the scores reached."""
    table = samples(mr.read_network(FOLDER / "alarm.bif"), rows)[0]
    ours = LEARNERS["merula hill-climb"]
    theirs = [with_pyagrum("useGreedyHillClimbing", threads) for threads in sorted({1, CORES})]
    mine, other = best_time(lambda: ours(table)), min(best_time(lambda s=search: s(table)) for search in theirs)
    coded = code_columns(table)
    scores = [score_graph(coded, search(table)) for search in (ours, theirs[0])]
    print(f"hill climbing, BIC, alarm, {rows} rows: merula {mine:.3f} s, pyAgrum {other:.3f} s: {other / mine:.1f} ×")
    print(f"  BIC reached: merula {scores[0]:.1f}, pyAgrum {scores[1]:.1f}")


def chow_liu_time(rows: int = 100_000, columns: int = 100, levels: int = 5) -> None:
    """A Chow–Liu tree of a wide table."""
    codes = np.random.default_rng(0).integers(0, levels, (rows, columns))
    seconds = best_time(lambda: learn(code_columns(codes, kinds="categorical"), "chow-liu"))
    print(f"Chow–Liu, {rows} × {columns}, {levels} levels: {seconds:.2f} s")


def main() -> None:
    """Everything, or the networks named on the command line."""
    names = sys.argv[1:] or list(NETWORKS)
    lacking = [name for name in {*names, "alarm"} if not (FOLDER / f"{name}.bif").exists()]
    if lacking:
        raise SystemExit(f"no {min(lacking)}.bif in {FOLDER}: set MERULA_DATA to the folder that holds networks/*.bif")
    recovery(names)
    hill_climbing_time()
    chow_liu_time()


if __name__ == "__main__":
    main()
