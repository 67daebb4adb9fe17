"""What a second reading adds to the book, and what it must not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.run.importers.miniatures import (
    agreed,
    pages_after,
    request,
    tau_row,
    tb_row,
    tb_run,
    write,
)

from evalbook.base.problems import UserError
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.pages import Page
from evalbook.run.importers.reconcile import Reconciled, reconcile
from evalbook.run.importers.tau_bench import read_tau_bench
from evalbook.run.importers.terminal_bench import read_terminal_bench

LATER = "2026-12-02T10:00:00.000Z"
ROWS = [tau_row(task, trial, float(trial == 0)) for trial in (0, 1) for task in (0, 1)]


def _read(path: Path, pages: Sequence[Page] = (), **changes: Any) -> Reconciled:
    return reconcile(read_tau_bench([path], request(**changes)), pages)


def test_an_empty_book_takes_everything(tmp_path: Path) -> None:
    done = _read(write(tmp_path / "run.json", ROWS))
    assert sum(len(run.attempts) for run in done.runs) == 4
    assert (done.already, done.contradictions, done.vanished) == (0, (), ())
    assert len(done.freezes) == 4


def test_the_same_file_a_second_time_adds_nothing_and_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", ROWS)
    pages = pages_after(_read(path))
    again = _read(path, pages, at=LATER, reason="once more", title="Another title")
    assert (again.freezes, again.runs) == ((), ())
    assert again.already == 4
    assert "4 attempts in the book already" in again.notes


def test_the_same_file_under_another_name_adds_nothing(tmp_path: Path) -> None:
    pages = pages_after(_read(write(tmp_path / "run.json", ROWS)))
    again = _read(write(tmp_path / "copy.json", ROWS), pages)
    assert (again.runs, again.already, again.contradictions) == ((), 4, ())


def test_the_same_results_written_otherwise_add_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", ROWS)
    pages = pages_after(_read(path))
    path.write_text(path.read_text().replace(": ", ":  "))
    again = _read(path, pages)
    assert (again.runs, again.already, again.contradictions) == ((), 4, ())


def test_rows_of_another_evaluation_are_not_in_this_one(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", ROWS)
    pages = pages_after(_read(path, evaluation="other"))
    assert sum(len(run.attempts) for run in _read(path, pages).runs) == 4


def test_a_changed_verdict_contradicts_the_book_with_both_values(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", ROWS)
    pages = pages_after(_read(path))
    changed = [*ROWS[:3], tau_row(1, 1, 1.0)]
    done = _read(write(path, changed), pages)
    (found,) = done.contradictions
    assert (found.key, found.field) == ("tau-bench:run/1/1", "verdict")
    assert (found.in_book, found.in_file) == ("fail", "pass")
    assert found.attempt_id.endswith("/1/2")
    assert done.already == 3


def test_a_trial_that_was_made_again_contradicts_the_book_though_it_passed_again(
    tmp_path: Path,
) -> None:
    def read(row: dict[str, Any], pages: Sequence[Page]) -> Reconciled:
        folder = tb_run(tmp_path / "run", [row])
        return reconcile(read_terminal_bench([folder], request()), pages)

    pages = pages_after(read(tb_row(), ()))
    (found,) = read(tb_row(id="another"), pages).contradictions
    assert (found.field, found.in_book, found.in_file) == (
        "source id", '"id-fix-git-1"', '"another"',
    )  # fmt: skip


def test_the_same_rows_under_another_config_contradict_the_book(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", ROWS)
    pages = pages_after(_read(path))
    done = _read(path, pages, config="another")
    assert {each.field for each in done.contradictions} == {"config_ref"}
    assert len(done.contradictions) == 4


def test_rows_that_are_gone_from_the_file_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", ROWS)
    pages = pages_after(_read(path))
    done = _read(write(path, ROWS[:3]), pages)
    assert [(each.key, each.verdict) for each in done.vanished] == [("tau-bench:run/1/1", "fail")]
    assert (done.runs, done.already, done.contradictions) == ((), 3, ())


def test_rows_of_other_runs_are_not_missed(tmp_path: Path) -> None:
    pages = pages_after(_read(write(tmp_path / "run.json", ROWS), config="clerk"))
    done = _read(write(tmp_path / "other.json", ROWS[:1]), pages, config="clerk")
    assert done.vanished == ()
    assert sum(len(run.attempts) for run in done.runs) == 1


def test_a_file_that_grew_adds_its_new_rows_as_a_run_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", ROWS)
    first = _read(path)
    more = [*ROWS, tau_row(0, 2), tau_row(1, 2)]
    done = _read(write(path, more), pages_after(first), at=LATER)
    (run,) = done.runs
    assert run.plan.run_id != first.runs[0].plan.run_id
    assert run.plan.planned == len(run.attempts) == 2
    assert [row.source.position for row in run.attempts if row.source] == [4, 5]
    assert run.plan.sources[0].sha256 != first.runs[0].plan.sources[0].sha256
    assert "2 attempts new in tau-bench:run: a further run of their own" in done.notes
    assert (done.already, done.contradictions, done.vanished) == (4, (), ())
    third = _read(path, (*pages_after(first), *pages_after(done)))
    assert (third.runs, third.already) == ((), 6)


def test_only_freezes_that_the_book_lacks_are_added(tmp_path: Path) -> None:
    pages = pages_after(_read(write(tmp_path / "one.json", ROWS), config="clerk"))
    done = _read(write(tmp_path / "two.json", [tau_row(0), tau_row(5)]), pages, config="clerk")
    assert [type(each).__name__ for each in done.freezes] == ["EvaluationFreeze", "MaterialFreeze"]


def test_k_grows_with_the_attempts_while_nobody_agreed_on_rules(tmp_path: Path) -> None:
    pages: tuple[Page, ...] = ()
    seen = []
    for name in ("one", "two", "three"):
        row = tau_row(0, traj=[{"role": "assistant", "content": name}])
        done = _read(write(tmp_path / f"{name}.json", [row]), pages, config="clerk", version="v1")
        seen.append(done.runs[0].plan.rules.k)
        pages += pages_after(done)
    assert seen == [(1,), (1, 2), (1, 2, 3)]
    row = tau_row(9, traj=[])
    narrow = _read(write(tmp_path / "four.json", [row]), pages, config="clerk", version="v1")
    assert narrow.runs[0].plan.rules.k == (1, 2, 3)
    assert not any(isinstance(each, EvaluationFreeze) for each in narrow.freezes)


def test_rules_that_were_once_agreed_hold_for_later_readings(tmp_path: Path) -> None:
    first = _read(write(tmp_path / "one.json", ROWS), config="clerk", rules=agreed())
    done = _read(write(tmp_path / "two.json", ROWS[:3]), pages_after(first), config="clerk")
    assert done.runs[0].plan.rules == agreed()
    assert done.freezes == ()


def test_one_label_never_stands_for_two_contents(tmp_path: Path) -> None:
    pages = pages_after(_read(write(tmp_path / "one.json", ROWS), config="clerk"))
    other = tau_row(0)
    other["traj"][0]["content"] = "Be rude."
    with pytest.raises(UserError, match=r"two\.json: this is not the clerk@imported that the book has since 2026-12-01"):  # fmt: skip
        _read(write(tmp_path / "two.json", [other]), pages, config="clerk")


def test_a_planned_task_without_a_row_is_the_one_that_the_book_knows(tmp_path: Path) -> None:
    def read(folder: Path, pages: Sequence[Page]) -> Reconciled:
        return reconcile(read_terminal_bench([folder], request()), pages)

    first = read(tb_run(tmp_path / "1", [tb_row("a"), tb_row("b")], run="one"), ())
    done = read(
        tb_run(tmp_path / "2", [tb_row("a")], run="two", tasks=["a", "b"]), pages_after(first)
    )
    assert done.runs[0].plan.tasks == first.runs[0].plan.tasks


def test_a_run_without_any_row_is_added_once(tmp_path: Path) -> None:
    def read(pages: Sequence[Page]) -> Reconciled:
        return reconcile(read_terminal_bench([tmp_path / "run"], request()), pages)

    tb_run(tmp_path / "run", [], tasks=["a", "b"])
    first = read(())
    assert (first.runs[0].plan.planned, first.runs[0].attempts) == (2, ())
    assert read(pages_after(first)).runs == ()
