from datetime import UTC, datetime, timedelta, timezone

from pydantic import TypeAdapter

from evalbook.base.identifiers import decision_id, run_id
from evalbook.records.fields import DecisionId, RunId

NOW = datetime(2026, 12, 1, 5, 18, tzinfo=timezone(timedelta(hours=8)))


def test_ids_are_readable_utc_and_fit_the_records() -> None:
    letters = iter("k3f9k3f9")
    made = run_id(NOW, lambda _: next(letters))
    assert made == "20261130-2118-k3f9"
    assert TypeAdapter(RunId).validate_python(made) == made
    decided = decision_id(NOW.astimezone(UTC), lambda _: next(letters))
    assert decided == "d-20261130-2118-k3f9"
    assert TypeAdapter(DecisionId).validate_python(decided) == decided


def test_letters_that_are_read_wrongly_are_never_offered() -> None:
    offered: set[str] = set()

    def pick(letters: str) -> str:
        offered.update(letters)
        return letters[0]

    run_id(NOW, pick)
    assert not offered & set("lo01ABC-_ ")
