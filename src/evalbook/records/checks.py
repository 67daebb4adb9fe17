"""The checks a task can declare."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from evalbook.records.fields import CheckName, DecimalInput, FailureClass, Frozen, TimeLimit


def _stays_inside(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        raise ValueError("must be a relative path inside its folder, without '..'")
    return path


RelativePath = Annotated[
    str,
    StringConstraints(min_length=1, pattern=r"^[^\\\x00-\x1f]+$"),
    AfterValidator(_stays_inside),
]
"""A POSIX path inside the folder it belongs to: not absolute, no ``..``, no backslash."""

Glob = RelativePath
"""A path with ``*``, ``?`` and ``**``; matched against whole relative paths."""

ColumnType = Literal["text", "integer", "decimal"]


class _Check(Frozen):
    name: CheckName
    critical: bool = False
    """Its failure is shown first and shuts the gate whatever the average says."""
    failure_class: FailureClass | None = None
    """What a failure of this check says about the agent."""


class FileExists(_Check):
    """A regular file is there."""

    kind: Literal["file_exists"]
    file: RelativePath


class FileAbsent(_Check):
    """Nothing is there under that name."""

    kind: Literal["file_absent"]
    file: RelativePath


class BytesEqual(_Check):
    """A file equals a reference byte for byte."""

    kind: Literal["bytes_equal"]
    file: RelativePath
    expected: RelativePath
    """In the task's ``expected/``."""


class JsonEquals(_Check):
    """A JSON document, or the part of it at ``path``, equals a value or a reference file."""

    kind: Literal["json_equals"]
    file: RelativePath
    path: str = ""
    """JSON pointer (RFC 6901); empty: the whole document."""
    expected: RelativePath | None = None
    """Reference document in ``expected/``, compared at the same path."""
    value: JsonValue = None
    """The value itself, where there is no reference document."""


class CsvEquals(_Check):
    """The rows of a CSV file equal those of a reference, cell by cell and by column name."""

    kind: Literal["csv_equals"]
    file: RelativePath
    expected: RelativePath
    order: Literal["same", "any"] = "same"
    """Whether the rows must stand in the same order."""
    columns: dict[str, ColumnType] = Field(default_factory=dict)
    """How cells are compared; not named: as text."""


class JsonSchema(_Check):
    """A JSON document is valid against a JSON Schema in ``expected/``."""

    kind: Literal["json_schema"]
    file: RelativePath
    schema_file: RelativePath


class TextContains(_Check):
    """A file contains every given text. Weak: words can be right where the state is not."""

    kind: Literal["text_contains"]
    file: RelativePath
    texts: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = Field(min_length=1)
    ignore_case: bool = False


class CommandSucceeds(_Check):
    """A command ends with the given exit code, run in a copy of the workspace."""

    kind: Literal["command"]
    command: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = Field(min_length=1)
    """``{evaluation}``, ``{task}``, ``{workspace}`` and ``{python}`` are filled in."""
    exit_code: int = 0
    time_limit_s: TimeLimit = "60"


class SqliteEquals(_Check):
    """A query on a SQLite database, opened read-only, gives exactly these rows."""

    kind: Literal["sqlite_equals"]
    file: RelativePath
    query: Annotated[str, StringConstraints(min_length=1)]
    rows: tuple[tuple[JsonValue, ...], ...]
    order: Literal["same", "any"] = "same"


class HttpEquals(_Check):
    """An HTTP GET answers with this status and, where given, this body."""

    kind: Literal["http_equals"]
    url: Annotated[str, StringConstraints(pattern=r"^https?://")]
    status: Annotated[int, Field(ge=100, le=599)] = 200
    body: str | None = None
    value: JsonValue = None
    """The JSON that the body must hold; none: the body is not read as JSON."""
    time_limit_s: TimeLimit = "10"


class Unchanged(_Check):
    """Everything that matches stands as it was at the start: nothing edited, added or deleted."""

    kind: Literal["unchanged"]
    files: tuple[Glob, ...] = Field(min_length=1)


class OnlyChanged(_Check):
    """Nothing was created, changed or deleted but what matches."""

    kind: Literal["only_changed"]
    files: tuple[Glob, ...] = Field(min_length=1)


class WithinTime(_Check):
    """The agent took at most this long; the task's own time limit holds in any case."""

    kind: Literal["within_time"]
    seconds: DecimalInput


class Script(_Check):
    """The task's ``grader.py`` says so, in a process and with a time limit of its own."""

    kind: Literal["script"]
    time_limit_s: TimeLimit = "60"


Check = Annotated[
    FileExists
    | FileAbsent
    | BytesEqual
    | JsonEquals
    | CsvEquals
    | JsonSchema
    | TextContains
    | CommandSucceeds
    | SqliteEquals
    | HttpEquals
    | Unchanged
    | OnlyChanged
    | WithinTime
    | Script,
    Field(discriminator="kind"),
]
"""Any declared check; ``kind`` tells which."""

WEAK_KINDS = frozenset({"text_contains"})
"""Kinds that read talk instead of state; the linter names them."""
