"""Rule 3, referenced: what a record is about is in the book, and is the very row that is meant."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, NamedTuple

from evalbook.base.problems import Finding, Severity
from evalbook.records.decision import Decision, Exclusion, Reinstatement, RerunDecision
from evalbook.store.verify.catalogue import Catalogue, Key, Placed, R
from evalbook.store.verify.order import Chronology, Link

RULE = "referenced"


class _Reference(NamedTuple):
    """What one record says of a row."""

    subject: str
    """Id of the attempt."""
    sha256: str | None
    what: str
    """``exclusion``, ``rerun``, …"""

    def __str__(self) -> str:
        return f"{self.what} of {self.subject}"


def referenced(catalogue: Catalogue, chronology: Chronology) -> Iterator[Finding | Link]:
    """Yield every reference that leads nowhere or to other bytes, and the order each one demands.

    That reasons are not empty is part of the schema.
    """
    for decision in catalogue.decisions.values():
        yield from _decision(catalogue, decision)
    for row in catalogue.attempts.values():
        again = _Reference(row.record.rerun_of or "", row.record.rerun_of_sha256, "rerun")
        onward = _Reference(row.record.recovery_of or "", row.record.recovery_of_sha256, "recovery")
        yield from _row(catalogue, row, again) if again.subject else ()
        yield from _row(catalogue, row, onward) if onward.subject else ()
    for plan in catalogue.plans.values():
        for task in plan.record.tasks:
            for attempt in task.attempts:
                if attempt.rerun_of:
                    meant = _Reference(attempt.rerun_of, attempt.rerun_of_sha256, "planned rerun")
                    yield from _row(catalogue, plan, meant)
        if plan.record.purpose == "rerun" and not plan.record.reason:
            message = f"run {plan.record.run_id} is a rerun without a reason"
            yield catalogue.finding("violation", RULE, message, plan.place)
    yield from _taken_back_once(catalogue, chronology)


def _row(
    catalogue: Catalogue, placed: Placed[R], reference: _Reference
) -> Iterator[Finding | Link]:
    row = catalogue.attempts.get(Key(placed.evaluation, reference.subject))
    if row is None:
        message = f"{reference}: no such row is in the book"
        yield catalogue.finding(catalogue.absence, RULE, message, placed.place)
        return
    if reference.sha256 is not None and row.sha256 != reference.sha256:
        message = (
            f"{reference}: it means a row with other bytes than {row.place.path}:{row.place.line}"
        )
        yield catalogue.finding("violation", RULE, message, placed.place)
    # A recovery carries on at once: both rows may well be on one page.
    together: Literal["doubtful", "fine"] = "fine" if reference.what == "recovery" else "doubtful"
    yield Link(row.place, placed.place, str(reference), "the row it is about", together)


def _decision(catalogue: Catalogue, placed: Placed[Decision]) -> Iterator[Finding | Link]:
    match placed.record:
        case Exclusion() as record:
            yield from _row(catalogue, placed, _said(record, "exclusion"))
        case Reinstatement() as record:
            yield from _row(catalogue, placed, _said(record, "reinstatement"))
            yield from _exclusion(catalogue, placed, record)
        case RerunDecision() as record:
            yield from _row(catalogue, placed, _said(record, "order to rerun"))
            plan = catalogue.plans.get(Key(placed.evaluation, record.run_id))
            planned = plan.record.tasks if plan else ()
            if plan and not any(a.rerun_of == record.subject for t in planned for a in t.attempts):
                message = f"run {record.run_id}, which it names, does not rerun {record.subject}"
                yield catalogue.finding("violation", RULE, message, placed.place)


def _said(record: Decision, what: str) -> _Reference:
    return _Reference(record.subject, record.subject_sha256, what)


def _exclusion(
    catalogue: Catalogue, placed: Placed[Decision], record: Reinstatement
) -> Iterator[Finding | Link]:
    exclusion = catalogue.decisions.get(Key(placed.evaluation, record.exclusion))
    if exclusion is None or not isinstance(exclusion.record, Exclusion):
        message = f"takes back {record.exclusion}, but no such exclusion is in the book"
        yield catalogue.finding(catalogue.absence, RULE, message, placed.place)
        return
    if exclusion.record.subject != record.subject:
        message = f"takes back {record.exclusion}, which is about {exclusion.record.subject}"
        yield catalogue.finding("violation", RULE, message, placed.place)
    what = f"reinstatement of {record.subject}"
    yield Link(exclusion.place, placed.place, what, "the exclusion it takes back")


def _taken_back_once(catalogue: Catalogue, chronology: Chronology) -> Iterator[Finding]:
    """Yield each reinstatement of an exclusion that was no longer in force.

    On branches that did not know of each other it is a weakness: two people may mean the same.
    """
    taken_back: dict[Key, list[Placed[Decision]]] = defaultdict(list)
    for placed in catalogue.decisions.values():
        if not isinstance(placed.record, Reinstatement):
            continue
        same = taken_back[Key(placed.evaluation, placed.record.exclusion)]
        if same:
            knew = any(_knew(chronology, earlier, placed) for earlier in same)
            message = (
                f"{placed.record.exclusion} is taken back already, by {same[0].record.decision_id}"
            )
            severity: Severity = "violation" if knew else "weakness"
            yield catalogue.finding(severity, RULE, message, placed.place)
        same.append(placed)


def _knew(chronology: Chronology, earlier: Placed[Decision], later: Placed[Decision]) -> bool:
    """Whether the later decision stands on the same page as the earlier, or on top of it."""
    on_page = earlier.place.path == later.place.path
    return on_page or chronology.relation(earlier.place, later.place) == "before"
