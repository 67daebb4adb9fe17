"""Rows of a source that the book has otherwise, or that are gone from the source."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from evalbook.base.canonical import canonical_json
from evalbook.records.attempt import F9_COLUMNS, Attempt
from evalbook.run.importers.known import KnownBook, counterpart
from evalbook.run.importers.values import UNKNOWN, Import, ImportedRun

_DIFFERS_ANYHOW = frozenset(
    {"record", "attempt_id", "request_id", "rerun_of", "rerun_of_sha256", "recovery_of"}
    | {"recovery_of_sha256", "source"}
)
"""Fields of a row that are the book's own, or name other rows by the book's ids."""
_FIRST = ("verdict", "task_id", "config_ref", "termination", "judged")
"""Compared first, so that a contradiction names what matters."""


class Contradiction(NamedTuple):
    """One row of a file that says something else than its row in the book."""

    key: str
    """Of the attempt in its source."""
    attempt_id: str
    """Of the row in the book."""
    field: str
    """The most important one that differs; ``source reward`` for one of the source's own words."""
    in_book: str
    in_file: str


class Vanished(NamedTuple):
    """One row of the book whose run is in the file, but which is gone from it."""

    key: str
    attempt_id: str
    verdict: str


def contradictions(run: ImportedRun, book: KnownBook) -> Iterator[Contradiction]:
    """Yield the rows of a run that say something else than their rows in the book."""
    for row in run.attempts:
        there = counterpart(row, book)
        if there is None or row.source is None:
            continue
        for field, in_book, in_file in _differences(row, there):
            yield Contradiction(row.source.key, there.attempt_id, field, in_book, in_file)
            break


class _Difference(NamedTuple):
    field: str
    in_book: str
    in_file: str


def _differences(row: Attempt, there: Attempt) -> Iterator[_Difference]:
    """Yield what a row says otherwise than its counterpart, the most important first."""
    if row.source is None:
        return
    renamed = there.source is not None and there.source.key != row.source.key
    same_format = there.source is not None and not (
        row.source.key.startswith("csv:") and not there.source.key.startswith("csv:")
    )
    names = [*_FIRST, *(name for name in Attempt.model_fields if name not in _FIRST)]
    for name in names:
        # What a file's name says may differ where the same bytes have another name.
        if name in _DIFFERS_ANYHOW or (renamed and name == "config_ref" and same_format):
            continue
        said, known = getattr(row, name), getattr(there, name)
        if said != known and (same_format or (name in F9_COLUMNS and _says(said))):
            yield _Difference(name, _shown(known), _shown(said))
    if same_format and there.source is not None:
        old = {word.key: word.value for word in there.source.raw}
        new = {word.key: word.value for word in row.source.raw}
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                missing = "nothing"
                yield _Difference(f"source {key}", old.get(key, missing), new.get(key, missing))


def _says(value: object) -> bool:
    """Whether a cell of a table says anything; an empty one contradicts nobody."""
    return value not in {None, UNKNOWN, ()}


def _shown(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or "nothing"
    if isinstance(value, tuple) and any(not isinstance(each, str) for each in value):
        return canonical_json([each.model_dump(exclude_defaults=True) for each in value]).decode()
    return canonical_json(value).decode()


def vanished(new: Import, matched: Collection[str], book: KnownBook) -> Iterator[Vanished]:
    """Yield the book's rows of the runs in the files that the files no longer have."""
    found = {row.source.key for run in new.runs for row in run.attempts if row.source}
    identities = {run.identity for run in new.runs}
    for key, row in sorted(book.rows.items()):
        in_file = key in found or row.attempt_id in matched
        if key.partition("/")[0] in identities and not in_file:
            yield Vanished(key, row.attempt_id, row.verdict)
