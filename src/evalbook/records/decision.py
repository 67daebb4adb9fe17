"""Later records about an attempt, which never alter its row."""

from typing import Literal

from evalbook.records.attempt import Attempt
from evalbook.records.evaluation import ExclusionGround, Rules
from evalbook.records.fields import (
    AttemptId,
    DecisionId,
    Frozen,
    Instant,
    Name,
    Person,
    Reason,
    RunId,
    Sha256,
)


class _Decision(Frozen):
    decision_id: DecisionId
    evaluation: Name
    subject: AttemptId
    """The attempt it is about."""
    subject_sha256: Sha256
    """Of the exact bytes of that attempt's row, without the line end."""
    reason: Reason
    decided_by: Person
    decided_at: Instant


class Exclusion(_Decision):
    """Leaves an attempt out of the figures after exclusion; before exclusion it still counts."""

    record: Literal["exclusion/1"]
    ground: ExclusionGround
    """On which of the grounds that the evaluation agreed to beforehand."""


class Reinstatement(_Decision):
    """Takes an exclusion back."""

    record: Literal["reinstatement/1"]
    exclusion: DecisionId
    """The exclusion that no longer holds."""


class RerunDecision(_Decision):
    """Orders that a task be attempted once more, in a run of its own."""

    record: Literal["rerun/1"]
    run_id: RunId
    """The run that will hold the new attempt."""


Decision = Exclusion | Reinstatement | RerunDecision


def grounds_of(attempt: Attempt) -> tuple[ExclusionGround, ...]:
    """Return every ground on which a policy could allow leaving this attempt out."""
    grounds: list[ExclusionGround] = []
    if attempt.verdict == "infra_error":
        grounds.append("infra_error")
    if attempt.verdict == "timeout":
        grounds.append("timeout")
    if not attempt.judged:
        grounds.append("unjudged")
    return tuple(grounds)


def exclusion_refusal(attempt: Attempt, ground: ExclusionGround, rules: Rules) -> str | None:
    """Return why the rules of the attempt's plan forbid this exclusion, or None when they allow it.

    The command and verification both ask here, so that they can't disagree.
    """
    allowed = rules.exclusion.allowed
    if ground not in allowed:
        stated = ", ".join(allowed) or "nothing"
        return f"the plan of that run allows exclusion for {stated}, not for {ground}"
    if ground not in grounds_of(attempt):
        unjudged = "" if attempt.judged else ", unjudged"
        return f"its verdict is {attempt.verdict}{unjudged}, which is no ground for {ground}"
    return None
