"""Labels, levels and columns that strangers chose, through every writer and back: what is read is what was written."""

import json

import pyarrow as pa
import pytest

import merula as mr
from merula.data.table import read_table
from merula.data.table.write import WRITERS, write_table

LABELS = [
    "=cmd|'/c calc'!A0", "@SUM(1)", "+1", "-1+2", "a,b", 'say "so"', "it's", "two\nlines", "tab\tbed", "a;b", "<=50K", "(1,2]",
    "</script>", "&amp;", "]]>", "<!--", "back\\slash", "\\", "'", '"', "{", "}", "[x]", "a|b", "a/b", "//", "/* x */", "#", "%s", "{0}", "${x}",
    "constructor", "__proto__", "NaN", "null", "true", "n/a", "größe", "色泽", "שלום", "\u202egnp", "👩\u200d🔬", " lead", "trail ", "\x85", "\x9b31m",
]  # fmt: skip
TIDIED = set("\n\t\u202e\x85\x9b")  # in names and cells of CSV, or in names alone
NETWORKS = (".bif", ".xmlbif", ".net", ".xdsl", ".uai", ".json")


@pytest.mark.parametrize("suffix", [s for s in WRITERS if s not in (".ndjson", ".feather")])
def test_tables(tmp_path, suffix):
    typed = suffix in (".csv", ".tsv")
    words = [label for label in LABELS if not typed or (label.strip() == label and not TIDIED & set(label))]
    table = pa.table({f"={word}": [word, f"x{word}"] for word in words})
    write_table(table, tmp_path / f"t{suffix}")
    meant = ["NaN", "null", "n/a"]  # as they are written here
    assert read_table(tmp_path / f"t{suffix}", words=table.column_names, keep=meant).to_pydict() == table.to_pydict()


@pytest.mark.parametrize("suffix", NETWORKS)
def test_networks(tmp_path, suffix):
    network = mr.BayesianNetwork()
    levels = [[f"{label}", "other"] for label in LABELS]
    for k, label in enumerate(LABELS):
        network.add(
            label,
            levels[k],
            [0.25, 0.75] if not k else [[0.125, 0.875], [0.5, 0.5]],
            parents=[LABELS[k - 1]] if k else [],
        )
    network.write(tmp_path / f"n{suffix}")
    again = mr.read_network(tmp_path / f"n{suffix}")
    assert list(again.variables) == LABELS
    assert {name: list(again.levels[name]) for name in LABELS} == dict(zip(LABELS, levels, strict=True))
    last = [[value for _, value in one.query(LABELS[-1])] for one in (again, network)]
    assert last[0] == pytest.approx(last[1], rel=1e-12)


@pytest.mark.filterwarnings("ignore:.*read as missing:UserWarning")
def test_models(tmp_path):
    rows = pa.table({label: [label, "other"] * len(LABELS) for label in LABELS})
    model = mr.NaiveBayesClassifier().fit(rows, [label for label in LABELS for _ in "ab"])
    model.save(tmp_path / "m.merula")
    again = mr.load(tmp_path / "m.merula")
    assert again.classes_.tolist() == sorted(LABELS)
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()
    assert json.loads(json.dumps(mr.explain(again, rows.slice(0, 1)).to_dict()))["classes"] == sorted(LABELS)
