"""A task and its frozen material."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from evalbook.records.checks import Check, Glob
from evalbook.records.fields import (
    FileDigest,
    Frozen,
    Instant,
    Known,
    Name,
    Person,
    Reason,
    Sha256,
    TimeLimit,
)

PartName = Literal["instruction", "input", "start", "expected", "grader", "proof"]
"""What a task's material is made of. ``proof``: solution and faults, which prove the grader."""


class Task(Frozen):
    """What ``task.toml`` says."""

    title: Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
    time_limit_s: TimeLimit
    """The agent is stopped then; the attempt is a timeout."""
    forbid: tuple[Glob, ...] = ()
    """Touching one of these fails the attempt, whatever else holds."""
    inputs: tuple[Glob, ...] = ("**",)
    """Which files of ``start/`` are the input; the others are surroundings."""
    restore: tuple[str, ...] = ()
    """Absolute folders or files (databases, caches, agent memory) set back after each attempt."""
    negative: bool = False
    """The right thing is to ask, to stop or to leave alone."""
    check: tuple[Check, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> "Task":
        names = [check.name for check in self.check]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two checks are named {twice[0]!r}")
        return self


class Part(Frozen):
    """One part of a task's material."""

    part: PartName
    sha256: Known
    """Of the part's files (`manifest_digest`) or, for an import, of what the source showed."""
    files: tuple[FileDigest, ...] = ()
    """Sorted by path; empty where a source did not hand over the files."""


class MaterialFreeze(Frozen):
    """The material of one task as it was frozen."""

    record: Literal["material/1"]
    evaluation: Name
    task_id: Name
    title: str
    negative: bool = False
    parts: tuple[Part, ...]
    """In the order of `PartName`; parts a task does not have are left out."""
    input_sha256: Known
    """Of instruction and input together: what the agent is given."""
    initial_state_ref: Known
    """Of the start state and of what is restored."""
    grader_ref: Known
    """Of the checks, their limits, ``expected/`` and ``grader.py``: what decides."""
    sha256: Sha256
    """Of all parts: stands for this set of frozen material."""
    instruction: str = ""
    """What the agent is told, as Markdown."""
    definition: str = ""
    """The task's rules and checks as canonical JSON; empty for an import."""
    reason: Reason
    frozen_by: Person
    frozen_at: Instant
    source: str | None = None
    """Where imported material was read from; none for our own."""
