"""Checks of JSON documents."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple, NoReturn

from evalbook.records.checks import JsonEquals
from evalbook.run.checks.answers import (
    Answer,
    BrokenCheckError,
    UnreadableError,
    broken_if_unreadable,
    listed,
    quoted,
)
from evalbook.run.checks.reading import text_of

DEEPEST = 100
"""Levels of nesting; deeper documents are not compared."""
_MISSING = object()
_INDEX = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


def json_equals(check: JsonEquals, workspace: Path, references: Path) -> Answer:
    """Hold when the document, or its part at ``path``, equals the reference's or the given value.

    The order of keys makes no difference, that of lists does. 1 = 1.0, but true is not 1, and decimal
    fractions are compared exactly as written. A document with a key twice in one object is unreadable.
    """
    wanted = _wanted(check, references)
    document = read_json(workspace, check.file)
    found = _at(document, check.path)
    if found is _MISSING:
        return Answer(
            "failed", _shown(wanted), f"nothing at {check.path}", f"{check.file}, {check.path}"
        )
    different = first_difference(wanted, found, check.path)
    if different is None:
        return Answer("held", _shown(wanted), "equal", place_in(check.file, check.path))
    return Answer(
        "failed", different.expected, different.actual, place_in(check.file, different.pointer)
    )


def _wanted(check: JsonEquals, references: Path) -> object:
    if check.path and not check.path.startswith("/"):
        raise BrokenCheckError(
            f"the path {quoted(check.path)} is no JSON pointer: it begins with /"
        )
    if check.expected is None:
        return check.value
    with broken_if_unreadable("the reference"):
        wanted = _at(read_json(references, check.expected), check.path)
    if wanted is _MISSING:
        raise BrokenCheckError(f"expected/{check.expected} has nothing at {check.path}")
    return wanted


def place_in(file: str, pointer: str) -> str:
    """Return where something stands: the file and, unless it is the whole, the JSON pointer."""
    return f"{file}, {pointer}" if pointer else file


def read_json(folder: Path, name: str, *, exact: bool = True) -> object:
    """Return a JSON document; with ``exact``, fractions as `Decimal`, else as `float`.

    Raises:
        UnreadableError: for what is no JSON: NaN, a key twice in one object, nesting deeper than
            `DEEPEST`, or broken syntax, with line and column.
    """
    return parse_json(text_of(folder, name), name, exact=exact)


def parse_json(text: str, name: str, *, exact: bool = True) -> object:
    """Return a document from its text, as `read_json` does."""

    def refuse(word: str) -> NoReturn:
        raise UnreadableError(f"holds {word}, which is no JSON", name)

    def unique(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        if len(made) < len(pairs):
            times = Counter(key for key, _ in pairs)
            twice = next(key for key in times if times[key] > 1)
            raise UnreadableError(f"has the key {quoted(twice)} twice in one object", name)
        return made

    try:
        value: object = json.loads(
            text,
            parse_constant=refuse,
            parse_float=Decimal if exact else float,
            object_pairs_hook=unique,
        )
    except json.JSONDecodeError as error:
        where = f"{name}, line {error.lineno}, column {error.colno}"
        raise UnreadableError(f"is no JSON: {error.msg}", where) from None
    except RecursionError:
        raise UnreadableError(f"is nested deeper than {DEEPEST} levels", name) from None
    except (ValueError, ArithmeticError):
        raise UnreadableError("holds a number too long to compare", name) from None
    if _too_deep(value):
        raise UnreadableError(f"is nested deeper than {DEEPEST} levels", name)
    return value


def _children(value: object) -> Sequence[object]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
        case _:
            return ()


def _too_deep(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(DEEPEST):
        level = [child for each in level for child in _children(each)]
        if not level:
            return False
    return True


def _at(document: object, pointer: str) -> object:
    """Return what a JSON pointer (RFC 6901) names, or the mark for nothing."""
    value = document
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        match value:
            case dict() if key in value:
                value = value[key]
            case list() if _is_index(key) and int(key) < len(value):
                value = value[int(key)]
            case _:
                return _MISSING
    return value


def _is_index(text: str) -> bool:
    return _INDEX.fullmatch(text) is not None


class Different(NamedTuple):
    """The first place where two JSON values differ."""

    pointer: str
    expected: str
    actual: str


def first_difference(expected: object, actual: object, pointer: str) -> Different | None:
    """Return the first place, in the order of the expected document, where the two differ."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _in_objects(expected, actual, pointer)
    if isinstance(expected, list) and isinstance(actual, list):
        return _in_lists(expected, actual, pointer)
    if _equal(expected, actual):
        return None
    return Different(pointer, _shown(expected), _shown(actual))


def _in_objects(
    expected: Mapping[str, object], actual: Mapping[str, object], pointer: str
) -> Different | None:
    missing = [quoted(key) for key in expected if key not in actual]
    extra = [quoted(key) for key in actual if key not in expected]
    if missing or extra:
        return Different(
            pointer,
            f"the key {listed(missing)}" if missing else "no other keys",
            f"also the key {listed(extra)}" if extra else "no such key",
        )
    steps = ((key.replace("~", "~0").replace("/", "~1"), key) for key in expected)
    found = (
        first_difference(expected[key], actual[key], f"{pointer}/{step}") for step, key in steps
    )
    return next((each for each in found if each), None)


def _in_lists(
    expected: Sequence[object], actual: Sequence[object], pointer: str
) -> Different | None:
    pairs = enumerate(zip(expected, actual, strict=False))
    found = (first_difference(one, other, f"{pointer}/{number}") for number, (one, other) in pairs)
    first = next((each for each in found if each), None)
    if first or len(expected) == len(actual):
        return first
    return Different(pointer, f"{len(expected)} items", f"{len(actual)} items")


def _equal(expected: object, actual: object) -> bool:
    one, other = _number(expected), _number(actual)
    if one is not None and other is not None:
        return one == other
    return type(expected) is type(actual) and expected == actual


def _number(value: object) -> Decimal | None:
    match value:
        case bool():
            return None
        case int() | Decimal():
            return Decimal(value)
        case float():
            return Decimal(repr(value))
        case _:
            return None


def _shown(value: object) -> str:
    match value:
        case str():
            return quoted(value)
        case dict():
            return f"an object of {len(value)} keys"
        case list():
            return f"a list of {len(value)} items"
        case None | bool():
            return json.dumps(value)
        case _:
            return str(value)
