"""Freezing an evaluation's material."""

from collections.abc import Sequence
from pathlib import Path

from evalbook.base.problems import UserError
from evalbook.jobs.answers import Answer
from evalbook.jobs.desk import Clock, Desk, Say, choose, evaluation_names, open_desk, read_shelf
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.pages import Page, materials_folder
from evalbook.records.task import MaterialFreeze
from evalbook.run.checks.lint import lint_suite
from evalbook.run.evaluations import LoadedEvaluation, load_evaluation
from evalbook.run.materials import Freeze, Stamp, freeze_records
from evalbook.store.ledger import NewPage, Trailer


def freeze_evaluation(
    folder: Path, asked: str | None, *, reason: str, clock: Clock, say: Say
) -> Answer:
    """Record what differs from the last freeze, in one page; say so when nothing does.

    Raises:
        UserError: for an unknown or broken evaluation, or a config that kept its label but changed.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        loaded = load(desk, asked)
        for warning in lint_suite({task_id: each.task for task_id, each in loaded.tasks.items()}):
            say(f"warning: {warning}")
        _warn_uncommitted(desk, loaded.name, say)
        previous = freezes_in(read_shelf(desk, None, evaluation=loaded.name).pages)
        stamp = Stamp(one_line(reason), desk.ledger.person(), desk.ledger.now())
        records = freeze_records(loaded, previous, stamp)
        if not records:
            text = f"{loaded.name} stands as it was frozen: nothing to add"
            return Answer(text, {"evaluation": loaded.name, "frozen": [], "commit": None})
        receipt = desk.ledger.append(
            NewPage(
                materials_folder(loaded.name),
                tuple(records),
                f"freeze({loaded.name}): {_counted(records)}",
                (Trailer("Evalbook-Reason", stamp.reason),),
            )
        )
        names = [subject_of(record) for record in records]
        return Answer(
            "\n".join([*(f"froze {name}" for name in names), f"commit {receipt.commit[:12]}"]),
            {"evaluation": loaded.name, "frozen": names, "commit": receipt.commit},
        )


def _warn_uncommitted(desk: Desk, name: str, say: Say) -> None:
    listed = desk.repository.run(
        "status", "--porcelain", "-z", "--untracked-files=all", "--", f"evaluations/{name}/"
    ).out
    files = listed.count(b"\0")
    if files:
        say(
            f"warning: not committed in evaluations/{name}: {files} files; commit them too, or a clone"
            " has digests with nothing behind them"
        )


def load(desk: Desk, asked: str | None) -> LoadedEvaluation:
    """Load the evaluation that was asked for, or the only one.

    Raises:
        UserError: when there is no such evaluation, or its files are broken.
    """
    name = choose(evaluation_names(desk), asked)
    loaded = load_evaluation(desk.top / "evaluations" / name)
    if not loaded.tasks:
        raise UserError(f"evaluations/{name} has no tasks", hint="write tasks/TASK/task.toml")
    return loaded


def freezes_in(pages: Sequence[Page]) -> tuple[Freeze, ...]:
    """Return every freeze, oldest first."""
    found = [
        line.record
        for page in pages
        for line in page.lines
        if isinstance(line.record, EvaluationFreeze | ConfigFreeze | MaterialFreeze)
    ]
    return tuple(sorted(found, key=lambda record: record.frozen_at))


def subject_of(record: Freeze) -> str:
    """Return in words what a freeze is about."""
    match record:
        case EvaluationFreeze():
            return f"the rules of {record.evaluation}"
        case ConfigFreeze():
            return f"config {record.config} {record.version}"
        case MaterialFreeze():
            return f"task {record.task_id}"


def _counted(records: Sequence[Freeze]) -> str:
    tasks = [record.task_id for record in records if isinstance(record, MaterialFreeze)]
    configs = [f"{r.config} {r.version}" for r in records if isinstance(r, ConfigFreeze)]
    said = ["rules"] if any(isinstance(record, EvaluationFreeze) for record in records) else []
    if tasks:
        said.append(f"task {tasks[0]}" if len(tasks) == 1 else f"{len(tasks)} tasks")
    return ", ".join([*said, *configs])


def one_line(reason: str) -> str:
    """Return a reason fit for a record and a trailer.

    Raises:
        UserError: when it says nothing.
    """
    line = " ".join(reason.split())
    if not line:
        raise UserError(
            "the reason says nothing", hint='state it: --reason "what changed, and why"'
        )
    return line
