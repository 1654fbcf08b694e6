"""Cuts of intervals keep all their digits in every format: a value at a cut, and one step beside it, stays on its side."""

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.core import InputError
from merula.data.intervals import interval_labels
from merula.graphs.formats import read_nodes, write_nodes
from merula.graphs.formats.network_files import FORMATS

SUFFIXES = [*FORMATS, ".bif.gz"]
CUTS = (1 / 3, 100 / 7, 1e6 / 7)  # none of them has six digits


def stated(cuts, name="größe, cm"):
    """A network whose discretizer has exactly these cuts."""
    network = mr.BayesianNetwork().add(name, interval_labels(cuts), np.full(len(cuts) + 1, 1 / (len(cuts) + 1)))
    network.add("ill", ["no", "yes"], np.linspace([0.9, 0.1], [0.2, 0.8], len(cuts) + 1), parents=[name])
    network.discretizer_ = mr.Discretizer(method="width").fit(pd.DataFrame({name: np.arange(9.0)}))
    network.discretizer_.cuts_ = {name: cuts}
    return network


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_value_beside_a_cut_stays_on_its_side(suffix, tmp_path):
    network = stated(CUTS)
    network.write(tmp_path / f"patients{suffix}")
    again = mr.read_network(tmp_path / f"patients{suffix}")
    assert again.discretizer_.cuts_["größe, cm"] == CUTS
    for cut in CUTS:
        for value in (np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf)):
            given = {"größe, cm": float(value)}
            assert again.query("ill", given).values.tolist() == network.query("ill", given).values.tolist()
            rows = pd.DataFrame({"größe, cm": [value]})
            assert again.predict_rows(rows, "ill").tolist() == network.predict_rows(rows, "ill").tolist()
    below, above = ({"größe, cm": float(np.nextafter(CUTS[0], side))} for side in (-np.inf, np.inf))
    assert again.query("ill", below)["no"] != again.query("ill", above)["no"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_written_twice_it_is_the_same(suffix, tmp_path):
    stated(CUTS).write(tmp_path / f"patients{suffix}")
    first = (tmp_path / f"patients{suffix}").read_bytes()
    mr.read_network(tmp_path / f"patients{suffix}").write(tmp_path / f"patients{suffix}")
    if not suffix.startswith(".json"):  # which also keeps the options of the discretizer
        assert (tmp_path / f"patients{suffix}").read_bytes() == first


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_without_exact_cuts_go_on_loading(suffix, tmp_path):
    network = stated(CUTS)
    write_nodes(list(network._nodes.values()), tmp_path / f"old{suffix}")
    again = mr.read_network(tmp_path / f"old{suffix}")
    assert again.discretizer_ is None
    assert again.query("ill", {"größe, cm": 0.2}).values.tolist() == network.query("ill", {"größe, cm": 0.2}).values.tolist()  # fmt: skip
    assert len(read_nodes(tmp_path / f"old{suffix}")) == 2


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".net", ".xdsl", ".uai", ".json"])
@pytest.mark.parametrize("forged", ["nan", "1e999", "5.0", "word", "0.3", "0.1"])
def test_forged_cuts_are_refused(suffix, forged, tmp_path):
    path = tmp_path / f"forged{suffix}"
    stated((1 / 3, 2 / 3)).write(path)
    text = path.read_text()
    assert repr(2 / 3) in text
    written = {"nan": "NaN", "1e999": "1e999", "word": '"word"'}.get(forged, forged) if suffix == ".json" else forged
    path.write_text(text.replace(repr(2 / 3), written))
    with pytest.raises(InputError, match="cuts|kept|keeps"):
        mr.read_network(path) if forged != "5.0" else mr.read_network(_longer(path, suffix))


def _longer(path, suffix):
    """A file with one cut too many."""
    separator = ", " if suffix == ".json" else ","
    path.write_text(path.read_text().replace(f"{separator}5.0", f"{separator}5.0{separator}6.0"))
    return path


def test_other_programs_read_the_file(tmp_path):
    pgmpy = pytest.importorskip("pgmpy.readwrite")
    network = stated(CUTS, "height")
    expected = network.query("ill").values
    for suffix, reader in {".bif": pgmpy.BIFReader, ".xmlbif": pgmpy.XMLBIFReader, ".net": pgmpy.NETReader}.items():
        network.write(tmp_path / f"patients{suffix}")
        model = reader(str(tmp_path / f"patients{suffix}")).get_model()
        table = model.get_cpds("ill").to_factor().product(model.get_cpds("height").to_factor(), inplace=False)
        assert table.marginalize(["height"], inplace=False).values == pytest.approx(expected)


def test_learned_cuts_survive_every_format(tmp_path):
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"mass": rng.normal(4000, 800, 300), "year": 2007.0})
    table["species"] = np.where(table["mass"] + rng.normal(0, 300, 300) > 4100, "gentoo", "adelie")
    network = mr.learn_structure(table, numeric="mdl", target="species")
    cuts = network.discretizer_.cuts_["mass"]
    asked = pd.DataFrame(
        {"mass": [side for cut in cuts for side in (np.nextafter(cut, 0), cut, np.nextafter(cut, 1e9))]}
    )
    for suffix in SUFFIXES:
        network.write(tmp_path / f"penguins{suffix}")
        again = mr.read_network(tmp_path / f"penguins{suffix}")
        assert again.predict_rows(asked, "species").tolist() == network.predict_rows(asked, "species").tolist()
        assert again.query("species", {"year": 1950}).values.tolist() == network.query("species").values.tolist()
