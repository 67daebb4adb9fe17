"""What the book has of one evaluation, ready to be asked for the rows of a source."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.pages import Page, parse_page_path
from evalbook.records.plan import Plan
from evalbook.records.task import MaterialFreeze
from evalbook.run.importers.values import Freeze, ImportedRun


class KnownBook(NamedTuple):
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


def known_book(evaluation: str, pages: Iterable[Page]) -> KnownBook:
    """Return what ``pages`` hold of one evaluation; those of others are passed over."""
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
    return KnownBook(tuple(freezes), plans, rows, places, digests, counts)


def counterpart(row: Attempt, book: KnownBook) -> Attempt | None:
    """Return the book's row of the same attempt: by its key, else by its place in the same file."""
    if row.source is None:
        return None
    place = (row.source.file_sha256, row.source.position)
    return book.rows.get(row.source.key) or book.places.get(place)


def has_file(run: ImportedRun, book: KnownBook) -> bool:
    """Whether the run was read from a file that some plan names already."""
    files = {source.sha256 for source in run.plan.sources}
    return any(files & {source.sha256 for source in plan.sources} for plan in book.plans.values())


def has_run(run: ImportedRun, book: KnownBook) -> bool:
    """Whether the book has a row of the same run of the source."""
    return any(key.startswith(f"{run.identity}/") for key in book.rows)
