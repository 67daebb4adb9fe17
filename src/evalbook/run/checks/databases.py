"""The check that asks a SQLite database."""

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path

from evalbook.records.checks import SqliteEquals
from evalbook.run.checks.answers import Answer, BrokenCheckError, UnreadableError, quoted
from evalbook.run.checks.reading import opened
from evalbook.run.checks.rows import Row, compare_rows

_LONGEST_S = 20.0
_STEPS_BETWEEN_LOOKS = 20_000
_ROWS_BEYOND = 1_000
"""So many more rows than expected are read before giving up."""
_LONGEST_VALUE = 16 << 20
_JOURNAL_IN_USE = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_READING = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:select|with|values)\b", re.IGNORECASE | re.DOTALL
)
_ALLOWED = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_LARGEST = 1 << 30
"""Bytes; a larger database is not copied."""


def sqlite_equals(check: SqliteEquals, workspace: Path, scratch: Path) -> Answer:
    """Hold when the query gives exactly these rows, with 1 = 1.0.

    The database is copied to ``scratch`` first, with its write-ahead log if it has one, and only read
    there. One that was left amid a transaction is unreadable. True and false stand for 1 and 0; a blob
    is written as ``x'0a1b'``. TOML has no null: use ``coalesce`` in the query.

    A query that is no single SELECT, or is wrong whatever the tables, breaks the check; a missing
    table or column, or taking longer than 20 s on what the agent left, fails it.
    """
    _check_query(check.query)
    expected = [_row(values, number) for number, values in enumerate(check.rows, 1)]
    guard = _Guard()
    with _copied(check.file, workspace, scratch) as connection:
        connection.set_authorizer(guard)
        try:
            cursor = connection.execute(check.query)
            found = cursor.fetchmany(len(expected) + _ROWS_BEYOND)
        except (sqlite3.Error, OverflowError) as error:
            if guard.refused_query:
                raise BrokenCheckError(f"the query does more than read: {error}") from None
            raise UnreadableError(f"gives no answer: {error}", check.file) from None
    actual = [_row(values, number) for number, values in enumerate(found, 1)]
    return compare_rows(expected, actual, check.order, check.file)


def _check_query(query: str) -> None:
    """Raise BrokenCheckError for a query that is wrong on any database."""
    if not _READING.match(query):
        raise BrokenCheckError("the query must be one SELECT")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.set_authorizer(_Guard())
        try:
            connection.execute(f"EXPLAIN {query}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            if "no such table" not in str(error):
                raise BrokenCheckError(f"the query is wrong: {error}") from None


@contextmanager
def _copied(name: str, workspace: Path, scratch: Path) -> Iterator[sqlite3.Connection]:
    copy = scratch / "database"
    scratch.mkdir(parents=True, exist_ok=True)
    _refuse_hot_journal(workspace, f"{name}-journal")
    _copy(workspace, name, copy)
    try:
        _copy(workspace, f"{name}-wal", scratch / "database-wal")
        mode = "rw"  # only so can SQLite read the log; it is a copy
    except UnreadableError:
        mode = "ro&immutable=1"
    with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode={mode}", uri=True)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.text_factory = _text
        # Its views and triggers are the agent's: they get no functions with side effects.
        connection.execute("PRAGMA trusted_schema = OFF")
        deadline = time.monotonic() + _LONGEST_S
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
        yield connection


def _copy(workspace: Path, name: str, target: Path) -> None:
    with opened(workspace, name) as source, target.open("wb") as file:
        if os.fstat(source.fileno()).st_size > _LARGEST:
            raise UnreadableError(f"is larger than {_LARGEST >> 20} MiB", name)
        shutil.copyfileobj(source, file)


def _refuse_hot_journal(workspace: Path, name: str) -> None:
    try:
        with opened(workspace, name) as file:
            hot = file.read(len(_JOURNAL_IN_USE)) == _JOURNAL_IN_USE
    except UnreadableError:
        return
    if hot:
        raise UnreadableError("was left in the middle of a transaction", name)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "backslashreplace")


class _Guard:
    """Lets a statement only read; remembers whether the query itself, not a view, wanted more."""

    def __init__(self) -> None:
        self.refused_query = False

    def __call__(
        self,
        action: int,
        _first: str | None,
        second: str | None,
        _database: str | None,
        by: str | None,
    ) -> int:
        loads = action == sqlite3.SQLITE_FUNCTION and second == "load_extension"
        if action in _ALLOWED and not loads:
            return sqlite3.SQLITE_OK
        self.refused_query = self.refused_query or by is None
        return sqlite3.SQLITE_DENY


def _row(values: Sequence[object], number: int) -> Row:
    return Row(
        tuple(_key(value) for value in values),
        ", ".join(_shown(value) for value in values) or "nothing",
        f"row {number} of the answer",
    )


def _key(value: object) -> Hashable:
    match value:
        case bool() | int():
            return Decimal(value)
        case float():
            return Decimal(repr(value))
        case bytes():
            return f"x'{value.hex()}'"
        case str() | None:
            return value
        case _:
            raise BrokenCheckError(f"{value} can't be a value of a SQLite row")


def _shown(value: object) -> str:
    match value:
        case str():
            return quoted(value)
        case None:
            return "NULL"
        case bytes():
            return f"x'{value.hex()}'"
        case _:
            return str(value)
