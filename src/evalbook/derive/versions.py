"""Attempts sorted into what may be pooled: one version of a config under one condition."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from evalbook.derive.book import Entry, EvaluationBook
from evalbook.records.evaluation import Rules
from evalbook.records.fields import AttemptId, ConfigRef, attempt_parts
from evalbook.records.plan import Plan, PlannedTask
from evalbook.records.task import MaterialFreeze

Condition = Literal["live", "replayed", "unknown"]


class Yardstick(NamedTuple):
    """What one task was measured with; attempts with another yardstick are never pooled."""

    input_sha256: str
    initial_state_ref: str
    grader_ref: str


class Cell(NamedTuple):
    """One version at one task."""

    task_id: str
    yardstick: Yardstick
    planned: tuple[AttemptId, ...]
    """First attempts that were meant to happen, in order; none of those in ``dependent``."""
    first: tuple[Entry, ...]
    """First attempts that happened, in order: what counts before exclusion."""
    counted: tuple[Entry, ...]
    """What counts after exclusion: without the excluded, a rerun in the place of its original."""
    reruns: tuple[Entry, ...]
    """Every rerun, whether it stands in for its original or not."""
    dependent: tuple[Entry, ...]
    """Recoveries and retries, which depend on an earlier attempt and enter no figure of these."""

    @property
    def not_executed(self) -> tuple[AttemptId, ...]:
        """Planned attempts that left no row; they are no failures."""
        done = {entry.attempt.attempt_id for entry in self.first}
        return tuple(each for each in self.planned if each not in done)

    @property
    def excluded(self) -> tuple[Entry, ...]:
        """First attempts that are left out after exclusion."""
        return tuple(entry for entry in self.first if entry.exclusion is not None)

    @property
    def stand_ins(self) -> tuple[Entry, ...]:
        """Reruns that count in the place of an excluded original."""
        return tuple(entry for entry in self.counted if entry.attempt.rerun_of is not None)


class Version(NamedTuple):
    """One version of a config under one condition, over all runs that may be pooled."""

    config: str
    version: str
    config_ref: ConfigRef
    condition: Condition
    part: int
    """1, and one more each time a task's material changed: those attempts can't be pooled."""
    plans: tuple[Plan, ...]
    """Of its measuring runs, oldest first; at least one."""
    cells: tuple[Cell, ...]
    """Sorted by task id."""

    @property
    def rules(self) -> Rules:
        """The rules as its latest plan has them."""
        return self.plans[-1].rules

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every attempt of it, reruns and dependent ones included, in order."""
        found = [e for cell in self.cells for e in (*cell.first, *cell.reruns, *cell.dependent)]
        return tuple(sorted(found, key=_order))


class _Group(NamedTuple):
    ref: ConfigRef
    condition: Condition
    plans: list[Plan]
    yardsticks: dict[str, Yardstick]


def versions_of(book: EvaluationBook) -> tuple[Version, ...]:
    """Return every version that was measured, by config name, each config's oldest first.

    A version is as old as its first plan; one that was read in from elsewhere, as its first
    attempt there. Runs of one version are pooled, except where a task's material or the condition
    differs.
    """
    groups: list[_Group] = []
    home: dict[str, int] = {}
    for plan in book.plans:
        if plan.purpose != "rerun":
            home[plan.run_id] = _group_for(plan, groups)
    members: dict[int, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in book.entries:
        run = attempt_parts(_first_of(entry, book.by_id).attempt.attempt_id).run
        if run in home:
            members[home[run]][entry.attempt.task_id].append(entry)
    made = [_version(groups, at, members[at], book.by_id) for at in range(len(groups))]
    return tuple(sorted(made, key=lambda version: (version.config, _born(version))))


def _born(version: Version) -> str:
    """Return when the version was first measured, as far as that is known."""
    plan = version.plans[0]
    starts = [
        entry.attempt.started_at
        for cell in version.cells
        for entry in cell.first
        if entry.attempt.started_at is not None
    ]
    return min(starts) if starts and plan.purpose == "import" else plan.planned_at


def _group_for(plan: Plan, groups: list[_Group]) -> int:
    """Return where the plan belongs: the latest group that it may be pooled with, or a new one."""
    wanted = {task.task_id: _yardstick(task) for task in plan.tasks}
    for at in range(len(groups) - 1, -1, -1):
        group = groups[at]
        if (group.ref, group.condition) != (plan.config_ref, plan.condition):
            continue
        if all(group.yardsticks.get(task, each) == each for task, each in wanted.items()):
            group.plans.append(plan)
            group.yardsticks.update(wanted)
            return at
        break
    groups.append(_Group(plan.config_ref, plan.condition, [plan], wanted))
    return len(groups) - 1


def _yardstick(task: PlannedTask) -> Yardstick:
    return Yardstick(task.input_sha256, task.initial_state_ref, task.grader_ref)


def _first_of(entry: Entry, by_id: Mapping[str, Entry]) -> Entry:
    """Follow ``rerun_of`` to the original."""
    while entry.attempt.rerun_of is not None:
        entry = by_id[entry.attempt.rerun_of]
    return entry


def _version(
    groups: Sequence[_Group],
    at: int,
    members: Mapping[str, Sequence[Entry]],
    by_id: Mapping[str, Entry],
) -> Version:
    group = groups[at]
    same = [g for g in groups[:at] if (g.ref, g.condition) == (group.ref, group.condition)]
    planned: dict[str, list[AttemptId]] = defaultdict(list)
    for plan in group.plans:
        for task in plan.tasks:
            planned[task.task_id] += [
                plan.attempt_id(task.task_id, each.number)
                for each in task.attempts
                if each.rerun_of is None
            ]
    return Version(
        config=group.plans[0].config,
        version=group.plans[0].version,
        config_ref=group.ref,
        condition=group.condition,
        part=len(same) + 1,
        plans=tuple(group.plans),
        cells=tuple(
            _cell(
                task,
                group.yardsticks.get(task) or measured_with(members[task][0]),
                planned[task],
                members.get(task, ()),
                by_id,
            )
            for task in sorted({*group.yardsticks, *members})  # an unplanned row is never dropped
        ),
    )


def _cell(
    task: str,
    yardstick: Yardstick,
    planned: Iterable[AttemptId],
    entries: Sequence[Entry],
    by_id: Mapping[str, Entry],
) -> Cell:
    first = tuple(e for e in entries if e.independent)
    dependent = tuple(e for e in entries if not e.independent and e.attempt.rerun_of is None)
    apart = {entry.attempt.attempt_id for entry in dependent}
    places = (
        entry if entry.exclusion is None else stand_in(entry, yardstick, by_id) for entry in first
    )
    return Cell(
        task_id=task,
        yardstick=yardstick,
        planned=tuple(each for each in planned if each not in apart),
        first=first,
        counted=tuple(entry for entry in places if entry is not None),
        reruns=tuple(e for e in entries if e.attempt.rerun_of is not None),
        dependent=dependent,
    )


def material_of(book: EvaluationBook, cell: Cell) -> MaterialFreeze | None:
    """Return the latest freeze of the material that a cell was measured with, or None."""
    for freeze in reversed(book.freezes):
        if isinstance(freeze, MaterialFreeze) and freeze.task_id == cell.task_id:
            frozen = (freeze.input_sha256, freeze.initial_state_ref, freeze.grader_ref)
            if frozen == cell.yardstick:
                return freeze
    return None


def measured_with(entry: Entry) -> Yardstick:
    """Return the yardstick that an attempt's row states."""
    row = entry.attempt
    return Yardstick(row.input_sha256, row.initial_state_ref, row.grader_ref)


def stand_in(entry: Entry, yardstick: Yardstick, by_id: Mapping[str, Entry]) -> Entry | None:
    """Return the rerun that counts in the place of an excluded attempt, or None.

    It is the first that is not excluded itself, never the best: of a rerun that is excluded in its
    turn, its own reruns are asked. One under another condition or yardstick can't stand in.
    """
    for attempt_id in entry.reruns:
        rerun = by_id[attempt_id]
        row = rerun.attempt
        original = entry.attempt
        if (row.config_ref, row.condition) != (original.config_ref, original.condition):
            continue
        if measured_with(rerun) != yardstick or row.recovery_of is not None:
            continue
        if rerun.exclusion is None:
            return rerun
        deeper = stand_in(rerun, yardstick, by_id)
        if deeper is not None:
            return deeper
    return None


def _order(entry: Entry) -> tuple[str, str, str, int]:
    return (entry.plan.planned_at, *attempt_parts(entry.attempt.attempt_id))
