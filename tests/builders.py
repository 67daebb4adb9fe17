"""Records for tests: each builder names only what matters."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from evalbook.base.canonical import sha256_hex
from evalbook.base.times import instant
from evalbook.records.attempt import Attempt
from evalbook.records.plan import Plan

START = datetime(2026, 11, 30, 21, 18, 4, tzinfo=UTC)
PERSON = "Test Person <person@example.org>"
RUN = "20261130-2118-k3f9"
WORDS = {"p": "pass", "f": "fail", "t": "timeout", "i": "infra_error"}
"""How an outcome is written in tests: ``ppfti``."""


class Clock:
    """A clock that steps one second each time it is read."""

    def __init__(self, start: datetime = START) -> None:
        self._next = start

    def __call__(self) -> datetime:
        now, self._next = self._next, self._next + timedelta(seconds=1)
        return now


def refs(task: str) -> dict[str, str]:
    """The three references of a task's material."""
    return {
        "input_sha256": sha256_hex(f"{task} input".encode()),
        "initial_state_ref": sha256_hex(f"{task} start".encode()),
        "grader_ref": sha256_hex(f"{task} grader".encode()),
    }


def config_ref(config: str = "agent", version: str = "v1") -> str:
    return f"{config}@{version}:{sha256_hex(f'{config} {version}'.encode())}"


def plan_of(
    tasks: Mapping[str, int],
    *,
    evaluation: str = "inventory",
    config: str = "agent",
    version: str = "v1",
    run: str = RUN,
    **changes: Any,
) -> Plan:
    """A plan of so many attempts per task."""
    facts: dict[str, Any] = {
        "record": "plan/1", "run_id": run, "evaluation": evaluation, "config": config,
        "version": version, "config_ref": config_ref(config, version),
        "planned_at": instant(START), "planned_by": PERSON, "purpose": "measure",
        "rules": {"attempts": max(tasks.values()), "k": (1,), "exclusion": {"allowed": ("infra_error",)}},
        "seeds": "none", "condition": "live", "tool": "evalbook 0.1.0",
        "tasks": tuple(
            {"task_id": task, **refs(task), "attempts": tuple({"number": n} for n in range(1, count + 1))}
            for task, count in sorted(tasks.items())
        ),
    }  # fmt: skip
    return Plan.model_validate(facts | changes)


def row_of(plan: Plan, task: str, number: int, outcome: str = "p", **changes: Any) -> Attempt:
    """The row of one planned attempt; ``outcome`` is a letter of WORDS."""
    attempt_id = plan.attempt_id(task, number)
    facts: dict[str, Any] = {
        "record": "attempt/1", "task_id": task, "attempt_id": attempt_id, "request_id": attempt_id,
        "config_ref": plan.config_ref, **refs(task), "started_at": instant(START),
        "ended_at": instant(START), "verdict": WORDS[outcome], "failed_checks": (), "artifact_ref": None,
        "trace_ref": None, "tool_retries": 0, "human_help": 0, "elapsed_seconds": "1",
        "cost": "unknown", "currency": None, "dependency_error": None, "rerun_of": None,
        "termination": "exited", "judged": outcome != "i",
    }  # fmt: skip
    return Attempt.model_validate(facts | changes)


def rows_of(plan: Plan, outcomes: Mapping[str, str]) -> Sequence[Attempt]:
    """The rows of a plan, one letter an attempt: ``{"complete": "ppfti"}``."""
    return tuple(
        row_of(plan, task, number, letter)
        for task, letters in sorted(outcomes.items())
        for number, letter in enumerate(letters, 1)
    )
