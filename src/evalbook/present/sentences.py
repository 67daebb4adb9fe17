"""What must be said in words beside the figures of a version, doubt as plainly as success."""

from collections.abc import Iterator
from typing import NamedTuple

from evalbook.derive.figures import ConfigFigures, Figures, TaskEstimate
from evalbook.present.text import ENGLISH, Language, count, out_of, percent

_FEWEST_FOR_A_TASK = 4
"""With n attempts on each side Fisher's exact test can give no p below 2/C(2n,n): .1 for 3, .029
for 4. Below 4 no change of one task can be told from chance at 5 %."""


class Sentence(NamedTuple):
    """One thing a reader must know."""

    key: str
    """Stable, for tests and scripts: ``single-run``."""
    text: str


def headline(figures: ConfigFigures, language: Language = ENGLISH) -> str:
    """Return the sentence that stands before any figure of a version."""
    before, after = figures.before.counts, figures.after.counts
    if not before.counted:
        return language.gettext("Nothing was measured: no planned attempt left a row.")
    said = language.ngettext(
        "%(passed)s of %(n)s attempt passed, %(rate)s.",
        "%(passed)s of %(n)s attempts passed, %(rate)s.",
        before.counted,
    ) % _passed(figures.before)
    if not after.excluded:
        return said
    more = language.gettext("After exclusion: %(passed)s of %(n)s, %(rate)s.")
    return f"{said} {more % _passed(figures.after)}"


def _passed(figures: Figures) -> dict[str, str]:
    counts = figures.counts
    return {
        "passed": count(counts.passed),
        "n": count(counts.counted),
        "rate": percent(figures.attempt_rate, counts.counted),
    }


def passed_of(figures: Figures) -> str:
    """Return ``9/15``, what the attempt rate is made of."""
    return out_of(figures.counts.passed, figures.counts.counted)


def cautions(figures: ConfigFigures, language: Language = ENGLISH) -> tuple[Sentence, ...]:
    """Return what the figures of a version can't show, most important first."""
    return (
        *_gaps(figures, language),
        *_apart(figures, language),
        *_few(figures, language),
        *_pooled(figures, language),
    )


def why_null(estimate: TaskEstimate, n: int, language: Language = ENGLISH) -> str:
    """Return why one task has no pass@k: ``2 attempts, fewer than 5``."""
    one, many = "%(n)s attempt, fewer than %(k)s", "%(n)s attempts, fewer than %(k)s"
    return language.ngettext(one, many, n) % {"n": n, "k": estimate.k}


def _gaps(figures: ConfigFigures, language: Language) -> Iterator[Sentence]:
    """Say what did not happen, and what was not judged."""
    counts = figures.before.counts
    if counts.not_executed:
        text = language.ngettext(
            "%(n)s planned attempt was never started; it is counted apart, not as a failure.",
            "%(n)s planned attempts were never started; they are counted apart, not as failures.",
            counts.not_executed,
        )
        yield Sentence("not-executed", text % {"n": count(counts.not_executed)})
    if counts.unjudged:
        text = language.ngettext(
            "%(n)s attempt was not judged and counts as not passed; had it passed, the rate would "
            "be %(bound)s.",
            "%(n)s attempts were not judged and count as not passed; had all of them passed, the "
            "rate would be %(bound)s.",
            counts.unjudged,
        )
        bound = percent(figures.before.attempt_rate_if_unjudged_passed, counts.counted)
        yield Sentence("not-judged", text % {"n": count(counts.unjudged), "bound": bound})


def _apart(figures: ConfigFigures, language: Language) -> Iterator[Sentence]:
    """Say what is left out of the figures."""
    counts = figures.after.counts
    if counts.excluded:
        text = language.ngettext(
            "%(n)s attempt is excluded under the policy agreed beforehand; reruns in its place: %(in)s.",
            "%(n)s attempts are excluded under the policy agreed beforehand; reruns in their place: %(in)s.",
            counts.excluded,
        )
        facts = {"n": count(counts.excluded), "in": count(counts.stood_in)}
        yield Sentence("excluded", text % facts)
    apart = figures.reruns - counts.stood_in
    if apart:
        text = language.ngettext(
            "%(n)s rerun is shown apart and enters no figure: it stands in for no excluded attempt.",
            "%(n)s reruns are shown apart and enter no figure: they stand in for no excluded attempt.",
            apart,
        )
        yield Sentence("reruns-apart", text % {"n": count(apart)})
    if figures.dependent:
        text = language.ngettext(
            "%(n)s recovery or retry is shown apart: it depended on an earlier attempt.",
            "%(n)s recoveries and retries are shown apart: they depended on earlier attempts.",
            figures.dependent,
        )
        yield Sentence("dependent", text % {"n": count(figures.dependent)})


def _few(figures: ConfigFigures, language: Language) -> Iterator[Sentence]:
    """Say what too few runs or attempts can't show."""
    if not figures.before.counts.counted:
        return
    if sum(run.executed > 0 for run in figures.runs) == 1:
        yield Sentence(
            "single-run", language.gettext("A single run: says nothing about another day.")
        )
    for each in figures.after.pass_at:
        text = _undefined(each.k, each.mean.tasks, len(figures.after.tasks), language)
        if text:
            yield Sentence(f"too-few-for-{each.k}", text)
    few = [task for task in figures.after.tasks if task.n < _FEWEST_FOR_A_TASK]
    if few:
        text = language.ngettext(
            "%(n)s of %(all)s tasks has fewer than 4 attempts: no change there could be told from chance.",
            "%(n)s of %(all)s tasks have fewer than 4 attempts: no change there could be told from chance.",
            len(few),
        )
        facts = {"n": count(len(few)), "all": count(len(figures.after.tasks))}
        yield Sentence("few-attempts", text % facts)


def _undefined(k: int, having: int, tasks: int, language: Language) -> str | None:
    """Say for which tasks pass@k and pass^k are not defined; None where they all have them."""
    if having == tasks:
        return None
    if having == 0:
        text = language.gettext(
            "Not enough attempts for pass@%(k)s and pass^%(k)s: no task has %(k)s."
        )
        return text % {"k": k}
    text = language.gettext(
        "pass@%(k)s and pass^%(k)s are means over %(m)s of %(all)s tasks: the others have fewer "
        "than %(k)s attempts."
    )
    return text % {"k": k, "m": count(having), "all": count(tasks)}


def _pooled(figures: ConfigFigures, language: Language) -> Iterator[Sentence]:
    """Say what the pooled attempts have in common, and what not."""
    version = figures.version
    sizes = {task.n for task in figures.after.tasks}
    if len(sizes) > 1:
        text = language.gettext(
            "Tasks have %(least)s to %(most)s attempts, so the attempt rate and the task rate differ."
        )
        yield Sentence("unequal", text % {"least": min(sizes), "most": max(sizes)})
    if version.condition == "replayed":
        text = "Tool returns were replayed from recordings: not to be compared with live runs."
        yield Sentence("replayed", language.gettext(text))
    if version.condition == "unknown":
        text = "Whether tools ran live or were replayed is unknown."
        yield Sentence("unknown-condition", language.gettext(text))
    if version.part > 1:
        text = (
            "A task's material changed since earlier runs of this version: those are shown apart."
        )
        yield Sentence("material-changed", language.gettext(text))
    if {plan.seeds for plan in version.plans} == {"fixed"}:
        text = (
            "Seeds are fixed: this shows how repeatable these settings are, not everyday variation."
        )
        yield Sentence("fixed-seeds", language.gettext(text))
