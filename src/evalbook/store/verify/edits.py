"""What was done to a page, in words, with the first line that shows it."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """How new bytes differ from the old."""

    line: int
    """1-based, in the new bytes; for deleted lines, where the first of them stood."""
    message: str


def describe_edit(old: bytes, new: bytes) -> Edit:
    """Return how ``new`` differs from ``old``, which it must."""
    before, after = _lines(old), _lines(new)
    line = _first_difference(before, after)
    if [each.rstrip() for each in before] == [each.rstrip() for each in after]:
        crlf = b"\r\n" in new and b"\r\n" not in old
        return Edit(line, f"only line ends and spaces, from line {line}{' (CRLF)' if crlf else ''}")
    if Counter(before) == Counter(after):
        return Edit(line, f"rows reordered from line {line}")
    if _is_within(after, before):
        return Edit(line, f"row deleted: line {line} is gone{_count(len(before) - len(after))}")
    if _is_within(before, after):
        return Edit(line, f"row inserted: line {line} is new{_count(len(after) - len(before))}")
    return Edit(line, f"line {line} differs")


def _lines(content: bytes) -> Sequence[bytes]:
    """Return the lines with their ends, as git and pages count them."""
    parts = content.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _first_difference(before: Sequence[bytes], after: Sequence[bytes]) -> int:
    for number, (one, other) in enumerate(zip(before, after, strict=False), 1):
        if one != other:
            return number
    return min(len(before), len(after)) + 1


def _is_within(few: Sequence[bytes], many: Sequence[bytes]) -> bool:
    """Whether ``few`` is what is left of ``many`` when lines are taken out."""
    rest = iter(many)
    return all(line in rest for line in few)


def _count(lines: int) -> str:
    return f", {lines} in all" if lines > 1 else ""
