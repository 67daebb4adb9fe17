"""The row that every attempt leaves."""

from typing import Annotated, Literal

from pydantic import StringConstraints, model_validator

from evalbook.records.fields import (
    AttemptId,
    CheckName,
    ConfigRef,
    Count,
    Currency,
    DecimalText,
    FailureClass,
    Frozen,
    Instant,
    Known,
    Name,
    Setting,
    Sha256,
    Verdict,
    attempt_parts,
)

Word = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f]+$")]


LEDGER_ARTIFACT_MAX = 32_768
"""Bytes up to which an artifact goes into the ledger itself; a larger one into the store."""
LEDGER_ATTEMPT_MAX = 262_144
"""Bytes of artifacts that one attempt puts into the ledger at most."""


class CheckOutcome(Frozen):
    """What one check found."""

    name: CheckName
    outcome: Literal["held", "failed", "error"]
    """``error``: the check itself broke down, which is no failure of the agent."""
    critical: bool = False
    expected: str = ""
    """In words or as a short quotation; scrubbed and cut to 2,000 characters."""
    actual: str = ""
    evidence: str = ""
    """Where to look: a path of the workspace, a row, a step."""
    failure_class: FailureClass | None = None


class Artifact(Frozen):
    """One file that an attempt left behind."""

    name: str
    """Path inside the attempt: ``output/summary.csv``, ``stdout.txt``, ``trace.jsonl``."""
    role: Literal["output", "log", "trace", "response", "report", "grading"]
    sha256: Sha256
    """Of the bytes that are kept, after scrubbing."""
    size: Count
    place: Literal["ledger", "store"]
    """In the ledger's own ``artifacts/``, or in the artifact store."""


class TouchedFile(Frozen):
    """One file of the workspace that differs from the start."""

    path: str
    change: Literal["created", "changed", "deleted"]
    sha256: Sha256 | None = None
    """Afterwards; none when deleted, or when it is no regular file."""


class Dependency(Frozen):
    """One use of something outside that the agent reported (F5)."""

    name: Word
    version: str | None = None
    """None: it could not be pinned."""
    at: Instant | None = None
    seconds: DecimalText | None = None
    status: str | None = None
    rate_limited: bool = False
    error: str | None = None
    response_sha256: Sha256 | None = None
    """Of the recorded response, which is among the artifacts."""


class Source(Frozen):
    """Where an imported row stands in its source."""

    file_sha256: Sha256
    position: Count
    """0-based index of the row in the file."""
    key: Annotated[str, StringConstraints(min_length=1)]
    """Identity of the attempt in its source: the same attempt has the same key in any copy."""
    raw: tuple[Setting, ...] = ()
    """The source's own words for the verdict, as key and canonical JSON."""


class Attempt(Frozen):
    """One complete execution of a task, from the agreed start to its end.

    The first twenty fields are the columns of F9 (``excluded_reason`` comes from decisions) and are
    always written; the others are left out of the line where they say nothing.
    """

    record: Literal["attempt/1"]
    task_id: Name
    attempt_id: AttemptId
    request_id: AttemptId
    """Id of the first attempt that served the request; its own where nothing was retried."""
    config_ref: ConfigRef
    input_sha256: Known
    initial_state_ref: Known
    grader_ref: Known
    started_at: Instant | None
    """None: an import's source did not say."""
    ended_at: Instant | None
    verdict: Verdict
    failed_checks: tuple[CheckName, ...]
    """Names of the checks that did not hold, critical ones first, then as declared."""
    artifact_ref: Sha256 | None
    """One digest for all output files; none where there are none."""
    trace_ref: Sha256 | None
    tool_retries: Count | None
    """Tool calls tried again inside this attempt; none: not reported."""
    human_help: Count | None
    """Hints a person gave; none: not reported."""
    elapsed_seconds: DecimalText | None
    """Wall clock of the agent, not of the grading."""
    cost: DecimalText | Literal["unknown"]
    currency: Currency | None
    """Of the cost; none where the cost is unknown."""
    dependency_error: str | None
    """First error of an outside dependency, in its own words."""
    rerun_of: AttemptId | None

    termination: Word
    """How it ended: ``exited``, ``time_limit``, ``signal SIGKILL``, …, or the source's own word."""
    judged: bool = True
    """False: grader or source gave no verdict of their own (S9)."""
    condition: Literal["live", "replayed", "unknown"] = "live"
    seed: int | None = None
    rerun_of_sha256: Sha256 | None = None
    recovery_of: AttemptId | None = None
    """The attempt whose conversation this one carried on; never an independent attempt."""
    recovery_of_sha256: Sha256 | None = None
    exit_code: int | None = None
    """Of the agent's command; negative: the signal that ended it."""
    stop_reason: str | None = None
    """Why the agent stopped, in its own words."""
    steps: Count | None = None
    tokens_in: Count | None = None
    tokens_out: Count | None = None
    human_hints: tuple[str, ...] = ()
    human_seconds: DecimalText | None = None
    checks: tuple[CheckOutcome, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    """Sorted by name."""
    touched: tuple[TouchedFile, ...] = ()
    """Sorted by path."""
    dependencies: tuple[Dependency, ...] = ()
    restored: Literal["verified", "failed", "unknown"] = "unknown"
    """Whether the start was found again afterwards: workspace copy, snapshot and `Task.restore`."""
    isolation: Word | None = None
    """What kept the agent in its place: ``process group``, …"""
    note: str | None = None
    """What a reader must know of how this row came about: an error's one line, say."""
    source: Source | None = None

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "Attempt":
        if attempt_parts(self.attempt_id).task != self.task_id:
            raise ValueError(f"attempt_id {self.attempt_id} is not of task {self.task_id}")
        if (self.cost == "unknown") != (self.currency is None):
            raise ValueError("a known cost has a currency, an unknown one has none")
        if (self.rerun_of is None) != (self.rerun_of_sha256 is None):
            raise ValueError("rerun_of and rerun_of_sha256 come together")
        if (self.recovery_of is None) != (self.recovery_of_sha256 is None):
            raise ValueError("recovery_of and recovery_of_sha256 come together")
        return self

    @property
    def passed(self) -> bool:
        """Whether it was delivered: only ``pass`` is."""
        return self.verdict == "pass"


F9_COLUMNS = (
    "task_id", "attempt_id", "request_id", "config_ref", "input_sha256", "initial_state_ref",
    "grader_ref", "started_at", "ended_at", "verdict", "failed_checks", "artifact_ref", "trace_ref",
    "tool_retries", "human_help", "elapsed_seconds", "cost", "currency", "dependency_error",
    "excluded_reason", "rerun_of",
)  # fmt: skip
"""The columns of an exported row, in order (F9)."""
