"""Writing down a run: its plan, then every row, in few commits and without ever losing one."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import NamedTuple, Self

from evalbook.base.files import KeptFile
from evalbook.base.problems import UserError
from evalbook.records.attempt import Attempt
from evalbook.records.fields import attempt_parts
from evalbook.records.pages import Line, line_bytes, parse_line, run_folder
from evalbook.records.plan import Plan
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.journal import Journal, Started, Waiting
from evalbook.store.ledger import Ledger, NewPage
from evalbook.store.reading import read_run

_SHARE = 8
"""A page is written when the waiting rows reach this part of what the run has committed …"""
_LONGEST = timedelta(minutes=10)
"""… or when the oldest of them has waited so long."""


class RunWriter:
    """The one writer of a run, from its plan to its last row. Thread-safe.

    Everything that `finished` has returned for is on disk; the commits follow.
    """

    def __init__(
        self, ledger: Ledger, store: ArtifactStore, plan: Plan, clock: Callable[[], datetime]
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._clock = clock
        self.plan = plan
        self._folder = run_folder(plan.evaluation, plan.config, plan.run_id)
        self._journal = Journal.of(ledger.repository, plan.run_id)
        self._mutex = threading.Lock()
        self._committed = 0
        self._oldest: datetime | None = None

    @classmethod
    def begin(
        cls, ledger: Ledger, store: ArtifactStore, plan: Plan, clock: Callable[[], datetime]
    ) -> Self:
        """Commit the plan and return its writer.

        Raises:
            UserError: when the branch can't be written to, or the run has a writer already.
        """
        writer = cls(ledger, store, plan, clock)
        writer._hold()
        try:
            ledger.append(
                NewPage(
                    writer._folder,
                    (plan,),
                    f"plan({plan.evaluation}): {plan.planned} attempts at {len(plan.tasks)} tasks"
                    f" · {plan.config} {plan.version}",
                )
            )
        except BaseException:
            writer._journal.close()
            writer._journal.release()
            raise
        return writer

    @classmethod
    def resume(
        cls, ledger: Ledger, store: ArtifactStore, plan: Plan, clock: Callable[[], datetime]
    ) -> Self:
        """Return the writer of a run that was cut short; call `recover` before.

        Raises:
            UserError: when the run has a writer already.
        """
        writer = cls(ledger, store, plan, clock)
        writer._hold()
        writer._committed = len(_rows_at(ledger, writer._folder, ledger.repository.head()))
        return writer

    def _hold(self) -> None:
        if not self._journal.hold():
            raise UserError(f"run {self.plan.run_id} is being written by another process")
        self._journal.open(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def started(self, attempt_id: str) -> None:
        """Note durably that an attempt begins: should we die, it becomes an infra_error row."""
        with self._mutex:
            self._journal.start(Started(attempt_id, self._ledger.now()))

    def finished(self, attempt: Attempt, files: Sequence[KeptFile]) -> None:
        """Keep a row and its files; when this returns, no crash can lose them.

        Raises:
            UserError: when the attempt has another row already, or a commit is due and the branch
                can't be written to; the row is kept all the same.
        """
        places = {artifact.sha256: artifact.place for artifact in attempt.artifacts}
        with self._mutex:
            small = []
            for file in files:
                if places.get(file.sha256) == "ledger":
                    self._journal.keep_artifact(file.sha256, file.path.read_bytes())
                    small.append(file.sha256)
                else:
                    self._store.put_file(file.path)
            waiting = Waiting(attempt.attempt_id, line_bytes(attempt), tuple(sorted(set(small))))
            self._journal.finish(waiting)
            self._oldest = self._oldest or self._clock()
            self._commit_if_due()

    def close(self) -> None:
        """Commit what still waits, and let go of the run.

        Raises:
            UserError: when the branch can't be written to; the next command tries again.
        """
        with self._mutex:
            try:
                self._commit(self._journal.waiting())
                if not self._journal.started():
                    self._journal.close()
            finally:
                self._journal.release()
        self._ledger.tidy()

    def _commit_if_due(self) -> None:
        waiting = self._journal.waiting()
        waited = self._oldest is not None and self._clock() - self._oldest >= _LONGEST
        if waited or len(waiting) >= max(1, self._committed // _SHARE):
            self._commit(waiting)

    def _commit(self, waiting: Sequence[Waiting]) -> None:
        if waiting:
            self._ledger.append(_page(self.plan, self._journal, waiting))
            self._journal.forget(tuple(each.attempt_id for each in waiting))
            self._committed += len(waiting)
        self._oldest = None


class Recovered(NamedTuple):
    """What was found of a run whose process is dead, and is committed now."""

    run_id: str
    rows: int
    """Rows committed, the interrupted ones included."""
    interrupted: tuple[str, ...]
    """Ids of the attempts that were under way: they are infra_error rows now."""


def recover(ledger: Ledger, store: ArtifactStore) -> tuple[Recovered, ...]:
    """Commit what runs that died have left; costs a look at one folder when there is nothing.

    Raises:
        UserError: when the branch can't be written to, or a row contradicts one in the book.
    """
    del store  # what belongs there was put there before the row was kept
    ledger.settle()
    found = []
    for journal in Journal.left_behind(ledger.repository):
        folder = journal.run_folder()
        recovered = _recover(ledger, journal, folder) if folder else None
        journal.close()
        if recovered and recovered.rows:
            found.append(recovered)
    return tuple(found)


def _recover(ledger: Ledger, journal: Journal, folder: str) -> Recovered | None:
    while True:
        # A git of the dead process may still be moving the branch: only what was looked at counts.
        tip = ledger.repository.head()
        plan = _plan_at(ledger, folder, tip)
        if plan is None:
            return None  # it died before its plan was committed, so before anything was begun
        left = _left(ledger, journal, plan, _rows_at(ledger, folder, tip))
        if not left.waiting or ledger.append_at(_page(plan, journal, left.waiting), tip):
            return Recovered(plan.run_id, len(left.waiting), left.interrupted)


class _Left(NamedTuple):
    waiting: tuple[Waiting, ...]
    interrupted: tuple[str, ...]


def _left(ledger: Ledger, journal: Journal, plan: Plan, known: Mapping[str, bytes]) -> _Left:
    """Return what a dead run still has to commit, given the rows that the book knows."""
    waiting = []
    for each in journal.waiting():
        if each.attempt_id not in known:
            waiting.append(each)
        elif known[each.attempt_id] != each.line:
            raise UserError(
                f"attempt {each.attempt_id} waits with a row that is not the one in the book",
                hint=f"look into {journal.run_id} under the git directory's evalbook/runs",
            )
    done = {*known, *(each.attempt_id for each in waiting)}
    cut = [each for each in journal.started() if each.attempt_id not in done]
    waiting += [
        Waiting(each.attempt_id, line_bytes(interrupted_row(plan, each, ledger.now())), ())
        for each in cut
    ]
    return _Left(tuple(waiting), tuple(each.attempt_id for each in cut))


def interrupted_row(plan: Plan, started: Started, ended_at: str) -> Attempt:
    """Return the row of an attempt whose process died before it came to an end."""
    parts = attempt_parts(started.attempt_id)
    task = next(each for each in plan.tasks if each.task_id == parts.task)
    planned = next(each for each in task.attempts if each.number == parts.number)
    return Attempt(
        record="attempt/1",
        task_id=parts.task,
        attempt_id=started.attempt_id,
        request_id=started.attempt_id,
        config_ref=plan.config_ref,
        input_sha256=task.input_sha256,
        initial_state_ref=task.initial_state_ref,
        grader_ref=task.grader_ref,
        started_at=started.started_at,
        ended_at=None,
        verdict="infra_error",
        failed_checks=(),
        artifact_ref=None,
        trace_ref=None,
        tool_retries=None,
        human_help=None,
        elapsed_seconds=None,
        cost="unknown",
        currency=None,
        dependency_error=None,
        rerun_of=planned.rerun_of,
        rerun_of_sha256=planned.rerun_of_sha256,
        termination="interrupted",
        judged=False,
        condition=plan.condition,
        seed=planned.seed,
        note=f"the process that ran it died before it came to an end; found at {ended_at}",
    )


def _plan_at(ledger: Ledger, folder: str, commit: str | None) -> Plan | None:
    for line in _lines_at(ledger, folder, commit):
        if isinstance(line.record, Plan):
            return line.record
    return None


def _rows_at(ledger: Ledger, folder: str, commit: str | None) -> dict[str, bytes]:
    """Return the rows whose pages lie in ``folder``: attempt id to the row's bytes."""
    return {
        line.record.attempt_id: line_bytes(line.record)
        for line in _lines_at(ledger, folder, commit)
        if isinstance(line.record, Attempt)
    }


def _lines_at(ledger: Ledger, folder: str, commit: str | None) -> tuple[Line, ...]:
    if commit is None:
        return ()
    pages = read_run(ledger.repository, commit, folder).pages
    return tuple(line for page in pages for line in page.lines)


def _page(plan: Plan, journal: Journal, waiting: Sequence[Waiting]) -> NewPage:
    """Return the page that holds these rows and the artifacts that go into the ledger with them."""
    rows = [parse_line(each.line) for each in waiting]
    attempts = tuple(row for row in rows if isinstance(row, Attempt))
    artifacts = {sha: journal.artifact(sha) for each in waiting for sha in each.artifacts}
    folder = run_folder(plan.evaluation, plan.config, plan.run_id)
    return NewPage(folder, attempts, _subject(plan, attempts), artifacts=artifacts)


def _subject(plan: Plan, attempts: Sequence[Attempt]) -> str:
    who = f"{plan.config} {plan.version}"
    if len(attempts) == 1:
        parts = attempt_parts(attempts[0].attempt_id)
        return (
            f"attempt({plan.evaluation}): {parts.task} {parts.number} {attempts[0].verdict} · {who}"
        )
    counted = Counter(attempt.verdict for attempt in attempts)
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))
    return f"attempts({plan.evaluation}): {said} · {who}"
