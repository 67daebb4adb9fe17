"""Reading files of a workspace that its agent may have booby-trapped."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from evalbook.run.checks.answers import UnreadableError

MOST_PARSED = 64 << 20
"""Bytes; a larger file is not parsed."""
_MOST_COPIED = 2 << 30
"""Bytes of a workspace that are copied for a command or grader."""


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


def content_of(folder: Path, name: str) -> bytes:
    """Return the bytes of a regular file inside ``folder`` that is small enough to be parsed.

    Raises:
        UnreadableError: when it is missing, no regular file, or larger than `MOST_PARSED`.
    """
    with opened(folder, name) as file:
        content = _read(file, name)
    if len(content) > MOST_PARSED:
        raise UnreadableError(f"is larger than {MOST_PARSED >> 20} MiB, too large to parse", name)
    return content


def _read(file: BinaryIO, name: str) -> bytes:
    try:
        return file.read(MOST_PARSED + 1)
    except OSError as error:
        raise UnreadableError(f"can't be read: {error.strerror}", name) from error


def text_of(folder: Path, name: str) -> str:
    """Return a file's text, which must be UTF-8; a byte order mark is dropped.

    Raises:
        UnreadableError: as `content_of`, and for bytes that are not UTF-8, with their offset.
    """
    content = content_of(folder, name)
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
    """
    left = _MOST_COPIED
    for root, folders, names in os.walk(workspace, onerror=_refuse):
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
                _copy(path, there / name, mode)


def _refuse(error: OSError) -> None:
    raise UnreadableError(f"can't be read: {error.strerror}", str(error.filename or ""))


def _copy(path: Path, target: Path, mode: int) -> None:
    try:
        shutil.copyfile(path, target, follow_symlinks=False)
        target.chmod(mode & 0o777 | 0o600)  # without set-user-id bits
    except OSError as error:
        raise UnreadableError(f"can't be copied: {error.strerror}", path.name) from error


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


def remove_tree(folder: Path) -> None:
    """Remove a copy, also where a command took away the right to look into a part of it."""
    for root, folders, _ in os.walk(folder):
        for name in folders:
            path = Path(root) / name
            if not path.is_symlink():
                with suppress(OSError):
                    path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
