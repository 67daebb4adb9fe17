import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbook.base.canonical import sha256_hex
from evalbook.records.attempt import Attempt
from evalbook.records.decision import Exclusion
from evalbook.records.pages import (
    artifact_path,
    decisions_folder,
    line_bytes,
    page_bytes,
    page_path,
    parse_artifact_path,
    parse_page,
    parse_page_path,
    run_folder,
)

RUN = "20261130-2118-k3f9"
AT = "2026-11-30T21:18:04.123Z"


def row(**changes: Any) -> Attempt:
    facts: dict[str, Any] = {
        "record": "attempt/1", "task_id": "complete", "attempt_id": f"{RUN}/complete/1",
        "request_id": f"{RUN}/complete/1", "config_ref": f"agent@v1:{'a' * 64}",
        "input_sha256": "b" * 64, "initial_state_ref": "c" * 64, "grader_ref": "unknown",
        "started_at": AT, "ended_at": AT, "verdict": "pass", "failed_checks": (),
        "artifact_ref": None, "trace_ref": None, "tool_retries": 0, "human_help": 0,
        "elapsed_seconds": "1.5", "cost": "0.08", "currency": "CNY", "dependency_error": None,
        "rerun_of": None, "termination": "exited",
    }  # fmt: skip
    return Attempt.model_validate(facts | changes)


def exclusion(**changes: Any) -> Exclusion:
    facts: dict[str, Any] = {
        "record": "exclusion/1", "decision_id": "d-20261130-2118-k3f9", "evaluation": "inventory",
        "subject": f"{RUN}/complete/1", "subject_sha256": "d" * 64, "reason": "the disk was full",
        "decided_by": "A Person <a@example.org>", "decided_at": AT, "ground": "infra_error",
    }  # fmt: skip
    return Exclusion.model_validate(facts | changes)


def placed(content: bytes, folder: str = run_folder("inventory", "agent", RUN)) -> str:
    return page_path(folder, AT, "attempts", content)


def test_a_page_read_back_is_what_was_written() -> None:
    content = page_bytes([row(), row(attempt_id=f"{RUN}/complete/2")])
    parsed = parse_page(placed(content), content, commit="f" * 40)
    assert parsed.flaws == ()
    assert [line.record for line in parsed.page.lines] == [
        row(),
        row(attempt_id=f"{RUN}/complete/2"),
    ]
    assert parsed.page.lines[0].sha256 == sha256_hex(line_bytes(row()))
    assert [line.number for line in parsed.page.lines] == [1, 2]


@given(
    st.builds(
        row,
        note=st.none() | st.text(st.characters(codec="utf-8")),
        termination=st.text(
            st.characters(codec="utf-8", categories=["L", "P", "Zs"]), min_size=1, max_size=80
        ),
        seed=st.none() | st.integers(-(2**63), 2**64),
        human_hints=st.lists(st.text(st.characters(codec="utf-8"))).map(tuple),
    )
)
def test_every_row_has_one_line_and_comes_back_from_it(attempt: Attempt) -> None:
    content = page_bytes([attempt])
    parsed = parse_page(placed(content), content)
    assert parsed.flaws == ()
    assert [line.record for line in parsed.page.lines] == [attempt]
    assert content.count(b"\n") == 1


def test_the_columns_of_f9_are_written_even_where_they_say_nothing() -> None:
    said = json.loads(line_bytes(row(cost="unknown", currency=None)))
    assert said["cost"] == "unknown"
    assert said["rerun_of"] is None
    assert "recovery_of" not in said


LINE = line_bytes(row()).decode()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (LINE + "\r", "canonical"),
        (LINE.replace(",", ", ", 1), "canonical"),
        (LINE.replace('"verdict":"pass"', '"verdict":"fail","verdict":"pass"'), "canonical"),
        (LINE.replace('"tool_retries":0', '"tool_retries":0.0'), "tool_retries"),
        (LINE.replace('"1.5"', '"1.50"'), "elapsed_seconds"),
        (LINE.replace('"1.5"', "NaN"), "elapsed_seconds"),
        (LINE.replace('"pass"', '"passed"'), "verdict"),
        (LINE.replace('"rerun_of":null', '"rerun_of":null,"mood":1'), "mood"),
        (LINE.replace("21:18:04.123Z", "21:18:64.123Z"), "started_at"),
        (LINE.replace('"attempt/1"', '"attempt/99"'), "attempt/99"),
        (LINE.replace(f"{RUN}/complete/1", f"{RUN}/other/1"), "complete"),
        (LINE.replace("0.08", "-0.08"), "cost"),
        (LINE[:-1], ""),
        ("", ""),
        ("\ufeff" + LINE, ""),
        ("[" * 100_000, ""),
    ],
)
def test_a_line_that_is_not_its_one_form_is_a_flaw_on_its_line(line: str, says: str) -> None:
    content = page_bytes([row(attempt_id=f"{RUN}/complete/2")]) + line.encode() + b"\n"
    parsed = parse_page(placed(content), content)
    assert [flaw.line for flaw in parsed.flaws] == [2]
    assert says in parsed.flaws[0].message


def test_bytes_that_are_not_those_of_the_name_are_a_flaw() -> None:
    content = page_bytes([row()])
    other = page_bytes([row(verdict="fail")])
    assert [flaw.line for flaw in parse_page(placed(content), other).flaws] == [None]


@pytest.mark.parametrize(("content", "line"), [(b"", None), (LINE.encode(), 1)])
def test_an_empty_or_cut_page_is_a_flaw(content: bytes, line: int | None) -> None:
    assert [flaw.line for flaw in parse_page(placed(content), content).flaws] == [line]


@pytest.mark.parametrize(
    "folder",
    [
        run_folder("inventory", "other", RUN),
        run_folder("inventory", "agent", "20261130-2118-zzzz"),
    ],
)
def test_a_row_in_the_folder_of_another_run_is_a_flaw(folder: str) -> None:
    content = page_bytes([row()])
    assert (
        "stands in the folder of" in parse_page(placed(content, folder), content).flaws[0].message
    )


def test_a_decision_in_the_folder_of_another_month_is_a_flaw() -> None:
    content = page_bytes([exclusion()])
    right = page_path(decisions_folder("inventory", AT), AT, "decisions", content)
    wrong = page_path(
        decisions_folder("inventory", "2026-10-01T00:00:00.000Z"), AT, "decisions", content
    )
    assert parse_page(right, content).flaws == ()
    assert "2026-10" in parse_page(wrong, content).flaws[0].message


def test_one_page_holds_one_kind_of_record() -> None:
    with pytest.raises(ValueError, match="can't hold"):
        page_bytes([row(), exclusion()])
    with pytest.raises(ValueError, match="no records"):
        page_bytes([])


@pytest.mark.parametrize("reason", ["", "  ", "\n"])
def test_a_decision_without_a_reason_cannot_be_made(reason: str) -> None:
    with pytest.raises(ValueError, match="reason"):
        exclusion(reason=reason)


@pytest.mark.parametrize(
    "path",
    [
        "ledger/x/materials/20261130t211804z-plan-0123456789abcdef.jsonl",
        "ledger/x/runs/agent/20261130t211804z-attempts-0123456789abcdef.jsonl",
        "ledger/X/materials/20261130t211804z-materials-0123456789abcdef.jsonl",
        "ledger/x/materials/../20261130t211804z-materials-0123456789abcdef.jsonl",
        "ledger/x/decisions/2026-11/20261130t211804z-mood-0123456789abcdef.jsonl",
        "ledger/x/materials/20261130t211804z-materials-0123456789abcdef.jsonl\n",
        "x/materials/20261130t211804z-materials-0123456789abcdef.jsonl",
    ],
)
def test_other_paths_are_no_pages(path: str) -> None:
    assert parse_page_path(path) is None


def test_an_artifact_stands_under_its_own_digest() -> None:
    digest = sha256_hex(b"evidence")
    found = parse_artifact_path(artifact_path("inventory", digest))
    assert found is not None
    assert found.sha256 == digest
    assert parse_artifact_path(f"ledger/inventory/artifacts/00/{digest}") is None
