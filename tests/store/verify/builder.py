"""Histories for tests, written by git itself, honest or not."""

import subprocess
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from tests.builders import PERSON, START, exclusion_of, plan_of, rows_of

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import Finding
from evalbook.base.times import instant
from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.fields import config_parts
from evalbook.records.pages import (
    Record,
    artifact_path,
    decisions_folder,
    materials_folder,
    page_bytes,
    page_kind,
    page_path,
    run_folder,
)
from evalbook.records.plan import Plan
from evalbook.records.task import MaterialFreeze
from evalbook.store.git import Repository
from evalbook.store.verify.verify import Verification, verify

FILE, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"


class Entry(NamedTuple):
    """One file of a tree; of a submodule, ``content`` is the commit it names."""

    content: bytes
    mode: str = FILE


class Leaf(NamedTuple):
    """One page, ready to be put into a tree."""

    path: str
    content: bytes


Files = Mapping[str, Entry]
Commit = int
"""Number of a commit in its `Past`, from 1."""


class Past:
    """A history in the making; nothing is in the repository before `write`."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.ids: Sequence[str] = ()
        self._trees: list[Files] = []
        self._parents: list[tuple[Commit, ...]] = []

    def commit(self, *added: Leaf, on: Sequence[Commit] | None = None) -> Commit:
        """Add a commit; its parents are ``on``, or the last one made.

        A merge has the files of all its parents, of the first where they differ.
        """
        return self.change({leaf.path: leaf.content for leaf in added}, on=on)

    def change(
        self, changes: Mapping[str, bytes | Entry | None], on: Sequence[Commit] | None = None
    ) -> Commit:
        """Add a commit with these files put in; None takes one out."""
        parents = ([len(self._trees)] if self._trees else []) if on is None else on
        files: dict[str, Entry] = {}
        for parent in reversed(parents):
            files |= self._trees[parent - 1]
        for path, content in changes.items():
            if content is None:
                del files[path]
            else:
                files[path] = content if isinstance(content, Entry) else Entry(content)
        self._trees.append(files)
        self._parents.append(tuple(parents))
        return len(self._trees)

    def rename(self, old: str, new: str) -> Commit:
        """Add a commit that gives one file another name."""
        return self.change({old: None, new: self.files()[old]})

    def files(self, commit: Commit | None = None) -> Files:
        """Return the files of a commit, or of the last."""
        return self._trees[(commit or len(self._trees)) - 1]

    def write(self, branch: str = "main", tip: Commit | None = None) -> str:
        """Write all commits and point ``branch`` at the last, or at ``tip``; return its id."""
        stream: list[bytes] = []
        for number, (files, parents) in enumerate(zip(self._trees, self._parents, strict=True), 1):
            stream += [
                b"reset refs/past/made\ncommit refs/past/made\nmark :%d\n" % number,
                b"committer Test Person <person@example.org> %d +0000\n" % (1_796_000_000 + number),
                b"data 0\n",
            ]
            stream += [
                b"%s :%d\n" % (b"merge" if place else b"from", parent)
                for place, parent in enumerate(parents)
            ]
            stream.append(b"deleteall\n")
            for path, entry in files.items():
                stream.append(_file(path, entry))
        stream += [b"get-mark :%d\n" % number for number in range(1, len(self._trees) + 1)]
        out = self.repository.run(
            "fast-import", "--quiet", "--force", "--cat-blob-fd=1", stdin=b"".join(stream)
        ).out
        self.ids = out.decode().split()
        self.repository.run("update-ref", "-d", "refs/past/made")
        head = self.id(tip or len(self._trees))
        self.repository.run("update-ref", f"refs/heads/{branch}", head)
        return head

    def id(self, commit: Commit) -> str:
        """Return the id of a commit that was written."""
        return self.ids[commit - 1]

    def verified(self, **options: Any) -> Verification:
        """Write everything and verify it."""
        return verify(self.repository, self.write(), **options)


def _file(path: str, entry: Entry) -> bytes:
    name = b'"' + path.encode().replace(b"\\", b"\\\\").replace(b"\n", b"\\n") + b'"'
    if entry.mode == SUBMODULE:
        return b"M 160000 " + entry.content + b" " + name + b"\n"
    head = b"M " + entry.mode.encode() + b" inline " + name
    return head + b"\ndata %d\n" % len(entry.content) + entry.content + b"\n"


def page(*records: Record, plan: Plan | None = None, second: int = 0) -> Leaf:
    """The page that holds ``records``, written ``second`` seconds after the start; rows with ``plan``."""
    first = records[0]
    match first:
        case Attempt() | Plan():
            run = plan or first
            assert isinstance(run, Plan)
            folder = run_folder(run.evaluation, run.config, run.run_id)
        case EvaluationFreeze() | ConfigFreeze() | MaterialFreeze():
            folder = materials_folder(first.evaluation)
        case _:
            folder = decisions_folder(first.evaluation, first.decided_at)
    content = page_bytes(records)
    written = instant(START + timedelta(seconds=second))
    return Leaf(page_path(folder, written, page_kind(records), content), content)


def edited(leaf: Leaf) -> bytes:
    """The content of a page with every failure made a pass: of a story's first page, line 2."""
    return leaf.content.replace(b'"verdict":"fail"', b'"verdict":"pass"')


def artifact(content: bytes, evaluation: str = "inventory") -> Leaf:
    """A small file in the ledger."""
    return Leaf(artifact_path(evaluation, sha256_hex(content)), content)


def freeze_of(plan: Plan) -> Leaf:
    """The page that freezes everything that ``plan`` rests on."""
    return page(rules_freeze(plan), config_freeze(plan), *material_freezes(plan))


def rules_freeze(plan: Plan, **changes: Any) -> EvaluationFreeze:
    facts: dict[str, Any] = {
        "record": "evaluation/1", "evaluation": plan.evaluation, "title": "Inventory",
        "constructed": True, "rules": plan.rules.model_dump(), "sha256": sha256_hex(b"rules"),
        "tasks": len(plan.tasks), **_STAMP,
    }  # fmt: skip
    return EvaluationFreeze.model_validate(facts | changes)


def config_freeze(plan: Plan, **changes: Any) -> ConfigFreeze:
    name, version, sha256 = config_parts(plan.config_ref)
    facts: dict[str, Any] = {
        "record": "config/1", "evaluation": plan.evaluation, "config": name, "version": version,
        "sha256": sha256, "settings": (), **_STAMP,
    }  # fmt: skip
    return ConfigFreeze.model_validate(facts | changes)


def material_freezes(plan: Plan, **changes: Any) -> tuple[MaterialFreeze, ...]:
    return tuple(
        MaterialFreeze.model_validate(
            {
                "record": "material/1", "evaluation": plan.evaluation, "task_id": task.task_id,
                "title": task.task_id, "parts": (), "input_sha256": task.input_sha256,
                "initial_state_ref": task.initial_state_ref, "grader_ref": task.grader_ref,
                "sha256": sha256_hex(task.task_id.encode()), **_STAMP,
            } | changes
        )
        for task in plan.tasks
    )  # fmt: skip


_STAMP = {"reason": "first freeze", "frozen_by": PERSON, "frozen_at": instant(START)}


def clone(repository: Repository, folder: Path, *options: str) -> Repository:
    """Clone as anyone does, through git's own transport; close what comes back."""
    source = repository.git_dir.as_uri()
    subprocess.run(["git", "clone", "--quiet", *options, source, str(folder)], check=True)
    return Repository(folder)


def of_rule(seen: Verification, rule: str) -> tuple[Finding, ...]:
    """What was found by one rule."""
    return tuple(finding for finding in seen.findings if finding.rule == rule)


class Story(NamedTuple):
    """An honest book to attack: freeze, plan, two pages of rows, one exclusion, a commit each."""

    past: Past
    plan: Plan
    rows: tuple[Attempt, ...]
    """Three tries at ``complete``, then two at ``missing``, the last an infrastructure error."""
    freeze: Leaf
    planned: Leaf
    first: Leaf
    """Rows 0 to 2."""
    second: Leaf
    """Rows 3 and 4."""
    excluded: Leaf
    """The exclusion of row 4."""


def story(repository: Repository) -> Story:
    """An honest book of five commits; the last one excludes an infrastructure error."""
    plan = plan_of({"complete": 3, "missing": 2})
    rows = tuple(rows_of(plan, {"complete": "pfp", "missing": "pi"}))
    leaves = (
        freeze_of(plan), page(plan), page(*rows[:3], plan=plan), page(*rows[3:], plan=plan),
        page(exclusion_of(rows[4])),
    )  # fmt: skip
    past = Past(repository)
    for leaf in leaves:
        past.commit(leaf)
    return Story(past, plan, rows, *leaves)
