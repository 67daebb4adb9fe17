"""The page of one task: verdicts over time, what it asks, what must hold."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalbook.derive.book import Entry
from evalbook.derive.failures import CheckFailures, check_failures
from evalbook.derive.figures import ConfigFigures
from evalbook.derive.versions import Cell, material_of
from evalbook.present.sentences import Sentence
from evalbook.present.site import places
from evalbook.present.site.marks import GridCell, grid_cell, section_of
from evalbook.present.site.press import Measured, Press, SitePage, way_to
from evalbook.present.tables import version_name
from evalbook.present.text import Language
from evalbook.records.task import MaterialFreeze


class Line(NamedTuple):
    """One attempt of the task."""

    entry: Entry
    anchor: str
    target: str | None
    """Its own page, if it has one."""
    stands_in: bool


class Row(NamedTuple):
    """One version at the task."""

    name: str
    section: str
    figures: ConfigFigures
    cell: Cell
    shown: GridCell
    lines: tuple[Line, ...]


class DeclaredCheck(NamedTuple):
    """A check as its frozen definition declares it, with how often it failed."""

    name: str
    kind: str
    critical: bool
    failures: CheckFailures | None


class Position(NamedTuple):
    """Which task of how many."""

    number: int
    of: int


def task_pages(press: Press, measured: Measured) -> Iterator[SitePage]:
    """Yield a page for every task that was planned."""
    names = sorted({cell.task_id for each in measured.figures for cell in each.version.cells})
    for number, name in enumerate(names, 1):
        yield _page(press, measured, name, Position(number, len(names)))


def _page(press: Press, measured: Measured, task_id: str, position: Position) -> SitePage:
    book = measured.book
    rows = tuple(_rows(measured, task_id))
    freezes = tuple(
        each
        for each in reversed(book.freezes)
        if isinstance(each, MaterialFreeze) and each.task_id == task_id
    )
    freeze = material_of(book, rows[-1].cell) or (freezes[0] if freezes else None)
    entries = [line.entry for row in rows for line in row.lines]
    return press.page(
        places.task(book.name, task_id),
        "task.html",
        title=task_id,
        trail=way_to(measured),
        constructed=measured.constructed,
        book=book,
        task_id=task_id,
        position=position,
        rows=rows,
        freeze=freeze,
        freezes=freezes,
        checks=tuple(_checks(freeze, check_failures(entries))),
        graded=sum(bool(entry.attempt.checks) for entry in entries),
        verdict=verdict(rows, press.templates.language),
    )


def _rows(measured: Measured, task_id: str) -> Iterator[Row]:
    for each in measured.figures:
        for cell in each.version.cells:
            if cell.task_id == task_id:
                yield Row(
                    name=version_name(each),
                    section=section_of(each.version),
                    figures=each,
                    cell=cell,
                    shown=grid_cell(measured.book.name, each.version, cell),
                    lines=tuple(_lines(measured.book.name, cell)),
                )


def _lines(name: str, cell: Cell) -> Iterator[Line]:
    stand_ins = {entry.attempt.attempt_id for entry in cell.stand_ins}
    for entry in (*cell.first, *cell.reruns, *cell.dependent):
        target = places.attempt(name, entry) if places.has_page(entry) else None
        stands_in = entry.attempt.attempt_id in stand_ins
        yield Line(entry, places.anchor(entry), target, stands_in)


def verdict(rows: tuple[Row, ...], language: Language) -> tuple[Sentence, ...]:
    """Return what stands at this task, the latest version of each config."""
    latest = {row.figures.version.config: row for row in rows}
    return tuple(_stands(row, language) for _, row in sorted(latest.items()))


def _stands(row: Row, language: Language) -> Sentence:
    counted = row.cell.counted
    unjudged = sum(not e.attempt.judged and not e.attempt.passed for e in counted)
    facts = {"name": row.name, "n": len(counted), "passed": row.shown.passed, "not": unjudged}
    if not counted:
        return Sentence("empty", language.gettext("%(name)s: no attempt counts.") % facts)
    if row.shown.word == "all":
        text = language.gettext("%(name)s passed every one of %(n)s attempts.")
        return Sentence("all", text % facts)
    if unjudged:
        text = language.ngettext(
            "%(name)s passed %(passed)s attempts; %(not)s of them was not judged.",
            "%(name)s passed %(passed)s attempts; %(not)s of them were not judged.",
            unjudged,
        )
        return Sentence("some", text % facts)
    if row.shown.word == "none":
        text = language.gettext("%(name)s passed none of %(n)s attempts.")
        return Sentence("none", text % facts)
    text = language.gettext("%(name)s passed %(passed)s attempts: passing once here shows little.")
    return Sentence("some", text % facts)


def _checks(
    freeze: MaterialFreeze | None, failures: tuple[CheckFailures, ...]
) -> Iterator[DeclaredCheck]:
    """Yield the declared checks in their order, then those that only the rows know."""
    failed = {each.check: each for each in failures}
    for declared in _declared(freeze.definition if freeze else ""):
        name = str(declared.get("name"))
        yield DeclaredCheck(
            name,
            str(declared.get("kind")),
            declared.get("critical") is True,
            failed.pop(name, None),
        )
    for name, each in failed.items():
        yield DeclaredCheck(name, "", each.critical, each)


def _declared(definition: str) -> Iterator[dict[str, Any]]:
    try:
        task: Any = json.loads(definition)
    except ValueError:
        return
    checks = task.get("check") if isinstance(task, dict) else None
    for check in checks if isinstance(checks, list) else ():
        if isinstance(check, dict):
            yield check
