"""The page of everything that people decided about an evaluation, with their reasons."""

from typing import NamedTuple

from evalbook.derive.book import Entry, Event, Freeze
from evalbook.present.site import places
from evalbook.present.site.press import Measured, Press, SitePage, way_to
from evalbook.present.tables import frozen_thing
from evalbook.records.decision import Decision, Exclusion, Reinstatement
from evalbook.records.plan import Plan


class Decided(NamedTuple):
    """One decision about an attempt."""

    event: Event
    decision: Decision
    subject: Entry
    verb: str
    in_force: bool
    commit: str | None


class Frozen(NamedTuple):
    """One freeze, or one plan."""

    event: Event
    what: str
    who: str
    reason: str
    commit: str | None


def decisions_page(press: Press, measured: Measured) -> SitePage:
    """Return the page, newest first."""
    events = tuple(reversed(measured.book.events))
    return press.page(
        places.decisions(measured.book.name),
        "decisions.html",
        title=press.templates.language.gettext("Decisions"),
        trail=way_to(measured),
        constructed=measured.constructed,
        book=measured.book,
        decided=[
            _decided(press, measured, event, event.record)
            for event in events
            if isinstance(event.record, Decision)
        ],
        frozen=[
            _frozen(press, event, event.record)
            for event in events
            if not isinstance(event.record, Decision)
        ],
    )


def _decided(press: Press, measured: Measured, event: Event, decision: Decision) -> Decided:
    subject = measured.book.by_id[decision.subject]
    match decision:
        case Exclusion():
            verb, in_force = "excluded", subject.exclusion == decision
        case Reinstatement():
            verb, in_force = "reinstated", True
        case _:
            verb, in_force = "rerun ordered", True
    commit = press.facts.commits_of_pages.get(event.path)
    return Decided(event, decision, subject, verb, in_force, commit)


def _frozen(press: Press, event: Event, record: Freeze | Plan) -> Frozen:
    commit = press.facts.commits_of_pages.get(event.path)
    if isinstance(record, Plan):
        what = f"run {record.run_id}: {record.config} {record.version}"
        return Frozen(event, what, record.planned_by, record.reason or record.purpose, commit)
    return Frozen(event, frozen_thing(record), record.frozen_by, record.reason, commit)
