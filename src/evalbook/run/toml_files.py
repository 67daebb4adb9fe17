"""TOML that people write, read into models, with every error at its line."""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from evalbook.base.problems import UserError
from evalbook.run.toml_lines import KeyPath, key_lines

_Model = TypeVar("_Model", bound=BaseModel)

_WHERE = re.compile(r"\s*\(at (?:line (?P<line>[0-9]+), column [0-9]+|end of document)\)$")
_SHOWN_MAX = 60
"""Characters of a wrong value that an error quotes."""


class TomlFile(NamedTuple):
    """One TOML document and where its keys stand."""

    shown: str
    """Its path as errors name it."""
    content: bytes
    values: dict[str, Any]
    lines: Mapping[KeyPath, int]

    def at(self, path: Sequence[str | int]) -> str:
        """Return ``file:line`` of a key, or of the nearest table around it that has a line."""
        for end in range(len(path), 0, -1):
            line = self.lines.get(tuple(path[:end]))
            if line is not None:
                return f"{self.shown}:{line}"
        return self.shown


def read_toml(path: Path, shown: str) -> TomlFile:
    """Read a TOML file.

    Raises:
        UserError: when it is not there, not UTF-8 or not TOML, with the line.
    """
    content = read_material(path, shown)
    text = as_text(content, shown)
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise UserError(f"{shown}: is nested too deeply") from None
    except ValueError as error:
        message = str(error)
        place = _WHERE.search(message)
        line = place["line"] or str(text.count("\n") + 1) if place else None
        where = f"{shown}:{line}" if line else shown
        raise UserError(
            f"{where}: is not TOML: {_WHERE.sub('', message)}", hint="see https://toml.io"
        ) from None
    return TomlFile(shown, content, values, key_lines(text))


def read_material(path: Path, shown: str) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        UserError: when it is not there, is a symbolic link or no regular file, or can't be read.
    """
    if path.is_symlink():
        raise UserError(
            f"{shown}: is a symbolic link", hint="put the file itself there; links can't be frozen"
        )
    if not path.exists():
        raise UserError(f"{shown}: is not there")
    if not path.is_file():
        raise UserError(f"{shown}: is not a regular file")
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{shown}: can't be read: {error.strerror}") from None


def as_text(content: bytes, shown: str) -> str:
    """Return ``content`` as text, its line ends made plain line feeds.

    Raises:
        UserError: when it is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{shown}:{line}: is not UTF-8 text") from None


def parse_model(model: type[_Model], file: TomlFile, values: Mapping[str, Any]) -> _Model:
    """Return what ``values``, read from ``file``, say.

    Raises:
        UserError: for the first key that is wrong, with its line and how many more there are; an
            unknown key comes with the nearest known one.
    """
    strange = next(_no_json(file.values, ()), None)
    if strange is not None:
        raise UserError(
            f"{file.at(strange)}: {_named(strange)}: dates and infinities have no place here"
        )
    try:
        return model.model_validate_json(json.dumps(values))
    except ValidationError as error:
        found = error.errors(include_url=False)
        # An unknown key often explains the missing one beside it.
        found.sort(key=lambda each: each["type"] != "extra_forbidden")
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise UserError(f"{_problem(model, file, found[0])}{more}") from None


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest known word, or nothing."""
    near = difflib.get_close_matches(word, sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _no_json(value: object, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _no_json(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _no_json(inner, (*path, index))
    elif isinstance(value, date | time) or (isinstance(value, float) and not isfinite(value)):
        yield path


def _problem(model: type[BaseModel], file: TomlFile, error: ErrorDetails) -> str:
    """Return one line for one error: where, which key, what."""
    path = _in_file(file.values, error["loc"], missing=error["type"] == "missing")
    where = file.at(path)
    key = _named(path)
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            known = _keys_at(model, error["loc"][:-1])
            tail = nearest(str(error["loc"][-1]), known) or f" (known: {', '.join(known)})"
            return f"{where}: unknown key {key}{tail}"
        case "missing":
            return f"{where}: {key} is missing"
        case "union_tag_not_found":
            return f"{where}: {key} needs a 'kind'"
        case "union_tag_invalid":
            tags = re.findall(r"'([^']+)'", str(context.get("expected_tags", "")))
            tag = str(context.get("tag"))
            tail = nearest(tag, tags) or f" (known: {', '.join(tags)})"
            return f"{where}: unknown kind {tag!r}{tail}"
        case "value_error":
            return f"{where}: {key + ': ' if path else ''}{context.get('error')}"
        case _:
            said = error["msg"][:1].lower() + error["msg"][1:]
            return f"{where}: {key}: {said}, not {_quoted(error['input'])}"


def _quoted(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 1] + "…"


def _named(path: Sequence[str | int]) -> str:
    keys = [part for part in path if isinstance(part, str)]
    return repr(keys[-1]) if keys else "it"


def _in_file(values: object, loc: Sequence[str | int], *, missing: bool) -> KeyPath:
    """Return the part of a pydantic location that stands in the file: union tags do not."""
    path: list[str | int] = []
    here = values
    for part in loc[:-1] if missing else loc:
        in_table = isinstance(here, dict) and part in here
        in_list = isinstance(here, list) and isinstance(part, int) and part < len(here)
        if in_table or in_list:
            here = here[part]  # type: ignore[index]  # mypy does not follow the two lines above
            path.append(part)
    return (*path, loc[-1]) if missing else tuple(path)


def _keys_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """Return the keys that a table at that location may have, sorted."""
    models = [model]
    for part in loc:
        if not isinstance(part, str):
            continue
        inner = [found for each in models for found in _models_in(_annotation(each, part))]
        tagged = [each for each in models if part in get_args(_annotation(each, "kind"))]
        models = inner or tagged or models
    return sorted({name for each in models for name in each.model_fields})


def _annotation(model: type[BaseModel], field: str) -> object:
    found = model.model_fields.get(field)
    return found.annotation if found else None


def _models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for inner in get_args(annotation) for found in _models_in(inner)]
