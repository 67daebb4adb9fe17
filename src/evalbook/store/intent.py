"""What a process is about to do to the user's branch, for whoever comes after a kill to finish."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evalbook.base.files import write_whole
from evalbook.base.problems import UserError
from evalbook.store.checkout import Checkout, index_lock, scratch
from evalbook.store.git import Repository
from evalbook.store.locks import home, writing_alone

BULK_REF = "refs/evalbook/bulk"
"""Where `git fast-import` builds, while we hold the lock."""


@contextmanager
def writing(repository: Repository) -> Iterator[None]:
    """Be the only evalbook process that writes here, after finishing what a killed one had begun.

    Raises:
        CannotWriteError: when another one holds the lock for minutes, nobody may write here, or
            another program holds git's lock on the index that is to be mended.
    """
    with writing_alone(repository):
        _settle(repository)
        yield


def settle(repository: Repository) -> None:
    """Finish or undo what a killed process had begun; a look at the disk when there is nothing."""
    if _file(repository).exists():
        with writing(repository):
            pass


class Intent:
    """The intent of the process that holds the lock, on disk before anything is done."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.token = scratch(repository, "token")
        """The file that becomes git's lock on the index, and tells it from git's own."""
        self.token.touch()
        self._write({})

    def says(self, ref: str, commit: str, blobs: Mapping[str, str]) -> None:
        """Write down that ``ref`` is to move to ``commit``, which brings these paths."""
        self._write({"ref": ref, "commit": commit, "blobs": dict(blobs)})

    def withdraw(self) -> None:
        """Forget it: what it says is done, or undone."""
        _file(self._repository).unlink(missing_ok=True)
        self.token.unlink(missing_ok=True)

    def _write(self, move: Mapping[str, object]) -> None:
        said = {
            "git_dir": str(self._repository.git_dir),
            "work_tree": str(self._repository.work_tree),
            "token": str(self.token),
            **move,
        }
        write_whole(_file(self._repository), json.dumps(said).encode())


@contextmanager
def index_held(repository: Repository) -> Iterator[Intent]:
    """Hold git's own lock on the user's index, and an intent that frees it should we die.

    Raises:
        CannotWriteError: when another program holds the lock for long.
    """
    intent = Intent(repository)
    try:
        with index_lock(repository, intent.token):
            yield intent
    except UserError:
        intent.withdraw()
        raise
    # On Ctrl-C and the like the intent stays: git may still be moving the branch, and whoever
    # writes next, perhaps ourselves, waits for it and looks.
    intent.withdraw()


def _file(repository: Repository) -> Path:
    return home(repository) / "intent.json"


def _settle(repository: Repository) -> None:
    try:
        said = json.loads(_file(repository).read_bytes())
    except FileNotFoundError:
        said = None
    if said:
        with suppress(FileNotFoundError):
            lock = Path(said["git_dir"]) / "index.lock"
            if lock.samefile(said["token"]):
                lock.unlink()
        places = (Path(said["git_dir"]), Path(said["work_tree"]))
        if "ref" in said and all(place.is_dir() for place in places):
            _finish(repository, said)
        _file(repository).unlink()
    if (repository.common_dir / BULK_REF).exists():
        repository.write("update-ref", "-d", BULK_REF)
    # Only the holder of the lock makes files there, and that is us: the rest was left by the dead.
    shutil.rmtree(home(repository) / "scratch", ignore_errors=True)


def _finish(repository: Repository, said: Mapping[str, Any]) -> None:
    """Bring index and work tree to what the branch says: it has moved to the commit, or has not."""
    with Repository(Path(said["work_tree"])) as there:
        there.handed_down = repository.handed_down
        tip = there.head()
        if there.head_ref() != said["ref"] or there.work_tree is None:
            return
        checkout = Checkout(there, there.work_tree)
        blobs: dict[str, str] = said["blobs"]
        checkout.clear_begun(blobs)
        files = dict(zip(blobs, there.blobs(blobs.values()), strict=True))
        arrived = (
            tip
            and not there.run("merge-base", "--is-ancestor", said["commit"], tip, ok=(0, 1)).code
        )
        token = Path(said["token"])  # the same again: should we be killed too, it tells our lock
        token.parent.mkdir(exist_ok=True)
        token.touch()
        with index_lock(there, token):
            if arrived:
                index = checkout.index_with(blobs)
                checkout.fill(files)
            else:  # the rows are still in the journal
                known = {entry.path for entry in there.files_at(tip)} if tip else set()
                left = {path: data for path, data in files.items() if path not in known}
                index = checkout.index_without(tuple(left))
                checkout.clear(checkout.same(left))
            checkout.take(index)
