"""Fields of the report about what was measured, how, on which version."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evalbook.derive.counts import rate
from evalbook.derive.versions import material_of
from evalbook.present.report_parts import Field, Subject, Table
from evalbook.present.text import count, mean_over, minute, out_of, percent, short


def configuration(subject: Subject) -> Field:
    """The version's settings and files, as they were frozen."""
    _ = subject.language.gettext
    version = subject.figures.version
    freeze = subject.book.configs.get(version.config_ref)
    says = [_("Reference: %(ref)s") % {"ref": version.config_ref}]
    if freeze is None:
        why = _("no freeze of this version is in the book")
        return Field("configuration", _("Configuration"), tuple(says), missing=why)
    rows = [(setting.key, setting.value) for setting in freeze.settings]
    rows += [(f"file {file.path}", file.sha256) for file in freeze.files]
    if freeze.source:
        says.append(_("Read in from %(source)s.") % {"source": freeze.source})
    table = Table((_("Key"), _("Value")), tuple(rows), 2)
    return Field("configuration", _("Configuration"), tuple(says), table)


def time_span(subject: Subject) -> Field:
    """When it was measured, in how many runs."""
    _ = subject.language.gettext
    label = _("Time span")
    starts = [e.attempt.started_at for e in subject.entries if e.attempt.started_at]
    ends = [e.attempt.ended_at for e in subject.entries if e.attempt.ended_at]
    runs = len(subject.figures.runs)
    says = (subject.language.ngettext("%(n)s run.", "%(n)s runs.", runs) % {"n": count(runs)},)
    if not starts or not ends:
        why = _("the source states no times") if subject.imported else _("nothing was executed")
        return Field("time-span", label, says, missing=why)
    span = _("From %(start)s to %(end)s, UTC.")
    said = span % {"start": minute(min(starts)), "end": minute(max(ends))}
    return Field("time-span", label, (said, *says))


def tasks(subject: Subject) -> Field:
    """What was planned, executed and passed, task by task, before exclusion."""
    _ = subject.language.gettext
    figures = subject.figures
    cells = figures.version.cells
    counts = figures.before.counts
    n_ = subject.language.ngettext
    said = n_("%(tasks)s task.", "%(tasks)s tasks.", len(cells)) % {"tasks": count(len(cells))}
    attempts = _("%(planned)s attempts planned, %(executed)s executed, %(missing)s not executed.")
    facts = {
        "planned": count(counts.planned),
        "executed": count(counts.executed),
        "missing": count(counts.not_executed),
    }
    head = (_("Task"), _("Planned"), _("Executed"), _("Passed"), _("Failed"), _("Timeout"),
            _("Infrastructure error"), _("Rate"))  # fmt: skip
    rows = []
    for cell, task in zip(cells, figures.before.tasks, strict=True):
        verdicts = Counter(entry.attempt.verdict for entry in cell.first)
        row = (cell.task_id, str(len(cell.planned)), str(task.n), out_of(task.c, task.n),
               *(str(verdicts[each]) for each in ("fail", "timeout", "infra_error")),
               percent(rate(task.c, task.n), task.n))  # fmt: skip
        rows.append(row)
    before = _("Every first attempt counts here, before any exclusion.")
    return Field("tasks", _("Tasks, attempts and passes"), (said, attempts % facts, before),
                 Table(head, tuple(rows), 1))  # fmt: skip


def figures(subject: Subject) -> Field:
    """The suite's figures, before and after exclusion."""
    _ = subject.language.gettext
    figures = subject.figures
    tasks = len(figures.version.cells)
    rows: list[tuple[str, ...]] = []
    sides = (figures.before, figures.after)
    for label, field in (
        (_("Attempts that count"), "counted"), (_("Passed"), "passed"), (_("Failed"), "failed"),
        (_("Timeout"), "timeout"), (_("Infrastructure error"), "infra_error"),
        (_("Excluded"), "excluded"), (_("Reruns in their place"), "stood_in"),
    ):  # fmt: skip
        rows.append((label, *(count(getattr(side.counts, field)) for side in sides)))
    rows.append((_("Attempt rate"), *(percent(s.attempt_rate, s.counts.counted) for s in sides)))
    rows.append((_("Task rate"), *(mean_over(s.task_rate, tasks, s.counts.counted) for s in sides)))
    for at, k in enumerate(figures.ks):
        for name, means in (
            (f"pass@{k}", [side.pass_at[at].mean for side in sides]),
            (f"pass^{k}", [side.pass_hat[at].mean for side in sides]),
        ):
            counted = [side.counts.counted for side in sides]
            cells = (mean_over(m, tasks, n) for m, n in zip(means, counted, strict=True))
            rows.append((name, *cells))
    head = ("", _("Before exclusion"), _("After exclusion"))
    says = (
        _(
            "Attempt rate: passes over attempts, all tasks together. Task rate: mean of the tasks' own rates."
        ),
    )
    return Field("figures", _("Figures"), says, Table(head, tuple(rows), 1))


def start(subject: Subject) -> Field:
    """Whether the start was found again after the attempts."""
    _ = subject.language.gettext
    label = _("Restoring the start")
    states = Counter(entry.attempt.restored for entry in subject.entries)
    if not states["verified"] and not states["failed"]:
        why = _("the rows do not say how the start was restored")
        if subject.imported:
            why = _("the source does not say how the start was restored")
        if not subject.entries:
            why = _("nothing was executed")
        return Field("start", label, (), missing=why)
    says = [
        _("After %(verified)s of %(all)s attempts the start was found again and verified.")
        % {"verified": count(states["verified"]), "all": count(len(subject.entries))}
    ]
    if states["failed"]:
        says.append(
            _("After %(n)s attempts it was not as before.") % {"n": count(states["failed"])}
        )
    kept = sorted({e.attempt.isolation for e in subject.entries if e.attempt.isolation})
    if kept:
        says.append(_("What kept the agent in its place: %(what)s.") % {"what": ", ".join(kept)})
    return Field("start", label, tuple(says))


def grading(subject: Subject) -> Field:
    """What must hold for a pass, task by task."""
    _ = subject.language.gettext
    label = _("Grading rules")
    head = (_("Task"), _("Checks"), _("Grader"))
    rows = []
    for cell in subject.figures.version.cells:
        freeze = material_of(subject.book, cell)
        checks = _checks_in(freeze.definition if freeze else "")
        rows.append((cell.task_id, "; ".join(checks), short(cell.yardstick.grader_ref)))
    if not any(row[1] for row in rows):
        why = _("the book holds no checks: the verdicts are the source's own")
        return Field("grading", label, (), missing=why)
    says = (_("All checks must hold for a pass, the time limit included."),)
    return Field("grading", label, says, Table(head, tuple(rows), len(head)))


def _checks_in(definition: str) -> Iterator[str]:
    """Yield ``name (kind, critical)`` for every check of a frozen definition, if it is one."""
    try:
        task: Any = json.loads(definition)
    except ValueError:
        return
    checks = task.get("check", ()) if isinstance(task, dict) else ()
    for check in checks if isinstance(checks, list) else ():
        if isinstance(check, dict):
            critical = ", critical" if check.get("critical") else ""
            yield f"{check.get('name')} ({check.get('kind')}{critical})"


def outside(subject: Subject) -> Field:
    """What was used of the world outside, as far as reported."""
    _ = subject.language.gettext
    label = _("Outside dependencies")
    version = subject.figures.version
    said = {
        "live": _("Attempts ran live."),
        "replayed": _("Tool returns were replayed from recordings."),
        "unknown": _("Whether attempts ran live is unknown."),
    }[version.condition]
    used = [d for entry in subject.entries for d in entry.attempt.dependencies]
    if not used:
        why = _(
            "no attempt reported a use of anything outside; what an agent does not report is not seen"
        )
        return Field("outside", label, (said,), missing=why)
    head = (_("Dependency"), _("Version"), _("Uses"), _("Rate limited"), _("Errors"))
    rows = []
    for name, pinned in sorted({(d.name, d.version or "") for d in used}):
        same = [d for d in used if (d.name, d.version or "") == (name, pinned)]
        rows.append((name, pinned or _("could not be pinned"), count(len(same)),
                     count(sum(d.rate_limited for d in same)),
                     count(sum(d.error is not None for d in same))))  # fmt: skip
    return Field("outside", label, (said,), Table(head, tuple(rows), 2))
