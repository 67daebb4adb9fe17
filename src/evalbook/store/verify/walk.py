"""Every parent edge of every commit, and what it does to the book's paths."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalbook.store.git import Repository

LEDGER = ":(top,icase)ledger"
"""The book and whatever stands beside it under a name that differs only by case."""

# Upper and lower case are told apart by us, and a commit-graph file could name other parents than
# the commits themselves do.
_ENVIRONMENT = {"GIT_LITERAL_PATHSPECS": "0"}
_TRUTH = ("-c", "core.commitGraph=false")


class Change(NamedTuple):
    """What one edge does to one path."""

    status: str
    """``A`` added, ``D`` deleted, ``M`` modified, ``T`` retyped."""
    old_mode: str
    new_mode: str
    """``100644`` for every honest file, ``000000`` for none."""
    old_blob: str
    new_blob: str
    """Full object ids; all zeros for none."""
    path: str
    """From the top of the repository."""


class Step(NamedTuple):
    """One commit and what it does, seen from each of its parents."""

    number: int
    """Place in the walk, from 0; every parent that was walked has a smaller one."""
    commit: str
    parents: tuple[str, ...]
    edges: tuple[tuple[Change, ...], ...]
    """One for each parent, in their order; a root has one, against the empty tree."""

    @property
    def is_merge(self) -> bool:
        """Whether it joins lines of history."""
        return len(self.edges) > 1


class History(NamedTuple):
    """A walk, parents before children."""

    head: str
    steps: tuple[Step, ...]


def walk(repository: Repository, head: str, *, without: Sequence[str] = ()) -> History:
    """Return every commit that ``head`` reaches, less those that ``without`` reaches.

    All ids are full commit ids. Merges are compared with each parent, which `git log` leaves out;
    renames are not looked for, so that one shows as the deletion it is.

    Raises:
        UserError: when git can't read a commit or a tree.
    """
    listed = repository.run(
        *_TRUTH, "rev-list", "--topo-order", "--reverse", "--parents", head,
        *(f"^{each}" for each in without), "--",
    ).out.decode()  # fmt: skip
    commits = [tuple(line.split(" ")) for line in listed.splitlines()]
    pairs = [
        f"{commit} {parent}" if parent else commit
        for commit, *parents in commits
        for parent in parents or [""]
    ]
    edges = _edges(repository, pairs)
    steps = [
        Step(number, commit, tuple(parents), tuple(next(edges) for _ in parents or [""]))
        for number, (commit, *parents) in enumerate(commits)
    ]
    return History(head, tuple(steps))


def _edges(repository: Repository, pairs: Sequence[str]) -> Iterator[tuple[Change, ...]]:
    """Yield the changes of each pair; `--always` makes git answer for the empty ones too."""
    if not pairs:
        return
    out = repository.run(
        *_TRUTH, "diff-tree", "--stdin", "-r", "--always", "--root", "--raw", "--no-renames",
        "--ignore-submodules=none", "--no-abbrev", "-z", "--", LEDGER,
        stdin="".join(f"{pair}\n" for pair in pairs).encode(), env=_ENVIRONMENT,
    ).out  # fmt: skip
    items = iter(os.fsdecode(out).split("\0"))
    next(items)  # the first header
    changes: list[Change] = []
    for item in items:
        if item.startswith(":"):
            old_mode, new_mode, old_blob, new_blob, status = item[1:].split(" ")
            changes.append(Change(status, old_mode, new_mode, old_blob, new_blob, next(items)))
        else:  # the header of the next pair, or the end
            yield tuple(changes)
            changes = []
