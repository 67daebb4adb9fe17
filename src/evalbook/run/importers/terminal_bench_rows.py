"""The rows of Terminal-Bench's ``results.json``, one trial each."""

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, Literal, NamedTuple

from evalbook.base.canonical import NamedDigest, manifest_digest, sha256_hex
from evalbook.base.times import decimal_text, seconds_between
from evalbook.records.attempt import CheckOutcome
from evalbook.records.fields import Verdict
from evalbook.records.task import Part
from evalbook.run.importers.cells import Cells, cells_of, needed
from evalbook.run.importers.freezes import MOST_ATTEMPTS
from evalbook.run.importers.reading import ReadFile, quoted
from evalbook.run.importers.terminal_bench_run import Beside
from evalbook.run.importers.values import FoundRow, Material
from evalbook.run.importers.words import (
    check_name,
    error_line,
    instant_of,
    key_part,
    name_of,
    raw_word,
    scrubbed,
)

_TRIAL = re.compile(r"\.(?P<number>[1-9][0-9]{0,4})-of-(?P<of>[1-9][0-9]{0,4})(?:\.(?P<run>.+))?")
_MOST_TOKENS = 10**15
_TIMES = ("trial_started_at", "trial_ended_at", "agent_started_at", "agent_ended_at")


class Trial(NamedTuple):
    """What the name of a trial says, after the task's id."""

    number: int
    of: int
    """How many there were to be."""
    run: str | None
    """Id of the run."""


class Seen(NamedTuple):
    """One row, and what it shows besides."""

    row: FoundRow
    material: Material
    trial: Trial | None
    broken_times: bool
    """A time has no zone or is none, or the agent ended before it started."""
    token_zeros: bool
    """0 tokens in and out: the agent reported none."""


def seen_rows(file: ReadFile, rows: Iterable[object], facts: Beside) -> tuple[Seen, ...]:
    """Return the rows of a file, in its order.

    Raises:
        UserError: for one that is no trial's result.
    """
    numbered = enumerate(_numbered(file, rows))
    return tuple(_row(at, each, facts) for at, each in numbered)


class _Numbered(NamedTuple):
    cells: Cells
    task: str
    trial: Trial | None
    number: int


def _numbered(file: ReadFile, rows: Iterable[object]) -> Iterator[_Numbered]:
    """Yield the rows with their attempt numbers: as the trial's name says, else in order."""
    found = []
    taken: dict[str, set[int]] = {}
    free: dict[str, Iterator[int]] = {}
    for at, value in enumerate(rows):
        cells = cells_of(f"{file.shown}: row [{at}]", value)
        task = needed(cells, "task_id", cells.identifier("task_id"))
        trial = _trial(cells, task)
        found.append((cells, task, trial))
        if trial:
            taken.setdefault(task, set()).add(trial.number)
    for cells, task, trial in found:
        used = taken.setdefault(task, set())
        numbers = free.setdefault(task, count(1))
        number = trial.number if trial else next(n for n in numbers if n not in used)
        used.add(number)
        if number > MOST_ATTEMPTS:
            raise cells.error(f"is attempt {number} of {task}, {MOST_ATTEMPTS} at most")
        yield _Numbered(cells, task, trial, number)


def _trial(cells: Cells, task: str) -> Trial | None:
    name = cells.identifier("trial_name") or ""
    match = _TRIAL.fullmatch(name.removeprefix(task))
    return Trial(int(match["number"]), int(match["of"]), match["run"]) if match else None


def _row(at: int, numbered: _Numbered, facts: Beside) -> Seen:
    cells, task, trial, number = numbered
    times = {key: cells.text(key) for key in _TIMES}
    instants = {key: instant_of(text) if text else None for key, text in times.items()}
    agent = _elapsed(instants["agent_started_at"], instants["agent_ended_at"])
    tokens = [
        cells.whole(key, most=_MOST_TOKENS) for key in ("total_input_tokens", "total_output_tokens")
    ]
    silent = tokens == [0, 0]
    trial_id = cells.identifier("id") or cells.identifier("uuid")
    name = cells.identifier("trial_name") or trial_id or f"{task}.{number}"
    row = FoundRow(
        cells=cells,
        position=at,
        task_id=name_of(task),
        number=number,
        key=key_part(name),
        fields={
            **_outcome(cells),
            "started_at": instants["trial_started_at"],
            "ended_at": instants["trial_ended_at"],
            "elapsed_seconds": agent,
            "tokens_in": None if silent else tokens[0],
            "tokens_out": None if silent else tokens[1],
        },
        raw=(
            raw_word("is_resolved", cells.truth("is_resolved")),
            raw_word("failure_mode", cells.text("failure_mode")),
            *([raw_word("id", trial_id)] if trial_id else ()),
        ),
    )
    broken = any(times[key] and instants[key] is None for key in _TIMES) or (
        agent is None and None not in instants.values()
    )
    return Seen(row, _material(cells, task, facts), trial, broken, silent)


def _elapsed(start: str | None, end: str | None) -> str | None:
    """Return the agent's wall clock in seconds, None where it is unknown or runs backwards."""
    if start is None or end is None or end < start:
        return None
    return decimal_text(seconds_between(start, end))


def _outcome(cells: Cells) -> dict[str, Any]:
    if "is_resolved" not in cells.values:
        raise cells.error("is_resolved is missing")
    resolved = cells.truth("is_resolved")
    mode = cells.text("failure_mode") or "unknown"
    checks = tuple(_checks(cells))
    return {
        "verdict": _verdict(mode, resolved=resolved),
        "judged": resolved is not None,
        "termination": error_line(mode)[:80] or "unknown",
        "checks": checks,
        "failed_checks": tuple(each.name for each in checks if each.outcome != "held"),
    }


def _verdict(mode: str, *, resolved: bool | None) -> Verdict:
    if resolved is None:
        return "timeout" if mode == "test_timeout" else "infra_error"
    return "pass" if resolved else "fail"


def _checks(cells: Cells) -> Iterator[CheckOutcome]:
    """Yield what the tests said, in the order of the file."""
    results = cells.table("parser_results")
    for name in results.values if results else ():
        test = Cells(cells.where, {"the name of a test": name}).text("the name of a test")
        if results is None or not (test and test.strip()):
            raise cells.error("parser_results names a test with an empty name")
        word = needed(results, quoted(name), results.text(name))
        outcome: Literal["held", "failed", "error"] = (
            "held" if word == "passed" else "failed" if word == "failed" else "error"
        )
        made = check_name(scrubbed(name))
        yield CheckOutcome(
            name=made,
            outcome=outcome,
            actual="" if outcome != "error" else error_line(word),
            evidence="" if made == name else error_line(name),
        )


def _material(cells: Cells, task: str, facts: Beside) -> Material:
    """Return what a row shows of its task: the instruction alone."""
    instruction = cells.text("instruction")
    shown = Material(task_id=name_of(task), title=task, origin=facts.origin)
    if instruction is None:
        return shown
    told = sha256_hex(instruction.encode())
    return shown._replace(
        parts=(Part(part="instruction", sha256=told),),
        input_sha256=manifest_digest([NamedDigest("instruction", told)]),
        instruction=scrubbed(instruction),
    )
