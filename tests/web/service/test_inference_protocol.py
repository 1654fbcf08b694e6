"""The Open Inference Protocol, version 2."""

import gzip
import json

import pytest
from tests.web.service.conftest import penguins

import merula as mr

INFER = "/v2/models/penguins/infer"


def tensors(table):
    rows = {name: json.loads(table[name].to_json(orient="values")) for name in table}  # fmt: skip
    kinds = {name: "BYTES" if table[name].dtype.kind not in "if" else "FP64" for name in table}
    return [{"name": name, "shape": [len(table)], "datatype": kinds[name], "data": rows[name]} for name in table]


def test_the_server_and_its_models_tell_of_themselves(service):
    assert service.json("/v2")[1]["name"] == "merula"
    assert service.json("/v2/health/live")[1] == {"live": True}
    assert service.json("/v2/health/ready")[1] == {"ready": True}
    told = service.json("/v2/models/penguins")[1]
    assert told["name"] == "penguins" and told["platform"] == "merula"
    assert {"name": "island", "datatype": "BYTES", "shape": [-1]} in told["inputs"]
    assert {"name": "bill_length_mm", "datatype": "FP64", "shape": [-1]} in told["inputs"]
    (version,) = told["versions"]
    assert service.json(f"/v2/models/penguins/versions/{version}/ready")[1] == {"name": "penguins", "ready": True}
    assert service.json("/v2/models/penguins/versions/other/ready")[0] == 404
    assert service.json("/v2/models/none/ready")[0] == 404


def test_tensors_by_column(service, models):
    table = penguins()[0][:50]
    model = mr.load(models["penguins"])
    expected = model.predict_proba(table)
    status, found = service.json(INFER, {"id": "seven", "inputs": tensors(table)})
    assert status == 200 and found["id"] == "seven" and found["model_name"] == "penguins"
    posterior, classes = found["outputs"]
    assert posterior == {"name": "posterior", "shape": [50, 3], "datatype": "FP64", "data": expected.ravel().tolist()}
    assert classes["data"] == model.classes_[expected.argmax(axis=1)].tolist()
    one = service.json(INFER, {"inputs": tensors(table), "outputs": [{"name": "class"}]})[1]
    assert [output["name"] for output in one["outputs"]] == ["class"]
    version = found["model_version"]
    assert service.json(f"/v2/models/penguins/versions/{version}/infer", {"inputs": tensors(table)})[0] == 200


def test_one_tensor_of_rows_and_columns(service, models):
    table = penguins()[0].select_dtypes("number").dropna()[:20]
    expected = mr.load(models["numbers"]).predict_proba(table).ravel().tolist()
    for data in (table.to_numpy().tolist(), table.to_numpy().ravel().tolist()):
        tensor = {"name": "input-0", "shape": list(table.shape), "datatype": "FP64", "data": data}
        assert service.json("/v2/models/numbers/infer", {"inputs": [tensor]})[1]["outputs"][0]["data"] == expected


@pytest.mark.parametrize(
    "asked",
    [
        {}, {"inputs": []}, {"inputs": [{"name": "island"}]}, {"inputs": [{"name": "island", "shape": [2], "datatype": "BYTES", "data": ["Dream"]}]},
        {"inputs": [{"name": "island", "shape": [-1], "datatype": "BYTES", "data": ["Dream"]}]}, {"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP64", "data": [1, 2]}]},
        {"inputs": [{"name": "island", "shape": [1], "datatype": "COMPLEX", "data": ["Dream"]}]}, {"inputs": [{"name": "island", "shape": [1], "datatype": "BYTES", "data": [{}]}]},
        {"inputs": [{"name": "island", "shape": [1], "datatype": "BYTES", "data": ["Dream"]}], "outputs": [{"name": "colour"}]},
        {"inputs": [{"name": "island", "shape": [1, 1, 1], "datatype": "BYTES", "data": ["Dream"]}]}, {"inputs": [{"name": "x", "shape": [1], "datatype": "FP64", "data": [1]}]},
        {"inputs": 2 * [{"name": "island", "shape": [1], "datatype": "BYTES", "data": ["Dream"]}]}, {"inputs": [{"name": "bill_length_mm", "shape": [1], "datatype": "FP64", "data": ["long"]}]},
    ],
)  # fmt: skip
def test_requests_that_are_none(service, asked):
    status, told = service.json(INFER, asked)
    assert status == 422 and isinstance(told["error"], str), told


def test_tensors_come_packed_by_gzip_alone(service):
    body = json.dumps({"inputs": tensors(penguins()[0][:3])}).encode()
    plain = service.json(INFER, body)
    assert plain[0] == 200
    assert service.json(INFER, gzip.compress(body), content_encoding="gzip") == plain
    assert service.json(INFER, body, content_encoding="br")[0] == 415
