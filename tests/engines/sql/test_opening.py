"""What names rows that stay where they are, and what does not."""

import duckdb
import pyarrow as pa
import pytest

import merula as mr
from merula.engines.sql import open_remote


def test_a_url_names_a_file_and_a_table_or_a_query(tmp_path):
    path = tmp_path / "shop & co.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE SCHEMA sales; CREATE TABLE sales."or;ders" AS SELECT 1 AS pieces, 2 AS price')
    address = f"duckdb:///{str(path).replace(' ', '%20')}"
    by_table = open_remote(f"{address}?table=or%3Bders&schema=sales")
    assert by_table.names == ("pieces", "price")
    by_query = open_remote(address, query='SELECT price FROM sales."or;ders"')
    assert by_query.names == ("price",)
    by_table.close()
    by_query.close()


def test_connections_and_relations_are_known_and_other_things_are_not():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE orders AS SELECT 1 AS pieces")
    assert open_remote(connection, table="orders").names == ("pieces",)
    assert open_remote(connection.sql("SELECT pieces + 1 AS more FROM orders")).names == ("more",)
    for other in ("birds.csv", "s3://bucket/birds.parquet", pa.table({"wing": [1.0]}), [1, 2], None):
        assert open_remote(other) is None
    connection.close()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("duckdb:///nowhere.db?table=orders", "nowhere.db is no file"),
        ("duckdb:///shop.db?tabel=orders", "the URL says 'tabel'"),
        ("duckdb://shop.db?table=orders", "the URL names a host, 'shop.db'"),
        ("postgresql://localhost/shop", "name one table=, or give one query="),
    ],
)
def test_a_url_that_names_nothing_is_told(url, message):
    with pytest.raises(mr.InputError, match=message):
        open_remote(url)
