"""The rows of the book as a CSV table for other programs."""

import csv
import io
from collections.abc import Iterable, Iterator

from evalbook.derive.book import Entry, EvaluationBook
from evalbook.records.attempt import F9_COLUMNS

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet takes for the beginning of a formula, or skips before looking for one."""


def attempts_csv(book: EvaluationBook) -> str:
    """Return one row for every attempt, reruns and excluded ones included, with the columns of F9.

    RFC 4180 with line feeds; in the order of the book. A list's items are joined with ``;``. What
    is unknown says ``unknown`` where the row does; what there is none of is an empty cell. A cell
    that a spreadsheet would run as a formula, or that begins with an apostrophe already, gets an
    apostrophe before it: take one off again to have the value.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(F9_COLUMNS)
    for entry in book.entries:
        writer.writerow(_cells(entry))
    return text.getvalue()


def _cells(entry: Entry) -> Iterator[str]:
    for column in F9_COLUMNS:
        if column == "excluded_reason":
            yield defused(entry.exclusion.reason if entry.exclusion else "")
        else:
            yield defused(_cell(getattr(entry.attempt, column)))


def _cell(value: str | int | Iterable[str] | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str | int):
        return str(value)
    return ";".join(value)


def defused(cell: str) -> str:
    """Return ``cell`` so that a spreadsheet shows it as text.

    Control characters in front count as well: some programs skip them and run what follows.
    """
    if cell.startswith(("'", *_FORMULA)) or (cell and ord(cell[0]) < ord(" ")):
        return f"'{cell}"
    return cell
