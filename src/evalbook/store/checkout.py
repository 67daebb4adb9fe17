"""The user's own index and work tree, told of new pages without touching anything else in them."""

import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Literal

from evalbook.store.git import Repository
from evalbook.store.locks import CannotWriteError, home

_PATIENCE_S = 10.0
"""How long another program may hold git's own lock on the index before we say so."""
_POLL_S = 0.01


def scratch(repository: Repository, kind: str) -> Path:
    """Return a new name for a file of ours, in a folder that the holder of the lock empties."""
    folder = home(repository) / "scratch"
    folder.mkdir(exist_ok=True)
    return folder / f"{kind}-{uuid.uuid4().hex}"


@contextmanager
def index_lock(repository: Repository, token: Path) -> Iterator[None]:
    """Hold git's own lock on the user's index: the token, linked under the lock's name.

    A lock of ours is told from git's by being the same file as its token, and can be removed by
    whoever comes after a kill; git's own are never removed.

    Raises:
        CannotWriteError: when another program holds it for long.
    """
    lock = repository.git_dir / "index.lock"
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            os.link(token, lock)
            break
        except FileExistsError:
            if time.monotonic() > deadline:
                raise CannotWriteError(
                    f"{lock} has been there for {_PATIENCE_S:.0f} s: another git program is at"
                    " work, or one died",
                    hint="if no git program is running, delete that file; what is finished is kept",
                ) from None
            time.sleep(_POLL_S)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


class Checkout:
    """The index and the work tree of one repository."""

    def __init__(self, repository: Repository, top: Path) -> None:
        self._repository = repository
        self._top = top
        self._index = repository.git_dir / "index"
        self.seen: tuple[int, int, int] | None = None
        """Signature of the index that `take` or `knows` has last seen with our pages."""

    def refuse_obstacles(self, files: Mapping[str, bytes]) -> None:
        """Look whether every file can be put in its place.

        Raises:
            CannotWriteError: when a link, or something that is no such file, is in the way.
        """
        parents = {parent for path in files for parent in _parents(path)}
        for parent in sorted(parents):
            place = self._top / parent
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                what = "a symbolic link" if place.is_symlink() else "no folder"
                raise CannotWriteError(
                    f"{place} is {what}: the book must lie in the repository itself",
                    hint="move it away",
                )
        for path, content in files.items():
            place = self._top / path
            if place.is_symlink() or (place.exists() and not _holds(place, content)):
                raise CannotWriteError(f"{place} is in the way", hint="move it away")

    def index_with(self, blobs: Mapping[str, str]) -> Path:
        """Return a copy of the user's index that also knows the new paths.

        Call it while holding `index_lock`; `take` puts it in place.
        """
        index = scratch(self._repository, "index")
        env = {"GIT_INDEX_FILE": str(index)}
        with suppress(FileNotFoundError):
            shutil.copyfile(self._index, index)
        lines = "".join(f"100644 {blob}\t{path}\0" for path, blob in sorted(blobs.items()))
        self._repository.write(
            "update-index", "-z", "--index-info", stdin=os.fsencode(lines), env=env
        )
        away = set(blobs) - set(self.wanted(tuple(blobs)))
        if away:
            self._repository.write(
                "update-index", "-z", "--skip-worktree", "--stdin", stdin=_lines(sorted(away)), env=env
            )  # fmt: skip
        return index

    def index_without(self, paths: Sequence[str]) -> Path:
        """Return a copy of the user's index that does not know the paths any more."""
        index = scratch(self._repository, "index")
        with suppress(FileNotFoundError):
            shutil.copyfile(self._index, index)
        self._repository.write(
            "update-index", "-z", "--force-remove", "--stdin", stdin=_lines(paths),
            env={"GIT_INDEX_FILE": str(index)},
        )  # fmt: skip
        return index

    def take(self, index: Path) -> None:
        """Make a copy the user's index."""
        if self._index.exists():
            shutil.copymode(self._index, index)
        index.replace(self._index)
        self.seen = self.signature()

    def signature(self) -> tuple[int, int, int] | None:
        """Return what tells one index file from the next; None: there is none."""
        try:
            facts = self._index.stat()
        except FileNotFoundError:
            return None
        return (facts.st_ino, facts.st_mtime_ns, facts.st_size)

    def knows(self, path: str) -> bool:
        """Whether the user's index has ``path``; costs a look at the file while nobody writes it."""
        signature = self.signature()
        if signature != self.seen:
            if not self._repository.run("ls-files", "-z", "--", path).out:
                return False
            self.seen = signature
        return True

    def fill(self, files: Mapping[str, bytes]) -> tuple[Path, ...]:
        """Write the files into the work tree, and return those that were not there.

        What a sparse checkout leaves out is left out.

        Raises:
            CannotWriteError: when the system does not let us; nothing has been written then.
        """
        made: list[Path] = []
        try:
            for path in self.wanted(tuple(files)):
                place = self._top / path
                if not place.exists():
                    made.append(place)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    _beside(place).write_bytes(files[path])
                    _beside(place).replace(place)
        except OSError as error:
            self.clear(made)
            raise CannotWriteError(f"{made[-1]} can't be written: {error.strerror}") from None
        return tuple(made)

    def clear(self, made: Sequence[Path]) -> None:
        """Remove files that `fill` has written or begun, and the folders that are empty then."""
        for place in made:
            place.unlink(missing_ok=True)
            _beside(place).unlink(missing_ok=True)
            for parent in place.parents:
                if parent == self._top:
                    break
                try:
                    parent.rmdir()
                except OSError:
                    break

    def clear_begun(self, paths: Iterable[str]) -> None:
        """Remove what `fill` was writing when it was killed."""
        for path in paths:
            _beside(self._top / path).unlink(missing_ok=True)

    def same(self, files: Mapping[str, bytes]) -> tuple[Path, ...]:
        """Return the places that hold exactly what is said."""
        return tuple(
            self._top / path for path, content in files.items() if _holds(self._top / path, content)
        )

    def wanted(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the paths that a sparse checkout, where there is one, has in the work tree."""
        match self._sparse:
            case "no":
                return tuple(paths)
            case "patterns":
                return self._matching_patterns(paths)
            case "cone":
                listed = self._repository.run("sparse-checkout", "list", ok=(0, 128)).out
                folders = [os.fsdecode(raw) for raw in listed.splitlines()]
                return tuple(path for path in paths if _in_cone(path, folders))

    @cached_property
    def _sparse(self) -> Literal["no", "cone", "patterns"]:
        found = self._repository.run(
            "config", "--type=bool", "--get-regexp", r"^core\.sparsecheckout(cone)?$", ok=(0, 1)
        )
        settings = dict(line.split() for line in found.out.decode().splitlines())
        if settings.get("core.sparsecheckout") != "true":
            return "no"
        return "cone" if settings.get("core.sparsecheckoutcone") == "true" else "patterns"

    def _matching_patterns(self, paths: Sequence[str]) -> tuple[str, ...]:
        # Git before 2.40 can't say which paths its patterns mean: then the pages stay out of the
        # work tree, as if they did not match, and `git sparse-checkout reapply` brings them.
        found = self._repository.run(
            "sparse-checkout", "check-rules", "-z", stdin=_lines(paths), ok=range(256)
        )
        inside = set(found.out.split(b"\0")) if found.code == 0 else set()
        return tuple(path for path in paths if os.fsencode(path) in inside)


def _beside(place: Path) -> Path:
    """Return where a file is built; the name follows from its own, so that it is found again."""
    return place.with_name(f".{place.name}~evalbook")


def _lines(paths: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts)))


def _holds(place: Path, content: bytes) -> bool:
    return place.is_file() and place.read_bytes() == content


def _in_cone(path: str, folders: Sequence[str]) -> bool:
    """Whether a cone of these folders holds ``path``: all below them, the files directly above."""
    inside = path.rpartition("/")[0]
    return any(
        inside == folder or inside.startswith(f"{folder}/") or folder.startswith(f"{inside}/")
        for folder in folders
    )
