"""Every attempt that was begun leaves a row, however the sitting ends."""

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path

import pytest
from tests.run.folders import AGENT, TASK, evaluation_folder
from tests.run.sittings import Rows, jobs_of, plan_of, run_jobs

from evalbook.base.canonical import sha256_hex
from evalbook.base.files import KeptFile
from evalbook.base.problems import UserError
from evalbook.records.attempt import Attempt
from evalbook.records.pages import line_bytes
from evalbook.run.session import Progress, run_plan

REPORTS = (
    AGENT
    + """
import json, os
json.dump({"cost": 0.1, "currency": "EUR"}, open(os.environ["EVALBOOK_REPORT"], "w"))
"""
)


def three_tasks(tmp_path: Path, agent: str, task: str = TASK) -> Path:
    files = {"agents/greeter.py": agent}
    for name in ("hello", "bye", "again"):
        files |= {
            f"tasks/{name}/task.toml": task,
            f"tasks/{name}/instruction.md": "Greet.\n",
            f"tasks/{name}/start/names.txt": "Ada\n",
            f"tasks/{name}/expected/greeting.txt": "hello Ada\n",
        }
    return evaluation_folder(tmp_path, files)


def test_rows_come_in_one_by_one_in_threads_and_in_processes(tmp_path: Path) -> None:
    folder = three_tasks(tmp_path, REPORTS)
    jobs = jobs_of(folder, attempts=2)
    pool = ProcessPoolExecutor(2, mp_context=get_context("forkserver"))

    in_threads = run_jobs(jobs, slots=2)
    in_processes = run_jobs(jobs, slots=2, executor=pool)

    wanted = sorted(job.attempt_id for job in jobs)
    for rows in (in_threads, in_processes):
        assert sorted(row.attempt_id for row in rows.attempts) == wanted
        assert {row.verdict for row in rows.attempts} == {"pass"}
        assert sorted(rows.begun) == wanted


def test_every_task_gets_its_first_attempt_before_any_gets_a_second(tmp_path: Path) -> None:
    jobs = jobs_of(three_tasks(tmp_path, AGENT), attempts=2)

    assert [(job.planned.number, job.task.task_id) for job in jobs] == [
        (1, "again"), (1, "bye"), (1, "hello"), (2, "again"), (2, "bye"), (2, "hello"),
    ]  # fmt: skip


class Inline(Executor):
    """Executes at once, and remembers how many were handed over but not yet taken in."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def submit(self, function, /, *arguments, **keywords):  # type: ignore[no-untyped-def]  # Executor's own is generic
        self.events.append(f"run {arguments[0].attempt_id}")
        future: Future[object] = Future()
        future.set_result(function(*arguments, **keywords))
        return future


class Noting(Rows):
    def __init__(self, events: list[str]) -> None:
        super().__init__()
        self.events = events

    def started(self, attempt_id: str) -> None:
        self.events.append(f"note {attempt_id}")
        super().started(attempt_id)


def test_an_attempt_is_noted_just_before_it_is_started(tmp_path: Path) -> None:
    jobs = jobs_of(three_tasks(tmp_path, AGENT), attempts=1)
    executor = Inline()

    run_plan(jobs, executor, Noting(executor.events), slots=1, progress=lambda _: None)

    assert executor.events == [
        f"{what} {job.attempt_id}" for job in jobs for what in ("note", "run")
    ]


@pytest.mark.parametrize("slots", [1, 2])
def test_no_more_are_begun_than_there_are_slots(tmp_path: Path, slots: int) -> None:
    jobs = jobs_of(three_tasks(tmp_path, AGENT), attempts=2)
    running: list[int] = []

    run_jobs(jobs, slots=slots, progress=lambda each: running.append(each.running))

    assert max(running) <= slots


def test_progress_tells_verdicts_costs_and_what_is_left(tmp_path: Path) -> None:
    folder = three_tasks(tmp_path, REPORTS)
    (folder / "tasks/bye/expected/greeting.txt").write_text("other")
    told: list[Progress] = []

    run_jobs(jobs_of(folder, attempts=2), progress=told.append)

    assert [each.done for each in told] == list(range(7))
    assert (told[0].planned, told[0].last, told[0].left_s) == (6, None, None)
    assert told[1].left_s is not None
    assert told[1].left_s > 0
    last = told[-1]
    assert last.verdicts == (
        ("again", ("pass", "pass")), ("bye", ("fail", "fail")), ("hello", ("pass", "pass")),
    )  # fmt: skip
    assert [(cost.amount, cost.currency) for cost in last.costs] == [(Decimal("0.6"), "EUR")]
    assert (last.unknown_costs, last.left_s) == (0, 0)


def test_costs_that_were_not_reported_are_counted_not_summed(tmp_path: Path) -> None:
    told: list[Progress] = []

    run_jobs(jobs_of(evaluation_folder(tmp_path), attempts=2), progress=told.append)

    assert (told[-1].costs, told[-1].unknown_costs) == ((), 2)


def test_ctrl_c_kills_what_runs_and_hands_on_a_row_for_it(tmp_path: Path) -> None:
    code = f"from pathlib import Path\nPath({str(tmp_path)!r}, 'up').touch()\nimport time\ntime.sleep(60)"
    jobs = jobs_of(three_tasks(tmp_path, code))
    rows = Rows()

    def press() -> None:
        end = time.monotonic() + 20
        while not (tmp_path / "up").exists() and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    presser = threading.Thread(target=press)
    try:
        with ThreadPoolExecutor(2) as pool:
            presser.start()
            with pytest.raises(KeyboardInterrupt):
                run_plan(jobs, pool, rows, slots=2, progress=lambda _: None)
    finally:
        presser.join()
        signal.signal(signal.SIGINT, before)

    assert len(rows.attempts) == len(rows.begun) == 2
    for row in rows.attempts:
        assert (row.verdict, row.judged, row.termination) == ("infra_error", False, "interrupted")


class Refusing(Rows):
    """Cannot keep the first row, as when somebody starts a merge meanwhile."""

    def finished(self, attempt: Attempt, files: Sequence[KeptFile]) -> None:
        super().finished(attempt, files)
        if len(self.attempts) == 1:
            raise UserError("a merge is under way")


def test_a_sink_that_refuses_stops_the_sitting_but_loses_no_row(tmp_path: Path) -> None:
    jobs = jobs_of(three_tasks(tmp_path, AGENT), attempts=3)
    rows = Refusing()

    with ThreadPoolExecutor(2) as pool, pytest.raises(UserError, match="a merge is under way"):
        run_plan(jobs, pool, rows, slots=2, progress=lambda _: None)

    assert sorted(row.attempt_id for row in rows.attempts) == sorted(rows.begun)
    assert len(rows.attempts) < len(jobs)


def test_a_worker_that_dies_is_an_infra_error_and_said(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "launcher = os.getppid()\n"
        "worker = int(open(f'/proc/{launcher}/stat').read().rpartition(')')[2].split()[1])\n"
        "os.kill(worker, signal.SIGKILL)"
    )
    if sys.platform != "linux":
        pytest.skip("finds the worker through /proc")
    rows = Rows()
    jobs = jobs_of(evaluation_folder(tmp_path, {"agents/greeter.py": code}), attempts=2)

    with (
        ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as pool,
        pytest.raises(UserError, match="a worker process died"),
    ):
        run_plan(jobs, pool, rows, slots=1, progress=lambda _: None)

    (row,) = rows.attempts
    assert (row.verdict, row.judged, row.termination) == ("infra_error", False, "runner broke down")


def test_attempts_that_share_state_outside_are_made_one_after_another(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    code = (
        AGENT
        + f"""
import os, time
os.mkdir({str(memory / "taken")!r})
time.sleep(0.1)
"""
    )
    folder = three_tasks(tmp_path, code, f'restore = ["{memory}"]\n{TASK}')

    rows = run_jobs(jobs_of(folder, attempts=2), slots=4)

    assert {row.exit_code for row in rows.attempts} == {0}
    assert list(memory.iterdir()) == []


def test_carrying_on_an_earlier_attempt_is_linked_to_its_row(tmp_path: Path) -> None:
    code = (
        AGENT
        + """
import json, os
number = int(os.environ["EVALBOOK_ATTEMPT"])
said = {2: "20261130-2118-k3f9/hello/1", 3: "20261130-2118-k3f9/hello/99"}.get(number)
json.dump({"recovery_of": said}, open(os.environ["EVALBOOK_REPORT"], "w"))
"""
    )
    folder = evaluation_folder(tmp_path, {"agents/greeter.py": code})

    first, second, third = run_jobs(jobs_of(folder, attempts=3)).attempts

    assert first.recovery_of is None
    assert second.recovery_of == first.attempt_id
    assert second.recovery_of_sha256 == sha256_hex(line_bytes(first))
    assert third.recovery_of is None
    assert third.note is not None
    assert "hello/99, which is no earlier attempt of this run" in third.note


def test_nothing_is_left_in_the_work_folder_but_the_snapshots(tmp_path: Path) -> None:
    folder = three_tasks(tmp_path, AGENT)

    run_jobs(jobs_of(folder, attempts=2), slots=2)

    run = tmp_path / ".evalbook/work/20261130-2118-k3f9"
    assert sorted(path.name for path in run.iterdir() if any(path.rglob("*.*"))) == [
        "grading",
        "start",
    ]


def test_a_run_without_slots_is_a_mistake_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one slot"):
        run_plan((), Inline(), Rows(), slots=0, progress=lambda _: None)


def test_a_plan_with_nothing_left_is_done(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    plan = plan_of(folder, attempts=2)
    done = [plan.attempt_id("hello", number) for number in (1, 2)]

    assert jobs_of(folder, plan=plan, done=done[:1])[0].attempt_id == done[1]
    assert jobs_of(folder, plan=plan, done=done) == ()
    assert run_jobs(()).attempts == []
