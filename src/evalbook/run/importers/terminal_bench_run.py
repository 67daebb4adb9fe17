"""What stands beside the ``results.json`` of Terminal-Bench: the run's plan and its lock."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evalbook.base.problems import UserError
from evalbook.records.fields import Setting
from evalbook.run.importers.cells import Cells, cells_of
from evalbook.run.importers.freezes import MOST_ATTEMPTS
from evalbook.run.importers.reading import json_of, read_file
from evalbook.run.importers.values import FoundConfig, ImportRequest
from evalbook.run.importers.words import instant_of, label_of, name_of, settings_of

_NOBODY = Cells("", {})
_LIMITS = ("global_agent_timeout_sec", "global_test_timeout_sec", "global_timeout_multiplier")
"""Of the lock's ``run_config``, what an agent can notice; how many ran side by side is a fact of the
run, not of the agent."""
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")


class Beside(NamedTuple):
    """What the files beside a result say; empty where they are not there."""

    metadata: Cells
    """``run_metadata.json``."""
    lock: Cells
    """``tb.lock``."""
    dataset: str | None
    """Name and version: ``terminal-bench-core 0.1.1``."""
    task_ids: tuple[str, ...]
    """Of the tasks that were planned; empty where that is not said."""
    n_attempts: int
    """Planned per task."""
    started_at: str | None
    run_id: str | None

    @property
    def origin(self) -> str:
        """Where the run's tasks are from."""
        return f"terminal-bench: {self.dataset or 'unknown dataset'}"


def beside(results: Path) -> Beside:
    """Return what stands beside ``results``, which counts only where that is a ``results.json``.

    Raises:
        UserError: for a file there that is broken.
    """
    metadata = _document(results, "run_metadata.json")
    lock = _document(results, "tb.lock")
    locked = lock.table("dataset") or _NOBODY
    ran = lock.table("run_config") or _NOBODY
    name = metadata.identifier("dataset_name") or locked.identifier("name")
    version = metadata.identifier("dataset_version") or locked.identifier("version")
    said = (metadata.text("start_time"), lock.text("created_at"))
    started = next((found for text in said if text and (found := instant_of(text))), None)
    attempts = [each.whole("n_attempts", least=1, most=MOST_ATTEMPTS) for each in (metadata, ran)]
    return Beside(
        metadata=metadata,
        lock=lock,
        dataset=f"{name} {version or 'of an unknown version'}" if name else None,
        task_ids=_task_ids(metadata) or _task_ids(locked),
        n_attempts=attempts[0] or attempts[1] or 1,
        started_at=started,
        run_id=metadata.identifier("run_id") or metadata.identifier("uuid"),
    )


def _document(results: Path, name: str) -> Cells:
    path = results.parent / name
    if results.name != "results.json" or not path.exists():
        return _NOBODY
    file = read_file(path)
    return cells_of(file.shown, json_of(file))


def _task_ids(cells: Cells) -> tuple[str, ...]:
    found: list[str] = []
    for at, value in enumerate(cells.items("task_ids") or ()):
        here = Cells(cells.where, {f"task_ids[{at}]": value})
        task = here.identifier(f"task_ids[{at}]")
        if task is None or task in found:
            raise here.error(f"task_ids[{at}] is {'there already' if task else 'missing'}")
        found.append(task)
    return tuple(found)


def config_of(facts: Beside, started_at: str | None, request: ImportRequest) -> FoundConfig:
    """Return the agent's configuration; its label is the month of the run's start.

    Raises:
        UserError: when a setting has no JSON form.
    """
    agent = facts.lock.table("agent") or _NOBODY
    harness = facts.lock.table("harness") or _NOBODY
    ran = facts.lock.table("run_config") or _NOBODY
    name = facts.metadata.identifier("agent_name") or agent.identifier("name")
    kwargs = facts.metadata.table("agent_kwargs") or agent.table("extra_kwargs") or _NOBODY
    settings: Mapping[str, Any] = {
        "agent": name,
        "model": facts.metadata.identifier("model_name") or agent.identifier("model_name"),
        "import_path": agent.identifier("import_path"),
        "kwargs": dict(kwargs.values),
        "harness": {key: harness.identifier(key) for key in ("package", "version")},
        "limits": {key: ran.number(key) for key in _LIMITS},
    }
    month = started_at[:7] if started_at and _MONTH.match(started_at) else "imported"
    return FoundConfig(
        name=request.config or name_of(name or "unknown-agent"),
        label=request.version or label_of(month),
        settings=_settings(kwargs, settings),
    )


def _settings(where: Cells, values: Mapping[str, Any]) -> tuple[Setting, ...]:
    try:
        return settings_of(values)
    except (ValueError, RecursionError):
        raise UserError(f"{where.where}: holds what has no canonical JSON form") from None


def facts_of(facts: Beside) -> tuple[Setting, ...]:
    """Return what is worth knowing of one run, without people's names, paths and command lines."""
    ran = facts.lock.table("run_config") or _NOBODY
    metadata = facts.metadata
    commit = metadata.identifier("commit_hash")
    return settings_of(
        {
            "dataset": facts.dataset,
            "harness_commit": None if commit == "unknown" else commit,
            "n_concurrent_trials": metadata.whole("n_concurrent_trials", most=10**6)
            or ran.whole("n_concurrent_trials", most=10**6),
            "resumed_at": metadata.text("resumed_at"),
            "run_id": metadata.identifier("run_id"),
        }
    )
