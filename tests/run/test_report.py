"""What an agent reports is taken for what it is worth, and never makes a figure up."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbook.run.report import Report, Use, read_report


def read(said: object, *, currency: str | None = None) -> Report:
    return read_report(json.dumps(said).encode(), currency=currency)


def test_everything_may_be_left_out() -> None:
    assert read({}) == Report()


@pytest.mark.parametrize(
    ("said", "config", "cost", "unit"),
    [
        ({"cost": 0.1, "currency": "EUR"}, None, "0.1", "EUR"),
        ({"cost": "0.0800"}, "CNY", "0.08", "CNY"),
        ({"cost": 1e-7, "currency": "USD"}, "CNY", "0.0000001", "USD"),
        ({"cost": 0}, "CNY", "0", "CNY"),
        ({}, "CNY", None, None),
        ({"cost": None}, "CNY", None, None),
        ({"cost": "unknown"}, "CNY", None, None),
        ({"cost": -1}, "CNY", None, None),
        ({"cost": True}, "CNY", None, None),
        ({"cost": "1e999999999"}, "CNY", None, None),
        ({"cost": "NaN"}, "CNY", None, None),
        ({"cost": 1}, None, None, None),
        ({"cost": 1, "currency": "euro"}, "CNY", None, None),
    ],
)
def test_a_cost_is_exact_or_unknown(
    said: object, config: str | None, cost: str | None, unit: str | None
) -> None:
    report = read(said, currency=config)

    assert (report.cost, report.currency) == (cost, unit)


def test_a_cost_written_as_a_number_keeps_its_digits() -> None:
    report = read_report(b'{"cost": 0.10000000000000000001}', currency="EUR")

    assert report.cost == "0.10000000000000000001"


def test_what_is_wrong_is_said_and_the_rest_is_kept() -> None:
    report = read(
        {
            "tokens_in": "many", "tokens_out": 5, "tool_retries": 1.5, "human_hints": "left",
            "dependencies": {}, "stop_reasn": "x", "human_seconds": -1,
        }
    )  # fmt: skip

    assert report.tokens_out == 5
    assert (report.tokens_in, report.tool_retries, report.human_hints) == (None, None, None)
    assert report.problems == (
        "report: unknown key 'stop_reasn'",
        'report: tokens_in is "many", not a whole number of at least 0',
        'report: tool_retries is "1.5", not a whole number of at least 0',
        'report: human_hints is "left", not a list',
        "report: human_seconds is -1, not a number of at least 0",
        "report: dependencies is {}, not a list",
    )


def test_no_hint_is_something_else_than_nothing_said_of_hints() -> None:
    assert read({"human_hints": []}).human_hints == ()
    assert read({}).human_hints is None


def test_a_use_of_something_outside_is_read() -> None:
    said = {
        "name": "weather\nAPI", "version": 1.2, "at": "2026-11-30T22:18:04+01:00", "seconds": "0.50",
        "status": 429, "rate_limited": True, "error": "slow down", "response_file": "r/1.json",
    }  # fmt: skip

    report = read(
        {"dependencies": [said, {"name": "x", "at": "yesterday", "rate_limited": "yes"}, 5]}
    )

    assert report.dependencies == (
        Use(
            "weather API",
            "1.2",
            "2026-11-30T21:18:04.000Z",
            "0.5",
            "429",
            True,
            "slow down",
            "r/1.json",
        ),
        Use("x"),
    )
    assert report.problems == (
        'report: dependencies[1].at is "yesterday", not a moment with a time zone',
        "report: dependencies[2] has no name",
    )


def test_lists_without_end_are_cut() -> None:
    report = read({"human_hints": ["x"] * 5_000})

    assert len(report.human_hints or ()) == 1_000
    assert report.problems == ("report: human_hints: only the first 1000 are kept",)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
_KEYS = st.sampled_from(
    ["tokens_in", "cost", "currency", "stop_reason", "human_hints", "human_seconds", "dependencies",
     "name", "at", "seconds", "version", "response_file"]
)  # fmt: skip


@given(
    said=st.dictionaries(_KEYS, _JSON, max_size=6), use=st.dictionaries(_KEYS, _JSON, max_size=6)
)
def test_no_report_breaks_the_reader_and_all_it_takes_is_text_for_a_record(
    said: dict[str, object], use: dict[str, object]
) -> None:
    report = read({"dependencies": [use], **said})

    json.dumps(report).encode()
    repr(report).encode()
    str(report).encode("utf-8")
    for text in (report.stop_reason, *(report.human_hints or ()), *report.problems):
        if text is not None:
            text.encode()


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_said_to_be_no_report(content: bytes) -> None:
    report = read_report(content, currency=None)

    assert report == Report() or report.problems or content.strip().startswith(b"{")
