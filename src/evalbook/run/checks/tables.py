"""The check that compares two CSV files by column name."""

import csv
import io
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from evalbook.records.checks import ColumnType, CsvEquals
from evalbook.run.checks.answers import (
    Answer,
    BrokenCheckError,
    UnreadableError,
    broken_if_unreadable,
    listed,
    quoted,
)
from evalbook.run.checks.reading import text_of
from evalbook.run.checks.rows import Row, compare_rows, missing_and_extra

_INTEGER = re.compile(r"[+-]?[0-9]{1,1000}")
_DECIMAL = re.compile(
    r"[+-]?([0-9]{1,1000}(\.[0-9]{0,1000})?|\.[0-9]{1,1000})([eE][+-]?[0-9]{1,3})?"
)


class _Table(NamedTuple):
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    lines: tuple[int, ...]
    """The 1-based line on which each row ends."""


def csv_equals(check: CsvEquals, workspace: Path, references: Path) -> Answer:
    """Hold when both files have the same columns, in any order, and the same rows.

    A byte order mark, CRLF and blank lines make no difference. A column declared ``integer`` or
    ``decimal`` is compared as a number (2 = 02, and as decimals 2 = 2.0 = 2e0), spaces around it left
    aside; a cell that is no such number equals only the same text. All other cells are compared as
    they stand. A row that occurs twice must occur twice.
    """
    with broken_if_unreadable("the reference"):
        reference = _read(references, check.expected)
    unknown = [name for name in check.columns if name not in reference.columns]
    if unknown:
        raise BrokenCheckError(f"expected/{check.expected} has no column {listed(unknown)}")
    table = _read(workspace, check.file)
    wrong = missing_and_extra(reference.columns, table.columns)
    if wrong:
        expected = f"the columns {listed(reference.columns)}"
        return Answer("failed", expected, wrong, f"{check.file}, line 1")
    return compare_rows(
        _rows(reference, reference.columns, check.columns),
        _rows(table, reference.columns, check.columns),
        check.order,
        check.file,
    )


def _read(folder: Path, name: str) -> _Table:
    text = text_of(folder, name)
    if "\0" in text:
        raise UnreadableError("holds a NUL byte, so it is no CSV", name)
    records = _records(text, name)
    columns, _ = next(records, ((), 0))
    if not columns:
        raise UnreadableError("is empty: not even a header", name)
    twice = [column for column, times in Counter(columns).items() if times > 1]
    if twice:
        raise UnreadableError(f"names the column {listed(twice)} twice", f"{name}, line 1")
    rows, lines = [], []
    for cells, line in records:
        if len(cells) != len(columns):
            raise UnreadableError(
                f"has {len(cells)} cells in a row, but {len(columns)} columns",
                f"{name}, line {line}",
            )
        rows.append(dict(zip(columns, cells, strict=True)))
        lines.append(line)
    return _Table(columns, tuple(rows), tuple(lines))


class _Record(NamedTuple):
    cells: tuple[str, ...]
    line: int


def _records(text: str, name: str) -> Iterator[_Record]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            if cells:
                yield _Record(tuple(cells), reader.line_num)
    except csv.Error as error:
        raise UnreadableError(f"is no CSV: {error}", f"{name}, line {reader.line_num}") from None


def _rows(
    table: _Table, columns: Sequence[str], types: Mapping[str, ColumnType]
) -> tuple[Row, ...]:
    return tuple(
        Row(
            tuple(_key(row[column], types.get(column, "text")) for column in columns),
            ", ".join(f"{column}={quoted(row[column])}" for column in columns),
            f"line {line}",
        )
        for row, line in zip(table.rows, table.lines, strict=True)
    )


def _key(cell: str, kind: ColumnType) -> Hashable:
    number = cell.strip(" \t")
    pattern = {"text": None, "integer": _INTEGER, "decimal": _DECIMAL}[kind]
    if pattern is not None and pattern.fullmatch(number):
        return Decimal(number)
    return cell
