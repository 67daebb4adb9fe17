"""One object of a source, and its fields as what they must be."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from evalbook.base.canonical import canonical_json, sha256_hex
from evalbook.base.problems import UserError
from evalbook.run.importers.reading import printable, quoted

_T = TypeVar("_T")

_MOST_ID = 300
"""Characters of an id."""
MOST_TEXT = 1_000_000
"""Characters of any text that is kept."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


class Cells(NamedTuple):
    """One object of a source, which knows where it stands.

    Each accessor returns None for a field that is missing or null, and raises UserError for one that
    is something else than asked for.
    """

    where: str
    """``results.json: row [3]``."""
    values: Mapping[str, Any]

    def error(self, message: str, *, hint: str | None = None) -> UserError:
        """Return the error that says what is wrong here."""
        return UserError(printable(f"{self.where}: {message}"), hint=hint)

    def has(self, key: str) -> bool:
        """Whether the field is there and not null."""
        return self.values.get(key) is not None

    def text(self, key: str) -> str | None:
        """Return a text of at most a million characters."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.error(f"{key} is {quoted(value)}, not a text")
        if len(value) > MOST_TEXT:
            raise self.error(f"{key} has {len(value)} characters, {MOST_TEXT} at most")
        if not _is_unicode(value):
            raise self.error(f"{key} holds half a surrogate pair, which is no Unicode text")
        return value

    def identifier(self, key: str) -> str | None:
        """Return a text that can be a name: not empty, on one line, at most 300 characters."""
        value = self.text(key)
        if value is None:
            return None
        if not value.strip() or _CONTROL.search(value):
            raise self.error(f"{key} is {quoted(value)}, which can't be a name")
        if len(value) > _MOST_ID:
            raise self.error(f"{key} has {len(value)} characters, {_MOST_ID} at most")
        return value

    def whole(self, key: str, *, least: int = 0, most: int) -> int | None:
        """Return a whole number in [least, most]."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.error(f"{key} is {quoted(value)}, not a whole number from {least} to {most}")
        return value

    def number(self, key: str) -> float | None:
        """Return a number."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.error(f"{key} is {quoted(value)}, not a number")
        return float(value)

    def truth(self, key: str) -> bool | None:
        """Return true or false."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.error(f"{key} is {quoted(value)}, not true, false or null")
        return value

    def table(self, key: str) -> "Cells | None":
        """Return an object of its own."""
        value = self.values.get(key)
        if value is None:
            return None
        return cells_of(printable(f"{self.where}: {key}"), value)

    def items(self, key: str) -> list[Any] | None:
        """Return a list."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, list):
            raise self.error(f"{key} is {quoted(value)}, not a list")
        return value

    def canonical(self, key: str) -> str:
        """Return a field's value as canonical JSON, ``null`` where it is missing."""
        try:
            return canonical_json(self.values.get(key)).decode()
        except (ValueError, RecursionError):
            raise self.error(f"{key} holds what has no canonical JSON form") from None

    def digest(self, *keys: str) -> str:
        """Return one SHA-256 for some fields: of the canonical JSON of an object of just these."""
        parts = ",".join(f'"{key}":{self.canonical(key)}' for key in sorted(keys))
        return sha256_hex(f"{{{parts}}}".encode())


def cells_of(where: str, value: object) -> Cells:
    """Return ``value`` as an object.

    Raises:
        UserError: when it is none.
    """
    if not isinstance(value, dict):
        raise UserError(f"{where}: is {quoted(value)}, not an object")
    return Cells(where, value)


def needed(cells: Cells, key: str, value: _T | None) -> _T:
    """Return a field's value.

    Raises:
        UserError: when it is missing or null.
    """
    if value is None:
        raise cells.error(f"{key} is missing")
    return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
