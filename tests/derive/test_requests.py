"""First and final delivery of requests."""

from tests.builders import book_of, folded, pages_of, plan_of, rerun_of, row_of, row_sha256

from evalbook.derive.requests import Delivery, delivery_of


def test_without_retries_first_and_final_delivery_are_the_same() -> None:
    assert delivery_of(book_of({"a": "pfp"}).entries) == Delivery(3, 2, 2, 3)


def test_a_retry_that_passes_delivers_finally_and_the_first_failure_stays() -> None:
    plan = plan_of({"a": 2})
    first = row_of(plan, "a", 1, "f")
    retry = row_of(plan, "a", 2, "p", request_id=first.attempt_id)
    found = delivery_of(folded(*pages_of(plan, [first, retry])).entries)
    assert found == Delivery(requests=1, delivered_first=0, delivered_finally=1, attempts=2)
    assert found.retries == 1


def test_a_recovery_serves_the_request_of_what_it_carried_on() -> None:
    plan = plan_of({"a": 2})
    first = row_of(plan, "a", 1, "f")
    recovery = row_of(
        plan, "a", 2, "p", recovery_of=first.attempt_id, recovery_of_sha256=row_sha256(first)
    )
    assert delivery_of(folded(*pages_of(plan, [first, recovery])).entries) == Delivery(1, 0, 1, 2)


def test_a_rerun_belongs_to_no_request() -> None:
    plan = plan_of({"a": 1})
    first = row_of(plan, "a", 1, "f")
    again, row = rerun_of(plan, first, "p")
    book = folded(*pages_of(plan, [first]), *pages_of(again, [row]))
    assert delivery_of(book.entries) == Delivery(1, 0, 0, 1)
