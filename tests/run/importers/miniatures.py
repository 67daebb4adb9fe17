"""Small result files of other tools, made up here: each builder names only what matters."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalbook.records.evaluation import Rules
from evalbook.records.pages import (
    Page,
    materials_folder,
    page_bytes,
    page_kind,
    page_path,
    parse_page,
    run_folder,
)
from evalbook.run.importers.reconcile import Reconciled
from evalbook.run.importers.values import ImportRequest

PERSON = "Test Person <person@example.org>"
AT = "2026-12-01T08:30:00.000Z"
TAU_NAME = "tool-calling-tiny-model-0.0_range_0-2_user-tiny-user-llm_0426123456.json"


def request(**changes: Any) -> ImportRequest:
    """A request into the evaluation ``suite``, with nothing agreed."""
    facts: dict[str, Any] = {
        "evaluation": "suite", "config": None, "version": None, "person": PERSON, "at": AT,
        "rules": None, "reason": "read in for a test", "tool": "evalbook 0.1.0", "title": None,
        "constructed": True,
    }  # fmt: skip
    return ImportRequest(**facts | changes)


def agreed(**changes: Any) -> Rules:
    """Rules that somebody agreed on beforehand."""
    facts: dict[str, Any] = {"attempts": 4, "k": (1, 2), "exclusion": {"allowed": ("infra_error",)}}
    return Rules.model_validate(facts | changes)


def write(path: Path, document: object) -> Path:
    """Write a JSON document, or a text or bytes as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(document, bytes):
        path.write_bytes(document)
    else:
        path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


def tau_row(
    task: int | str = 0, trial: int = 0, reward: float = 1.0, **changes: Any
) -> dict[str, Any]:
    """One finished row of tau-bench."""
    row: dict[str, Any] = {
        "task_id": task,
        "reward": reward,
        "info": {
            "task": tau_task(task),
            "source": "user",
            "user_cost": 0.002,
            "reward_info": {"reward": reward, "info": {"r_actions": reward, "gt_data_hash": "ab12"}, "actions": []},
        },
        "traj": [
            {"role": "system", "content": "Be a careful clerk."},
            {"role": "user", "content": "Cancel my order."},
            {"role": "assistant", "content": None},
            {"role": "tool", "content": "done"},
            {"role": "assistant", "content": "It is cancelled."},
        ],
        "trial": trial,
    }  # fmt: skip
    return row | changes


def tau_task(task: int | str) -> dict[str, Any]:
    """What a row says of its task."""
    return {
        "user_id": "kim_1",
        "actions": [{"name": "cancel", "kwargs": {"order": f"#{task}"}}],
        "instruction": f"You want order #{task} cancelled.",
        "outputs": [],
    }


def tau_broken(task: int = 0, trial: int = 0, error: str = "Rate limit reached") -> dict[str, Any]:
    """A row that broke off with an exception."""
    return {
        "task_id": task, "reward": 0.0, "info": {"error": error, "traceback": "Traceback …"},
        "traj": [], "trial": trial,
    }  # fmt: skip


def tau_cut_off(task: int = 0, trial: int = 0) -> dict[str, Any]:
    """A row that ended at the step limit."""
    row = tau_row(task, trial, 0.0)
    row["info"]["reward_info"] = None
    return row


RUN_NAME = "tiny_20250910"


def tb_row(
    task: str = "fix-git", number: int = 1, of: int = 1, *, resolved: bool | None = True, **changes: Any
) -> dict[str, Any]:  # fmt: skip
    """One trial of Terminal-Bench."""
    row: dict[str, Any] = {
        "id": f"id-{task}-{number}", "trial_name": f"{task}.{number}-of-{of}.{RUN_NAME}", "task_id": task,
        "instruction": f"Do {task}.", "is_resolved": resolved, "failure_mode": "unset",
        "parser_results": {"test_done": "passed" if resolved else "failed"},
        "recording_path": "x/agent.cast", "total_input_tokens": 1200, "total_output_tokens": 80,
        "trial_started_at": "2025-09-10T01:27:25.975148+00:00", "trial_ended_at": "2025-09-10T01:31:28.955896+00:00",
        "agent_started_at": "2025-09-10T01:28:06.780000+00:00", "agent_ended_at": "2025-09-10T01:30:27.030000+00:00",
        "test_started_at": "2025-09-10T01:30:29.526586+00:00", "test_ended_at": "2025-09-10T01:30:52.181160+00:00",
    }  # fmt: skip
    return row | changes


def tb_run(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    *,
    run: str = "run-a",
    tasks: Sequence[str] | None = None,
    attempts: int = 1,
    metadata: Mapping[str, Any] | None = None,
    lock: Mapping[str, Any] | None = None,
) -> Path:
    """Write a run's folder; ``tasks`` None: as the rows have them."""
    named = list(dict.fromkeys(row["task_id"] for row in rows)) if tasks is None else list(tasks)
    write(folder / "results.json", {"id": run, "results": list(rows)})
    said = {
        "run_id": f"tiny_{run}", "uuid": f"uuid-{run}", "dataset_name": "tiny-bench", "dataset_version": "0.1",
        "agent_name": "tiny-agent", "model_name": "tiny-model", "task_ids": named, "n_attempts": attempts,
        "n_concurrent_trials": 4, "start_time": "2025-09-10T01:27:25.871223+00:00",
        "username": "kim", "output_path": "/home/kim/out", "agent_kwargs": None, "commit_hash": "unknown",
    }  # fmt: skip
    locked = {
        "lockfile_version": "1.0", "created_at": "2025-09-10T01:27:25.871469+00:00",
        "invocation": {"command": "tb", "args": ["--api-key", "sk-abcdefghij0123456789klmn"]},
        "harness": {"package": "terminal-bench", "version": "0.2.17"},
        "agent": {"name": "tiny-agent", "import_path": "tiny:Agent", "model_name": "tiny-model", "extra_kwargs": {}},
        "run_config": {"n_attempts": attempts, "global_agent_timeout_sec": 600.0, "global_timeout_multiplier": 1.0},
        "dataset": {"name": "tiny-bench", "version": "0.1", "task_ids": named},
    }  # fmt: skip
    write(folder / "run_metadata.json", said | dict(metadata or {}))
    write(folder / "tb.lock", locked | dict(lock or {}))
    return folder


def pages_after(result: Reconciled) -> tuple[Page, ...]:
    """The pages that the book has once ``result`` is appended, read back from their bytes."""
    made = []
    if result.freezes:
        made.append(_page(materials_folder(result.freezes[0].evaluation), result.freezes))
    for run in result.runs:
        folder = run_folder(run.plan.evaluation, run.plan.config, run.plan.run_id)
        made.append(_page(folder, (run.plan,)))
        if run.attempts:
            made.append(_page(folder, run.attempts))
    return tuple(made)


def _page(folder: str, records: Any) -> Page:
    content = page_bytes(records)
    parsed = parse_page(page_path(folder, AT, page_kind(records), content), content)
    assert not parsed.flaws, parsed.flaws
    return parsed.page
