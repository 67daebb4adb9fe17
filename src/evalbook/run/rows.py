"""The row of an attempt, put together from what was found."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from evalbook.base.times import decimal_text
from evalbook.records.attempt import Attempt, CheckOutcome, TouchedFile
from evalbook.run.assignment import AttemptJob
from evalbook.run.evidence import TOUCHED_MAX, Kept
from evalbook.run.process import Ended
from evalbook.run.scrub import Scrubber
from evalbook.run.told import Told
from evalbook.run.verdicts import Judgement, judge

_NOTE_MAX = 2_000
_CONTROL = re.compile(r"[\x00-\x1f]+")


class Findings(NamedTuple):
    """What became of an attempt. Where the agent never ran, only the first fields say anything."""

    termination: str
    ended_at: str
    restored: Literal["verified", "failed", "unknown"]
    problems: Sequence[str]
    """What a reader must know of how the row came about, one line each."""
    ended: Ended | None = None
    checks: tuple[CheckOutcome, ...] = ()
    """None: the agent did not run to an end of its own, and nothing was graded."""
    touched: tuple[TouchedFile, ...] = ()
    kept: Kept = Kept((), (), None, None)
    told: Told = Told()


def row_of(job: AttemptJob, started_at: str, found: Findings) -> Attempt:
    """Return the row of an attempt."""
    judgement = judge(found.checks) if found.checks else Judgement("infra_error", ())
    report = found.told.report
    dependencies = found.told.dependencies
    ended = found.ended
    recovery = report.recovery_of if report.recovery_of in job.earlier else None
    return Attempt(
        record="attempt/1",
        task_id=job.task.task_id,
        attempt_id=job.attempt_id,
        request_id=job.attempt_id,
        config_ref=job.refs.config_ref,
        input_sha256=job.refs.input_sha256,
        initial_state_ref=job.refs.initial_state_ref,
        grader_ref=job.refs.grader_ref,
        started_at=started_at,
        ended_at=found.ended_at,
        verdict=judgement.verdict,
        failed_checks=judgement.failed_checks,
        artifact_ref=found.kept.artifact_ref,
        trace_ref=found.kept.trace_ref,
        tool_retries=report.tool_retries,
        human_help=None if report.human_hints is None else len(report.human_hints),
        elapsed_seconds=decimal_text(ended.elapsed_s) if ended else None,
        cost=report.cost or "unknown",
        currency=report.currency,
        dependency_error=next((each.error for each in dependencies if each.error), None),
        rerun_of=job.planned.rerun_of,
        termination=_CONTROL.sub(" ", found.termination)[:80],
        judged=judgement.judged,
        condition=job.condition,
        seed=job.planned.seed,
        rerun_of_sha256=job.planned.rerun_of_sha256,
        recovery_of=recovery,
        recovery_of_sha256=job.earlier[recovery] if recovery else None,
        exit_code=ended.exit_code if ended else None,
        stop_reason=report.stop_reason,
        steps=found.told.steps,
        tokens_in=report.tokens_in,
        tokens_out=report.tokens_out,
        human_hints=report.human_hints or (),
        human_seconds=report.human_seconds,
        checks=found.checks,
        artifacts=found.kept.artifacts,
        touched=found.touched[:TOUCHED_MAX],
        dependencies=dependencies,
        restored=found.restored,
        isolation="process group, resource limits" if ended else None,
        note=_note(job, found),
    )


def _note(job: AttemptJob, found: Findings) -> str | None:
    lines = list(found.problems)
    reported = found.told.report.recovery_of
    if reported is not None and reported not in job.earlier:
        lines.append(f"it says it carries on {reported}, which is no earlier attempt of this run")
    if len(found.touched) > TOUCHED_MAX:
        lines.append(f"{len(found.touched) - TOUCHED_MAX} more files were touched than are listed")
    said = "; ".join(lines).encode("utf-8", "backslashreplace").decode()
    clean = _CONTROL.sub(" ", Scrubber(job.secrets).text(said))
    cut = clean if len(clean) <= _NOTE_MAX else f"{clean[: _NOTE_MAX - 1]}…"
    return cut or None
