"""Which paths a glob of a task matches."""

from collections.abc import Callable, Iterable, Sequence


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a relative POSIX path matches at least one glob; no globs match nothing.

    ``*`` and ``?`` stay within one part and take leading dots too; ``**`` as a whole part stands for
    any number of parts, also none (``**/x`` matches ``x``). A glob whose last part is a plain name
    matches what lies below a folder of that name as well, so ``tests`` protects all of a folder.
    Brackets and everything else stand for themselves; case matters.
    """
    parts = path.split("/")
    return any(_fits(parts, _parts(glob), "**", _part_fits) for glob in globs)


def _parts(glob: str) -> list[str]:
    parts = [part for part in glob.split("/") if part not in {"", "."}]
    if glob.endswith("/") or (parts and not set("*?") & set(parts[-1])):
        parts.append("**")
    return parts


def _part_fits(part: str, pattern: str) -> bool:
    return _fits(part, pattern, "*", lambda one, wanted: wanted in {"?", one})


def _fits(
    items: Sequence[str], pattern: Sequence[str], star: str, equal: Callable[[str, str], bool]
) -> bool:
    """Whether items match a pattern in which ``star`` stands for any number of them.

    Only the latest star is ever extended, which is enough and keeps the time to the product of the
    two lengths: paths are the agent's, and an expression with several stars could be made to stall.
    """
    at = wanted = 0
    latest: int | None = None
    resume = 0
    while at < len(items):
        if wanted < len(pattern) and pattern[wanted] == star:
            latest, resume = wanted, at
            wanted += 1
        elif wanted < len(pattern) and equal(items[at], pattern[wanted]):
            at, wanted = at + 1, wanted + 1
        elif latest is not None:
            resume += 1
            at, wanted = resume, latest + 1
        else:
            return False
    return all(each == star for each in pattern[wanted:])
