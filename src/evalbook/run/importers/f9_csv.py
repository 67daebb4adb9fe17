"""The table of F9, as ``evalbook export csv`` writes it, whole or with fewer columns."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.records.plan import SourceFile
from evalbook.run.importers.assemble import assemble
from evalbook.run.importers.cells import Cells, needed
from evalbook.run.importers.f9_table import NUMBER, fields, raw_words, sha256, table, whole
from evalbook.run.importers.freezes import MOST_ATTEMPTS
from evalbook.run.importers.reading import ReadFile, quoted, read_file
from evalbook.run.importers.values import (
    UNKNOWN,
    FoundConfig,
    FoundRow,
    FoundRun,
    Import,
    ImportRequest,
    Material,
)
from evalbook.run.importers.words import (
    counted,
    instant_of,
    key_part,
    name_of,
    settings_of,
)

MAPPING = 1
"""Version of this reading: verdicts are ours already; an infra_error counts as not judged; what a
column does not say is unknown; an exclusion is a decision, which a table can't hand over."""

_OWN_ID = re.compile(
    r"(?P<run>(?P<minute>[0-9]{8}-[0-9]{4})-[a-z0-9]{4,12})/(?P<task>[^/]+)/(?P<number>[1-9][0-9]{0,4})"
)
_REF = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9._~-]{0,119})@(?P<label>[A-Za-z0-9][A-Za-z0-9._+~-]{0,63}):(?P<sha256>[0-9a-f]{64})"
)
_REFERENCES = ("input_sha256", "initial_state_ref", "grader_ref")


class _Line(NamedTuple):
    """One row of the table, with what tells it apart."""

    cells: Cells
    position: int
    run: str
    """The source's run: of the attempt id, or the file's name."""
    minute: str | None
    """``20261130-2118`` where the attempt id says so."""
    key: str
    task: str
    number: int | None
    """None: to be counted."""
    config_ref: str


def read_csv(files: Sequence[Path], request: ImportRequest) -> Import:
    """Return what tables of attempts say: one run for each run and config that they name.

    ``task_id``, ``verdict``, and ``attempt_id`` or ``attempt`` (a number) must be there.

    Raises:
        UserError: for a file that is no such table, with its line.
    """
    found: list[FoundRun] = []
    notes: list[str] = []
    said: Counter[str] = Counter()
    read: dict[str, ReadFile] = {}
    for path in files:
        file = read_file(path)
        if file.sha256 in read:
            notes.append(f"{file.shown}: is the same file as {read[file.sha256].shown}, read once")
            continue
        read[file.sha256] = file
        lines = _lines(file)
        found += _runs(file, lines, request)
        said += _tally(lines)
    notes += [counted(said[what], what) for what in sorted(said)]
    return assemble(found, request, notes)


def _lines(file: ReadFile) -> list[_Line]:
    """Return the rows, at least one, no id twice."""
    lines = [_line(file, at, cells) for at, cells in enumerate(table(file))]
    if not lines:
        raise UserError(f"{file.shown}: holds no row")
    seen: dict[str, _Line] = {}
    for line in lines:
        attempt = line.cells.values.get("attempt_id")
        if attempt is not None and seen.setdefault(attempt, line) is not line:
            where = seen[attempt].cells.where.rpartition(": ")[2]
            raise line.cells.error(f"attempt_id {quoted(attempt)} is that of {where} already")
    return lines


def _line(file: ReadFile, at: int, cells: Cells) -> _Line:
    task = needed(cells, "task_id", cells.identifier("task_id"))
    attempt = cells.identifier("attempt_id")
    stated = whole(cells, NUMBER)
    reference = cells.text("config_ref") or ""
    if reference and not _REF.fullmatch(reference):
        raise cells.error(f"config_ref is {quoted(reference)}, not name@label:sha256")
    own = _OWN_ID.fullmatch(attempt) if attempt else None
    if own and own["task"] != task:
        raise cells.error(f"attempt_id {quoted(attempt)} is not of task {quoted(task)}")
    if own:
        key = f"{own['task']}/{own['number']}"
        number: int | None = int(own["number"])
        return _Line(cells, at, own["run"], own["minute"], key, task, number, reference)
    if attempt is None and stated is None:
        raise cells.error("has neither attempt_id nor attempt")
    key = f"{key_part(task)}/{stated}" if attempt is None else key_part(attempt)
    return _Line(cells, at, key_part(file.stem), None, key, task, stated, reference)


def _runs(file: ReadFile, lines: Sequence[_Line], request: ImportRequest) -> Iterator[FoundRun]:
    grouped: dict[str, list[_Line]] = {}
    for line in lines:
        grouped.setdefault(_identity(line), []).append(line)
    keys = {line.cells.values.get("attempt_id"): f"{_identity(line)}/{line.key}" for line in lines}
    for identity, group in grouped.items():
        first = group[0]
        for line in group:
            if line.config_ref != first.config_ref:
                raise line.cells.error(f"run {line.run} has another config_ref in the line before")
        rows = tuple(_rows(group, keys))
        yield FoundRun(
            identity=identity,
            shown=file.shown,
            file=SourceFile(
                format="csv", mapping=MAPPING, name=file.name, sha256=file.sha256, size=file.size
            ),
            config=_config(file, first.config_ref, request),
            started_at=_started(group),
            materials=_materials(group, file),
            planned=_planned(rows),
            rows=rows,
            facts=settings_of({"run_id": first.run}) if first.minute else (),
        )


def _identity(line: _Line) -> str:
    """Return the run's identity: in a table of another tool each config is a run of its own."""
    name = f"csv:{line.run}"
    return name if line.minute or not line.config_ref else f"{name} {line.config_ref}"


def _rows(group: Sequence[_Line], keys: Mapping[str | None, str]) -> Iterator[FoundRow]:
    used: dict[str, set[int]] = {}
    for line in group:
        if line.number is not None:
            used.setdefault(line.task, set()).add(line.number)
    following: Counter[str] = Counter()
    for line in group:
        number = line.number
        if number is None:
            following[line.task] += 1
            while following[line.task] in used.get(line.task, ()):
                following[line.task] += 1
            number = following[line.task]
        if not 1 <= number <= MOST_ATTEMPTS:
            raise line.cells.error(f"attempt is {number}, not from 1 to {MOST_ATTEMPTS}")
        yield FoundRow(
            cells=line.cells,
            position=line.position,
            task_id=name_of(line.task),
            number=number,
            key=line.key,
            fields=fields(line.cells),
            raw=tuple(raw_words(line.cells)),
            request_key=_other(line, "request_id", keys),
            rerun_key=_other(line, "rerun_of", keys),
        )


def _other(line: _Line, column: str, keys: Mapping[str | None, str]) -> str | None:
    """Return the key of the row that a column names; None where it names none or the row itself."""
    named = line.cells.identifier(column)
    if named is None or named == line.cells.values.get("attempt_id"):
        return None
    return keys.get(named, f"csv:{named}")


def _config(file: ReadFile, reference: str, request: ImportRequest) -> FoundConfig:
    """Return the config that a row names; its digest is the source's, its settings are unknown."""
    said = _REF.fullmatch(reference)
    return FoundConfig(
        name=request.config or (said["name"] if said else name_of(file.stem)),
        label=request.version or (said["label"] if said else "imported"),
        settings=(),
        sha256=said["sha256"] if said else None,
    )


def _started(group: Sequence[_Line]) -> str | None:
    """Return when the run started: as its id says, else when its first attempt did."""
    minute = group[0].minute
    if minute:
        day, clock = minute.split("-")
        text = f"{day[:4]}-{day[4:6]}-{day[6:]}T{clock[:2]}:{clock[2:]}:00+00:00"
        if found := instant_of(text):
            return found
    times = (instant_of(line.cells.text("started_at") or "") for line in group)
    return min((each for each in times if each), default=None)


def _materials(group: Sequence[_Line], file: ReadFile) -> dict[str, Material]:
    """Return what the rows say of each task; all rows of a run must say the same.

    Raises:
        UserError: when two rows of one task differ in a reference.
    """
    found: dict[str, Material] = {}
    first: dict[str, _Line] = {}
    for line in group:
        refs = [sha256(line.cells, column) or UNKNOWN for column in _REFERENCES]
        task_id = name_of(line.task)
        made = Material(task_id, line.task, f"csv: {file.name}", (), *refs)
        before = found.setdefault(task_id, made)
        earlier = first.setdefault(task_id, line)
        if before != made:
            where = earlier.cells.where.rpartition(": ")[2]
            raise line.cells.error(
                f"its references to the task's material are not those of {where}",
                hint="one run has one set of material",
            )
    return found


def _planned(rows: Sequence[FoundRow]) -> dict[str, frozenset[int]]:
    """Return the rows' own numbers: a table does not say what else was planned."""
    numbers: dict[str, set[int]] = {}
    for row in rows:
        numbers.setdefault(row.task_id, set()).add(row.number)
    return {task_id: frozenset(each) for task_id, each in numbers.items()}


def _tally(lines: Sequence[_Line]) -> Counter[str]:
    """Count what the person should hear of, by what is said of it."""
    said: Counter[str] = Counter()
    for line in lines:
        cells = line.cells
        said["excluded in the source: read in as any other, exclude with a reason of your own"] += (
            cells.has("excluded_reason")
        )
        said["with a time that has no zone or makes no sense, kept as unknown"] += any(
            cells.has(key) and instant_of(cells.text(key) or "") is None
            for key in ("started_at", "ended_at")
        )
    return said
