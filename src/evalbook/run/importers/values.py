"""What is asked of an import, what a reader finds in a source, and what comes of both."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze, Rules
from evalbook.records.fields import Setting
from evalbook.records.plan import Plan, SourceFile
from evalbook.records.task import MaterialFreeze, Part
from evalbook.run.importers.cells import Cells

UNKNOWN = "unknown"
"""What a reference says that the source does not show."""

Freeze = EvaluationFreeze | ConfigFreeze | MaterialFreeze


class ImportRequest(NamedTuple):
    """What was asked for, and by whom."""

    evaluation: str
    """Name of the evaluation that the rows go into."""
    config: str | None
    """Name of the config; None: as the source says."""
    version: str | None
    """Label of its version; None: as the source says."""
    person: str
    at: str
    """The instant of the import."""
    rules: Rules | None
    """As agreed in the evaluation's own file; None: there is none, so nothing may be excluded."""
    reason: str
    tool: str
    """``evalbook`` and its version."""
    title: str | None
    """Of the evaluation; None: its name."""
    constructed: bool
    """Whether the results are made up to show something."""


class Material(NamedTuple):
    """What a source shows of one task."""

    task_id: str
    title: str
    """The task's id as the source writes it."""
    origin: str
    """The collection it is from, as exact as the source says; one origin, one set of material."""
    parts: tuple[Part, ...] = ()
    input_sha256: str = UNKNOWN
    initial_state_ref: str = UNKNOWN
    grader_ref: str = UNKNOWN
    instruction: str = ""

    @property
    def seen(self) -> bool:
        """Whether the source shows anything of it but the name."""
        return any(ref != UNKNOWN for ref in self[4:7])


class FoundConfig(NamedTuple):
    """What a source says of the agent's configuration."""

    name: str
    label: str
    settings: tuple[Setting, ...]
    """Sorted by key; empty where the source shows none."""
    sha256: str | None = None
    """Where the source states the digest; None: it is made from the settings."""


class FoundRow(NamedTuple):
    """One attempt of a source, before it has an id in the book."""

    cells: Cells
    """Where it stands, for errors."""
    position: int
    """0-based index in the file."""
    task_id: str
    number: int
    """From 1, inside task and run."""
    key: str
    """What tells it from the other rows of its run, in the source's words."""
    fields: Mapping[str, Any]
    """Fields of the row that the source fills."""
    raw: tuple[Setting, ...]
    """The source's own words for the verdict."""
    request_key: str | None = None
    """Full key of the attempt whose request it served too; None: its own request."""
    rerun_key: str | None = None
    """Full key of the attempt that it reruns."""


class FoundRun(NamedTuple):
    """One run of a source, before it has an id in the book."""

    identity: str
    """``format:run``; the same run has the same identity in any copy of the file. No ``/``."""
    shown: str
    """The file, as errors name it."""
    file: SourceFile
    config: FoundConfig
    started_at: str | None
    """None: the source did not say."""
    materials: Mapping[str, Material]
    """By task id, for every planned task."""
    planned: Mapping[str, frozenset[int]]
    """By task id, the numbers of the attempts that the source meant to make."""
    rows: tuple[FoundRow, ...]
    facts: tuple[Setting, ...] = ()
    """What else the source says of this run, sorted by key."""


class ImportedRun(NamedTuple):
    """One run that the book does not have yet."""

    plan: Plan
    attempts: tuple[Attempt, ...]
    """In the order of the source."""
    identity: str
    """``format:run``: all keys of its rows begin so."""


class Import(NamedTuple):
    """What some files say, in the book's words."""

    freezes: tuple[Freeze, ...]
    """The rules, then configs, then material: to be committed before the plans."""
    runs: tuple[ImportedRun, ...]
    """Originals before their reruns."""
    notes: tuple[str, ...]
    """For the person: what was seen that a figure does not show."""
    rules: Literal["agreed", "default"] = "default"
    """``default``: made up from what was found, since nothing was agreed."""
