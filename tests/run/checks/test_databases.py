import shutil
import sqlite3
from contextlib import closing

import pytest
from tests.run.checks.graded import Desk


def database(desk: Desk, *statements: str, name: str = "a.db") -> Desk:
    with closing(sqlite3.connect(desk.workspace / name)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return desk


ORDERS = (
    "CREATE TABLE orders (id INTEGER, total REAL, note TEXT, raw BLOB)",
    "INSERT INTO orders VALUES (1, 2.0, 'a', x'0a1b'), (2, 0.1, NULL, NULL)",
)


def test_equal_rows_hold_with_numbers_by_value(desk: Desk) -> None:
    database(desk, *ORDERS)
    found = desk.outcome(
        "sqlite_equals", file="a.db", query="SELECT id, total FROM orders", rows=[(1, 2), (2, 0.1)]
    )
    assert (found.outcome, found.actual) == ("held", "2 rows, all equal")


def test_text_blob_and_null_have_a_form(desk: Desk) -> None:
    database(desk, *ORDERS)
    query = "SELECT note, raw FROM orders ORDER BY id"
    rows = [("a", "x'0a1b'"), (None, None)]
    assert desk.outcome("sqlite_equals", file="a.db", query=query, rows=rows).outcome == "held"
    found = desk.outcome("sqlite_equals", file="a.db", query=query, rows=[("a", "b"), (None, None)])
    assert found.expected == '"a", "b"'
    assert found.actual == "\"a\", x'0a1b'"
    assert found.evidence == "a.db, row 1 of the answer"


def test_a_text_is_not_the_number_it_looks_like(desk: Desk) -> None:
    database(desk, "CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES ('1')")
    facts = {"file": "a.db", "query": "SELECT a FROM t"}
    assert desk.outcome("sqlite_equals", rows=[(1,)], **facts).outcome == "failed"
    assert desk.outcome("sqlite_equals", rows=[("1",)], **facts).outcome == "held"


def test_order_and_number_of_rows_count_as_declared(desk: Desk) -> None:
    database(desk, *ORDERS)
    facts = {"file": "a.db", "query": "SELECT id FROM orders ORDER BY id"}
    assert desk.outcome("sqlite_equals", rows=[(2,), (1,)], **facts).outcome == "failed"
    assert desk.outcome("sqlite_equals", rows=[(2,), (1,)], order="any", **facts).outcome == "held"
    assert desk.outcome("sqlite_equals", rows=[(1,)], **facts).outcome == "failed"
    assert desk.outcome("sqlite_equals", rows=[], **facts).outcome == "failed"


def test_what_stands_in_the_write_ahead_log_counts(desk: Desk) -> None:
    source = desk.top / "live.db"
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (7)")
        connection.commit()
        # As a killed process leaves it: copied while the log has not been written back.
        for suffix in ("", "-wal"):
            shutil.copy(f"{source}{suffix}", desk.workspace / f"a.db{suffix}")
    before = (desk.workspace / "a.db").read_bytes()
    found = desk.outcome("sqlite_equals", file="a.db", query="SELECT a FROM t", rows=[(7,)])
    assert found.outcome == "held"
    assert (desk.workspace / "a.db").read_bytes() == before


def test_a_database_left_amid_a_transaction_fails(desk: Desk) -> None:
    database(desk, *ORDERS)
    (desk.workspace / "a.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(500))
    found = desk.outcome("sqlite_equals", file="a.db", query="SELECT 1", rows=[(1,)])
    assert (found.outcome, found.actual) == ("failed", "was left in the middle of a transaction")


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_what_is_no_database_or_lacks_the_table_fails(desk: Desk, content: bytes) -> None:
    desk.with_files({"a.db": content})
    found = desk.outcome("sqlite_equals", file="a.db", query="SELECT a FROM t", rows=[])
    assert found.outcome == "failed"
    assert found.actual.startswith("gives no answer: ")


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM orders",
        "WITH x AS (SELECT 1) DELETE FROM orders",
        "PRAGMA user_version = 3",
        "ATTACH 'other.db' AS other",
        "SELECT 1; DROP TABLE orders",
        "SELEC 1",
        "SELECT nosuch(1)",
        "SELECT load_extension('x')",
        "SELECT id FROM orders WHERE",
    ],
)
def test_a_query_that_is_no_single_right_select_breaks_the_check(desk: Desk, query: str) -> None:
    database(desk, *ORDERS)
    before = (desk.workspace / "a.db").read_bytes()
    assert desk.outcome("sqlite_equals", file="a.db", query=query, rows=[]).outcome == "error"
    assert (desk.workspace / "a.db").read_bytes() == before


def test_the_schema_can_be_asked_for(desk: Desk) -> None:
    database(desk, "CREATE TABLE t (a INTEGER NOT NULL)")
    query = "SELECT sql FROM sqlite_master WHERE name = 't'"
    rows = [("CREATE TABLE t (a INTEGER NOT NULL)",)]
    assert desk.outcome("sqlite_equals", file="a.db", query=query, rows=rows).outcome == "held"


def test_a_view_that_wants_more_than_reading_is_the_agents_fault(desk: Desk) -> None:
    database(desk, "CREATE VIEW v AS SELECT load_extension('/tmp/x') AS a")
    found = desk.outcome("sqlite_equals", file="a.db", query="SELECT a FROM v", rows=[(1,)])
    assert found.outcome == "failed"


def test_a_view_made_to_run_for_ever_fails_after_its_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbook.run.checks.databases._LONGEST_S", 0.2)
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS a FROM n"
    )
    database(desk, f"CREATE VIEW t AS {endless}")
    found = desk.outcome("sqlite_equals", file="a.db", query="SELECT a FROM t", rows=[(1,)])
    assert (found.outcome, found.actual) == ("failed", "gives no answer: interrupted")


def test_endless_rows_are_not_all_read(desk: Desk) -> None:
    endless = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a FROM n"
    database(desk, f"CREATE VIEW t AS {endless}")
    found = desk.outcome("sqlite_equals", file="a.db", query="SELECT a FROM t", rows=[(1,)])
    assert (found.outcome, found.actual) == ("failed", "2")


def test_a_value_too_large_is_refused(desk: Desk) -> None:
    database(desk, "CREATE VIEW v AS SELECT zeroblob(900000000) AS a")
    found = desk.outcome("sqlite_equals", file="a.db", query="SELECT a FROM v", rows=[(1,)])
    assert found.outcome == "failed"
