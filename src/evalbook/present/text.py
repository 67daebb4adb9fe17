"""Rounding and words: the one place where a number becomes text."""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import NamedTuple

from evalbook.derive.counts import Mean, Share
from evalbook.derive.effort import Effort, Sum
from evalbook.records.attempt import Attempt

NOTHING = "–"
"""Stands where there is no figure, beside a sentence that says why; never blank, never 0."""

_MORE_DECIMALS_FROM = 100
"""Attempts from which a percentage gets a second decimal, so that differences add up."""


class Language(NamedTuple):
    """What turns the English of templates and sentences into one language."""

    code: str
    """As in HTML's ``lang``."""
    gettext: Callable[[str], str]
    ngettext: Callable[[str, str, int], str]


def _same(text: str) -> str:
    return text


def _english_plural(one: str, many: str, number: int) -> str:
    return one if number == 1 else many


ENGLISH = Language("en", _same, _english_plural)


class Mark(NamedTuple):
    """How a verdict is shown: never by colour alone."""

    kind: str
    """Letter that styles and drawings go by: p, f, t, i or n."""
    symbol: str
    word: str


MARKS = {
    "pass": Mark("p", "●", "pass"),
    "fail": Mark("f", "✕", "fail"),
    "timeout": Mark("t", "⧗", "timeout"),
    "infra_error": Mark("i", "▫", "infrastructure error"),
    "not_executed": Mark("n", "○", "not executed"),
}


def mark_of(attempt: Attempt) -> Mark:
    """Return the mark of an attempt; one that was not judged says so beside its verdict."""
    mark = MARKS[attempt.verdict]
    if attempt.judged or attempt.passed:
        return mark
    return mark._replace(word=f"{mark.word}, not judged")


def percent(value: Share | None, attempts: int) -> str:
    """Return a share as ``60.0 %``; two decimals from 100 attempts on; `NOTHING` for None.

    What is not quite all or nothing never rounds to 100 or 0.
    """
    if value is None:
        return NOTHING
    step = Decimal("0.01") if attempts >= _MORE_DECIMALS_FROM else Decimal("0.1")
    exact = _decimal(value) * 100
    shown = exact.quantize(step, ROUND_HALF_UP)
    if shown == 0 < exact:
        return f"< {step} %"
    if shown == 100 > exact:  # noqa: PLR2004 - all of them
        return f"> {100 - step} %"
    return f"{shown} %"


def _decimal(value: Share) -> Decimal:
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return Decimal(repr(value))


def mean_over(mean: Mean, tasks: int, attempts: int) -> str:
    """Return ``86.7 %``, with ``(2 of 3 tasks)`` behind it where some task has no value."""
    if mean.tasks in {0, tasks}:
        return percent(mean.value, attempts)
    return f"{percent(mean.value, attempts)} ({mean.tasks} of {tasks} tasks)"


def out_of(passes: int, attempts: int) -> str:
    """Return ``9/15``: the count that stands before every rate."""
    return f"{passes}/{attempts}"


def count(number: int | Decimal) -> str:
    """Return a whole number with thousands apart: ``1,000``."""
    return f"{number:,}"


def short(digest: str) -> str:
    """Return the first 12 digits of a digest or commit; words such as ``unknown`` stay whole."""
    return digest[:12] if re.fullmatch(r"[0-9a-f]{40,}", digest) else digest


def day(instant: str) -> str:
    """Return ``2026-11-30``."""
    return instant[:10]


def minute(instant: str) -> str:
    """Return ``2026-11-30 21:18``, in UTC."""
    return f"{instant[:10]} {instant[11:16]}"


def name_only(person: str) -> str:
    """Return ``Name <mail>`` without the mail: pages are public, the book keeps it."""
    name = person.partition(" <")[0].strip()
    return name or person


def seconds(value: Decimal) -> str:
    """Return ``0.27 s``, ``41 s``, ``1 min 45 s`` or ``2 h 5 min``."""
    if value < 10:  # noqa: PLR2004 - below it the fraction matters
        return f"{value.quantize(Decimal('0.01'), ROUND_HALF_UP).normalize():f} s"
    whole = int(value.to_integral_value(ROUND_HALF_UP))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (rest if not hours else 0, "s")]
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount)


def size(number: int) -> str:
    """Return a number of bytes as ``512 B``, ``1.5 KiB`` or ``3.0 MiB``."""
    if number < 1024:  # noqa: PLR2004 - a KiB
        return f"{number} B"
    if number < 1024**2:
        return f"{number / 1024:.1f} KiB"
    return f"{number / 1024**2:.1f} MiB"


def coverage(total: Sum, shown: str) -> str:
    """Return ``shown``, with how many attempts did not report it; ``unknown`` where none did."""
    if total.known == 0:
        return "unknown" if total.unknown else "none"
    if total.unknown == 0:
        return shown
    return f"{shown} in {count(total.known)} attempts, unknown in {count(total.unknown)}"


def known_cost(effort: Effort) -> str:
    """Return ``1.86 CNY``, by currency, with how many costs are unknown; never 0 for unknown."""
    if not effort.costs:
        return "unknown" if effort.attempts else "none"
    sums = " + ".join(f"{money.total:f} {money.currency}" for money in effort.costs)
    if effort.costs_unknown == 0:
        return sums
    return f"{sums} known; unknown for {count(effort.costs_unknown)} of {count(effort.attempts)} attempts"


_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def visible(text: str) -> str:
    """Return ``text`` with every control and direction character written out: ``⟨U+202E⟩``.

    What an agent or a log wrote can't reorder a page, colour a terminal or hide a letter.
    Carriage returns before a line feed are dropped; tabs and line feeds stay.
    """
    return _INVISIBLE.sub(lambda m: f"⟨U+{ord(m[0]):04X}⟩", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return ``text`` on one line, visible, runs of blanks as one."""
    return " ".join(visible(text).split())
