"""Runs of the little evaluation, without git: rows land in a list."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from evalbook.base.files import KeptFile
from evalbook.records.attempt import Attempt
from evalbook.records.plan import Plan
from evalbook.run.assignment import AttemptJob
from evalbook.run.evaluations import load_evaluation
from evalbook.run.materials import Stamp, config_freeze, freeze_records, material_freezes
from evalbook.run.plans import PlanFacts, measure_plan
from evalbook.run.preparation import Scene, prepare
from evalbook.run.session import Progress, run_plan

AT = "2026-11-30T21:18:04.123Z"
PERSON = "Test Person <person@example.org>"
PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def clock() -> datetime:
    """Return a moment that never changes."""
    return datetime(2026, 11, 30, 21, 18, 4, 123_000, tzinfo=UTC)


class Rows:
    """A sink that keeps rows, and the bytes of their files, in memory."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.attempts: list[Attempt] = []
        self.bytes: dict[str, bytes] = {}

    def started(self, attempt_id: str) -> None:
        self.begun.append(attempt_id)

    def finished(self, attempt: Attempt, files: Sequence[KeptFile]) -> None:
        assert attempt.attempt_id in self.begun
        self.attempts.append(attempt)
        self.bytes |= {file.sha256: file.path.read_bytes() for file in files}

    def artifact(self, attempt: Attempt, name: str) -> bytes:
        """Return the bytes of an artifact by its name."""
        return self.bytes[next(a.sha256 for a in attempt.artifacts if a.name == name)]


def plan_of(folder: Path, *, attempts: int = 1, config: str = "agent") -> Plan:
    """Return a plan of everything in the evaluation's folder, frozen as it stands."""
    loaded = load_evaluation(folder)
    freezes = freeze_records(loaded, (), Stamp("first", PERSON, AT))
    frozen = config_freeze(freezes, config)
    assert frozen is not None
    return measure_plan(
        loaded.evaluation.rules(),
        frozen,
        tuple(material_freezes(freezes).values()),
        PlanFacts("20261130-2118-k3f9", PERSON, AT, "evalbook test", (), "live"),
        attempts=attempts,
        seed=iter(range(100, 10_000)).__next__,
    )


def jobs_of(
    folder: Path,
    *,
    plan: Plan | None = None,
    attempts: int = 1,
    environment: Mapping[str, str] | None = None,
    done: Collection[str] = (),
) -> tuple[AttemptJob, ...]:
    """Return the jobs of such a plan; their work folder lies beside the evaluations."""
    scene = Scene(
        folder.parent.parent / ".evalbook" / "work", {**PATH, **(environment or {})}, clock
    )
    plan = plan or plan_of(folder, attempts=attempts)
    return prepare(plan, load_evaluation(folder), scene, done=done)


def run_jobs(
    jobs: Sequence[AttemptJob],
    *,
    slots: int = 1,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Rows:
    """Make the attempts, in threads unless told otherwise."""
    rows = Rows()
    with executor or ThreadPoolExecutor(slots) as pool:
        run_plan(jobs, pool, rows, slots=slots, progress=progress)
    return rows


def run_agent(
    tmp_path: Path,
    agent: str,
    *,
    files: Mapping[str, str | None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[Attempt, Rows]:
    """Run one attempt of the little evaluation with ``agent`` as its Python program."""
    from tests.run.folders import evaluation_folder

    folder = evaluation_folder(tmp_path, {"agents/greeter.py": agent, **(files or {})})
    rows = run_jobs(jobs_of(folder, environment=environment))
    assert len(rows.attempts) == 1
    return rows.attempts[0], rows
