"""Folders that an agent could write to: looked at without ever trusting what lies in them.

Links are not followed, pipes and sockets not opened, depth costs no recursion. Names are Python's
file names (bytes that are no UTF-8 as lone surrogates); `shown` makes text of them.
"""

import errno
import hashlib
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

_SHORT = 1_000
"""Characters of a path from which a folder is moved up before it is removed."""


class Entry(NamedTuple):
    """One thing in a folder."""

    kind: Literal["file", "link", "special", "unreadable", "folder"]
    sha256: str | None = None
    """Of a file's bytes; of a link's target; none for the others."""
    executable: bool = False
    size: int = 0
    """Bytes of a file."""


def scan(folder: Path, *, force: bool = False, folders: bool = False) -> dict[str, Entry]:
    """Return everything below ``folder`` by its POSIX path; nothing when it is no folder.

    Folders themselves only count with ``folders``: git keeps none. One that can't be listed stands
    as unreadable. ``force``: take back the right to read what its owner may not.
    """
    found: dict[str, Entry] = {}
    if folder.is_symlink() or not folder.is_dir():
        return found
    waiting = [(str(folder), "")]
    while waiting:
        path, prefix = waiting.pop()
        listed = _listed(path, force=force)
        if listed is None:
            found[prefix.rstrip("/") or "."] = Entry("unreadable")
            continue
        for item in listed:
            if item.is_dir(follow_symlinks=False):
                waiting.append((item.path, f"{prefix}{item.name}/"))
                if folders:
                    found[f"{prefix}{item.name}"] = Entry("folder")
            else:
                found[f"{prefix}{item.name}"] = entry_at(Path(item.path), force=force)
    return found


def _listed(path: str, *, force: bool) -> list[os.DirEntry[str]] | None:
    for last in (False, True) if force else (True,):
        try:
            with os.scandir(path) as items:
                return list(items)
        except PermissionError:
            if last:
                return None
            with suppress(OSError):
                os.chmod(path, 0o700)  # noqa: PTH101 - a str, as scandir gives it
        except OSError:
            return None
    return None


def entry_at(path: Path, *, force: bool = False) -> Entry:
    """Return what stands at ``path``, which is no folder."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return Entry("link", hashlib.sha256(os.fsencode(path.readlink())).hexdigest())
        if not stat.S_ISREG(mode):
            return Entry("special")
        with _opened(str(path), force=force) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
    except OSError:
        return Entry("unreadable")
    return Entry("file", digest, bool(mode & stat.S_IXUSR), size)


@contextmanager
def _opened(path: str, *, force: bool, folder: int | None = None) -> Iterator[io.BufferedReader]:
    """Open a regular file for reading; with ``force`` also one whose owner may not read it.

    Raises:
        OSError: when it is a link, or no regular file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, dir_fd=folder)
    except PermissionError:
        if not force:
            raise
        os.chmod(path, 0o600, dir_fd=folder, follow_symlinks=True)
        handle = os.open(path, flags, dir_fd=folder)
    with io.open(handle, "rb") as file:  # noqa: UP020 - a descriptor, typed by io
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "is no regular file")
        yield file


def read_regular(folder: Path, name: str, *, most: int) -> bytes | None:
    """Return the bytes of a regular file below ``folder``, at most ``most`` of them.

    None where there is none, or where a link stands anywhere on the way from ``folder`` to it.
    """
    *folders, last = name.split("/")
    handles: list[int] = []
    try:
        here: int | None = None
        for part in (str(folder), *folders):
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            here = os.open(part, flags, dir_fd=here)
            handles.append(here)
        with _opened(last, force=True, folder=here) as file:
            return file.read(most)
    except (OSError, ValueError):
        return None
    finally:
        for handle in handles:
            os.close(handle)


def shown(name: str) -> str:
    """Return a file's name as text that JSON can hold: bytes that are no UTF-8 become escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def copy_files(source: Path, target: Path, files: Mapping[str, Entry], *, writable: bool) -> None:
    """Copy regular files to ``target``, which is created, with the plainest modes.

    Raises:
        OSError: when a file is gone, or ``target`` exists.
    """
    target.mkdir(parents=True)
    extra = 0o644 if writable else 0o444
    folders: set[Path] = set()
    for name, entry in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, path, follow_symlinks=False)
        path.chmod(extra | (0o111 if entry.executable else 0))
        folders.update(each for each in path.parents if each.is_relative_to(target))
    if not writable:
        for each in {target, *folders}:
            each.chmod(0o555)


def remove(path: Path) -> None:
    """Remove a file or a whole folder, however deep and whatever its modes; links only themselves.

    Raises:
        OSError: when something could not be removed.
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    path.chmod(0o700)
    while deep := _first_deep(path):
        deep.parent.chmod(0o700)
        deep.rename(Path(tempfile.mkdtemp(dir=path)) / "deep")
    shutil.rmtree(path, onerror=_once_more)


def _first_deep(folder: Path) -> Path | None:
    """Return a folder so far down that removing it by its path would fail, moved up by the caller."""
    most = len(str(folder)) + _SHORT
    waiting = [str(folder)]
    while waiting:
        path = waiting.pop()
        if len(path) > most:
            return Path(path)
        waiting += [
            item.path
            for item in _listed(path, force=True) or ()
            if item.is_dir(follow_symlinks=False)
        ]
    return None


def _once_more(function: Callable[..., object], path: str, _: object) -> None:
    """Give the folder its rights back and try again: what `shutil.rmtree` asks for on an error."""
    parent = os.path.dirname(path)  # noqa: PTH120 - rmtree gives a str
    os.chmod(parent, 0o700)  # noqa: PTH101
    if function in {os.rmdir, os.unlink}:
        function(path)
        return
    os.chmod(path, 0o700)  # noqa: PTH101
    shutil.rmtree(path)
