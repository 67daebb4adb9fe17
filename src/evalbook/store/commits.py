"""One commit that adds files, made without touching what the user has staged or changed.

The commit is built on a private index and the branch is moved by compare-and-swap. The user's own
index learns of the new paths in the same breath, while its lock is ours: otherwise their next plain
commit would delete the page. An intent on disk lets the next command finish what a kill cut short.
"""

import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from evalbook.base.files import write_whole
from evalbook.base.problems import UserError
from evalbook.store.git import Repository

_PATIENCE_S = 10.0
"""How long another program may hold git's own locks before we say so."""
_LOCK_S = 300.0
"""How long other evalbook processes may hold ours: each holds it for some 50 ms."""

_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


class NewFiles(NamedTuple):
    """What one commit adds."""

    files: Mapping[str, bytes]
    """Path from the top to content; none of the paths exists yet, or it holds the same bytes."""
    message: bytes


class Target(NamedTuple):
    """The branch that is checked out."""

    ref: str
    tip: str | None
    """None: unborn."""


def target(repository: Repository) -> Target:
    """Return the branch a commit would go to.

    Raises:
        UserError: on a detached HEAD, during a merge, rebase, cherry-pick, revert or bisection, and
            in a bare repository.
    """
    if repository.work_tree is None:
        raise UserError("a bare repository has no branch checked out", hint="write from a clone")
    for name, what in _UNDER_WAY.items():
        if (repository.git_dir / name).exists():
            raise UserError(
                f"{what} is under way in {repository.work_tree}: a commit now would become part of it",
                hint="finish or abort it (`git status` tells how); what is finished is kept until then",
            )
    ref = repository.head_ref()
    if ref is None:
        raise UserError(
            "HEAD is detached: a commit here would belong to no branch",
            hint="check out a branch, say `git switch main`; what is finished is kept until then",
        )
    return Target(ref, repository.head())


@contextmanager
def writing(repository: Repository) -> Iterator[None]:
    """Be the only evalbook process that writes to this repository.

    Raises:
        UserError: when another one holds the lock for minutes.
    """
    folder = repository.common_dir / "evalbook"
    folder.mkdir(exist_ok=True)
    lock = FileLock(folder / "lock", timeout=_LOCK_S)
    try:
        with lock:
            yield
    except Timeout:
        raise UserError(
            f"another evalbook process holds {folder / 'lock'}", hint="try again later"
        ) from None


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


def commit_files(repository: Repository, new: NewFiles) -> str:
    """Add files in one commit on the branch that is checked out, and return the commit's id.

    Call it within `writing`. Hooks are not run; signing is as ``commit.gpgsign`` says.

    Raises:
        UserError: where `target` does, or when a lock of git's own stays held.
    """
    while True:
        commit = commit_onto(repository, target(repository), new)
        if commit is not None:
            return commit


def commit_onto(repository: Repository, where: Target, new: NewFiles) -> str | None:
    """Add files in one commit right after ``where``, or return None when the branch has moved on."""
    commit = _build(repository, where, new)
    blobs = dict(_blob_ids(repository, commit, new.files))
    return commit if move_branch(repository, where, commit, new.files, blobs) else None


def _build(repository: Repository, where: Target, new: NewFiles) -> str:
    private = repository.common_dir / "evalbook" / f"index-{uuid.uuid4().hex}"
    env = {"GIT_INDEX_FILE": str(private)}
    try:
        if where.tip:
            repository.run("read-tree", where.tip, env=env)
        lines = b"".join(
            b"100644 " + _store_blob(repository, content) + b"\t" + os.fsencode(path) + b"\0"
            for path, content in sorted(new.files.items())
        )
        repository.run("update-index", "-z", "--index-info", stdin=lines, env=env)
        tree = repository.run("write-tree", env=env).out.decode().strip()
    finally:
        for leftover in (private, Path(f"{private}.lock")):
            leftover.unlink(missing_ok=True)
    sign = ["-S"] if _signs(repository) else []
    parent = ["-p", where.tip] if where.tip else []
    made = repository.run("commit-tree", *sign, *parent, "-F", "-", tree, stdin=new.message)
    return made.out.decode().strip()


def _store_blob(repository: Repository, content: bytes) -> bytes:
    return repository.run("hash-object", "-w", "--no-filters", "--stdin", stdin=content).out.strip()


def _signs(repository: Repository) -> bool:
    found = repository.run("config", "--type=bool", "--get", "commit.gpgsign", ok=(0, 1))
    return found.out.strip() == b"true"


def signs_commits(repository: Repository) -> bool:
    """Whether the user has git sign every commit."""
    return _signs(repository)


def _blob_ids(
    repository: Repository, commit: str, files: Mapping[str, bytes]
) -> Iterator[tuple[str, str]]:
    listed = repository.run("ls-tree", "-z", "--full-tree", commit, "--", *sorted(files)).out
    for raw in listed.split(b"\0")[:-1]:
        facts, _, path = raw.partition(b"\t")
        yield os.fsdecode(path), facts.split(b" ")[2].decode()


def move_branch(
    repository: Repository,
    where: Target,
    commit: str,
    files: Mapping[str, bytes],
    blobs: Mapping[str, str],
) -> bool:
    """Move the branch to ``commit`` if it is still where it was, and bring index and work tree along.

    Returns False when somebody else moved the branch meanwhile; nothing has changed then.
    """
    if repository.work_tree is None:
        raise UserError("a bare repository has no branch checked out")
    _refuse_links(repository.work_tree)
    intent = _Intent(repository)
    intent.settle()
    token = intent.declare(where.ref, commit, blobs)
    with _index_lock(repository, token):
        index = _index_with(repository, blobs)
        try:
            zeros = "0" * len(commit)
            moved = repository.run(
                "update-ref", "-m", "evalbook: add to the book", where.ref, commit, where.tip or zeros,
                ok=(0, 1, 128),
            )  # fmt: skip
            if moved.code:
                if repository.head() == where.tip:
                    raise UserError(
                        f"git can't move {where.ref}: {moved.err.strip().splitlines()[-1]}"
                    )
                return False
            _fill_work_tree(repository, files)
            index.replace(repository.git_dir / "index")
        finally:
            index.unlink(missing_ok=True)
            intent.withdraw()
    return True


class _Intent:
    """What the process that holds the write lock is about to do, for whoever comes after a kill."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._file = repository.common_dir / "evalbook" / "intent.json"

    def declare(self, ref: str, commit: str, blobs: Mapping[str, str]) -> Path:
        """Write down what is to happen; returns the file that becomes the index's lock."""
        token = self._repository.git_dir / f"evalbook-{uuid.uuid4().hex}~"
        token.touch()
        said = {
            "git_dir": str(self._repository.git_dir), "token": str(token), "inode": token.stat().st_ino,
            "ref": ref, "commit": commit, "blobs": dict(blobs),
        }  # fmt: skip
        write_whole(self._file, json.dumps(said).encode())
        return token

    def is_declared(self) -> bool:
        return self._file.exists()

    def withdraw(self) -> None:
        self._file.unlink(missing_ok=True)

    def settle(self) -> None:
        """Finish or undo what a killed process had begun: its lock, and the index it left behind."""
        try:
            said = json.loads(self._file.read_bytes())
        except (FileNotFoundError, ValueError):
            return
        git_dir = Path(said["git_dir"])
        lock = git_dir / "index.lock"
        with suppress(OSError):
            if (
                lock.stat().st_ino == said["inode"]
            ):  # ours, by the very file; git's own is not touched
                lock.unlink()
        Path(said["token"]).unlink(missing_ok=True)
        for leftover in git_dir.glob("evalbook-index-*"):
            leftover.unlink(missing_ok=True)
        self._file.unlink(missing_ok=True)
        if git_dir.is_dir():
            _catch_up(Path(said["git_dir"]), said["ref"], said["commit"], said["blobs"])


def _catch_up(git_dir: Path, ref: str, commit: str, blobs: Mapping[str, str]) -> None:
    """Tell the index of a work tree about pages that its branch has and it has not."""
    with Repository(_work_tree_of(git_dir)) as repository:
        tip = repository.head()
        if tip is None or repository.head_ref() != ref or repository.work_tree is None:
            return
        if repository.run("merge-base", "--is-ancestor", commit, tip, ok=(0, 1, 128)).code:
            return  # the branch was never moved: the rows are still in the journal
        token = git_dir / f"evalbook-{uuid.uuid4().hex}~"
        token.touch()
        with _index_lock(repository, token):
            files = dict(zip(blobs, repository.blobs(blobs.values()), strict=True))
            index = _index_with(repository, blobs)
            _fill_work_tree(repository, files)
            index.replace(git_dir / "index")


def _work_tree_of(git_dir: Path) -> Path:
    pointer = git_dir / "gitdir"  # a linked work tree says here where its .git file lies
    return Path(pointer.read_text().strip()).parent if pointer.is_file() else git_dir.parent


def settle(repository: Repository) -> None:
    """Finish or undo what a killed process had begun; costs one look at the disk when there is nothing."""
    intent = _Intent(repository)
    if intent.is_declared():
        with writing(repository):
            intent.settle()


@contextmanager
def _index_lock(repository: Repository, token: Path) -> Iterator[None]:
    """Hold git's own lock on the user's index: the token linked under the lock's name."""
    lock = repository.git_dir / "index.lock"
    deadline = time.monotonic() + _PATIENCE_S
    try:
        while True:
            try:
                os.link(token, lock)
                break
            except FileExistsError:
                if time.monotonic() > deadline:
                    raise UserError(
                        f"{lock} has been there for {_PATIENCE_S:.0f} s: another git program is at work, "
                        "or one died",
                        hint="if no git program is running, delete that file; what is finished is kept",
                    ) from None
                time.sleep(0.02)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
    finally:
        token.unlink(missing_ok=True)


def _index_with(repository: Repository, blobs: Mapping[str, str]) -> Path:
    """Return a copy of the user's index that also knows the new paths."""
    index = repository.git_dir / f"evalbook-index-{uuid.uuid4().hex}"
    env = {"GIT_INDEX_FILE": str(index)}
    try:
        if (repository.git_dir / "index").exists():
            shutil.copyfile(repository.git_dir / "index", index)
        lines = "".join(f"100644 {blob}\t{path}\0" for path, blob in sorted(blobs.items()))
        repository.run("update-index", "-z", "--index-info", stdin=os.fsencode(lines), env=env)
        away = [path for path in sorted(blobs) if not _checked_out(repository, path)]
        if away:
            names = "".join(f"{path}\0" for path in away)
            repository.run(
                "update-index",
                "-z",
                "--skip-worktree",
                "--stdin",
                stdin=os.fsencode(names),
                env=env,
            )
    except BaseException:
        index.unlink(missing_ok=True)
        raise
    return index


def _checked_out(repository: Repository, path: str) -> bool:
    """Whether a sparse checkout, where there is one, wants this path in the work tree."""
    if repository.setting("core.sparseCheckout") != "true":
        return True
    if repository.setting("core.sparseCheckoutCone") == "false":
        return False
    listed = repository.run("sparse-checkout", "list", ok=(0, 128)).out
    folders = [os.fsdecode(raw) for raw in listed.splitlines()]
    inside = path.rpartition("/")[0]
    return any(
        inside == f or inside.startswith(f"{f}/") or f.startswith(f"{inside}/") for f in folders
    )


def _fill_work_tree(repository: Repository, files: Mapping[str, bytes]) -> None:
    top = repository.work_tree
    for path, content in files.items():
        if top is not None and _checked_out(repository, path):
            write_whole(top / path, content)


def _refuse_links(top: Path) -> None:
    if (top / "ledger").is_symlink():
        raise UserError(
            f"{top / 'ledger'} is a symbolic link",
            hint="the book must lie in the repository itself",
        )
