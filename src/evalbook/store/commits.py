"""One commit that adds files, made without touching what the user has staged or changed.

The commit is built on a private index, the branch is moved by compare-and-swap, and the user's own
index and work tree learn of the new files in the same breath, while the lock on the index is ours:
otherwise their next plain commit would delete the page.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.store.checkout import Checkout, scratch
from evalbook.store.git import Repository
from evalbook.store.intent import Intent, index_held
from evalbook.store.locks import CannotWriteError
from evalbook.store.watch import keep_in_index

_LIGHT_TRIES = 3
"""After so many times that the branch moved under our hands, others are made to wait …"""
_TRIES = 100
"""… and after so many we give up."""

_REFLOG = "evalbook: add to the book"

_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase or `git am`",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or revert",
    "BISECT_LOG": "a bisection",
}


class NewFiles(NamedTuple):
    """What one commit adds."""

    files: Mapping[str, bytes]
    """Path from the top to content; none of the paths exists yet, or it holds the same bytes."""
    message: bytes
    needed: str | None = None
    """A folder or file that the branch must have: the plan of the rows that are added."""


class Target(NamedTuple):
    """The branch that is checked out."""

    ref: str
    tip: str | None
    """None: unborn."""


def target(repository: Repository) -> Target:
    """Return the branch a commit would go to.

    Raises:
        CannotWriteError: on a detached HEAD, during a merge, rebase, cherry-pick, revert or
            bisection, and in a bare repository.
    """
    _refuse_half_done(repository)
    ref = repository.head_ref()
    if ref is None:
        raise CannotWriteError(
            "HEAD is detached: a commit here would belong to no branch",
            hint="check out a branch, say `git switch main`; what is finished is kept until then",
        )
    return Target(ref, repository.head())


def _refuse_half_done(repository: Repository) -> Path:
    if repository.work_tree is None:
        raise CannotWriteError(
            "a bare repository has no branch checked out", hint="write from a clone"
        )
    for name, what in _UNDER_WAY.items():
        if (repository.git_dir / name).exists() or _is_ref(repository, name):
            raise CannotWriteError(
                f"{what} is under way in {repository.work_tree}: a commit now would become part of it",
                hint="finish or abort it (`git status` tells how); what is finished is kept until then",
            )
    return repository.work_tree


def _is_ref(repository: Repository, name: str) -> bool:
    """Whether a reftable, where there is one, holds a head that is otherwise a file."""
    if not name.endswith("_HEAD") or not (repository.common_dir / "reftable").is_dir():
        return False
    return repository.run("rev-parse", "--verify", "--quiet", name, ok=(0, 1)).code == 0


def identity(repository: Repository) -> str:
    """Return git's own identity for commits: ``Name <mail> seconds zone``.

    Raises:
        UserError: when git has none.
    """
    found = repository.run("var", "GIT_COMMITTER_IDENT", ok=(0, 128))
    if found.code:
        raise UserError(
            "git does not know who you are, and every record says who made it",
            hint='git config --global user.name "Your Name"; git config --global user.email you@example.org',
        )
    return os.fsdecode(found.out).strip()


class Move(NamedTuple):
    """Where a branch is to go, and what is new there."""

    commit: str
    files: Mapping[str, bytes]
    """Empty where the branch has everything already: then it stays."""
    blobs: Mapping[str, str]
    """Path to object id, of the same files."""


def commit_files(repository: Repository, new: NewFiles) -> str:
    """Add files in one commit on the branch that is checked out, and return its id.

    Where they are all there already, nothing is done and the tip's id returned. Call it
    within `writing`. Hooks are not run; signing is as ``commit.gpgsign`` says.

    Raises:
        CannotWriteError: as `advance` does, or when something is in the way.
    """
    return advance(repository, lambda where: _prepared(repository, where, new))


def commit_onto(repository: Repository, where: Target, new: NewFiles) -> str | None:
    """Add files in one commit right after ``where``; None when the branch has moved on meanwhile."""
    move = _prepared(repository, where, new)
    if not move.files:
        return move.commit
    checkout = Checkout(repository, _refuse_half_done(repository))
    with index_held(repository) as intent:
        moved = _move(repository, where, move, intent, checkout)
    if not moved:
        return None
    keep_in_index(repository, checkout, where.ref, move.blobs)
    return move.commit


def advance(repository: Repository, prepare: Callable[[Target], Move]) -> str:
    """Move the branch to what ``prepare`` makes on top of it, and return where it is then.

    Others may move the branch meanwhile; then it is prepared anew. Where they do so all the time,
    it is prepared while the index is locked, which makes other commits wait.

    Raises:
        CannotWriteError: where `target` does, or when a lock of git's own stays held, or a file
            can't be written; nothing has changed then.
    """
    for attempt in range(_TRIES):
        checkout = Checkout(repository, _refuse_half_done(repository))
        if attempt < _LIGHT_TRIES:
            where = target(repository)
            move = prepare(where)
            if not move.files:
                return move.commit
            with index_held(repository) as intent:
                moved = _move(repository, where, move, intent, checkout)
        else:
            with index_held(repository) as intent:
                where = target(repository)
                move = prepare(where)
                moved = not move.files or _move(repository, where, move, intent, checkout)
        if moved:
            keep_in_index(repository, checkout, where.ref, move.blobs)
            return move.commit
    raise CannotWriteError(
        f"the branch has moved {_TRIES} times while a commit was made", hint="try again later"
    )


def _prepared(repository: Repository, where: Target, new: NewFiles) -> Move:
    missing = _missing(repository, where.tip, new)
    if where.tip and not missing:
        return Move(where.tip, {}, {})
    # Told before anything is built, so that nothing is left over in the object store.
    Checkout(repository, _refuse_half_done(repository)).refuse_obstacles(missing)
    blobs = {
        path: repository.write(
            "hash-object", "-w", "--no-filters", "--stdin", stdin=content
        ).out.decode().strip()
        for path, content in missing.items()
    }  # fmt: skip
    return Move(_build(repository, where, blobs, new.message), missing, blobs)


def _missing(repository: Repository, tip: str | None, new: NewFiles) -> dict[str, bytes]:
    """Return the files that the tip does not have.

    Raises:
        CannotWriteError: when it has something else in their place, or lacks what is needed.
    """
    folders = {parent for path in new.files for parent in _folders(path)}
    asked = sorted({*new.files, *folders, *([new.needed] if new.needed else [])})
    there = _entries(repository, tip, asked) if tip else {}
    for folder in sorted(folders & there.keys()):
        if there[folder].kind != "tree":
            raise CannotWriteError(f"{folder} is a file in this branch, and must be a folder")
    if new.needed and new.needed not in there:
        raise CannotWriteError(
            f"this branch has no {new.needed}, which these rows belong to",
            hint="check out the branch that has it; what is finished is kept until then",
        )
    for path in sorted(new.files.keys() & there.keys()):
        if repository.run("cat-file", "blob", there[path].id, ok=(0, 128)).out != new.files[path]:
            raise CannotWriteError(f"{path} has other bytes in this branch, and is never changed")
    return {path: content for path, content in new.files.items() if path not in there}


class _Entry(NamedTuple):
    kind: str
    id: str


def _entries(repository: Repository, tip: str, paths: Sequence[str]) -> dict[str, _Entry]:
    listed = repository.run("ls-tree", "-z", "-t", "--full-tree", tip, "--", *paths).out
    found = {}
    for raw in listed.split(b"\0")[:-1]:
        facts, _, path = raw.partition(b"\t")
        _, kind, object_id = facts.decode().split(" ")
        found[os.fsdecode(path)] = _Entry(kind, object_id)
    return found


def _folders(path: str) -> list[str]:
    return [str(parent) for parent in Path(path).parents if parent.name]


def _build(
    repository: Repository, where: Target, blobs: Mapping[str, str], message: bytes
) -> str:  # fmt: skip
    env = {"GIT_INDEX_FILE": str(scratch(repository, "tree"))}
    if where.tip:
        repository.write("read-tree", where.tip, env=env)
    lines = "".join(f"100644 {blob}\t{path}\0" for path, blob in sorted(blobs.items()))
    repository.write("update-index", "-z", "--index-info", stdin=os.fsencode(lines), env=env)
    tree = repository.write("write-tree", env=env).out.decode().strip()
    Path(env["GIT_INDEX_FILE"]).unlink()
    sign = ["-S"] if signs_commits(repository) else []
    parent = ["-p", where.tip] if where.tip else []
    made = repository.write("commit-tree", *sign, *parent, "-F", "-", tree, stdin=message)
    return made.out.decode().strip()


def signs_commits(repository: Repository) -> bool:
    """Whether the user has git sign every commit."""
    found = repository.run("config", "--type=bool", "--get", "commit.gpgsign", ok=(0, 1))
    return found.out.strip() == b"true"


def _move(
    repository: Repository, where: Target, move: Move, intent: Intent, checkout: Checkout
) -> bool:
    """Move the branch if it is still where it was, and bring index and work tree along.

    Returns False when somebody else moved it or switched to another; nothing has changed then.
    A kill at any moment leaves the intent, from which the next process finishes or undoes.
    """
    _refuse_half_done(repository)  # the user may have begun one while we waited for the index
    checkout.refuse_obstacles(move.files)
    if repository.head_ref() != where.ref:
        return False
    intent.says(where.ref, move.commit, move.blobs)
    index = checkout.index_with(move.blobs)
    made = checkout.fill(move.files)
    try:
        with repository.dialogue("update-ref", "-m", _REFLOG, "--stdin") as ref:
            old = where.tip or "0" * len(move.commit)
            ref.say("start", f"update {where.ref} {move.commit} {old}", "prepare")
            moved = (ref.hear(), ref.hear()) == ("start: ok", "prepare: ok")
            if moved:
                # From here on nobody else can move the branch. The index comes before it, since
                # `git commit` reads HEAD first: it never sees a branch that has the page with an
                # index that has not, which it would take for a wish to delete it.
                checkout.take(index)
                ref.say("commit")
                if ref.hear() != "commit: ok":
                    checkout.take(checkout.index_without(tuple(move.blobs)))
                    moved = False
            if not moved:
                _refuse_stuck(repository, where, ref.end())
    except UserError:
        checkout.clear(made)
        raise
    if not moved:
        checkout.clear(made)
    return moved


def _refuse_stuck(repository: Repository, where: Target, complaint: str) -> None:
    """Tell why git could not move the branch, unless it is because others have moved it.

    Raises:
        CannotWriteError: when it is where it was.
    """
    if repository.head() != where.tip:
        return
    held = re.search(r"'([^']+\.lock)'", complaint)
    if held:
        raise CannotWriteError(
            f"{held[1]} is there: another git program is at work, or one died",
            hint="if no git program is running, delete that file; what is finished is kept",
        )
    last = (complaint.strip().splitlines() or ["no message"])[-1]
    raise CannotWriteError(f"git can't move {where.ref}: {last}")
