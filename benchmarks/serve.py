"""Requests and rows per second of `merula serve`, beside a lean FastAPI endpoint around scikit-learn's GaussianNB.

Both run here, on 127.0.0.1, one worker each; rounds alternate, and the median round counts. The peer runs in a Python that has
fastapi and orjson: python benchmarks/serve.py --peer-python /path/to/python
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

COLUMNS, CLASSES, LEARNED, BATCH = 10, 3, 2_000, 10_000
ROUNDS, SINGLE, CONNECTIONS = 9, 1_500, 8
HERE = Path(__file__).parent


class Client(asyncio.Protocol):
    """One connection that asks again as soon as it is answered."""

    def __init__(self, ask, done):
        self.ask, self.done, self.held, self.wanted = ask, done, bytearray(), None

    def connection_made(self, transport):
        self.transport = transport
        self.next()

    def next(self):
        request = self.ask()
        if request is None:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data):
        self.held += data
        if self.wanted is None:
            end = self.held.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self.held[:end]).lower()
            assert head.startswith(b"http/1.1 200"), head + bytes(self.held[end:])
            self.wanted = end + 4 + int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        if len(self.held) >= self.wanted:
            self.done(time.perf_counter() - self.began, self.held)
            self.held, self.wanted = bytearray(), None
            self.next()

    def connection_lost(self, exc):
        pass


async def load(port, requests, count, connections):
    """Seconds of each answer, and of all together."""
    loop, took, left = asyncio.get_running_loop(), [], count
    finished = loop.create_future()

    def ask():
        nonlocal left
        left -= 1
        return requests[left % len(requests)] if left >= 0 else None

    def done(seconds, _):
        took.append(seconds)
        if len(took) == count:
            finished.set_result(None)

    began = time.perf_counter()
    for _ in range(min(connections, count)):
        await loop.create_connection(lambda: Client(ask, done), "127.0.0.1", port)
    await asyncio.wait_for(finished, 120)
    return took, time.perf_counter() - began


def batches_of(port, requests, count):
    """Seconds for some large requests, one after the other on one connection, by a client that adds next to nothing."""
    import socket

    with socket.create_connection(("127.0.0.1", port), 60) as one:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        held = memoryview(bytearray(1 << 22))
        began = time.perf_counter()
        for _ in range(count):
            one.sendall(requests[0])
            got, wanted = 0, None
            while wanted is None or got < wanted:
                got += one.recv_into(held[got:])
                if wanted is None and (end := bytes(held[: min(got, 4_096)]).find(b"\r\n\r\n")) >= 0:
                    head = bytes(held[:end]).lower()
                    assert head.startswith(b"http/1.1 200"), head
                    wanted = end + 4 + int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        return time.perf_counter() - began


def request(path, body, media="application/json"):
    return (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {media}\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        + body
    )


def tables(folder):
    """The table that both learn from, and rows to ask about."""
    import pandas as pd

    import merula as mr

    rng = np.random.default_rng(17)
    names = [f"reading {place + 1}" for place in range(COLUMNS)]
    y = rng.integers(0, CLASSES, LEARNED)
    X = rng.normal(size=(LEARNED, COLUMNS)) + 0.5 * y[:, None]
    np.savez(folder / "table.npz", X=X, y=y, names=np.array(names))
    model = mr.NaiveBayesClassifier().fit(pd.DataFrame(X, columns=names), y)
    model.save(folder / "bench.merula")
    asked = rng.normal(size=(BATCH, COLUMNS)).round(6)
    return names, asked, model.predict_proba(pd.DataFrame(asked, columns=names))


def bodies(names, asked):
    """The same rows in every form: single rows, a list of objects, rows as lists, columns, an Arrow stream."""
    import pyarrow as pa

    rows = [dict(zip(names, row, strict=True)) for row in asked.tolist()]
    sink = io.BytesIO()
    table = pa.table({name: asked[:, place] for place, name in enumerate(names)})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return {
        "single": [json.dumps(row).encode() for row in rows[:200]],
        "rows": json.dumps(rows).encode(),
        "matrix": json.dumps(asked.tolist()).encode(),
        "named matrix": json.dumps({"columns": names, "rows": asked.tolist()}).encode(),
        "columns": json.dumps({name: asked[:, place].tolist() for place, name in enumerate(names)}).encode(),
        "arrow": sink.getvalue(),
    }


def started(command, port, **environment):
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    import socket

    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return process
        except OSError:
            if process.poll() is not None:
                sys.exit(f"could not be started: {' '.join(map(str, command))}")
            time.sleep(0.1)
    sys.exit("a service did not start")


def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def checked(port, data, posterior):
    """Answers are the library's to the bit, after JSON and by Arrow."""
    import urllib.request

    import pyarrow as pa

    def asked(body, media):
        made = urllib.request.Request(f"http://127.0.0.1:{port}/v1/models/bench/predict", body, {"content-type": media})
        return urllib.request.urlopen(made).read()

    for name in ("rows", "named matrix", "columns"):
        assert json.loads(asked(data[name], "application/json"))["posterior"] == posterior.tolist(), name
    for place in range(20):
        assert json.loads(asked(data["single"][place], "application/json"))["posterior"] == posterior[place : place + 1].tolist()  # fmt: skip
    found = pa.ipc.open_stream(asked(data["arrow"], "application/vnd.apache.arrow.stream")).read_all()
    shares = np.column_stack([found[name] for name in found.column_names if name.startswith("P(")])
    assert (shares == posterior).all()
    print("answers equal the library's predict_proba, bit for bit: single rows, rows, lists, columns, Arrow")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked_for = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names, asked, posterior = tables(folder)
        data, ours, peer = bodies(names, asked), free_port(), free_port()
        command = [sys.executable, "-m", "merula", "serve", str(folder / "bench.merula"), "--port", str(ours), "-q"]
        peers = [asked_for.peer_python, str(HERE / "serve_peer.py"), str(peer), str(folder / "table.npz")]
        running = [started(command, ours), started(peers, peer, PYTHONPATH="")]
        try:
            checked(ours, data, posterior)
            measured(asked_for.rounds, ours, peer, data)
        finally:
            for process in running:
                process.terminate()
                process.wait(30)


def measured(rounds, ours, peer, data):
    """Alternate the two, work by work, and tell medians."""
    path = "/v1/models/bench/predict"
    arrow = "application/vnd.apache.arrow.stream"
    single = {"merula": (ours, [request(path, b) for b in data["single"]]), "FastAPI": (peer, [request("/row", b) for b in data["single"]])}  # fmt: skip
    batches = {
        "merula, list of objects": (ours, [request(path, data["rows"])]),
        "merula, rows as lists": (ours, [request(path, data["named matrix"])]),
        "merula, columns": (ours, [request(path, data["columns"])]),
        "merula, Arrow": (ours, [request(path, data["arrow"], arrow)]),
        "FastAPI, list of objects": (peer, [request("/rows", data["rows"])]),
        "FastAPI, rows as lists": (peer, [request("/matrix", data["matrix"])]),
    }
    found = {}
    for connections in (1, CONNECTIONS):
        for name in rounds * list(single):
            took, whole = asyncio.run(load(*single[name], SINGLE, connections))
            found.setdefault((name, connections), []).append((SINGLE / whole, float(np.quantile(took, 0.95))))
        rate, late = ({name: median(one[k] for one in found[name, connections]) for name in single} for k in (0, 1))
        for name in single:
            print(
                f"single rows, {connections} connections, {name:8} {rate[name]:8,.0f} requests/s, p95 {1e3 * late[name]:6.2f} ms"
            )
        print(
            f"    ratio {rate['merula'] / rate['FastAPI']:.2f}× requests/s, {late['merula'] / late['FastAPI']:.2f}× p95 (bars 1×, 1.2×)"
        )
    rates = {name: [] for name in batches}
    for name in rounds * list(batches):
        rates[name].append(8 * BATCH / batches_of(*batches[name], 8))
    rows = {name: median(held) for name, held in rates.items()}
    for name, held in rows.items():
        print(f"batches of {BATCH:,}, {name:26} {held:10,.0f} rows/s")
    objects, lists = rows["FastAPI, list of objects"], rows["FastAPI, rows as lists"]
    print(
        f"    JSON, list of objects {rows['merula, list of objects'] / objects:.1f}×, rows as lists {rows['merula, rows as lists'] / lists:.1f}×, columns beside its lists {rows['merula, columns'] / lists:.1f}× (bar 3×)"
    )
    print(
        f"    Arrow beside its objects {rows['merula, Arrow'] / objects:.1f}×, beside its lists {rows['merula, Arrow'] / lists:.1f}× (bar 10×)"
    )


if __name__ == "__main__":
    main()
