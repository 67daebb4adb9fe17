"""The F9 table read back: what `evalbook export csv` wrote, and what others write like it."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.builders import (
    WORKED_EXAMPLE,
    book_of,
    exclusion_of,
    folded,
    page_of,
    pages_of,
    plan_of,
    rerun_of,
    row_of,
    row_sha256,
    rows_of,
)
from tests.run.importers.miniatures import pages_after, request, write

from evalbook.base.problems import UserError
from evalbook.derive.book import EvaluationBook
from evalbook.present.export import attempts_csv
from evalbook.records.attempt import F9_COLUMNS
from evalbook.records.pages import Page
from evalbook.run.importers.f9_csv import read_csv
from evalbook.run.importers.reconcile import Reconciled, reconcile

SHA = "ab" * 32


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    text = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _read(
    tmp_path: Path, text: str, pages: Sequence[Page] = (), evaluation: str = "copy"
) -> Reconciled:
    path = write(tmp_path / "attempts.csv", text)
    return reconcile(read_csv([path], request(evaluation=evaluation)), pages)


def _exported(book: EvaluationBook) -> list[list[str]]:
    return list(csv.reader(io.StringIO(attempts_csv(book))))[1:]


def test_an_export_read_into_another_evaluation_exports_the_same_rows(tmp_path: Path) -> None:
    plan = plan_of({"complete": 2})
    rows = [
        row_of(plan, "complete", 1, "i", dependency_error="=HYPERLINK(1)", tool_retries=3),
        row_of(plan, "complete", 2, "f", cost="0.08", currency="CNY", elapsed_seconds="40.5",
               failed_checks=("summary_right", "in_time"), artifact_ref=SHA, started_at=None),
    ]  # fmt: skip
    book = folded(*pages_of(plan, rows))
    copy = folded(*pages_after(_read(tmp_path, attempts_csv(book))))
    ids = {F9_COLUMNS.index(name) for name in ("attempt_id", "request_id")}
    for before, after in zip(_exported(book), _exported(copy), strict=True):
        for at, (old, new) in enumerate(zip(before, after, strict=True)):
            assert old == new or at in ids, F9_COLUMNS[at]


def test_the_worked_example_keeps_its_verdicts(tmp_path: Path) -> None:
    book = book_of(WORKED_EXAMPLE)
    copy = folded(*pages_after(_read(tmp_path, attempts_csv(book))))
    said = [(e.attempt.task_id, e.attempt.verdict, e.attempt.config_ref) for e in copy.entries]
    assert said == [
        (e.attempt.task_id, e.attempt.verdict, e.attempt.config_ref) for e in book.entries
    ]


def test_an_export_read_into_its_own_evaluation_adds_nothing(tmp_path: Path) -> None:
    plan = plan_of({"complete": 3})
    pages = pages_of(plan, rows_of(plan, {"complete": "pfi"}))
    done = _read(tmp_path, attempts_csv(folded(*pages)), pages, "inventory")
    assert (done.runs, done.already, done.contradictions, done.vanished) == ((), 3, (), ())


def test_an_export_that_somebody_embellished_contradicts_the_book(tmp_path: Path) -> None:
    plan = plan_of({"complete": 3})
    pages = pages_of(plan, rows_of(plan, {"complete": "pfp"}))
    text = attempts_csv(folded(*pages)).replace(",fail,", ",pass,")
    (found,) = _read(tmp_path, text, pages, "inventory").contradictions
    assert (found.field, found.in_book, found.in_file) == ("verdict", "fail", "pass")


def test_a_row_cut_out_of_an_export_is_missed(tmp_path: Path) -> None:
    plan = plan_of({"complete": 3})
    pages = pages_of(plan, rows_of(plan, {"complete": "pfp"}))
    lines = attempts_csv(folded(*pages)).splitlines(keepends=True)
    done = _read(tmp_path, "".join([*lines[:2], *lines[3:]]), pages, "inventory")
    assert [each.verdict for each in done.vanished] == ["fail"]


def test_a_rerun_stays_a_rerun_and_an_exclusion_is_left_to_the_reader(tmp_path: Path) -> None:
    plan = plan_of({"complete": 2})
    rows = rows_of(plan, {"complete": "pi"})
    again_plan, again = rerun_of(plan, rows[1])
    book = folded(
        *pages_of(plan, rows), *pages_of(again_plan, [again]), page_of(exclusion_of(rows[1]))
    )
    done = _read(tmp_path, attempts_csv(book))
    copy = folded(*pages_after(done))
    (rerun,) = [e for e in copy.entries if e.attempt.rerun_of]
    original = copy.by_id[rerun.attempt.rerun_of or ""]
    assert original.attempt.verdict == "infra_error"
    assert rerun.attempt.rerun_of_sha256 == original.sha256
    assert not any(e.exclusion for e in copy.entries)
    assert any(note.startswith("1 attempt excluded in the source") for note in done.notes)


def test_a_rerun_that_comes_later_points_at_the_row_in_the_book(tmp_path: Path) -> None:
    plan = plan_of({"complete": 2})
    rows = rows_of(plan, {"complete": "pi"})
    first = pages_after(_read(tmp_path, attempts_csv(folded(*pages_of(plan, rows)))))
    again_plan, again = rerun_of(plan, rows[1])
    grown = folded(*pages_of(plan, rows), *pages_of(again_plan, [again]))
    done = _read(tmp_path, attempts_csv(grown), first)
    copy = folded(*first, *pages_after(done))
    (rerun,) = [e for e in copy.entries if e.attempt.rerun_of]
    assert copy.by_id[rerun.attempt.rerun_of or ""].reruns == (rerun.attempt.attempt_id,)
    assert done.already == 2


def test_a_retry_keeps_the_request_that_it_served(tmp_path: Path) -> None:
    plan = plan_of({"complete": 2})
    first = row_of(plan, "complete", 1, "f")
    second = row_of(plan, "complete", 2, "p", request_id=first.attempt_id)
    book = folded(*pages_of(plan, [first, second]))
    copy = folded(*pages_after(_read(tmp_path, attempts_csv(book))))
    assert [entry.independent for entry in copy.entries] == [True, False]


@pytest.mark.parametrize("column", ["request_id", "rerun_of"])
def test_a_row_that_depends_on_one_outside_the_table_is_refused(
    tmp_path: Path, column: str
) -> None:
    other = "20261130-2118-k3f9/complete/1"
    row = {"task_id": "complete", "attempt_id": "20261130-2300-rrrr/complete/2", "verdict": "pass"}
    with pytest.raises(UserError, match=rf"line 2: .*{other}, which is not in the file") as caught:
        _read(tmp_path, _table([row | {column: other}]))
    assert "independent" in (caught.value.hint or "")


def test_three_columns_are_enough_and_the_rest_is_unknown(tmp_path: Path) -> None:
    rows = [
        {"task_id": "Zähle", "attempt_id": f"try {n}", "verdict": v}
        for n, v in enumerate(("pass", "timeout"))
    ]
    done = _read(tmp_path, _table(rows))
    (run,) = done.runs
    assert run.plan.config_ref.startswith("attempts@imported:")
    assert [row.verdict for row in run.attempts] == ["pass", "timeout"]
    assert [row.attempt_id.rpartition("/")[2] for row in run.attempts] == ["1", "2"]
    row = run.attempts[0]
    assert (row.cost, row.input_sha256, row.grader_ref, row.elapsed_seconds) == (
        "unknown",
        "unknown",
        "unknown",
        None,
    )
    assert (row.condition, row.judged) == ("unknown", True)


def test_the_attempts_number_can_stand_in_for_an_id(tmp_path: Path) -> None:
    rows = [{"task_id": "a", "attempt": str(n), "verdict": "pass"} for n in (3, 7)]
    (run,) = _read(tmp_path, _table(rows)).runs
    assert [row.attempt_id.rpartition("/")[2] for row in run.attempts] == ["3", "7"]


def test_each_config_of_a_table_is_a_run_of_its_own(tmp_path: Path) -> None:
    rows = [
        {"task_id": "a", "attempt_id": f"{n}", "verdict": "pass", "config_ref": f"agent@v{n}:{SHA}"}
        for n in (1, 2)
    ]
    done = _read(tmp_path, _table(rows))
    assert sorted(run.plan.config_ref for run in done.runs) == [
        f"agent@v1:{SHA}",
        f"agent@v2:{SHA}",
    ]
    grown = [*rows, {**rows[0], "attempt_id": "3"}]
    again = _read(tmp_path, _table(grown), pages_after(done))
    assert (again.already, [len(run.attempts) for run in again.runs]) == (2, [1])


def test_an_infra_error_counts_as_not_judged(tmp_path: Path) -> None:
    row = {"task_id": "a", "attempt_id": "1", "verdict": "infra_error"}
    assert _read(tmp_path, _table([row])).runs[0].attempts[0].judged is False


def test_one_apostrophe_is_taken_off_where_the_export_put_it(tmp_path: Path) -> None:
    for cell, meant in (("'=1+1", "=1+1"), ("''quoted'", "'quoted'"), ("'plain'", "'plain'")):
        row = {
            "task_id": "a",
            "attempt_id": "1",
            "verdict": "infra_error",
            "dependency_error": cell,
        }
        assert _read(tmp_path, _table([row])).runs[0].attempts[0].dependency_error == meant


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verdict": "passed"}, 'line 2: verdict is "passed", not pass, fail, timeout, infra_error'),
        ({"verdict": ""}, "line 2: verdict is missing"),
        ({"task_id": " "}, 'line 2: task_id is " ", which can\'t be a name'),
        ({"task_id": "a\nb"}, 'line 3: task_id is "a\\\\nb", which can\'t be a name'),
        ({"attempt_id": ""}, "line 2: has neither attempt_id nor attempt"),
        ({"attempt": "0"}, "line 2: attempt is 0, not from 1 to 10000"),
        ({"attempt": "-1"}, 'line 2: attempt is "-1", not a whole number'),
        ({"cost": "0.10"}, "line 2: cost is 0.1, but currency is"),
        ({"cost": "-3", "currency": "EUR"}, 'line 2: cost is "-3", not a number of at least 0'),
        ({"cost": "NaN", "currency": "EUR"}, 'line 2: cost is "NaN"'),
        ({"elapsed_seconds": "1e9999999"}, 'line 2: elapsed_seconds is "1e9999999"'),
        ({"tool_retries": "1" * 50}, "line 2: tool_retries is"),
        ({"input_sha256": "abc"}, 'line 2: input_sha256 is "abc", not a SHA-256'),
        ({"config_ref": "agent"}, 'line 2: config_ref is "agent", not name@label:sha256'),
        ({"failed_checks": "Bad Name"}, "line 2: failed_checks.0: "),
        ({"attempt_id": "20261130-2118-k3f9/other/1"}, "line 2: attempt_id .* is not of task"),
        ({"verdikt": "pass"}, 'line 1: there is no column "verdikt"'),
    ],
)  # fmt: skip
def test_a_wrong_cell_is_named_with_its_line(
    tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    row = {"task_id": "a", "attempt_id": "1", "verdict": "pass"} | changes
    with pytest.raises(UserError, match=rf"attempts\.csv: {message}") as caught:
        _read(tmp_path, _table([row]))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task_id,verdict\na,pass\n", "line 1: the column attempt_id is missing"),
        ("attempt_id,verdict\na,pass\n", "line 1: the column task_id is missing"),
        ("task_id,task_id,verdict,attempt\n", "line 1: the column task_id is there twice"),
        ("task_id,attempt_id,verdict\n", "holds no row"),
        ("task_id,attempt_id,verdict\na,1\n", "line 2: has 2 cells, the header 3"),
        ('task_id,attempt_id,verdict\na,"1,pass\n', "is no CSV"),
        ("task_id,attempt_id,verdict\na,1\0,pass\n", "holds a NUL byte"),
        ("task_id,attempt_id,verdict\na,1,pass\na,1,fail\n", 'line 3: attempt_id "1" is that of line 2 already'),
        ("task_id,attempt,verdict\na,1,pass\na,1,fail\n", "line 3: is attempt 1 of a, as line 2 is already"),
        ("task_id,attempt_id,verdict\na," + "x" * 200_000 + ",pass\n", "is no CSV: field larger"),
        ("task_id,attempt_id,verdict,grader_ref\na,1,pass,\na,2,fail," + SHA + "\n", "line 3: its references .* are not those of line 2"),
    ],
)  # fmt: skip
def test_a_broken_table_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        _read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_a_misspelt_column_is_answered_with_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        _read(tmp_path, "task_id,attempt_id,verdit\n")
    assert caught.value.hint == "did you mean verdict?"


def test_byte_order_mark_crlf_and_blank_lines_make_no_difference(tmp_path: Path) -> None:
    plain = "task_id,attempt_id,verdict\na,1,pass\n"
    odd = "\ufefftask_id,attempt_id,verdict\r\n\r\na,1,pass\r\n"
    first, second = (_read(tmp_path, text).runs[0].attempts[0] for text in (plain, odd))
    left_out = {"attempt_id", "request_id", "source"}
    assert first.model_dump(exclude=left_out) == second.model_dump(exclude=left_out)


def test_digests_of_rows_are_those_of_their_bytes(tmp_path: Path) -> None:
    plan = plan_of({"complete": 1})
    book = folded(*pages_of(plan, rows_of(plan, {"complete": "p"})))
    copy = folded(*pages_after(_read(tmp_path, attempts_csv(book))))
    assert [e.sha256 for e in copy.entries] == [row_sha256(e.attempt) for e in copy.entries]
