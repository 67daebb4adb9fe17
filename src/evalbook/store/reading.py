"""Reading the book as a commit has it, never from the working tree."""

import os
from typing import NamedTuple

from evalbook.base.problems import Finding
from evalbook.records.pages import Page, parse_page, parse_page_path
from evalbook.store.git import Repository


class BookText(NamedTuple):
    """Every page of the book at one commit, and what is wrong with their bytes."""

    commit: str
    pages: tuple[Page, ...]
    """Sorted by path."""
    flaws: tuple[Finding, ...]


def read_book(repository: Repository, commit: str, *, evaluation: str | None = None) -> BookText:
    """Return the pages below ``ledger/`` at ``commit``, or those of one evaluation."""
    folder = f"ledger/{evaluation}" if evaluation else "ledger"
    return _read(repository, commit, folder)


def read_run(repository: Repository, commit: str, folder: str) -> BookText:
    """Return the pages of one run, which lie in ``folder``."""
    return _read(repository, commit, folder)


def _read(repository: Repository, commit: str, folder: str) -> BookText:
    entries = [
        entry
        for entry in repository.files_at(commit, folder)
        if parse_page_path(entry.path) is not None
    ]
    pages: list[Page] = []
    flaws: list[Finding] = []
    for entry, content in zip(entries, repository.blobs(e.blob for e in entries), strict=True):
        parsed = parse_page(entry.path, content)
        pages.append(parsed.page)
        flaws.extend(
            Finding("violation", "well-formed", flaw.message, commit, entry.path, flaw.line)
            for flaw in parsed.flaws
        )
    return BookText(commit, tuple(pages), tuple(flaws))


def commits_of_pages(repository: Repository, commit: str) -> dict[str, str]:
    """Return for the path of every page the commit that first brought it, walking all of history."""
    found: dict[str, str] = {}
    current = ""
    log = repository.run(
        "log", "-m", "--reverse", "--topo-order", "--no-renames", "--diff-filter=A", "--name-only",
        "-z", "--format=%x01%H", "--end-of-options", commit, "--", "ledger/",
    ).out  # fmt: skip
    for raw in log.split(b"\0"):
        text = os.fsdecode(raw).strip("\n")
        if text.startswith("\x01"):
            current, _, text = text[1:].partition("\n")
            text = text.strip("\n")
        if text:
            found.setdefault(text, current)
    return found
