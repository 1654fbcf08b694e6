"""For whom a model is good, and what acting on it is worth: on the page, in JSON and in notebooks as the evaluation says it."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.core import InputError
from merula.report import findings_html
from merula.report.findings import Findings, findings_of

HOSTILE = "<script>alert('größe')</script>"


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(5)
    ill = rng.random(160) < 0.4
    table = pd.DataFrame(
        {
            "blood pressure": rng.normal(np.where(ill, 150, 125), 12),
            "ward": rng.choice(["north", "south", HOSTILE], 160),
            "sex": np.where(rng.random(160) < 0.5, 0.0, 1.0),
        }
    )
    table.loc[:3, "ward"] = None
    return table, np.where(ill, "ill", "healthy")


@pytest.fixture(scope="module")
def report(patients, tmp_path_factory):
    table, truth = patients
    path = tmp_path_factory.mktemp("report") / "patients.html"
    models = {"naive": mr.NaiveBayesClassifier(), "jointly": mr.BayesClassifier()}
    options = {"cv": 4, "repeats": 1, "by": ["ward", "sex"], "min_rows": 12, "progress": False, "learning_curve": False}
    return mr.write_report(models, table, truth, path, **options), path.read_text(encoding="utf-8")


def drawn(page, key):
    """The values that a chart of the page is drawn from."""
    spec = json.loads(re.search(rf'id="chart-{key}".*?class="spec">(.*?)</script>', page, re.DOTALL)[1])
    return [one for values in spec["datasets"].values() for one in values]


def test_the_page_tells_every_subgroup_as_the_evaluation_does(report):
    found, page = report
    groups = found.evaluation.by()
    assert 'id="groups"' in page and "For whom is it good?" in page
    assert found.evaluation.min_rows == 12 and groups.too_few
    for group in groups:
        for figure in ("log_loss", "error"):
            assert f'data-value="{group.figures[figure].value}"' in page
        for one in group.observed["ill"].low, group.expected["ill"]:
            assert f"{one:.4f}" in page
    for few in groups.too_few:
        assert few.split(" = ")[0] in page
    assert "Of subgroups with fewer than 12 rows nothing is told" in page
    assert HOSTILE not in page and "ward = north" in page and "sex = 1</th>" in page  # 1.0 is 1
    told = {one["value"] for one in drawn(page, "subgroups") if "group" in one}
    assert told == {float(f"{group.figures['log_loss'].value:.6g}") for group in groups}


def test_the_decision_curve_is_drawn_and_told(report):
    found, page = report
    curve = found.evaluation.decision_curve()
    assert 'id="chart-decision"' in page
    values = drawn(page, "decision")
    for name, exact in (*curve.models.items(), ("act always", curve.always), ("act never", 0 * curve.always)):
        found = [one["benefit"] for one in values if one["model"] == name]
        assert found == pytest.approx(exact, rel=1e-5, abs=1e-9)


def test_json_holds_subgroups_and_decision_curves(report, patients):
    found, page = report
    plain = json.loads(json.dumps(found.evaluation.to_dict(), allow_nan=False))
    assert [one["model"] for one in plain["subgroups"]] == ["naive", "jointly"]
    told, own = plain["subgroups"][0]["groups"][0], found.evaluation.by().groups[0]
    assert told["confidence"]["observed"] == list(own.confidence.observed)  # calibration
    (curve,) = plain["decision_curves"]
    assert curve["label"] == "ill" and set(curve["models"]) == {"naive", "jointly"} and len(curve["always"]) == 99
    assert findings_html(Findings.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))) == page
    birds = mr.evaluate(mr.NaiveBayesClassifier(), patients[0][["blood pressure"]], np.resize(["wren", "tit", "rook"], 160), cv=3, repeats=1)  # fmt: skip
    assert [one["label"] for one in birds.to_dict()["decision_curves"]] == ["rook", "tit", "wren"]
    assert 'id="chart-decision"' not in findings_html(findings_of(birds))
    assert 'id="groups"' not in findings_html(findings_of(birds))


def test_notebooks_show_the_subgroups_too(report):
    found, _ = report
    shown = found.evaluation._repr_html_()
    assert shown.count("by ward, sex") == 2 and HOSTILE not in shown and "sex = 0" in shown


def test_how_to_get_it_again_says_by(report, patients, tmp_path):
    assert "by=['ward', 'sex'], min_rows=12" in report[0].origin.python[-1].replace("repeats=1, ", "").replace("learning_curve=False, ", "")  # fmt: skip
    table, truth = patients
    given = {"by": {"floor": ["first", "second"] * 80}}
    found = mr.write_report(mr.NaiveBayesClassifier(), table, truth, tmp_path / "a.html", cv=3, repeats=1, learning_curve=False, progress=False, **given)  # fmt: skip
    assert "by=by" in found.origin.python[-1] and "floor = first" in (tmp_path / "a.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="by is given beside evaluation"):
        mr.write_report(mr.NaiveBayesClassifier(), table, truth, tmp_path / "b.html", evaluation=found.evaluation, by="sex")  # fmt: skip


def test_the_command_takes_by(tmp_path, patients):
    from typer.testing import CliRunner

    from merula.cli.app import app

    table, truth = patients
    table.assign(state=truth).to_csv(tmp_path / "patients.csv", index=False)
    typed = ["report", str(tmp_path / "patients.csv"), "--target", "state", "--model", "naive", "--cv", "3", "--no-learning-curve", "--by", "sex"]  # fmt: skip
    done = CliRunner().invoke(app, [*typed, "-o", str(tmp_path / "report.html")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "For whom is it good?" in page and "--by sex" in page
