"""The check that runs a command in a copy of the workspace."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evalbook.records.checks import CommandSucceeds
from evalbook.run.checks.answers import Answer, BrokenCheckError
from evalbook.run.checks.reading import copy_workspace
from evalbook.run.process import Ended, run_command

MOST_OUTPUT = 1 << 20
"""Bytes of stdout, and of stderr, that are kept."""
_LARGEST_FILE = 1 << 30
_LAST_LINES = 10
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class Surroundings(NamedTuple):
    """What a command of a check finds around it."""

    workspace: Path
    """As the agent left it; commands get a copy."""
    task: Path
    evaluation: Path
    scratch: Path
    """A folder for copies that does not exist yet; whoever chose it removes it."""
    search_path: str
    """PATH; empty: the folder of this Python, then the system's."""


def copied_workspace(around: Surroundings) -> Path:
    """Return a writable copy of the workspace, with a home and a temporary folder beside it.

    Raises:
        UnreadableError: when the workspace can't be copied.
    """
    copy = around.scratch / "workspace"
    copy_workspace(around.workspace, copy)
    for name in ("home", "tmp"):
        (around.scratch / name).mkdir()
    return copy


def run_there(
    command: Sequence[str], around: Surroundings, *, folder: Path, time_limit_s: float
) -> Ended:
    """Run a command in ``folder`` with a home and temporary folder of its own in ``around.scratch``."""
    return run_command(
        command,
        folder=folder,
        environment=_environment(around),
        limits={"FSIZE": _LARGEST_FILE},
        time_limit_s=time_limit_s,
        most_output=MOST_OUTPUT,
    )


def _environment(around: Surroundings) -> Mapping[str, str]:
    python = Path(sys.executable).parent
    return {
        "PATH": around.search_path or f"{python}:{_SYSTEM_PATH}",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "HOME": str(around.scratch / "home"),
        "TMPDIR": str(around.scratch / "tmp"),
    }


def command_succeeds(check: CommandSucceeds, around: Surroundings) -> Answer:
    """Hold when the command ends with the exit code within its time.

    It runs in a copy of the workspace, in a process group of its own that is killed with it, with PATH,
    LANG, TZ, HOME and TMPDIR and no other variable. ``{workspace}`` is that copy, ``{python}`` the Python
    that runs evalbook. Too slow is a failure, since a command mostly runs what the agent wrote. A
    program that does not exist is one too where it would lie in the workspace; elsewhere it
    breaks the check.
    """
    copy = copied_workspace(around)
    filled = [_filled(word, around, copy) for word in check.command]
    ended = run_there(filled, around, folder=copy, time_limit_s=float(check.time_limit_s))
    own = "/" in filled[0] and (copy / filled[0]).is_relative_to(copy)
    expected = f"exit code {check.exit_code} of {' '.join(check.command)}"
    match ended.how:
        case "interrupted":
            raise BrokenCheckError("interrupted")
        case "not_started" if not own:
            raise BrokenCheckError(f"the command could not be started: {ended.problem}")
        case "not_started":
            return Answer("failed", expected, f"could not be started: {ended.problem}")
        case "time_limit":
            actual = f"not ended after {check.time_limit_s} s"
        case "exited":
            actual = f"exit code {ended.exit_code}"
        case signal:
            actual = f"ended by {signal}"
    held = ended.how == "exited" and ended.exit_code == check.exit_code
    return Answer("held" if held else "failed", expected, actual, "" if held else last_words(ended))


def _filled(word: str, around: Surroundings, copy: Path) -> str:
    values = {
        "{workspace}": copy,
        "{task}": around.task,
        "{evaluation}": around.evaluation,
        "{python}": sys.executable,
    }
    for name, value in values.items():
        word = word.replace(name, str(value))
    return word


def last_words(ended: Ended) -> str:
    """Return the last lines of stderr, or of stdout where stderr is empty."""
    said = ended.stderr.strip() or ended.stdout.strip()
    lines = said.decode("utf-8", "replace").splitlines()
    return "\n".join(lines[-_LAST_LINES:])
