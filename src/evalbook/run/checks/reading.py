"""Reading files of a workspace that its agent may have booby-trapped."""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from evalbook.run.checks.answers import BrokenCheckError, UnreadableError

MOST_READ = 64 << 20
"""Bytes; a larger file is not searched for texts."""
MOST_PARSED = 16 << 20
"""Bytes; a larger document or table is not parsed: it could take a hundred times as much memory."""
_MOST_COPIED = 2 << 30
"""Bytes of a workspace that are copied for a command or grader."""
_OF_OURS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE}
)
"""Errors that no workspace causes."""


@contextmanager
def opened(folder: Path, name: str) -> Iterator[BinaryIO]:
    """Open a regular file inside ``folder`` for reading.

    A link is never followed at the last part, and before that only while the path stays inside. Pipes
    and devices are not opened.

    Raises:
        UnreadableError: when there is no such regular file.
    """
    path = _regular(folder, name)
    try:
        # O_NONBLOCK: should it be a pipe all the same, we return at once instead of waiting for a writer.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise UnreadableError(f"can't be read: {error.strerror}", name) from error
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnreadableError("is not a regular file", name)
        yield file


def _regular(folder: Path, name: str) -> Path:
    path = folder / name
    try:
        mode = path.lstat().st_mode
        inside = path.parent.resolve(strict=True).is_relative_to(folder.resolve(strict=True))
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableError("is missing", name) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise UnreadableError(f"can't be read: {_why(error)}", name) from error
    if not inside:
        raise UnreadableError("lies outside the workspace, behind a symbolic link", name)
    if not stat.S_ISREG(mode):
        raise UnreadableError(f"is {_kind(mode)}, not a regular file", name)
    return path


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((words for test, words in kinds if test(mode)), "a device")


def content_of(folder: Path, name: str, *, most: int = MOST_READ) -> bytes:
    """Return the bytes of a regular file inside ``folder``.

    Raises:
        UnreadableError: when it is missing, no regular file, or larger than ``most`` bytes.
    """
    with opened(folder, name) as file:
        try:
            content = file.read(most + 1)
        except OSError as error:
            raise UnreadableError(f"can't be read: {error.strerror}", name) from error
    if len(content) > most:
        raise UnreadableError(f"is larger than {most >> 20} MiB, too large to check", name)
    return content


def text_of(folder: Path, name: str) -> str:
    """Return the text of a document, which must be UTF-8; a byte order mark is dropped.

    Raises:
        UnreadableError: as `content_of` with `MOST_PARSED`, and for bytes that are not UTF-8, with
            their offset.
    """
    content = content_of(folder, name, most=MOST_PARSED)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        offset = error.start + (3 if content.startswith(b"\xef\xbb\xbf") else 0)
        raise UnreadableError("is not UTF-8", f"{name}, byte offset {offset}") from None


def copy_workspace(workspace: Path, target: Path) -> None:
    """Copy a workspace to ``target``, for commands that may write there.

    Pipes, sockets, devices, and links that are absolute or lead outside are left out, so nothing in the
    copy leads back to the original.

    Raises:
        UnreadableError: when a part of it can't be read, or it holds more than 2 GiB.
        BrokenCheckError: when the disk is full or refuses.
    """
    try:
        _copy_all(workspace, target)
    except OSError as error:
        if error.errno in _OF_OURS:
            raise BrokenCheckError(f"the workspace can't be copied: {error.strerror}") from error
        raise UnreadableError(f"can't be copied: {error.strerror}", str(error.filename)) from error


def _copy_all(workspace: Path, target: Path) -> None:
    left = _MOST_COPIED
    for root, folders, names in os.walk(workspace, onerror=_raise):
        here = Path(root)
        there = target / here.relative_to(workspace)
        there.mkdir(parents=True)
        for name in sorted([*names, *folders]):
            path = here / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                if _stays_inside(path, workspace):
                    (there / name).symlink_to(path.readlink())
            elif stat.S_ISREG(mode):
                left -= path.lstat().st_size
                if left < 0:
                    raise UnreadableError(f"the workspace holds over {_MOST_COPIED >> 30} GiB")
                shutil.copyfile(path, there / name, follow_symlinks=False)
                (there / name).chmod(mode & 0o777 | 0o600)  # without set-user-id bits


def _raise(error: OSError) -> None:
    raise error


def _stays_inside(link: Path, workspace: Path) -> bool:
    """Whether a link leads to the same place in a copy: neither by its words nor in fact outside."""
    goal = link.readlink()
    if goal.is_absolute():
        return False
    depth = len(link.parent.relative_to(workspace).parts)
    for part in goal.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return False
    try:
        return link.resolve().is_relative_to(workspace.resolve())
    except (OSError, RuntimeError):  # a loop
        return False
