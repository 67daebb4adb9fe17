"""Reading in the results of another tool."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evalbook.base.exits import ANSWER_IS_NO
from evalbook.base.problems import UserError
from evalbook.jobs.answers import Answer
from evalbook.jobs.desk import Clock, Desk, Say, open_desk, read_shelf
from evalbook.jobs.freeze import one_line
from evalbook.jobs.publish import tool
from evalbook.records.pages import materials_folder, run_folder
from evalbook.run.evaluations import load_evaluation
from evalbook.run.importers.f9_csv import read_csv
from evalbook.run.importers.reconcile import Reconciled, reconcile
from evalbook.run.importers.tau_bench import read_tau_bench
from evalbook.run.importers.terminal_bench import read_terminal_bench
from evalbook.run.importers.values import Import, ImportedRun, ImportRequest
from evalbook.store.ledger import NewPage, Trailer

_ROWS_A_PAGE = 500
_MOST_NAMED = 20
_SHORT = 12

Reader = Callable[[Sequence[Path], ImportRequest], Import]
_READERS: dict[str, Reader] = {
    "tau-bench": read_tau_bench,
    "terminal-bench": read_terminal_bench,
    "csv": read_csv,
}


class Request(NamedTuple):
    """What a person typed."""

    source: str
    files: tuple[Path, ...]
    evaluation: str | None
    config: str | None
    label: str | None
    reason: str


def read_in(folder: Path, request: Request, *, clock: Clock, say: Say) -> Answer:
    """Read result files into the book: what it does not have yet, or nothing where they contradict it.

    The answer's exit code is 1 when rows contradict the book, or are gone from a file they were
    read from before.

    Raises:
        UserError: for broken files, names or rules; nothing is added then.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        wanted = _request(desk, request)
        found = _READERS[request.source](request.files, wanted)
        shelf = read_shelf(desk, None)
        new = reconcile(found, shelf.pages)
        for note in new.notes:
            say(note)
        commit = None
        if not new.contradictions and (new.runs or new.freezes):
            commit = desk.ledger.append_bulk(_pages(wanted, new)).commit
    return _answer(wanted.evaluation, new, commit)


def _request(desk: Desk, request: Request) -> ImportRequest:
    if request.source == "csv" and request.evaluation is None:
        raise UserError(
            "a table does not say which evaluation its rows belong to",
            hint="name it with --evaluation",
        )
    name = request.evaluation or request.source
    folder = desk.top / "evaluations" / name
    agreed = load_evaluation(folder).evaluation if (folder / "evaluation.toml").is_file() else None
    return ImportRequest(
        evaluation=name,
        config=request.config,
        version=request.label,
        person=desk.ledger.person(),
        at=desk.ledger.now(),
        rules=agreed.rules() if agreed else None,
        reason=one_line(request.reason),
        tool=tool(),
        title=agreed.title if agreed else None,
        constructed=agreed.constructed if agreed else False,
    )


def _pages(request: ImportRequest, new: Reconciled) -> Iterator[NewPage]:
    """Yield the pages of an import: freezes, then for each run its plan and its rows."""
    why = (Trailer("Evalbook-Reason", request.reason),)
    if new.freezes:
        yield NewPage(
            materials_folder(request.evaluation),
            new.freezes,
            f"freeze({request.evaluation}): {len(new.freezes)} records for an import",
            why,
        )
    for run in new.runs:
        yield from _run_pages(run, why)


def _run_pages(run: ImportedRun, why: tuple[Trailer, ...]) -> Iterator[NewPage]:
    plan = run.plan
    folder = run_folder(plan.evaluation, plan.config, plan.run_id)
    who = f"{plan.config} {plan.version}"
    subject = f"plan({plan.evaluation}): {plan.planned} attempts read in · {who}"
    yield NewPage(folder, (plan,), subject, why)
    for first in range(0, len(run.attempts), _ROWS_A_PAGE):
        rows = run.attempts[first : first + _ROWS_A_PAGE]
        passed = sum(row.passed for row in rows)
        yield NewPage(
            folder, rows, f"import({plan.evaluation}): {passed} of {len(rows)} passed · {who}", why
        )


def _answer(evaluation: str, new: Reconciled, commit: str | None) -> Answer:
    rows = 0 if new.contradictions else sum(len(run.attempts) for run in new.runs)
    lines = [
        f"contradiction: {each.attempt_id} {each.field}: {each.in_book} in the book, {each.in_file} in the file"
        for each in new.contradictions[:_MOST_NAMED]
    ]
    lines += [
        f"gone from the file: {each.attempt_id} ({each.verdict}); its row stays"
        for each in new.vanished[:_MOST_NAMED]
    ]
    unnamed = max(0, len(new.contradictions) - _MOST_NAMED) + max(
        0, len(new.vanished) - _MOST_NAMED
    )
    if unnamed:
        lines.append(f"and {unnamed} more")
    if new.contradictions:
        lines.append(
            f"{evaluation}: nothing was added: {len(new.contradictions)} rows contradict the book"
        )
    elif rows:
        lines.append(
            f"{evaluation}: added {rows} rows, runs: {len(new.runs)}, commit {str(commit)[:_SHORT]}"
        )
    else:
        lines.append(f"{evaluation}: nothing to add: {new.already} rows are in the book already")
    document = {
        "evaluation": evaluation,
        "added": rows,
        "already": new.already,
        "commit": commit,
        "runs": [run.plan.run_id for run in new.runs] if rows else [],
        "contradictions": [each._asdict() for each in new.contradictions],
        "vanished": [each._asdict() for each in new.vanished],
        "notes": list(new.notes),
    }
    bad = bool(new.contradictions or new.vanished)
    return Answer("\n".join(lines), document, ANSWER_IS_NO if bad else 0)
