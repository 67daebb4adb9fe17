"""What an agent reports of itself, in the file that ``EVALBOOK_REPORT`` names.

One JSON object; every key may be left out. ``tokens_in``, ``tokens_out``, ``tool_retries``: whole
numbers. ``cost``: a number, or decimal text, with ``currency`` (ISO 4217; default: the config's).
``stop_reason``: why it stopped. ``human_hints``: list of texts a person gave it; ``human_seconds``:
how long that took. ``recovery_of``: id of the attempt whose conversation it carries on.
``dependencies``: list of objects, one for each use of something outside: ``name``, ``version`` (null
where it can't be pinned), ``at`` (ISO 8601 with zone), ``seconds``, ``status``, ``rate_limited``,
``error``, ``response_file`` (path of the recorded response, beside the report).

Nothing here decides a verdict. What is wrong is left out and said in the row's note; what is left
out stays unknown, and never becomes 0.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from evalbook.base.times import decimal_text, instant

_SAID_MAX = 2_000
"""Characters of a text that are kept."""
_LIST_MAX = 1_000
"""Entries of a list that are kept."""
_COUNT_MAX = 10**15
_CURRENCY = re.compile(r"[A-Z]{3}")
_DIGITS_MAX = 30

_KEYS = frozenset(
    {"tokens_in", "tokens_out", "cost", "currency", "stop_reason", "tool_retries", "human_hints",
     "human_seconds", "recovery_of", "dependencies"}
)  # fmt: skip


class Use(NamedTuple):
    """One use of something outside, as reported."""

    name: str
    version: str | None = None
    at: str | None = None
    seconds: str | None = None
    status: str | None = None
    rate_limited: bool = False
    error: str | None = None
    response_file: str | None = None


class Report(NamedTuple):
    """What was reported and could be understood. None: not reported."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: str | None = None
    currency: str | None = None
    """Of the cost; none where there is no cost."""
    stop_reason: str | None = None
    tool_retries: int | None = None
    human_hints: tuple[str, ...] | None = None
    human_seconds: str | None = None
    recovery_of: str | None = None
    dependencies: tuple[Use, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be understood, one line each."""


def read_report(content: bytes, *, currency: str | None) -> Report:
    """Return what a report says; ``currency`` is that of costs which name none."""
    try:
        said = json.loads(content, parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError, InvalidOperation) as error:
        return Report(problems=(f"the report is not JSON: {error}",))
    if not isinstance(said, dict):
        return Report(problems=("the report is not a JSON object",))
    reader = _Reader(said, "")
    reader.problems += [
        f"report: unknown key {_short(key)!r}" for key in sorted(said) if key not in _KEYS
    ]
    cost = reader.number("cost")
    unit = reader.text("currency") or currency
    if unit is not None and not _CURRENCY.fullmatch(unit):
        reader.problems.append(f"report: currency {_short(unit)!r} is no ISO 4217 code")
        unit = None
    if cost is not None and unit is None:
        reader.problems.append(f"report: a cost of {cost} without a currency stays unknown")
        cost = None
    report = Report(
        tokens_in=reader.count("tokens_in"),
        tokens_out=reader.count("tokens_out"),
        cost=cost,
        currency=unit if cost is not None else None,
        stop_reason=reader.text("stop_reason"),
        tool_retries=reader.count("tool_retries"),
        human_hints=reader.texts("human_hints"),
        human_seconds=reader.number("human_seconds"),
        recovery_of=reader.text("recovery_of"),
        dependencies=_uses(reader),
    )
    return report._replace(problems=tuple(reader.problems))


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _short(text: object) -> str:
    line = str(text).encode("utf-8", "backslashreplace").decode()
    return line if len(line) <= 60 else f"{line[:59]}…"  # noqa: PLR2004 - fits a line of the note


def _uses(reader: "_Reader") -> tuple[Use, ...]:
    uses = []
    for index, entry in enumerate(reader.list("dependencies") or ()):
        inner = _Reader(entry if isinstance(entry, dict) else {}, f"dependencies[{index}].")
        name = inner.text("name")
        if name is None:
            reader.problems.append(f"report: dependencies[{index}] has no name")
            continue
        uses.append(
            Use(
                name=" ".join(name.split())[:80],
                version=inner.text("version"),
                at=inner.moment("at"),
                seconds=inner.number("seconds"),
                status=inner.text("status"),
                rate_limited=inner.said.get("rate_limited") is True,
                error=inner.text("error"),
                response_file=inner.text("response_file"),
            )
        )
        reader.problems += inner.problems
    return tuple(uses)


class _Reader:
    """Takes values of a kind out of an object, noting what is none."""

    def __init__(self, said: Mapping[str, Any], prefix: str) -> None:
        self.said = said
        self.problems: list[str] = []
        self._prefix = prefix

    def _wrong(self, key: str, wanted: str) -> None:
        value = _short(json.dumps(self.said[key], default=str))
        self.problems.append(f"report: {self._prefix}{key} is {value}, not {wanted}")

    def count(self, key: str) -> int | None:
        value = self.said.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _COUNT_MAX:
            return value
        self._wrong(key, "a whole number of at least 0")
        return None

    def number(self, key: str) -> str | None:
        value = self.said.get(key)
        if value is None:
            return None
        try:
            number = None if isinstance(value, bool) else Decimal(value)
        except (InvalidOperation, TypeError, ValueError):
            number = None
        if number is None or not number.is_finite() or number < 0 or _too_long(number):
            self._wrong(key, "a number of at least 0")
            return None
        return decimal_text(number)

    def text(self, key: str) -> str | None:
        value = self.said.get(key)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            value = str(value)  # a status of 429, a version of 1.2
        if value is None or isinstance(value, str):
            clean = (value or "").encode("utf-8", "backslashreplace").decode().strip()
            return clean[:_SAID_MAX] or None
        self._wrong(key, "a text")
        return None

    def moment(self, key: str) -> str | None:
        value = self.text(key)
        if value is None:
            return None
        try:
            return instant(datetime.fromisoformat(value))
        except (ValueError, OverflowError):
            self._wrong(key, "a moment with a time zone")
            return None

    def list(self, key: str) -> list[object] | None:
        value = self.said.get(key)
        if value is None:
            return None
        if not isinstance(value, list):
            self._wrong(key, "a list")
            return None
        if len(value) > _LIST_MAX:
            self.problems.append(
                f"report: {self._prefix}{key}: only the first {_LIST_MAX} are kept"
            )
        return value[:_LIST_MAX]

    def texts(self, key: str) -> tuple[str, ...] | None:
        value = self.list(key)
        if value is None:
            return None
        clean = [str(each).encode("utf-8", "backslashreplace").decode() for each in value]
        return tuple(each[:_SAID_MAX] for each in clean)


def _too_long(number: Decimal) -> bool:
    """Whether a number has more digits than anything that was measured: ``1e999999`` is no cost."""
    exponent = number.as_tuple().exponent
    return len(number.as_tuple().digits) > _DIGITS_MAX or (
        isinstance(exponent, int) and abs(exponent) > _DIGITS_MAX
    )
