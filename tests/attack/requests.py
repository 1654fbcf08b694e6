"""Damaged requests to a service: bodies of every format through its gate, and bytes as they come from a network."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import socket
import threading
from functools import cache
from pathlib import Path
from typing import Any

GONE = 0.3  # seconds after which a client that says nothing is left
ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"


class BrokenServiceError(AssertionError):
    """A service answered what it must not."""


@cache
def service() -> Any:
    """A service of a small classifier and a small network."""
    import tempfile

    from tests.attack.seeds import rows

    import merula as mr
    from merula.web.service import Service, Settings, named_files

    folder = Path(tempfile.mkdtemp(prefix="merula-served-"))
    table, classes = rows()
    mr.NaiveBayesClassifier(kinds={"visits": "count", "remark": "text"}).fit(table, classes).save(
        folder / "ward.merula"
    )
    mr.TANClassifier().fit(table.drop(columns="remark"), classes).save(folder / "tree.merula")
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"]).write(folder / "garden.json")
    return Service(
        named_files(map(str, sorted(folder.iterdir()))),
        Settings(timeout=20.0, max_body=4 << 20, max_rows=5_000, concurrent=1),
    )


# ---------------------------------------------------------------------------------------------------------------- bodies


def read_request(path: Path) -> tuple[int, str, bytes]:
    """What the service answers to a request: a line with address, format and wanted format, and below it the body."""
    head, _, body = path.read_bytes().partition(b"\n")
    words = [*head.decode("latin-1").split("\t"), "", "", ""][:3]
    status, media, answer = asyncio.run(_asked(*words, body))
    if 400 <= status < 500 or status in (503, 504):
        told = json.loads(answer)
        if not told["error"] or told["status"] != status:
            raise BrokenServiceError(f"an error without words: {told!r:.300}")
        raise ValueError(told["error"])
    return status, media, answer


async def _asked(address: str, media: str, accept: str, body: bytes) -> tuple[int, str, bytes]:
    headers = [
        (b"host", b"localhost"),
        (b"content-type", media.encode("latin-1")),
        (b"accept", accept.encode("latin-1")),
    ]
    path, _, query = address.partition("?")
    scope = {"type": "http", "method": "POST", "path": path, "query_string": query.encode("latin-1"), "headers": headers, "client": None, "root_path": "", "http_version": "1.1"}  # fmt: skip
    told: dict[str, Any] = {"body": b""}

    async def receive() -> dict[str, Any]:
        if "asked" in told:
            await asyncio.sleep(60)
        told["asked"] = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        told["body"] += message.get("body", b"")
        told.update({"status": message["status"], "headers": dict(message["headers"])} if "status" in message else {})

    with contextlib.suppress(ConnectionAbortedError):
        await service().gate(scope, receive, send)
    return told["status"], told["headers"][b"content-type"].decode(), told["body"]


def check_answer(answered: tuple[int, str, bytes]) -> None:
    """An answer is whole and sound: shares that add up to 1, or a network's probabilities."""
    status, media, body = answered
    if status not in (200, 204):
        raise BrokenServiceError(f"status {status}: {body!r:.300}")
    if media != "application/json":
        return
    found = json.loads(body)
    posteriors = found.get("posterior", [one["posterior"] for one in found.get("answers", ()) if "posterior" in one])
    for row in posteriors:
        if not all(0 <= share <= 1 for share in row) or not math.isclose(sum(row), 1, abs_tol=1e-9):
            raise BrokenServiceError(f"posterior {row}")


# ----------------------------------------------------------------------------------------------------------------- bytes


@cache
def listening() -> int:
    """The port of a service that runs in a thread."""
    from merula.web.service import Service, Settings, protocol
    from merula.web.service.running import StoppingServer, configured

    protocol.HEAD_SECONDS = GONE
    own = Service(service().shelf.files, Settings(timeout=GONE, max_body=4 << 20, max_rows=5_000, concurrent=1))
    server = StoppingServer(configured(own), own)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(100)
    threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True).start()
    while not server.started:
        threading.Event().wait(0.01)
    return int(listener.getsockname()[1])


def read_bytes(path: Path) -> bytes:
    """All that the service sends back for bytes as they are; afterwards it still lives."""
    found = _sent(path.read_bytes())
    if not _sent(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").startswith(b"HTTP/1.1 200"):
        raise BrokenServiceError("the service does not live")
    return found


def _sent(data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", listening()), 10) as one:
        with contextlib.suppress(OSError):
            one.sendall(data)
        one.settimeout(3 * GONE)
        found = b""
        with contextlib.suppress(OSError):
            while part := one.recv(65_536):
                found += part
        return found


def check_bytes(found: bytes) -> None:
    """What comes back is HTTP, and no failure of the service's own."""
    if found and (not found.startswith(b"HTTP/1.1 ") or found.startswith(b"HTTP/1.1 500")):
        raise BrokenServiceError(f"answered {found!r:.300}")


# ----------------------------------------------------------------------------------------------------------------- seeds


def write_requests(folder: Path) -> None:
    """Sound requests of every verb and format."""
    for name, data in _requests().items():
        (folder / name).write_bytes(data)


def write_bytes(folder: Path) -> None:
    """The same as bytes of HTTP."""
    for name, data in _requests().items():
        head, _, body = data.partition(b"\n")
        address, media, accept = head.decode().split("\t")
        lines = f"POST {address} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {media}\r\naccept: {accept}\r\ncontent-length: {len(body)}\r\n\r\n"
        (folder / name).write_bytes(lines.encode() + body)
    chunks = b"POST /v1/models/ward/predict HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    (folder / "chunked").write_bytes(chunks)
    (folder / "pipelined").write_bytes(3 * b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n")


def _requests() -> dict[str, bytes]:
    import pyarrow as pa
    from tests.attack.seeds import rows

    table = rows()[0]
    plain = json.loads(table.to_json(orient="records", date_format="iso"))
    sink, packed = pa.BufferOutputStream(), pa.BufferOutputStream()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    with pa.ipc.new_stream(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    import pyarrow.parquet as pq

    pq.write_table(arrow, packed)
    costs = {"treat": {"ill": 0, "healthy": 1}, "wait": {"ill": 9, "healthy": 0}}
    many, one = json.dumps(plain[:8], ensure_ascii=False), json.dumps(plain[0], ensure_ascii=False)
    columns = json.dumps({name: [row[name] for row in plain[:5]] for name in table}, ensure_ascii=False)
    lists = json.dumps({"columns": list(table), "rows": [list(row.values()) for row in plain[:5]]}, ensure_ascii=False)
    tensors = {
        "inputs": [{"name": name, "shape": [1], "datatype": "BYTES", "data": [plain[0][name]]} for name in table]
    }
    made = {
        "row": ("ward/predict", "application/json", "", one.encode()),
        "rows": ("ward/predict", "application/json", "text/csv", many.encode()),
        "columns": ("ward/predict", "application/json", "", columns.encode()),
        "lists": ("ward/predict", "application/json", "", lists.encode()),
        "lines": ("ward/predict", "application/x-ndjson", "", "\n".join(map(json.dumps, plain[:8])).encode()),
        "csv": ("ward/predict", "text/csv", "application/json", table.to_csv(index=False).encode()),
        "arrow": ("ward/predict", ARROW, ARROW, sink.getvalue().to_pybytes()),
        "parquet": ("ward/predict", PARQUET, "application/json", packed.getvalue().to_pybytes()),
        "decide": ("tree/decide", "application/json", "", json.dumps({"rows": plain[:3], "costs": costs, "reject_cost": 0.1}).encode()),
        "explain": ("tree/explain?top=3", "application/json", "", many.encode()),
        "question": ("ward/question", "application/json", "", json.dumps({"row": {"visits": 2}, "prices": {"remark": 1}}).encode()),
        "query": ("garden/query", "application/json", "", b'{"given": {"wet": {"yes": 0.7, "no": 0.3}}, "variables": ["rain"]}'),
        "do": ("garden/query", "application/json", "", b'{"do": {"rain": "yes"}, "ask": "most_probable"}'),
    }  # fmt: skip
    found = {name: f"/v1/models/{path}\t{media}\t{accept}\n".encode() + body for name, (path, media, accept, body) in made.items()}  # fmt: skip
    return found | {"infer": b"/v2/models/ward/infer\tapplication/json\t\n" + json.dumps(tensors).encode()}
