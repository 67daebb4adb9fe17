"""Rule 1, added only: no path of the book is ever changed, removed or retyped."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from evalbook.base.problems import Finding
from evalbook.records.pages import parse_artifact_path, parse_page_path
from evalbook.store.git import Repository
from evalbook.store.verify.contents import contents
from evalbook.store.verify.edits import describe_edit
from evalbook.store.verify.walk import Change, History, Step

RULE = "added-only"
NAMES = "well-formed"

_FILES = ("100644", "100755")
_KINDS = {"120000": "a symbolic link", "160000": "a submodule", "100755": "an executable file"}


Kind = Literal["page", "artifact"]


class Addition(NamedTuple):
    """A page or an artifact as it first came into the book."""

    path: str
    blob: str
    kind: Kind
    steps: tuple[int, ...]
    """Every step that added these bytes under this path; several where branches both did."""
    renamed_from: str | None = None
    """Set where the file is another of the book's under a new name, so that its records aren't new."""

    @property
    def evaluation(self) -> str:
        """The evaluation that its path names."""
        return self.path.split("/", 2)[1]


class Added(NamedTuple):
    """What the walk found."""

    additions: Mapping[str, Addition]
    """By path, in the order in which they came."""
    findings: tuple[Finding, ...]


class _Rewrite(NamedTuple):
    """A page whose bytes were replaced; told in words once both versions are read."""

    step: Step
    path: str
    old: str
    new: str
    message: str
    """With ``{}`` for what differs."""


def added_only(repository: Repository, history: History, missing: frozenset[str]) -> Added:
    """Return every file that was added to the book, and every edge that did anything else.

    One finding for each path of a commit: a merge that drops a page which several parents have
    dropped it once.
    """
    additions: dict[str, Addition] = {}
    findings: dict[tuple[str, str], Finding] = {}
    rewrites: dict[tuple[str, str], _Rewrite] = {}
    for step in history.steps:
        for each in _judge(step, additions):
            path = str(each.path)
            if isinstance(each, _Rewrite):
                rewrites.setdefault((each.step.commit, path), each)
            else:
                findings.setdefault((step.commit, path), each)
    told = _told(repository, tuple(rewrites.values()), missing)
    return Added(additions, (*findings.values(), *told))


def _judge(step: Step, additions: dict[str, Addition]) -> Iterator[Finding | _Rewrite]:
    """Yield what is wrong with one commit, and note in ``additions`` what it brings."""
    new = _new_paths(step)
    targets = {change.new_blob: path for path, change in new.items() if _kind(path)}
    origins: dict[str, str] = {}
    for parent, edge in enumerate(step.edges, 1):
        for change in edge:
            if change.status == "D" and _kind(change.path):
                origins.setdefault(change.old_blob, change.path)
            if change.status != "A" and _is_book(change.path):
                yield _altered(step, parent, change, targets)
            elif change.status not in "AD" or change.path in new:
                yield from _strange(step, change)
    for path, change in new.items():
        if step.is_merge and _is_book(path):
            yield _finding(step, path, "added in a merge: no parent has it")
        kind = _kind(path)
        if kind and change.new_mode in _FILES:
            file = Addition(
                path, change.new_blob, kind, (step.number,), origins.get(change.new_blob)
            )
            yield from _note(step, file, additions)


def _note(step: Step, file: Addition, additions: dict[str, Addition]) -> Iterator[_Rewrite]:
    known = additions.setdefault(file.path, file)
    if known is file:
        return
    if known.blob == file.blob:
        additions[file.path] = known._replace(steps=(*known.steps, step.number))
    else:
        told = "page added again with other bytes: {}"
        yield _Rewrite(step, file.path, known.blob, file.blob, told)


def _new_paths(step: Step) -> dict[str, Change]:
    """Return what the commit itself brings: in a merge, what no parent has."""
    if not step.is_merge:
        return {change.path: change for change in step.edges[0] if change.status == "A"}
    seen = Counter(change.path for edge in step.edges for change in edge if change.status == "A")
    return {
        change.path: change
        for change in step.edges[0]
        if change.status == "A" and seen[change.path] == len(step.edges)
    }


def _is_book(path: str) -> bool:
    """Whether the path is ``ledger/*/…``: files directly in ``ledger/`` are no part of the book."""
    return path.startswith("ledger/") and path.count("/") > 1


@lru_cache(4_096)  # asked several times of each path, while its commit is judged
def _kind(path: str) -> Kind | None:
    if parse_page_path(path) is not None:
        return "page"
    return "artifact" if parse_artifact_path(path) is not None else None


def _altered(
    step: Step, parent: int, change: Change, renamed: Mapping[str, str]
) -> Finding | _Rewrite:
    """Return what was done to a path of the book that the parent has."""
    what = _kind(change.path) or "file"
    merge = " in a merge" if step.is_merge else ""
    if change.status == "D":
        target = renamed.get(change.old_blob)
        if target:
            return _finding(step, change.path, f"{what} renamed{merge} to {target}")
        if step.is_merge:
            return _finding(step, change.path, f"{what} dropped in a merge: parent {parent} has it")
        return _finding(step, change.path, f"{what} deleted")
    if change.status == "T":
        kind = _KINDS.get(change.new_mode, "a regular file")
        return _finding(step, change.path, f"{what} turned into {kind}{merge}")
    if change.old_blob == change.new_blob:
        modes = f"from {change.old_mode} to {change.new_mode}"
        return _finding(step, change.path, f"mode of the {what} changed{merge} {modes}")
    if step.is_merge and any(all(c.path != change.path for c in edge) for edge in step.edges):
        merge = f" by a merge that takes another version than parent {parent} has"
    return _Rewrite(
        step, change.path, change.old_blob, change.new_blob, f"{what} edited{merge}: {{}}"
    )


def _strange(step: Step, change: Change) -> Iterator[Finding]:
    """Yield what is wrong with a path that is new, or that is no part of the book."""
    path, kind = change.path, _KINDS.get(change.new_mode)
    if path != "ledger" and not path.startswith("ledger/"):
        yield _finding(
            step, path, "differs from ledger/ only by case: some systems take both for one"
        )
    elif not _is_book(path):
        if kind and (path == "ledger" or change.new_mode != "100755"):
            yield _finding(step, path, f"{kind} stands where the book or an evaluation should")
        elif path == "ledger":
            yield _finding(step, path, "a file stands where the book should")
    elif kind:
        yield _finding(step, path, f"added as {kind}")
    elif not _kind(path):
        lower = path.lower()
        case = lower != path and _kind(lower) is not None
        why = f"differs from {lower} only by case" if case else "is the name of no page or artifact"
        yield Finding("violation", NAMES, why, step.commit, path)


def _told(
    repository: Repository, rewrites: tuple[_Rewrite, ...], missing: frozenset[str]
) -> Iterator[Finding]:
    wanted = [blob for each in rewrites for blob in (each.old, each.new)]
    read = contents(repository, wanted, missing=missing)
    for each, old, new in zip(rewrites, read, read, strict=True):
        line, how = None, "its bytes differ"
        if old is not None and new is not None and parse_page_path(each.path):
            line, how = describe_edit(old, new)
        yield _finding(each.step, each.path, each.message.format(how), line)


def _finding(step: Step, path: str, message: str, line: int | None = None) -> Finding:
    return Finding("violation", RULE, message, step.commit, path, line)
