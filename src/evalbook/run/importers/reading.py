"""Files that nobody vouches for, read whole or refused in one line."""

import json
import re
import stat
from collections.abc import Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import UserError

MOST_READ = 512 << 20
"""Bytes; a larger file is not read."""
_MOST_DIGITS = 100
_BOM = b"\xef\xbb\xbf"
_MOST_SHOWN = 60
"""Characters of a wrong value that an error quotes."""


class ReadFile(NamedTuple):
    """One file as it was read."""

    shown: str
    """Its path, as errors name it: printable, on one line."""
    name: str
    """Its name without folders, valid Unicode."""
    stem: str
    """Its name without the last ending."""
    content: bytes
    sha256: str

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.content)


def read_file(path: Path) -> ReadFile:
    """Return the bytes of a regular file.

    Raises:
        UserError: when it is not there, is a folder, a pipe or a device, can't be read, is empty, or
            has more than 512 MiB.
    """
    shown = printable(str(path))
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UserError(f"{shown}: is a folder", hint="name the result file itself")
        if not stat.S_ISREG(status.st_mode):  # to open a pipe would wait for its writer
            raise UserError(f"{shown}: is no regular file")
        if status.st_size > MOST_READ:
            raise UserError(f"{shown}: has more than {MOST_READ >> 20} MiB, too much to read in")
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{shown}: is not there") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{shown}: can't be read: {printable(why)}") from None
    if not content:
        raise UserError(f"{shown}: is empty")
    return ReadFile(shown, _unicode(path.name), _unicode(path.stem), content, sha256_hex(content))


def text_of(file: ReadFile) -> str:
    """Return the file's text, which must be UTF-8; a byte order mark is dropped.

    Raises:
        UserError: for other bytes, with the offset of the first.
    """
    try:
        return file.content.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        offset = error.start + (len(_BOM) if file.content.startswith(_BOM) else 0)
        raise UserError(f"{file.shown}: is no UTF-8 text, see byte {offset}") from None


class _Flaw(NamedTuple):
    """Stands in a parsed document where it says what JSON can't."""

    message: str


def json_of(file: ReadFile) -> object:
    """Return the JSON document in a file.

    Raises:
        UserError: for what is no JSON, with line and column; and, with its place in the document, for
            NaN, infinities, numbers of more than 100 digits and a key that is there twice.
    """
    flaws: list[_Flaw] = []

    def flaw(message: str) -> _Flaw:
        flaws.append(_Flaw(message))
        return flaws[-1]

    def real(text: str) -> float | _Flaw:
        value = float(text)
        return value if isfinite(value) else flaw("is a number beyond all bounds")

    def whole(text: str) -> int | _Flaw:
        return int(text) if len(text) <= _MOST_DIGITS else flaw(f"has {len(text)} digits")

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Flaw:
        values = dict(pairs)
        if len(values) == len(pairs):
            return values
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        return flaw(f"has the key {quoted(twice)} twice")

    try:
        document = json.loads(
            text_of(file),
            object_pairs_hook=table,
            parse_constant=lambda word: flaw(f"is {word}, which is no JSON"),
            parse_float=real,
            parse_int=whole,
        )
    except RecursionError:
        raise UserError(f"{file.shown}: is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise UserError(_no_json(file, error)) from None
    if flaws:
        where, first = _first_flaw(document)
        raise UserError(f"{file.shown}: {where} {first.message}")
    return document


def _no_json(file: ReadFile, error: json.JSONDecodeError) -> str:
    if error.pos >= len(error.doc.rstrip()):
        return f"{file.shown}, line {error.lineno}: ends in the middle of its JSON"
    place = f"line {error.lineno}, column {error.colno}"
    return f"{file.shown}, {place}: is no JSON: {printable(error.msg)}"


class _Place(NamedTuple):
    where: str
    flaw: _Flaw


def _first_flaw(document: object) -> _Place:
    """Return the first flaw in the order of the document, without recursion."""
    waiting: list[tuple[str, object]] = [("", document)]
    while waiting:
        where, value = waiting.pop()
        if isinstance(value, _Flaw):
            return _Place(where or "the document", value)
        waiting += reversed(list(_inside(where, value)))
    raise AssertionError("a flaw was made, so it stands in the document")


def _inside(where: str, value: object) -> Iterable[tuple[str, object]]:
    if isinstance(value, dict):
        for key, each in value.items():
            name = printable(key) if len(key) <= _MOST_SHOWN else quoted(key)
            yield (f"{where}.{name}" if where else name), each
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield (f"{where}[{index}]" if where else f"row [{index}]"), each


def printable(text: str) -> str:
    """Return ``text`` on one line: what can't be printed stands as an escape."""
    return "".join(_escaped(text))


def _escaped(text: str) -> Iterator[str]:
    for character in text:
        if character.isprintable():
            yield character
        else:
            yield character.encode("unicode_escape").decode()


def quoted(value: object) -> str:
    """Return a value as an error quotes it: on one line, cut to 60 characters."""
    if isinstance(value, str):
        text = printable(value[: _MOST_SHOWN + 1])
        return f'"{text[:_MOST_SHOWN]}…"' if len(text) > _MOST_SHOWN else f'"{text}"'
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def first_line(text: str, most: int) -> str:
    """Return the first line of ``text`` that says something, printable and cut to ``most``."""
    line = next(
        (each.strip() for each in re.split(r"[\r\n]+", text[: 64 * most]) if each.strip()), ""
    )
    shown = printable(line[:most])
    return shown if len(line) <= most and len(shown) <= most else f"{shown[: most - 1]}…"


def _unicode(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
