"""What a run has finished and not yet committed, safe on disk under the git directory."""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

from filelock import FileLock, Timeout

from evalbook.base.canonical import canonical_json
from evalbook.base.files import sync_folder, write_whole
from evalbook.records.fields import attempt_parts
from evalbook.store.git import Repository
from evalbook.store.locks import home, refused

_LINGERS_S = 2.0
_POLL_S = 0.01


class Waiting(NamedTuple):
    """One finished row, as its bytes."""

    attempt_id: str
    line: bytes
    artifacts: tuple[str, ...]
    """SHA-256 of those that go into the ledger with it."""


class Started(NamedTuple):
    """One attempt that was begun."""

    attempt_id: str
    started_at: str


class Opened(NamedTuple):
    """Where the pages of a run go."""

    folder: str
    """In the ledger."""
    git_dir: str
    """Of the work tree whose branch gets them."""
    process: int
    """Id of the process that writes it."""


class Journal:
    """The journal of one run. Whoever holds it is the run's only writer; death releases it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder.parent / f"{folder.name}.lock", timeout=0, thread_local=False)

    @classmethod
    def of(cls, repository: Repository, run_id: str) -> Self:
        """Return the journal of a run; nothing is created yet."""
        return cls(_runs(repository) / run_id)

    @classmethod
    def left_behind(cls, repository: Repository) -> Iterator[Self]:
        """Yield, held, every journal of this work tree whose run is not alive.

        One of another work tree is left to that one, as long as it exists: its rows belong on the
        branch that is checked out there.
        """
        runs = _runs(repository)
        if not runs.is_dir():
            return
        for folder in sorted(path for path in runs.iterdir() if path.is_dir()):
            journal = cls(folder)
            if not journal._is_elsewhere(repository) and journal._hold_of_the_dead():
                try:
                    yield journal
                finally:
                    journal.release()

    def _is_elsewhere(self, repository: Repository) -> bool:
        at = self.opened()
        return (
            at is not None and Path(at.git_dir) != repository.git_dir and Path(at.git_dir).exists()
        )

    def _hold_of_the_dead(self) -> bool:
        """Become the only writer of a run whose process has died.

        A program that it was just starting may keep the lock for a moment longer than it lives.
        """
        until = time.monotonic() + _LINGERS_S
        while not self.hold():
            at = self.opened()
            if at is None or _is_alive(at.process) or time.monotonic() > until:
                return False
            time.sleep(_POLL_S)
        return True

    @property
    def run_id(self) -> str:
        """The run it belongs to."""
        return self._folder.name

    def hold(self) -> bool:
        """Become the run's only writer, or return False where it has one.

        Raises:
            CannotWriteError: when nobody may write there.
        """
        try:
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout:
            return False
        except OSError as error:
            raise refused(self._folder.parent, error) or error from None
        return True

    def release(self) -> None:
        """Let go of the run."""
        self._lock.release()

    def open(self, opened: Opened) -> None:
        """Begin, remembering where the run's pages go."""
        self._folder.mkdir(parents=True, exist_ok=True)
        sync_folder(self._folder.parent)
        write_whole(self._folder / "run", canonical_json(list(opened)), durable=True)

    def opened(self) -> Opened | None:
        """Return where the run's pages go, or None when the journal was never opened."""
        try:
            return Opened(*json.loads((self._folder / "run").read_bytes()))
        except FileNotFoundError:
            return None

    def start(self, started: Started) -> None:
        """Note durably that an attempt begins."""
        write_whole(
            self._path("started", started.attempt_id), started.started_at.encode(), durable=True
        )

    def keep_artifact(self, sha256: str, content: bytes) -> None:
        """Keep durably an artifact that will go into the ledger."""
        write_whole(self._folder / "artifacts" / sha256, content, durable=True)

    def finish(self, waiting: Waiting) -> None:
        """Keep a finished row durably; when this returns, no crash can lose it."""
        content = canonical_json([waiting.line.decode(), list(waiting.artifacts)])
        write_whole(self._path("row", waiting.attempt_id), content, durable=True)

    def started(self) -> tuple[Started, ...]:
        """Return every attempt that was begun, sorted by id."""
        found = [
            Started(self._attempt(path), path.read_text())
            for path in self._folder.glob("started-*")
        ]
        return tuple(sorted(found))

    def waiting(self) -> tuple[Waiting, ...]:
        """Return every row that is not known to be committed, sorted by task and number."""
        found = []
        for path in self._folder.glob("row-*"):
            line, artifacts = json.loads(path.read_bytes())
            found.append(Waiting(self._attempt(path), line.encode(), tuple(artifacts)))
        return tuple(sorted(found, key=lambda each: attempt_parts(each.attempt_id)))

    def artifact(self, sha256: str) -> bytes:
        """Return an artifact that was kept."""
        return (self._folder / "artifacts" / sha256).read_bytes()

    def forget(self, attempt_ids: Iterable[str]) -> None:
        """Drop what is committed, the note that it was begun last."""
        for attempt_id in attempt_ids:
            self._path("row", attempt_id).unlink(missing_ok=True)
            self._path("started", attempt_id).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the journal, which is held: everything in it is committed."""
        shutil.rmtree(self._folder, ignore_errors=True)
        # Who waits for this very file sees that it has no name any more, and opens the next one.
        with suppress(OSError):  # Windows keeps what is open
            self._folder.with_name(f"{self.run_id}.lock").unlink(missing_ok=True)

    def _path(self, kind: str, attempt_id: str) -> Path:
        parts = attempt_parts(attempt_id)
        return self._folder / f"{kind}-{parts.number}-{parts.task}"

    def _attempt(self, path: Path) -> str:
        _, number, task = path.name.split("-", 2)
        return f"{self.run_id}/{task}/{number}"


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":
        return True  # there, locks go with the process that took them
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _runs(repository: Repository) -> Path:
    return home(repository) / "runs"
