"""Making all attempts of a run through an executor, and handing each row on as it is finished."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple, Protocol

from evalbook.base.canonical import sha256_hex
from evalbook.base.files import KeptFile
from evalbook.base.problems import UserError
from evalbook.base.times import instant
from evalbook.records.attempt import Attempt
from evalbook.records.fields import Verdict
from evalbook.records.pages import line_bytes
from evalbook.run.assignment import AttemptJob, AttemptOutcome
from evalbook.run.attempt import execute_attempt
from evalbook.run.process import allow_all, stop_all
from evalbook.run.rows import Findings, row_of
from evalbook.run.trees import remove


class RowSink(Protocol):
    """Where rows go; the store's RunWriter is one."""

    def started(self, attempt_id: str) -> None:
        """Note durably that an attempt begins."""

    def finished(self, attempt: Attempt, files: Sequence[KeptFile]) -> None:
        """Keep a row and its files durably."""


class Cost(NamedTuple):
    """A sum of known costs."""

    amount: Decimal
    currency: str


class Progress(NamedTuple):
    """How far a run is."""

    planned: int
    """Attempts that this sitting is to make."""
    done: int
    running: int
    last: Attempt | None
    """The one that was finished just now; none at the beginning."""
    verdicts: tuple[tuple[str, tuple[Verdict, ...]], ...]
    """Task id and the verdicts of this sitting so far in the order of their attempts, by task."""
    costs: tuple[Cost, ...]
    """By currency."""
    unknown_costs: int
    left_s: float | None
    """Estimated seconds until the end; none before the first attempt is done."""


def run_plan(
    jobs: Sequence[AttemptJob],
    executor: Executor,
    writer: RowSink,
    *,
    slots: int,
    progress: Callable[[Progress], None],
) -> tuple[Attempt, ...]:
    """Make the attempts of ``jobs``, at most ``slots`` at a time, and return their rows as finished.

    Each is noted as started when it is about to start, never earlier. Attempts that restore the same
    things outside their workspaces are made one after another. On Ctrl-C nothing more is started,
    running agents are killed, and their rows say ``interrupted``.

    Raises:
        KeyboardInterrupt: after Ctrl-C, once every row that was begun is handed on.
        UserError: when the sink refuses, or a worker of the executor died; rows are handed on first.
    """
    if slots < 1:
        raise ValueError("a run needs at least one slot")
    allow_all()
    sitting = _Sitting(jobs, executor, writer, slots, progress)
    try:
        sitting.work()
    except BaseException:
        stop_all()
        sitting.wind_up()
        raise
    return tuple(sitting.rows)


class _Sitting:
    """The state of one call of `run_plan`."""

    def __init__(
        self,
        jobs: Sequence[AttemptJob],
        executor: Executor,
        writer: RowSink,
        slots: int,
        progress: Callable[[Progress], None],
    ) -> None:
        self.rows: list[Attempt] = []
        self._waiting = deque(jobs)
        self._running: dict[Future[AttemptOutcome], AttemptJob] = {}
        self._executor = executor
        self._writer = writer
        self._slots = slots
        self._planned = len(jobs)
        self._progress = progress
        self._begun = time.monotonic()
        self._earlier: dict[str, dict[str, str]] = {}

    def work(self) -> None:
        """Start what there is room for and take in what is finished, until nothing is left."""
        self._tell(None)
        while self._waiting or self._running:
            for job in self._startable():
                self._start(job)
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                self._take_in(future)

    def _startable(self) -> Iterator[AttemptJob]:
        """Yield, taking it off the queue, each job for which there is a slot now."""
        held_back = []
        while self._waiting and len(self._running) < self._slots:
            job = self._waiting.popleft()
            shared = {each.path for each in job.outside}
            if shared & {each.path for other in self._running.values() for each in other.outside}:
                held_back.append(job)
            else:
                yield job
        self._waiting.extendleft(reversed(held_back))

    def _start(self, job: AttemptJob) -> None:
        self._writer.started(job.attempt_id)
        known = dict(self._earlier.get(job.task.task_id, {}))
        self._running[self._executor.submit(execute_attempt, replace(job, earlier=known))] = job

    def _take_in(self, future: Future[AttemptOutcome]) -> None:
        job = self._running.pop(future)
        error = future.exception()
        if error is None:
            self._hand_on(future.result())
            return
        self._hand_on(_lost(job, error))
        if isinstance(error, BrokenExecutor):
            raise UserError(
                "a worker process died", hint="look for lack of memory; resume the run when mended"
            ) from error
        raise error

    def _hand_on(self, outcome: AttemptOutcome) -> None:
        attempt = outcome.attempt
        self._writer.finished(attempt, outcome.files)
        for folder in outcome.folders:
            with suppress(OSError):  # a folder that can't be removed costs room, not the run
                remove(folder)
        self.rows.append(attempt)
        known = self._earlier.setdefault(attempt.task_id, {})
        known[attempt.attempt_id] = sha256_hex(line_bytes(attempt))
        self._tell(attempt)

    def wind_up(self) -> None:
        """Hand on every attempt that was begun; agents have been told to stop."""
        for future in list(self._running):
            future.cancel()
        while self._running:
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                job = self._running.pop(future)
                if future.cancelled():
                    self._hand_on(_lost(job, None))
                    continue
                error = future.exception()
                self._hand_on(future.result() if error is None else _lost(job, error))

    def _tell(self, last: Attempt | None) -> None:
        costs: Counter[str] = Counter()
        verdicts: dict[str, list[Attempt]] = {}
        sums: dict[str, Decimal] = {}
        for row in self.rows:
            verdicts.setdefault(row.task_id, []).append(row)
            if row.currency is None:
                costs["unknown"] += 1
            else:
                sums[row.currency] = sums.get(row.currency, Decimal(0)) + Decimal(row.cost)
        done = len(self.rows)
        spent = time.monotonic() - self._begun
        self._progress(
            Progress(
                planned=self._planned,
                done=done,
                running=len(self._running),
                last=last,
                verdicts=tuple(
                    (task, tuple(row.verdict for row in sorted(found, key=_number)))
                    for task, found in sorted(verdicts.items())
                ),
                costs=tuple(Cost(amount, unit) for unit, amount in sorted(sums.items())),
                unknown_costs=costs["unknown"],
                left_s=spent / done * (self._planned - done) if done else None,
            )
        )


def _number(row: Attempt) -> int:
    return int(row.attempt_id.rpartition("/")[2])


def _lost(job: AttemptJob, error: BaseException | None) -> AttemptOutcome:
    """Return the row of an attempt that was begun and came to no end of its own."""
    now = instant(job.clock())
    if error is None:
        found = Findings("interrupted", now, "unknown", ("stopped before the agent was started",))
    elif isinstance(error, KeyboardInterrupt):  # Ctrl-C reaches workers of a terminal's group too
        found = Findings("interrupted", now, "unknown", ("stopped while it was under way",))
    else:
        what = f"evalbook broke down over it: {type(error).__name__}: {error}"
        found = Findings("runner broke down", now, "unknown", (what,))
    return AttemptOutcome(row_of(job, now, found), ())
