"""Names, times and settings of a source in the book's forms."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from evalbook.records.fields import CheckName, Label, Name
from evalbook.run.importers.words import (
    check_name,
    instant_of,
    key_part,
    label_of,
    name_of,
    settings_of,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)


@given(texts)
def test_every_id_becomes_a_name_and_every_test_a_check_name(text: str) -> None:
    TypeAdapter(Name).validate_python(name_of(text))
    TypeAdapter(CheckName).validate_python(check_name(text))
    TypeAdapter(Label).validate_python(label_of(text))
    assert "/" not in key_part(text)


@given(texts, texts)
def test_two_ids_or_tests_never_share_a_name(one: str, other: str) -> None:
    for named in (name_of, check_name, key_part):
        assert (named(one) == named(other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"), [("a.", "a~2e"), ("x" * 150, "x" * 151), ("con", "0~~con"), ("T", "~54"), ("a/b", "a%2fb")]
)  # fmt: skip
def test_ids_that_look_alike_stay_apart(one: str, other: str) -> None:
    assert name_of(one) != name_of(other)
    assert key_part(one) != key_part(other)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2025-09-10T01:27:25.975148+00:00", "2025-09-10T01:27:25.975Z"),
        ("2025-09-10T01:27:25Z", "2025-09-10T01:27:25.000Z"),
        ("2025-09-10T03:27:25+02:00", "2025-09-10T01:27:25.000Z"),
        ("2025-09-10T01:27:25", None),
        ("2025-09-10", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("9999-12-31T23:59:59-23:59", None),
        ("0999-01-01T00:00:00+00:00", None),
        ("soon", None),
    ],
)
def test_only_a_time_with_a_zone_is_an_instant(text: str, instant: str | None) -> None:
    assert instant_of(text) == instant


def test_settings_are_flat_sorted_and_without_nulls() -> None:
    made = settings_of({"b": {"y": 1, "x": None, "p.q": True}, "a": ["s", 2.5]})
    assert [(each.key, each.value) for each in made] == [
        ("a", '["s",2.5]'), ('b."p.q"', "true"), ("b.y", "1"),
    ]  # fmt: skip


def test_a_setting_that_a_secret_hides_behind_is_not_kept() -> None:
    made = settings_of({"headers": [{"x-api-key": "hunter2hunter2"}], "max_tokens": 4096})
    assert "hunter2" not in made[0].value
    assert re.fullmatch("4096", made[1].value)
