"""Writing what others read: the report, the site, the rows."""

from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from evalbook.base.exits import NOTHING_MEASURED
from evalbook.base.files import replace_tree, write_whole
from evalbook.base.problems import UserError
from evalbook.derive.book import Book
from evalbook.derive.figures import figures_of
from evalbook.jobs.desk import Clock, Desk, Say, Shelf, choose, chosen_book, open_desk, read_shelf
from evalbook.jobs.show import of_config
from evalbook.present.export import attempts_csv
from evalbook.present.report import report_markdown, report_of
from evalbook.present.report_parts import Facts
from evalbook.present.site.build import build_pages
from evalbook.present.site.press import SiteFacts
from evalbook.present.templates import Templates
from evalbook.store.evidence import LedgerArtifacts
from evalbook.store.manifest import ledger_facts, ledger_json
from evalbook.store.reading import commits_of_pages

_MARK = "ledger.json"
"""What every site of ours holds, and so tells it from another folder."""


class Built(NamedTuple):
    """What was built."""

    home: Path
    """Its first page."""
    pages: int
    commit: str


def write_report(
    folder: Path,
    asked: str | None,
    config: str | None,
    revision: str | None,
    out: Path | None,
    *,
    clock: Clock,
    say: Say,
) -> str:
    """Return the results report as Markdown, and write it where ``out`` is given.

    Raises:
        UserError: for an unknown evaluation, config or revision, or a book with a broken page; with
            exit code 5 when nothing was planned.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        shelf = read_shelf(desk, revision)
        templates = templates_of(desk)
    book = chosen_book(shelf, asked)
    figures = of_config(figures_of(book), config)
    if not figures:
        raise UserError(
            f"no run of {book.name} was planned: there is nothing to report",
            hint=f"evalbook run {book.name} --config …",
            exit_code=NOTHING_MEASURED,
        )
    report = report_of(book, figures, Facts(shelf.commit, tool()))
    text = report_markdown(report, templates)
    return _write(out, text, say)


def export_attempts(
    folder: Path,
    asked: str | None,
    revision: str | None,
    out: Path | None,
    *,
    clock: Clock,
    say: Say,
) -> str:
    """Return one CSV row for every attempt, and write them where ``out`` is given.

    Raises:
        UserError: for an unknown evaluation or revision, or a book with a broken page.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        shelf = read_shelf(desk, revision)
    return _write(out, attempts_csv(chosen_book(shelf, asked)), say)


def build_site(
    folder: Path,
    out: Path,
    evaluations: tuple[str, ...],
    revision: str | None,
    *,
    clock: Clock,
    say: Say,
) -> Built:
    """Build the site into ``out``, replaced whole once every page is made.

    Raises:
        UserError: when ``out`` holds something that is no site of ours, for a broken template or book,
            and with exit code 5 for an empty book.
    """
    refuse_foreign(out)
    with open_desk(folder, clock=clock, say=say) as desk:
        shelf = read_shelf(desk, revision)
        if not shelf.book.evaluations:
            raise UserError(
                "the book is empty: there is nothing to show",
                hint="begin with `evalbook freeze`",
                exit_code=NOTHING_MEASURED,
            )
        book = _narrowed(shelf, evaluations)
        pages = build_pages(book, _facts(desk, shelf, book), templates_of(desk))
        files = {page.path: page.content for page in pages}
    replace_tree(out, files)
    return Built(out / "index.html", len(files), shelf.commit)


def tool() -> str:
    """Return what made it: ``evalbook`` and its version."""
    return f"evalbook {version('evalbook')}"


def templates_of(desk: Desk) -> Templates:
    """Return the user's own templates before the packaged ones."""
    own = desk.top / "site_templates"
    return Templates(own if own.is_dir() else None)


def refuse_foreign(out: Path) -> None:
    """Refuse to write over something that is no site of ours.

    Raises:
        UserError: when ``out`` is a file, or a folder with other content.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UserError(f"{out} is no folder", hint="name another place with --out")
    if out.is_dir() and any(out.iterdir()) and not (out / _MARK).is_file():
        raise UserError(
            f"{out} holds something that is no site of evalbook",
            hint="name another place with --out",
        )


def _narrowed(shelf: Shelf, evaluations: tuple[str, ...]) -> Book:
    known = [each.name for each in shelf.book.evaluations]
    wanted = {choose(known, each) for each in evaluations} or set(known)
    return Book(tuple(each for each in shelf.book.evaluations if each.name in wanted))


def _facts(desk: Desk, shelf: Shelf, book: Book) -> SiteFacts:
    facts = ledger_facts(desk.repository, shelf.commit)
    order = [
        artifact.sha256
        for each in book.evaluations
        for entry in each.entries
        for artifact in entry.attempt.artifacts
    ]
    return SiteFacts(
        commit=shelf.commit,
        object_format=facts.object_format,
        root_sha256=facts.root_sha256,
        tool=tool(),
        ledger_json=ledger_json(facts, tool()),
        commits_of_pages=commits_of_pages(desk.repository, shelf.commit),
        preview=LedgerArtifacts(desk.repository, shelf.commit, order).read,
    )


def _write(out: Path | None, text: str, say: Say) -> str:
    if out is not None:
        write_whole(out, text.encode())
        say(f"wrote {out}")
    return text
