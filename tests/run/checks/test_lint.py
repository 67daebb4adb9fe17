from typing import Any

from evalbook.records.task import Task
from evalbook.run.checks.lint import lint, lint_suite

TALK = {"kind": "text_contains", "name": "says", "file": "answer.txt", "texts": ("done",)}
STATE = {"kind": "bytes_equal", "name": "right", "file": "a", "expected": "a"}
STILL = {"kind": "unchanged", "name": "still", "files": ("**",)}


def task(*checks: dict[str, Any], negative: bool = False) -> Task:
    facts = {"title": "T", "time_limit_s": 1, "negative": negative, "check": checks}
    return Task.model_validate(facts)


def test_a_check_of_the_state_has_no_weak_spot() -> None:
    assert lint(task(STATE)) == ()


def test_reading_words_is_named_as_weak_and_more_so_where_nothing_else_is_checked() -> None:
    assert lint(task(TALK, STATE)) == ("check 'says' is weak: it reads words, not the state",)
    assert lint(task(TALK))[-1] == "every check is weak: an agent can pass by talking"


def test_checks_that_hold_from_the_start_are_named_unless_that_is_the_point() -> None:
    assert "does nothing would pass" in lint(task(STILL))[0]
    assert lint(task(STILL, negative=True)) == ()
    assert lint(task(STILL, STATE)) == ()


def test_a_json_check_without_a_value_or_with_two_is_named() -> None:
    json = {"kind": "json_equals", "name": "j", "file": "a.json"}
    assert "compares with null" in lint(task(json))[0]
    assert "only 'expected' is used" in lint(task({**json, "expected": "a.json", "value": 1}))[0]
    assert lint(task({**json, "value": 0})) == ()


def test_a_suite_without_a_negative_task_is_warned_about() -> None:
    positive, negative = task(STATE), task(STILL, negative=True)
    assert lint_suite({"a": positive})[-1].startswith("no task says `negative = true`")
    assert lint_suite({"a": positive, "b": negative}) == ()
    assert lint_suite({}) == ()


def test_weak_spots_carry_the_id_of_their_task() -> None:
    found = lint_suite({"b": task(TALK, STATE), "a": task(STILL, negative=True)})
    assert found == ("b: check 'says' is weak: it reads words, not the state",)
