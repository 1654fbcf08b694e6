"""Past answers worked out again from their record, and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merula.cli.jobs.models import open_model
from merula.cli.jobs.recording import explained_again, predicted_again, queried_again
from merula.core import InputError
from merula.core.fingerprint import file_hash
from merula.core.journal import Entry, read_journal
from merula.core.recording import other_versions
from merula.show.numbers import several

MOST_SHOWN, SHORT = 10, 12
NEEDS = "what a service answered is reproduced by the packages that serve: pip install 'merula[serve]'"
MISSING = (TypeError, AttributeError, LookupError)


@dataclass
class Reproduced:
    """What became of the entries of a record: how many gave the same answers again, and what is wrong with the others."""

    log: str
    asked: int = 0
    same: int = 0
    wrong: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    last_hash: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether nothing differs."""
        return not self.wrong

    def told(self) -> str:
        """In sentences."""
        lines = [f"{self.log}, line {line}: {text}" for line, text in self.wrong[:MOST_SHOWN]]
        if len(self.wrong) > MOST_SHOWN:
            lines.append(f"… and {len(self.wrong) - MOST_SHOWN} more")
        end = [f"the last hash of the record is {self.last_hash}"] if self.last_hash else []
        return "\n".join([*lines, f"{self.same} of {several(self.asked, 'answer')} reproduced bit for bit", *end])

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        wrong = [{"line": line, "problem": text} for line, text in self.wrong]
        return {"log": self.log, "answers": self.asked, "same": self.same, "sound": self.is_sound, "wrong": wrong, "last_hash": self.last_hash}  # fmt: skip


def reproduce(log: str, models: Sequence[str], lines: Sequence[int] = ()) -> Reproduced:
    """Every answer of a record, or those on some of its lines, worked out again by the model file that gave it."""
    answering, found, left = _Answering(models), Reproduced(log), set(lines)
    for entry in read_journal(log):
        found.last_hash = entry.hash or found.last_hash
        chosen = not lines or entry.line in left
        left.discard(entry.line)
        if entry.is_cut:
            found.notes.append(f"line {entry.line} of {log} {entry.broken}; it is passed over")
        elif entry.broken:
            found.wrong.append((entry.line, entry.broken))
        if chosen and entry.told is not None:
            found.asked += 1
            problem = _compared(entry, answering)
            found.same += not problem
            found.wrong += [(entry.line, problem)] if problem else []
    if left:
        raise InputError.at("--entry", f"is {min(left)}, but {log} has no such line", got=min(left))
    if not found.asked and not found.notes and not found.wrong:
        raise InputError.at(log, "holds no answers", remedy="name a record that --log wrote")
    return found


def _there(path: str) -> str:
    if Path(path).is_file():
        return path
    open_model(path)  # which says what is wrong
    raise InputError.at(path, "is no file", expected="a model")


class _Answering:
    """The models that are asked again: each known by the hash of its file, and opened once."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = {file_hash(_there(path)): path for path in paths}
        self._opened: dict[tuple[str, ...], Any] = {}
        self._by: dict[str, Callable[[str, str, Mapping[str, Any]], Any]] = {
            "predict": lambda path, _, asked: predicted_again(self._once(open_model, path), asked),
            "explain": lambda path, _, asked: explained_again(self._once(open_model, path), asked),
            "network query": lambda path, _, asked: queried_again(path, asked),
            "serve": self._served,
        }

    def again(self, model: Mapping[str, str], asked: Mapping[str, Any]) -> Any:
        """What the model answers now."""
        return self._by[asked["by"]](self.paths[model["hash"]], model["name"], asked)

    def _served(self, path: str, name: str, asked: Mapping[str, Any]) -> Any:
        try:
            from merula.web.service.models import load_served
            from merula.web.service.recording import answered_again
        except ImportError:
            raise ImportError(NEEDS) from None
        return answered_again(self._once(lambda *_: load_served(name, Path(path))[0], path, name), asked)

    def _once(self, opened: Callable[..., Any], *named: str) -> Any:
        if named not in self._opened:
            self._opened[named] = opened(*named)
        return self._opened[named]


def _compared(entry: Entry, answering: _Answering) -> str:
    """What is wrong with one entry; nothing where it gives the same answer, by the same versions."""
    told = dict(entry.told or {})
    try:
        asked, model = told["asked"], told["model"]
        if model["hash"] not in answering.paths:
            others = ", ".join(f"{name} is {digest[:SHORT]}…" for digest, name in answering.paths.items())
            return f"was answered by another model: {model['name']!r} was {model['hash'][:SHORT]}…, {others}"
        versions, again = other_versions(told["versions"]), answering.again(model, asked)
    except MISSING as error:
        return f"is no answer that this merula records ({type(error).__name__}: {error!s:.100})"
    except ValueError as error:
        return f"cannot be answered again: {error!s:.300}"
    differs = again != told.get("answered")
    if versions:
        return f"was answered by other versions ({'; '.join(versions)}), and the answer is {'another' if differs else 'the same'} now"
    return "has another answer now, by the same model and versions" if differs else ""
