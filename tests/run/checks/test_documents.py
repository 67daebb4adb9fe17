import json

import pytest
from tests.run.checks.graded import Desk


def said(desk: Desk, left: str, value: object, path: str = "") -> tuple[str, str, str, str]:
    desk.with_files({"a.json": left})
    found = desk.outcome("json_equals", file="a.json", path=path, value=value)
    return found.outcome, found.expected, found.actual, found.evidence


@pytest.mark.parametrize(
    ("left", "value"),
    [
        ("1", 1.0),
        ("1.0", 1),
        ("1e2", 100),
        ("0.1", 0.1),
        ("null", None),
        ("true", True),
        ('{"b": 1, "a": [2]}', {"a": [2.0], "b": 1}),
        ('﻿{"a": 1}', {"a": 1}),
        ("12345678901234567890123", 12345678901234567890123),
    ],
)
def test_the_same_value_is_equal_however_written(desk: Desk, left: str, value: object) -> None:
    assert said(desk, left, value)[0] == "held"


@pytest.mark.parametrize(
    ("left", "value", "difference"),
    [
        ("true", 1, ("1", "true", "a.json")),
        ("1", True, ("true", "1", "a.json")),
        ('"1"', 1, ("1", '"1"', "a.json")),
        ("false", None, ("null", "false", "a.json")),
        ("{}", [], ("a list of 0 items", "an object of 0 keys", "a.json")),
        ('{"a": {"b/c": [1, 2]}}', {"a": {"b/c": [1, 3]}}, ("3", "2", "a.json, /a/b~1c/1")),
        ("[1, 2, 3]", [1, 2], ("2 items", "3 items", "a.json")),
        ('{"a": 1}', {"a": 1, "b": 2}, ('the key "b"', "no such key", "a.json")),
        ('{"a": 1, "b": 2}', {"a": 1}, ("no other keys", 'also the key "b"', "a.json")),
        ("0.30000000000000001", 0.3, ("0.3", "0.30000000000000001", "a.json")),
    ],
)
def test_the_first_difference_is_named_by_its_pointer(
    desk: Desk, left: str, value: object, difference: tuple[str, str, str]
) -> None:
    assert said(desk, left, value) == ("failed", *difference)


def test_a_pointer_picks_one_part(desk: Desk) -> None:
    left = json.dumps({"a": [{"b/c": 1, "m~n": 2, "": 3}]})
    assert said(desk, left, 1, "/a/0/b~1c")[0] == "held"
    assert said(desk, left, 2, "/a/0/m~0n")[0] == "held"
    assert said(desk, left, 3, "/a/0/")[0] == "held"
    for path in ("/a/1", "/a/00", "/a/-", "/a/٠", "/x", "/a/0/b~1c/d", "/a/" + "9" * 5_000):
        assert said(desk, left, 1, path)[0] == "failed"
    assert said(desk, left, 1, "a")[0] == "error"


def test_a_reference_is_compared_at_the_same_pointer(desk: Desk) -> None:
    desk.with_files(
        {"a.json": '{"total": 3, "at": "now"}'}, {"r.json": '{"total": 3, "at": "then"}'}
    )
    facts = {"file": "a.json", "expected": "r.json"}
    assert desk.outcome("json_equals", path="/total", **facts).outcome == "held"
    assert desk.outcome("json_equals", **facts).evidence == "a.json, /at"
    assert desk.outcome("json_equals", path="/gone", **facts).outcome == "error"


@pytest.mark.parametrize(
    ("left", "actual"),
    [
        ("", "is no JSON: Expecting value"),
        ("{'a': 1}", "is no JSON: Expecting property name"),
        ('{"a": 1, "a": 1}', 'has the key "a" twice in one object'),
        ("[NaN]", "holds NaN, which is no JSON"),
        ("[-Infinity]", "holds -Infinity, which is no JSON"),
        ("[" * 200_000, "is nested deeper than 100 levels"),
        ("[" * 150 + "]" * 150, "is nested deeper than 100 levels"),
        ("9" * 10_000, "holds a number too long to compare"),
        ("1e99999999999999999999", "holds a number too long to compare"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_json_fails_and_says_why(desk: Desk, left: str, actual: str) -> None:
    outcome, _, found, _ = said(desk, left, 1)
    assert outcome == "failed"
    assert found.startswith(actual)


def test_a_key_that_repeats_among_very_many_is_found_in_fair_time(desk: Desk) -> None:
    keys = ",".join(f'"{n}":0' for n in range(200_000))
    assert said(desk, f'{{{keys},"199999":1}}', 1)[2] == 'has the key "199999" twice in one object'


def test_a_lone_surrogate_can_still_be_written_down(desk: Desk) -> None:
    outcome, _, actual, _ = said(desk, r'"\ud800"', "x")
    assert (outcome, actual) == ("failed", r'"\ud800"')
    actual.encode()
