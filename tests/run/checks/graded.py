"""A graded workspace for tests: name the files, declare one check, get its outcome."""

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from evalbook.records.attempt import CheckOutcome, TouchedFile
from evalbook.records.checks import Check
from evalbook.run.checks.grade import GradeContext, grade

_CHECK = TypeAdapter[Check](Check)
Files = Mapping[str, str | bytes]


def check_of(kind: str, **facts: Any) -> Check:
    """A check as TOML would declare it, read as the loader reads it."""
    return _CHECK.validate_json(json.dumps({"name": "it", "kind": kind, **facts}))


def lay(folder: Path, files: Files) -> Path:
    """Write files below a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


class Desk:
    """One attempt's folders; `workspace` may be booby-trapped before `outcome` is asked for."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.workspace = lay(top / "workspace", {})
        self.task = lay(top / "evaluation" / "tasks" / "t", {})
        lay(top / "start", {})
        self.scrub: Callable[[str], str] = str
        self.touched: tuple[TouchedFile, ...] = ()
        self.elapsed = Decimal("1.5")
        self._graded = 0

    def outcomes(self, checks: Sequence[Check]) -> tuple[CheckOutcome, ...]:
        """Grade with the real grader; every call has a scratch folder of its own."""
        self._graded += 1
        scratch = lay(self.top / f"scratch-{self._graded}", {})
        context = GradeContext(
            workspace=self.workspace,
            start=self.top / "start",
            task_folder=self.task,
            evaluation_folder=self.top / "evaluation",
            touched=self.touched,
            elapsed_seconds=self.elapsed,
            scratch=scratch,
            scrub=self.scrub,
            trace=None,
        )
        found = grade(checks, context)
        assert list(scratch.iterdir()) == [], "a check left something behind"
        assert not [each for each in found if "broke down" in each.actual], "a bug in a check"
        return found

    def outcome(self, kind: str, **facts: Any) -> CheckOutcome:
        """The outcome of one check."""
        return self.outcomes([check_of(kind, **facts)])[0]

    def with_files(self, left: Files, expected: Files | None = None) -> "Desk":
        """Lay what the agent left, and the references."""
        lay(self.workspace, left)
        lay(self.task / "expected", expected or {})
        return self
