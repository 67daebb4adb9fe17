"""Writing down a run: its plan, then every row, in few commits and without ever losing one."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from evalbook.base.canonical import sha256_hex
from evalbook.base.files import KeptFile
from evalbook.base.problems import UserError
from evalbook.records.attempt import Attempt
from evalbook.records.fields import attempt_parts
from evalbook.records.pages import line_bytes, run_folder
from evalbook.records.plan import Plan
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.journal import Journal, Opened, Started, Waiting
from evalbook.store.ledger import Ledger, NewPage
from evalbook.store.rows import planned_ids, rows_page, run_text

_SHARE = 8
"""A page is written when the waiting rows reach this part of what the run has committed …"""
_LONGEST = timedelta(minutes=10)
"""… or when the oldest of them has waited so long."""
_PAUSE = timedelta(minutes=1)
"""Until the next try, after a commit that could not be made: each try may wait for a lock."""


class RunWriter:
    """The one writer of a run, from its plan to its last row. Thread-safe.

    Everything that `finished` has returned for is on disk; the commits follow. While the user's
    branch can't be written to (a rebase, say) the rows wait: a run does not end for that.
    """

    def __init__(
        self, ledger: Ledger, store: ArtifactStore, plan: Plan, clock: Callable[[], datetime]
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._clock = clock
        self.plan = plan
        self.held_up: UserError | None = None
        """Why the rows that wait could not be committed when it was last tried."""
        self._folder = run_folder(plan.evaluation, plan.config, plan.run_id)
        self._plan_path = ""
        self._planned = frozenset(planned_ids(plan))
        self._journal = Journal.of(ledger.repository, plan.run_id)
        self._mutex = threading.Lock()
        self._waiting: dict[str, Waiting] = {}
        self._committed: dict[str, str] = {}
        """Attempt id to the SHA-256 of its row."""
        self._oldest: datetime | None = None
        self._not_before: datetime | None = None
        self._is_unsure = False
        """Whether a commit was begun and its end not seen."""
        self._open = True

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
        subject = (
            f"plan({plan.evaluation}): {plan.planned} attempts at {len(plan.tasks)} tasks"
            f" · {plan.config} {plan.version}"
        )
        try:
            (writer._plan_path,) = ledger.append(NewPage(writer._folder, (plan,), subject)).paths
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
            UserError: when the run has a writer already, or its plan is not on this branch.
        """
        writer = cls(ledger, store, plan, clock)
        known = run_text(ledger.repository, ledger.repository.head(), writer._folder)
        if known is None:
            raise UserError(
                f"the plan of run {plan.run_id} is not on this branch",
                hint="check out the branch the run was begun on",
            )
        writer._hold()
        writer._plan_path = known.plan_path
        writer._committed = dict(known.rows)
        left = writer._journal.waiting()  # where `recover` was held up
        writer._waiting = {each.attempt_id: each for each in left}
        return writer

    def _hold(self) -> None:
        if not self._journal.hold():
            raise UserError(f"run {self.plan.run_id} is being written by another process")
        git_dir = str(self._ledger.repository.git_dir)
        self._journal.open(Opened(self._folder, git_dir, os.getpid()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def without_row(self) -> tuple[str, ...]:
        """Return the ids of the planned attempts that have no row yet, by task and number."""
        with self._mutex:
            known = {*self._committed, *self._waiting}
        return tuple(each for each in planned_ids(self.plan) if each not in known)

    def started(self, attempt_id: str) -> None:
        """Note durably that an attempt begins: should we die, it becomes an infra_error row."""
        with self._mutex:
            self._refuse_unplanned(attempt_id)
            self._journal.start(Started(attempt_id, self._ledger.now()))

    def finished(self, attempt: Attempt, files: Sequence[KeptFile]) -> None:
        """Keep a row and its files; when this returns, no crash can lose them.

        Raises:
            UserError: when the attempt has another row already.
        """
        line = line_bytes(attempt)
        with self._mutex:
            self._refuse_unplanned(attempt.attempt_id)
            if self._is_recorded(attempt.attempt_id, line):
                return
        small = self._keep(attempt, files)
        waiting = Waiting(attempt.attempt_id, line, small)
        with self._mutex:
            if self._is_recorded(attempt.attempt_id, line):
                return
            self._journal.finish(waiting)
            self._waiting[attempt.attempt_id] = waiting
            now = self._clock()
            self._oldest = self._oldest or now
            if self._is_due(now):
                self._try_to_commit(now)

    def close(self) -> None:
        """Commit what still waits, and let go of the run.

        Raises:
            UserError: when the branch can't be written to; the next command tries again.
        """
        with self._mutex:
            if not self._open:
                return
            self._open = False
            try:
                self._commit()
                if not self._journal.started():
                    self._journal.close()
            finally:
                self._journal.release()
        self._ledger.tidy()

    def _refuse_unplanned(self, attempt_id: str) -> None:
        if not self._open:
            raise ValueError(f"the writer of run {self.plan.run_id} is closed")
        if attempt_id not in self._planned:
            raise ValueError(f"attempt {attempt_id} is not in the plan of run {self.plan.run_id}")

    def _is_recorded(self, attempt_id: str, line: bytes) -> bool:
        """Whether this very row is kept already."""
        waiting = self._waiting.get(attempt_id)
        known = sha256_hex(waiting.line) if waiting else self._committed.get(attempt_id)
        if known is not None and known != sha256_hex(line):
            raise UserError(f"attempt {attempt_id} has another row already, and rows never change")
        return known is not None

    def _keep(self, attempt: Attempt, files: Sequence[KeptFile]) -> tuple[str, ...]:
        """Keep the files durably, and return the digests of those that go into the ledger."""
        places = {artifact.sha256: artifact.place for artifact in attempt.artifacts}
        small = set()
        for file in files:
            if places.get(file.sha256) == "ledger":
                content = file.path.read_bytes()
                if sha256_hex(content) != file.sha256:
                    raise ValueError(f"{file.path} has changed since it was hashed")
                self._journal.keep_artifact(file.sha256, content)
                small.add(file.sha256)
            elif self._store.put_file(file.path) != file.sha256:
                raise ValueError(f"{file.path} has changed since it was hashed")
        return tuple(sorted(small))

    def _is_due(self, now: datetime) -> bool:
        if self._not_before is not None and now < self._not_before:
            return False
        waited = self._oldest is not None and now - self._oldest >= _LONGEST
        return waited or len(self._waiting) >= max(1, len(self._committed) // _SHARE)

    def _try_to_commit(self, now: datetime) -> None:
        try:
            self._commit()
        except UserError as error:  # the rows are safe, and `close` says it if it stays so
            self.held_up = error
            self._not_before = now + _PAUSE

    def _commit(self) -> None:
        if self._is_unsure:
            self._look()
        if self._waiting:
            rows = sorted(self._waiting.values(), key=lambda each: attempt_parts(each.attempt_id))
            self._is_unsure = True
            try:
                self._ledger.append(rows_page(self.plan, self._plan_path, self._journal, rows))
            except UserError:
                self._is_unsure = False  # it promises that nothing has changed
                raise
            self._is_unsure = False
            self._settle({each.attempt_id: sha256_hex(each.line) for each in rows})
        self._oldest = self._not_before = self.held_up = None

    def _look(self) -> None:
        """Find out which rows a commit that was cut off by Ctrl-C has brought into the book."""
        self._ledger.settle()
        repository = self._ledger.repository
        known = run_text(repository, repository.head(), self._folder)
        self._settle({} if known is None else known.rows)
        self._is_unsure = False

    def _settle(self, committed: Mapping[str, str]) -> None:
        self._committed |= committed
        done = [each for each in self._waiting if each in committed]
        for attempt_id in done:
            del self._waiting[attempt_id]
        self._journal.forget(done)
