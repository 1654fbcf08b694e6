"""Checkpoints that are damaged or say what no count could be: refused in one sentence, and never a model."""

import gzip

import pandas as pd
import pytest

import merula as mr
from merula.core.archive import read_state, write_state
from merula.data.stream import lines
from merula.engines.stream import checkpoint

ROWS = [f"{4 + k % 9}.5,{'wren' if k % 3 else 'tit'}" for k in range(400)]


@pytest.fixture
def table(tmp_path, monkeypatch):
    path = tmp_path / "birds.csv"
    path.write_text("\n".join(["wing,bird", *ROWS]) + "\n")
    monkeypatch.setattr(lines, "BYTES", 500)
    return path


@pytest.fixture
def kept(table, tmp_path, monkeypatch):
    """What a fit keeps on its way, not removed at its end."""
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    monkeypatch.setattr("merula.engines.stream.table.StreamedTable.finished", lambda self: None)
    mr.NaiveBayesClassifier().fit_table(table, "bird", resume=tmp_path / "so-far")
    return tmp_path / "so-far"


def test_one_that_is_sound_is_gone_on_with(table, kept):
    resumed = mr.NaiveBayesClassifier().fit_table(table, "bird", resume=kept)
    whole = mr.NaiveBayesClassifier().fit_table(table, "bird")
    rows = pd.DataFrame({"wing": [5.5, 9.0]})
    assert (resumed.predict_proba(rows) == whole.predict_proba(rows)).all()


@pytest.mark.parametrize(
    "damage",
    [
        lambda held: held.pop("rows"),
        lambda held: held.update(pieces=-1),
        lambda held: held.update(pieces="many"),
        lambda held: held["parts"][0][1].update(blocks=[]),
        lambda held: held["parts"][0][1]["class_counts"].update(weight=-held["parts"][0][1]["class_counts"]["weight"]),
        lambda held: held["parts"][0][1]["blocks"][0].update(weight=held["parts"][0][1]["blocks"][0]["weight"][:1]),
    ],
)
def test_what_no_count_could_be_is_refused(table, kept, damage):
    state = read_state(kept)
    for held in state["passes"].values():
        damage(held)
    write_state(kept, state)
    with pytest.raises(mr.InputError, match="so-far is no checkpoint of a fit, or a damaged one"):
        mr.NaiveBayesClassifier().fit_table(table, "bird", resume=kept)


def test_a_packed_file_that_is_damaged_is_refused(table):
    packed = bytearray(gzip.compress(table.read_bytes() * 3, mtime=0))
    packed[20] ^= 0xFF
    path = table.with_name("birds.csv.gz")
    path.write_bytes(packed)
    with pytest.raises(mr.InputError, match=r"birds.csv.gz is packed by gzip, but cut short or damaged"):
        mr.NaiveBayesClassifier().fit_table(path, "bird", engine="stream")
