"""Finding the attempts that a person means."""

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.derive.book import Book, Entry
from evalbook.jobs.desk import choose
from evalbook.records.attempt import Attempt

_MOST_NAMED = 3


class Selection(NamedTuple):
    """What a person typed to name attempts."""

    evaluation: str | None
    endings: tuple[str, ...]
    """Ids, or endings of ids."""
    config: str | None
    verdicts: tuple[str, ...]
    """Instead of ids: every attempt with one of these verdicts; ``unjudged``: without its own."""


class Found(NamedTuple):
    """One attempt, and the evaluation it belongs to."""

    evaluation: str
    entry: Entry


def find_attempts(book: Book, selection: Selection) -> tuple[Found, ...]:
    """Return the attempts that were meant, each once, in the order of their ids.

    Raises:
        UserError: when nothing was named, or an ending fits no attempt or several.
    """
    if bool(selection.endings) == bool(selection.verdicts):
        raise UserError(
            "name attempts, or --verdict, one of the two", hint="ids are in `evalbook show --json`"
        )
    names = [each.name for each in book.evaluations]
    if selection.evaluation is not None:
        names = [choose(names, selection.evaluation)]
    pool = [
        Found(each.name, entry)
        for each in book.evaluations
        if each.name in names
        for entry in each.entries
    ]
    if selection.verdicts:
        return _with_verdict(pool, names, selection)
    found = {}
    for ending in selection.endings:
        one = _only(pool, ending)
        found[one.entry.attempt.attempt_id] = one
    return tuple(found[attempt_id] for attempt_id in sorted(found))


def _with_verdict(
    pool: Iterable[Found], names: list[str], selection: Selection
) -> tuple[Found, ...]:
    if len(names) != 1:
        raise UserError("which evaluation's attempts?", hint="name it with --evaluation")
    found = [
        each
        for each in pool
        if _is_one_of(each.entry.attempt, selection.verdicts)
        and selection.config in {None, each.entry.plan.config}
    ]
    if not found:
        raise UserError(
            f"no attempt of {names[0]} has the verdict {' or '.join(selection.verdicts)}"
        )
    return tuple(sorted(found, key=lambda each: each.entry.attempt.attempt_id))


def _is_one_of(attempt: Attempt, verdicts: tuple[str, ...]) -> bool:
    return attempt.verdict in verdicts or ("unjudged" in verdicts and not attempt.judged)


def _only(pool: list[Found], ending: str) -> Found:
    """Return the one attempt whose id ends in ``ending``, at a part's border or within the run's letters."""
    exact = [each for each in pool if each.entry.attempt.attempt_id == ending]
    fitting = exact or [each for each in pool if _fits(each.entry.attempt.attempt_id, ending)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        named = ", ".join(each.entry.attempt.attempt_id for each in fitting[:_MOST_NAMED])
        more = f" and {len(fitting) - _MOST_NAMED} more" if len(fitting) > _MOST_NAMED else ""
        raise UserError(f"{ending!r} fits {named}{more}", hint="type more of the id")
    ids = [each.entry.attempt.attempt_id for each in pool]
    near = difflib.get_close_matches(ending, [*ids, *(i.partition("/")[2] for i in ids)], n=1)
    raise UserError(
        f"no attempt's id ends in {ending!r}",
        hint=f"did you mean {near[0]}?" if near else "see `evalbook log`",
    )


def _fits(attempt_id: str, ending: str) -> bool:
    before = attempt_id[: -len(ending)] if attempt_id.endswith(ending) else None
    return before is not None and ending != "" and before.endswith(("/", "-"))
