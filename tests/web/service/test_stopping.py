"""How a service ends: it finishes what it began, refuses what comes later, and leaves nothing to repair."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from tests.web.service.conftest import running

PATH = "/v1/models/penguins/predict"


def test_what_was_begun_is_finished(models, monkeypatch):
    from merula.web.service import rows_asked

    inner = rows_asked.read_rows

    def read_rows(*given):
        time.sleep(1.0)
        return inner(*given)

    monkeypatch.setattr(rows_asked, "read_rows", read_rows)
    found = []
    with running({"penguins": models["penguins"]}) as one:
        threads = [threading.Thread(target=lambda: found.append(one.json(PATH, [{}, {}]))) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.4)
        idle = socket.create_connection(("127.0.0.1", one.port), 5)
        one.server.handle_exit(15, None)
        for thread in threads:
            thread.join()
        idle.close()
    assert [status for status, _ in found] == [200] * 3


def test_what_comes_while_it_stops_is_refused_in_words(models):
    with running({"penguins": models["penguins"]}) as one:
        one.service.gate.is_stopping = True
        status, headers, body = one.ask("POST", PATH, b"{}")
        assert status == 503 and headers["retry-after"] and "stopping" in json.loads(body)["error"]
        assert one.json("/readyz") == (503, {"status": "stopping"})
        assert one.json("/healthz")[0] == 200


def started(*words, **environment):
    """The command itself, and the port it says it serves at."""
    command = [sys.executable, "-m", "merula", "serve", "--port", "0", *map(str, words)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    line = process.stdout.readline()
    assert line.startswith("serving at http://127.0.0.1:"), line + process.stderr.read()
    return process, int(line.rpartition(":")[2])


def ask(port, data, token=None):
    import urllib.request

    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    asked = urllib.request.Request(f"http://127.0.0.1:{port}{PATH}", json.dumps(data).encode(), headers)
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return json.load(answer)


def test_the_command_serves_and_stops(models, tmp_path):
    (tmp_path / "token").write_text("a-secret\n")
    process, port = started(models["penguins"], models["garden"], "--token-file", tmp_path / "token")
    try:
        assert ask(port, {"island": "Dream"}, "a-secret")["model"] == "penguins"
        with pytest.raises(OSError, match="401"):
            ask(port, {"island": "Dream"})
    finally:
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=30)
    assert process.returncode == 0
    told = [json.loads(line) for line in log.splitlines()]
    assert [line["event"] for line in told] == ["began", "request", "request", "stopped"]
    assert [line["status"] for line in told if line["event"] == "request"] == [200, 401]


def test_killed_and_started_again_there_is_nothing_to_repair(models, tmp_path):
    before = {path.name: path.read_bytes() for path in models["penguins"].parent.iterdir()}
    first, port = started(models["penguins"])
    answer = ask(port, {"island": "Dream"})
    first.kill()
    first.communicate(timeout=30)
    assert {path.name: path.read_bytes() for path in models["penguins"].parent.iterdir()} == before
    again, port = started(models["penguins"], MERULA_TOKEN="of-the-environment")
    assert ask(port, {"island": "Dream"}, "of-the-environment") == answer
    again.send_signal(signal.SIGINT)
    again.communicate(timeout=30)
    assert again.returncode == 0


@pytest.mark.parametrize("words", [["none.merula"], ["{m}", "--host", "0.0.0.0"], ["{m}", "--port", "70000"], ["{m}", "{m}"], ["{m}", "--max-rows", "0"], ["{m}", "--token-file", "none"]])  # fmt: skip
def test_bad_words_are_one_line(models, words, tmp_path):
    command = [sys.executable, "-m", "merula", "serve", *(word.format(m=models["penguins"]) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 2 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
