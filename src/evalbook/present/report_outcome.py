"""Fields of the report about what came of it, what was decided, what follows."""

from collections.abc import Iterator
from decimal import Decimal

from evalbook.derive.book import Entry
from evalbook.derive.effort import effort_of
from evalbook.derive.failures import check_failures, failure_classes
from evalbook.derive.requests import delivery_of
from evalbook.present.report_parts import Field, Subject, Table
from evalbook.present.text import (
    Language,
    count,
    coverage,
    known_cost,
    mark_of,
    minute,
    name_only,
    out_of,
    seconds,
)
from evalbook.records.decision import Exclusion
from evalbook.records.pages import run_folder


def exclusions(subject: Subject) -> Field:
    """What was decided about attempts, each with its reason."""
    _ = subject.language.gettext
    label = _("Exclusions and reruns")
    allowed = ", ".join(subject.figures.version.rules.exclusion.allowed)
    policy = (
        _("The policy agreed beforehand allows exclusion for: %(grounds)s.") % {"grounds": allowed}
        if allowed
        else _("The policy agreed beforehand allows no exclusion.")
    )
    rows = [row for entry in subject.entries for row in _decided(subject, entry)]
    if not rows:
        return Field("exclusions", label, (policy, _("None were made.")))
    facts = {
        "excluded": count(subject.figures.after.counts.excluded),
        "reruns": count(subject.figures.reruns),
        "in": count(subject.figures.after.counts.stood_in),
    }
    numbers = _(
        "Excluded: %(excluded)s. Reruns: %(reruns)s, of which %(in)s stand in for an excluded original."
    )
    head = (_("Attempt"), _("What"), _("Reason"), _("By, at"))
    return Field("exclusions", label, (policy, numbers % facts), Table(head, tuple(rows), 4))


def _decided(subject: Subject, entry: Entry) -> Iterator[tuple[str, ...]]:
    """Yield one row for every decision about an attempt, and one for a rerun's outcome."""
    _ = subject.language.gettext
    row = entry.attempt
    words = {
        "exclusion/1": _("excluded"),
        "reinstatement/1": _("reinstated"),
        "rerun/1": _("rerun ordered"),
    }
    for decision in entry.decisions:
        what = words[decision.record]
        if isinstance(decision, Exclusion):
            what = f"{what} ({decision.ground})"
            if entry.exclusion != decision:
                what = f"{what}, {_('not in force')}"
        who = f"{name_only(decision.decided_by)}, {minute(decision.decided_at)}"
        yield (row.attempt_id, what, decision.reason, who)
    if row.rerun_of is not None:
        stands = any(
            row.attempt_id == each.attempt.attempt_id
            for cell in subject.figures.version.cells
            for each in cell.stand_ins
        )
        place = _("stands in for it") if stands else _("shown apart, in no figure")
        what = f"{mark_of(row).word}, {_('rerun of')} {row.rerun_of}: {place}"
        yield (row.attempt_id, what, entry.plan.reason or "", minute(entry.plan.planned_at))


def records(subject: Subject) -> Field:
    """Where the rows and files lie, and what they were read in from."""
    _ = subject.language.gettext
    name = subject.book.name
    head = (_("Run"), _("Folder"), _("Planned"), _("Executed"), _("Passed"))
    rows = tuple(
        (run.run_id, run_folder(name, subject.figures.version.config, run.run_id),
         count(run.planned), count(run.executed), count(run.passed))
        for run in subject.figures.runs
    )  # fmt: skip
    kept = [artifact for entry in subject.entries for artifact in entry.attempt.artifacts]
    inside = sum(artifact.place == "ledger" for artifact in kept)
    says = [
        _("Ledger commit %(commit)s; one row an attempt, with the SHA-256 of every file it left.")
        % {"commit": subject.facts.commit},
        _("%(inside)s files lie in the ledger, %(store)s in the artifact store.")
        % {"inside": count(inside), "store": count(len(kept) - inside)},
    ]
    read_in = _("Read in from %(name)s (%(format)s, mapping %(mapping)s), SHA-256 %(sha256)s.")
    says += [
        read_in % source.model_dump(include={"name", "format", "mapping", "sha256"})
        for plan in subject.figures.version.plans
        for source in plan.sources
    ]
    return Field("records", _("Raw records"), tuple(says), Table(head, rows, 2))


def estimator(subject: Subject) -> Field:
    """How the figures are made, and how far they carry."""
    _ = subject.language.gettext
    rules = subject.figures.version.rules
    weights = ", ".join(f"{each.task} {each.weight}" for each in rules.weights)
    seeds = {plan.seeds for plan in subject.figures.version.plans}
    meaning = {
        "fixed": _("Seeds are fixed: repeatability of these settings, not everyday variation."),
        "independent": _("Seeds are independent: everyday variation."),
        "none": _("The agent takes no seed: everyday variation."),
        "unknown": _("Whether seeds were fixed is unknown."),
    }
    says = (
        _("Weights: %(w)s.") % {"w": weights or _("every task counts the same")},
        _("k: %(k)s.") % {"k": ", ".join(map(str, rules.k))},
        _("pass@k = 1 − C(n−c,k)/C(n,k) and pass^k = C(c,k)/C(n,k), per task, then averaged; a pooled rate is never raised to a power."),
        *(meaning[each] for each in sorted(seeds)),
    )  # fmt: skip
    why = _(
        "uncertainty: this version of evalbook computes no interval; judge by the counts, which stand beside every rate"
    )
    return Field("estimator", _("Weights, k, estimator, uncertainty"), says, missing=why)


def delivery(subject: Subject) -> Field:
    """What the first attempts delivered, and what was there in the end."""
    _ = subject.language.gettext
    found = delivery_of(subject.entries)
    label = _("First and final delivery, retries")
    if not found.requests:
        return Field("delivery", label, (), missing=_("nothing was executed"))
    facts = {
        "n": count(found.requests),
        "first": count(found.delivered_first),
        "final": count(found.delivered_finally),
        "retries": count(found.retries),
    }
    says = [
        _(
            "Delivered by the first attempt: %(first)s of %(n)s requests; in the end: %(final)s of %(n)s."
        )
        % facts,
        _("Retries executed: %(retries)s.") % facts,
    ]
    calls = effort_of(entry.attempt for entry in subject.entries).tool_retries
    tried = coverage(calls, count(calls.total))
    says.append(_("Tool calls tried again inside attempts: %(n)s.") % {"n": tried})
    return Field("delivery", label, tuple(says))


def effort(subject: Subject) -> Field:
    """What it took, and how much of that is unknown."""
    _ = subject.language.gettext
    found = effort_of(entry.attempt for entry in subject.entries)
    label = _("Time, cost, people")
    if not found.attempts:
        return Field("effort", label, (), missing=_("nothing was executed"))
    says = (
        _("All attempts count here, failures and reruns included: %(n)s.") % {"n": count(found.attempts)},
        _("Time of the agents: %(t)s.")
        % {"t": coverage(found.elapsed_seconds, seconds(found.elapsed_seconds.total))},
        _("Cost: %(c)s.") % {"c": known_cost(found)},
        _("Hints by people: %(h)s.") % {"h": coverage(found.human_hints, count(found.human_hints.total))},
        _("Time of people: %(t)s.") % {"t": _human(found.human_seconds.total, found.human_seconds.known, subject.language)},
    )  # fmt: skip
    return Field("effort", label, says)


def _human(total: Decimal, known: int, language: Language) -> str:
    return seconds(total) if known else language.gettext("not recorded")


def critical(subject: Subject) -> Field:
    """Critical checks that failed."""
    _ = subject.language.gettext
    label = _("Critical errors and the uses they affect")
    checks = check_failures(subject.entries)
    graded = any(entry.attempt.checks for entry in subject.entries)
    if not graded:
        why = _("the rows name no checks, so none of them is known to be critical")
        return Field("critical", label, (), missing=why)
    critical = [each for each in checks if each.critical and each.failed]
    if not critical:
        return Field("critical", label, (_("No critical check failed."),))
    head = (_("Task"), _("Check"), _("Failed"), _("First seen in"))
    rows = tuple(
        (each.task_id, each.check, out_of(len(each.failed), each.graded), each.failed[0])
        for each in critical
    )
    why = _("which uses this affects is written nowhere in the book: a person must say")
    return Field("critical", label, (), Table(head, rows, len(head)), why)


def next_steps(subject: Subject) -> Field:
    """What to fix, what to measure."""
    _ = subject.language.gettext
    counts = subject.figures.before.counts
    says = []
    checks = [each for each in check_failures(subject.entries) if each.failed]
    classes = failure_classes(subject.entries)
    if classes:
        says.append(
            _("Fix first: the most frequent class of failure is %(name)s, seen in %(n)s attempts.")
            % {"name": classes[0].failure_class.replace("_", " "), "n": count(classes[0].attempts)}
        )
    if checks:
        says.append(
            _("The check that failed most is %(check)s of %(task)s: %(n)s attempts.")
            % {"check": checks[0].check, "task": checks[0].task_id, "n": out_of(len(checks[0].failed), checks[0].graded)}
        )  # fmt: skip
    if counts.not_executed:
        says.append(_("Measure next: the planned attempts that were never started."))
    elif sum(run.executed > 0 for run in subject.figures.runs) == 1:
        says.append(
            _("Measure next: the same version on another day, since one run can't show stability.")
        )
    why = _("conditions of a trial: the evaluation states none")
    return Field("next", _("Next fix, next measurement, trial"), tuple(says), missing=why)
