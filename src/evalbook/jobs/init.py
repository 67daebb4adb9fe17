"""Making a book in a new or existing git repository."""

from pathlib import Path
from typing import NamedTuple

from evalbook.base.files import files_below, write_whole
from evalbook.base.problems import UserError
from evalbook.jobs.example import example_folder, example_path
from evalbook.store.git import Repository

_IGNORED = "/.evalbook/"
_ATTRIBUTES = "/ledger/** -text"
"""Pages are bytes: git must never convert their line ends, whatever core.autocrlf says."""


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
            for name, line in ((".gitignore", _IGNORED), (".gitattributes", _ATTRIBUTES))
            if _add_line(top / name, line)
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


def _add_line(path: Path, line: str) -> bool:
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if line in before.splitlines():
        return False
    start = before if not before or before.endswith("\n") else f"{before}\n"
    write_whole(path, f"{start}{line}\n".encode())
    return True


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
