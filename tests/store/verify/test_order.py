"""Rule 4: what a record rests on came in an earlier commit."""

import pytest
from tests.builders import exclusion_of, plan_of, reinstatement_of, rerun_of, rows_of
from tests.store.verify.builder import Past, freeze_of, of_rule, page, story

from evalbook.store.git import Repository

RULE = "in-order"
PLAN = plan_of({"complete": 2})
ROWS = rows_of(PLAN, {"complete": "pi"})


@pytest.fixture
def past(repository: Repository) -> Past:
    """A history that has the freeze."""
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    return past


def test_rows_before_their_plan_are_a_violation(past: Past) -> None:
    rows = page(*ROWS, plan=PLAN)
    commit = past.commit(rows)
    past.commit(page(PLAN))
    seen = past.verified()
    (finding,) = seen.findings
    assert (seen.outcome, finding.rule) == ("violated", RULE)
    assert (finding.commit, finding.path) == (past.id(commit), rows.path)
    assert f"a row of run {PLAN.run_id} was not committed after its plan" in finding.message


def test_rows_on_a_branch_without_their_plan_are_a_violation_even_once_merged(past: Past) -> None:
    planned = past.commit(page(PLAN), on=[1])
    rows = past.commit(page(*ROWS, plan=PLAN), on=[1])
    past.commit(on=[planned, rows])
    (finding,) = past.verified().findings
    assert (finding.rule, finding.severity, finding.commit) == (RULE, "violation", past.id(rows))


def test_rows_on_a_branch_that_merged_the_plan_first_are_clean(past: Past) -> None:
    planned = past.commit(page(PLAN), on=[1])
    beside = past.change({"README.md": b"hello\n"}, on=[1])
    merged = past.commit(on=[beside, planned])
    past.commit(page(*ROWS, plan=PLAN), on=[merged])
    assert past.verified().findings == ()


def test_a_plan_in_the_commit_of_its_rows_is_a_weakness_and_the_book_is_verified(
    past: Past,
) -> None:
    commit = past.commit(page(PLAN), page(*ROWS, plan=PLAN))
    seen = past.verified()
    (finding,) = seen.findings
    assert (seen.outcome, finding.severity, finding.rule) == ("verified", "weakness", RULE)
    assert (finding.commit, finding.line) == (past.id(commit), 1)
    assert "it can't be shown which was there first" in finding.message


def test_an_exclusion_in_the_commit_of_its_row_is_a_weakness(past: Past) -> None:
    past.commit(page(PLAN))
    leaf = page(exclusion_of(ROWS[1]))
    commit = past.commit(page(*ROWS, plan=PLAN), leaf)
    seen = past.verified()
    (finding,) = seen.findings
    assert (seen.outcome, finding.severity) == ("verified", "weakness")
    assert (finding.commit, finding.path, finding.line) == (past.id(commit), leaf.path, 1)
    assert finding.message.startswith(f"exclusion of {ROWS[1].attempt_id} came in the same commit")


def test_an_exclusion_before_its_row_is_a_violation(past: Past) -> None:
    past.commit(page(PLAN))
    commit = past.commit(page(exclusion_of(ROWS[1])))
    past.commit(page(*ROWS, plan=PLAN))
    (finding,) = past.verified().findings
    assert (finding.severity, finding.commit) == ("violation", past.id(commit))


def test_a_reinstatement_in_the_commit_of_its_exclusion_is_a_weakness(
    repository: Repository,
) -> None:
    book = story(repository)
    excluded = exclusion_of(book.rows[4], number=7)
    book.past.commit(page(excluded), page(reinstatement_of(excluded, number=8)))
    (finding,) = book.past.verified().findings
    assert (finding.severity, finding.rule) == ("weakness", RULE)
    assert "the exclusion it takes back" in finding.message


def test_a_rerun_before_the_row_it_repeats_is_a_violation(past: Past) -> None:
    again, row = rerun_of(PLAN, ROWS[1])
    past.commit(page(PLAN))
    past.commit(page(again))
    past.commit(page(row, plan=again))
    past.commit(page(*ROWS, plan=PLAN))
    found = of_rule(past.verified(), RULE)
    assert [finding.commit for finding in found] == [past.id(3), past.id(4)]


def test_a_plan_before_its_freeze_is_a_violation(repository: Repository) -> None:
    past = Past(repository)
    planned = past.commit(page(PLAN))
    past.commit(freeze_of(PLAN))
    past.commit(page(*ROWS, plan=PLAN))
    found = past.verified().findings
    assert {(f.severity, f.rule, f.commit) for f in found} == {
        ("violation", RULE, past.id(planned))
    }
    assert {f.message.partition(" was not committed after the freeze of ")[2][:8] for f in found} == {
        "its rule", "its conf", "material",
    }  # fmt: skip


def test_a_plan_in_the_commit_of_its_freeze_is_a_weakness(repository: Repository) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN), page(PLAN))
    seen = past.verified()
    assert seen.outcome == "verified"
    assert {(f.severity, f.rule) for f in seen.findings} == {("weakness", RULE)}


def test_a_page_added_in_order_and_once_more_out_of_order_is_judged_by_the_worse(
    past: Past,
) -> None:
    honest = past.commit(page(PLAN), on=[1])
    honest = past.commit(page(*ROWS, plan=PLAN), on=[honest])
    squashed = past.commit(page(PLAN), page(*ROWS, plan=PLAN), on=[1])
    past.commit(on=[honest, squashed])
    (finding,) = past.verified().findings
    assert (finding.severity, finding.rule) == ("weakness", RULE)
