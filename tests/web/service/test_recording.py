"""What a service answered is recorded before it is sent, to the byte, and reproduced from the record alone."""

import gzip
import io
import json
import threading

import pytest
from tests.web.service.conftest import messy, penguins, running

from merula.cli.jobs.reproducing import reproduce
from merula.core import InputError
from merula.core.journal import read_journal

ROW = {"island": "Dream", "bill_length_mm": 43.5, "sex": None}
ROWS = [ROW, {"island": "Atlantis", "year": 2008}, {}]


@pytest.fixture
def log(tmp_path):
    return tmp_path / "answers.log"


def recorded(log):
    return [dict(entry.told) for entry in read_journal(log)]


def post(service, path, body, **headers):
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, _, answer = service.ask("POST", path, sent, **headers)
    assert status == 200, answer
    return answer


def test_every_verb_and_model_is_recorded_and_reproduced(models, log):
    table, _ = messy()
    rows = json.loads(table[:20].to_json(orient="records", date_format="iso"))
    sent = []
    with running(models, record=str(log)) as service:
        for name in ("penguins", "tree", "gaps", "priced", "glass"):
            sent.append(post(service, f"/v1/models/{name}/predict", ROW, content_type="application/json"))
            sent += [post(service, f"/v1/models/{name}/{verb}", {"rows": ROWS}) for verb in ("predict", "decide", "explain")]  # fmt: skip
        sent.append(post(service, "/v1/models/priced/question", ROW))
        sent.append(post(service, "/v1/models/messy/predict", rows))
        sent.append(post(service, "/v1/models/messy/predict", rows, accept="text/csv"))
        sent.append(post(service, "/v1/models/words/predict", {"columns": {"free": [1, 0], "entry": [0, 3]}}))
        sent.append(post(service, "/v1/models/zeros/predict", {"colour": "blue", "shape": "round"}))
        sent.append(post(service, "/v1/models/garden/query", {"given": {"grass": "wet"}}))
        tensors = {"inputs": [{"name": "body_mass_g", "shape": [2], "datatype": "FP64", "data": [3750, None]}]}
        sent.append(post(service, "/v2/models/penguins/infer", tensors))
    found = recorded(log)
    assert [entry["answered"].encode() for entry in found] == sent
    assert found[0]["asked"]["body"] == json.dumps(ROW)
    again = reproduce(str(log), [str(path) for path in models.values()])
    assert again.told() and (again.asked, again.same, again.wrong) == (len(sent), len(sent), [])


def test_tables_in_every_format_packed_and_in_pieces_are_reproduced(models, log):
    pa = pytest.importorskip("pyarrow")
    table, _ = penguins()
    many = pa.Table.from_pandas(table.iloc[list(range(344)) * 60], preserve_index=False)
    csv, sink = table.to_csv(index=False).encode(), io.BytesIO()
    with pa.ipc.new_stream(sink, many.schema) as writer:
        writer.write_table(many)
    with running({"penguins": models["penguins"]}, record=str(log)) as service:
        path = "/v1/models/penguins/predict"
        sent = [
            post(service, path, gzip.compress(csv), content_type="text/csv", content_encoding="gzip"),
            post(service, f"{path.replace('predict', 'explain')}?label=Gentoo&top=2", csv[:300].rpartition(b"\n")[0], content_type="text/csv", accept="application/json"),
            post(service, path, sink.getvalue(), content_type="application/vnd.apache.arrow.stream"),
            post(service, path, sink.getvalue(), content_type="application/vnd.apache.arrow.stream", accept="application/json"),
        ]  # fmt: skip
    found = recorded(log)
    assert [len(entry["answered"]) if isinstance(entry["answered"], str) else "bytes" for entry in found] == [len(sent[0]), len(sent[1]), "bytes", len(sent[3])]  # fmt: skip
    again = reproduce(str(log), [str(models["penguins"])])
    assert (again.asked, again.same, again.wrong) == (4, 4, [])


def test_requests_at_the_same_time_are_all_recorded(models, log):
    with running({"penguins": models["penguins"]}, record=str(log)) as service:
        body = json.dumps(ROW).encode()
        path = "/v1/models/penguins/predict"
        threads = [threading.Thread(target=lambda: [post(service, path, body) for _ in range(10)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(recorded(log)) == 40 and not any(entry.broken for entry in read_journal(log))


def test_what_is_refused_is_not_recorded_and_nothing_is_unless_it_is_asked_for(models, log, tmp_path):
    with running({"penguins": models["penguins"]}, record=str(log)) as service:
        assert service.json("/v1/models/penguins/predict", {"blood pressure": 120})[0] == 422
        assert service.json("/v1/models")[0] == 200
    assert recorded(log) == []
    with running({"penguins": models["penguins"]}) as service:
        post(service, "/v1/models/penguins/predict", ROW)
    assert list(tmp_path.iterdir()) == [log]


def test_an_answer_that_cannot_be_recorded_is_not_given(models, log):
    with running({"penguins": models["penguins"]}, record=str(log)) as service:
        log.unlink()
        log.mkdir()
        status, told = service.json("/v1/models/penguins/predict", ROW)
    assert status == 500 and "posterior" not in told


def test_a_model_that_was_swapped_is_told_apart(models, log, tmp_path):
    file = tmp_path / "birds.merula"
    file.write_bytes(models["penguins"].read_bytes())
    with running({"birds": file}, record=str(log)) as service:
        post(service, "/v1/models/birds/predict", ROW)
        before = service.service.shelf.models["birds"].hash
        (tmp_path / "new").write_bytes(models["tree"].read_bytes())
        (tmp_path / "new").replace(file)
        for _ in range(200):
            if service.service.shelf.models["birds"].hash != before:
                break
            threading.Event().wait(0.05)
        post(service, "/v1/models/birds/predict", ROW)
    assert reproduce(str(log), [str(models["penguins"]), str(file)]).is_sound
    again = reproduce(str(log), [str(file)])
    assert [line for line, _ in again.wrong] == [1] and "another model" in again.wrong[0][1]


def test_a_file_that_is_no_record_stops_the_service_from_starting(models, tmp_path):
    (tmp_path / "cells.csv").write_text("patient\n1\n")
    with (
        pytest.raises(InputError, match="is no record of answers"),
        running({"penguins": models["penguins"]}, record=str(tmp_path / "cells.csv")),
    ):
        pass
