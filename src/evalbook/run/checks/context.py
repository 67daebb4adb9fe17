"""What a check is given, and what it answers."""

import stat
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple

from evalbook.records.attempt import TouchedFile

LARGEST_READ = 64 * 1024 * 1024
"""Bytes of a file that a check will parse; a larger one fails."""


class GradeContext(NamedTuple):
    """One attempt as its agent left it. The workspace is hostile; nothing in it is trusted."""

    workspace: Path
    start: Path
    """Read-only snapshot of the start state."""
    task_folder: Path
    evaluation_folder: Path
    touched: tuple[TouchedFile, ...]
    elapsed_seconds: Decimal
    scratch: Path
    """An empty folder for copies."""
    scrub: Callable[[str], str]
    trace: Path | None


class Finding(NamedTuple):
    """What one check found, before it is scrubbed and cut."""

    outcome: Literal["held", "failed", "error"]
    expected: str
    actual: str
    evidence: str = ""


class Unfit(Exception):  # noqa: N818 - no error of ours: the agent's file is not what it should be
    """A file of the workspace that can't be read as what it should be: the check failed."""


class Broken(Exception):  # noqa: N818 - said of the check, in its own outcome
    """The check itself can't be carried out: no failure of the agent."""


def held(expected: str, actual: str = "", evidence: str = "") -> Finding:
    """The check held."""
    return Finding("held", expected, actual or "as expected", evidence)


def failed(expected: str, actual: str, evidence: str = "") -> Finding:
    """The check did not hold."""
    return Finding("failed", expected, actual, evidence)


def agents_file(context: GradeContext, name: str) -> Path:
    """Return a regular file of the workspace, reached without following any link.

    Raises:
        Unfit: when it is missing, a link, a pipe, a folder, or behind a link.
    """
    path = context.workspace
    mode = 0
    for part in Path(name).parts:
        path /= part
        try:
            mode = path.lstat().st_mode
        except OSError:
            raise Unfit(f"{name} is missing") from None
        if stat.S_ISLNK(mode):
            raise Unfit(f"{name} is, or lies behind, a symbolic link")
    if not stat.S_ISREG(mode):
        raise Unfit(f"{name} is no regular file")
    return path


def agents_bytes(context: GradeContext, name: str) -> bytes:
    """Return the content of a regular file of the workspace.

    Raises:
        Unfit: as `agents_file` does, and for a file over `LARGEST_READ`.
    """
    path = agents_file(context, name)
    try:
        size = path.stat().st_size
        if size > LARGEST_READ:
            raise Unfit(f"{name} has {size} bytes, more than the {LARGEST_READ} that are read")
        return path.read_bytes()
    except OSError as error:
        raise Unfit(f"{name} can't be read: {error.strerror}") from None


def reference_bytes(context: GradeContext, name: str) -> bytes:
    """Return the content of a reference in the task's ``expected/``.

    Raises:
        Broken: when it is not there.
    """
    try:
        return (context.task_folder / "expected" / name).read_bytes()
    except OSError as error:
        raise Broken(f"the reference expected/{name} can't be read: {error.strerror}") from None


def quoted(value: object, most: int = 200) -> str:
    """Return a short quotation of a value."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f"{text[:most]}…"
