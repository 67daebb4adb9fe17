"""One agent configuration and its versions."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints

from evalbook.records.fields import (
    FileDigest,
    Frozen,
    Instant,
    Label,
    Name,
    Person,
    Reason,
    Setting,
    Sha256,
)

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]


class Permissions(Frozen):
    """What the agent may do."""

    network: bool = False
    """Whether it may use the network. Recorded; enforced where the isolation can."""
    environment: tuple[str, ...] = ()
    """Names of variables handed on from the caller's environment, beyond the fixed few."""
    secrets: tuple[str, ...] = ()
    """Names of variables handed on whose values are scrubbed from everything that is kept."""


class Limits(Frozen):
    """What the agent may use."""

    memory_mb: Annotated[int, Field(ge=16)] | None = None
    """Address space of each process, in MiB."""
    cpu_s: Annotated[int, Field(ge=1)] | None = None
    """Processor seconds of each process."""
    output_mb: Annotated[int, Field(ge=1)] = 64
    """Largest file that may be written, in MiB; also how much of stdout and stderr is kept."""


class Config(Frozen):
    """What ``configs/<config>.toml`` says."""

    version: Label
    """What people call this version. Other content needs another label."""
    agent: Text
    """Agent and its version: ``inventory-agent 1.0``."""
    model: Text
    """Model identifier, as exact as the provider lets it be."""
    command: tuple[Text, ...] = Field(min_length=1)
    """How the agent is started; ``{evaluation}``, ``{workspace}`` and ``{seed}`` are filled in."""
    prompt: str | None = None
    """Path of the prompt's file, relative to the evaluation's folder."""
    history: str | None = None
    """Path of a frozen conversation history; none: every attempt starts with an empty one."""
    condition: Literal["live", "replayed"] = "live"
    """``replayed``: tools answer from recordings. Never pooled with live attempts."""
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] | None = None
    """Of the costs that the agent reports."""
    tools: dict[str, JsonValue] = Field(default_factory=dict)
    """Tool name to version, or to a table of its own."""
    sampling: dict[str, JsonValue] = Field(default_factory=dict)
    """Sampling parameters: temperature, top_p, …"""
    permissions: Permissions = Permissions()
    limits: Limits = Limits()


class ConfigFreeze(Frozen):
    """One version of a config as it was frozen."""

    record: Literal["config/1"]
    evaluation: Name
    config: Name
    version: Label
    sha256: Sha256
    """Of settings and files: the version's content hash."""
    settings: tuple[Setting, ...]
    """Every key that was set, sorted by key."""
    files: tuple[FileDigest, ...] = ()
    """Prompt, history and the command's own files, sorted by path."""
    reason: Reason
    frozen_by: Person
    frozen_at: Instant
    source: str | None = None
    """Where an imported config was read from; none for one of our own."""

    @property
    def ref(self) -> str:
        """The reference that plans and rows carry."""
        return f"{self.config}@{self.version}:{self.sha256}"
