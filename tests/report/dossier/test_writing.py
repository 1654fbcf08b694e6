"""Dossiers of models of every shape and of tables of every kind: they are written, and come back from JSON as they were."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import GaussianNB

import merula as mr
from merula.report.dossier import Dossier
from merula.report.dossier.writing import written

BIRDS = pd.read_csv(mr.__path__[0] + "/data/penguins.csv")
SPECIES = BIRDS.pop("species")
NUMBERS = BIRDS[["bill_length_mm", "body_mass_g"]].fillna(0)
COSTS = {"release": {"Adelie": 0, "Chinstrap": 5, "Gentoo": 5}, "ring": {"Adelie": 1, "Chinstrap": 0, "Gentoo": 0}}
NAIVE = mr.NaiveBayesClassifier
TABLES = {
    "columns in another order": (NAIVE(), BIRDS, BIRDS[BIRDS.columns[::-1]]),
    "polars": (NAIVE(), pl.from_pandas(BIRDS), pl.from_pandas(BIRDS)),
    "an array": (NAIVE(), NUMBERS.to_numpy(), NUMBERS.to_numpy()),
    "columns by number": (NAIVE(), pd.DataFrame(NUMBERS.to_numpy()), pd.DataFrame(NUMBERS.to_numpy())),
    "counted words": (NAIVE(kinds="text"), sp.csr_matrix(NUMBERS.to_numpy().astype(int)), sp.csr_matrix(NUMBERS.to_numpy().astype(int))),
    "missing as a level": (NAIVE(missing="level"), BIRDS, BIRDS),
    "costs": (mr.DecisionClassifier(NAIVE(), costs=COSTS, reject_cost=0.5), BIRDS, BIRDS),
    "calibrated": (mr.CalibratedClassifier(NAIVE()), BIRDS, BIRDS),
    "a tree": (mr.TANClassifier(), BIRDS, BIRDS),
    "neighbours": (mr.NearestNeighborsClassifier(), BIRDS, BIRDS),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_it_is_written_and_read_again(name, tmp_path):
    model, learned, asked = TABLES[name]
    path = tmp_path / "dossier.json"
    found = mr.write_dossier(model.fit(learned, SPECIES), asked, SPECIES, path, cv=2, repeats=1, label="Gentoo", progress=False)  # fmt: skip
    again = Dossier.from_dict(json.loads(path.read_text(encoding="utf-8")))
    assert again.to_dict() == found.to_dict()
    assert written(again, ".md") == written(found, ".md") and "bit for bit" in found.origin.refitted
    assert ("It holds 344 rows" in written(found, ".md")) == (name == "neighbours")


def test_weights_count_as_repeated_rows(tmp_path):
    often = np.arange(344) % 3
    model = NAIVE().fit(BIRDS, SPECIES, often)
    found = mr.write_dossier(model, BIRDS, SPECIES, tmp_path / "d.md", cv=2, repeats=1, sample_weight=often, progress=False)  # fmt: skip
    assert found.model.rows == often.sum() and sum(one.rows for one in found.performance.bins) == pytest.approx(
        often.sum()
    )


def test_rows_without_a_class_are_told_of(tmp_path):
    model = NAIVE().fit(BIRDS[::2], SPECIES[::2], unlabelled=BIRDS[1::2], unlabelled_weight=1)
    for one in (model, model.faded(0.5)):
        found = mr.write_dossier(one, BIRDS[::2], SPECIES[::2], tmp_path / "d.md", cv=2, repeats=1, progress=False)
        text = written(found, ".md")
        share = one.fitted_.collected.shared
        assert f"It learned from {344 * share / 172:g} rows, of which {share:g} had no class." in text
        assert found.origin.refitted.startswith("The model has learned from rows without a class too")
    assert "had no class" not in written(mr.write_dossier(NAIVE().fit(BIRDS, SPECIES), BIRDS, SPECIES, tmp_path / "d.md", cv=2, repeats=1, progress=False), ".md")  # fmt: skip


@pytest.mark.parametrize("model", [NAIVE(), GaussianNB(), GaussianNB().fit(NUMBERS, SPECIES)], ids=["unfitted", "other", "other, fitted"])  # fmt: skip
def test_what_is_no_fitted_classifier_of_merula_is_refused(model, tmp_path):
    with pytest.raises(mr.InputError, match="expected a fitted classifier of merula"):
        mr.write_dossier(model, NUMBERS, SPECIES, tmp_path / "d.md")


def test_a_pool_says_what_it_is_made_of(tmp_path):
    model = mr.AutoBayesClassifier(1, max_rounds=20).fit(BIRDS, SPECIES)
    found = mr.write_dossier(model, BIRDS, SPECIES, tmp_path / "d.md", cv=2, repeats=1, progress=False)
    parts = {part: (weight, loss) for part, weight, loss, _ in found.model.parts}
    assert set(parts) == {*model.parts_, "all together", "class frequencies"}
    for name in model.parts_:
        assert parts[name] == (model.weights_[name], model.out_of_fold_[name][0])
    text = (tmp_path / "d.md").read_text(encoding="utf-8")
    assert "The parts of the pool" in text and "distribution |" not in text
