"""Rule 6: the files that rows name are there, with the bytes that rows state."""

from collections.abc import Mapping
from typing import Any

from tests.builders import plan_of, row_of
from tests.store.verify.builder import Past, artifact, freeze_of, page

from evalbook.base.canonical import sha256_hex
from evalbook.store.git import Repository
from evalbook.store.verify.verify import Verification

PLAN = plan_of({"complete": 1})
OUTPUT = b"department,devices\n"
RULE = "evidenced"


def _named(place: str, content: bytes = OUTPUT, **changes: Any) -> dict[str, Any]:
    return {
        "name": "output/summary.csv", "role": "output", "sha256": sha256_hex(content),
        "size": len(content), "place": place, **changes,
    }  # fmt: skip


def _past(repository: Repository, named: Mapping[str, Any], *files: bytes) -> Past:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    past.commit(page(PLAN))
    row = row_of(PLAN, "complete", 1, artifacts=(named,))
    past.commit(page(row, plan=PLAN), *(artifact(each) for each in files))
    return past


def _only(seen: Verification) -> tuple[str, str, int | None]:
    (finding,) = seen.findings
    assert finding.rule == RULE
    return finding.severity, finding.message, finding.line


def test_a_file_in_the_ledger_is_checked_without_being_asked_for(repository: Repository) -> None:
    seen = _past(repository, _named("ledger"), OUTPUT).verified()
    assert (seen.outcome, seen.findings, seen.artifacts) == ("verified", (), 1)


def test_a_file_that_the_ledger_lacks_is_a_violation(repository: Repository) -> None:
    seen = _past(repository, _named("ledger")).verified()
    severity, message, line = _only(seen)
    assert (seen.outcome, severity, line) == ("violated", "violation", 1)
    assert message.startswith("output/summary.csv is not among the ledger's artifacts")


def test_a_row_that_states_another_size_is_a_violation(repository: Repository) -> None:
    seen = _past(repository, _named("ledger", size=3), OUTPUT).verified()
    assert _only(seen)[:2] == (
        "violation", f"output/summary.csv has {len(OUTPUT)} bytes, the row says 3",
    )  # fmt: skip


def test_the_store_is_left_alone_unless_asked_for(repository: Repository) -> None:
    seen = _past(repository, _named("store")).verified()
    assert (seen.outcome, seen.artifacts) == ("verified", 0)


def test_a_file_of_the_store_is_fetched_and_compared(repository: Repository) -> None:
    store = {sha256_hex(OUTPUT): OUTPUT}
    seen = _past(repository, _named("store")).verified(artifacts=store.get)
    assert (seen.outcome, seen.findings, seen.artifacts) == ("verified", (), 1)


def test_other_bytes_in_the_store_are_a_violation(repository: Repository) -> None:
    store = {sha256_hex(OUTPUT): b"department,devices\nsales,9\n"}
    seen = _past(repository, _named("store")).verified(artifacts=store.get)
    assert seen.outcome == "violated"
    assert _only(seen)[1].startswith("output/summary.csv has other bytes in the artifact store")


def test_a_file_that_the_store_lacks_leaves_the_book_unproven(repository: Repository) -> None:
    store: dict[str, bytes] = {}
    seen = _past(repository, _named("store")).verified(artifacts=store.get)
    assert (seen.outcome, _only(seen)[0]) == ("unproven", "weakness")
