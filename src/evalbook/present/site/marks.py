"""Verdicts as marks in a row, cells of a grid."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from evalbook.derive.book import Entry
from evalbook.derive.figures import ConfigFigures
from evalbook.derive.versions import Cell, Version
from evalbook.present.site import places
from evalbook.present.tables import version_name
from evalbook.present.text import Mark, mark_of, out_of
from evalbook.records.attempt import Attempt

MOST_MARKS = 12
"""Beyond it a bar with counts is drawn: nobody counts more marks."""
MOST_COLUMNS = 12
"""Versions side by side in a grid."""


class Drawn(NamedTuple):
    """One mark of a strip."""

    mark: Mark
    x: int
    """Its left edge, in the drawing's units of one pixel."""
    excluded: bool


class Share(NamedTuple):
    """One piece of a bar."""

    mark: Mark
    x: float
    width: float


class Strip(NamedTuple):
    """Attempts in the order in which they were made; never sorted."""

    marks: tuple[Drawn, ...]
    """Empty where there are too many for marks."""
    bar: tuple[Share, ...]
    """Empty where there are marks."""
    width: int
    title: str


_STEP = 13
_BAR = 96


def strip(entries: Sequence[Entry]) -> Strip:
    """Return the drawing of some attempts, with its words."""
    marks = [mark_of(entry.attempt) for entry in entries]
    if len(entries) > MOST_MARKS:
        return _bar(marks)
    drawn = tuple(
        Drawn(mark, number * _STEP, entry.exclusion is not None)
        for number, (mark, entry) in enumerate(zip(marks, entries, strict=True))
    )
    words = [_said(entry) for entry in entries]
    return Strip(drawn, (), max(1, len(drawn)) * _STEP, ", ".join(words) or "no attempts")


def _said(entry: Entry) -> str:
    rerun = " (rerun)" if entry.attempt.rerun_of else ""
    excluded = " (excluded)" if entry.exclusion else ""
    return f"{mark_of(entry.attempt).word}{rerun}{excluded}"


def _bar(marks: Sequence[Mark]) -> Strip:
    counts = Counter(mark.kind for mark in marks)
    by_kind = {mark.kind: mark for mark in marks}
    pieces: list[Share] = []
    x = 0.0
    for kind in "pfti":
        if counts[kind]:
            width = round(_BAR * counts[kind] / len(marks), 2)
            pieces.append(Share(by_kind[kind], round(x, 2), width))
            x += width
    said = ", ".join(f"{counts[piece.mark.kind]} {piece.mark.word}" for piece in pieces)
    return Strip((), tuple(pieces), _BAR, said)


CellWord = Literal["all", "some", "none", "not judged", "not measured"]
"""``not judged``: none passed, and of none is it known that it failed."""


class GridCell(NamedTuple):
    """One version at one task, after exclusion."""

    passed: str
    """``3/5``."""
    word: CellWord
    strip: Strip
    target: str
    """Where its attempts are listed."""


class Column(NamedTuple):
    """One version of the grid."""

    name: str
    config: str


class GridRow(NamedTuple):
    """One task of the grid."""

    task_id: str
    target: str
    cells: tuple[GridCell | None, ...]
    """None: this version was never meant to attempt the task."""


class Grid(NamedTuple):
    """Tasks by versions."""

    columns: tuple[Column, ...]
    rows: tuple[GridRow, ...]
    left_out: int
    """Older versions beyond what fits side by side."""


def grid(name: str, figures: Sequence[ConfigFigures]) -> Grid:
    """Return the latest versions side by side, with every task that one of them has."""
    shown = figures[-MOST_COLUMNS:]
    cells = [{cell.task_id: cell for cell in each.version.cells} for each in shown]
    tasks = sorted({task for column in cells for task in column})
    return Grid(
        columns=tuple(Column(version_name(each), each.version.config) for each in shown),
        rows=tuple(
            GridRow(
                task,
                places.task(name, task),
                tuple(
                    grid_cell(name, each.version, column[task]) if task in column else None
                    for each, column in zip(shown, cells, strict=True)
                ),
            )
            for task in tasks
        ),
        left_out=len(figures) - len(shown),
    )


def grid_cell(name: str, version: Version, cell: Cell) -> GridCell:
    """Return one cell: count, word, marks."""
    rows = [entry.attempt for entry in cell.counted]
    passed = out_of(sum(row.passed for row in rows), len(rows))
    word = _cell_word(rows)
    target = f"{places.task(name, cell.task_id)}#{section_of(version)}"
    return GridCell(passed, word, strip((*cell.first, *cell.stand_ins)), target)


def _cell_word(rows: Sequence[Attempt]) -> CellWord:
    if not rows:
        return "not measured"
    if all(row.passed for row in rows):
        return "all"
    if any(row.passed for row in rows):
        return "some"
    return "none" if any(row.judged for row in rows) else "not judged"


def section_of(version: Version) -> str:
    """Return the id of a version's part of a page."""
    more = f"-{version.part}" if version.part > 1 else ""
    where = "" if version.condition == "live" else f"-{version.condition}"
    digest = version.config_ref.rpartition(":")[2][:8]
    return f"v-{version.config}-{version.version}-{digest}{where}{more}"
