"""The cells of an F9 table, read as what they must be."""

import csv
import difflib
import io
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, get_args

from evalbook.base.problems import UserError
from evalbook.base.times import decimal_text
from evalbook.records.attempt import F9_COLUMNS
from evalbook.records.fields import Setting, Verdict
from evalbook.run.importers.cells import Cells, needed
from evalbook.run.importers.reading import ReadFile, printable, quoted, text_of
from evalbook.run.importers.values import UNKNOWN
from evalbook.run.importers.words import error_line, instant_of, raw_word

NUMBER = "attempt"
"""A column that is no part of F9: the attempt's number, for tables whose rows have no id."""
_NEEDED = ("task_id", "verdict")
_DEFUSED = re.compile(r"'(?=['=+\-@\x00-\x1f])")
"""An apostrophe that `evalbook export csv` put before what a spreadsheet would run."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DECIMAL = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?")
_WHOLE = re.compile(r"[0-9]{1,15}")
_CURRENCY = re.compile(r"[A-Z]{3}")


def table(file: ReadFile) -> Iterator[Cells]:
    """Yield the rows by column name, apostrophes of the export taken off; empty cells left out."""
    text = text_of(file)
    if "\0" in text:
        raise UserError(f"{file.shown}: holds a NUL byte, so it is no CSV")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = _columns(file, next(reader, []))
        for row in reader:
            if not row:
                continue
            where = f"{file.shown}: line {reader.line_num}"
            if len(row) != len(columns):
                raise UserError(f"{where}: has {len(row)} cells, the header {len(columns)}")
            plain = (_DEFUSED.sub("", cell, count=1) if cell[:1] == "'" else cell for cell in row)
            yield Cells(
                where, {key: cell for key, cell in zip(columns, plain, strict=True) if cell}
            )
    except csv.Error as error:
        where = f"{file.shown}: line {reader.line_num}"
        raise UserError(f"{where}: is no CSV: {printable(str(error))}") from None


def _columns(file: ReadFile, header: Sequence[str]) -> tuple[str, ...]:
    known = (*F9_COLUMNS, NUMBER)
    for column in header:
        if column not in known:
            close = difflib.get_close_matches(column, known, n=1)
            raise UserError(
                f"{file.shown}: line 1: there is no column {quoted(column)}",
                hint=f"did you mean {close[0]}?"
                if close
                else f"columns are {', '.join(F9_COLUMNS)}",
            )
        if header.count(column) > 1:
            raise UserError(f"{file.shown}: line 1: the column {column} is there twice")
    missing = [column for column in _NEEDED if column not in header]
    if not {"attempt_id", NUMBER} & set(header):
        missing.append("attempt_id")
    if missing:
        raise UserError(f"{file.shown}: line 1: the column {missing[0]} is missing")
    return tuple(header)


def fields(cells: Cells) -> dict[str, Any]:
    """Return the fields of a row; an infra_error counts as not judged, which F9 does not say."""
    verdict = needed(cells, "verdict", cells.text("verdict"))
    if verdict not in get_args(Verdict):
        raise cells.error(f"verdict is {quoted(verdict)}, not {', '.join(get_args(Verdict))}")
    failed = cells.text("failed_checks") or ""
    dependency = cells.text("dependency_error")
    return {
        "verdict": verdict,
        "judged": verdict != "infra_error",
        "termination": UNKNOWN,
        "failed_checks": tuple(each.strip() for each in failed.split(";") if each.strip()),
        "started_at": instant_of(cells.text("started_at") or ""),
        "ended_at": instant_of(cells.text("ended_at") or ""),
        "artifact_ref": sha256(cells, "artifact_ref"),
        "trace_ref": sha256(cells, "trace_ref"),
        "tool_retries": whole(cells, "tool_retries"),
        "human_help": whole(cells, "human_help"),
        "elapsed_seconds": _decimal(cells, "elapsed_seconds"),
        "dependency_error": error_line(dependency) if dependency else None,
        **_cost(cells),
    }


def _cost(cells: Cells) -> dict[str, str | None]:
    cost = _decimal(cells, "cost")
    currency = cells.text("currency")
    if cost is None:
        return {"cost": UNKNOWN, "currency": None}
    if currency is None or not _CURRENCY.fullmatch(currency):
        raise cells.error(
            f"cost is {cost}, but currency is {quoted(currency or '')}",
            hint="a known cost has a currency of three capitals, an unknown one says unknown",
        )
    return {"cost": cost, "currency": currency}


def raw_words(cells: Cells) -> Iterator[Setting]:
    """Yield the row's own words: its verdict and its id."""
    for column in ("attempt_id", "verdict"):
        if cells.has(column):
            yield raw_word(column, cells.text(column))


def sha256(cells: Cells, column: str) -> str | None:
    """Return a SHA-256; None where the cell is empty or says ``unknown``."""
    value = cells.text(column)
    if value is None or value == UNKNOWN:
        return None
    if not _SHA256.fullmatch(value):
        raise cells.error(f"{column} is {quoted(value)}, not a SHA-256")
    return value


def whole(cells: Cells, column: str) -> int | None:
    """Return a whole number; None where the cell is empty or says ``unknown``."""
    value = cells.text(column)
    if value is None or value == UNKNOWN:
        return None
    if not _WHOLE.fullmatch(value):
        raise cells.error(f"{column} is {quoted(value)}, not a whole number")
    return int(value)


def _decimal(cells: Cells, column: str) -> str | None:
    value = cells.text(column)
    if value is None or value == UNKNOWN:
        return None
    if not _DECIMAL.fullmatch(value):
        raise cells.error(f"{column} is {quoted(value)}, not a number of at least 0")
    return decimal_text(Decimal(value))
