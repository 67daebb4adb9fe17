"""Making a book in a new or existing git repository."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evalbook.base.files import files_below, write_whole
from evalbook.base.problems import UserError
from evalbook.jobs.example import example_folder, example_path
from evalbook.store.git import Repository

_IGNORED = ("/.evalbook/", "/site/")
"""Workspaces, the local artifact store, and the built site, which never stands on the book's branch."""
_ATTRIBUTES = ("/ledger/** -text", "/evaluations/** -text")
"""Pages and material are bytes: git must not convert line ends, whatever core.autocrlf says."""


class MadeBook(NamedTuple):
    """What was made, and where."""

    top: Path
    written: tuple[str, ...]
    """What was created or got a line more, from the top, for people."""
    next_step: str


def make_book(folder: Path, *, example: bool) -> MadeBook:
    """Make the repository of ``folder`` fit for a book; what is there stays.

    Raises:
        UserError: in a bare repository, or when the example's folder is taken.
    """
    repository = _open_or_create(folder)
    with repository:
        top = repository.work_tree
        if top is None:
            raise UserError(
                f"{folder} is a bare repository: a book is written in a work tree",
                hint="clone it, and run `evalbook init` in the clone",
            )
        wanted = _example_files() if example else {}
        taken = [name for name in wanted if (top / name).exists()]
        if taken:
            raise UserError(f"{taken[0]} is already there", hint="leave out --example")
        written = [
            name
            for name, lines in ((".gitignore", _IGNORED), (".gitattributes", _ATTRIBUTES))
            if _add_lines(top / name, lines)
        ]
        for name, content in wanted.items():
            write_whole(top / name, content)
        (top / "evaluations").mkdir(exist_ok=True)
    if wanted:
        written.append(f"{example_path()} ({len(wanted)} files)")
    return MadeBook(top, tuple(written), _next_step(example=example))


def _open_or_create(folder: Path) -> Repository:
    try:
        return Repository(folder)
    except UserError:
        if folder.is_dir() and (folder / ".git").exists():
            raise  # there is a repository, and git refuses to read it: never make another over it
    return Repository.create(folder)


def _add_lines(path: Path, lines: Sequence[str]) -> bool:
    """Add what is missing to a file of lines, and return whether anything was."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [line for line in lines if line not in before.splitlines()]
    if missing:
        start = before if not before or before.endswith("\n") else f"{before}\n"
        write_whole(path, (start + "".join(f"{line}\n" for line in missing)).encode())
    return bool(missing)


def _example_files() -> dict[str, bytes]:
    source = example_folder()
    return {
        f"{example_path()}/{path.relative_to(source).as_posix()}": path.read_bytes()
        for path in files_below(source)
        if "__pycache__" not in path.parts
    }


def _next_step(*, example: bool) -> str:
    if example:
        return 'next: commit these files, then evalbook freeze device-inventory --reason "first version"'
    return "next: describe what you measure in evaluations/NAME/, see the README's reference"
