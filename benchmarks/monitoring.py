"""Does `monitor` cry wolf, does it see what it should, and do its prevalence intervals cover? By simulation.

Run `python benchmarks/monitoring.py alarms power coverage` (some minutes), or `real` for halves of real tables, whose folder MERULA_DATA
names, else ../shared/data.
"""

import argparse
import json
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import merula as mr

THEN, NOW = 2_000, 1_000  # rows
TOWNS = 150


def patients(rows, rng, prevalence=(0.5, 0.3, 0.2), without=0.05, towns=True):
    """A table of numbers, skewed numbers, few and many levels, with missing cells; and the class of each row."""
    labels = rng.choice(3, rows, p=prevalence)
    shares = np.array([[0.5, 0.3, 0.15, 0.05], [0.2, 0.3, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4]])
    size = 1 / np.arange(1, TOWNS + 1)
    table = pd.DataFrame(
        {
            "temperature": rng.normal(np.array([36.8, 37.6, 38.5])[labels], 0.7),
            "blood pressure": rng.normal(np.array([120.0, 125, 110])[labels], 15.0),
            "waiting time": rng.gamma(2.0, np.array([10.0, 12, 15])[labels]),
            "pulse": rng.poisson(np.array([70.0, 80, 95])[labels]).astype(float),
            "cough": [["none", "dry", "wet", "severe"][rng.choice(4, p=shares[k])] for k in labels],
            "town": np.array([f"town {k}" for k in range(TOWNS)])[rng.choice(TOWNS, rows, p=size / size.sum())],
        }
    ).astype({"cough": object, "town": object})
    for name in ("temperature", "cough"):
        table.loc[rng.random(rows) < without, name] = None
    return table if towns else table.drop(columns="town"), np.array(["well", "cold", "flu"])[labels]


MODELS = {
    "naive, numbers kept": (mr.NaiveBayesClassifier(), True),
    "naive, moments alone": (mr.NaiveBayesClassifier(), False),
    "tan, numbers cut": (mr.TANClassifier(), False),
    "log-linear": (mr.LogLinearClassifier("gaussian"), True),
    "nearest neighbours": (mr.NearestNeighborsClassifier(), False),
}


def false_alarms(streams):
    print(f"\nFalse alarms in {streams} streams without change: {THEN} rows then, {NOW} now, at 5 % over all tests")
    for name, (model, reference) in MODELS.items():
        alarms, doubts = np.zeros((2, streams)), np.zeros((2, streams))
        for seed in range(streams):
            rng = np.random.default_rng(seed)
            fitted = model.fit(*patients(THEN, rng), reference=reference)
            table, classes = patients(NOW, rng)
            for known in (0, 1):
                found = mr.monitor(fitted, table, classes if known else None)
                alarms[known, seed], doubts[known, seed] = found.changed, bool(found.doubts)
        rate, error = alarms.mean(axis=1), np.sqrt(0.05 * 0.95 / streams)
        print(f"  {name:22} without classes {rate[0]:.3f}, with classes {rate[1]:.3f} (0.05 ± {1.96 * error:.3f}); in doubt {doubts.mean(axis=1).round(3).tolist()}", flush=True)  # fmt: skip


def shifted(table, classes, what, rng):
    """The same rows with one thing changed."""
    table = table.copy()
    if what.startswith("temperature"):
        table["temperature"] += float(what.split()[2]) * 0.95  # about one standard deviation over all classes
    elif what == "new level in 2 % of rows":
        table.loc[rng.random(len(table)) < 0.02, "cough"] = "whooping"
    elif what == "missing in 5 % more rows":
        table.loc[rng.random(len(table)) < 0.05, "temperature"] = None
    elif what == "classes exchanged in 10 % of rows":
        classes = np.where(rng.random(len(table)) < 0.1, rng.permutation(classes), classes)
    return table, classes


def power(streams):
    print(f"\nFound, of {streams} streams with one change ({NOW} rows now)")
    kinds = ["temperature + 1.0 σ", "temperature + 0.2 σ", "new level in 2 % of rows", "missing in 5 % more rows"]
    for name, (model, reference) in list(MODELS.items())[:3]:
        for what in kinds:
            hits = 0
            for seed in range(streams):
                rng = np.random.default_rng(10_000 + seed)
                fitted = model.fit(*patients(THEN, rng, towns=False), reference=reference)
                table, _ = shifted(*patients(NOW, rng, towns=False), what, rng)
                column = "cough" if "level" in what else "temperature"
                hits += column in [change.of for change in mr.monitor(fitted, table).changes]
            print(f"  {name:22} {what:28} {hits / streams:.3f}", flush=True)


SKEWED = {"distributions": {"waiting time": "histogram", "count": "poisson"}, "kinds": {"pulse": "count"}}
NORMAL = {"distributions": {"count": "poisson"}, "kinds": {"pulse": "count"}}
RARE = (0.95, 0.03, 0.02)


def coverage(streams):
    """Of models whose densities are all but the true ones, of one that misses a shape, and of models that learned from few rows."""
    print(f"\n95 % intervals of prevalences without classes, {streams} streams each: covered")
    shaped, normal = (mr.NaiveBayesClassifier(**how).fit(*patients(200_000, np.random.default_rng(1), towns=False)) for how in (SKEWED, NORMAL))  # fmt: skip
    for rows, prevalence in ((200, RARE), (1_000, RARE)):
        covered("200,000 rows learned", lambda _: shaped, rows, prevalence, streams)
    for rows, prevalence in ((1_000, RARE), (10_000, (0.5, 0.3, 0.2))):
        covered("2,000 rows learned", few, rows, prevalence, streams)
    for rows in (200, 1_000):
        covered("skew taken for normal", lambda _: normal, rows, RARE, streams)
    for prevalence in ((0.5, 0.3, 0.2), (0.2, 0.2, 0.6)):
        for rows in (200, 1_000):
            covered("200,000 rows learned", lambda _: shaped, rows, prevalence, streams)


def few(seed):
    """A model of its own for each stream, so that what it learned varies too."""
    return mr.NaiveBayesClassifier(**SKEWED).fit(*patients(THEN, np.random.default_rng(50_000 + seed), towns=False))


def covered(name, model, rows, prevalence, streams):
    held, differs = np.zeros(3), 0
    for seed in range(streams):
        found = mr.monitor(model(seed), patients(rows, np.random.default_rng(20_000 + seed), prevalence, towns=False)[0])  # fmt: skip
        shares = [found.prevalence[label] for label in ("well", "cold", "flu")]
        held += [one.low <= truth <= one.high for one, truth in zip(shares, prevalence, strict=True)]
        differs += found.tests["classes"] <= 0.05
    print(f"  {name:21} {prevalence} in {rows:6,} rows: {(held / streams).round(3).tolist()}; change of classes told in {differs / streams:.3f}", flush=True)  # fmt: skip


def halves_of_real_tables(streams):
    streams = max(1, streams // 20)
    folder = Path(os.environ.get("MERULA_DATA", "../shared/data"))
    meta = json.loads((folder / "meta.json").read_text())
    print(f"\nRandom halves of real tables, {streams} times each: alarms and doubts without classes, with classes")
    models = {"naive": mr.NaiveBayesClassifier(), "tan": mr.TANClassifier(), "auto": mr.AutoBayesClassifier(effort=0.02, max_rounds=40)}  # fmt: skip
    for name, model in models.items():
        total, count = np.zeros(4), 0
        for file in ("credit-g.csv", "diabetes.csv", "heart-cleveland.csv", "car.csv", "breast-w.csv", "cmc.csv"):
            table = pd.read_csv(folder / file)
            classes = table.pop(meta[file]["target"]).astype(str).to_numpy()
            for seed in range(streams):
                order = np.random.default_rng(seed).permutation(len(table))
                then, now = np.array_split(order, 2)
                fitted = model.fit(table.iloc[then], classes[then], reference=True)
                each = [mr.monitor(fitted, table.iloc[now], known) for known in (None, classes[now])]
                total += [each[0].changed, bool(each[0].doubts), each[1].changed, bool(each[1].doubts)]
                count += 1
        print(f"  {name:6} {(total / count).round(3).tolist()} of {count}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = {"alarms": false_alarms, "power": power, "coverage": coverage, "real": halves_of_real_tables}
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["alarms", "power", "coverage"], choices=parts)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--model", choices=MODELS)
    asked = parser.parse_args()
    if asked.model:
        MODELS = {asked.model: MODELS[asked.model]}
    for part in asked.parts:
        parts[part](asked.streams)
