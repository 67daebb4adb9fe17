"""What must be said beside figures."""

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

from evalbook.derive.figures import ConfigFigures, figures_of
from evalbook.present.sentences import cautions, headline


def only(outcomes: dict[str, str], **facts: Any) -> ConfigFigures:
    (found,) = figures_of(book_of(outcomes, **facts))
    return found


def said(figures: ConfigFigures) -> dict[str, str]:
    return {sentence.key: sentence.text for sentence in cautions(figures)}


def test_a_single_run_is_called_one() -> None:
    assert said(only(WORKED_EXAMPLE))["single-run"] == (
        "A single run: says nothing about another day."
    )
    runs = [plan_of({"a": 4}, run=f"20261130-211{n}-aaaa") for n in (1, 2)]
    pages = [page for run in runs for page in pages_of(run, rows_of(run, {"a": "pppp"}))]
    assert said(figures_of(folded(*pages))[0]) == {}


def test_too_few_attempts_for_a_k_are_named() -> None:
    rules = {"attempts": 5, "k": (1, 3, 5)}
    found = said(only({"a": "ppp", "b": "p"}, rules=rules))
    assert found["too-few-for-3"].startswith("pass@3 and pass^3 are means over 1 of 2 tasks")
    assert found["too-few-for-5"] == "Not enough attempts for pass@5 and pass^5: no task has 5."
    assert found["few-attempts"].startswith("2 of 2 tasks have fewer than 4 attempts")
    assert found["unequal"].startswith("Tasks have 1 to 3 attempts")


def test_what_never_happened_is_no_failure() -> None:
    found = said(only({"a": "pppp"}, planned={"a": 5}))
    assert found["not-executed"] == (
        "1 planned attempt was never started; it is counted apart, not as a failure."
    )


def test_attempts_that_were_not_judged_are_named_with_their_bound() -> None:
    found = said(only({"a": "ppii"}))
    assert "2 attempts were not judged and count as not passed" in found["not-judged"]
    assert "100.0 %" in found["not-judged"]


def test_the_headline_gives_both_sides_of_an_exclusion() -> None:
    plan = plan_of({"a": 4})
    rows = rows_of(plan, {"a": "ppfi"})
    again, row = rerun_of(plan, rows[2])
    run = (*pages_of(plan, rows), *pages_of(again, [row]))
    (figures,) = figures_of(folded(*run, page_of(exclusion_of(rows[3]))))
    assert headline(figures) == ("2 of 4 attempts passed, 50.0 %. After exclusion: 2 of 3, 66.7 %.")
    assert said(figures)["reruns-apart"].startswith("1 rerun is shown apart")
    assert "reruns in its place: 0" in said(figures)["excluded"]


def test_nothing_measured_is_said_and_nothing_else_is_claimed() -> None:
    figures = only({}, planned={"a": 3})
    assert headline(figures) == "Nothing was measured: no planned attempt left a row."
    assert set(said(figures)) == {"not-executed"}


def test_fixed_seeds_and_replayed_tools_are_said() -> None:
    found = said(only({"a": "pppp"}, seeds="fixed", condition="replayed"))
    assert "not everyday variation" in found["fixed-seeds"]
    assert "not to be compared with live runs" in found["replayed"]
    assert "unknown-condition" in said(only({"a": "pppp"}, condition="unknown"))
