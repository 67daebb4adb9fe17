"""Found runs turned into freezes, plans and rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from evalbook.base.canonical import canonical_json, sha256_hex
from evalbook.base.problems import UserError
from evalbook.base.times import moment
from evalbook.records.attempt import Attempt, Source
from evalbook.records.evaluation import Rules
from evalbook.records.fields import Label, Name
from evalbook.records.pages import line_bytes
from evalbook.records.plan import Plan, PlannedAttempt, PlannedTask
from evalbook.run.importers.freezes import (
    config_freezes,
    default_rules,
    evaluation_freeze,
    lend,
    material_freezes,
)
from evalbook.run.importers.reading import printable
from evalbook.run.importers.values import (
    UNKNOWN,
    FoundRow,
    FoundRun,
    Import,
    ImportedRun,
    ImportRequest,
    Material,
)

_MOST_PLANNED = 1_000_000
"""Attempts in one run; a source that means to make more is not believed."""
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
"""32 letters, so that 5 bits of a digest are one; none that is read wrongly."""
_LETTERS_USED = 8
_NAME: TypeAdapter[str] = TypeAdapter(Name)
_LABEL: TypeAdapter[str] = TypeAdapter(Label)
_Key = TypeVar("_Key")


class _Lent(NamedTuple):
    """A task as one run has it, with the material that its rows must carry."""

    run: FoundRun
    materials: Mapping[str, Material]


def assemble(found: Sequence[FoundRun], request: ImportRequest, notes: Iterable[str]) -> Import:
    """Return what ``found`` runs are in the book's words, in order of their start.

    Raises:
        UserError: when two files hold the same run or the same attempt, or when two contents of a
            config would share one label.
    """
    _check_names(found, request)
    _each_once(found)
    ordered = sorted(found, key=lambda run: (run.started_at or request.at, run.identity))
    lent = [_Lent(run, _with_lent(run, found)) for run in ordered]
    freezes = config_freezes(ordered, request)
    refs = {(each.config, each.version): each.ref for each in freezes}
    rules = request.rules or default_rules(_most_attempts(ordered))
    ids = {run.identity: _run_id(run, request) for run in ordered}
    made = _Rows(ordered, ids)
    runs = []
    for each in lent:
        run = each.run
        ref = refs[run.config.name, run.config.label]
        plan = _plan(each, ref, rules, request, run_id=ids[run.identity])
        runs.append(ImportedRun(plan, made.rows_of(run, each.materials, ref), run.identity))
    frozen = material_freezes([each.materials for each in lent], request)
    evaluation = evaluation_freeze(rules, request, len({each.task_id for each in frozen}))
    return Import(
        (evaluation, *freezes, *frozen),
        tuple(runs),
        tuple(notes),
        "agreed" if request.rules else "default",
    )


def check_planned(shown: str, planned: int) -> None:
    """Refuse a source that means to make more attempts than anyone makes; to list them takes memory.

    Raises:
        UserError: for more than a million.
    """
    if planned > _MOST_PLANNED:
        raise UserError(f"{shown}: means to make {planned} attempts, which is not believed")


def _with_lent(run: FoundRun, found: Sequence[FoundRun]) -> dict[str, Material]:
    attempted = {row.task_id for row in run.rows}
    lent = dict(run.materials)
    for task_id in lent.keys() - attempted:
        lenders = [other.materials[task_id] for other in found if task_id in other.materials]
        for lender in lenders:
            lent[task_id] = lend(lent[task_id], lender)
    return lent


def _check_names(found: Sequence[FoundRun], request: ImportRequest) -> None:
    for option, adapter, value in (
        ("--config", _NAME, request.config),
        ("--label", _LABEL, request.version),
    ):
        if value is not None and not _is_valid(adapter, value):
            raise UserError(
                f"{option} {printable(value)!r} can't be a name",
                hint="use letters, digits, dots and dashes, lower-case for a config",
            )
    for run in found:
        if not any(run.planned.values()):
            raise UserError(f"{run.shown}: holds no attempt, neither made nor planned")


def _is_valid(adapter: TypeAdapter[str], value: str) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def _each_once(found: Sequence[FoundRun]) -> None:
    """Refuse what would count one attempt twice."""
    for before, after in pairwise(sorted(found, key=lambda run: run.identity)):
        if before.identity == after.identity:
            raise UserError(
                f"{after.shown}: holds the same run as {before.shown}",
                hint="read in the newer of the two; a file's rows that are in the book are left alone",
            )
    for run in found:
        slots: dict[tuple[str, int], FoundRow] = {}
        keys: dict[str, FoundRow] = {}
        for row in run.rows:
            _once(slots, (row.task_id, row.number), row, f"attempt {row.number} of {row.task_id}")
            _once(keys, row.key, row, printable(row.key[:80]))


def _once(seen: dict[_Key, FoundRow], key: _Key, row: FoundRow, what: str) -> None:
    earlier = seen.setdefault(key, row)
    if earlier is not row:
        where = earlier.cells.where.rpartition(": ")[2]
        raise row.cells.error(f"is {what}, as {where} is already")


def _most_attempts(found: Iterable[FoundRun]) -> int:
    counted: Counter[tuple[str, str, str]] = Counter()
    for run in found:
        for task_id, numbers in run.planned.items():
            counted[run.config.name, run.config.label, task_id] += len(numbers)
    return max(counted.values())


def _run_id(run: FoundRun, request: ImportRequest) -> str:
    """Return the run's id: the minute of its start, and letters that the same file always gives."""
    started = moment(run.started_at or request.at).astimezone(UTC)
    said = [request.evaluation, run.config.name, run.config.label, run.identity, run.file.sha256]
    number = int(sha256_hex(canonical_json(said))[:10], 16)
    letters = "".join(_LETTERS[number >> 5 * at & 31] for at in range(_LETTERS_USED))
    return f"{started:%Y%m%d-%H%M}-{letters}"


def _plan(
    lent: _Lent, config_ref: str, rules: Rules, request: ImportRequest, *, run_id: str
) -> Plan:
    run, materials = lent
    return Plan(
        record="plan/1",
        run_id=run_id,
        evaluation=request.evaluation,
        config=run.config.name,
        version=run.config.label,
        config_ref=config_ref,
        planned_at=request.at,
        planned_by=request.person,
        purpose="import",
        rules=rules,
        seeds="unknown",
        condition="unknown",
        tasks=tuple(
            PlannedTask(
                task_id=task_id,
                input_sha256=materials[task_id].input_sha256,
                initial_state_ref=materials[task_id].initial_state_ref,
                grader_ref=materials[task_id].grader_ref,
                attempts=tuple(PlannedAttempt(number=each) for each in sorted(numbers)),
            )
            for task_id, numbers in sorted(run.planned.items())
            if numbers
        ),
        tool=request.tool,
        host=run.facts,
        sources=(run.file,),
        reason=request.reason,
    )


class _Rows:
    """Makes rows, which may speak of rows that were made before."""

    def __init__(self, found: Sequence[FoundRun], ids: Mapping[str, str]) -> None:
        self._ids = {
            f"{run.identity}/{row.key}": f"{ids[run.identity]}/{row.task_id}/{row.number}"
            for run in found
            for row in run.rows
        }
        self._digests: dict[str, str] = {}
        self._spoken_of = {row.rerun_key for run in found for row in run.rows}

    def rows_of(
        self, run: FoundRun, materials: Mapping[str, Material], config_ref: str
    ) -> tuple[Attempt, ...]:
        """Return the rows of one run, in the order of the source."""
        return tuple(self._row(run, row, materials[row.task_id], config_ref) for row in run.rows)

    def _row(self, run: FoundRun, row: FoundRow, material: Material, config_ref: str) -> Attempt:
        key = f"{run.identity}/{row.key}"
        attempt_id = self._ids[key]
        facts: dict[str, Any] = {
            **_NOTHING_SAID,
            "record": "attempt/1",
            "task_id": row.task_id,
            "attempt_id": attempt_id,
            "request_id": self._id(row, row.request_key, "serves the request of") or attempt_id,
            "config_ref": config_ref,
            "input_sha256": material.input_sha256,
            "initial_state_ref": material.initial_state_ref,
            "grader_ref": material.grader_ref,
            "rerun_of": self._id(row, row.rerun_key, "is a rerun of"),
            "rerun_of_sha256": self._digests.get(row.rerun_key or ""),
            "source": Source(
                file_sha256=run.file.sha256, position=row.position, key=key, raw=row.raw
            ),
            **row.fields,
        }
        try:
            made = Attempt(**facts)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            raise row.cells.error(f"{field}: {printable(first['msg'])}") from None
        if key in self._spoken_of:
            self._digests[key] = sha256_hex(line_bytes(made))
        return made

    def _id(self, row: FoundRow, key: str | None, relation: str) -> str | None:
        if key is None:
            return None
        found = self._ids.get(key)
        if found is None or (relation == "is a rerun of" and key not in self._digests):
            raise row.cells.error(
                f"{relation} {printable(key.partition(':')[2][:120])}, which is not in the file before it",
                hint="read in the whole table: alone, the row would pose as an independent attempt",
            )
        return found


_NOTHING_SAID: Mapping[str, Any] = {
    "started_at": None,
    "ended_at": None,
    "failed_checks": (),
    "artifact_ref": None,
    "trace_ref": None,
    "tool_retries": None,
    "human_help": None,
    "elapsed_seconds": None,
    "cost": UNKNOWN,
    "currency": None,
    "dependency_error": None,
    "condition": UNKNOWN,
}
"""Fields that every row writes, where the source is silent."""
