"""Sound files of every kind that merula reads, which the attacks then damage; and some that were made to harm."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tests.attack.requests import write_bytes, write_requests

OLD = Path(__file__).parents[1] / "classify" / "old_files"
TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".csv.gz", ".jsonl.gz")
NETWORK_SUFFIXES = (".bif", ".xmlbif", ".net", ".xdsl", ".uai", ".json")


def write_seeds(folder: Path, readers: Sequence[str]) -> None:
    """One folder of files for each reader."""
    for reader in readers:
        (folder / reader).mkdir(parents=True)
        WRITERS[reader](folder / reader)


def rows():
    """A small table with every kind of column and missing cells."""
    import pandas as pd

    rng = np.random.default_rng(0)
    ill = rng.random(60) < 0.4
    table = pd.DataFrame(
        {
            "blood pressure": np.where(rng.random(60) < 0.1, np.nan, rng.normal(120 + 20 * ill, 10)).round(1),
            "visits": rng.poisson(1 + 2 * ill),
            "色泽": np.where(rng.random(60) < 0.2 + 0.6 * ill, "乌黑", "浅白"),
            "remark": rng.choice(["pain in the left knee", "feels well", "cough since last week", "no sleep"], 60),
            "seen on": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, 60), unit="D"),
        }
    )
    return table, np.where(ill, "ill", "healthy")


def _models(folder: Path) -> None:
    import merula as mr

    table, classes = rows()
    numbers = table[["blood pressure", "visits"]]
    some = {
        "naive": mr.NaiveBayesClassifier(kinds={"visits": "count", "remark": "text"}),
        "auto": mr.NaiveBayesClassifier(distributions="auto", kinds={"remark": "ignore"}),
        "level": mr.NaiveBayesClassifier(missing="level", kinds={"remark": "categorical"}),
    }
    for name, model in some.items():
        model.fit(table, classes).save(folder / f"{name}.merula")
    few = {
        "bayes": mr.BayesClassifier(),
        "kernel": mr.KernelBayesClassifier(),
        "neighbors": mr.NearestNeighborsClassifier(),
        "mixture": mr.NaiveBayesClassifier(distributions={"blood pressure": mr.GaussianMixture()}),
        "histogram": mr.NaiveBayesClassifier(distributions={"blood pressure": mr.Histogram()}),
        "kernels": mr.NaiveBayesClassifier(distributions={"blood pressure": mr.Kernel()}),
        "cut": mr.NaiveBayesClassifier(distributions={"blood pressure": mr.Discretized()}),
    }
    dependent = {
        "tree": mr.TANClassifier(),
        "tree-gaussian": mr.TANClassifier(numeric="gaussian"),
        "tree-weighted": mr.TANClassifier(weights="conditional"),
        "two-parents": mr.KDBClassifier(2),
        "selective": mr.KDBClassifier(2, select=True),
        "averaged": mr.AODEClassifier(subsumption=5, weights="out-of-fold"),
        "network": mr.BayesianNetworkClassifier(numeric="gaussian"),
        "log-linear": mr.LogLinearClassifier(max_rounds=10),
        "twin": mr.LogLinearClassifier("gaussian"),
        "pool": mr.AutoBayesClassifier(max_rounds=10),
    }
    for name, model in dependent.items():
        model.fit(table.drop(columns="remark"), classes).save(folder / f"{name}.merula")
    for name, model in few.items():
        model.fit(numbers.dropna(), classes[numbers.notna().all(axis=1)]).save(folder / f"{name}.merula")
    for old in OLD.glob("*.merula"):
        (folder / f"old-{old.name}").write_bytes(old.read_bytes())


def _tables(folder: Path) -> None:
    import pyarrow as pa

    from merula.data.table.write import write_table

    table, classes = rows()
    whole = pa.table({**{name: pa.array(table[name]) for name in table}, "ill": pa.array(classes)})
    for suffix in (".csv", ".tsv", ".jsonl", ".parquet", ".arrow"):
        write_table(whole, folder / f"rows{suffix}")
    with pa.OSFile(str(folder / "stream.arrow"), "wb") as file, pa.ipc.new_stream(file, whole.schema) as stream:
        stream.write_table(whole)
    nested = pa.table(
        {"marks": pa.array([[1, 2], [], None]), "bird": pa.array(["wren", "tit", None]).dictionary_encode()}
    )
    write_table(nested, folder / "nested.parquet")
    write_table(nested, folder / "nested.arrow")
    records = [{"size": 1.5, "bird": "wren"}, {"size": None, "bird": "tit"}]
    (folder / "list.json").write_text(json.dumps(records))
    (folder / "columns.json").write_text(json.dumps({"size": [1, 2, 3], "bird": ["wren", "tit", "owl"]}))
    (folder / "german.csv").write_bytes("Größe;Vogel\n1,5;Zaunkönig\n;Meise\n1.200,75;Uhu\n".encode())
    (folder / "quoted.csv").write_bytes(b'\xef\xbb\xbf"a ""b""","c\nd",e\n1,"x, y",2024-12-31\n2,"",2024-02-29\n')
    (folder / "sixteen.csv").write_bytes("size,bird\n1,wren\n2,tit\n".encode("utf-16"))


def _networks(folder: Path) -> None:
    import merula as mr

    network = (
        mr.BayesianNetwork()
        .add("age", ["≤ 40", "> 40"], [0.6, 0.4])
        .add("smoker", ["no", "yes"], [0.7, 0.3])
        .add("ill", ["no", "yes", "n/a"], [[[0.9, 0.1, 0], [0.5, 0.4, 0.1]], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]]], parents=["age", "smoker"])
        .add("cough (dry)", ["<=2", "(2,5]", "5+"], [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]], parents=["ill"])
    )  # fmt: skip
    for suffix in NETWORK_SUFFIXES:
        network.write(folder / f"stated{suffix}")
    table, classes = rows()
    levels = table[["色泽", "visits"]].assign(ill=classes, visits=table["visits"].astype(str))
    learned = mr.learn_structure(levels)
    for suffix in NETWORK_SUFFIXES:
        learned.write(folder / f"learned{suffix}")
    mr.learn_structure(table[["blood pressure", "visits"]].dropna().assign(ill=classes[table["blood pressure"].notna()]), numeric="gaussian").write(folder / "gaussian.json")  # fmt: skip
    mr.learn_structure(table[["blood pressure", "visits"]].dropna(), numeric="quantile").write(folder / "cut.json")


def _packed(folder: Path) -> None:
    """Packed files; among them some that are small and would unpack to more than memory may hold."""
    _tables(folder)
    _networks(folder)
    for path in list(folder.iterdir()):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()
    rows, zeros = gzip.compress(b"1,wren\n" * 10_000_000, 1, mtime=0), gzip.compress(bytes(100 << 20), 1, mtime=0)
    head = gzip.compress(b"size,bird\n", mtime=0)
    (folder / "bomb.csv.gz").write_bytes(head + rows * 25)  # 1.75 GB, in parts that each are small
    (folder / "endless.csv.gz").write_bytes(head + rows * 25 + rows[:-100])
    (folder / "zeros.bif.gz").write_bytes(zeros * 20)


def _costs(folder: Path) -> None:
    (folder / "costs.csv").write_text("action,healthy,ill\ntreat,1,0\nwait,0,5.5\nask,0.5,0.5\n")
    (folder / "own.csv").write_text("action;ill;healthy\nill;0;1,5\nhealthy;2,25;0\n")
    (folder / "costs.jsonl").write_text(
        '{"action": "treat", "healthy": 1, "ill": 0}\n{"action": "wait", "healthy": 0, "ill": 5}\n'
    )


def _streams(folder: Path) -> None:
    """Tables that are read in pieces, packed ones among them."""
    _tables(folder)
    for path in list(folder.iterdir()):
        if not path.name.startswith("rows"):
            path.unlink()
        elif path.suffix in (".csv", ".jsonl"):
            (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def _counts(folder: Path) -> None:
    import merula as mr

    table, classes = rows()
    table = table.drop(columns="remark").assign(ill=classes)
    kinds = {"naive": mr.NaiveBayesClassifier(), "tree": mr.TANClassifier(numeric="gaussian"), "full": mr.BayesClassifier(), "averaged": mr.AODEClassifier()}  # fmt: skip
    for name, model in kinds.items():
        columns = ["色泽", "ill"] if name == "full" else list(table)
        mr.count(table[columns], target="ill", model=model).save(folder / f"{name}.counts")


def _checkpoints(folder: Path) -> None:
    """What a fit keeps of its passes, not removed at its end."""
    from tests.attack.readers import TARGET, rows_of_checkpoints

    import merula as mr
    from merula.data.stream import lines
    from merula.engines.stream import checkpoint

    before = checkpoint.SECONDS, checkpoint.Checkpoint.remove, lines.BYTES
    checkpoint.SECONDS, lines.BYTES = 0.0, 2_000
    checkpoint.Checkpoint.remove = lambda _: None  # type: ignore[method-assign]
    try:
        mr.TANClassifier(numeric="gaussian").fit_table(rows_of_checkpoints(), TARGET, engine="stream", resume=folder / "tree.checkpoint")  # fmt: skip
    finally:
        checkpoint.SECONDS, checkpoint.Checkpoint.remove, lines.BYTES = before  # type: ignore[method-assign]


WRITERS = {
    "model": _models,
    "forged": _models,
    "network": _networks,
    "table": _tables,
    "packed": _packed,
    "costs": _costs,
    "stream": _streams,
    "counts": _counts,
    "checkpoint": _checkpoints,
    "request": write_requests,
    "http": write_bytes,
}
