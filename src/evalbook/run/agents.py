"""How an agent is started: its place, its command, its environment, its limits."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.records.config import Config, Limits
from evalbook.run.assignment import AttemptJob

_FILLED = re.compile(r"\{(evaluation|workspace|seed|python)\}")
_SECRET_MIN = 8
"""Characters below which a value can't be scrubbed without blotting out ordinary words."""


class Place(NamedTuple):
    """The folders of one attempt. All but the workspace exist when the agent starts."""

    top: Path
    workspace: Path
    """Where the agent starts; a copy of the task's start."""
    given: Path
    """What it is told: instruction, prompt, history."""
    told: Path
    """Where it tells: trace, report, recorded responses."""
    home: Path
    tmp: Path

    @property
    def trace(self) -> Path:
        """The file that the agent appends its steps to."""
        return self.told / "trace.jsonl"

    @property
    def report(self) -> Path:
        """The file that the agent writes its report to."""
        return self.told / "report.json"


def make_place(top: Path, job: AttemptJob) -> Place:
    """Make the folders of an attempt in ``top``, and write down what the agent is told.

    Raises:
        OSError: when the disk refuses.
    """
    place = Place(top, *(top / name for name in ("workspace", "given", "told", "home", "tmp")))
    for folder in (place.given, place.told, place.home, place.tmp):
        folder.mkdir()
    _instruction(place).write_text(job.task.instruction, encoding="utf-8")
    for copy, source in _given_files(place, job).values():
        copy.write_bytes(source.read_bytes())
        copy.chmod(0o444)
    return place


def _instruction(place: Place) -> Path:
    return place.given / "instruction.md"


class _Given(NamedTuple):
    copy: Path
    source: Path


def _given_files(place: Place, job: AttemptJob) -> dict[str, _Given]:
    """Return the config's frozen files by the variable that names their copies."""
    config = job.config.config
    named = {"EVALBOOK_PROMPT": config.prompt, "EVALBOOK_HISTORY": config.history}
    kinds = {"EVALBOOK_PROMPT": "prompt", "EVALBOOK_HISTORY": "history"}
    return {
        variable: _Given(
            place.given / f"{kinds[variable]}{Path(name).suffix}", job.evaluation_folder / name
        )
        for variable, name in named.items()
        if name is not None
    }


def agent_command(job: AttemptJob, place: Place) -> tuple[str, ...]:
    """Return the command with ``{evaluation}``, ``{workspace}``, ``{seed}``, ``{python}`` filled in."""
    seed = job.planned.seed
    filled = {
        "evaluation": str(job.evaluation_folder),
        "workspace": str(place.workspace),
        "seed": "" if seed is None else str(seed),
        "python": sys.executable,
    }
    return tuple(
        _FILLED.sub(lambda found: filled[found[1]], word) for word in job.config.config.command
    )


def agent_environment(job: AttemptJob, place: Place) -> dict[str, str]:
    """Return the whole environment of an agent: what is handed on, and what every agent gets."""
    environment = {
        **job.environment,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "HOME": str(place.home),
        "TMPDIR": str(place.tmp),
        # Without this, an agent that types `git commit` would commit to the repository of the book.
        "GIT_CEILING_DIRECTORIES": str(place.top),
        "EVALBOOK_INSTRUCTION": str(_instruction(place)),
        "EVALBOOK_WORKSPACE": str(place.workspace),
        "EVALBOOK_TRACE": str(place.trace),
        "EVALBOOK_REPORT": str(place.report),
        "EVALBOOK_TASK": job.task.task_id,
        "EVALBOOK_ATTEMPT": str(job.planned.number),
    }
    if job.planned.seed is not None:
        environment["EVALBOOK_SEED"] = str(job.planned.seed)
    for variable, given in _given_files(place, job).items():
        environment[variable] = str(given.copy)
    return environment


def agent_limits(limits: Limits) -> dict[str, int]:
    """Return the limits by the names that the launcher knows; unset ones are left out."""
    wanted = {
        "AS": None if limits.memory_mb is None else limits.memory_mb << 20,
        "CPU": limits.cpu_s,
        "FSIZE": limits.output_mb << 20,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def handed_on(config: Config, environment: Mapping[str, str], where: str) -> dict[str, str]:
    """Return the part of the caller's environment that agents of ``config`` get.

    Raises:
        UserError: when a secret that the config names is not set, or too short to be scrubbed.
    """
    for name in config.permissions.secrets:
        if not environment.get(name):
            raise UserError(
                f"{where}: permissions.secrets names {name}, which is not set",
                hint=f"export {name}, or take it out of the config",
            )
        if len(environment[name]) < _SECRET_MIN:
            raise UserError(
                f"{where}: the value of {name} has fewer than {_SECRET_MIN} characters",
                hint="it could not be kept out of the records without blotting out ordinary words",
            )
    allowed = {"PATH", *config.permissions.environment, *config.permissions.secrets}
    return {name: environment[name] for name in sorted(allowed) if name in environment}
