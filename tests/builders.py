"""Records for tests: each builder names only what matters."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from evalbook.base.canonical import sha256_hex
from evalbook.base.times import instant
from evalbook.derive.book import EvaluationBook, fold
from evalbook.records.attempt import Attempt
from evalbook.records.decision import Decision, Exclusion, Reinstatement, RerunDecision
from evalbook.records.fields import attempt_parts
from evalbook.records.pages import (
    Page,
    Record,
    decisions_folder,
    line_bytes,
    materials_folder,
    page_bytes,
    page_kind,
    page_path,
    parse_page,
    run_folder,
)
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

    def skip(self, by: timedelta) -> None:
        """Let so much time pass."""
        self._next += by


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


WORKED_EXAMPLE = {"complete": "ppppp", "duplicate-ids": "ffpff", "missing-department": "pfpfp"}
"""The table of the worked example: 15 attempts, 9 passes."""


def row_sha256(row: Attempt) -> str:
    """The digest that decisions and reruns carry."""
    return sha256_hex(line_bytes(row))


def exclusion_of(
    row: Attempt, *, evaluation: str = "inventory", number: int = 1, **changes: Any
) -> Exclusion:
    """The exclusion of one row; ``number`` tells decisions apart and puts them in order."""
    facts: dict[str, Any] = {
        "record": "exclusion/1", "ground": "infra_error", "reason": "the machine lost power",
        **_about(row, evaluation, number),
    }  # fmt: skip
    return Exclusion.model_validate(facts | changes)


def reinstatement_of(exclusion: Exclusion, *, number: int = 2, **changes: Any) -> Reinstatement:
    """Takes ``exclusion`` back."""
    facts = exclusion.model_dump() | {
        "record": "reinstatement/1", "exclusion": exclusion.decision_id, "reason": "power was there",
        "decision_id": f"d-20261130-2200-{number:04d}", "decided_at": instant(START + timedelta(minutes=number)),
    }  # fmt: skip
    del facts["ground"]
    return Reinstatement.model_validate(facts | changes)


def rerun_decision_of(
    row: Attempt, run: str, *, evaluation: str = "inventory", number: int = 1
) -> RerunDecision:
    """Orders that ``row`` be attempted again in ``run``."""
    facts = {
        "record": "rerun/1",
        "run_id": run,
        "reason": "once more",
        **_about(row, evaluation, number),
    }
    return RerunDecision.model_validate(facts)


def rerun_of(
    plan: Plan, row: Attempt, outcome: str = "p", *, run: str = "20261130-2300-rrrr", **changes: Any
) -> tuple[Plan, Attempt]:
    """The plan and the row of a rerun of ``row``, in a run of its own."""
    parts = attempt_parts(row.attempt_id)
    again = Plan.model_validate(
        plan.model_dump()
        | {
            "run_id": run, "purpose": "rerun", "planned_at": instant(START + timedelta(hours=2)),
            "reason": "once more",
            "tasks": ({
                "task_id": row.task_id, **refs(row.task_id),
                "attempts": ({"number": parts.number, "rerun_of": row.attempt_id, "rerun_of_sha256": row_sha256(row)},),
            },),
        }
    )  # fmt: skip
    made = row_of(
        again, row.task_id, parts.number, outcome,
        **{"rerun_of": row.attempt_id, "rerun_of_sha256": row_sha256(row)} | changes,
    )  # fmt: skip
    return again, made


def page_of(*records: Record) -> Page:
    """The page that holds ``records``, as the ledger would have it."""
    content = page_bytes(records)
    match records[0]:
        case Plan() as plan:
            folder = run_folder(plan.evaluation, plan.config, plan.run_id)
        case Attempt() as row:
            raise ValueError(f"say of which plan {row.attempt_id} is: use pages_of")
        case Exclusion() | Reinstatement() | RerunDecision() as decision:
            folder = decisions_folder(decision.evaluation, decision.decided_at)
        case freeze:
            folder = materials_folder(freeze.evaluation)
    return _read(page_path(folder, instant(START), page_kind(records), content), content)


def pages_of(plan: Plan, rows: Sequence[Attempt]) -> tuple[Page, ...]:
    """The pages of one run: its plan and, where there are any, its rows."""
    made = [page_of(plan)]
    if rows:
        content = page_bytes(rows)
        folder = run_folder(plan.evaluation, plan.config, plan.run_id)
        made.append(_read(page_path(folder, instant(START), "attempts", content), content))
    return tuple(made)


def book_of(
    outcomes: Mapping[str, str],
    *decisions: Decision,
    planned: Mapping[str, int] | None = None,
    **plan: Any,
) -> EvaluationBook:
    """The book of one run with these outcomes; ``planned`` where more was planned than happened."""
    made = plan_of(planned or {task: len(letters) for task, letters in outcomes.items()}, **plan)
    pages = pages_of(made, rows_of(made, outcomes))
    return folded(*pages, *(page_of(decision) for decision in decisions))


def folded(*pages: Page) -> EvaluationBook:
    """The one evaluation that ``pages`` are about."""
    (found,) = fold(pages).evaluations
    return found


def _about(row: Attempt, evaluation: str, number: int) -> dict[str, Any]:
    return {
        "decision_id": f"d-20261130-2200-{number:04d}", "evaluation": evaluation, "subject": row.attempt_id,
        "subject_sha256": row_sha256(row), "decided_by": PERSON,
        "decided_at": instant(START + timedelta(minutes=number)),
    }  # fmt: skip


def _read(path: str, content: bytes) -> Page:
    parsed = parse_page(path, content)
    assert not parsed.flaws, parsed.flaws
    return parsed.page
