"""Checkpoints that are damaged or say what no count could be: refused in one sentence, and never a model."""

import gzip

import numpy as np
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


class InterruptedFitError(Exception):
    """What ends a process."""


@pytest.fixture
def patients(tmp_path, monkeypatch):
    rng = np.random.default_rng(8)
    flu = rng.random(400) < 0.4
    columns = {f"symptom {k}": rng.choice(["no", "some", "much"], 400) for k in range(3)}
    numbers = {f"level {k}": (rng.normal(size=400) + k * flu).round(1) for k in range(3)}
    path = tmp_path / "patients.csv"
    pd.DataFrame({**columns, **numbers, "illness": np.where(flu, "flu", "cold")}).to_csv(path, index=False)
    monkeypatch.setattr(lines, "BYTES", 2_000)
    monkeypatch.setattr(checkpoint, "SECONDS", -1.0)
    return path


@pytest.fixture
def fitted_with_interruptions(patients, tmp_path, monkeypatch):
    """A function that fits a model, interrupted at every third piece."""
    keep, kept = checkpoint.Checkpoint.keep, []

    def interrupted(self, *given):
        keep(self, *given)
        kept.append(self)
        if len(kept) % 3 == 0:
            raise InterruptedFitError

    monkeypatch.setattr(checkpoint.Checkpoint, "keep", interrupted)

    def fitted(model):
        for _ in range(50):
            try:
                return model.fit_table(patients, "illness", resume=tmp_path / "so-far")
            except InterruptedFitError:
                continue
        raise AssertionError("the fit never came to its end")

    return fitted


DEEP = [{"k": 2}, {"k": 3, "smoothing": 1}, {"k": 2, "numeric": "gaussian"}, {"k": 2, "weights": "conditional"}]


@pytest.mark.parametrize("options", DEEP)
@pytest.mark.filterwarnings("ignore:the weights of columns were learned from")
def test_a_second_pass_that_is_interrupted_goes_on(patients, fitted_with_interruptions, options):
    resumed = fitted_with_interruptions(mr.KDBClassifier(**options))
    whole = mr.KDBClassifier(**options).fit_table(patients, "illness")
    rows = pd.read_csv(patients)
    assert (resumed.predict_proba(rows) == whole.predict_proba(rows)).all()


@pytest.mark.parametrize("numeric", ["quantile", "gaussian"])
def test_a_second_pass_that_counted_other_families_is_refused(patients, tmp_path, monkeypatch, numeric):
    monkeypatch.setattr("merula.engines.stream.table.StreamedTable.finished", lambda self: None)
    mr.KDBClassifier(2, numeric=numeric).fit_table(patients, "illness", resume=tmp_path / "so-far")
    state = read_state(tmp_path / "so-far")
    for held in state["passes"].values():
        for _, part in held["parts"]:
            for block in part["blocks"]:
                deep = block.get("deeper", [])  # where numbers are cut, a pass before counts no families
                for deeper in deep if isinstance(deep, list) else [deep]:
                    deeper["families"] = deeper["families"][:0]
    write_state(tmp_path / "so-far", state)
    with pytest.raises(mr.InputError, match="so-far is no checkpoint of a fit, or a damaged one"):
        mr.KDBClassifier(2, numeric=numeric).fit_table(patients, "illness", resume=tmp_path / "so-far")


def test_a_packed_file_that_is_damaged_is_refused(table):
    packed = bytearray(gzip.compress(table.read_bytes() * 3, mtime=0))
    packed[20] ^= 0xFF
    path = table.with_name("birds.csv.gz")
    path.write_bytes(packed)
    with pytest.raises(mr.InputError, match=r"birds.csv.gz is packed by gzip, but cut short or damaged"):
        mr.NaiveBayesClassifier().fit_table(path, "bird", engine="stream")
