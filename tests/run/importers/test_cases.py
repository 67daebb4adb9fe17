"""Real result files give the figures that their makers published."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.builders import folded
from tests.run.importers.miniatures import pages_after, request, write

from evalbook.derive.book import EvaluationBook
from evalbook.derive.figures import ConfigFigures, figures_of
from evalbook.present.export import attempts_csv
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.run.importers.f9_csv import read_csv
from evalbook.run.importers.reconcile import reconcile
from evalbook.run.importers.tau_bench import read_tau_bench
from evalbook.run.importers.terminal_bench import read_terminal_bench
from evalbook.run.importers.values import Import

pytestmark = pytest.mark.cases


def _book(made: Import) -> EvaluationBook:
    return folded(*pages_after(reconcile(made, ())))


def _hats(figures: ConfigFigures) -> Sequence[float]:
    return [
        float(each.mean.value) for each in figures.before.pass_hat if each.mean.value is not None
    ]


@pytest.fixture
def airline(cases: Path) -> Import:
    return read_tau_bench(
        [cases / "tau-bench" / "gpt-4o-airline.json"], request(evaluation="airline")
    )


def test_the_airline_results_of_gpt_4o_are_as_published(airline: Import) -> None:
    (figures,) = figures_of(_book(airline))
    assert (figures.before.counts.executed, figures.before.counts.passed) == (200, 84)
    assert _hats(figures) == pytest.approx([0.42, 0.27333, 0.22, 0.20], abs=5e-6)
    ats = [float(each.mean.value) for each in figures.before.pass_at if each.mean.value is not None]
    assert ats == pytest.approx([0.42, 0.5667, 0.66, 0.72], abs=5e-5)


def test_the_airline_trials_and_their_ends_are_as_counted(airline: Import) -> None:
    (run,) = airline.runs
    by_trial = Counter(row.attempt_id[-1] for row in run.attempts if row.passed)
    assert [by_trial[trial] / 50 for trial in "1234"] == [0.42, 0.44, 0.40, 0.42]
    per_task = Counter(row.task_id for row in run.attempts if row.passed)
    spread = Counter(per_task[task.task_id] for task in run.plan.tasks)
    assert [spread[passes] for passes in range(5)] == [14, 12, 10, 4, 10]
    assert airline.notes == ("5 attempts ended at the step limit",)
    assert {row.steps for row in run.attempts if row.termination == "step_limit"} == {30}


def test_every_task_of_the_airline_results_shows_its_material(airline: Import) -> None:
    for task in airline.runs[0].plan.tasks:
        assert "unknown" not in {task.input_sha256, task.grader_ref}
        assert task.initial_state_ref == "unknown"


RUNS = {
    "ob1-2025-08": (0.6125, 0.5875, 0.55, 0.625, 0.575),
    "ob1-2025-09": (0.5625, 0.5875, 0.575, 0.5625, 0.55),
}


def _ob1(cases: Path, *versions: str) -> Import:
    paths = [cases / "terminal-bench" / version for version in versions]
    return read_terminal_bench(paths, request(evaluation="ob1"))


@pytest.mark.parametrize("version", RUNS)
def test_every_run_of_ob1_has_its_published_accuracy(cases: Path, version: str) -> None:
    made = _ob1(cases, version)
    rates = [sum(row.passed for row in run.attempts) / len(run.attempts) for run in made.runs]
    assert sorted(rates) == sorted(RUNS[version])
    assert not any("states an accuracy" in note for note in made.notes)
    assert {run.plan.version for run in made.runs} == {version.removeprefix("ob1-")}


def test_both_versions_of_ob1_in_one_reading_give_their_figures(cases: Path) -> None:
    made = _ob1(cases, "ob1-2025-08", "ob1-2025-09")
    august, september = figures_of(_book(made))
    assert (august.before.attempt_rate, september.before.attempt_rate) == (236 / 400, 227 / 400)
    assert _hats(september) == pytest.approx([0.5675, 0.5338, 0.5112, 0.4925, 0.475], abs=6e-5)
    counts = september.before.counts
    assert (counts.timeout, counts.infra_error, counts.unjudged) == (18, 20, 38)
    rules = [each.rules for each in made.freezes if isinstance(each, EvaluationFreeze)]
    assert [(each.attempts, each.k) for each in rules] == [(5, (1, 2, 3, 4, 5))]


def test_the_tasks_of_ob1_that_flipped_between_versions_did_so_here(cases: Path) -> None:
    made = _ob1(cases, "ob1-2025-08", "ob1-2025-09")
    passes = Counter(
        (run.plan.version, row.task_id) for run in made.runs for row in run.attempts if row.passed
    )
    for task, before, after in (
        ("swe-bench-astropy-1", 5, 0), ("pytorch-model-cli", 4, 0), ("jupyter-notebook-server", 0, 5),
    ):  # fmt: skip
        assert (passes["2025-08", task], passes["2025-09", task]) == (before, after)
    lost = [
        row.verdict for run in made.runs for row in run.attempts
        if (run.plan.version, row.task_id) == ("2025-09", "swe-bench-astropy-1")
    ]  # fmt: skip
    assert Counter(lost) == {"timeout": 4, "infra_error": 1}


def test_an_agent_that_timed_out_can_have_resolved_its_task(cases: Path) -> None:
    rows = [row for run in _ob1(cases, "ob1-2025-09").runs for row in run.attempts]
    late = Counter(row.verdict for row in rows if row.termination == "agent_timeout")
    assert late == {"pass": 55, "fail": 62}


@pytest.mark.parametrize("first", ["ob1-2025-08", "ob1-2025-09"])
def test_reading_real_results_again_adds_nothing(cases: Path, first: str) -> None:
    made = _ob1(cases, first)
    pages = pages_after(reconcile(made, ()))
    again = reconcile(_ob1(cases, "ob1-2025-08", "ob1-2025-09"), pages)
    assert (again.already, sum(len(run.attempts) for run in again.runs)) == (400, 400)
    assert (again.contradictions, again.vanished) == ((), ())


def test_real_results_survive_an_export_and_a_reading_of_it(cases: Path, tmp_path: Path) -> None:
    book = _book(_ob1(cases, "ob1-2025-09"))
    path = write(tmp_path / "attempts.csv", attempts_csv(book))
    copy = _book(read_csv([path], request(evaluation="copy")))
    said = [(e.attempt.task_id, e.attempt.verdict, e.attempt.started_at) for e in book.entries]
    assert sorted(said, key=str) == sorted(
        ((e.attempt.task_id, e.attempt.verdict, e.attempt.started_at) for e in copy.entries),
        key=str,
    )
