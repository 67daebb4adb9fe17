"""The only module that runs git.

Everything goes through GitPython's command layer, bytes in and bytes out: its object and index
classes fail on SHA-256, reftable and sparse-index repositories. User data never becomes an option;
it travels on standard input, after ``--end-of-options`` or ``--``.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, NamedTuple, Self, cast

from evalbook.base.problems import UserError

try:
    import git
except ImportError as error:  # GitPython looks for git while it is imported
    raise UserError("git is not on PATH", hint="install git 2.30 or newer") from error

_DROPPED = frozenset(
    {
        # Set by git for the programs it starts; in our own calls they would name another index,
        # work tree or folder than the one we were asked about. Quarantine variables are kept: a
        # pre-receive hook can't see the pushed objects without them.
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_WORK_TREE",
        "GIT_PREFIX",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_CEILING_DIRECTORIES",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_CONFIG_PARAMETERS",
        "GIT_EXTERNAL_DIFF",
        "GIT_DIFF_OPTS",
        "GIT_TRACE",
    }
)

_FIXED = {
    "GIT_NO_REPLACE_OBJECTS": "1",  # a replace ref would show other content than what is recorded
    # Grafts would hide commits from a walk. A file that is there, even an empty one, gets a warning.
    "GIT_GRAFT_FILE": f"{os.devnull}/none",
    "GIT_OPTIONAL_LOCKS": "0",  # reading must not contend for the index
    "GIT_LITERAL_PATHSPECS": "1",  # a file named *.jsonl is that file
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",  # git's own words, which some errors are told by
}


_WRITING = (
    # Hooks are for the user's own commits: one that fails, or changes files, has no say in the book.
    f"core.hooksPath={os.devnull}",
    # By default git leaves loose objects to the system's cache, and a power cut would take rows that
    # the journal has already forgotten. Git before 2.36 does not know the setting.
    "core.fsync=loose-object,pack,pack-metadata,reference",
    "core.filesRefLockTimeout=2000",  # the user's own commit may hold the branch for a moment
    "i18n.commitEncoding=UTF-8",  # our messages are, whatever theirs are in
)


class Output(NamedTuple):
    """What one git command left."""

    code: int
    out: bytes
    err: str


class TreeEntry(NamedTuple):
    """One file of a commit."""

    mode: str
    """``100644`` and so on."""
    blob: str
    """Full object id."""
    path: str


class Dialogue:
    """A git that waits for what it is told."""

    def __init__(self, mouth: IO[bytes], process: git.Git.AutoInterrupt) -> None:
        self._mouth = mouth
        self._process = process

    def say(self, *lines: str) -> None:
        """Tell it lines; one that has died hears nothing."""
        with suppress(BrokenPipeError):
            self._mouth.write("".join(f"{line}\n" for line in lines).encode())

    def hear(self) -> str:
        """Return its next line; empty when it has ended."""
        return os.fsdecode(self._process.stdout.readline()).rstrip("\n")

    def end(self) -> str:
        """Say no more, wait for its end, and return what it complained of."""
        self._mouth.close()
        if self._process.stderr.closed:
            return ""
        return os.fsdecode(self._process.communicate()[1])


class Repository:
    """One git repository: a work tree, a linked one, or bare. Close it, or use ``with``.

    Raises:
        UserError: when the folder is no repository, or git refuses to read it.
    """

    def __init__(self, folder: Path) -> None:
        folder = folder.resolve()
        if not folder.is_dir():
            raise UserError(f"{folder} is not a folder")
        for name in _DROPPED:
            # GitPython lays what we pass over os.environ and can't take a variable away.
            os.environ.pop(name, None)
        self._git = git.Git(str(folder))
        self._env: dict[str, str] = {}
        self.handed_down: tuple[int, ...] = ()
        """File descriptors that every git we start holds open too: locks that must outlive us."""
        found = self._identify({})
        if found.code and "safe.bareRepository" in found.err:
            found = self._identify({"GIT_DIR": str(folder)})
        if found.code:
            raise _no_repository(folder, found.err)
        git_dir, common, bare, self.object_format = os.fsdecode(found.out).splitlines()
        self.git_dir = Path(git_dir)
        """Absolute; of this work tree where there are several."""
        common_dir = Path(common)
        self.common_dir = (
            common_dir if common_dir.is_absolute() else (folder / common_dir).resolve()
        )
        """Absolute; shared by all linked work trees."""
        self.work_tree: Path | None = None
        """Absolute top of the work tree; None in a bare repository."""
        if bare == "false":
            top = self.run("rev-parse", "--show-toplevel", ok=(0, 128))
            self.work_tree = Path(os.fsdecode(top.out).rstrip("\n")) if top.code == 0 else None
        # Were the folder to vanish, git would otherwise look upward from the process's own folder.
        self._env = {"GIT_DIR": str(self.git_dir)}
        if self.work_tree is not None:
            self._env["GIT_WORK_TREE"] = str(self.work_tree)

    @classmethod
    def create(
        cls,
        folder: Path,
        *,
        object_format: str = "sha1",
        ref_format: str | None = None,
        branch: str = "main",
    ) -> Self:
        """Make ``folder`` a repository with an unborn ``branch`` and open it."""
        folder.mkdir(parents=True, exist_ok=True)
        options = [f"--object-format={object_format}", f"--initial-branch={branch}"]
        if ref_format:
            options.append(f"--ref-format={ref_format}")
        made = _execute(git.Git(str(folder)), ("init", "--quiet", *options), None, {})
        if made.code:
            raise UserError(f"git init failed in {folder}: {made.err.strip()}")
        return cls(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End whatever git still runs for us."""
        self._git.clear_cache()

    def _identify(self, env: Mapping[str, str]) -> Output:
        return self.run(
            "rev-parse", "--absolute-git-dir", "--git-common-dir", "--is-bare-repository",
            "--show-object-format", ok=(0, 128), env=env,
        )  # fmt: skip

    def run(
        self,
        *arguments: str,
        stdin: bytes | IO[bytes] | None = None,
        ok: Sequence[int] = (0,),
        env: Mapping[str, str] | None = None,
    ) -> Output:
        """Run ``git`` with ``arguments`` at the top of the repository.

        Raises:
            UserError: when it ends with a code that is not in ``ok``; the message is git's own.
        """
        output = _execute(
            self._git, arguments, stdin, {**self._env, **(env or {})}, self.handed_down
        )
        if output.code not in ok:
            name = next(word for word in arguments if word != "-c" and "=" not in word)
            lines = output.err.strip().splitlines() or ["no message"]
            raise UserError(f"git {name} failed ({output.code}): {lines[-1]}")
        return output

    def write(
        self,
        *arguments: str,
        stdin: bytes | IO[bytes] | None = None,
        ok: Sequence[int] = (0,),
        env: Mapping[str, str] | None = None,
    ) -> Output:
        """Run a ``git`` that writes: without the user's hooks, and durably.

        Raises:
            UserError: as `run` does.
        """
        settings = (word for setting in _WRITING for word in ("-c", setting))
        return self.run(*settings, *arguments, stdin=stdin, ok=ok, env=env)

    @contextmanager
    def dialogue(self, *arguments: str) -> Iterator["Dialogue"]:
        """Run a ``git`` that writes, and that is told what to do line by line.

        What it was not told by then to finish, it drops when the block ends, or when we die.
        """
        settings = (word for setting in _WRITING for word in ("-c", setting))
        heard, said = os.pipe()
        with os.fdopen(said, "wb", buffering=0) as mouth, os.fdopen(heard, "rb") as ear:
            process = self._git.execute(
                ["git", *settings, *arguments],
                istream=ear,
                as_process=True,
                env=_environment(self._env),
                start_new_session=True,
                pass_fds=self.handed_down,
            )
            ear.close()
            dialogue = Dialogue(mouth, process)
            try:
                yield dialogue
            finally:
                dialogue.end()

    def resolve(self, revision: str) -> str:
        """Return the full commit id that ``revision`` names.

        Raises:
            UserError: when it names no commit.
        """
        found = self.run(
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{revision}^{{commit}}",
            ok=(0, 1, 128),
        )
        if found.code:
            raise UserError(f"{revision!r} names no commit here", hint="see `git log --oneline`")
        return found.out.decode().strip()

    def head(self) -> str | None:
        """Return the commit id of HEAD, or None on an unborn branch."""
        found = self.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128))
        return found.out.decode().strip() if found.code == 0 else None

    def head_ref(self) -> str | None:
        """Return the full name of the checked-out branch (born or not), or None when detached."""
        found = self.run("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))
        return os.fsdecode(found.out).rstrip("\n") if found.code == 0 else None

    def is_shallow(self) -> bool:
        """Whether history was cut off when this repository was cloned."""
        return self.run("rev-parse", "--is-shallow-repository").out.strip() == b"true"

    def setting(self, name: str) -> str | None:
        """Return one value of git's configuration, or None where it is not set."""
        found = self.run("config", "--get", name, ok=(0, 1))
        return os.fsdecode(found.out).rstrip("\n") if found.code == 0 else None

    def files_at(self, commit: str, folder: str = "ledger") -> tuple[TreeEntry, ...]:
        """Return every entry below ``folder`` of a commit, sorted by path."""
        listed = self.run("ls-tree", "-r", "-z", "--full-tree", commit, "--", f"{folder}/").out
        entries = []
        for raw in listed.split(b"\0")[:-1]:
            facts, _, path = raw.partition(b"\t")
            mode, _, blob = facts.decode().split(" ")
            entries.append(TreeEntry(mode, blob, os.fsdecode(path)))
        return tuple(entries)

    def blobs(self, ids: Iterable[str]) -> Iterator[bytes]:
        """Yield the content of each object in the order given, read by one process.

        Raises:
            UserError: when an object is missing, as in a partial clone.
        """
        wanted = "".join(f"{each}\n" for each in ids).encode()
        out = self.run("cat-file", "--batch", "--buffer", stdin=wanted).out if wanted else b""
        at = 0
        while at < len(out):
            end = out.index(b"\n", at)
            words = out[at:end].split()
            if len(words) == len(("id", "missing")):
                raise UserError(
                    f"object {words[0].decode()} is missing in this repository",
                    hint="a partial clone lacks file contents: clone again without --filter",
                )
            size = int(words[2])
            yield out[end + 1 : end + 1 + size]
            at = end + 1 + size + 1


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    return {**_FIXED, **env}


def _execute(
    command: git.Git,
    arguments: Sequence[str],
    stdin: bytes | IO[bytes] | None,
    env: Mapping[str, str],
    handed_down: Sequence[int] = (),
) -> Output:
    with tempfile.TemporaryFile() as given:
        if isinstance(stdin, bytes):
            given.write(stdin)
            given.seek(0)
        source = stdin if stdin is not None and not isinstance(stdin, bytes) else given
        code, out, err = command.execute(
            ["git", *arguments],
            istream=cast("BinaryIO", source),
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            env=_environment(env),
            # Ctrl-C and a kill of our process group must not stop git between two renames.
            start_new_session=True,
            pass_fds=handed_down,
        )
    return Output(code, out, err)


def _no_repository(folder: Path, err: str) -> UserError:
    if "dubious ownership" in err:
        return UserError(
            f"git does not trust {folder}: it belongs to another user",
            hint=f"git config --global --add safe.directory {folder}",
        )
    if "safe.bareRepository" in err:
        return UserError(f"git is told not to use bare repositories, and {folder} is in one")
    return UserError(f"{folder} is not in a git repository", hint="run `evalbook init` there")
