"""The document that ``show --json`` prints: every figure at full precision, with stable keys."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from evalbook.derive.book import Entry
from evalbook.derive.counts import Mean, Share
from evalbook.derive.figures import (
    ConfigFigures,
    Counts,
    Estimate,
    Figures,
    TaskEstimate,
    TaskFigures,
)
from evalbook.derive.versions import Cell

Document = dict[str, Any]
_DIGITS = 12
"""Significant ones: the last bits of a float may differ between C libraries."""


def show_document(evaluation: str, commit: str, figures: Iterable[ConfigFigures]) -> Document:
    """Return the figures of an evaluation as one JSON value; keys are added, never renamed.

    ``counts``, ``rate``, ``pass_at``, ``pass_hat`` (pass^k) and ``tasks`` are after exclusion; but
    ``counts.executed`` holds every first attempt, excluded or not. A value is null where there are
    too few attempts for it.
    """
    return {
        "schema": 1,
        "evaluation": evaluation,
        "ledger": commit,
        "configs": [_config(each) for each in figures],
    }


def document_text(document: Document) -> str:
    """Return a document as JSON for people and programs: sorted keys, two spaces, final newline."""
    return json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def number(value: Share | None) -> float | None:
    """Return a share with the digits that are the same on every machine."""
    return None if value is None else float(f"{float(value):.{_DIGITS}g}")


def _config(figures: ConfigFigures) -> Document:
    version = figures.version
    before = {task.task_id: task for task in figures.before.tasks}
    return {
        "config": version.config,
        "version": version.version,
        "config_ref": version.config_ref,
        "condition": version.condition,
        "part": version.part,
        **_side(figures.after),
        "before_exclusion": _side(figures.before),
        "reruns": figures.reruns,
        "dependent": figures.dependent,
        "runs": [
            {
                "run": run.run_id,
                "planned_at": run.planned_at,
                "started_at": run.started_at,
                "planned": run.planned,
                "executed": run.executed,
                "pass": run.passed,
            }
            for run in figures.runs
        ],
        "tasks": [
            _task(task, before[task.task_id], cell)
            for task, cell in zip(figures.after.tasks, version.cells, strict=True)
        ],
    }


def _side(figures: Figures) -> Document:
    return {
        "counts": _counts(figures.counts),
        "rate": {
            "attempts": {
                "value": number(figures.attempt_rate),
                "attempts": figures.counts.counted,
                "if_unjudged_passed": number(figures.attempt_rate_if_unjudged_passed),
            },
            "tasks": _mean(figures.task_rate),
        },
        "pass_at": _estimates(figures.pass_at),
        "pass_hat": _estimates(figures.pass_hat),
    }


def _counts(counts: Counts) -> Document:
    return {
        "planned": counts.planned,
        "executed": counts.executed,
        "not_executed": counts.not_executed,
        "pass": counts.passed,
        "fail": counts.failed,
        "timeout": counts.timeout,
        "infra_error": counts.infra_error,
        "excluded": counts.excluded,
        "stood_in": counts.stood_in,
        "unjudged": counts.unjudged,
    }


def _mean(mean: Mean) -> Document:
    return {"value": number(mean.value), "tasks": mean.tasks}


def _estimates(estimates: Sequence[Estimate]) -> Document:
    return {str(each.k): _mean(each.mean) for each in estimates}


def _task(after: TaskFigures, before: TaskFigures, cell: Cell) -> Document:
    return {
        "task": after.task_id,
        "weight": number(after.weight),
        "n": after.n,
        "c": after.c,
        "pass_at": _values(after.pass_at),
        "pass_hat": _values(after.pass_hat),
        "before_exclusion": {"n": before.n, "c": before.c},
        "planned": len(cell.planned),
        "attempts": [_attempt(each) for each in (*cell.first, *cell.reruns, *cell.dependent)],
    }


def _values(estimates: Sequence[TaskEstimate]) -> Document:
    return {str(each.k): number(each.value) for each in estimates}


def _attempt(entry: Entry) -> Document:
    row = entry.attempt
    found: Document = {"attempt": row.attempt_id, "verdict": row.verdict, "judged": row.judged}
    if entry.exclusion is not None:
        found["excluded"] = entry.exclusion.reason
    for key in ("rerun_of", "recovery_of"):
        if getattr(row, key) is not None:
            found[key] = getattr(row, key)
    return found
