"""Rows asked about over HTTP: the very bits of the library, in every format, with what is to be known beside them."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.web.service.conftest import COSTS, messy, penguins

import merula as mr
from merula.core.notes import kept_back

ARROW, CSV, LINES = "application/vnd.apache.arrow.stream", "text/csv", "application/x-ndjson"


def plain_rows(table):
    """Rows as JSON has them."""
    return json.loads(table.to_json(orient="records", date_format="iso"))


def stream(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("name", ["penguins", "tree", "strict", "gaps", "glass", "priced"])
def test_posteriors_are_the_librarys_bit_for_bit(service, models, name):
    table, _ = penguins()
    model = mr.load(models[name])
    expected, rows = model.predict_proba(table), plain_rows(table)
    status, found = service.json(f"/v1/models/{name}/predict", rows)
    assert status == 200
    assert found["posterior"] == expected.tolist()
    assert found["class"] == model.classes_[expected.argmax(axis=1)].tolist()
    for index in range(0, len(rows), 29):
        one = service.json(f"/v1/models/{name}/predict", rows[index])[1]
        assert one["posterior"] == model.predict_proba(table.iloc[[index]]).tolist()


def test_every_shape_of_json_is_read_alike(service, models):
    table, _ = penguins()
    rows = plain_rows(table[:40])
    names = list(table.columns)
    shapes = [
        rows,
        {"rows": rows},
        {name: [row[name] for row in rows] for name in names},
        {"columns": {name: [row[name] for row in rows] for name in names}},
        {"columns": names, "rows": [[row[name] for name in names] for row in rows]},
    ]
    expected = mr.load(models["penguins"]).predict_proba(table[:40]).tolist()
    for shape in shapes:
        assert service.json("/v1/models/penguins/predict", shape)[1]["posterior"] == expected
    assert service.json("/v1/models/penguins/predict", {"row": rows[0]})[1]["posterior"] == expected[:1]


def test_numbers_alone_take_the_fast_way_to_the_same_answers(service, models):
    table, _ = penguins()
    table = pd.concat([table.select_dtypes("number")] * 60, ignore_index=True)  # more than one block of rows
    expected = mr.load(models["numbers"]).predict_proba(table).tolist()
    rows, names = plain_rows(table), list(table.columns)
    for shape in (rows, {"columns": names, "rows": [list(row.values()) for row in rows]}):
        found = service.json("/v1/models/numbers/predict", shape)[1]
        assert found["posterior"] == expected
        assert set(found["class"]) == {0, 1}


@pytest.mark.parametrize("sent", ["csv", "lines", "arrow", "arrow file", "parquet", "tsv", "csv.gz"])
def test_rows_come_in_every_format(service, models, sent):
    table, _ = penguins()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    text = table.to_csv(index=False).encode()
    file, parquet = io.BytesIO(), io.BytesIO()
    with pa.ipc.new_file(file, arrow.schema) as writer:
        writer.write_table(arrow)
    table.to_parquet(parquet)
    import gzip

    body, media, extra = {
        "csv": (text, CSV, {}),
        "tsv": (table.to_csv(index=False, sep="\t").encode(), "text/tab-separated-values", {}),
        "csv.gz": (gzip.compress(text), CSV, {"content_encoding": "gzip"}),
        "lines": ("\n".join(map(json.dumps, plain_rows(table))).encode(), LINES, {}),
        "arrow": (stream(arrow), ARROW, {}),
        "arrow file": (file.getvalue(), "application/vnd.apache.arrow.file", {}),
        "parquet": (parquet.getvalue(), "application/vnd.apache.parquet", {}),
    }[sent]
    status, headers, found = service.ask("POST", "/v1/models/penguins/predict", body, content_type=media, accept="application/json", **extra)  # fmt: skip
    assert (status, headers["content-type"]) == (200, "application/json")
    assert json.loads(found)["posterior"] == mr.load(models["penguins"]).predict_proba(table).tolist()


def answered_table(body, media):
    if media == ARROW:
        return pa.ipc.open_stream(body).read_all().to_pandas()
    if media == CSV:
        return pd.read_csv(io.BytesIO(body))
    return pd.DataFrame([json.loads(line) for line in body.splitlines()])


@pytest.mark.parametrize("media", [CSV, LINES, ARROW])
@pytest.mark.parametrize("times", [1, 60])  # 60: more than one block, so that answers come in pieces
def test_answers_go_in_every_format(service, models, media, times):
    table = pd.concat([penguins()[0]] * times, ignore_index=True)
    table.loc[3, "island"] = "Atlantis"
    body = stream(pa.Table.from_pandas(table, preserve_index=False))
    status, headers, found = service.ask("POST", "/v1/models/priced/decide", body, content_type=ARROW, accept=media)
    assert status == 200 and headers["content-type"].startswith(media)
    assert ("transfer-encoding" in headers) == (times > 1)
    model = mr.load(models["priced"])
    with kept_back():
        expected = model.predict_proba(table)
    answers = answered_table(found, media)
    assert (answers[[f"P({label})" for label in model.classes_]].to_numpy() == expected).all()
    assert (answers["class"] == model.classes_[expected.argmax(axis=1)]).all()
    assert (answers["action"] == mr.decide(expected, COSTS, classes=model.classes_)).all()
    told = answers["notes"].dropna()
    assert list(told.index) == [3] and "'Atlantis'" in told[3]


def test_json_in_pieces_is_one_document(service, models):
    table = pd.concat([penguins()[0]] * 60, ignore_index=True)
    body = stream(pa.Table.from_pandas(table, preserve_index=False))
    _, headers, found = service.ask("POST", "/v1/models/penguins/predict", body, content_type=ARROW, accept="application/json")  # fmt: skip
    assert "transfer-encoding" in headers
    data = json.loads(found)
    assert data["posterior"] == mr.load(models["penguins"]).predict_proba(table).tolist()
    assert len(data["class"]) == len(table)


def test_the_answer_comes_as_the_rows_came_unless_another_is_asked_for(service):
    body = penguins()[0][:3].to_csv(index=False).encode()
    path = "/v1/models/penguins/predict"
    assert service.ask("POST", path, body, content_type=CSV)[1]["content-type"].startswith(CSV)
    wished = "text/html, application/json;q=0.5, text/csv;q=0.2"
    assert service.ask("POST", path, body, content_type=CSV, accept=wished)[1]["content-type"] == "application/json"
    assert service.ask("POST", path, body, content_type=CSV, accept="image/png")[0] == 406
    assert service.ask("POST", path.replace("predict", "explain"), body, content_type=CSV, accept=CSV)[0] == 406


def test_words_are_read_as_at_fit(service, models):
    table, _ = messy()
    model = mr.load(models["messy"])
    with kept_back():
        expected = model.predict_proba(table)
    rows = plain_rows(table)
    found = service.json("/v1/models/messy/predict", rows)[1]
    assert found["posterior"] == expected.tolist()
    assert service.json("/v1/models/messy/predict", rows[7])[1]["posterior"] == [expected[7].tolist()]
    csv = table.assign(**{"seen on": table["seen on"].dt.strftime("%Y-%m-%d")}).to_csv(index=False).encode()
    body = service.ask("POST", "/v1/models/messy/predict", csv, content_type=CSV, accept="application/json")[2]
    assert json.loads(body)["posterior"] == expected.tolist()
    other = {"bill": "€1,200.00"}
    status, told = service.json("/v1/models/messy/predict", other)
    assert status == 422 and "'bill'" in told["error"]


def test_a_word_that_names_a_number_or_a_level(service, models):
    model = mr.load(models["messy"])
    for row in ({"ward": "2"}, {"ward": 2}, {"smokes": "Yes"}, {"smokes": "TRUE"}, {"bill": 1200.5}, {"smokes": "NA"}):
        with kept_back():
            expected = mr.explain(model, row).posterior.tolist()
        assert service.json("/v1/models/messy/predict", row)[1]["posterior"] == [expected], row


def test_times_in_a_zone_are_read(service):
    """As JavaScript writes them."""
    found = [
        service.json("/v1/models/messy/predict", {"seen on": word})[1]["posterior"]
        for word in ("2024-02-01", "2024-02-01T00:00:00.000Z", "2024-02-01T02:00:00+02:00", "2024-02-01 00:00")
    ]
    assert found[0] == found[1] == found[2] == found[3]
    rows = [{"seen on": "2024-02-01T00:00:00.000Z"}, {"seen on": "2024-02-01"}]
    assert service.json("/v1/models/messy/predict", rows)[1]["posterior"] == 2 * found[0]


def test_counted_words(service, models):
    model = mr.load(models["words"])
    rows = [{"free": 3, "hello": 1}, {"entry": 2}]
    expected = model.predict_proba(pd.DataFrame([[3, 0, 1], [0, 2, 0]], columns=["free", "entry", "hello"]))
    assert service.json("/v1/models/words/predict", rows)[1]["posterior"] == expected.tolist()


def test_notes_stand_beside_answers(service):
    rows = [{"island": "Dream"}, {"island": "Mars"}, {"island": "Mars", "sax": "male"}]
    found = service.json("/v1/models/penguins/predict", rows)[1]
    unseen, ignored = sorted(found["notes"], key=lambda note: note["kind"], reverse=True)
    assert (unseen["kind"], unseen["column"], unseen["rows"], unseen["count"]) == ("unseen", "island", [1, 2], 2)
    assert ignored["kind"] == "ignored" and "did you mean 'sex'" in ignored["text"]
    status, told = service.json("/v1/models/strict/predict", rows)
    assert status == 422 and "'Mars'" in told["error"]


def test_rows_that_are_impossible_are_told(service):
    rows = [{"colour": "red", "shape": "round"}, {"colour": "red", "shape": "long"}]  # no fruit is red and long
    found = service.json("/v1/models/zeros/predict", rows)[1]
    assert found["posterior"] == [[1.0, 0.0], [0.4, 0.6]]  # certain; and the prior
    (note,) = found["notes"]
    assert (note["kind"], note["rows"], note["count"]) == ("impossible", [1], 1)
    assert service.json("/v1/models/zeros/predict", rows[1])[1]["notes"][0]["kind"] == "impossible"
    told = service.json("/v1/models/zeros/explain", rows[1])[1]["answers"][0]
    assert told["zero_evidence"] and told["log_joint"] == ["-inf", "-inf"]


def test_decisions_are_the_librarys(service, models):
    table, _ = penguins()
    model, rows = mr.load(models["priced"]), plain_rows(table)
    proba = model.predict_proba(table)
    found = service.json("/v1/models/priced/decide", rows)[1]
    assert found["action"] == mr.decide(proba, COSTS, classes=model.classes_).tolist()
    risks = mr.conditional_risk(proba, COSTS, classes=model.classes_)
    assert np.allclose(found["risk"], risks.min(axis=1), rtol=0, atol=1e-12)
    plain = service.json("/v1/models/penguins/decide", rows)[1]
    assert plain["action"] == plain["class"]
    asked = {"rows": rows, "costs": COSTS, "reject_cost": 0.01}
    found = service.json("/v1/models/penguins/decide", asked)[1]
    expected = mr.decide(proba, COSTS, 0.01, classes=model.classes_)
    assert found["action"] == expected.tolist()
    assert found["rejected"] == np.flatnonzero(expected == "reject").tolist() and found["rejected"]


def test_costs_may_stand_in_the_address(service, models):
    from urllib.parse import quote

    table, _ = penguins()
    path = f"/v1/models/penguins/decide?costs={quote(json.dumps(COSTS))}&reject_cost=0.01"
    body = table.to_csv(index=False).encode()
    found = json.loads(service.ask("POST", path, body, content_type=CSV, accept="application/json")[2])
    proba = mr.load(models["penguins"]).predict_proba(table)
    assert found["action"] == mr.decide(proba, COSTS, 0.01, classes=found["classes"]).tolist()


def test_classes_that_are_numbers_are_known_by_their_text(service):
    asked = {"row": {"body_mass_g": 5000}, "costs": {"act": {"0": 1, "1": 0}, "wait": {"0": 0, "1": 9}}}
    status, found = service.json("/v1/models/numbers/decide", asked)
    assert status == 200 and found["actions"] == ["act", "wait"]
    for label in (1, "1"):
        told = service.json("/v1/models/numbers/explain", {"row": {"body_mass_g": 5000}, "label": label})[1]
        assert told["answers"][0]["label"] == 1


def test_explanations_are_the_librarys(service, models):
    table, _ = penguins()
    model, rows = mr.load(models["penguins"]), plain_rows(table[:3])
    found = service.json("/v1/models/penguins/explain", {"rows": rows, "label": "Gentoo", "against": "Adelie"})[1]
    for index, told in enumerate(found["answers"]):
        expected = mr.explain(model, table.iloc[[index]], "Gentoo", "Adelie")
        assert told["posterior"] == expected.posterior.tolist()
        reasons = told["derivations"][0]["reasons"]
        assert [reason["evidence"] for reason in reasons] == [reason.evidence for reason in expected.reasons]
    few = service.json("/v1/models/penguins/explain?top=2", rows[0])[1]["answers"][0]["derivations"][0]["reasons"]
    assert len(few) == 3  # two, and the others together
    lines = service.ask("POST", "/v1/models/penguins/explain", json.dumps(rows).encode(), content_type="application/json", accept=LINES)  # fmt: skip
    assert [json.loads(line)["label"] for line in lines[2].splitlines()] == ["Adelie"] * 3


def test_many_explanations_come_in_pieces(service):
    rows = plain_rows(penguins()[0][:150])
    _, headers, body = service.ask("POST", "/v1/models/penguins/explain", json.dumps(rows).encode(), content_type="application/json")  # fmt: skip
    assert "transfer-encoding" in headers and len(json.loads(body)["answers"]) == 150


def test_questions_are_the_librarys(service, models):
    row, prices = {"island": "Dream", "bill_length_mm": 43.5}, {"sex": 0.01}
    expected = mr.next_question(mr.load(models["penguins"]), row, COSTS, prices)
    found = service.json("/v1/models/penguins/question", {"row": row, "costs": COSTS, "prices": prices})[1]
    (told,) = found["answers"]
    assert told["risk"] == expected.risk
    assert told["questions"] == [vars(question) for question in expected]
    body = pd.DataFrame([row]).reindex(columns=penguins()[0].columns).to_csv(index=False).encode()
    table = service.ask("POST", "/v1/models/penguins/question", body, content_type=CSV, accept="application/json")[2]
    assert json.loads(table)["answers"][0]["questions"][0]["column"] == mr.next_question(mr.load(models["penguins"]), row)[0].column  # fmt: skip


def test_what_a_model_cannot_answer_is_told(service):
    status, told = service.json("/v1/models/gaps/question", {"island": "Dream"})
    assert status == 422 and "missing" in told["error"]
    assert service.json("/v1/models/garden/predict", {"rain": "yes"})[0] == 422
    assert service.json("/v1/models/penguins/query", {})[0] == 422


@pytest.mark.parametrize(
    "body",
    [
        b"", b"   ", b"{", b"[]", b"null", b"3", b'"rows"', b"[1, 2]", b'{"rows": 3}', b'{"island": {"a": 1}}', b'{"rows": [{"island": [1]}]}', b'{"columns": ["a"], "rows": [[1, 2]]}',
        b'{"island": ["Dream"], "sex": ["male", "female"]}', b"\xff\xfe\x00", b'{"bill_length_mm": "long"}', b'{"bill_length_mm": ' + b"9" * 400 + b"}",
        b"[" * 100_000, b'{"row": {"island": "Dream"}, "label": "Dodo"}', b'{"row": {}, "cost": 1}', b'{"rows": [{}], "costs": {"x": {"Adelie": 1}}}',
        b'{"rows": [{}], "top": 3}', b'{"bill_length_mm": NaN}', b'{"bill_length_mm": 1e999}', b'{"columns": ["sex", "sex"], "rows": [["male", "male"]]}',
    ],
)  # fmt: skip
def test_bad_rows_are_one_sentence(service, body):
    for verb in ("predict", "decide", "explain", "question"):
        status, told = service.json(f"/v1/models/penguins/{verb}", body)
        if status == 200:  # what is stated there belongs to that verb, or the row is sound
            assert verb in ("explain", "question", "decide") and b'"top"' in body
            continue
        assert status == 422, (verb, told)
        assert told["error"] and "\n" not in told["error"] and "Traceback" not in told["error"]


@pytest.mark.parametrize(
    "media", [CSV, ARROW, LINES, "application/vnd.apache.parquet", "application/vnd.apache.arrow.file"]
)
def test_damaged_tables_are_refused(service, media):
    body = stream(pa.Table.from_pandas(penguins()[0], preserve_index=False))
    for data in (body[: len(body) // 2] if media != CSV else b"\x00\x01\x02", b"PK\x03\x04 no workbook"):
        status, told = service.json("/v1/models/penguins/predict", data, content_type=media)
        assert status in (413, 422) and told["error"]


def test_tables_lack_no_column(service):
    body = penguins()[0].drop(columns="island").to_csv(index=False).encode()
    status, told = service.json("/v1/models/penguins/predict", body, content_type=CSV, accept="application/json")
    assert status == 422 and "'island'" in told["error"]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([["Dream"], ["Biscoe"]]),
        pa.array([[("Dream", 1)], []], pa.map_(pa.string(), pa.int8())),
        pa.array([b"Dream" + bytes(11)] * 2, pa.uuid()),
    ],
    ids=lambda cells: str(cells.type),
)
def test_cells_that_are_no_words_are_refused(service, cells):
    table = pa.table({name: cells if name == "island" else pa.nulls(2) for name in penguins()[0].columns})
    status, _, body = service.ask("POST", "/v1/models/penguins/predict", stream(table), content_type=ARROW, accept="application/json")  # fmt: skip
    assert status == 422 and json.loads(body)["where"] == "column 'island'"


@pytest.mark.parametrize("media", ["application/vnd.apache.parquet", "application/vnd.apache.arrow.file", "text/tab-separated-values"])  # fmt: skip
def test_formats_that_are_read_alone_are_not_answered_by_others(service, media):
    row = b'{"island": "Dream"}'
    assert service.ask("POST", "/v1/models/penguins/predict", row, accept=media)[0] == 406
    assert service.ask("POST", "/v1/models/penguins/predict", row, accept=f"{media}, */*;q=0.1")[0] == 200


def test_the_address_states_each_thing_once(service):
    status, told = service.json("/v1/models/penguins/explain?label=Gentoo&label=Adelie", {"island": "Dream"})
    assert (status, told["where"]) == (422, "label")


@pytest.mark.parametrize("nothing", [{"rows": []}, {"columns": ["island"], "rows": []}, {"columns": {}}, []])
def test_no_rows_are_told_as_such(service, nothing):
    status, told = service.json("/v1/models/penguins/predict", nothing)
    assert (status, told["error"]) == (422, "there are no rows")


@pytest.mark.parametrize("word", ["NaN", "-Infinity"])
def test_who_writes_what_json_has_not_is_told_what_to_write(service, word):
    status, told = service.json("/v1/models/penguins/predict", f'{{"bill_length_mm": {word}}}'.encode())
    assert status == 422 and told["remedy"].startswith("write null")
