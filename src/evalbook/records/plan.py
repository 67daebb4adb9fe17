"""The plan of one run, committed before its first attempt."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from evalbook.records.evaluation import Rules
from evalbook.records.fields import (
    AttemptId,
    ConfigRef,
    Count,
    Frozen,
    Instant,
    Known,
    Label,
    Name,
    Person,
    Reason,
    RunId,
    Setting,
    Sha256,
    config_parts,
)


class PlannedAttempt(Frozen):
    """One attempt that is meant to happen."""

    number: Annotated[int, Field(ge=1)]
    """Last part of its attempt id."""
    seed: int | None = None
    rerun_of: AttemptId | None = None
    rerun_of_sha256: Sha256 | None = None


class PlannedTask(Frozen):
    """One task of a run, with the references that its rows must carry."""

    task_id: Name
    input_sha256: Known
    initial_state_ref: Known
    grader_ref: Known
    attempts: tuple[PlannedAttempt, ...] = Field(min_length=1)


class SourceFile(Frozen):
    """A result file that was read in."""

    format: Literal["tau-bench", "terminal-bench", "csv"]
    mapping: Annotated[int, Field(ge=1)]
    """Version of the importer's mapping from the source's words to ours."""
    name: str
    """File name without folders."""
    sha256: Sha256
    size: Count


class Plan(Frozen):
    """What one run will do: tasks × attempts, frozen references, seeds, conditions."""

    record: Literal["plan/1"]
    run_id: RunId
    evaluation: Name
    config: Name
    version: Label
    config_ref: ConfigRef
    planned_at: Instant
    planned_by: Person
    purpose: Literal["measure", "rerun", "import"]
    rules: Rules
    """As they stood then; an exclusion is judged by these."""
    seeds: Literal["fixed", "independent", "none", "unknown"]
    """``fixed``: repeatability of that one setting. ``independent``: everyday variation.
    ``none``: the agent takes no seed. ``unknown``: an import's source did not say."""
    condition: Literal["live", "replayed", "unknown"]
    tasks: tuple[PlannedTask, ...] = Field(min_length=1)
    """Sorted by task id."""
    tool: str
    """``evalbook`` and its version."""
    host: tuple[Setting, ...] = ()
    """What is known of the machine: operating system, Python, isolation."""
    sources: tuple[SourceFile, ...] = ()
    """The files an import was read from; empty for a run of our own."""
    reason: Reason | None = None
    """Why, where the run is a rerun."""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "Plan":
        parts = config_parts(self.config_ref)
        if (parts.name, parts.version) != (self.config, self.version):
            raise ValueError(f"config_ref {self.config_ref} is not {self.config}@{self.version}")
        names = [task.task_id for task in self.tasks]
        if names != sorted(set(names)):
            raise ValueError("tasks must be sorted by task_id, each once")
        return self

    def attempt_id(self, task_id: str, number: int) -> str:
        """Return the id of one planned attempt."""
        return f"{self.run_id}/{task_id}/{number}"

    @property
    def planned(self) -> int:
        """How many attempts are planned."""
        return sum(len(task.attempts) for task in self.tasks)
