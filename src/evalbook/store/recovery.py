"""Bringing into the book what runs have left that died."""

from contextlib import suppress
from typing import NamedTuple

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import UserError
from evalbook.records.pages import line_bytes
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.journal import Journal, Waiting
from evalbook.store.ledger import Ledger
from evalbook.store.locks import CannotWriteError
from evalbook.store.rows import RunText, interrupted_row, rows_page, run_text


class Recovered(NamedTuple):
    """What was found of a run whose process is dead."""

    run_id: str
    rows: int
    """Rows that are committed now, the interrupted ones included."""
    interrupted: tuple[str, ...]
    """Ids of the attempts that were under way: they are infra_error rows now."""
    held_up: CannotWriteError | None = None
    """Why nothing could be committed; what was finished stays where it is, safe on disk."""


def recover(ledger: Ledger, store: ArtifactStore) -> tuple[Recovered, ...]:
    """Commit what runs that died have left; costs a look at one folder when there is nothing.

    Where the branch can't be written to, what was left stays for the next command.

    Raises:
        UserError: when a row contradicts one in the book.
    """
    del store  # what belongs there was put there before the row was kept
    with suppress(CannotWriteError):  # whoever writes next tries again, and tells
        ledger.settle()
    found = []
    with suppress(CannotWriteError):  # nobody may write in this repository: not ours to recover
        for journal in Journal.left_behind(ledger.repository):
            opened = journal.opened()
            recovered = _recover(ledger, journal, opened.folder) if opened else None
            if recovered is None or recovered.held_up is None:
                journal.close()
            if recovered is not None and (recovered.rows or recovered.held_up):
                found.append(recovered)
    return tuple(found)


def _recover(ledger: Ledger, journal: Journal, folder: str) -> Recovered:
    """Commit what one run has left, as long as its plan is where the rows would go."""
    while True:
        # Only what was looked at counts: another program may move the branch meanwhile.
        tip = ledger.repository.head()
        known = run_text(ledger.repository, tip, folder)
        if known is None:
            return Recovered(journal.run_id, 0, (), _misplaced(journal))
        left = _left(ledger, journal, known)
        if not left.waiting:
            return Recovered(journal.run_id, 0, ())
        page = rows_page(known.plan, known.plan_path, journal, left.waiting)
        try:
            if ledger.append_at(page, tip):
                return Recovered(journal.run_id, len(left.waiting), left.interrupted)
        except CannotWriteError as error:
            return Recovered(journal.run_id, 0, (), error)


def _misplaced(journal: Journal) -> CannotWriteError | None:
    """Return why rows can't go on a branch that lacks their plan; None where there are none.

    Without any, the process died before it had committed its plan, so before anything was begun.
    """
    if not journal.waiting() and not journal.started():
        return None
    return CannotWriteError(
        f"the plan of run {journal.run_id} is not on this branch",
        hint="check out the branch the run was begun on; what is finished is kept until then",
    )


class _Left(NamedTuple):
    waiting: tuple[Waiting, ...]
    interrupted: tuple[str, ...]


def _left(ledger: Ledger, journal: Journal, known: RunText) -> _Left:
    """Return what a dead run still has to commit, given the rows that the book knows."""
    rows = known.rows
    waiting = []
    for each in journal.waiting():
        if each.attempt_id not in rows:
            waiting.append(each)
        elif rows[each.attempt_id] != sha256_hex(each.line):
            raise UserError(
                f"attempt {each.attempt_id} waits with a row that is not the one in the book",
                hint=f"look into {journal.run_id} under the git directory's evalbook/runs",
            )
    done = {*rows, *(each.attempt_id for each in waiting)}
    cut = [each for each in journal.started() if each.attempt_id not in done]
    waiting += [
        Waiting(each.attempt_id, line_bytes(interrupted_row(known.plan, each, ledger.now())), ())
        for each in cut
    ]
    return _Left(tuple(waiting), tuple(each.attempt_id for each in cut))
