"""The rows of one run: as the book has them, and as the pages that are to be appended."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalbook.records.attempt import Attempt
from evalbook.records.fields import attempt_parts
from evalbook.records.pages import parse_line, run_folder
from evalbook.records.plan import Plan
from evalbook.store.git import Repository
from evalbook.store.journal import Journal, Started, Waiting
from evalbook.store.ledger import NewPage
from evalbook.store.reading import read_run


class RunText(NamedTuple):
    """One run, as far as a commit has it."""

    plan: Plan
    plan_path: str
    rows: Mapping[str, str]
    """Attempt id to the SHA-256 of its row."""


def run_text(repository: Repository, commit: str | None, folder: str) -> RunText | None:
    """Return the run whose pages lie in ``folder``; None where its plan is not there."""
    pages = read_run(repository, commit, folder).pages if commit else ()
    lines = [(page.path, line) for page in pages for line in page.lines]
    plans = [(path, line.record) for path, line in lines if isinstance(line.record, Plan)]
    if not plans:
        return None
    path, plan = plans[0]
    return RunText(
        plan,
        path,
        {
            line.record.attempt_id: line.sha256
            for _, line in lines
            if isinstance(line.record, Attempt)
        },
    )


def planned_ids(plan: Plan) -> tuple[str, ...]:
    """Return the id of every planned attempt, by task, in order of their numbers."""
    return tuple(
        plan.attempt_id(task.task_id, attempt.number)
        for task in plan.tasks
        for attempt in task.attempts
    )


def rows_page(plan: Plan, plan_path: str, journal: Journal, waiting: Sequence[Waiting]) -> NewPage:
    """Return the page that holds these rows and the artifacts that go into the ledger with them."""
    rows = [parse_line(each.line) for each in waiting]
    attempts = tuple(row for row in rows if isinstance(row, Attempt))
    artifacts = {sha: journal.artifact(sha) for each in waiting for sha in each.artifacts}
    folder = run_folder(plan.evaluation, plan.config, plan.run_id)
    return NewPage(
        folder, attempts, _subject(plan, attempts), artifacts=artifacts, needed=plan_path
    )


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
