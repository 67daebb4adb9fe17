"""The figures of every version, before and after exclusion."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from evalbook.derive.book import Entry, EvaluationBook
from evalbook.derive.counts import (
    Mean,
    Share,
    Weighted,
    pass_at,
    pass_hat,
    rate,
    weighted_mean,
)
from evalbook.derive.versions import Cell, Version, versions_of
from evalbook.records.fields import RunId


class Counts(NamedTuple):
    """How many attempts, by what became of them."""

    planned: int
    executed: int
    """First attempts that left a row, whether excluded or not."""
    not_executed: int
    """Planned, but left no row."""
    passed: int
    failed: int
    timeout: int
    infra_error: int
    excluded: int
    """First attempts left out of these figures; 0 before exclusion."""
    stood_in: int
    """Reruns counted in the place of an excluded original; 0 before exclusion."""
    unjudged: int
    """Among those counted: neither passed nor given a verdict by grader or source."""

    @property
    def counted(self) -> int:
        """The denominator of the attempt rate."""
        return self.passed + self.failed + self.timeout + self.infra_error


class Estimate(NamedTuple):
    """pass@k or pass^k of a whole version: the mean over the tasks that have it."""

    k: int
    mean: Mean


class TaskEstimate(NamedTuple):
    """pass@k or pass^k of one task."""

    k: int
    value: Share | None
    """None: fewer than k attempts."""


class TaskFigures(NamedTuple):
    """One task's part of the figures."""

    task_id: str
    weight: Fraction
    """Relative to the other tasks."""
    n: int
    """Attempts that count."""
    c: int
    """Passes among them."""
    pass_at: tuple[TaskEstimate, ...]
    pass_hat: tuple[TaskEstimate, ...]


class Figures(NamedTuple):
    """Everything that is said of a version, on one side of exclusion."""

    counts: Counts
    attempt_rate: Share | None
    """Passes over attempts, all tasks thrown together; None without attempts."""
    task_rate: Mean
    """Weighted mean of the tasks' own rates, over the tasks that have attempts."""
    attempt_rate_if_unjudged_passed: Share | None
    """The upper bound: every attempt without a verdict of its own counted as passed."""
    pass_at: tuple[Estimate, ...]
    """Ascending k."""
    pass_hat: tuple[Estimate, ...]
    tasks: tuple[TaskFigures, ...]
    """Every planned task, sorted; also those without attempts."""


class RunFigures(NamedTuple):
    """One run's share of a version, before exclusion."""

    run_id: RunId
    planned_at: str
    started_at: str | None
    """Start of its earliest attempt; None where none is known. Of an import, long before the plan."""
    planned: int
    executed: int
    passed: int

    @property
    def at(self) -> str:
        """When it took place: its earliest start, or its plan where no start is known."""
        return self.started_at or self.planned_at


class ConfigFigures(NamedTuple):
    """The figures of one version of a config."""

    version: Version
    ks: tuple[int, ...]
    """For which k, as the latest plan's rules say."""
    before: Figures
    """Every first attempt counts; no rerun does."""
    after: Figures
    """Without excluded attempts; a rerun counts only in the place of an excluded original."""
    runs: tuple[RunFigures, ...]
    """Oldest first."""
    reruns: int
    """All reruns, whether they stand in or not."""
    dependent: int
    """Recoveries and retries."""


def figures_of(book: EvaluationBook) -> tuple[ConfigFigures, ...]:
    """Return the figures of every version, by config name, each config's oldest first."""
    return tuple(_config_figures(version) for version in versions_of(book))


def _config_figures(version: Version) -> ConfigFigures:
    cells = version.cells
    ks = version.rules.k
    weights = {each.task: Fraction(each.weight) for each in version.rules.weights}
    return ConfigFigures(
        version=version,
        ks=ks,
        before=_figures(cells, {cell.task_id: cell.first for cell in cells}, ks, weights, None),
        after=_figures(
            cells,
            {cell.task_id: cell.counted for cell in cells},
            ks,
            weights,
            sum(len(cell.excluded) for cell in cells),
        ),
        runs=_runs(version),
        reruns=sum(len(cell.reruns) for cell in cells),
        dependent=sum(len(cell.dependent) for cell in cells),
    )


def _figures(
    cells: Sequence[Cell],
    counted: Mapping[str, Sequence[Entry]],
    ks: Sequence[int],
    weights: Mapping[str, Fraction],
    excluded: int | None,
) -> Figures:
    """Compute one side; ``excluded`` is None before exclusion."""
    tasks = tuple(
        _task_figures(
            cell.task_id, counted[cell.task_id], ks, weights.get(cell.task_id, Fraction(1))
        )
        for cell in cells
    )
    counts = _counts(cells, [e for cell in cells for e in counted[cell.task_id]], excluded)
    rates = [(task.weight, rate(task.c, task.n)) for task in tasks]
    return Figures(
        counts=counts,
        attempt_rate=rate(counts.passed, counts.counted),
        task_rate=_mean(rates),
        attempt_rate_if_unjudged_passed=rate(counts.passed + counts.unjudged, counts.counted),
        pass_at=tuple(
            Estimate(k, _mean((task.weight, task.pass_at[at].value) for task in tasks))
            for at, k in enumerate(ks)
        ),
        pass_hat=tuple(
            Estimate(k, _mean((task.weight, task.pass_hat[at].value) for task in tasks))
            for at, k in enumerate(ks)
        ),
        tasks=tasks,
    )


def _mean(values: Iterable[tuple[Fraction, Share | None]]) -> Mean:
    return weighted_mean(Weighted(value, weight) for weight, value in values if value is not None)


def _task_figures(
    task_id: str, entries: Sequence[Entry], ks: Sequence[int], weight: Fraction
) -> TaskFigures:
    n, c = len(entries), sum(entry.attempt.passed for entry in entries)
    return TaskFigures(
        task_id=task_id,
        weight=weight,
        n=n,
        c=c,
        pass_at=tuple(TaskEstimate(k, pass_at(n, c, k)) for k in ks),
        pass_hat=tuple(TaskEstimate(k, pass_hat(n, c, k)) for k in ks),
    )


def _counts(cells: Iterable[Cell], entries: Sequence[Entry], excluded: int | None) -> Counts:
    verdicts = Counter(entry.attempt.verdict for entry in entries)
    cells = tuple(cells)
    return Counts(
        planned=sum(len(cell.planned) for cell in cells),
        executed=sum(len(cell.first) for cell in cells),
        not_executed=sum(len(cell.not_executed) for cell in cells),
        passed=verdicts["pass"],
        failed=verdicts["fail"],
        timeout=verdicts["timeout"],
        infra_error=verdicts["infra_error"],
        excluded=excluded or 0,
        stood_in=sum(entry.attempt.rerun_of is not None for entry in entries),
        unjudged=sum(not entry.attempt.judged and not entry.attempt.passed for entry in entries),
    )


def _runs(version: Version) -> tuple[RunFigures, ...]:
    planned = Counter(each.partition("/")[0] for cell in version.cells for each in cell.planned)
    first = [entry.attempt for cell in version.cells for entry in cell.first]
    executed = Counter(row.attempt_id.partition("/")[0] for row in first)
    passed = Counter(row.attempt_id.partition("/")[0] for row in first if row.passed)
    starts: dict[str, str] = {}
    for row in first:
        if row.started_at is not None:
            run = row.attempt_id.partition("/")[0]
            starts[run] = min(row.started_at, starts.get(run, row.started_at))
    return tuple(
        RunFigures(
            run_id=plan.run_id,
            planned_at=plan.planned_at,
            started_at=starts.get(plan.run_id),
            planned=planned[plan.run_id],
            executed=executed[plan.run_id],
            passed=passed[plan.run_id],
        )
        for plan in version.plans
    )
