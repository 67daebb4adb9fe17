"""Grading an attempt: every declared check gets one outcome."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple, assert_never

from evalbook.base.times import decimal_text
from evalbook.records.attempt import CheckOutcome, TouchedFile
from evalbook.records.checks import (
    BytesEqual,
    Check,
    CommandSucceeds,
    CsvEquals,
    FileAbsent,
    FileExists,
    HttpEquals,
    JsonEquals,
    JsonSchema,
    OnlyChanged,
    Script,
    SqliteEquals,
    TextContains,
    Unchanged,
    WithinTime,
)
from evalbook.run.checks import (
    changes,
    commands,
    databases,
    documents,
    files,
    schemas,
    scripts,
    tables,
    web,
)
from evalbook.run.checks.answers import Answer, BrokenCheckError, UnreadableError, fit
from evalbook.run.trees import remove

CHECKS_VERSION = 1
"""Part of every grader's digest: raised whenever a check comes to another answer than before."""


class GradeContext(NamedTuple):
    """One attempt, as its checks see it."""

    workspace: Path
    """As the agent left it: hostile. Never written to."""
    start: Path
    """Read-only snapshot of the task's start."""
    task_folder: Path
    evaluation_folder: Path
    touched: tuple[TouchedFile, ...]
    elapsed_seconds: Decimal
    scratch: Path
    """An empty folder for copies."""
    scrub: Callable[[str], str]
    """Takes credentials out of a text."""
    trace: Path | None
    search_path: str = ""
    """PATH for commands and graders; empty: the folder of this Python, then the system's."""


def grade(checks: Sequence[Check], context: GradeContext) -> tuple[CheckOutcome, ...]:
    """Return one outcome per check, in the order of the checks.

    What the agent left missing, unreadable or wrong is ``failed``; ``error`` is only a check that could not
    be made whatever the agent did. Checks that execute something come last, so that no code of the
    agent's runs before its files have been looked at.
    """
    order = sorted(range(len(checks)), key=lambda number: _executes(checks[number]))
    found = {
        number: _outcome(checks[number], context, context.scratch / str(number)) for number in order
    }
    return tuple(found[number] for number in range(len(checks)))


def _executes(check: Check) -> bool:
    return isinstance(check, CommandSucceeds | Script)


def _outcome(check: Check, context: GradeContext, scratch: Path) -> CheckOutcome:
    try:
        answer = _safe_answer(check, context, scratch)
    finally:
        with suppress(OSError):  # what is left goes with the attempt's own folder
            remove(scratch)
    return CheckOutcome(
        name=check.name,
        outcome=answer.outcome,
        critical=check.critical,
        expected=fit(answer.expected, context.scrub),
        actual=fit(answer.actual, context.scrub),
        evidence=fit(answer.evidence, context.scrub),
        failure_class=check.failure_class if answer.outcome == "failed" else None,
    )


def _safe_answer(check: Check, context: GradeContext, scratch: Path) -> Answer:
    expected = f"{check.kind} can be checked"
    try:
        return _answer(check, context, scratch)
    except UnreadableError as error:
        expected = f"a readable {getattr(check, 'file', 'answer')}"
        return Answer("failed", expected, error.actual, error.evidence)
    except (MemoryError, RecursionError) as error:
        # Only what the agent left can be that large: references are bounded and were tried by `prove`.
        return Answer("failed", expected, f"too large to check: {type(error).__name__}")
    except BrokenCheckError as error:
        return Answer("error", expected, str(error))
    except Exception as error:  # noqa: BLE001 - a bug in one check must cost neither row nor run
        return Answer("error", expected, f"the check broke down: {type(error).__name__}: {error}")


def _answer(check: Check, context: GradeContext, scratch: Path) -> Answer:  # noqa: C901, PLR0911, PLR0912 - one line a kind
    workspace, references = context.workspace, context.task_folder / "expected"
    match check:
        case FileExists():
            return files.file_exists(check, workspace)
        case FileAbsent():
            return files.file_absent(check, workspace)
        case BytesEqual():
            return files.bytes_equal(check, workspace, references)
        case TextContains():
            return files.text_contains(check, workspace)
        case JsonEquals():
            return documents.json_equals(check, workspace, references)
        case JsonSchema():
            return schemas.json_schema(check, workspace, references, scratch)
        case CsvEquals():
            return tables.csv_equals(check, workspace, references)
        case SqliteEquals():
            return databases.sqlite_equals(check, workspace, scratch)
        case HttpEquals():
            return web.http_equals(check)
        case Unchanged():
            return changes.unchanged(check, context.touched)
        case OnlyChanged():
            return changes.only_changed(check, context.touched)
        case WithinTime():
            return changes.within_time(check, context.elapsed_seconds)
        case CommandSucceeds():
            return commands.command_succeeds(check, _surroundings(context, scratch))
        case Script():
            return scripts.script(check, _surroundings(context, scratch), _facts(context))
    assert_never(check)


def _surroundings(context: GradeContext, scratch: Path) -> commands.Surroundings:
    return commands.Surroundings(
        workspace=context.workspace,
        task=context.task_folder,
        evaluation=context.evaluation_folder,
        scratch=scratch,
        search_path=context.search_path,
    )


def _facts(context: GradeContext) -> dict[str, object]:
    return {
        "start": str(context.start.resolve()),
        "trace": None if context.trace is None else str(context.trace.resolve()),
        "touched": [each.model_dump(mode="json") for each in context.touched],
        "elapsed_seconds": decimal_text(context.elapsed_seconds),
    }
