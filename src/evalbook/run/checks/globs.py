"""Matching relative paths against globs."""

import re
from collections.abc import Iterable
from functools import lru_cache


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a POSIX ``path`` matches one of ``globs`` as a whole.

    ``*`` and ``?`` stay within one part, ``**`` crosses parts (``**/x`` also matches ``x``), and a
    glob that names a folder means everything below it.
    """
    return any(_compiled(glob).fullmatch(path) is not None for glob in globs)


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> re.Pattern[str]:
    pattern = ""
    rest = glob.removesuffix("/")
    while rest:
        for token, meaning in (("**/", "(?:[^/]+/)*"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")):
            if rest.startswith(token):
                pattern += meaning
                rest = rest[len(token) :]
                break
        else:
            pattern += re.escape(rest[0])
            rest = rest[1:]
    return re.compile(f"{pattern}(?:/.*)?", re.DOTALL)
