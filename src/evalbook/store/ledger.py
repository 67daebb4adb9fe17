"""Appending pages to the book."""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.base.times import instant
from evalbook.records.pages import Record, artifact_path, page_bytes, page_kind, page_path
from evalbook.store.commits import (
    NewFiles,
    commit_files,
    commit_onto,
    identity,
    move_branch,
    settle,
    signs_commits,
    target,
    writing,
)
from evalbook.store.git import Repository

_NOTHING: Mapping[str, bytes] = MappingProxyType({})
_REPACK_FROM = 200
"""Pages from which a bulk import is worth a full repack: fast-import writes no deltas."""


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
        """Append one page in one commit.

        Raises:
            UserError: when the branch can't be written to; nothing has changed then.
        """
        files = self._files(page)
        path = next(iter(files))
        with writing(self.repository):
            commit = commit_files(self.repository, NewFiles(files, _message(page, path)))
        return Receipt(commit, (path,))

    def append_at(self, page: NewPage, tip: str | None) -> Receipt | None:
        """Append one page if the branch is still at ``tip``; None when it has moved on.

        For who has looked at the book as of ``tip`` and must not write on top of what came later.
        """
        files = self._files(page)
        path = next(iter(files))
        with writing(self.repository):
            where = target(self.repository)
            if where.tip != tip:
                return None
            commit = commit_onto(self.repository, where, NewFiles(files, _message(page, path)))
        return Receipt(commit, (path,)) if commit else None

    def append_bulk(self, pages: Iterable[NewPage]) -> Receipt:
        """Append many pages, a commit each, through one `git fast-import`; all of them or none.

        With commit signing on, which fast-import can't do, they are appended one by one.

        Raises:
            UserError: when the branch can't be written to; nothing has changed then.
        """
        wanted = tuple(pages)
        if not wanted:
            raise ValueError("nothing to append")
        if signs_commits(self.repository):
            receipts = [self.append(page) for page in wanted]
            return Receipt(receipts[-1].commit, tuple(path for r in receipts for path in r.paths))
        with writing(self.repository):
            while True:
                where = target(self.repository)
                made = self._fast_import(wanted, where.tip)
                listed = self.repository.files_at(made.commit)
                blobs = {entry.path: entry.blob for entry in listed if entry.path in made.files}
                if move_branch(self.repository, where, made.commit, made.files, blobs):
                    break
        if len(wanted) >= _REPACK_FROM:
            self.repository.run("repack", "-adfq")
        return Receipt(made.commit, made.paths)

    def settle(self) -> None:
        """Finish what a killed process had begun with index and work tree."""
        settle(self.repository)

    def tidy(self) -> None:
        """Let git pack loose objects when it thinks there are many; never prunes."""
        self.repository.run(
            "-c", "gc.autoDetach=false", "-c", "maintenance.autoDetach=false",
            "maintenance", "run", "--auto", "--quiet", ok=(0, 1, 128, 255),
        )  # fmt: skip

    def _files(self, page: NewPage) -> dict[str, bytes]:
        content = page_bytes(page.records)
        path = page_path(page.folder, self.now(), page_kind(page.records), content)
        evaluation = page.folder.split("/")[1]
        evidence = {artifact_path(evaluation, sha): data for sha, data in page.artifacts.items()}
        return {path: content, **evidence}

    def _fast_import(self, pages: Sequence[NewPage], tip: str | None) -> "_Imported":
        person = os.fsencode(identity(self.repository))
        ref = "refs/evalbook/bulk"
        files: dict[str, bytes] = {}
        paths: list[str] = []
        with tempfile.TemporaryFile() as stream:
            stream.write(f"reset {ref}\n".encode() + (f"from {tip}\n\n".encode() if tip else b"\n"))
            for page in pages:
                added = self._files(page)
                path = next(iter(added))
                message = _message(page, path)
                stream.write(f"commit {ref}\n".encode() + b"committer " + person + b"\n")
                stream.write(b"data %d\n" % len(message) + message)
                for name, content in added.items():
                    stream.write(
                        b"M 100644 inline " + os.fsencode(name) + b"\ndata %d\n" % len(content)
                    )
                    stream.write(content + b"\n")
                paths.append(path)
                files |= added
            stream.write(b"done\n")
            stream.seek(0)
            self.repository.run(
                "fast-import", "--quiet", "--done", "--force", "--date-format=raw", stdin=stream
            )
        commit = self.repository.resolve(ref)
        self.repository.run("update-ref", "-d", ref)
        return _Imported(commit, files, tuple(paths))


class _Imported(NamedTuple):
    commit: str
    files: dict[str, bytes]
    paths: tuple[str, ...]


def _message(page: NewPage, path: str) -> bytes:
    trailers = (*page.trailers, Trailer("Evalbook-Record", path))
    for text in (page.subject, *(trailer.value for trailer in trailers)):
        if "\n" in text or "\r" in text or "\0" in text:
            raise UserError(
                f"a line break has no place in a commit's subject or trailers: {text!r}"
            )
    lines = [page.subject, "", *(f"{trailer.key}: {trailer.value}" for trailer in trailers), ""]
    return "\n".join(lines).encode("utf-8", "surrogateescape")
