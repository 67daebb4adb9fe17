"""What of an import the book does not have yet, and what of it the book contradicts."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from evalbook.base.canonical import canonical_json
from evalbook.records.attempt import F9_COLUMNS, Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze, Rules
from evalbook.records.pages import Page, parse_page_path
from evalbook.records.plan import Plan, PlannedTask
from evalbook.records.task import MaterialFreeze
from evalbook.run.importers.freezes import (
    default_rules,
    freezes_used,
    rules_sha256,
    two_contents,
)
from evalbook.run.importers.values import UNKNOWN, Freeze, Import, ImportedRun
from evalbook.run.importers.words import counted

_DIFFERS_ANYHOW = frozenset(
    {"record", "attempt_id", "request_id", "rerun_of", "rerun_of_sha256", "recovery_of"}
    | {"recovery_of_sha256", "source"}
)
"""Fields of a row that are the book's own, or name other rows by the book's ids."""
_FIRST = ("verdict", "task_id", "config_ref", "termination", "judged")
"""Compared first, so that a contradiction names what matters."""


class Contradiction(NamedTuple):
    """One row of a file that says something else than its row in the book."""

    key: str
    """Of the attempt in its source."""
    attempt_id: str
    """Of the row in the book."""
    field: str
    """The most important one that differs; ``source reward`` for one of the source's own words."""
    in_book: str
    in_file: str


class Vanished(NamedTuple):
    """One row of the book whose run is in the file, but which is gone from it."""

    key: str
    attempt_id: str
    verdict: str


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


class _Book(NamedTuple):
    """What the book has of one evaluation, ready to be asked."""

    freezes: tuple[Freeze, ...]
    """Oldest first."""
    plans: Mapping[str, Plan]
    """By run id."""
    rows: Mapping[str, Attempt]
    """By every key that an import may know them by."""
    places: Mapping[tuple[str, int], Attempt]
    """By file and position."""
    digests: Mapping[str, str]
    """Of the row's bytes, by attempt id."""
    counts: Counter[tuple[str, str]]
    """Attempts by config and task."""


def reconcile(new: Import, book_pages: Iterable[Page]) -> Reconciled:
    """Return what of ``new`` the book of its evaluation does not have.

    The same attempt has the same key, or stands at the same place of the same file. A run that the
    book has in part gets a further run for the rest, since a plan is never altered. Rules that nobody
    agreed on follow what is there: k goes as far as the attempts at one task do.

    Raises:
        UserError: when a config's label stands for another content in the book.
    """
    evaluation = next((run.plan.evaluation for run in new.runs), "")
    book = _book(evaluation, book_pages)
    _check_labels(new, book)
    kept: list[ImportedRun] = []
    contradictions: list[Contradiction] = []
    notes = list(new.notes)
    already = 0
    ids = {
        row.attempt_id: there.attempt_id
        for run in new.runs
        for row in run.attempts
        if (there := _counterpart(row, book))
    }
    for run in new.runs:
        fresh = tuple(
            _pointed(row, ids, book) for row in run.attempts if _counterpart(row, book) is None
        )
        already += len(run.attempts) - len(fresh)
        contradictions += _contradictions(run, book)
        if not fresh and (run.attempts or _has_file(run, book)):
            continue
        if len(fresh) < len(run.attempts) or _has_run(run, book):
            notes.append(counted(len(fresh), f"new in {run.identity}: a further run of their own"))
        kept.append(_part(run, fresh) if len(fresh) < len(run.attempts) else run)
    if already:
        notes.append(counted(already, "in the book already"))
    runs = _settled(kept, new, book)
    return Reconciled(
        freezes=_fresh_freezes(freezes_used(new.freezes, [run.plan for run in runs]), runs, book),
        runs=runs,
        already=already,
        contradictions=tuple(contradictions),
        vanished=tuple(_vanished(new, set(ids.values()), book)),
        notes=tuple(notes),
    )


def _book(evaluation: str, pages: Iterable[Page]) -> _Book:
    freezes: list[Freeze] = []
    plans: dict[str, Plan] = {}
    rows: dict[str, Attempt] = {}
    places: dict[tuple[str, int], Attempt] = {}
    digests: dict[str, str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for page in pages:
        where = parse_page_path(page.path)
        if where is None or where.evaluation != evaluation:
            continue
        for line in page.lines:
            match line.record:
                case Attempt() as row:
                    rows[f"csv:{row.attempt_id}"] = row
                    digests[row.attempt_id] = line.sha256
                    counts[row.config_ref, row.task_id] += 1
                    if row.source:
                        rows[row.source.key] = row
                        places[row.source.file_sha256, row.source.position] = row
                case Plan() as plan:
                    plans[plan.run_id] = plan
                case EvaluationFreeze() | ConfigFreeze() | MaterialFreeze() as freeze:
                    freezes.append(freeze)
                case _:
                    pass
    freezes.sort(key=lambda freeze: freeze.frozen_at)
    return _Book(tuple(freezes), plans, rows, places, digests, counts)


def _counterpart(row: Attempt, book: _Book) -> Attempt | None:
    """Return the book's row of the same attempt: by its key, else by its place in the same file."""
    if row.source is None:
        return None
    place = (row.source.file_sha256, row.source.position)
    return book.rows.get(row.source.key) or book.places.get(place)


def _has_file(run: ImportedRun, book: _Book) -> bool:
    files = {source.sha256 for source in run.plan.sources}
    return any(files & {source.sha256 for source in plan.sources} for plan in book.plans.values())


def _has_run(run: ImportedRun, book: _Book) -> bool:
    return any(key.startswith(f"{run.identity}/") for key in book.rows)


def _check_labels(new: Import, book: _Book) -> None:
    known = {(f.config, f.version): f for f in book.freezes if isinstance(f, ConfigFreeze)}
    files = {run.plan.config_ref: run.plan.sources[0].name for run in new.runs}
    for freeze in new.freezes:
        if isinstance(freeze, ConfigFreeze):
            there = known.get((freeze.config, freeze.version))
            if there is not None and there.sha256 != freeze.sha256:
                where = f"that the book has since {there.frozen_at[:10]}"
                raise two_contents(files.get(freeze.ref, "the file"), freeze, there, where)


def _contradictions(run: ImportedRun, book: _Book) -> Iterator[Contradiction]:
    for row in run.attempts:
        there = _counterpart(row, book)
        if there is None or row.source is None:
            continue
        for field, in_book, in_file in _differences(row, there):
            yield Contradiction(row.source.key, there.attempt_id, field, in_book, in_file)
            break


class _Difference(NamedTuple):
    field: str
    in_book: str
    in_file: str


def _differences(row: Attempt, there: Attempt) -> Iterator[_Difference]:
    """Yield what a row says otherwise than its counterpart, the most important first."""
    if row.source is None:
        return
    renamed = there.source is not None and there.source.key != row.source.key
    same_format = there.source is not None and not (
        row.source.key.startswith("csv:") and not there.source.key.startswith("csv:")
    )
    names = [*_FIRST, *(name for name in Attempt.model_fields if name not in _FIRST)]
    for name in names:
        # What a file's name says may differ where the same bytes have another name.
        if name in _DIFFERS_ANYHOW or (renamed and name == "config_ref" and same_format):
            continue
        said, known = getattr(row, name), getattr(there, name)
        if said != known and (same_format or (name in F9_COLUMNS and _says(said))):
            yield _Difference(name, _shown(known), _shown(said))
    if same_format and there.source is not None:
        old = {word.key: word.value for word in there.source.raw}
        new = {word.key: word.value for word in row.source.raw}
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                missing = "nothing"
                yield _Difference(f"source {key}", old.get(key, missing), new.get(key, missing))


def _says(value: object) -> bool:
    """Whether a cell of a table says anything; an empty one contradicts nobody."""
    return value not in {None, UNKNOWN, ()}


def _shown(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or "nothing"
    if isinstance(value, tuple) and any(not isinstance(each, str) for each in value):
        return canonical_json([each.model_dump(exclude_defaults=True) for each in value]).decode()
    return canonical_json(value).decode()


def _vanished(new: Import, matched: Collection[str], book: _Book) -> Iterator[Vanished]:
    """Yield the book's rows of the runs in the files that the files no longer have."""
    found = {row.source.key for run in new.runs for row in run.attempts if row.source}
    identities = {run.identity for run in new.runs}
    for key, row in sorted(book.rows.items()):
        in_file = key in found or row.attempt_id in matched
        if key.partition("/")[0] in identities and not in_file:
            yield Vanished(key, row.attempt_id, row.verdict)


def _pointed(row: Attempt, ids: Mapping[str, str], book: _Book) -> Attempt:
    """Return a new row that names other rows by the ids which the book has for them."""
    changes = {}
    if row.request_id in ids:
        changes["request_id"] = ids[row.request_id]
    if row.rerun_of in ids:
        original = ids[row.rerun_of]
        changes |= {"rerun_of": original, "rerun_of_sha256": book.digests[original]}
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


def _settled(kept: Iterable[ImportedRun], new: Import, book: _Book) -> tuple[ImportedRun, ...]:
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


def _rules(runs: Iterable[ImportedRun], book: _Book) -> Rules:
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
    freezes: Iterable[Freeze], runs: Iterable[ImportedRun], book: _Book
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
