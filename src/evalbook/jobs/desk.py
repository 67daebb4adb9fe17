"""Opening a repository, its ledger and its artifact store for one command."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evalbook.base.exits import DOES_NOT_VERIFY
from evalbook.base.problems import UserError
from evalbook.derive.book import Book, EvaluationBook, fold
from evalbook.records.pages import Page
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger
from evalbook.store.reading import read_book
from evalbook.store.recovery import recover

Clock = Callable[[], datetime]
Say = Callable[[str], None]


class Desk(NamedTuple):
    """What one command works with."""

    repository: Repository
    ledger: Ledger
    store: ArtifactStore

    @property
    def top(self) -> Path:
        """The top of the work tree; of a bare repository, its own folder."""
        return self.repository.work_tree or self.repository.git_dir


class Shelf(NamedTuple):
    """The book as one commit has it."""

    commit: str
    pages: tuple[Page, ...]
    book: Book


@contextmanager
def open_desk(folder: Path, *, clock: Clock, say: Say) -> Iterator[Desk]:
    """Open the repository of ``folder``; commit first what a killed run had finished.

    Raises:
        UserError: when there is no repository, or what was left behind can't be committed.
    """
    with Repository(folder) as repository:
        ledger = Ledger(repository, clock=clock)
        store = ArtifactStore.of(repository)
        for found in recover(ledger, store):
            cut = f", {len(found.interrupted)} of them cut off" if found.interrupted else ""
            say(
                f"run {found.run_id} has rows that still wait: {found.held_up}"
                if found.held_up
                else f"committed {found.rows} rows that run {found.run_id} had left behind{cut}"
            )
        yield Desk(repository, ledger, store)


def read_shelf(desk: Desk, revision: str | None, *, evaluation: str | None = None) -> Shelf:
    """Read the book at ``revision`` (default: HEAD). No figure is made from a page that is broken.

    Raises:
        UserError: for an unknown revision; with exit code 6 when a page is not as it was written.
    """
    commit = desk.repository.resolve(revision) if revision else desk.repository.head()
    if commit is None:
        return Shelf("", (), fold(()))
    text = read_book(desk.repository, commit, evaluation=evaluation)
    if text.flaws:
        first = text.flaws[0]
        where = f"{first.path}:{first.line}" if first.line else str(first.path)
        raise UserError(
            f"{where}: {first.message}",
            hint="no figure is made from a broken page; `evalbook verify` tells who changed it",
            exit_code=DOES_NOT_VERIFY,
        )
    return Shelf(commit, text.pages, fold(text.pages))


def choose(known: Iterable[str], asked: str | None, *, what: str = "evaluation") -> str:
    """Return the name that was asked for, or the only one there is.

    Raises:
        UserError: when there is none, there are several, or it is unknown (with the nearest one).
    """
    names = sorted(set(known))
    if asked is None:
        if len(names) == 1:
            return names[0]
        if not names:
            raise UserError(f"there is no {what} here yet", hint="see `evalbook init --example`")
        raise UserError(f"which {what}? There are {', '.join(names)}", hint=f"name one {what}")
    if asked in names:
        return asked
    near = difflib.get_close_matches(asked, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there is {', '.join(names) or 'none'}"
    raise UserError(f"there is no {what} {asked}", hint=hint)


def evaluation_names(desk: Desk) -> tuple[str, ...]:
    """Return the names of the evaluations people have written, sorted."""
    folder = desk.top / "evaluations"
    return tuple(sorted(path.parent.name for path in folder.glob("*/evaluation.toml")))


def chosen_book(shelf: Shelf, asked: str | None) -> EvaluationBook:
    """Return the evaluation that was asked for, from the book.

    Raises:
        UserError: when the book does not have it.
    """
    name = choose((each.name for each in shelf.book.evaluations), asked)
    return next(each for each in shelf.book.evaluations if each.name == name)
