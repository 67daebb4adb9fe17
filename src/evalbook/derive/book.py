"""The book folded: every attempt with its plan and the decisions about it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from evalbook.base.exits import DOES_NOT_VERIFY
from evalbook.base.problems import UserError
from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.decision import (
    Decision,
    Exclusion,
    Reinstatement,
    RerunDecision,
    exclusion_refusal,
)
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.fields import AttemptId, attempt_parts
from evalbook.records.pages import Page, parse_page_path
from evalbook.records.plan import Plan
from evalbook.records.task import MaterialFreeze

Freeze = EvaluationFreeze | ConfigFreeze | MaterialFreeze


class Event(NamedTuple):
    """One thing that was recorded besides rows: a freeze, a plan or a decision."""

    at: str
    """The instant that the record states."""
    path: str
    """Of its page, from the top of the repository."""
    line: int
    """1-based."""
    record: Freeze | Plan | Decision


class Entry(NamedTuple):
    """One attempt, and everything the book says about it."""

    attempt: Attempt
    sha256: str
    """Of the bytes of its row, without the line end."""
    path: str
    """Of its page."""
    line: int
    """1-based."""
    plan: Plan
    decisions: tuple[Decision, ...]
    """All of them, in the order in which they were taken."""
    exclusion: Exclusion | None
    """The one in force: allowed by the plan's policy, and not taken back."""
    reruns: tuple[AttemptId, ...]
    """The attempts that were made because of this one, in order."""

    @property
    def independent(self) -> bool:
        """Whether it is a first attempt: no rerun, no recovery, no retry of a request.

        Of a run of our own the plan decides, never what an agent reported of itself: it could talk
        its failures out of the figures. What was read in has only its source's word.
        """
        row = self.attempt
        if row.rerun_of is not None:
            return False
        if self.plan.purpose == "import":
            return row.recovery_of is None and row.request_id == row.attempt_id
        return self.plan.rules.retry.max_attempts == 1 or row.request_id == row.attempt_id


class EvaluationBook(NamedTuple):
    """All that the book holds about one evaluation."""

    name: str
    freezes: tuple[Freeze, ...]
    """Oldest first."""
    plans: tuple[Plan, ...]
    """In order of (planned_at, run)."""
    entries: tuple[Entry, ...]
    """In order of (planned_at, run, task, number)."""
    decisions: tuple[Decision, ...]
    """Oldest first."""
    events: tuple[Event, ...]
    """Freezes, plans and decisions together, oldest first."""
    by_id: Mapping[AttemptId, Entry]

    @property
    def agreed(self) -> EvaluationFreeze | None:
        """The latest freeze of title, description and rules; None for an evaluation without one."""
        return next(
            (each for each in reversed(self.freezes) if isinstance(each, EvaluationFreeze)), None
        )

    @property
    def configs(self) -> Mapping[str, ConfigFreeze]:
        """The latest freeze of every version, by its reference."""
        return {each.ref: each for each in self.freezes if isinstance(each, ConfigFreeze)}

    @property
    def materials(self) -> Mapping[str, MaterialFreeze]:
        """The latest freeze of every task's material, by task id."""
        return {each.task_id: each for each in self.freezes if isinstance(each, MaterialFreeze)}


class Book(NamedTuple):
    """The whole book."""

    evaluations: tuple[EvaluationBook, ...]
    """Sorted by name."""


class _Row(NamedTuple):
    attempt: Attempt
    sha256: str
    path: str
    line: int


def fold(pages: Iterable[Page]) -> Book:
    """Return the book that ``pages`` make, in whatever order they come.

    Raises:
        UserError: where a row has no plan, an id is there twice, or a decision or rerun is about a
            row that is not there as it was: no figure is made from such a book.
    """
    grouped: dict[str, list[Page]] = defaultdict(list)
    for page in sorted(pages, key=lambda each: each.path):
        where = parse_page_path(page.path)
        if where is None:
            raise ValueError(f"{page.path} is not the path of a page")
        grouped[where.evaluation].append(page)
    return Book(tuple(_evaluation(name, grouped[name]) for name in sorted(grouped)))


def _evaluation(name: str, pages: Sequence[Page]) -> EvaluationBook:
    rows: list[_Row] = []
    events: list[Event] = []
    for page in pages:
        for line in page.lines:
            match line.record:
                case Attempt() as attempt:
                    rows.append(_Row(attempt, line.sha256, page.path, line.number))
                case record:
                    events.append(Event(_stated(record), page.path, line.number, record))
    events.sort(key=lambda event: event[:3])
    plans = _plans(events)
    _each_once(rows)
    rows.sort(key=_position(plans))
    decisions = tuple(e.record for e in events if isinstance(e.record, Decision))
    entries = _entries(rows, plans, decisions)
    return EvaluationBook(
        name=name,
        freezes=tuple(e.record for e in events if isinstance(e.record, Freeze)),
        plans=tuple(plans.values()),
        entries=entries,
        decisions=decisions,
        events=tuple(events),
        by_id={entry.attempt.attempt_id: entry for entry in entries},
    )


def _stated(record: Freeze | Plan | Decision) -> str:
    match record:
        case Plan():
            return record.planned_at
        case Exclusion() | Reinstatement() | RerunDecision():
            return record.decided_at
        case _:
            return record.frozen_at


def _plans(events: Iterable[Event]) -> dict[str, Plan]:
    """Return the plans by run id, in order of (planned_at, run)."""
    found: dict[str, Event] = {}
    for event in events:
        if isinstance(event.record, Plan):
            earlier = found.setdefault(event.record.run_id, event)
            if earlier is not event:
                raise _broken(event.path, event.line, f"run {event.record.run_id} has two plans")
    ordered = sorted(found.items(), key=lambda item: (item[1].at, item[0]))
    return {run: event.record for run, event in ordered if isinstance(event.record, Plan)}


def _each_once(rows: Iterable[_Row]) -> None:
    seen: set[str] = set()
    for row in rows:
        if row.attempt.attempt_id in seen:
            raise _broken(row.path, row.line, f"{row.attempt.attempt_id} has a row already")
        seen.add(row.attempt.attempt_id)


def _position(plans: Mapping[str, Plan]) -> Callable[[_Row], tuple[str, str, str, int]]:
    def key(row: _Row) -> tuple[str, str, str, int]:
        parts = attempt_parts(row.attempt.attempt_id)
        if parts.run not in plans:
            raise _broken(row.path, row.line, f"run {parts.run} has no plan")
        return (plans[parts.run].planned_at, *parts)

    return key


def _entries(
    rows: Sequence[_Row], plans: Mapping[str, Plan], decisions: Iterable[Decision]
) -> tuple[Entry, ...]:
    """Join rows with decisions and reruns, which must be about a row as it stands."""
    _each_planned(rows, plans)
    digests = {row.attempt.attempt_id: row.sha256 for row in rows}
    about: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        if digests.get(decision.subject) != decision.subject_sha256:
            raise _broken(
                None,
                None,
                f"{decision.decision_id} is about {decision.subject}, no such row stands",
            )
        about[decision.subject].append(decision)
    reruns: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        original = row.attempt.rerun_of
        if original is None:
            if plans[attempt_parts(row.attempt.attempt_id).run].purpose == "rerun":
                raise _broken(row.path, row.line, "stands in a rerun's run, but reruns nothing")
            continue
        if digests.get(original) != row.attempt.rerun_of_sha256:
            raise _broken(row.path, row.line, f"is a rerun of {original}, no such row stands")
        reruns[original].append(row.attempt.attempt_id)
    return tuple(_entry(row, plans, tuple(about[row.attempt.attempt_id]), reruns) for row in rows)


def _each_planned(rows: Iterable[_Row], plans: Mapping[str, Plan]) -> None:
    planned = {
        plan.attempt_id(task.task_id, attempt.number)
        for plan in plans.values()
        for task in plan.tasks
        for attempt in task.attempts
    }
    for row in rows:
        if row.attempt.attempt_id not in planned:
            raise _broken(row.path, row.line, f"{row.attempt.attempt_id} was never planned")


def _entry(
    row: _Row,
    plans: Mapping[str, Plan],
    decisions: tuple[Decision, ...],
    reruns: Mapping[str, Sequence[str]],
) -> Entry:
    attempt_id = row.attempt.attempt_id
    plan = plans[attempt_parts(attempt_id).run]
    return Entry(
        attempt=row.attempt,
        sha256=row.sha256,
        path=row.path,
        line=row.line,
        plan=plan,
        decisions=decisions,
        exclusion=_in_force(row.attempt, plan, decisions),
        reruns=tuple(reruns.get(attempt_id, ())),
    )


def _in_force(attempt: Attempt, plan: Plan, decisions: Iterable[Decision]) -> Exclusion | None:
    """Return the exclusion that holds after all decisions, or None.

    One that the policy of the attempt's own plan does not allow never holds: verification reports
    it, and a figure must not follow it.
    """
    known = tuple(decisions)
    # By name, not by date: two people's clocks may differ.
    taken_back = {each.exclusion for each in known if isinstance(each, Reinstatement)}
    standing = (
        each for each in known if isinstance(each, Exclusion) and each.decision_id not in taken_back
    )
    allowed = (
        each for each in standing if exclusion_refusal(attempt, each.ground, plan.rules) is None
    )
    return next(allowed, None)


def _broken(path: str | None, line: int | None, what: str) -> UserError:
    where = f"{path}:{line}: " if path else ""
    return UserError(
        f"{where}{what}",
        hint="no figure is made from a broken book; `evalbook verify` tells who changed it",
        exit_code=DOES_NOT_VERIFY,
    )
