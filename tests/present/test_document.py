"""The shape that programs rely on."""

import json
import math
from collections.abc import Mapping
from typing import Any

from tests.builders import (
    WORKED_EXAMPLE,
    book_of,
    exclusion_of,
    folded,
    page_of,
    pages_of,
    plan_of,
    rerun_of,
    rows_of,
)

from evalbook.derive.book import EvaluationBook
from evalbook.derive.figures import figures_of
from evalbook.present.document import document_text, number, show_document

RULES = {"attempts": 5, "k": (1, 3), "exclusion": {"allowed": ("infra_error",)}}


def document(book: EvaluationBook) -> dict[str, Any]:
    return show_document(book.name, "c" * 40, figures_of(book))


def shape(value: object) -> object:
    """The keys of a document, without its values."""
    if isinstance(value, Mapping):
        return {key: shape(each) for key, each in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else None


def test_the_worked_example_gives_the_agreed_numbers() -> None:
    (config,) = document(book_of(WORKED_EXAMPLE, rules=RULES))["configs"]
    assert config["counts"]["executed"] == 15
    assert config["counts"]["pass"] == 9
    assert config["rate"]["attempts"]["value"] == 0.6
    assert math.isclose(config["pass_at"]["3"]["value"], 13 / 15, rel_tol=1e-11)
    assert math.isclose(config["pass_hat"]["3"]["value"], 11 / 30, rel_tol=1e-11)
    tasks = {task["task"]: task for task in config["tasks"]}
    assert tasks["missing-department"]["pass_hat"] == {"1": 0.6, "3": 0.1}
    assert tasks["duplicate-ids"]["pass_at"] == {"1": 0.2, "3": 0.6}


def test_no_agreed_key_is_missing() -> None:
    found = shape(document(book_of(WORKED_EXAMPLE, rules=RULES)))
    counts = (
        "planned",
        "executed",
        "not_executed",
        "pass",
        "fail",
        "timeout",
        "infra_error",
        "excluded",
    )
    side = {
        "counts": dict.fromkeys(counts),
        "rate": {"attempts": {"value": None}, "tasks": {"value": None}},
        "pass_at": {"1": {"value": None, "tasks": None}, "3": {"value": None, "tasks": None}},
        "pass_hat": {"1": {"value": None, "tasks": None}, "3": {"value": None, "tasks": None}},
    }  # fmt: skip
    ks = {"1": None, "3": None}
    agreed = {
        "schema": None, "evaluation": None, "ledger": None,
        "configs": [{
            "config": None, "version": None, "config_ref": None, **side, "before_exclusion": side,
            "tasks": [{"task": None, "n": None, "c": None, "pass_at": ks, "pass_hat": ks}],
        }],
    }  # fmt: skip
    assert missing(agreed, found) == []


def missing(agreed: object, found: object, where: str = "") -> list[str]:
    if isinstance(agreed, dict):
        assert isinstance(found, dict), where
        return [
            gap
            for key, each in agreed.items()
            for gap in (missing(each, found[key], f"{where}.{key}") if key in found else [f"{where}.{key}"])
        ]  # fmt: skip
    if isinstance(agreed, list):
        assert isinstance(found, list), where
        return missing(agreed[0], found[0], where)
    return []


def test_too_few_attempts_are_null_and_never_a_number() -> None:
    (config,) = document(book_of({"a": "pp"}, rules=RULES))["configs"]
    assert config["pass_at"]["3"] == {"value": None, "tasks": 0}
    assert config["tasks"][0]["pass_hat"]["3"] is None


def test_executed_holds_every_first_attempt_and_the_verdicts_are_those_that_count() -> None:
    plan = plan_of({"a": 4}, rules=RULES)
    rows = rows_of(plan, {"a": "ppfi"})
    again, row = rerun_of(plan, rows[3])
    book = folded(*pages_of(plan, rows), *pages_of(again, [row]), page_of(exclusion_of(rows[3])))
    (config,) = document(book)["configs"]
    after, before = config["counts"], config["before_exclusion"]["counts"]
    assert (after["executed"], after["excluded"], after["stood_in"]) == (4, 1, 1)
    assert (after["pass"], after["fail"], after["infra_error"]) == (3, 1, 0)
    assert (before["executed"], before["excluded"]) == (4, 0)
    assert (before["pass"], before["fail"], before["infra_error"]) == (2, 1, 1)
    attempts = {each["attempt"]: each for each in config["tasks"][0]["attempts"]}
    assert attempts[rows[3].attempt_id]["excluded"] == "the machine lost power"
    assert attempts[row.attempt_id]["rerun_of"] == rows[3].attempt_id


def test_the_text_is_one_sorted_json_document() -> None:
    made = document(book_of(WORKED_EXAMPLE, rules=RULES))
    text = document_text(made)
    assert json.loads(text) == made
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def test_numbers_have_twelve_significant_digits() -> None:
    assert number(1 / 3) == 0.333333333333
    assert number(2.2229697512078617e-19) == 2.22296975121e-19
    assert number(None) is None
