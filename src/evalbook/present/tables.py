"""What ``show`` and ``log`` print on a terminal."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evalbook.derive.book import EvaluationBook, Event
from evalbook.derive.counts import Mean, rate
from evalbook.derive.figures import ConfigFigures, Figures
from evalbook.present.sentences import cautions, headline, passed_of
from evalbook.present.text import (
    count,
    mean_over,
    minute,
    one_line,
    out_of,
    percent,
    short,
)
from evalbook.records.config import ConfigFreeze
from evalbook.records.decision import Exclusion, Reinstatement, RerunDecision
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.plan import Plan
from evalbook.records.task import MaterialFreeze

_NARROWEST = 40
_MOST_K = 2
_BESIDE_NAME = 19
_ONE_K = 18
"""Columns that passes with rate, or pass@k with pass^k, take in the table of tasks."""
_ONLY_IF_ANY = (
    ("not executed", "not_executed"),
    ("excluded", "excluded"),
    ("reruns in their place", "stood_in"),
    ("failed", "failed"),
    ("timeout", "timeout"),
    ("infrastructure error", "infra_error"),
)
"""Counts that are shown where there are any."""


class Sheet(NamedTuple):
    """What a terminal can show."""

    width: int
    """Columns."""
    colour: bool


def show_text(book: EvaluationBook, figures: Iterable[ConfigFigures], sheet: Sheet) -> str:
    """Return the figures of an evaluation, sentences first, for a terminal of that width."""
    console = _console(sheet)
    shown = tuple(figures)
    with console.capture() as capture:
        title = book.agreed.title if book.agreed else book.name
        console.print(Text(f"{book.name}: {one_line(title)}", style="bold"))
        if book.agreed and book.agreed.constructed:
            console.print(Text("Constructed data: made up to show something.", style="magenta"))
        if not shown:
            console.print("Nothing is planned yet, so there are no figures.")
        for each in shown:
            console.print()
            _version(console, each)
    return _ends(capture.get())


def _version(console: Console, figures: ConfigFigures) -> None:
    console.print(Text(version_name(figures), style="bold"))
    console.print(Text(headline(figures)))
    for sentence in cautions(figures):
        console.print(_hanging(sentence.text), style="dim")
    if not figures.before.counts.planned:
        return
    console.print()
    console.print(_suite_table(figures))
    if figures.before.counts.counted:
        console.print()
        console.print(_task_table(figures, console.width))


def version_name(figures: ConfigFigures) -> str:
    """Return ``agent v1``, with what sets it apart from other groups of the same version."""
    version = figures.version
    name = f"{version.config} {version.version}"
    imported = all(plan.purpose == "import" for plan in version.plans)
    if version.condition == "replayed" or (version.condition == "unknown" and not imported):
        name += f" (condition: {version.condition})"
    return f"{name}, part {version.part}" if version.part > 1 else name


def _hanging(text: str) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row("-", Text(text))
    return grid


def _suite_table(figures: ConfigFigures) -> Table:
    """One row a figure; the second column only where something is excluded."""
    excluded = figures.after.counts.excluded > 0
    sides = (figures.before, figures.after)[: 1 + excluded]
    tasks = len(figures.version.cells)
    heads = ("before exclusion", "after exclusion") if excluded else ("nothing excluded",)
    table = _table("", *heads)
    counts = [side.counts for side in sides]
    table.add_row("planned", *(count(each.planned) for each in counts))
    table.add_row("executed", *(count(each.executed) for each in counts))
    for label, field in _ONLY_IF_ANY:
        if any(getattr(each, field) for each in counts):
            table.add_row(label, *(count(getattr(each, field)) for each in counts))
    table.add_row("passed", *(passed_of(side) for side in sides))
    table.add_row("attempt rate", *(_attempt_rate(side) for side in sides))
    table.add_row("task rate", *(_mean(side.task_rate, tasks, side) for side in sides))
    for at, k in enumerate(figures.ks):
        if k > 1:  # for k = 1 both are the task rate
            table.add_row(f"pass@{k}", *(_mean(s.pass_at[at].mean, tasks, s) for s in sides))
            table.add_row(f"pass^{k}", *(_mean(s.pass_hat[at].mean, tasks, s) for s in sides))
    return table


def _mean(mean: Mean, tasks: int, side: Figures) -> str:
    return mean_over(mean, tasks, side.counts.counted)


def _attempt_rate(figures: Figures) -> str:
    return percent(figures.attempt_rate, figures.counts.counted)


def _task_table(figures: ConfigFigures, width: int) -> Table:
    """One row a task, after exclusion; of many k the smallest and the largest, if both fit."""
    several = [at for at, k in enumerate(figures.ks) if k > 1]
    shown = several if len(several) <= _MOST_K else [several[0], several[-1]]
    longest = max(len(task.task_id) for task in figures.after.tasks)
    if longest + _BESIDE_NAME + len(shown) * _ONE_K > width:
        shown = shown[-1:]
    names = [name for at in shown for name in (f"pass@{figures.ks[at]}", f"pass^{figures.ks[at]}")]
    table = _table("task", "passed", "rate", *names)
    for task in figures.after.tasks:
        table.add_row(
            task.task_id,
            out_of(task.c, task.n),
            percent(rate(task.c, task.n), task.n),
            *(
                percent(values[at].value, task.n)
                for at in shown
                for values in (task.pass_at, task.pass_hat)
            ),
        )
    return table


def exclusion_effect(
    before: Iterable[ConfigFigures], after: Iterable[ConfigFigures]
) -> tuple[str, ...]:
    """Return one line for every version whose figures after exclusion a decision has changed."""
    old = {_key(each): each.after for each in before}
    lines = []
    for each in after:
        was = old.get(_key(each))
        if was is None or was == each.after:
            continue
        lines.append(
            f"{each.version.config} {each.version.version} after exclusion: "
            f"{passed_of(was)} {_attempt_rate(was)} → {passed_of(each.after)} {_attempt_rate(each.after)}; "
            f"before exclusion it stays {passed_of(each.before)} {_attempt_rate(each.before)}"
        )
    return tuple(lines)


def _key(figures: ConfigFigures) -> tuple[str, str, int]:
    version = figures.version
    return (version.config_ref, version.condition, version.part)


class LogLine(NamedTuple):
    """One thing that was recorded, for people and for programs."""

    at: str
    kind: str
    """``freeze``, ``plan``, ``exclude``, ``reinstate`` or ``rerun``."""
    evaluation: str
    what: str
    who: str
    why: str
    commit: str
    """Full id of the commit that brought it; empty where that was not looked up."""


def log_lines(books: Iterable[EvaluationBook], commits: Mapping[str, str]) -> tuple[LogLine, ...]:
    """Return everything that was recorded besides rows, newest first."""
    found = []
    for book in books:
        rows = Counter(entry.plan.run_id for entry in book.entries)
        found += [(event, _log_line(book, event, rows, commits)) for event in book.events]
    found.sort(key=lambda pair: (pair[0].at, pair[0].path, pair[0].line), reverse=True)
    return tuple(line for _, line in found)


def _log_line(
    book: EvaluationBook, event: Event, rows: Mapping[str, int], commits: Mapping[str, str]
) -> LogLine:
    record = event.record
    commit = commits.get(event.path, "")
    match record:
        case Plan():
            done = f"{count(rows[record.run_id])} of {count(record.planned)} attempts"
            what = f"run {record.run_id}: {record.config} {record.version}, {done}"
            why = record.reason or record.purpose
            return LogLine(event.at, "plan", book.name, what, record.planned_by, why, commit)
        case Exclusion() | Reinstatement() | RerunDecision():
            verb = {
                "exclusion/1": "exclude",
                "reinstatement/1": "reinstate",
                "rerun/1": "rerun",
            }[record.record]
            return LogLine(
                event.at, verb, book.name, record.subject, record.decided_by, record.reason, commit
            )
        case freeze:
            return LogLine(
                event.at,
                "freeze",
                book.name,
                frozen_thing(freeze),
                freeze.frozen_by,
                freeze.reason,
                commit,
            )


def frozen_thing(record: EvaluationFreeze | ConfigFreeze | MaterialFreeze) -> str:
    """Return in words what a freeze is about."""
    match record:
        case EvaluationFreeze():
            return f"rules of {record.evaluation}"
        case ConfigFreeze():
            return f"config {record.config} {record.version}"
        case MaterialFreeze():
            return f"task {record.task_id}"


def log_text(lines: Sequence[LogLine], sheet: Sheet) -> str:
    """Return log lines for a terminal, two lines each: what and when, then why and who."""
    console = _console(sheet)
    with console.capture() as capture:
        if not lines:
            console.print("Nothing is recorded yet.")
        for line in lines:
            first = Text.assemble(
                (short(line.commit) or " " * 12, "yellow"),
                f" {minute(line.at)} ",
                (line.kind, "bold"),
                f" {line.evaluation}: {one_line(line.what)}",
            )
            console.print(first, soft_wrap=True)
            said = Text(f"    {one_line(line.why)} ({one_line(line.who)})")
            console.print(said, style="dim", soft_wrap=True)
    return _ends(capture.get())


def _console(sheet: Sheet) -> Console:
    return Console(
        width=max(sheet.width, _NARROWEST),
        force_terminal=sheet.colour,
        color_system="standard" if sheet.colour else None,
        no_color=not sheet.colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def _ends(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    return table
