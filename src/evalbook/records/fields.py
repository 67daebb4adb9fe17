"""The kinds of field that records are made of."""

import re
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from evalbook.base.times import decimal_text, moment


class Frozen(BaseModel):
    """A value that never changes; unknown fields are an error, never dropped."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        # Hundreds of thousands of rows are read back; revalidating our own instances costs double.
        revalidate_instances="never",
        use_attribute_docstrings=True,
    )


_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)")


def _no_device(name: str) -> str:
    if _DEVICE.match(name) or name.endswith("."):
        raise ValueError("is a Windows device name or ends in a dot, and would be no file there")
    return name


def _real_moment(text: str) -> str:
    moment(text)
    return text


Name = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9._~-]{0,119}$"),
    AfterValidator(_no_device),
]
"""A name that may be part of a path: lower-case ASCII, no Windows device name."""

CheckName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.:-]{0,119}$")]
"""Name of a check inside its task."""

Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+~-]{0,63}$")]
"""What people call a version: ``v1``, ``2025-09``."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 as 64 lower-case hexadecimal digits."""

Known = Sha256 | Literal["unknown"]
"""A SHA-256, or the word ``unknown`` where a source did not say; never a stand-in."""

ConfigRef = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9._~-]*@[A-Za-z0-9][A-Za-z0-9._+~-]*:[0-9a-f]{64}$"),
]
"""One version of a config: ``name@label:sha256``."""

RunId = Annotated[str, StringConstraints(pattern=r"^[0-9]{8}-[0-9]{4}-[a-z0-9]{4,12}$")]
"""``20261130-2118-k3f9``: UTC minute of the plan and a few random letters."""

AttemptId = Annotated[
    str,
    StringConstraints(
        pattern=r"^[0-9]{8}-[0-9]{4}-[a-z0-9]{4,12}/[a-z0-9][a-z0-9._~-]*/[1-9][0-9]*$"
    ),
]
"""``20261130-2118-k3f9/missing-department/3``: run, task, number."""

DecisionId = Annotated[str, StringConstraints(pattern=r"^d-[0-9]{8}-[0-9]{4}-[a-z0-9]{4,12}$")]
"""``d-20261130-2118-k3f9``."""

Instant = Annotated[
    str,
    StringConstraints(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"
    ),
    AfterValidator(_real_moment),
]
"""A moment in UTC to the millisecond: ``2026-11-30T21:18:04.123Z``."""

DecimalText = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$")]
"""A number of at least 0 as exact decimal text, without trailing zeros: ``0.08``."""


def _number_as_text(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return decimal_text(Decimal(repr(value)))
    return value


DecimalInput = Annotated[DecimalText, BeforeValidator(_number_as_text)]
"""Decimal text that people may also write as a plain number, in TOML."""

_LONGEST_S = 30 * 24 * 3600


def _no_longer_than_a_month(text: str) -> str:
    if Decimal(text) > _LONGEST_S:
        raise ValueError(f"must be at most {_LONGEST_S} seconds, which are 30 days")
    return text


TimeLimit = Annotated[DecimalInput, AfterValidator(_no_longer_than_a_month)]
"""Seconds that something may take, at most 30 days: more than any clock of a system call takes."""

Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
"""An ISO 4217 code: ``CNY``, ``USD``."""

Reason = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
"""A stated reason: never empty, never only spaces."""

Person = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\n\r]*\S[^\n\r]*$")]
"""Who did it, as git names them: ``Name <mail>``."""

Count = Annotated[int, Field(ge=0)]
"""A whole number of at least 0."""

Verdict = Literal["pass", "fail", "timeout", "infra_error"]
"""What an attempt came to; the last three all count as not delivered."""

FailureClass = Literal[
    "wrong_location", "misread_contract", "tool_misuse", "budget_exhausted", "out_of_bounds"
]
"""The five ways in which agents fail (G6)."""


class Setting(Frozen):
    """One key of a config and its value, flattened so that two versions differ key by key."""

    key: str
    """Dotted path: ``sampling.temperature``."""
    value: str
    """The value as canonical JSON: ``0.2``, ``"scripted"``, ``["a","b"]``."""


class FileDigest(Frozen):
    """One frozen file."""

    path: str
    """POSIX path relative to the folder of what is frozen."""
    sha256: Sha256
    """Of the file's bytes as they were on disk."""
    size: Count
    """Bytes."""


class AttemptParts(NamedTuple):
    """The three things an attempt id says."""

    run: str
    task: str
    number: int


def attempt_parts(attempt_id: str) -> AttemptParts:
    """Return what a well-formed attempt id says."""
    run, task, number = attempt_id.split("/")
    return AttemptParts(run, task, int(number))


class ConfigParts(NamedTuple):
    """The three things a config reference says."""

    name: str
    version: str
    sha256: str


def config_parts(config_ref: str) -> ConfigParts:
    """Return what a well-formed config reference says."""
    named, _, digest = config_ref.rpartition(":")
    name, _, version = named.partition("@")
    return ConfigParts(name, version, digest)
