"""Appending pages to the book."""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.base.times import instant
from evalbook.records.pages import Record, artifact_path, page_bytes, page_kind, page_path
from evalbook.store.commits import (
    Move,
    NewFiles,
    Target,
    advance,
    commit_files,
    commit_onto,
    identity,
    signs_commits,
    target,
)
from evalbook.store.git import Repository
from evalbook.store.intent import BULK_REF, settle, writing

_NOTHING: Mapping[str, bytes] = MappingProxyType({})
_REPACK_FROM = 200
"""Pages from which a bulk import is worth a full repack: fast-import writes no deltas …"""
_REPACK_UP_TO_KIB = 200 * 1024
"""… unless the repository is so large that the user would wait for minutes."""


class Trailer(NamedTuple):
    """One line at the end of a commit's message, for people and scripts."""

    key: str
    value: str


class NewPage(NamedTuple):
    """A page to append, and what its commit says."""

    folder: str
    """Where it goes: see records.pages."""
    records: tuple[Record, ...]
    subject: str
    trailers: tuple[Trailer, ...] = ()
    artifacts: Mapping[str, bytes] = _NOTHING
    """SHA-256 to content of the small artifacts that go into the ledger with it."""
    needed: str | None = None
    """Path of a page that the branch must have for this one to be appended: a plan."""


class Receipt(NamedTuple):
    """What was committed."""

    commit: str
    paths: tuple[str, ...]
    """Of the pages, in order."""


class Ledger:
    """The book of one repository, as far as it can be added to."""

    def __init__(self, repository: Repository, *, clock: Callable[[], datetime]) -> None:
        self.repository = repository
        self._clock = clock

    def now(self) -> str:
        """Return this moment as the book writes it."""
        return instant(self._clock())

    def person(self) -> str:
        """Return who is at work, as git names them: ``Name <mail>``.

        Raises:
            UserError: when git has no identity.
        """
        return identity(self.repository).rpartition(">")[0] + ">"

    def append(self, page: NewPage) -> Receipt:
        """Append one page in one commit; where the branch has that very page, nothing is done.

        Raises:
            CannotWriteError: when the branch can't be written to; nothing has changed then.
            UserError: when git has no identity, or a line break would forge a trailer.
        """
        new = self._new_files(page)
        with writing(self.repository):
            commit = commit_files(self.repository, new)
        return Receipt(commit, (next(iter(new.files)),))

    def append_at(self, page: NewPage, tip: str | None) -> Receipt | None:
        """Append one page if the branch is still at ``tip``; None when it has moved on.

        For who has looked at the book as of ``tip`` and must not write on top of what came later.
        """
        new = self._new_files(page)
        with writing(self.repository):
            where = target(self.repository)
            commit = commit_onto(self.repository, where, new) if where.tip == tip else None
        return Receipt(commit, (next(iter(new.files)),)) if commit else None

    def append_bulk(self, pages: Iterable[NewPage]) -> Receipt:
        """Append many pages, a commit each, through one `git fast-import`; all of them or none.

        With commit signing on, which fast-import can't do, they are appended one by one. Pages that
        the branch has already are left out.

        Raises:
            CannotWriteError: when the branch can't be written to; nothing has changed then.
            ValueError: for no pages.
        """
        wanted = tuple(self._new_files(page) for page in pages)
        if not wanted:
            raise ValueError("nothing to append")
        paths = tuple(next(iter(new.files)) for new in wanted)
        with writing(self.repository):
            if signs_commits(self.repository):
                commits = [commit_files(self.repository, new) for new in wanted]
                return Receipt(commits[-1], paths)
            commit = advance(self.repository, lambda where: self._bulk(wanted, where))
        if len(wanted) >= _REPACK_FROM and self._is_small():
            # Keeps what nothing refers to: it may be what another program is about to refer to.
            self.repository.run("repack", "-a", "-d", "-f", "-k", "-q", ok=range(256))
        return Receipt(commit, paths)

    def settle(self) -> None:
        """Finish what a killed process had begun with index and work tree."""
        settle(self.repository)

    def tidy(self) -> None:
        """Let git pack loose objects in the background, when it thinks there are many."""
        self.repository.run("maintenance", "run", "--auto", "--quiet", ok=range(256))

    def _new_files(self, page: NewPage) -> NewFiles:
        content = page_bytes(page.records)
        path = page_path(page.folder, self.now(), page_kind(page.records), content)
        evaluation = page.folder.split("/")[1]
        evidence = {artifact_path(evaluation, sha): data for sha, data in page.artifacts.items()}
        return NewFiles({path: content, **evidence}, _message(page, path), page.needed)

    def _bulk(self, wanted: Sequence[NewFiles], where: Target) -> Move:
        there = {e.path for e in self.repository.files_at(where.tip)} if where.tip else set()
        fresh = _fresh(wanted, there)
        if not fresh and where.tip:
            return Move(where.tip, {}, {})
        commit = self._fast_import(fresh, where.tip)
        blobs = {entry.path: entry.blob for entry in self.repository.files_at(commit)}
        files = {path: content for new in fresh for path, content in new.files.items()}
        return Move(commit, files, {path: blobs[path] for path in files})

    def _fast_import(self, pages: Sequence[NewFiles], tip: str | None) -> str:
        """Build a commit a page on top of the tip, and return the last one."""
        person = os.fsencode(identity(self.repository))
        parent = f"from {tip}\n\n" if tip else "\n"
        with tempfile.TemporaryFile() as stream:
            stream.write(f"reset {BULK_REF}\n{parent}".encode())
            for page in pages:
                stream.write(f"commit {BULK_REF}\n".encode() + b"committer " + person + b"\n")
                stream.write(b"data %d\n%b" % (len(page.message), page.message))
                for name, content in page.files.items():
                    stream.write(
                        b"M 100644 inline %b\ndata %d\n" % (os.fsencode(name), len(content))
                    )
                    stream.write(content + b"\n")
            stream.write(b"done\n")
            stream.seek(0)
            self.repository.write(
                "fast-import", "--quiet", "--done", "--force", "--date-format=raw", stdin=stream
            )
        commit = self.repository.resolve(BULK_REF)
        self.repository.write("update-ref", "-d", BULK_REF)
        return commit

    def _is_small(self) -> bool:
        counted = self.repository.run("count-objects", "-v").out.decode().splitlines()
        sizes = dict(line.split(": ") for line in counted)
        return int(sizes["size-pack"]) < _REPACK_UP_TO_KIB


def _fresh(wanted: Sequence[NewFiles], there: Set[str]) -> list[NewFiles]:
    """Return what each page adds to the paths that are there, without those that add nothing."""
    known = set(there)
    fresh = []
    for new in wanted:
        added = {path: content for path, content in new.files.items() if path not in known}
        known |= added.keys()
        if added:
            fresh.append(new._replace(files=added))
    return fresh


def _message(page: NewPage, path: str) -> bytes:
    trailers = (*page.trailers, Trailer("Evalbook-Record", path))
    for text in (page.subject, *(trailer.value for trailer in trailers)):
        if "\n" in text or "\r" in text or "\0" in text:
            raise UserError(
                f"a line break has no place in a commit's subject or trailers: {text!r}"
            )
    lines = [page.subject, "", *(f"{trailer.key}: {trailer.value}" for trailer in trailers), ""]
    return "\n".join(lines).encode("utf-8", "surrogateescape")
