"""Files that change while they are served: a sound one is swapped in whole, a broken one refused while the old one goes on."""

import hashlib
import json
import os
import shutil
import threading
import time

import numpy as np
import pytest
from tests.web.service.conftest import penguins, running

import merula as mr

ROW = {"island": "Dream", "bill_length_mm": 43.5}


@pytest.fixture
def served(models, tmp_path):
    path = tmp_path / "penguins.merula"
    shutil.copy(models["penguins"], path)
    with running({"penguins": path}) as one:
        yield one, path


def until(condition):
    for _ in range(200):
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def replaced(path, data):
    """A file written beside, and renamed."""
    other = path.with_name("other")
    other.write_bytes(data)
    os.replace(other, path)


def test_answers_carry_the_hash_of_the_file(served):
    one, path = served
    assert one.json("/v1/models/penguins/predict", ROW)[1]["hash"] == hash_of(path)
    _, headers, _ = one.ask("POST", "/v1/models/penguins/predict", json.dumps([ROW, ROW]).encode())
    assert headers["merula-hash"] == hash_of(path)


def test_a_changed_file_is_swapped_in(served, models):
    one, path = served
    replaced(path, models["gaps"].read_bytes())
    until(lambda: one.json("/v1/models")[1]["models"][0]["hash"] == hash_of(models["gaps"]))
    found = one.json("/v1/models/penguins/predict", ROW)[1]
    assert found["hash"] == hash_of(models["gaps"])
    assert found["posterior"] == [mr.explain(mr.load(models["gaps"]), ROW).posterior.tolist()]
    counted = one.metrics()
    assert counted['merula_model_files_total{model="penguins",outcome="swapped"}'] == 1
    assert "model swapped" in "".join(one.lines) or until(lambda: "model swapped" in "".join(one.lines))


@pytest.mark.parametrize("how", ["nothing", "half", "noise", "another kind", "gone", "folder"])
def test_a_broken_file_is_refused_and_the_old_model_goes_on(served, models, how):
    one, path = served
    before, sound = one.json("/v1/models/penguins/predict", ROW)[1], path.read_bytes()
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how != "gone":
        content = {
            "nothing": b"",
            "half": sound[: len(sound) // 2],
            "noise": bytes(1_000),
            "another kind": b"a,b\n1,2\n",
        }[how]
        path.write_bytes(content)
    problem = until(lambda: one.json("/v1/models/penguins/metadata")[1]["problem"])
    assert "goes on answering" in problem and str(path.parent) not in problem
    assert one.json("/v1/models/penguins/predict", ROW)[1] == before
    assert one.metrics()['merula_model_problem{model="penguins"}'] == 1
    until(lambda: "model refused" in "".join(one.lines))
    assert str(path.parent) not in "".join(one.lines)
    if how == "folder":
        path.rmdir()
    replaced(path, models["gaps"].read_bytes())
    until(lambda: one.json("/v1/models/penguins/metadata")[1]["problem"] is None)
    assert one.json("/v1/models/penguins/predict", ROW)[1]["hash"] == hash_of(models["gaps"])


def test_no_answer_is_half_of_one_model_and_half_of_another(served, models):
    """Batches that stream while files are swapped: each answer is all of the model whose hash it carries."""
    one, path = served
    table = penguins()[0]
    files = [models["penguins"].read_bytes(), models["gaps"].read_bytes()]
    expected = {
        hash_of(models[name]): np.tile(mr.load(models[name]).predict_proba(table), (60, 1))[:, :].tolist()
        for name in ("penguins", "gaps")
    }
    stop = threading.Event()

    def swap():
        turn = 0
        while not stop.wait(0.1):
            turn += 1
            replaced(path, files[turn % 2] if turn % 3 else b"broken")

    thread = threading.Thread(target=swap)
    thread.start()
    body = json.dumps({name: json.loads(table[name].to_json(orient="values")) * 60 for name in table.columns}).encode()
    try:
        seen = set()
        for _ in range(30):
            status, found = one.json("/v1/models/penguins/predict", body)
            assert status == 200 and found["posterior"] == expected[found["hash"]]
            seen.add(found["hash"])
    finally:
        stop.set()
        thread.join()
    assert len(seen) == 2


def test_a_service_does_not_start_without_its_models(models, tmp_path):
    from merula.core import InputError
    from merula.web.service import Service, Settings, named_files

    broken = tmp_path / "broken.merula"
    broken.write_bytes(b"broken")
    for path in (broken, tmp_path / "none.merula"):
        with pytest.raises((InputError, FileNotFoundError)):
            Service(named_files([str(models["penguins"]), str(path)]), Settings())
