"""How much is taken on: bodies, rows, heads, slow and vanishing clients, more work than there are places for."""

import contextlib
import json
import socket
import threading
import time

import pytest
from tests.web.service.conftest import running

PATH = "/v1/models/penguins/predict"


@pytest.fixture(scope="module")
def narrow(models):
    limits = {"max_body": 20_000, "max_rows": 50, "timeout": 1.0, "concurrent": 1, "waiting": 1, "connections": 40}
    with running({name: models[name] for name in ("penguins", "garden")}, **limits) as one:
        yield one


def head(length, extra=b""):
    return b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%s\r\n" % (PATH.encode(), length, extra)  # fmt: skip


def test_bodies_that_are_too_large(narrow):
    for body in (b" " * 20_001, b"[" + b" " * 10_000_000 + b"]"):
        status, told = narrow.json(PATH, body)
        assert status == 413 and "20,000 bytes" in told["error"]
    chunks = b"POST %s HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n" % PATH.encode()
    assert (
        b" 413 " in narrow.raw(chunks + 30 * (b"3e8\r\n" + b" " * 1_000 + b"\r\n") + b"0\r\n\r\n").partition(b"\r\n")[0]
    )
    assert narrow.json(PATH, {})[0] == 200


def test_packed_bodies_that_become_too_large(narrow, monkeypatch):
    import gzip

    monkeypatch.setenv("MERULA_MOST_BYTES", "1000000")
    status, told = narrow.json(PATH, gzip.compress(b" " * 5_000_000), content_encoding="gzip")
    assert status == 413 and told["error"]
    assert narrow.json(PATH, b"{}", content_encoding="br")[0] == 415


def test_rows_that_are_too_many(narrow):
    status, told = narrow.json(PATH, [{}] * 51)
    assert status == 413 and "50" in told["error"]
    csv = "island\n" + "Dream\n" * 51
    assert narrow.json(PATH, csv.encode(), content_type="text/csv")[0] in (413, 422)
    assert narrow.json(PATH, [{}] * 50)[0] == 200


def test_formats_that_are_not_read(narrow):
    for media in ("text/html", "application/octet-stream", "image/png", "application/x-www-form-urlencoded"):
        status, told = narrow.json(PATH, b"{}", content_type=media)
        assert status == 415 and "application/json" in told["expected"]


@pytest.mark.parametrize("extra", [b"x: %s\r\n" % (b"y" * 20_000), b"".join(b"x%d: y\r\n" % k for k in range(3_000))])
def test_heads_that_are_too_large(narrow, extra):
    assert b" 431 " in narrow.raw(head(2, extra) + b"{}").partition(b"\r\n")[0]
    assert (
        b" 431 " in narrow.raw(b"GET /%s HTTP/1.1\r\nhost: localhost\r\n\r\n" % (b"x" * 20_000)).partition(b"\r\n")[0]
    )


def test_a_head_without_end_is_not_kept(narrow):
    found = narrow.raw(b"GET / HTTP/1.1\r\nhost: localhost\r\n" + b"x: " + b"y" * 5_000_000)
    assert found == b"" or b" 431 " in found.partition(b"\r\n")[0]


@pytest.mark.parametrize(
    "data", [b"\x00" * 100, b"GET\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"G" * 1_000 + b"\r\n\r\n"]
)
def test_what_is_no_http(narrow, data):
    assert b" 400 " in narrow.raw(data).partition(b"\r\n")[0]
    assert narrow.json("/healthz")[0] == 200


def test_bodies_that_come_too_slowly(narrow):
    with socket.create_connection(("127.0.0.1", narrow.port), 10) as one:
        one.sendall(head(100) + b'{"isl')
        began = time.monotonic()
        found = one.recv(65_536)
        assert b" 408 " in found.partition(b"\r\n")[0] and time.monotonic() - began < 5


def test_clients_that_go_are_counted(narrow):
    before = narrow.metrics().get('merula_requests_total{route="/v1/models/{name}/predict",status="499"}', 0)
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", narrow.port), 10) as one:
            one.sendall(head(100) + b'{"isl')
    for _ in range(100):
        now = narrow.metrics().get('merula_requests_total{route="/v1/models/{name}/predict",status="499"}', 0)
        if now == before + 5:
            break
        time.sleep(0.05)
    assert now == before + 5 and narrow.metrics()["merula_held_bytes"] == 0


def slow(monkeypatch, seconds):
    """Make work take its time."""
    from merula.web.service import rows_asked

    inner = rows_asked.read_rows

    def read_rows(*given):
        time.sleep(seconds)
        return inner(*given)

    monkeypatch.setattr(rows_asked, "read_rows", read_rows)


def test_work_that_takes_too_long(narrow, monkeypatch):
    slow(monkeypatch, 1.5)
    status, told = narrow.json(PATH, [{}, {}])
    assert status == 504 and "1 second" in told["error"]
    time.sleep(0.7)  # its thread ends, and gives its place back
    monkeypatch.undo()
    assert narrow.json(PATH, [{}, {}])[0] == 200


def test_more_work_than_places(narrow, monkeypatch):
    slow(monkeypatch, 0.4)
    found = []

    def ask():
        status, headers, _ = narrow.ask("POST", PATH, b"[{}, {}]", content_type="application/json")
        found.append((status, headers.get("retry-after")))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
        time.sleep(0.02)
    assert narrow.json("/healthz")[0] == 200  # which needs no place
    assert narrow.json(PATH, {"island": "Dream"})[0] == 200  # nor does a single row
    for thread in threads:
        thread.join()
    assert sorted(found) == [(200, None)] * 2 + [(503, "1")] * 4


def test_more_connections_than_there_may_be(narrow):
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(socket.create_connection(("127.0.0.1", narrow.port), 10))
        time.sleep(0.3)
        found = narrow.raw(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        assert b" 503 " in found.partition(b"\r\n")[0] and b"retry-after" in found
    time.sleep(0.3)
    assert narrow.json("/healthz")[0] == 200


def test_who_reads_too_slowly_is_left(models):
    import pandas as pd
    from tests.web.service.conftest import penguins

    body = pd.concat([penguins()[0]] * 400).to_csv(index=False).encode()
    with running(
        {"penguins": models["penguins"]}, timeout=4.0
    ) as one:  # the rows are worked out in it on a busy machine too
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.settimeout(30)
            client.connect(("127.0.0.1", one.port))
            client.sendall(head(len(body)).replace(b"application/json", b"text/csv") + body)
            for _ in range(600):
                counted = one.metrics()
                if 'merula_requests_total{route="/v1/models/{name}/predict",status="499"}' in counted:
                    break
                time.sleep(0.05)
        assert counted['merula_requests_total{route="/v1/models/{name}/predict",status="499"}'] == 1
        assert counted["merula_working"] == 0


def test_methods_and_addresses_that_are_none(narrow):
    for address in (PATH, "/v1/models/none/query", "/v2/models/penguins/infer"):
        status, headers, _ = narrow.ask("GET", address)
        assert (status, headers["allow"]) == (405, "POST, OPTIONS"), address
    assert narrow.ask("DELETE", "/v1/models")[0] == 405
    status, told = narrow.json("/v1/nothing")
    assert status == 404 and told["error"]
    assert narrow.ask("HEAD", "/healthz")[0] == 200


def test_the_log_tells_no_cells_unless_asked(models):
    row = {"island": "Dream", "sex": "a secret word", "bill_length_mm": "forty-two"}
    for wanted in (False, True):
        with running({"penguins": models["penguins"]}, log_values=wanted) as one:
            one.json(PATH, row)
            one.json(PATH, {"island": "a secret word"})
            one.json(PATH, b'{"secret word": ')
        lines = "".join(one.lines)
        assert ("secret word" in lines) == wanted
        told = [json.loads(line) for line in lines.splitlines()]
        requests = [line for line in told if line["event"] == "request"]
        assert [line["status"] for line in requests] == [422, 200, 422]
        assert all({"time", "route", "seconds", "client"} <= line.keys() for line in requests)
