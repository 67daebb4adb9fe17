from decimal import Decimal

import pytest
from tests.run.checks.graded import Desk

from evalbook.records.attempt import TouchedFile


def touched(desk: Desk, **changes: str) -> Desk:
    desk.touched = tuple(
        TouchedFile.model_validate({"path": path, "change": change})
        for path, change in changes.items()
    )
    return desk


@pytest.mark.parametrize("change", ["created", "changed", "deleted"])
def test_whatever_happened_to_a_protected_file_is_a_change(desk: Desk, change: str) -> None:
    touched(desk, **{"data/devices.csv": change, "summary.csv": "created"})
    found = desk.outcome("unchanged", files=["data/**"])
    assert (found.outcome, found.actual) == ("failed", f"data/devices.csv {change}")
    assert desk.outcome("unchanged", files=["*.txt", "other/**"]).outcome == "held"


def test_only_what_was_allowed_may_be_touched(desk: Desk) -> None:
    touched(desk, **{"summary.csv": "created", "notes.txt": "created", "a.py": "deleted"})
    found = desk.outcome("only_changed", files=["*.csv"])
    assert (found.outcome, found.evidence) == ("failed", "notes.txt")
    assert found.actual == "notes.txt created, a.py deleted"
    assert desk.outcome("only_changed", files=["*.csv", "*.txt", "a.py"]).outcome == "held"


def test_nothing_touched_holds(desk: Desk) -> None:
    assert desk.outcome("only_changed", files=["a"]).outcome == "held"
    assert desk.outcome("unchanged", files=["**"]).outcome == "held"


def test_many_touched_files_are_named_in_short(desk: Desk) -> None:
    touched(desk, **{f"f{n}": "created" for n in range(1_000)})
    found = desk.outcome("unchanged", files=["**"])
    assert found.actual.endswith("and 995 more")


@pytest.mark.parametrize(
    ("elapsed", "outcome"), [("20", "held"), ("20.001", "failed"), ("0", "held")]
)
def test_the_time_limit_itself_is_still_in_time(desk: Desk, elapsed: str, outcome: str) -> None:
    desk.elapsed = Decimal(elapsed)
    found = desk.outcome("within_time", seconds=20)
    assert (found.outcome, found.actual) == (outcome, f"{elapsed} s")
