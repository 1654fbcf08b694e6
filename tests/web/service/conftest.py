"""A service that runs in a thread of the tests, the models it serves, and a plain client."""

import asyncio
import contextlib
import http.client
import json
import socket
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import merula as mr
from merula.answers.decision import read_costs
from merula.classify.saved import SavedModel, write_model
from merula.web.service import Service, Settings, named_files
from merula.web.service.running import StoppingServer, configured

PENGUINS = Path(mr.__file__).parent / "data" / "penguins.csv"
COSTS = {"release": {"Adelie": 0, "Chinstrap": 5, "Gentoo": 5}, "ring": {"Adelie": 1, "Chinstrap": 0, "Gentoo": 0}}


def penguins():
    table = pd.read_csv(PENGUINS)
    return table, table.pop("species")


def messy():
    """A table as people have it: money in words, dates, yes and no, texts, levels that are numbers."""
    rng = np.random.default_rng(3)
    ill = rng.random(200) < 0.4
    table = pd.DataFrame(
        {
            "bill": [f"${value:,.2f}" for value in rng.normal(2_000 + 500 * ill, 300)],
            "größe": np.where(rng.random(200) < 0.1, np.nan, rng.normal(170 + 5 * ill, 8).round(1)),
            "色泽": np.where(rng.random(200) < 0.2 + 0.6 * ill, "乌黑", "浅白"),
            "smokes": np.where(rng.random(200) < 0.3 + 0.3 * ill, "yes", "no"),
            "ward": rng.integers(1, 5, 200),
            "seen on": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, 200), unit="D"),
            "remark": rng.choice(["pain in the left knee", "feels well", "cough since last week", "no sleep"], 200),
        }
    )
    return table, np.where(ill, "ill", "healthy")


FRUIT = pd.DataFrame({"colour": ["red", "red", "blue", "blue", "blue"], "shape": ["round"] * 2 + ["long"] * 3})
KINDS = {"ward": "categorical", "remark": "text", "bill": "numeric"}


def tree():
    """A network of three variables whose answers can be worked out by hand."""
    network = mr.BayesianNetwork().add("rain", ["no", "yes"], [0.8, 0.2])
    network = network.add("sprinkler", ["off", "on"], {"no": [0.6, 0.4], "yes": [0.99, 0.01]}, parents=["rain"])
    table = {
        ("no", "off"): [1.0, 0.0],
        ("no", "on"): [0.1, 0.9],
        ("yes", "off"): [0.2, 0.8],
        ("yes", "on"): [0.01, 0.99],
    }
    return network.add("grass", ["dry", "wet"], table, parents=["rain", "sprinkler"])


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Files of models of every kind of column, by name."""
    folder = tmp_path_factory.mktemp("models")
    table, species = penguins()
    made = {
        "penguins": mr.NaiveBayesClassifier().fit(table, species),
        "tree": mr.TANClassifier().fit(table, species),
        "strict": mr.NaiveBayesClassifier(unseen="error").fit(table, species),
        "gaps": mr.NaiveBayesClassifier(missing="level").fit(table, species),
        "numbers": mr.NaiveBayesClassifier().fit(table.select_dtypes("number"), (species == "Gentoo").astype(int)),
        "zeros": mr.NaiveBayesClassifier(smoothing=0).fit(FRUIT, ["apple", "apple", "plum", "plum", "plum"]),
        "glass": mr.LogLinearClassifier(max_rounds=5).fit(table, species),
    }
    rows, classes = messy()
    made["messy"] = mr.NaiveBayesClassifier(kinds=KINDS).fit(rows, classes)
    counts = np.random.default_rng(0).poisson(1, (60, 3)) + np.arange(60)[:, None] % 2
    made["words"] = mr.NaiveBayesClassifier(kinds="text").fit(
        pd.DataFrame(counts, columns=["free", "entry", "hello"]), np.arange(60) % 2
    )
    for name, model in made.items():
        model.save(folder / f"{name}.merula")
    costs = read_costs(COSTS, made["penguins"].classes_)
    write_model(SavedModel(made["penguins"], str(folder / "priced.merula"), "species", costs, ()))
    tree().write(folder / "garden.json")
    return {name: folder / f"{name}.merula" for name in (*made, "priced")} | {"garden": folder / "garden.json"}


class Running:
    """A service in a thread."""

    def __init__(self, files, settings):
        self.lines = []
        self.service = Service(named_files(files), settings, self.lines.append)
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(1_024)
        self.port = self._listener.getsockname()[1]
        self.server = StoppingServer(configured(self.service), self.service)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        while not self.server.started:
            self._thread.join(0.01)
            assert self._thread.is_alive()

    def _run(self):
        async def run():
            async with self.service.watched():
                await self.server.serve(sockets=[self._listener])

        asyncio.run(run())

    def stop(self):
        self.server.handle_exit(15, None)
        self._thread.join(20)
        assert not self._thread.is_alive()

    # ------------------------------------------------------------------------------------------------ asking

    def ask(self, method, path, body=None, **headers):
        """Status, headers and body of an answer."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as client:
            client.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            found = client.getresponse()
            return found.status, {name.lower(): value for name, value in found.getheaders()}, found.read()

    def json(self, path, data=None, **headers):
        """Status and what an answer says; POST where there is something to send."""
        sent = None if data is None else data if isinstance(data, bytes) else json.dumps(data).encode()
        headers = {"content_type": "application/json"} | headers
        status, _, body = self.ask("GET" if data is None else "POST", path, sent, **headers)
        return status, json.loads(body)

    def raw(self, data, seconds=5.0):
        """All that comes back for bytes that are sent as they are."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as one:
            with contextlib.suppress(OSError):
                one.sendall(data)
            found = b""
            with contextlib.suppress(OSError):
                while part := one.recv(65_536):
                    found += part
            return found

    def metrics(self):
        """{line without its number: number} of everything counted."""
        lines = self.ask("GET", "/metrics")[2].decode().splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


@contextlib.contextmanager
def running(files, **settings):
    one = Running([f"{name}={path}" for name, path in files.items()], Settings(**{"poll": 0.05, **settings}))
    try:
        yield one
    finally:
        one.stop()


@pytest.fixture(scope="module")
def service(models):
    """A service of all models, with the usual limits."""
    with running(models) as one:
        yield one
