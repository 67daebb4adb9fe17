"""Showing figures, and what was recorded."""

from pathlib import Path
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.derive.figures import ConfigFigures, figures_of
from evalbook.jobs.answers import Answer
from evalbook.jobs.desk import Clock, Say, choose, chosen_book, open_desk, read_shelf
from evalbook.present.document import document_text, show_document
from evalbook.present.tables import Sheet, log_lines, log_text, show_text
from evalbook.store.reading import commits_of_pages


class Look(NamedTuple):
    """How the answer is to look."""

    as_json: bool
    colour: bool
    width: int
    """Columns of the terminal."""


class Shown(NamedTuple):
    """The figures of one evaluation, ready to print."""

    evaluation: str
    text: str
    executed: int
    """How many attempts the figures are about; 0: nothing was measured."""


def show_evaluation(
    folder: Path,
    asked: str | None,
    config: str | None,
    revision: str | None,
    look: Look,
    *,
    clock: Clock,
    say: Say,
) -> Shown:
    """Return the figures of an evaluation, or of one of its configs.

    Raises:
        UserError: for an unknown evaluation, config or revision, or a book with a broken page.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        shelf = read_shelf(desk, revision)
    book = chosen_book(shelf, asked)
    figures = of_config(figures_of(book), config)
    executed = sum(each.before.counts.executed for each in figures)
    if look.as_json:
        text = document_text(show_document(book.name, shelf.commit, figures))
    else:
        text = show_text(book, figures, Sheet(look.width, look.colour))
    return Shown(book.name, text, executed)


def of_config(figures: tuple[ConfigFigures, ...], config: str | None) -> tuple[ConfigFigures, ...]:
    """Return the figures of one config, or all.

    Raises:
        UserError: when there are none of that config.
    """
    if config is None:
        return figures
    name = choose((each.version.config for each in figures), config, what="config")
    return tuple(each for each in figures if each.version.config == name)


def show_log(
    folder: Path,
    asked: str | None,
    most: int | None,
    revision: str | None,
    look: Look,
    *,
    clock: Clock,
    say: Say,
) -> str:
    """Return what was recorded besides rows, newest first.

    Raises:
        UserError: for an unknown evaluation or revision, or a book with a broken page.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        shelf = read_shelf(desk, revision)
        commits = commits_of_pages(desk.repository, shelf.commit) if shelf.commit else {}
    if not shelf.book.evaluations:
        raise UserError("the book is empty", hint="begin with `evalbook freeze`")
    books = shelf.book.evaluations if asked is None else (chosen_book(shelf, asked),)
    lines = log_lines(books, commits)[:most]
    if look.as_json:
        return Answer(
            "", {"ledger": shelf.commit, "log": [line._asdict() for line in lines]}
        ).as_json()
    return log_text(lines, Sheet(look.width, look.colour))
