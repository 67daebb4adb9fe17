"""The check that asks the task's own ``grader.py``.

How a grader is run, and what it must answer:

- ``python -I grader.py ARGUMENTS``, in an empty folder, with the time limit of the check. Python is the one that
  runs evalbook; the environment holds PATH, LANG, TZ, HOME and TMPDIR only.
- ARGUMENTS is a JSON file: ``{"workspace", "start", "task", "evaluation", "expected"}`` are absolute folders,
  ``"trace"`` is the trace's file or null, ``"touched"`` a list of ``{"path", "change", "sha256"}``,
  ``"elapsed_seconds"`` decimal text. The workspace is a copy that may be written to. Links that lead out of it,
  and pipes, are not in the copy.
- On stdout it prints findings as JSON: one object, a list of objects, or one object a line. A finding is
  ``{"name": "totals", "held": false, "expected": "…", "actual": "…", "evidence": "…"}``; only ``held`` is required.
  stderr is free for notes.
- The check holds when every finding does. The first that does not is shown, and the names of all of them.
- An exit code other than 0, no finding, anything else on stdout, or running out of time: the grader broke down
  (outcome ``error``), which is no failure of the agent. So a grader must itself expect missing and garbled files.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from evalbook.records.checks import Script
from evalbook.records.fields import Frozen
from evalbook.run.checks.answers import Answer, BrokenCheckError, listed
from evalbook.run.checks.commands import (
    MOST_OUTPUT,
    Surroundings,
    copied_workspace,
    last_words,
    run_there,
)
from evalbook.run.process import Ended


class _Finding(Frozen):
    name: str = Field(default="finding", max_length=120)
    held: bool
    expected: str = ""
    actual: str = ""
    evidence: str = ""


_FINDINGS = TypeAdapter(tuple[_Finding, ...])


def script(check: Script, around: Surroundings, facts: Mapping[str, object]) -> Answer:
    """Hold when ``grader.py`` of the task says so, as this module describes.

    ``facts`` go into the arguments as they are; the folders are added here.
    """
    grader = around.task / "grader.py"
    if not grader.is_file():
        raise BrokenCheckError("the task has no grader.py")
    copy = copied_workspace(around)
    folders = {
        "workspace": copy,
        "task": around.task,
        "evaluation": around.evaluation,
        "expected": around.task / "expected",
    }
    named = {name: str(folder.resolve()) for name, folder in folders.items()}
    arguments = around.scratch / "arguments.json"
    arguments.write_text(json.dumps({**facts, **named}), encoding="utf-8")
    empty = around.scratch / "empty"
    empty.mkdir()
    command = [sys.executable, "-I", str(grader.resolve()), str(arguments.resolve())]
    ended = run_there(command, around, folder=empty, time_limit_s=float(check.time_limit_s))
    return _answer(_findings(ended, check))


def _findings(ended: Ended, check: Script) -> Sequence[_Finding]:
    if ended.how == "time_limit":
        raise BrokenCheckError(f"grader.py did not end within {check.time_limit_s} s")
    if ended.how != "exited":
        raise BrokenCheckError(f"grader.py was ended: {ended.problem or ended.how}")
    if ended.exit_code != 0:
        raise BrokenCheckError(
            f"grader.py ended with exit code {ended.exit_code}: {last_words(ended)}"
        )
    if len(ended.stdout) >= MOST_OUTPUT:
        raise BrokenCheckError(f"grader.py printed more than {MOST_OUTPUT >> 20} MiB")
    try:
        # Through JSON once more, so that lists may stand where records have tuples.
        found = _FINDINGS.validate_json(json.dumps(_objects(ended.stdout.decode())))
    except (ValidationError, ValueError, RecursionError) as error:
        raise BrokenCheckError(f"grader.py printed no findings: {_first_line(error)}") from None
    if not found:
        raise BrokenCheckError("grader.py printed no findings")
    return found


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        place = "".join(f" {part}" for part in first["loc"])
        return f"{first['msg']} at{place}" if place else str(first["msg"])
    return str(error).partition("\n")[0]


def _objects(text: str) -> list[Any]:
    try:
        whole = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return whole if isinstance(whole, list) else [whole]


def _answer(found: Sequence[_Finding]) -> Answer:
    wrong = [each for each in found if not each.held]
    if not wrong:
        return Answer("held", listed([each.expected or each.name for each in found]), "all held")
    first = wrong[0]
    rest = f"; not held: {listed([each.name for each in wrong])}" if len(wrong) > 1 else ""
    return Answer(
        "failed",
        f"{first.name}: {first.expected}" if first.expected else first.name,
        first.actual or "not so",
        f"{first.evidence}{rest}".removeprefix("; "),
    )
