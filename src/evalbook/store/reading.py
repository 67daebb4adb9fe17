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
    history = repository.run(
        "rev-list", "--reverse", "--topo-order", "--end-of-options", commit
    ).out
    # Plumbing: `git log` obeys the user's settings, and with paths it leaves out whole branches.
    added = repository.run(
        "diff-tree", "--stdin", "--root", "-m", "-r", "--no-renames", "--diff-filter=A",
        "--name-only", "-z", "--", "ledger/", stdin=history,
    ).out  # fmt: skip
    current = ""
    for raw in added.split(b"\0")[:-1]:
        path = os.fsdecode(raw)
        if path.startswith("ledger/"):
            if parse_page_path(path) is not None:
                found.setdefault(path, current)
        else:
            current = path
    return found
