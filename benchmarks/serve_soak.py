"""Minutes of mixed load on `merula serve`, on this machine alone: is every answer right, every request counted, memory flat?

Good rows, bad rows, bodies too large, slow clients, clients that go, bursts, while the file of a model is swapped and broken
every few seconds; then the process is killed and started again: python benchmarks/serve_soak.py --minutes 10
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median

import numpy as np

TOKEN, MAX_BODY, TIMEOUT = "soak-" + "5" * 20, 2_000_000, 10.0
HEAD = "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ncontent-type: {media}\r\naccept: {accept}\r\ncontent-length: {length}\r\n\r\n"
JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"


class Soak:
    """What is asked, what is expected, and what was counted."""

    def __init__(self, folder: Path) -> None:
        import pandas as pd

        import merula as mr

        self.folder, self.served = folder, folder / "served"
        self.served.mkdir()
        table = pd.read_csv(Path(mr.__file__).parent / "data" / "penguins.csv")
        species = table.pop("species")
        self.table, self.rows = table, json.loads(table.to_json(orient="records"))
        self.many = pd.concat([table] * 60, ignore_index=True)
        self.files, self.expected, self.large = [], {}, {}
        for name, model in {
            "naive": mr.NaiveBayesClassifier(),
            "gaps": mr.NaiveBayesClassifier(missing="level"),
            "tree": mr.TANClassifier(),
        }.items():
            model.fit(table, species).save(folder / f"{name}.merula")
            data = (folder / f"{name}.merula").read_bytes()
            self.files.append(data)
            key = hashlib.sha256(data).hexdigest()
            self.expected[key] = model.predict_proba(table).tolist()
            self.large[key] = model.predict_proba(self.many)
        self.path = self.served / "penguins.merula"
        self.path.write_bytes(self.files[0])
        network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
        network.add("wet", ["no", "yes"], [[0.9, 0.1], [0.2, 0.8]], parents=["rain"]).write(self.served / "garden.json")
        self.wet = 0.2 * 0.8 / (0.2 * 0.8 + 0.8 * 0.1)
        self.asked, self.found, self.wrong, self.sizes = 0, Counter(), [], []
        self.bodies = self._bodies()

    def _bodies(self) -> dict[str, tuple[bytes, str]]:
        import pyarrow as pa

        sink = io.BytesIO()
        arrow = pa.Table.from_pandas(self.many, preserve_index=False)
        with pa.ipc.new_stream(sink, arrow.schema) as writer:
            writer.write_table(arrow)
        columns = {name: [row[name] for row in self.rows] for name in self.table}
        return {
            "rows": (json.dumps(self.rows).encode(), JSON),
            "columns": (json.dumps(columns).encode(), JSON),
            "csv": (self.table.to_csv(index=False).encode(), CSV),
            "arrow": (sink.getvalue(), ARROW),
        }

    # ------------------------------------------------------------------------------------------------ clients

    async def until(self, stop: float, ask, pause: float) -> None:
        """Ask again and again; an answer that breaks off or never comes is wrong."""
        while time.monotonic() < stop:
            try:
                await asyncio.wait_for(ask(), 60)
            except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
                self.wrong.append(f"{ask.__name__}: {error!r}")
            await asyncio.sleep(pause * random.random())

    async def exchange(self, path: str, body: bytes, media: str = JSON, accept: str = JSON, token: str = TOKEN):
        """Status and body of an answer."""
        head = HEAD.format(path=path, token=token, media=media, accept=accept, length=len(body)).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            self.asked += 1
            writer.write(head + body)
            return await _answer(reader)
        finally:
            writer.close()

    async def told(self, kind: str, allowed: set[int], *given, **more):
        status, body = await self.exchange(*given, **more)
        self.found[kind, status] += 1
        if status not in allowed:
            self.wrong.append(f"{kind}: {status} {body[:200]!r}")
        return status, body

    async def single(self) -> None:
        index = random.randrange(len(self.rows))
        status, body = await self.told(
            "single", {200}, "/v1/models/penguins/predict", json.dumps(self.rows[index]).encode()
        )
        if status == 200:
            self._check(json.loads(body), [index])

    def _check(self, answer, indices) -> None:
        known = self.expected.get(answer["hash"])
        if known is None or answer["posterior"] != [known[index] for index in indices]:
            self.wrong.append(f"a wrong answer of {answer['hash'][:8]}")

    async def batch(self) -> None:
        name = random.choice(["rows", "columns", "csv"])
        body, media = self.bodies[name]
        status, found = await self.told("batch", {200, 503}, "/v1/models/penguins/predict", body, media)
        if status == 200:
            self._check(json.loads(found), range(len(self.rows)))

    async def streamed(self) -> None:
        import pyarrow as pa

        body, media = self.bodies["arrow"]
        status, found = await self.told("streamed", {200, 503}, "/v1/models/penguins/predict", body, media, ARROW)
        if status == 200:
            table = pa.ipc.open_stream(found).read_all()
            key = table.schema.metadata[b"hash"].decode()
            shares = np.column_stack([table[name] for name in table.column_names if name.startswith("P(")])
            if not np.array_equal(shares, self.large.get(key)):
                self.wrong.append(f"a wrong stream of {key[:8]}")

    async def others(self) -> None:
        verb = random.choice(["decide", "explain", "question"])
        body = json.dumps(self.rows[random.randrange(300)] if verb != "question" else {"island": "Dream"}).encode()
        allowed = {200, 503} | ({422} if verb == "question" else set())  # a model whose gaps are levels cannot be asked
        await self.told(verb, allowed, f"/v1/models/penguins/{verb}", body)

    async def network(self) -> None:
        status, body = await self.told(
            "query", {200, 503}, "/v1/models/garden/query", b'{"variables": "rain", "given": {"wet": "yes"}}'
        )
        if status == 200 and abs(json.loads(body)["probabilities"][1]["probability"] - self.wet) > 1e-12:
            self.wrong.append("a wrong answer of the network")

    async def bad(self) -> None:
        body = random.choice([b"{", b"[]", b'{"bill_length_mm": "long"}', b'{"colour": 3}', b"[" * 10_000, b"\xff"])
        await self.told("bad rows", {422, 503}, "/v1/models/penguins/predict", body)

    async def foreign(self) -> None:
        await self.told("wrong token", {401}, "/v1/models/penguins/predict", b"{}", token="other")
        await self.told("no model", {404}, "/v1/models/..%2fetc/predict", b"{}")

    async def oversized(self) -> None:
        await self.told("oversized", {413}, "/v1/models/penguins/predict", b" " * (MAX_BODY + 1_000))

    async def slow(self) -> None:
        """A body in drops: it comes in time, or it does not."""
        in_time = random.random() < 0.5
        body = json.dumps(self.rows[0]).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            self.asked += 1
            writer.write(
                HEAD.format(
                    path="/v1/models/penguins/predict", token=TOKEN, media=JSON, accept=JSON, length=len(body)
                ).encode()
            )
            for place in range(0, len(body), 20):
                writer.write(body[place : place + 20])
                await asyncio.sleep(0.02 if in_time else TIMEOUT / 4)
                if writer.is_closing() or reader.at_eof() or reader._buffer:  # it is answered already
                    break
            status, answer = await _answer(reader)
            self.found["slow", status] += 1
            if status not in ({200} if in_time else {408}):
                self.wrong.append(f"slow: {status}")
            elif status == 200:
                self._check(json.loads(answer), [0])
        finally:
            writer.close()

    async def gone(self) -> None:
        """A client that goes: while it sends, or while it is answered."""
        body, media = self.bodies["arrow" if random.random() < 0.5 else "rows"]
        head = HEAD.format(
            path="/v1/models/penguins/predict", token=TOKEN, media=media, accept=media, length=len(body)
        ).encode()
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.asked += 1
        writer.write(head + (body[: len(body) // 2] if random.random() < 0.5 else body))
        await writer.drain()
        await asyncio.sleep(0.05 * random.random())
        writer.transport.abort()
        self.found["gone", 0] += 1

    async def burst(self) -> None:
        """More at once than there are places."""
        await asyncio.gather(*(self.batch() for _ in range(12)))
        await asyncio.sleep(2)

    async def swaps(self, stop: float) -> None:
        """Write the file anew every few seconds: another model, or something broken."""
        turn = 0
        while time.monotonic() < stop:
            await asyncio.sleep(1 + 2 * random.random())
            turn += 1
            data = self.files[turn % len(self.files)]
            broken = [b"", data[: len(data) // 2], bytes(5_000), b"a,b\n1,2\n"]
            if turn % 3 == 0:
                self.path.write_bytes(random.choice(broken))  # in place, as a copy would
            else:
                other = self.served / "new"
                other.write_bytes(data)
                os.replace(other, self.path)

    async def memory(self, stop: float) -> None:
        while time.monotonic() < stop:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            self.sizes.append(int(status.split("VmRSS:")[1].split()[0]) / 1024)
            await asyncio.sleep(2)

    # ------------------------------------------------------------------------------------------------ the whole

    def start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "merula",
            "serve",
            str(self.path),
            str(self.served / "garden.json"),
            "--port",
            "0",
            "--max-body",
            str(MAX_BODY / 1e6),
            "--timeout",
            str(TIMEOUT),
            "--concurrent",
            "2",
            "--waiting",
            "4",
            "--poll",
            "0.5",
        ]
        self.log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.log, text=True, env={**os.environ, "MERULA_TOKEN": TOKEN}
        )
        line = self.process.stdout.readline()
        assert line.startswith("serving at"), line
        self.port = int(line.rpartition(":")[2])

    async def run(self, minutes: float) -> None:
        stop = time.monotonic() + 60 * minutes
        clients = {
            self.single: (3, 0.02),
            self.batch: (1, 0.4),
            self.streamed: (1, 0.8),
            self.others: (1, 0.4),
            self.network: (1, 0.2),
            self.bad: (1, 0.1),
            self.foreign: (1, 0.2),
            self.oversized: (1, 0.5),
            self.slow: (2, 0.2),
            self.gone: (1, 0.2),
            self.burst: (1, 1.0),
        }
        tasks = [self.until(stop, ask, pause) for ask, (count, pause) in clients.items() for _ in range(count)]
        await asyncio.gather(*tasks, self.swaps(stop), self.memory(stop))

    async def counted(self) -> dict[str, float]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"GET /metrics HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode())
        _, body = await _answer(reader)
        writer.close()
        lines = (line for line in body.decode().splitlines() if not line.startswith("#"))
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


async def _line(reader):
    line = await reader.readline()
    if not line:
        raise asyncio.IncompleteReadError(b"", None)  # the answer breaks off
    return line


async def _answer(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = int(head.split()[1])
    if b"transfer-encoding: chunked" in head:
        body = b""
        while size := int(await _line(reader), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
        return status, body
    return status, await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))


def tell(soak: Soak, minutes: float) -> bool:
    """Whether all is well; what was found, in words."""
    time.sleep(1.5)  # what was dropped is noticed
    counted = asyncio.run(soak.counted())
    requests = {name: value for name, value in counted.items() if name.startswith("merula_requests_total")}
    total = int(sum(requests.values()))
    third = len(soak.sizes) // 3
    middle, last = median(soak.sizes[third : 2 * third]), median(soak.sizes[2 * third :])
    statuses = Counter()
    for (_, status), count in soak.found.items():
        statuses[status] += count
    print(
        f"{minutes:g} minutes: {soak.asked:,} requests, {total:,} counted by the service; answers by status {dict(sorted(statuses.items()))} (0: the client went)"
    )
    print(f"    counted: { ({name.partition('{')[2].rstrip('}'): int(value) for name, value in requests.items()}) }")
    files = {
        name.partition("outcome=")[2].strip('"}'): int(v)
        for name, v in counted.items()
        if name.startswith("merula_model_files_total") and "penguins" in name
    }
    print(f"    files of the model: {files}")
    print(
        f"    memory: {middle:.0f} MB in the middle third, {last:.0f} MB in the last, {max(soak.sizes):.0f} MB at most; still held: {counted['merula_held_bytes']:.0f} bytes, {counted['merula_working']:.0f} at work"
    )
    print(f"    wrong: {len(soak.wrong)} {Counter(soak.wrong).most_common(5)}")
    flat = last <= 1.1 * middle
    return (
        not soak.wrong
        and total == soak.asked
        and flat
        and counted["merula_held_bytes"] == counted["merula_working"] == 0
    )


def killed(soak: Soak) -> bool:
    """Whether a service that is killed and started again answers as before, with nothing to repair."""
    soak.path.write_bytes(soak.files[0])
    before = {path.name: path.read_bytes() for path in soak.served.iterdir()}
    soak.process.kill()
    soak.process.wait()
    soak.start()
    same = {path.name: path.read_bytes() for path in soak.served.iterdir()} == before
    wrong = len(soak.wrong)
    asyncio.run(soak.single())
    soak.process.terminate()
    ended = soak.process.wait(60)
    print(
        f"    killed and started again: files unchanged {same}, answer right {len(soak.wrong) == wrong}, ends with {ended}"
    )
    return same and len(soak.wrong) == wrong and ended == 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=17)
    asked = parser.parse_args()
    random.seed(asked.seed)
    folder = Path(tempfile.mkdtemp(prefix="merula-soak-"))
    soak = Soak(folder)
    try:
        soak.start()
        asyncio.run(soak.run(asked.minutes))
        well = tell(soak, asked.minutes) & killed(soak)
        errors = [
            line
            for line in (folder / "log").read_text().splitlines()
            if '"event":"error"' in line or not line.startswith("{")
        ]
        print(f"    errors in the log: {len(errors)} {errors[:3]}")
        return int(not well or bool(errors))
    finally:
        soak.process.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
