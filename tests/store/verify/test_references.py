"""Rule 3: what a record is about is in the book, and is the very row that is meant."""

from tests.builders import (
    exclusion_of,
    plan_of,
    reinstatement_of,
    rerun_decision_of,
    rerun_of,
    row_of,
    row_sha256,
)
from tests.store.verify.builder import of_rule, page, story

from evalbook.store.git import Repository

RULE = "referenced"


def test_a_decision_about_a_row_that_is_not_there_is_a_violation(repository: Repository) -> None:
    book = story(repository)
    ghost = row_of(plan_of({"complete": 9}, run="20261130-2200-aaaa"), "complete", 9, "i")
    leaf = page(exclusion_of(ghost, number=7))
    commit = book.past.commit(leaf)
    (finding,) = book.past.verified().findings
    assert finding[:3] == (
        "violation", RULE, f"exclusion of {ghost.attempt_id}: no such row is in the book",
    )  # fmt: skip
    assert finding[3:] == (book.past.id(commit), leaf.path, 1)


def test_a_decision_about_a_row_of_another_evaluation_finds_no_row(repository: Repository) -> None:
    book = story(repository)
    book.past.commit(page(exclusion_of(book.rows[4], evaluation="other", number=7)))
    (finding,) = of_rule(book.past.verified(), RULE)
    assert "no such row is in the book" in finding.message


def test_a_decision_that_means_other_bytes_of_the_row_is_a_violation(
    repository: Repository,
) -> None:
    book = story(repository)
    book.past.commit(page(exclusion_of(book.rows[4], number=7, subject_sha256="0" * 64)))
    (finding,) = book.past.verified().findings
    assert f"it means a row with other bytes than {book.second.path}:2" in finding.message


def test_an_honest_rerun_is_clean(repository: Repository) -> None:
    book = story(repository)
    plan, row = rerun_of(book.plan, book.rows[4])
    book.past.commit(page(rerun_decision_of(book.rows[4], plan.run_id, number=7)))
    book.past.commit(page(plan))
    book.past.commit(page(row, plan=plan))
    seen = book.past.verified()
    assert (seen.outcome, seen.findings) == ("verified", ())


def test_a_rerun_of_a_row_that_is_not_there_is_named_in_plan_and_row(
    repository: Repository,
) -> None:
    book = story(repository)
    ghost = row_of(plan_of({"complete": 9}, run="20261130-2200-aaaa"), "complete", 9, "i")
    plan, row = rerun_of(book.plan, ghost)
    book.past.commit(page(plan))
    book.past.commit(page(row, plan=plan))
    found = of_rule(book.past.verified(), RULE)
    assert [(finding.commit, finding.path) for finding in found] == [
        (book.past.id(6), page(plan).path),
        (book.past.id(7), page(row, plan=plan).path),
    ]


def test_a_rerun_without_a_reason_is_a_violation(repository: Repository) -> None:
    book = story(repository)
    plan, _ = rerun_of(book.plan, book.rows[4])
    book.past.commit(page(plan.model_copy(update={"reason": None})))
    (finding,) = of_rule(book.past.verified(), RULE)
    assert finding.message == f"run {plan.run_id} is a rerun without a reason"


def test_an_order_to_rerun_names_a_run_that_does_so(repository: Repository) -> None:
    book = story(repository)
    plan, _ = rerun_of(book.plan, book.rows[4])
    leaf = page(rerun_decision_of(book.rows[1], plan.run_id, number=7))
    book.past.commit(leaf)
    book.past.commit(page(plan))
    (finding,) = book.past.verified().findings
    assert (finding.rule, finding.path, finding.line) == (RULE, leaf.path, 1)
    assert finding.message.endswith(f"does not rerun {book.rows[1].attempt_id}")


def test_a_recovery_may_stand_on_the_page_of_the_attempt_it_carried_on(
    repository: Repository,
) -> None:
    book = story(repository)
    plan = plan_of({"complete": 2}, run="20261130-2200-aaaa")
    failed = row_of(plan, "complete", 1, "f")
    recovered = row_of(
        plan, "complete", 2, recovery_of=failed.attempt_id, recovery_of_sha256=row_sha256(failed)
    )
    book.past.commit(page(plan))
    book.past.commit(page(failed, recovered, plan=plan))
    assert book.past.verified().findings == ()


def test_a_recovery_that_means_other_bytes_is_a_violation(repository: Repository) -> None:
    book = story(repository)
    plan = plan_of({"complete": 1}, run="20261130-2200-aaaa")
    row = row_of(
        plan, "complete", 1, recovery_of=book.rows[1].attempt_id, recovery_of_sha256="0" * 64
    )
    book.past.commit(page(plan))
    book.past.commit(page(row, plan=plan))
    (finding,) = book.past.verified().findings
    assert finding.message.startswith(f"recovery of {book.rows[1].attempt_id}: it means a row")


def test_an_exclusion_can_be_taken_back_and_made_again(repository: Repository) -> None:
    book = story(repository)
    excluded = exclusion_of(book.rows[4])
    book.past.commit(page(reinstatement_of(excluded, number=2)))
    again = exclusion_of(book.rows[4], number=3)
    book.past.commit(page(again))
    book.past.commit(page(reinstatement_of(again, number=4)))
    assert book.past.verified().findings == ()


def test_taking_back_what_was_never_excluded_is_a_violation(repository: Repository) -> None:
    book = story(repository)
    never = exclusion_of(book.rows[4], number=8)
    book.past.commit(page(reinstatement_of(never, number=9)))
    (finding,) = book.past.verified().findings
    assert finding.message == (
        f"takes back {never.decision_id}, but no such exclusion is in the book"
    )


def test_taking_back_the_exclusion_of_another_row_is_a_violation(repository: Repository) -> None:
    book = story(repository)
    other = exclusion_of(book.rows[1], decision_id=exclusion_of(book.rows[4]).decision_id)
    book.past.commit(page(reinstatement_of(other)))
    (finding,) = book.past.verified().findings
    assert finding.message.endswith(f"which is about {book.rows[4].attempt_id}")


def test_an_exclusion_can_be_taken_back_only_once(repository: Repository) -> None:
    book = story(repository)
    excluded = exclusion_of(book.rows[4])
    book.past.commit(page(reinstatement_of(excluded, number=2)))
    leaf = page(reinstatement_of(excluded, number=3))
    book.past.commit(leaf)
    (finding,) = book.past.verified().findings
    assert (finding.severity, finding.path) == ("violation", leaf.path)
    assert "is taken back already, by d-20261130-2200-0002" in finding.message


def test_taken_back_on_two_branches_is_a_weakness(repository: Repository) -> None:
    book = story(repository)
    excluded = exclusion_of(book.rows[4])
    one = book.past.commit(page(reinstatement_of(excluded, number=2)), on=[5])
    two = book.past.commit(page(reinstatement_of(excluded, number=3)), on=[5])
    book.past.commit(on=[one, two])
    seen = book.past.verified()
    (finding,) = seen.findings
    assert (seen.outcome, finding.severity) == ("verified", "weakness")
