"""One attempt, from its verified start to its row."""

import errno
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import UserError
from evalbook.base.times import instant
from evalbook.records.attempt import CheckOutcome, TouchedFile
from evalbook.run.agents import Place, agent_command, agent_environment, agent_limits, make_place
from evalbook.run.assignment import AttemptJob, AttemptOutcome
from evalbook.run.checks.grade import GradeContext, grade
from evalbook.run.evidence import Cabinet
from evalbook.run.outside import restore_outside
from evalbook.run.process import Ended, run_command
from evalbook.run.rows import Findings, row_of
from evalbook.run.scrub import Scrubber
from evalbook.run.told import keep_told
from evalbook.run.trees import remove
from evalbook.run.verdicts import own_checks
from evalbook.run.workspace import fresh_copy, is_intact, take_snapshot, touched_files

_NOBODYS_FAULT = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS}
)
"""What the system says when it is out of something."""
_NOT_GRADED = frozenset({"not_started", "interrupted"})


def execute_attempt(job: AttemptJob) -> AttemptOutcome:
    """Make one attempt: verify the start, run, keep the evidence, grade, restore and verify again.

    Whatever happens is in the row: what kept the agent from starting, and what of ours broke down,
    is an ``infra_error`` without a verdict of its own. Attempts that share state outside their
    workspaces wait for each other.
    """
    lock = job.run_folder.parent / "restore.lock"
    with FileLock(lock) if job.outside else nullcontext():
        started_at = instant(job.clock())
        try:
            place = _ready(job)
        except (UserError, OSError) as error:
            ended_at = instant(job.clock())
            found = Findings("start not verified", ended_at, "failed", (str(error),))
            return AttemptOutcome(row_of(job, started_at, found), ())
        try:
            return _execute(job, place, started_at)
        except OSError as error:
            return _spoiled(job, started_at, error)


def _spoiled(job: AttemptJob, started_at: str, error: OSError) -> AttemptOutcome:
    """Return the row of an attempt after which the run's own folders can't be worked with.

    A disk that is full is nobody's failure. Folders that were intact when the agent started and are
    gone or replaced now are: only it ran meanwhile, and no agent may turn its failure into a fault of
    the infrastructure.
    """
    at_fault = error.errno not in _NOBODYS_FAULT
    check = CheckOutcome(
        name="run_folders",
        outcome="failed" if at_fault else "error",
        critical=at_fault,
        expected="the run's own folders as they were when the agent started",
        actual=str(error)[:2_000],
        failure_class="out_of_bounds" if at_fault else None,
    )
    found = Findings(
        "folders damaged" if at_fault else "no room",
        instant(job.clock()),
        "failed",
        (str(error),),
        checks=(check,),
    )
    return AttemptOutcome(row_of(job, started_at, found), ())


def _ready(job: AttemptJob) -> Place:
    """Return the attempt's folders, its start copied and verified.

    Raises:
        UserError: when the start is not what was frozen, or something outside can't be set back.
        OSError: when the disk refuses.
    """
    problems = [*restore_outside(job.outside), *_changed_files(job)]
    if problems:
        raise UserError(problems[0])
    parent = job.run_folder / "attempts" / job.task.task_id
    parent.mkdir(parents=True, exist_ok=True)
    # A name of its own: even an attempt that was cut off keeps its folder to itself.
    place = make_place(Path(tempfile.mkdtemp(dir=parent, prefix=f"{job.planned.number}-")), job)
    fresh_copy(job.start, place.workspace)
    return place


def _changed_files(job: AttemptJob) -> list[str]:
    """Return what to say of the config's own files that are not what was frozen any more."""
    changed = []
    for name, sha256 in sorted(job.own_files.items()):
        path = job.evaluation_folder / name
        if not path.is_file() or sha256_hex(path.read_bytes()) != sha256:
            changed.append(f"{name} was changed while the run was under way")
    return changed


def _folder(job: AttemptJob, kind: str) -> Path:
    """Return a new empty folder, which no agent could have prepared."""
    parent = job.run_folder / kind
    parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=parent))


def _execute(job: AttemptJob, place: Place, started_at: str) -> AttemptOutcome:
    scrubber = Scrubber(job.secrets)
    ended = _run(job, place)
    ended_at = instant(job.clock())
    if place.workspace.is_symlink() or not place.workspace.is_dir():
        remove(place.workspace)  # what the agent put in its place must not be followed
        place.workspace.mkdir(parents=True)
    cabinet = Cabinet(_folder(job, "kept"), scrubber)
    told = keep_told(cabinet, place, ended, currency=job.config.config.currency)
    touched = touched_files(job.start.files, place.workspace)
    kept_touched = cabinet.keep_outputs(place.workspace, touched)
    kept = cabinet.close()
    problems = [*told.problems, *cabinet.problems, *_changed_files(job)]
    if ended.problem:
        problems.insert(0, scrubber.text(f"the agent could not be started: {ended.problem}"))
    if ended.left:
        problems.append(f"processes still running when the agent had ended, killed: {ended.left}")
    checks: tuple[CheckOutcome, ...] = ()
    stands = _start_stands(job, problems)
    if ended.how not in _NOT_GRADED:
        seen = tuple(each.change for each in touched)
        trace = cabinet.folder / kept.trace_ref if kept.trace_ref else None
        checks = _checked(job, place, ended, Seen(seen, trace, scrubber), problems)
    outside = restore_outside(job.outside)
    problems += outside
    found = Findings(
        termination=ended.how.replace("_", " ") if ended.how == "not_started" else ended.how,
        ended_at=ended_at,
        restored="verified" if stands and not outside else "failed",
        problems=problems,
        ended=ended,
        checks=checks,
        touched=kept_touched,
        kept=kept,
        told=told,
    )
    return AttemptOutcome(row_of(job, started_at, found), kept.files, (place.top, cabinet.folder))


def _run(job: AttemptJob, place: Place) -> Ended:
    limits = job.config.config.limits
    return run_command(
        agent_command(job, place),
        folder=place.workspace,
        environment=agent_environment(job, place),
        limits=agent_limits(limits),
        time_limit_s=float(job.task.task.time_limit_s),
        most_output=limits.output_mb << 20,
    )


def _start_stands(job: AttemptJob, problems: list[str]) -> bool:
    """Whether the snapshot of the start is intact; made anew, and said so, where an agent changed it."""
    if is_intact(job.start):
        return True
    problems.append("the snapshot of the start was changed while the agent ran, and was made anew")
    try:
        take_snapshot(job.start.source, job.start.folder, job.start.files)
    except UserError as error:
        problems.append(str(error))
        return False
    return True


class Seen(NamedTuple):
    """What checks are shown beside the workspace."""

    touched: tuple[TouchedFile, ...]
    trace: Path | None
    scrubber: Scrubber


def _checked(
    job: AttemptJob, place: Place, ended: Ended, seen: Seen, problems: list[str]
) -> tuple[CheckOutcome, ...]:
    """Return every outcome, the task's own checks first.

    Graded with a verified copy of the frozen references and graders, so that an agent which reached
    them could not have changed them.
    """
    own = own_checks(
        job.task.task, seen.touched, ended.elapsed_s, stopped=ended.how == "time_limit"
    )
    scratch = _folder(job, "grading-work")
    try:
        fresh_copy(job.grading, scratch / "task", writable=False)
        (scratch / "scratch").mkdir()
        context = GradeContext(
            workspace=place.workspace,
            start=job.start.folder,
            task_folder=scratch / "task",
            evaluation_folder=job.evaluation_folder,
            touched=seen.touched,
            elapsed_seconds=ended.elapsed_s,
            scratch=scratch / "scratch",
            scrub=seen.scrubber.text,
            trace=seen.trace,
            search_path=job.environment.get("PATH", ""),
        )
        return (*own, *grade(job.task.task.check, context))
    except (UserError, OSError) as error:
        problems.append(f"it could not be graded: {error}")
        broken = CheckOutcome(name="grading", outcome="error", actual=str(error)[:2_000])
        return (*own, broken)
    finally:
        remove(scratch)
