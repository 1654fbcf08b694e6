"""What the service counts, in the text that Prometheus reads; it is counted by the one thread that serves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from time import perf_counter, time
from typing import TYPE_CHECKING

from merula.web.service.exchange import Exchange

if TYPE_CHECKING:
    from merula.web.service.shelf import Shelf
    from merula.web.service.work import Work

EDGES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MEDIA = b"text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Requests, rows, seconds, notes and cells, counted since the service began."""

    def __init__(self) -> None:
        self.begun = time()
        self.requests: Counter[tuple[str, int]] = Counter()
        self.seconds: dict[str, list[float]] = {}
        self.rows: Counter[tuple[str, str]] = Counter()
        self.notes: Counter[tuple[str, str]] = Counter()
        self.missing: Counter[tuple[str, str]] = Counter()
        self.unseen: Counter[tuple[str, str]] = Counter()
        self.read = self.sent = 0

    def count(self, exchange: Exchange) -> None:
        """Count one request that has ended, however it did."""
        route, took = exchange.route, perf_counter() - exchange.begun
        self.requests[route, exchange.status] += 1
        self.read += exchange.read
        self.sent += exchange.sent
        held = self.seconds.get(route)
        if held is None:
            held = self.seconds[route] = [0.0] * (len(EDGES) + 2)
        held[-1] += took
        for place, edge in enumerate(EDGES):
            if took <= edge:
                held[place] += 1
                return
        held[-2] += 1

    def count_rows(self, model: str, verb: str, rows: int) -> None:
        """Count rows that were answered for."""
        self.rows[model, verb] += rows

    def count_cells(self, model: str, missing: Mapping[str, int], unseen: Mapping[str, int]) -> None:
        """Count cells that were missing, or held a level never seen."""
        for name, count in missing.items():
            self.missing[model, name] += count
        for name, count in unseen.items():
            self.unseen[model, name] += count

    def text(self, shelf: Shelf, work: Work) -> bytes:
        """Everything that was counted."""
        return "".join([*self._of_requests(), *self._of_rows(), *_of_models(shelf), *self._of_work(work)]).encode()

    def _of_requests(self) -> Iterator[str]:
        yield from _family("merula_requests_total", "counter", "Requests by route and status; 499: who asked has gone.")
        for (route, status), count in self.requests.items():
            yield _line("merula_requests_total", {"route": route, "status": str(status)}, count)
        yield from _family("merula_request_seconds", "histogram", "Seconds from the first header to the last byte.")
        for route, held in self.seconds.items():
            total = 0.0
            for edge, within in zip([*map(str, EDGES), "+Inf"], held[:-1], strict=True):
                total += within
                yield _line("merula_request_seconds_bucket", {"route": route, "le": edge}, total)
            yield _line("merula_request_seconds_sum", {"route": route}, held[-1])
            yield _line("merula_request_seconds_count", {"route": route}, total)

    def _of_rows(self) -> Iterator[str]:
        yield from _table("merula_rows_total", "Rows that were answered for.", ("model", "verb"), self.rows)
        yield from _table("merula_notes_total", "Notes beside answers.", ("model", "kind"), self.notes)
        yield from _table("merula_cells_missing_total", "Cells of rows answered for that were missing.", ("model", "column"), self.missing)  # fmt: skip
        yield from _table("merula_cells_unseen_total", "Cells that held a level never seen at fit.", ("model", "column"), self.unseen)  # fmt: skip

    def _of_work(self, work: Work) -> Iterator[str]:
        told = {
            "merula_working": ("gauge", "Requests that are worked on by threads.", work.busy),
            "merula_waiting": ("gauge", "Requests that wait for a place.", work.waiting),
            "merula_held_bytes": ("gauge", "Bytes of bodies in memory.", work.held),
            "merula_read_bytes_total": ("counter", "Bytes of bodies read.", self.read),
            "merula_sent_bytes_total": ("counter", "Bytes of answers sent.", self.sent),
            "merula_started_seconds": ("gauge", "When the service began, in seconds since 1970.", self.begun),
        }
        for name, (kind, what, value) in told.items():
            yield from _family(name, kind, what)
            yield _line(name, {}, value)


def _of_models(shelf: Shelf) -> Iterator[str]:
    yield from _family("merula_model_info", "gauge", "The models that are served, by name and hash.")
    for name, served in shelf.models.items():
        yield _line("merula_model_info", {"model": name, "hash": served.hash, "kind": served.kind}, 1)
    yield from _family("merula_model_problem", "gauge", "1 where a newer file of a model was refused.")
    for name in shelf.models:
        yield _line("merula_model_problem", {"model": name}, int(name in shelf.problems))
    yield from _table("merula_model_files_total", "Files of models by what became of them.", ("model", "outcome"), shelf.loads)  # fmt: skip


def _table(name: str, what: str, labels: tuple[str, str], counts: Mapping[tuple[str, str], float]) -> Iterator[str]:
    yield from _family(name, "counter", what)
    for key, count in counts.items():
        yield _line(name, dict(zip(labels, key, strict=True)), count)


def _family(name: str, kind: str, what: str) -> Iterable[str]:
    return f"# HELP {name} {what}\n", f"# TYPE {name} {kind}\n"


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    number = f"{value:.9g}" if isinstance(value, float) and not value.is_integer() else f"{int(value)}"
    return f"{name}{{{inner}}} {number}\n" if inner else f"{name} {number}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
