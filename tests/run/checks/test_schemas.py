import json

import pytest
from tests.run.checks.graded import Desk

SCHEMA = {
    "type": "object",
    "required": ["rows"],
    "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
    "$defs": {"row": {"type": "integer", "minimum": 1}},
}


def schema_outcome(desk: Desk, left: str, schema: object) -> tuple[str, str, str, str]:
    desk.with_files({"a.json": left}, {"schema.json": json.dumps(schema)})
    found = desk.outcome("json_schema", file="a.json", schema_file="schema.json")
    return found.outcome, found.expected, found.actual, found.evidence


def test_a_valid_document_holds_and_an_invalid_one_names_the_place(desk: Desk) -> None:
    assert schema_outcome(desk, '{"rows": [1, 2]}', SCHEMA)[0] == "held"
    assert schema_outcome(desk, '{"rows": [1, 0]}', SCHEMA) == (
        "failed",
        "minimum: 1",
        "0 is less than the minimum of 1",
        "a.json, /rows/1",
    )
    assert schema_outcome(desk, "{}", SCHEMA)[0] == "failed"
    assert schema_outcome(desk, "{", SCHEMA)[0] == "failed"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "no-such-type"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "#/$defs/gone"},
        {"$ref": "other.json"},
        ["no", "schema"],
    ],
)
def test_a_broken_schema_breaks_the_check_and_fetches_nothing(desk: Desk, schema: object) -> None:
    assert schema_outcome(desk, '"x"', schema)[0] == "error"


def test_a_pattern_that_is_no_expression_breaks_the_check(desk: Desk) -> None:
    assert schema_outcome(desk, '"x"', {"pattern": "("})[0] == "error"


def test_a_text_made_to_stall_a_pattern_fails_after_its_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbook.run.checks.schemas._LONGEST_S", 1.0)
    left = json.dumps("a" * 40 + "!")
    outcome, _, actual, _ = schema_outcome(desk, left, {"pattern": "^(a+)+$"})
    assert (outcome, actual) == ("failed", "can't be validated within 1 s")
