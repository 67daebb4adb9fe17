"""Results of Terminal-Bench 0.2: a ``results.json`` a run, with its plan and its lock beside it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.records.plan import SourceFile
from evalbook.run.importers.assemble import assemble, check_planned
from evalbook.run.importers.cells import Cells, cells_of, needed
from evalbook.run.importers.freezes import MOST_ATTEMPTS
from evalbook.run.importers.reading import ReadFile, json_of, printable, read_file
from evalbook.run.importers.terminal_bench_rows import Seen, seen_rows
from evalbook.run.importers.terminal_bench_run import Beside, beside, config_of, facts_of
from evalbook.run.importers.values import (
    FoundRun,
    Import,
    ImportRequest,
    Material,
)
from evalbook.run.importers.words import (
    counted,
    key_part,
    name_of,
)

MAPPING = 1
"""Version of this reading: ``is_resolved`` decides, also where the agent ran out of time; null is a
timeout after ``test_timeout`` and an infra_error after anything else, and then no verdict of the
source's own. Tests are no part of the file, so the grader is unknown. 0 tokens in and out are what the
tool writes where an agent reports none, and read as unknown."""


def read_terminal_bench(paths: Sequence[Path], request: ImportRequest) -> Import:
    """Return what results of Terminal-Bench say.

    Each path is a ``results.json``, a run's folder that holds one, or a folder of such folders. What
    ``run_metadata.json`` says was planned counts as planned; without it, what the trials' names say.

    Raises:
        UserError: for a file that is no such result, with its row.
    """
    read: dict[str, tuple[Path, ReadFile]] = {}
    notes: list[str] = []
    for path in dict.fromkeys(file for each in paths for file in _result_files(each)):
        file = read_file(path)
        if file.sha256 in read:
            notes.append(f"{file.shown}: is the same as {read[file.sha256][1].shown}, read once")
        read.setdefault(file.sha256, (path, file))
    runs = [_run(path, file, request) for path, file in read.values()]
    said: Counter[str] = sum((run.said for run in runs), Counter())
    notes += [counted(said[what], what) for what in sorted(said)]
    notes += [note for run in runs for note in run.notes]
    return assemble([run.found for run in runs], request, notes)


def _result_files(path: Path) -> Iterator[Path]:
    """Yield the result files that a path means, each folder's in order of their names."""
    try:
        if not path.is_dir():
            yield path
            return
        if (path / "results.json").exists():
            yield path / "results.json"
            return
        inner = sorted(each / "results.json" for each in path.iterdir())
        there = [each for each in inner if each.is_file()]
    except (OSError, ValueError) as error:
        raise UserError(f"{printable(str(path))}: can't be read: {printable(str(error))}") from None
    if not there:
        raise UserError(
            f"{printable(str(path))}: holds no results.json, nor do the folders in it",
            hint="name a results.json, a run's folder, or a folder of run folders",
        )
    yield from there


class _Run(NamedTuple):
    found: FoundRun
    said: Counter[str]
    """How many attempts, by what is to be said of them."""
    notes: tuple[str, ...]


def _run(path: Path, file: ReadFile, request: ImportRequest) -> _Run:
    top = cells_of(file.shown, json_of(file))
    rows = needed(top, "results", top.items("results"))
    facts = beside(path)
    seen = seen_rows(file, rows, facts)
    planned = _planned(file, seen, facts)
    starts = [each.row.fields["started_at"] for each in seen if each.row.fields["started_at"]]
    started = facts.started_at or min(starts, default=None)
    materials = {
        name_of(task): Material(task_id=name_of(task), title=task, origin=facts.origin)
        for task in facts.task_ids
    }
    found = FoundRun(
        identity=f"terminal-bench:{key_part(_identity(top, seen, facts, file))}",
        shown=file.shown,
        file=SourceFile(
            format="terminal-bench",
            mapping=MAPPING,
            name=file.name,
            sha256=file.sha256,
            size=file.size,
        ),
        config=config_of(facts, started, request),
        started_at=started,
        materials=materials | _materials(seen),
        planned=planned,
        rows=tuple(each.row for each in seen),
        facts=facts_of(facts),
    )
    return _Run(found, _tally(seen, planned), tuple(_accuracy_note(file, top, seen)))


def _materials(seen: Sequence[Seen]) -> dict[str, Material]:
    found: dict[str, Seen] = {}
    for each in seen:
        first = found.setdefault(each.row.task_id, each)
        if first.material != each.material:
            where = first.row.cells.where.rpartition(": ")[2]
            raise each.row.cells.error(
                f"its instruction is another than that of {where}",
                hint="one run has one set of tasks",
            )
    return {task_id: each.material for task_id, each in found.items()}


def _planned(file: ReadFile, seen: Sequence[Seen], facts: Beside) -> dict[str, frozenset[int]]:
    """Return the attempts that were meant: by the run's own plan, else by the trials' names."""
    most: dict[str, int] = {name_of(task): facts.n_attempts for task in facts.task_ids}
    made: dict[str, set[int]] = {task: set() for task in most}
    for each in seen:
        task = each.row.task_id
        made.setdefault(task, set()).add(each.row.number)
        if each.trial and not facts.task_ids:
            if each.trial.of > MOST_ATTEMPTS:
                raise each.row.cells.error(f"is one of {each.trial.of}, {MOST_ATTEMPTS} at most")
            most[task] = max(most.get(task, 0), each.trial.of)
    check_planned(file.shown, sum(most.values()))
    return {
        task: frozenset(range(1, most.get(task, 0) + 1)) | numbers for task, numbers in made.items()
    }


def _identity(top: Cells, seen: Sequence[Seen], facts: Beside, file: ReadFile) -> str:
    """Return what names the run in any copy of its file, as exact as the file lets it be."""
    named = (each.trial.run for each in seen if each.trial and each.trial.run)
    return (
        top.identifier("id")
        or top.identifier("uuid")
        or next(named, None)
        or facts.run_id
        or f"sha256 {file.sha256[:16]}"
    )


def _tally(seen: Sequence[Seen], planned: Mapping[str, frozenset[int]]) -> Counter[str]:
    """Count what the person should hear of, by what is said of it."""
    said: Counter[str] = Counter()
    for each in seen:
        fields = each.row.fields
        if not fields["judged"]:
            said[
                f"without a verdict of its own ({fields['termination']}), read as {fields['verdict']}"
            ] += 1
        said["with a time that has no zone or makes no sense, kept as unknown"] += each.broken_times
        said["with 0 tokens in and out, kept as unknown"] += each.token_zeros
    said["planned but not executed"] += sum(map(len, planned.values())) - len(seen)
    return said


def _accuracy_note(file: ReadFile, top: Cells, seen: Sequence[Seen]) -> Iterator[str]:
    """Yield a note where the file's own figure is not what its rows give, to four digits."""
    stated = top.number("accuracy")
    resolved = sum(each.row.fields["verdict"] == "pass" for each in seen)
    if stated is None or not seen or f"{stated:.4f}" == f"{resolved / len(seen):.4f}":
        return
    yield (
        f"{file.shown}: states an accuracy of {stated:.4f}, its own rows give "
        f"{resolved / len(seen):.4f} ({resolved} of {len(seen)})"
    )
