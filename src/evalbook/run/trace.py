"""The steps that an agent says it took.

A trace is JSON Lines, one object a step. Keys: ``index`` (from 1), ``time`` (ISO 8601), ``kind``
(``message``, ``question``, ``tool_call``, ``tool_result``, ``edit``, ``network``, ``stop``, ``note``, or any
other word), ``tool``, ``arguments`` (an object), ``result`` (a short text), ``error`` (a text), ``tokens_in``,
``tokens_out``. All are optional but ``kind``. Unknown kinds and keys are kept; a line that is no object
becomes a step of the kind ``unreadable`` with its text as the result.
"""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_LONGEST_LINE = 1 << 20
_COUNT_MAX = 10**12
"""Tokens of one step beyond which a number is nonsense."""


class Step(NamedTuple):
    """One step of a trace."""

    number: int
    """Its place in the trace, from 1; what the agent calls it stands in ``fields``."""
    kind: str
    fields: Mapping[str, object]
    """Everything the line says."""


def read_trace(content: bytes) -> tuple[Step, ...]:
    """Return the steps of a trace in the order in which they were written; none is dropped."""
    steps = []
    for index, raw in enumerate((line for line in content.split(b"\n") if line.strip()), 1):
        steps.append(_step(index, raw))
    return tuple(steps)


def tokens_in_trace(steps: Iterable[Step], key: str) -> int | None:
    """Return the sum of ``tokens_in`` or ``tokens_out`` over the steps that state it; none: none does."""
    said = [step.fields.get(key) for step in steps]
    counts = [each for each in said if isinstance(each, int) and not isinstance(each, bool)]
    known = [each for each in counts if 0 <= each <= _COUNT_MAX]
    return sum(known) if known else None


def _step(index: int, raw: bytes) -> Step:
    try:
        said = json.loads(raw) if len(raw) <= _LONGEST_LINE else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        return Step(index, "unreadable", {"result": raw[:2_000].decode("utf-8", "replace")})
    kind = said.get("kind")
    return Step(index, kind if isinstance(kind, str) and kind else "unnamed", said)
