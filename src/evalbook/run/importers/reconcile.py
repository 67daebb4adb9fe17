"""What of an import the book does not have yet, and what of it the book contradicts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from evalbook.base.canonical import sha256_hex
from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze, Rules
from evalbook.records.pages import Page, line_bytes
from evalbook.records.plan import PlannedTask
from evalbook.records.task import MaterialFreeze
from evalbook.run.importers.contradictions import (
    Contradiction,
    Vanished,
    contradictions,
    vanished,
)
from evalbook.run.importers.freezes import (
    default_rules,
    freezes_used,
    rules_sha256,
    two_contents,
)
from evalbook.run.importers.known import KnownBook, counterpart, has_file, has_run, known_book
from evalbook.run.importers.values import UNKNOWN, Freeze, Import, ImportedRun
from evalbook.run.importers.words import counted


class Reconciled(NamedTuple):
    """What to append, and what to say."""

    freezes: tuple[Freeze, ...]
    """Those that the new plans need and that are not there yet."""
    runs: tuple[ImportedRun, ...]
    already: int
    """How many rows are in the book already, and say the same."""
    contradictions: tuple[Contradiction, ...]
    """Any at all: nothing may be appended."""
    vanished: tuple[Vanished, ...]
    notes: tuple[str, ...]


def reconcile(new: Import, book_pages: Iterable[Page]) -> Reconciled:
    """Return what of ``new`` the book of its evaluation does not have.

    The same attempt has the same key, or stands at the same place of the same file. A run that the
    book has in part gets a further run for the rest, since a plan is never altered. Rules that nobody
    agreed on follow what is there: k goes as far as the attempts at one task do.

    Raises:
        UserError: when a config's label stands for another content in the book.
    """
    evaluation = next((run.plan.evaluation for run in new.runs), "")
    book = known_book(evaluation, book_pages)
    _check_labels(new, book)
    ids = {
        row.attempt_id: there.attempt_id
        for run in new.runs
        for row in run.attempts
        if (there := counterpart(row, book))
    }
    against = tuple(each for run in new.runs for each in contradictions(run, book))
    already = len(ids) - len(against)
    part = tuple(_new_part(new, ids, book))
    runs = _settled(part, new, book)
    notes = [
        counted(len(run.attempts), f"new in {run.identity}: a further run of their own")
        for run in part
        if run.attempts and has_run(run, book)
    ]
    if already:
        notes.append(counted(already, "in the book already"))
    return Reconciled(
        freezes=_fresh_freezes(freezes_used(new.freezes, [run.plan for run in runs]), runs, book),
        runs=runs,
        already=already,
        contradictions=against,
        vanished=tuple(vanished(new, set(ids.values()), book)),
        notes=(*new.notes, *notes),
    )


def _new_part(new: Import, ids: Mapping[str, str], book: KnownBook) -> Iterator[ImportedRun]:
    """Yield the runs that the book lacks, and of the others a run of the rows that it lacks."""
    digests = dict(book.digests)
    for run in new.runs:
        fresh = []
        for row in run.attempts:
            if row.attempt_id not in ids:
                made = _pointed(row, ids, digests)
                fresh.append(made)
                if made is not row:
                    digests[made.attempt_id] = sha256_hex(line_bytes(made))
        if len(fresh) < len(run.attempts):
            if fresh:
                yield _part(run, tuple(fresh))
        elif fresh or not has_file(run, book):
            yield run._replace(attempts=tuple(fresh))


def _check_labels(new: Import, book: KnownBook) -> None:
    known = {(f.config, f.version): f for f in book.freezes if isinstance(f, ConfigFreeze)}
    files = {run.plan.config_ref: run.plan.sources[0].name for run in new.runs}
    for freeze in new.freezes:
        if isinstance(freeze, ConfigFreeze):
            there = known.get((freeze.config, freeze.version))
            if there is not None and there.sha256 != freeze.sha256:
                where = f"that the book has since {there.frozen_at[:10]}"
                raise two_contents(files.get(freeze.ref, "the file"), freeze, there, where)


def _pointed(row: Attempt, ids: Mapping[str, str], digests: Mapping[str, str]) -> Attempt:
    """Return a new row that names other rows by the ids and digests which the book has for them."""
    request = ids.get(row.request_id, row.request_id)
    original = ids.get(row.rerun_of, row.rerun_of) if row.rerun_of else None
    changes: dict[str, str] = {} if request == row.request_id else {"request_id": request}
    if original is not None and original in digests:
        changes |= {"rerun_of": original, "rerun_of_sha256": digests[original]}
    return row.model_copy(update=changes) if changes else row


def _part(run: ImportedRun, fresh: tuple[Attempt, ...]) -> ImportedRun:
    """Return a run that plans just the rows that are new."""
    wanted = {row.attempt_id for row in fresh}
    tasks = []
    for task in run.plan.tasks:
        attempts = tuple(
            each
            for each in task.attempts
            if run.plan.attempt_id(task.task_id, each.number) in wanted
        )
        if attempts:
            tasks.append(task.model_copy(update={"attempts": attempts}))
    return run._replace(plan=run.plan.model_copy(update={"tasks": tuple(tasks)}), attempts=fresh)


def _settled(kept: Iterable[ImportedRun], new: Import, book: KnownBook) -> tuple[ImportedRun, ...]:
    """Return the runs with the rules and the material that the book already has for them."""
    runs = list(kept)
    rules = _rules(runs, book) if new.rules == "default" else None
    known = {f.task_id: f for f in book.freezes if isinstance(f, MaterialFreeze)}
    sources = {f.task_id: f.source for f in new.freezes if isinstance(f, MaterialFreeze)}
    made = []
    for run in runs:
        attempted = {row.task_id for row in run.attempts}
        tasks = tuple(
            task
            if task.task_id in attempted
            else _lent(task, known.get(task.task_id), sources.get(task.task_id))
            for task in run.plan.tasks
        )
        changes = {"tasks": tasks, **({"rules": rules} if rules else {})}
        made.append(run._replace(plan=run.plan.model_copy(update=changes)))
    return tuple(made)


def _lent(task: PlannedTask, known: MaterialFreeze | None, source: str | None) -> PlannedTask:
    """Return a task that was never attempted with what the book knows of the very same task."""
    refs = ("input_sha256", "initial_state_ref", "grader_ref")
    unseen = all(getattr(task, name) == UNKNOWN for name in refs)
    if not unseen or known is None or known.source != source:
        return task
    return task.model_copy(update={name: getattr(known, name) for name in refs})


def _rules(runs: Iterable[ImportedRun], book: KnownBook) -> Rules:
    """Return the rules for results about which nothing was agreed.

    Rules that somebody wrote down before hold on; rules that an import made up grow with the book.
    """
    counts = book.counts.copy()
    for run in runs:
        for task in run.plan.tasks:
            counts[run.plan.config_ref, task.task_id] += len(task.attempts)
    grown = default_rules(max(counts.values(), default=1))
    frozen = [freeze.rules for freeze in book.freezes if isinstance(freeze, EvaluationFreeze)]
    if not frozen:
        return grown
    agreed = frozen[-1] != default_rules(frozen[-1].attempts)
    return frozen[-1] if agreed or frozen[-1].attempts >= grown.attempts else grown


def _fresh_freezes(
    freezes: Iterable[Freeze], runs: Iterable[ImportedRun], book: KnownBook
) -> tuple[Freeze, ...]:
    """Return the freezes that the book does not have, the rules as the plans have them."""
    rules = next((run.plan.rules for run in runs), None)
    known = {_content(freeze) for freeze in book.freezes}
    made: list[Freeze] = []
    for freeze in freezes:
        mine = freeze
        if isinstance(freeze, EvaluationFreeze) and rules is not None:
            mine = freeze.model_copy(update={"rules": rules, "sha256": rules_sha256(rules)})
        if _content(mine) not in known:
            made.append(mine)
    return tuple(made)


def _content(freeze: Freeze) -> tuple[str, ...]:
    """Return what a plan looks for in a freeze."""
    match freeze:
        case EvaluationFreeze():
            agreed = freeze.rules.model_copy(update={"attempts": 1, "seeds": ()})
            return ("rules", rules_sha256(agreed))
        case ConfigFreeze():
            return ("config", freeze.ref)
        case MaterialFreeze():
            refs = (freeze.input_sha256, freeze.initial_state_ref, freeze.grader_ref)
            return ("material", freeze.task_id, *refs, freeze.source or "")
