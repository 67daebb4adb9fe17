"""What lies outside the workspace and is set back after every attempt: databases, caches, memory."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.run.trees import Entry, entry_at, remove, scan


class Outside(NamedTuple):
    """One file or folder, and its state at the start of the run."""

    path: Path
    copy: Path
    """Where that state is kept; nothing there: it did not exist."""
    state: tuple[tuple[str, Entry], ...]
    """What it held, sorted by name; a file by itself stands as one entry without a name."""
    exists: bool


def keep_outside(paths: Sequence[str], folder: Path) -> tuple[Outside, ...]:
    """Copy what a task names, as it is before the run's first attempt; a copy made earlier is used.

    Raises:
        UserError: when something can't be read or copied.
    """
    return tuple(_keep(Path(name), folder / str(number)) for number, name in enumerate(paths))


def _keep(path: Path, folder: Path) -> Outside:
    done = folder / "complete"
    copy = folder / "copy"
    if not done.exists():
        remove(folder)
        folder.mkdir(parents=True)
        try:
            _copy(path, copy)
        except (OSError, shutil.Error) as error:
            raise UserError(f"{path}: can't be kept for restoring: {error}") from None
        if _state(path) != _state(copy):
            raise UserError(f"{path}: changed while it was copied", hint="stop what writes to it")
        done.touch()
    return Outside(path, copy, _state(copy), _there(copy))


def restore_outside(kept: Iterable[Outside]) -> tuple[str, ...]:
    """Set back what differs from its state at the start; return what could not be, in one line each.

    Links are kept as links. Pipes and sockets are not material and are removed.
    """
    problems = []
    for each in kept:
        if _there(each.path) == each.exists and _state(each.path) == each.state:
            continue
        try:
            remove(each.path)
            _copy(each.copy, each.path)
        except (OSError, shutil.Error) as error:
            problems.append(f"{each.path} could not be set back: {error}")
            continue
        if _there(each.path) != each.exists or _state(each.path) != each.state:
            problems.append(f"{each.path} is not as it was at the start of the run")
    return tuple(problems)


def _there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _state(path: Path) -> tuple[tuple[str, Entry], ...]:
    if path.is_dir() and not path.is_symlink():
        found = scan(path, folders=True)
        return tuple((name, found[name]) for name in sorted(found) if found[name].kind != "special")
    if not _there(path):
        return ()
    return (("", entry_at(path)),)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True, ignore=_specials)
    elif _there(source):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)


def _specials(folder: str, names: list[str]) -> list[str]:
    """Return what copytree must leave alone: opening a pipe would wait for ever."""
    paths = {name: Path(folder) / name for name in names}
    return [
        name
        for name, path in paths.items()
        if not (path.is_symlink() or path.is_dir() or path.is_file())
    ]
