"""The rules of an evaluation, agreed before anything runs."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from evalbook.records.fields import (
    Count,
    DecimalInput,
    Frozen,
    Instant,
    Label,
    Name,
    Person,
    Reason,
    Sha256,
    TimeLimit,
)

ExclusionGround = Literal["infra_error", "timeout", "unjudged"]
"""What an attempt may be excluded for, where the evaluation agreed to it beforehand.

``infra_error`` and ``timeout`` are verdicts; ``unjudged`` is any attempt whose grader or source
gave no verdict of its own.
"""


class Weight(Frozen):
    """How much one task counts in the task-weighted mean, relative to the others."""

    task: Name
    weight: Annotated[DecimalInput, Field(pattern=r"[1-9]")]
    """Greater than 0."""


class ExclusionPolicy(Frozen):
    """What may be left out of the figures after exclusion, and on what proof."""

    allowed: tuple[ExclusionGround, ...] = ()
    """Empty: nothing may be excluded."""


class RetryPolicy(Frozen):
    """How one request may be served by several attempts."""

    max_attempts: Annotated[int, Field(ge=1)] = 1
    """At most this many; they stop at the first pass. 1: no retries."""
    wait_s: TimeLimit = "0"
    """Seconds between one attempt and the next."""


class Stability(Frozen):
    """When the evaluation itself counts as unstable."""

    max_range: Annotated[DecimalInput, StringConstraints(pattern=r"^(0|1|0\.[0-9]+)$")] = "0.15"
    """Largest range of pass rates over runs of one version, as a share."""


class Rules(Frozen):
    """What was agreed: part of every plan, so that later changes can't reach back."""

    attempts: Annotated[int, Field(ge=1, le=10_000)]
    """Planned attempts per task."""
    k: tuple[Annotated[int, Field(ge=1, le=10_000)], ...] = (1,)
    """For which k pass@k and pass^k are reported; ascending."""
    weights: tuple[Weight, ...] = ()
    """Empty: every task counts the same."""
    seeds: tuple[int, ...] = ()
    """One per attempt, the same for every task; empty: attempts get independent seeds."""
    baseline: Label | None = None
    """The version that others are compared with."""
    exclusion: ExclusionPolicy = ExclusionPolicy()
    retry: RetryPolicy = RetryPolicy()
    stability: Stability = Stability()

    @field_validator("k")
    @classmethod
    def _ascending(cls, k: tuple[int, ...]) -> tuple[int, ...]:
        if not k or list(k) != sorted(set(k)):
            raise ValueError("must be whole numbers in ascending order, each once")
        return k

    @model_validator(mode="after")
    def _seeds_fit(self) -> "Rules":
        if self.seeds and len(self.seeds) < self.attempts:
            raise ValueError(
                f"seeds has {len(self.seeds)} entries for {self.attempts} attempts per task"
            )
        return self


class Evaluation(Rules):
    """What ``evaluation.toml`` says."""

    title: Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
    constructed: bool = False
    """Made up to show something, and labelled so wherever it is shown."""

    def rules(self) -> Rules:
        """Return the part that a plan takes along."""
        return Rules.model_validate({name: getattr(self, name) for name in Rules.model_fields})


class EvaluationFreeze(Frozen):
    """The rules of an evaluation as they stood from this moment on."""

    record: Literal["evaluation/1"]
    evaluation: Name
    title: str
    constructed: bool
    rules: Rules
    sha256: Sha256
    """Of the bytes of ``evaluation.toml``; of the canonical rules where there is no such file."""
    description: str = ""
    """The evaluation's README.md, as Markdown."""
    reason: Reason
    frozen_by: Person
    frozen_at: Instant
    tasks: Count
    """How many tasks the evaluation had."""
