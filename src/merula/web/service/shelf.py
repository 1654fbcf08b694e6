"""Where models stand while they are served: a changed file is loaded beside the old one and swapped whole, a broken one refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from merula.core import InputError, located
from merula.web.service.models import Served, Signature, load_served, signature
from merula.web.service.refusals import not_found

Told = Callable[..., None]


class Shelf:
    """The models by name, and what is wrong with a newer file of one, if anything is."""

    def __init__(self, files: Mapping[str, Path], tell: Told) -> None:
        self.files, self._tell = dict(files), tell
        self.models: dict[str, Served] = {}
        self.problems: dict[str, str] = {}
        self.loads: dict[tuple[str, str], int] = {}
        self._seen: dict[str, Signature | None] = {}

    def load_all(self) -> None:
        """Load every model; an error for the first that cannot be."""
        for name, path in self.files.items():
            try:
                self.models[name], self._seen[name] = load_served(name, path)
            except InputError as error:
                raise located(error, str(path)) from None
            self._count(name, "loaded")

    def get(self, name: str) -> Served:
        """The model of this name."""
        try:
            return self.models[name]
        except KeyError:
            raise not_found("there is no model of this name") from None

    async def watch(self, seconds: float) -> None:
        """Look at the files again and again, and take up what has changed."""
        while True:
            await asyncio.sleep(seconds)
            for name in self.files:
                await self.look_at(name)

    async def look_at(self, name: str) -> None:
        """Take up one model's file, if it has changed and is sound; the old model answers until the new one is whole."""
        found = await asyncio.to_thread(_signature, self.files[name])
        if found == self._seen[name]:
            return
        try:
            served, taken = await asyncio.to_thread(load_served, name, self.files[name])
        except Exception as error:
            # Another file may stand there by now: it is looked at again, as long as this one has not been
            self._seen[name] = found
            self._refused(name, error)
            return
        self._seen[name] = taken
        changed = served.hash != self.models[name].hash
        self.problems.pop(name, None)
        if changed:
            self.models[name] = served
            self._count(name, "swapped")
            self._tell("model swapped", model=name, hash=served.hash)

    def _refused(self, name: str, error: Exception) -> None:
        told = str(error) if isinstance(error, InputError) else type(error).__name__
        reason = " ".join(told.split())[:500]
        self.problems[name] = f"{reason}; the model that was loaded before goes on answering"
        self._count(name, "refused")
        self._tell("model refused", model=name, hash=self.models[name].hash, reason=reason)

    def _count(self, name: str, outcome: str) -> None:
        self.loads[name, outcome] = self.loads.get((name, outcome), 0) + 1


def _signature(path: Path) -> Any:
    try:
        return signature(path)
    except OSError:
        return None
