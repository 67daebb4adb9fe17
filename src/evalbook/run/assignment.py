"""What one attempt is handed, and what it hands back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from evalbook.base.files import KeptFile
from evalbook.records.attempt import Attempt
from evalbook.records.plan import PlannedAttempt
from evalbook.run.evaluations import LoadedConfig, LoadedTask
from evalbook.run.outside import Outside
from evalbook.run.workspace import Snapshot


class Refs(NamedTuple):
    """The frozen references that a row carries, as its plan has them."""

    config_ref: str
    input_sha256: str
    initial_state_ref: str
    grader_ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptJob:
    """Everything one attempt needs, picklable: it may be executed in another process or elsewhere."""

    attempt_id: str
    planned: PlannedAttempt
    refs: Refs
    condition: Literal["live", "replayed", "unknown"]
    task: LoadedTask
    config: LoadedConfig
    evaluation_folder: Path
    run_folder: Path
    """Where the run keeps snapshots and workspaces; never inside the evaluation."""
    start: Snapshot
    grading: Snapshot
    """``expected/``, ``grader.py`` and whatever else grades, as frozen."""
    own_files: Mapping[str, str] = field(default_factory=dict)
    """The config's files in the evaluation's folder, and their SHA-256 as frozen."""
    outside: tuple[Outside, ...] = ()
    earlier: Mapping[str, str] = field(default_factory=dict)
    """Ids of attempts at the same task that were made before, and the SHA-256 of their rows."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the agent is handed on; secrets among it, which is why it is not shown."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names and values that are scrubbed from everything that is kept."""
    clock: Callable[[], datetime]
    """Picklable, so a function of a module."""


class AttemptOutcome(NamedTuple):
    """The row of an attempt, and the files it is to be kept with."""

    attempt: Attempt
    files: tuple[KeptFile, ...]
    folders: tuple[Path, ...] = ()
    """What can be removed once the files are stored."""
