"""The start of every attempt: copied from a read-only snapshot, verified before and after."""

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evalbook.base.canonical import sha256_hex
from evalbook.base.files import files_below
from evalbook.base.problems import UserError
from evalbook.records.attempt import TouchedFile


class Snapshot(NamedTuple):
    """A read-only copy of a task's start, and what it holds."""

    folder: Path
    files: Mapping[str, str]
    """POSIX path to SHA-256."""


class Fingerprint(NamedTuple):
    """One thing found in a workspace."""

    sha256: str | None
    """None: it is no regular file (a link, a pipe, a socket)."""
    kind: str


def take_snapshot(start: Path, folder: Path) -> Snapshot:
    """Copy ``start`` (which may be missing: an empty start) to ``folder`` and make it read-only."""
    if folder.exists():
        _make_writable(folder)
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    if start.is_dir():
        shutil.copytree(start, folder, dirs_exist_ok=True, symlinks=True)
    files = {path: each.sha256 or "" for path, each in fingerprints(folder).items()}
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~0o222)
    folder.chmod(0o555)
    return Snapshot(folder, files)


def is_intact(snapshot: Snapshot) -> bool:
    """Whether the snapshot still holds exactly what it held when it was taken."""
    now = {path: each.sha256 or "" for path, each in fingerprints(snapshot.folder).items()}
    return now == snapshot.files


def fresh_copy(snapshot: Snapshot, folder: Path) -> None:
    """Make ``folder``, which must not exist, a writable copy of the snapshot.

    Raises:
        UserError: when the copy is not what the snapshot holds: the disk, or somebody, is at fault.
    """
    shutil.copytree(snapshot.folder, folder, symlinks=True)
    _make_writable(folder)
    if {path: each.sha256 or "" for path, each in fingerprints(folder).items()} != snapshot.files:
        raise UserError(f"the start copied to {folder} is not the one in {snapshot.folder}")


def fingerprints(folder: Path) -> dict[str, Fingerprint]:
    """Return every file below ``folder`` with its digest. Links are not followed, pipes not opened."""
    found = {}
    for path in files_below(folder):
        name = path.relative_to(folder).as_posix()
        found[name] = _fingerprint(path)
    return found


def _fingerprint(path: Path) -> Fingerprint:
    try:
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            return Fingerprint(None, "link" if stat.S_ISLNK(mode) else "special")
        return Fingerprint(sha256_hex(path.read_bytes()), "file")
    except OSError:
        return Fingerprint(None, "unreadable")


def touched_files(before: Mapping[str, str], workspace: Path) -> tuple[TouchedFile, ...]:
    """Return what was created, changed and deleted since the start, sorted by path."""
    after = fingerprints(workspace) if workspace.is_dir() else {}
    found = []
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            found.append(TouchedFile(path=_safe(path), change="deleted"))
        elif path not in before:
            found.append(TouchedFile(path=_safe(path), change="created", sha256=after[path].sha256))
        elif after[path].sha256 != before[path]:
            found.append(TouchedFile(path=_safe(path), change="changed", sha256=after[path].sha256))
    return tuple(found)


def _safe(path: str) -> str:
    """Return a path that JSON can hold: bytes that are no UTF-8 are shown as escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _make_writable(folder: Path) -> None:
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(root) / name
            if not path.is_symlink():
                path.chmod(stat.S_IMODE(path.lstat().st_mode) | 0o200)
        Path(root).chmod(0o755)
    folder.chmod(0o755)


class Outside(NamedTuple):
    """Something outside the workspace that is set back after every attempt."""

    path: Path
    copy: Path
    """Where its state at the start of the run is kept; missing there: it did not exist."""


def keep_outside(paths: Sequence[str], folder: Path) -> tuple[Outside, ...]:
    """Copy databases, caches and agent memory that a task names, as they are before the run.

    Raises:
        UserError: for a path that is not absolute, or is a whole home or root folder.
    """
    kept = []
    for number, each in enumerate(paths):
        path = Path(each).expanduser()
        if not path.is_absolute() or len(path.parts) <= len(Path("/home/x").parts) - 1:
            raise UserError(
                f"restore: {each} must be an absolute path of a file or folder of its own"
            )
        copy = folder / str(number)
        if copy.exists():
            shutil.rmtree(copy) if copy.is_dir() else copy.unlink()
        if path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _copy(path, copy)
        kept.append(Outside(path, copy))
    return tuple(kept)


def restore_outside(kept: Sequence[Outside]) -> bool:
    """Set everything back, and return whether it then equals its copy."""
    for each in kept:
        if each.path.is_dir() and not each.path.is_symlink():
            shutil.rmtree(each.path)
        else:
            each.path.unlink(missing_ok=True)
        if each.copy.exists():
            _copy(each.copy, each.path)
    return all(_same(each.path, each.copy) for each in kept)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target)


def _same(one: Path, other: Path) -> bool:
    if one.is_dir() and other.is_dir():
        return fingerprints(one) == fingerprints(other)
    if one.is_file() and other.is_file():
        return one.read_bytes() == other.read_bytes()
    return not one.exists() and not other.exists()
