"""What differs between two versions of a config, key by key."""

from collections.abc import Mapping
from typing import NamedTuple

from evalbook.records.config import ConfigFreeze


class SettingChange(NamedTuple):
    """One key that differs."""

    key: str
    before: str | None
    """Canonical JSON or a digest; None: was not set."""
    after: str | None
    """None: is not set any more."""


class ConfigChange(NamedTuple):
    """All that differs between two versions."""

    changes: tuple[SettingChange, ...]
    """Sorted by key; a changed file is ``file <path>``."""
    unchanged: int
    """How many keys are the same."""


def config_change(before: ConfigFreeze, after: ConfigFreeze) -> ConfigChange:
    """Return what differs, apart from the version's own label."""
    old, new = _keys(before), _keys(after)
    keys = sorted({*old, *new} - {"version"})
    changed = [key for key in keys if old.get(key) != new.get(key)]
    return ConfigChange(
        tuple(SettingChange(key, old.get(key), new.get(key)) for key in changed),
        len(keys) - len(changed),
    )


def _keys(config: ConfigFreeze) -> Mapping[str, str]:
    settings = {setting.key: setting.value for setting in config.settings}
    return settings | {f"file {file.path}": file.sha256 for file in config.files}
