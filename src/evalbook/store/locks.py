"""The lock that makes an evalbook process the only one that writes to a repository."""

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from evalbook.base.problems import UserError
from evalbook.store.git import Repository

if sys.platform != "win32":
    import fcntl

_LOCK_S = 300.0
"""How long other evalbook processes may hold the lock: each holds it for some 50 ms."""
_CHILDREN_S = 10.0
"""How long the git of a process that was killed may take to end."""
_POLL_S = 0.02


class CannotWriteError(UserError):
    """The book can't be added to here and now; nothing has changed, and nothing is lost."""


def home(repository: Repository) -> Path:
    """Return the folder under the git directory that is evalbook's own; it may not exist."""
    return repository.common_dir / "evalbook"


def refused(path: Path, error: OSError) -> CannotWriteError | None:
    """Return what to tell when the system lets nobody write at ``path``; None for other troubles."""
    if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return None
    return CannotWriteError(
        f"{path} can't be written to: {os.strerror(error.errno)}",
        hint="the book can be read here; to add to it, use a clone of your own",
    )


@contextmanager
def writing_alone(repository: Repository) -> Iterator[None]:
    """Be the only evalbook process that writes to this repository.

    Raises:
        CannotWriteError: when another one holds the lock for minutes, or nobody may write here.
    """
    folder = home(repository)
    lock = FileLock(folder / "lock", timeout=_LOCK_S)
    try:
        folder.mkdir(exist_ok=True)
        lock.acquire(poll_interval=_POLL_S)
    except Timeout:
        raise CannotWriteError(
            f"another evalbook process holds {folder / 'lock'}", hint="try again later"
        ) from None
    except OSError as error:
        raise refused(folder, error) or error from None
    try:
        with _held_by_children_too(repository, folder / "lock-of-git"):
            yield
    finally:
        lock.release()


@contextmanager
def _held_by_children_too(repository: Repository, path: Path) -> Iterator[None]:
    """Hold a second lock that every git we start inherits.

    Were we killed, a git of ours could still be about to move the branch. Who comes next waits here
    for it to end, some milliseconds, and then sees what it did.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _wait_for_children(descriptor)
        repository.handed_down = (descriptor,)
        yield
        # Closing is not enough where git has started a daemon; after Ctrl-C it must be enough.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        repository.handed_down = ()
        os.close(descriptor)


def _wait_for_children(descriptor: int) -> None:
    """Take the lock, or go on without it when some daemon that git started keeps it for ever."""
    deadline = time.monotonic() + _CHILDREN_S
    while time.monotonic() < deadline:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_POLL_S)
        else:
            return
