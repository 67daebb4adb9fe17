"""The start of every attempt: copied from a read-only snapshot, verified before and after."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.records.attempt import TouchedFile
from evalbook.run.trees import Entry, copy_files, remove, scan, shown

LEFT_OUT = frozenset({"__pycache__", ".DS_Store"})
"""Names of files and folders that never are material: caches that machines leave behind."""


class Snapshot(NamedTuple):
    """A read-only copy of some frozen material, and what it must hold."""

    source: Path
    """The folder that people edit."""
    folder: Path
    """The copy."""
    files: Mapping[str, Entry]
    """POSIX path to what stands there."""


class Touched(NamedTuple):
    """One file of the workspace that differs from the start."""

    name: str
    """As the file system has it; see `trees.shown`."""
    change: TouchedFile
    kept: bool
    """Whether it is a regular file that can be kept."""


def material_in(source: Path) -> dict[str, Entry]:
    """Return the files below ``source`` that are material, sorted by path; none when it is not there."""
    found = scan(source)
    return {name: found[name] for name in sorted(found) if not LEFT_OUT & set(name.split("/"))}


def take_snapshot(source: Path, folder: Path, files: Mapping[str, Entry]) -> Snapshot:
    """Return the snapshot of ``files`` at ``folder``, copying from ``source`` where it is not intact.

    Built beside its place and moved in, so that a half-made one is never used.

    Raises:
        UserError: when ``source`` no longer holds these files.
    """
    snapshot = Snapshot(source, folder, files)
    if is_intact(snapshot):
        return snapshot
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}~"))
    try:
        try:
            copy_files(source, aside / "new", files, writable=False)
        except OSError as error:
            raise UserError(f"{source}: can't be copied: {error.strerror}") from None
        if scan(aside / "new") != files:
            raise UserError(
                f"{source} changed while it was copied",
                hint="look at it, and freeze it if it is meant",
            )
        if folder.is_symlink() or folder.exists():
            folder.rename(aside / "old")
        (aside / "new").rename(folder)
    finally:
        remove(aside)
    return snapshot


def is_intact(snapshot: Snapshot) -> bool:
    """Whether the snapshot holds exactly what it must."""
    return snapshot.folder.is_dir() and scan(snapshot.folder) == snapshot.files


def fresh_copy(snapshot: Snapshot, folder: Path, *, writable: bool = True) -> None:
    """Make ``folder``, which must not exist, a verified copy; of the snapshot or, failing that, its source.

    Raises:
        UserError: when neither holds what it must.
    """
    for origin in (snapshot.folder, snapshot.source):
        try:
            copy_files(origin, folder, snapshot.files, writable=writable)
        except OSError:
            pass
        else:
            if scan(folder) == snapshot.files:
                return
        remove(folder)
    raise UserError(f"{snapshot.source} is not what was frozen, and its snapshot is not either")


def touched_files(before: Mapping[str, Entry], workspace: Path) -> tuple[Touched, ...]:
    """Return what was created, changed and deleted since the start, sorted by path."""
    return tuple(
        sorted(_touched(before, scan(workspace, force=True)), key=lambda each: each.change.path)
    )


def _touched(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> Iterator[Touched]:
    for name in before.keys() | after.keys():
        was, now = before.get(name), after.get(name)
        path = shown(name)
        if now is None:
            yield Touched(name, TouchedFile(path=path, change="deleted"), kept=False)
        elif now != was:
            kept = now.kind == "file"
            change = TouchedFile(
                path=path,
                change="changed" if was else "created",
                sha256=now.sha256 if kept else None,
            )
            yield Touched(name, change, kept=kept)
