"""Exact answers of Bayesian networks beside pyAgrum and pgmpy: same tables, same process, taken in turns, best of several.

Run `python benchmarks/networks.py`, or `python benchmarks/networks.py alarm munin1 link queries rows` for some of it.
The networks are those of $MERULA_DATA/networks (by default ../shared/data/networks), or else of pgmpy's example models.
Both sides get the same normalised tables. Compiled loops are warmed on another network; memory is touched first, so that
neither side pays for pages that the machine has never given out.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import merula as mr
from merula.graphs.formats import read_nodes
from merula.graphs.network import Node

NETWORKS = ["asia", "cancer", "earthquake", "survey", "sachs", "child", "alarm", "insurance", "win95pts", "hailfinder", "hepar2", "pathfinder", "andes", "pigs", "water", "mildew", "munin3", "munin2", "diabetes", "munin", "munin4", "barley", "munin1", "link"]  # fmt: skip
ROWS, LOOP, TOUCHED = 100_000, 300, 6_000_000_000


@dataclass
class Line:
    """One line of the table: seconds of both sides, and what is asked of their ratio."""

    work: str
    merula: float
    peer: float | None
    bar: str
    met: bool

    def __str__(self) -> str:
        peer = f"{self.peer:11.4f}" if self.peer is not None else f"{'–':>11}"
        ratio = f"{self.peer / self.merula:9.1f}×" if self.peer is not None else f"{'–':>10}"
        return f"{self.work:58} {self.merula:11.4f} {peer} {ratio}   {self.bar:34} {'met' if self.met else 'MISSED'}"


def in_turns(calls: list[Callable[[], Any]], repeats: int) -> list[float]:
    """The shortest time of each call, all taken equally often, one after the other."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, found in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
    return [min(found) for found in times]


def file_of(name: str) -> Path | None:
    folder = Path(os.environ.get("MERULA_DATA", Path(__file__).parents[2] / "shared" / "data")) / "networks"
    pgmpy = find_spec("pgmpy")
    folders = [folder] + ([Path(pgmpy.origin).parent / "utils" / "example_models"] if pgmpy and pgmpy.origin else [])
    files = [index / f"{name}{suffix}" for index in folders for suffix in (".bif", ".bif.gz")]
    return next((file for file in files if file.exists()), None)


def in_pyagrum(nodes: list[Node]) -> Any:
    """The same tables as a pyAgrum network, variables and levels by number."""
    import pyagrum as gum

    net, number = gum.BayesNet(), {node.name: f"v{i}" for i, node in enumerate(nodes)}
    for node in nodes:
        net.add(gum.LabelizedVariable(number[node.name], "", len(node.levels)))
    for node in nodes:
        for parent in node.parents:
            net.addArc(number[parent], number[node.name])
    for node in nodes:
        turned = node.table.transpose([*range(len(node.parents) - 1, -1, -1), len(node.parents)])
        net.cpt(number[node.name]).fillWith(turned.reshape(-1).tolist())
    return net


def all_posteriors(name: str) -> list[Line]:
    import pyagrum as gum

    nodes = read_nodes(file_of(name))
    network, net, fresh = mr.BayesianNetwork._of(nodes), in_pyagrum(nodes), []

    def first() -> None:
        fresh.append(mr.BayesianNetwork._of(nodes))
        fresh.pop().posteriors()

    def theirs() -> None:
        engine = gum.LazyPropagation(net)
        engine.makeInference()
        for v in net.nodes():
            engine.posterior(v).toarray()

    start = time.perf_counter()
    network.posteriors()
    repeats = 1 if time.perf_counter() - start > 5 else 3 if time.perf_counter() - start > 0.2 else 7
    new, again, peer = in_turns([first, network.posteriors, theirs], repeats)
    if name == "munin1":
        return [Line(f"{name}: all posteriors, again", again, peer, "≥ 3× pyAgrum", peer >= 3 * again)]
    return [
        Line(f"{name}: all posteriors, first call", new, peer, "≤ max(pyAgrum, 10 ms)", new <= max(peer, 0.010)),
        Line(f"{name}: all posteriors, again", again, peer, "≤ pyAgrum", again <= peer),
    ]


def link_alone() -> None:
    """Run in a process of its own: seconds and the largest memory of all posteriors of `link`."""
    network = mr.BayesianNetwork._of(read_nodes(file_of("link")))
    start = time.perf_counter()
    network.posteriors()
    print(json.dumps([time.perf_counter() - start, peak_memory()]))


def peak_memory() -> float:
    """Gigabytes; Linux keeps the parent's in getrusage even after exec, so /proc is asked where there is one."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def link() -> list[Line]:
    done = subprocess.run([sys.executable, __file__, "--link-alone"], capture_output=True, text=True, check=True)
    seconds, gigabytes = json.loads(done.stdout.splitlines()[-1])
    return [Line(f"link: all posteriors, peak {gigabytes:.2f} GB (pyAgrum: over 24 GB)", seconds, None, "finishes within 4 GB", gigabytes <= 4)]  # fmt: skip


def queries() -> list[Line]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.inference import VariableElimination
        from pgmpy.models import DiscreteBayesianNetwork

        nodes = read_nodes(file_of("alarm"))
        levels = {node.name: list(node.levels) for node in nodes}
        model = DiscreteBayesianNetwork([(parent, node.name) for node in nodes for parent in node.parents])
        for node in nodes:
            sizes, states = [len(levels[parent]) for parent in node.parents], {one: levels[one] for one in (node.name, *node.parents)}  # fmt: skip
            model.add_cpds(TabularCPD(node.name, len(node.levels), node.table.reshape(-1, len(node.levels)).T, list(node.parents) or None, sizes or None, states))  # fmt: skip
        network, theirs = mr.BayesianNetwork._of(nodes), VariableElimination(model)
        known = {"HRBP": "HIGH", "BP": "LOW"}
        asked = [node.name for node in nodes if node.name not in known]
        ours = in_turns(
            [
                lambda: [network.query(name, known) for name in asked],
                lambda: [theirs.query([name], evidence=known, show_progress=False) for name in asked],
            ],
            5,
        )
    return [
        Line(f"alarm: {len(asked)} queries with two findings (pgmpy)", *ours, "≥ 10× pgmpy", ours[1] >= 10 * ours[0])
    ]


def rows() -> list[Line]:
    import pyagrum as gum

    nodes = read_nodes(file_of("alarm"))
    network, net = mr.BayesianNetwork._of(nodes), in_pyagrum(nodes)
    number, target = {node.name: i for i, node in enumerate(nodes)}, "HYPOVOLEMIA"
    table = drawn(network, np.random.default_rng(0))
    engine = gum.LazyPropagation(net)
    engine.addTarget(number[target])
    codes = {name: table[name].cat.codes.to_numpy() for name in table}

    def loop() -> None:
        for row in range(LOOP):
            engine.setEvidence({number[name]: int(found[row]) for name, found in codes.items() if found[row] >= 0})
            engine.makeInference()
            engine.posterior(number[target]).toarray()

    network.predict_rows(table.iloc[:100], target)
    ours, theirs = in_turns([lambda: network.predict_rows(table, target), loop], 3)
    theirs *= ROWS / LOOP
    work = f"alarm: {ROWS:,} rows, 20 % missing (pyAgrum: {LOOP} rows, scaled)"
    return [Line(work, ours, theirs, "≥ 100× pyAgrum", theirs >= 100 * ours)]


def drawn(network: mr.BayesianNetwork, rng: np.random.Generator) -> pd.DataFrame:
    """Rows drawn parents first, a fifth of their cells removed, the target's column with them."""
    codes: dict[str, np.ndarray] = {}
    for name in network.topological_order:
        node = network._nodes[name]
        running = node.table[tuple(codes[parent] for parent in node.parents)].cumsum(axis=-1)
        running = np.broadcast_to(running, (ROWS, len(node.levels)))
        codes[name] = (rng.random((ROWS, 1)) > running[:, :-1]).sum(axis=1)
    columns = {name: pd.Categorical.from_codes(np.where(rng.random(ROWS) < 0.2, -1, found), list(network.levels[name])) for name, found in codes.items()}  # fmt: skip
    return pd.DataFrame(columns).drop(columns="HYPOVOLEMIA")


def warm() -> None:
    """Compile every loop on another network, and touch memory."""
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"])
    network.add("slip", ["no", "yes"], [[[0.9, 0.1], [0.2, 0.8]]] * 2, parents=["rain", "wet"])
    network.posteriors({"wet": "yes"})
    network.query(["rain", "slip"], {"wet": {"no": 0.5, "yes": 1.0}})
    network.predict_rows(pd.DataFrame({"wet": ["yes", None]}), "rain")
    np.ones(TOUCHED // 8)


def main(wanted: list[str]) -> None:
    lacking = [name for name in NETWORKS if file_of(name) is None]
    if lacking:
        print(f"no file for {', '.join(lacking)}: set MERULA_DATA to the folder that holds networks/*.bif, or install pgmpy")  # fmt: skip
    warm()
    print(f"{'work, seconds':58} {'merula':>11} {'peer':>11} {'ratio':>10}   bar")
    jobs: dict[str, Callable[[], list[Line]]] = {"queries": queries, "rows": rows}
    jobs |= {name: (link if name == "link" else lambda name=name: all_posteriors(name)) for name in NETWORKS}
    lines = []
    for name, job in jobs.items():
        if (not wanted or name in wanted) and (name not in NETWORKS or name not in lacking) and "alarm" not in lacking:
            for line in job():
                lines.append(line)
                print(line, flush=True)
    print(f"{sum(line.met for line in lines)} of {len(lines)} bars met")


if __name__ == "__main__":
    if sys.argv[1:] == ["--link-alone"]:
        link_alone()
    else:
        main(sys.argv[1:])
