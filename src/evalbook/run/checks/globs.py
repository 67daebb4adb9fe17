"""Which paths a glob of a task matches."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_ANY_PARTS = "(?:/[^/]+)*"
"""Patterns match the path with a slash before each part, also the first."""


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a relative POSIX path matches at least one glob; no globs match nothing.

    ``*`` and ``?`` stay within one part and take leading dots too; ``**`` as a whole part stands for
    any number of parts, also none (``**/x`` matches ``x``). A glob whose last part is a plain name
    matches what lies below a folder of that name as well, so ``tests`` protects all of a folder.
    Brackets and everything else stand for themselves; case matters.
    """
    return any(_compiled(glob).fullmatch(f"/{path}") for glob in globs)


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> re.Pattern[str]:
    parts = [part for part in glob.split("/") if part not in {"", "."}]
    if glob.endswith("/") or (parts and not set("*?") & set(parts[-1])):
        parts.append("**")
    pattern = ""
    for part in _without_repeats(parts):
        pattern += _ANY_PARTS if part == "**" else f"/{_part(part)}"
    return re.compile(pattern, re.DOTALL)


def _without_repeats(parts: Sequence[str]) -> list[str]:
    """Return the parts with every run of ``**`` made one, which means the same and matches faster."""
    return [
        part
        for number, part in enumerate(parts)
        if part != "**" or number == 0 or parts[number - 1] != "**"
    ]


def _part(part: str) -> str:
    special = {"*": "[^/]*", "?": "[^/]"}
    return "".join(special.get(each, re.escape(each)) for each in re.sub(r"\*+", "*", part))
