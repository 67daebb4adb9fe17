"""Repositories of every kind, stock git to look at them, and rows written the way a run writes them."""

import subprocess
from pathlib import Path

from tests.builders import Clock, plan_of, row_of

from evalbook.records.attempt import Attempt
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger
from evalbook.store.reading import read_book
from evalbook.store.writer import RunWriter

PLAN = plan_of({"complete": 20, "missing": 20})


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def has_reftable() -> bool:
    version = subprocess.run(
        ["git", "version"], capture_output=True, text=True, check=True
    ).stdout.split()[2]
    return tuple(int(part) for part in version.split(".")[:2]) >= (2, 45)


def plain(repository: Repository, where: Path) -> Path:
    del where
    assert repository.work_tree is not None
    return repository.work_tree


def linked(repository: Repository, where: Path) -> Path:
    git(plain(repository, where), "worktree", "add", "--quiet", "-b", "side", str(where / "linked"))
    return where / "linked"


def submodule(repository: Repository, where: Path) -> Path:
    inner = plain(repository, where)
    outer = where / "outer"
    kind = git(inner, "rev-parse", "--show-object-format").strip()
    git(where, "init", "--quiet", f"--object-format={kind}", str(outer))
    git(
        outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "part"
    )
    return outer / "part"


def sparse_outside(repository: Repository, where: Path) -> Path:
    top = plain(repository, where)
    git(top, "sparse-checkout", "set", "--cone", "--sparse-index", "code")
    return top


def sparse_inside(repository: Repository, where: Path) -> Path:
    top = plain(repository, where)
    git(top, "sparse-checkout", "set", "--cone", "ledger")
    return top


FORMATS = [("sha1", None), ("sha256", None)] + [
    ("sha1", "reftable"),
    ("sha256", "reftable"),
] * has_reftable()
"""Object and reference formats that this git has."""


def started_repository(
    folder: Path, formats: tuple[str, str | None] = ("sha1", None)
) -> Repository:
    """A repository in which somebody has committed ``code/a.py`` and ``b.txt``."""
    repository = Repository.create(folder, object_format=formats[0], ref_format=formats[1])
    (folder / "code").mkdir()
    (folder / "code" / "a.py").write_text("a = 1\n")
    (folder / "b.txt").write_text("b\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "start")
    return repository


def write_three(repository: Repository) -> None:
    ledger = Ledger(repository, clock=Clock())
    with RunWriter.begin(ledger, ArtifactStore.of(repository), PLAN, Clock()) as writer:
        for number in (1, 2, 3):
            attempt = row_of(PLAN, "complete", number, "p")
            writer.started(attempt.attempt_id)
            writer.finished(attempt, ())


def rows_in(repository: Repository) -> list[str]:
    head = repository.head()
    assert head is not None
    text = read_book(repository, head)
    assert text.flaws == ()
    return [
        line.record.attempt_id
        for page in text.pages
        for line in page.lines
        if isinstance(line.record, Attempt)
    ]


def assert_only_added(top: Path) -> None:
    assert (
        git(
            top,
            "log",
            "-m",
            "--no-renames",
            "--diff-filter=DMRT",
            "--format=%h",
            "--",
            "ledger/*/*",
        )
        == ""
    )
    git(top, "fsck", "--strict")
