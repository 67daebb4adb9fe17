"""The lines on which the keys of a TOML document stand.

tomllib reads values but does not say where it found them.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of a document."""

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|\[\[?|\]\]?|[{}=.,\n]"
    r"|[^\s\"'#\[\]{}=.,]+"
    r"|[^\S\n]+",
    re.DOTALL,
)


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the 1-based line of every key and table header of a valid TOML document.

    Keys of inline tables have no line of their own here; that of the key around them serves.
    """
    tokens = _tokens(text)
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for token in tokens:
        if token.text in {"[", "[["}:
            table = _resolved(_key(tokens, "]]" if token.text == "[[" else "]"), counts)
            if token.text == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            lines.setdefault(table, token.line)
        elif not token.text.isspace() and not token.text.startswith("#"):
            path = table
            for part in (_unquoted(token.text), *_key(tokens, "=")):
                path = (*path, part)
                lines.setdefault(path, token.line)
            _skip_value(tokens)
    return lines


class _Token(NamedTuple):
    text: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        yield _Token(match[0], line)
        line += match[0].count("\n")


def _key(tokens: Iterator[_Token], end: str) -> tuple[str, ...]:
    """Return the parts of a dotted key up to ``end``, which is consumed."""
    parts: list[str] = []
    for token in tokens:
        if token.text == end:
            break
        if token.text != "." and not token.text.isspace():
            parts.append(_unquoted(token.text))
    return tuple(parts)


def _unquoted(key: str) -> str:
    if key[:1] in {'"', "'"}:
        return str(next(iter(tomllib.loads(f"{key} = 0"))))
    return key


def _resolved(key: tuple[str, ...], counts: Mapping[KeyPath, int]) -> KeyPath:
    """Return a header's path: the last table of every array of tables on the way."""
    path: KeyPath = ()
    for number, part in enumerate(key, 1):
        path = (*path, part)
        if path in counts and number < len(key):
            path = (*path, counts[path])
    return path


def _skip_value(tokens: Iterator[_Token]) -> None:
    depth = 0
    for token in tokens:
        if token.text in {"[", "[[", "{"}:
            depth += len(token.text)
        elif token.text in {"]", "]]", "}"}:
            depth -= len(token.text)
        elif token.text == "\n" and depth == 0:
            return
