"""What a run has finished and not yet committed, safe on disk under the git directory."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

from filelock import FileLock, Timeout

from evalbook.base.files import sync_folder, write_whole
from evalbook.base.problems import UserError
from evalbook.records.fields import attempt_parts
from evalbook.store.git import Repository


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


class Journal:
    """The journal of one run. Whoever holds it is the run's only writer; death releases it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder.parent / f"{folder.name}.lock", timeout=0)

    @classmethod
    def of(cls, repository: Repository, run_id: str) -> Self:
        """Return the journal of a run; nothing is created yet."""
        return cls(_home(repository) / run_id)

    @classmethod
    def left_behind(cls, repository: Repository) -> Iterator[Self]:
        """Yield, held, every journal whose run is not alive."""
        home = _home(repository)
        if not home.is_dir():
            return
        for folder in sorted(path for path in home.iterdir() if path.is_dir()):
            journal = cls(folder)
            if journal.hold():
                try:
                    yield journal
                finally:
                    journal.release()

    @property
    def run_id(self) -> str:
        """The run it belongs to."""
        return self._folder.name

    def hold(self) -> bool:
        """Become the run's only writer, or return False where it has one."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
        except Timeout:
            return False
        return True

    def release(self) -> None:
        """Let go of the run."""
        self._lock.release()

    def open(self, run_folder: str) -> None:
        """Begin, remembering where in the ledger the run's pages lie."""
        self._folder.mkdir(parents=True, exist_ok=True)
        sync_folder(self._folder.parent)
        write_whole(self._folder / "run", run_folder.encode(), durable=True)

    def run_folder(self) -> str | None:
        """Return where the run's pages lie, or None when the journal was never opened."""
        try:
            return (self._folder / "run").read_text()
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
        """Keep a finished row durably; when this returns, no crash can lose it.

        Raises:
            UserError: when another row with that id waits already.
        """
        path = self._path("row", waiting.attempt_id)
        content = json.dumps([waiting.line.decode(), list(waiting.artifacts)]).encode()
        if path.exists() and path.read_bytes() != content:
            raise UserError(f"attempt {waiting.attempt_id} has another row in the journal already")
        write_whole(path, content, durable=True)

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

    def forget(self, attempt_ids: Iterator[str] | tuple[str, ...]) -> None:
        """Drop rows that are committed; the note that they were begun stays."""
        for attempt_id in attempt_ids:
            self._path("row", attempt_id).unlink(missing_ok=True)
            self._path("started", attempt_id).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the journal: everything in it is committed."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, kind: str, attempt_id: str) -> Path:
        parts = attempt_parts(attempt_id)
        return self._folder / f"{kind}-{parts.number}-{parts.task}"

    def _attempt(self, path: Path) -> str:
        _, number, task = path.name.split("-", 2)
        return f"{self.run_id}/{task}/{number}"


def _home(repository: Repository) -> Path:
    return repository.common_dir / "evalbook" / "runs"
