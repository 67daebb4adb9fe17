"""The source's names, settings and times in the forms that the book has for them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from evalbook.base.canonical import canonical_json, sha256_hex, slug
from evalbook.base.times import instant
from evalbook.records.fields import FileDigest, Setting
from evalbook.run.importers.reading import first_line
from evalbook.run.scrub import Scrubber, secrets_in

_NAME_MOST = 120
_CHECK_MOST = 120
_ERROR_MOST = 300
"""Characters of an error that a row keeps."""
_SCRUB = Scrubber({})
_INSTANT = re.compile(r"[0-9]{4}-.*\.[0-9]{3}Z")


def name_of(text: str) -> str:
    """Return a source's id as a `Name`, reversibly where it is not too long, uniquely in any case."""
    made = slug(text)
    if made.endswith("."):
        made = f"{made[:-1]}~2e"
    if len(made) <= _NAME_MOST:
        return made
    return f"{made[:100]}~~{sha256_hex(text.encode())[:16]}"


def check_name(text: str) -> str:
    """Return a test's name as a `CheckName`; two tests never share one.

    What is lost on the way (capitals, brackets) is made up for by six digits of the name's digest.
    """
    plain = re.sub(r"[^a-z0-9_.:-]+", "-", text.lower()).strip("-_.:") or "check"
    if plain == text and len(text) <= _CHECK_MOST:
        return plain
    return f"{plain[: _CHECK_MOST - 7]}.{sha256_hex(text.encode())[:6]}"


def label_of(text: str) -> str:
    """Return ``text`` as a version's label."""
    made = re.sub(r"[^A-Za-z0-9._+~-]+", "-", text).lstrip("._+~-")[:64]
    return made or "imported"


def key_part(text: str) -> str:
    """Return ``text`` without slashes, reversibly, as one part of a key."""
    return text.replace("%", "%25").replace("/", "%2f")


def settings_of(values: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Return nested values flattened to dotted keys, sorted, without nulls and credentials.

    Raises:
        ValueError: for what has no canonical JSON form, in keys or values.
        RecursionError: for what is nested too deeply.
    """
    canonical_json([key for key, _ in _flat(values, "")])
    found = [
        Setting(key=key, value=canonical_json(_hidden(key, value)).decode())
        for key, value in _flat(values, "")
        if value is not None
    ]
    return tuple(sorted(found, key=lambda each: each.key))


def _flat(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        name = prefix + (f'"{key}"' if "." in key or '"' in key else key)
        if isinstance(value, dict):
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def _hidden(key: str, value: object) -> object:
    """Return a setting's value, but not where its name or shape tells of a secret."""
    if isinstance(value, str):
        value.encode()  # a scrubber would make half a surrogate pair into something else
        return "[scrubbed]" if secrets_in({key: value}, ()) else _SCRUB.text(value)
    if isinstance(value, list):
        return [_hidden(key, each) for each in value]
    if isinstance(value, dict):
        return {each: _hidden(each, inner) for each, inner in value.items()}
    return value


def content_sha256(settings: Iterable[Setting], files: Iterable[FileDigest] = ()) -> str:
    """Return a config version's content hash, by the rule that our own configs follow."""
    content = {
        "settings": [[each.key, each.value] for each in settings],
        "files": [[each.path, each.sha256] for each in files],
    }
    return sha256_hex(canonical_json(content))


def raw_word(key: str, value: object) -> Setting:
    """Return one of the source's own words; a text is cut to 300 characters and scrubbed."""
    kept = error_line(value) if isinstance(value, str) else value
    return Setting(key=key, value=canonical_json(kept).decode())


def error_line(text: str) -> str:
    """Return the first line of an error, scrubbed and cut to 300 characters."""
    return first_line(_SCRUB.text(text), _ERROR_MOST)


def scrubbed(text: str) -> str:
    """Return ``text`` without what has the shape of a credential."""
    return _SCRUB.text(text)


def instant_of(text: str) -> str | None:
    """Return an ISO 8601 time with an offset as an instant; None for any other text."""
    try:
        moment = datetime.fromisoformat(text)
        said = instant(moment)
    except (ValueError, OverflowError):
        return None
    return said if _INSTANT.fullmatch(said) else None


def counted(count: int, what: str) -> str:
    """Return ``3 attempts …`` or ``1 attempt …``."""
    return f"{count} attempt{'' if count == 1 else 's'} {what}"
