"""Everything that is said is what the JSON Schema says; the description of the service is valid and needs nothing from elsewhere."""

import json
import re

import pytest
from jsonschema import Draft202012Validator
from tests.web.service.conftest import COSTS, messy, penguins

SCHEMA = None


def validator(service, name):
    schema = service.json("/v1/schema.json")[1]
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator({"$ref": f"#/$defs/{name}", **schema})


ROWS = [{"island": "Dream", "bill_length_mm": 43.5}, {"island": "Mars"}, {}]
SAID = [
    ("Prediction", "/v1/models/penguins/predict", ROWS),
    ("Prediction", "/v1/models/penguins/predict", ROWS[0]),
    ("Prediction", "/v1/models/numbers/predict", {"body_mass_g": 4_000}),
    ("Prediction", "/v1/models/zeros/predict", {"colour": "red", "shape": "long"}),
    ("Decision", "/v1/models/priced/decide", ROWS),
    ("Decision", "/v1/models/penguins/decide", {"rows": ROWS, "costs": COSTS, "reject_cost": 0.2}),
    ("Explanations", "/v1/models/penguins/explain", ROWS),
    ("Explanations", "/v1/models/glass/explain", {"rows": ROWS, "top": 2}),
    ("Explanations", "/v1/models/tree/explain", ROWS[:1]),
    ("Explanations", "/v1/models/zeros/explain", {"colour": "red", "shape": "long"}),
    ("Explanations", "/v1/models/zeros/explain", {"colour": "red"}),
    ("Questions", "/v1/models/penguins/question", ROWS),
    ("Questions", "/v1/models/penguins/question", {"row": {}, "prices": {"sex": 0.1}}),
    ("NetworkAnswer", "/v1/models/garden/query", {}),
    ("NetworkAnswer", "/v1/models/garden/query", {"given": {"grass": ["wet"]}, "do": {"rain": "no"}}),
    ("NetworkAnswer", "/v1/models/garden/query", {"variables": ["rain", "sprinkler"]}),
    ("NetworkAnswer", "/v1/models/garden/query", {"ask": "most_probable"}),
    ("NetworkAnswer", "/v1/models/garden/query", {"ask": "probability", "given": {"grass": {"wet": 0.5, "dry": 1}}}),
    ("NetworkAnswer", "/v1/models/garden/query", {"ask": "markov_blanket", "variables": "rain"}),
    ("ModelList", "/v1/models", None),
    ("Health", "/healthz", None),
    ("Health", "/readyz", None),
    ("Error", "/v1/models/none/metadata", None),
    ("Error", "/nothing", None),
    ("Error", "/v1/models/penguins/predict", {"bill_length_mm": "long"}),
    ("Error", "/v1/models/garden/query", {"given": {"rain": "perhaps"}}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "asked"), SAID)
def test_answers_are_what_the_schema_says(service, name, path, asked):
    _, found = service.json(path, asked)
    validator(service, name).validate(found)
    if name not in ("Health", "Error"):
        assert found["version"] == 1


def test_metadata_of_every_model_are_what_the_schema_says(service, models):
    valid = validator(service, "Metadata")
    for name in models:
        found = service.json(f"/v1/models/{name}/metadata")[1]
        valid.validate(found)
        assert found["name"] == name and str(models[name].parent) not in json.dumps(found)


def test_requests_are_what_the_schema_says(service):
    asked, query = validator(service, "Asked"), validator(service, "QueryAsked")
    asked.validate({"rows": ROWS, "costs": COSTS, "reject_cost": 0.2})
    query.validate({"given": {"grass": "wet"}, "ask": "posteriors"})
    assert list(asked.iter_errors({"rows": 3})) and list(query.iter_errors({"ask": "everything"}))


def test_a_schema_tells_what_is_not_said(service):
    found = service.json("/v1/models/penguins/predict", ROWS)[1]
    valid = validator(service, "Prediction")
    for broken in (
        {**found, "posterior": [[2.0]]},
        {**found, "hash": "x"},
        {k: v for k, v in found.items() if k != "classes"},
    ):
        assert list(valid.iter_errors(broken))


def test_openapi_is_valid_and_its_examples_are_answered(service):
    document = service.json("/openapi.json")[1]
    assert document["openapi"] == "3.1.0"
    for name, schema in document["components"]["schemas"].items():
        Draft202012Validator.check_schema(schema)
        assert name
    references = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document)))
    names = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references <= names
    operations = [told["operationId"] for path in document["paths"].values() for told in path.values()]
    assert len(set(operations)) == len(operations)
    for path, held in document["paths"].items():
        for method, told in held.items():
            assert {"summary", "responses"} <= told.keys() and told["responses"]["200"]["description"]
            assert ("{name}" in path) == any(one["in"] == "path" for one in told.get("parameters", ()))
            if method == "get":
                status = service.ask("GET", path.replace("{name}", "penguins"))[0]
                assert status == 200, path
    for verb in ("predict", "decide", "explain", "question"):
        content = document["paths"][f"/v1/models/{{name}}/{verb}"]["post"]["requestBody"]["content"]
        for name, example in content["application/json"]["examples"].items():
            assert service.json(f"/v1/models/penguins/{verb}", example["value"])[0] == 200, (verb, name)
    query = document["paths"]["/v1/models/{name}/query"]["post"]["requestBody"]["content"]["application/json"]
    assert service.json("/v1/models/garden/query", query["example"])[0] == 200
    infer = document["paths"]["/v2/models/{name}/infer"]["post"]["requestBody"]["content"]["application/json"]
    assert service.json("/v2/models/penguins/infer", infer["example"])[0] == 200


def test_pages_ask_nothing_of_anybody(service):
    for path in ("/docs", "/"):
        status, headers, body = service.ask("GET", path)
        assert status == 200 and headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in headers["content-security-policy"]
        text = body.decode()
        assert "<script" not in text and not re.search(r'(src|href)="(https?:)?//', text)
    assert "/models/penguins" in service.ask("GET", "/")[2].decode()
    assert service.ask("GET", "/models/penguins")[0] == 200


def test_no_answer_tells_a_path(service, models):
    folder = str(models["penguins"].parent)
    for path in ("/", "/docs", "/openapi.json", "/v1/models", "/metrics", "/v1/schema.json", "/v2"):
        assert folder not in service.ask("GET", path)[2].decode()


def test_what_was_counted(models):
    from tests.web.service.conftest import running

    table, _ = messy()
    with running({"messy": models["messy"], "penguins": models["penguins"]}) as one:
        one.json("/v1/models/penguins/predict", {"island": "Dream"})
        one.json(
            "/v1/models/penguins/predict", [{"island": "Dream", "sex": "male"}, {"island": "Mars"}, {"island": "Dream"}]
        )
        one.json("/v1/models/penguins/predict", b"{")
        one.json("/v1/models/messy/predict", json.loads(table.to_json(orient="records", date_format="iso")))
        one.ask("GET", "/v1/models/none/metadata")
        found = one.metrics()
    requests = {key: value for key, value in found.items() if key.startswith("merula_requests_total")}
    assert requests == {
        'merula_requests_total{route="/v1/models/{name}/predict",status="200"}': 3,
        'merula_requests_total{route="/v1/models/{name}/predict",status="422"}': 1,
        'merula_requests_total{route="/v1/models/{name}/metadata",status="404"}': 1,
    }
    assert found['merula_request_seconds_count{route="/v1/models/{name}/predict"}'] == 4
    assert found['merula_request_seconds_bucket{route="/v1/models/{name}/predict",le="+Inf"}'] == 4
    assert found['merula_rows_total{model="penguins",verb="predict"}'] == 4
    assert found['merula_rows_total{model="messy",verb="predict"}'] == 200
    assert found['merula_cells_missing_total{model="penguins",column="sex"}'] == 3
    assert found['merula_cells_missing_total{model="messy",column="größe"}'] == table["größe"].isna().sum()
    assert found['merula_cells_unseen_total{model="penguins",column="island"}'] == 1
    assert found['merula_notes_total{model="penguins",kind="unseen"}'] == 1
    assert 'merula_cells_missing_total{model="penguins",column="island"}' not in found
    assert penguins is not None
