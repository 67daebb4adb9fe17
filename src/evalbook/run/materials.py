"""Freezing material, and telling what differs from the freeze."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import UserError
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.fields import FileDigest
from evalbook.records.task import MaterialFreeze
from evalbook.run.evaluations import LoadedConfig, LoadedEvaluation, LoadedTask
from evalbook.run.parts import (
    config_content,
    definition,
    material_sha256,
    refs_of,
    task_parts,
)

Freeze = EvaluationFreeze | ConfigFreeze | MaterialFreeze


class Stamp(NamedTuple):
    """Who freezes, when and why."""

    reason: str
    person: str
    at: str


class Difference(NamedTuple):
    """One file, or one part of the rules, that is not what was frozen."""

    path: str
    """From the evaluation's folder."""
    what: str
    """``changed``, ``added``, ``removed`` or ``never frozen``."""


_NOBODY = Stamp("compared", "nobody <>", "1970-01-01T00:00:00.000Z")


def freeze_records(
    loaded: LoadedEvaluation, previous: Sequence[Freeze], stamp: Stamp
) -> tuple[Freeze, ...]:
    """Return a record for everything that is new or differs from its latest freeze.

    ``previous`` is oldest first.

    Raises:
        UserError: when a config's content changed but its version label did not, or material can't
            be read.
    """
    latest = _latest(previous)
    made: list[Freeze] = []
    for record in _all_records(loaded, stamp):
        before = latest.get(_subject(record))
        if before is not None and _content(before) == _content(record):
            continue
        if isinstance(record, ConfigFreeze) and before is not None:
            _refuse_same_label(loaded, before, record)
        made.append(record)
    return tuple(made)


def differences(
    loaded: LoadedEvaluation, previous: Sequence[Freeze], config: str
) -> tuple[Difference, ...]:
    """Return, sorted, every file that differs from what is frozen: tasks, rules and one config.

    The evaluation's README.md may differ: it describes, and decides nothing.

    Raises:
        UserError: when material can't be read.
    """
    latest = _latest(previous)
    found: list[Difference] = []
    for record in _all_records(loaded, _NOBODY, config=config):
        before = latest.get(_subject(record))
        if before is None:
            found.append(Difference(_file_of(record), "never frozen"))
        else:
            found += _difference(before, record)
    rules = latest.get(("evaluation",))
    if isinstance(rules, EvaluationFreeze) and rules.tasks != len(loaded.tasks):
        found += [
            Difference(f"tasks/{record.task_id}", "removed")
            for record in latest.values()
            if isinstance(record, MaterialFreeze) and record.task_id not in loaded.tasks
        ]
    return tuple(sorted(set(found)))


def config_freeze(
    previous: Sequence[Freeze], config: str, version: str | None = None
) -> ConfigFreeze | None:
    """Return the latest freeze of a config, or of one version of it."""
    found = [
        each
        for each in previous
        if isinstance(each, ConfigFreeze)
        and each.config == config
        and version in {None, each.version}
    ]
    return found[-1] if found else None


def material_freezes(previous: Sequence[Freeze]) -> dict[str, MaterialFreeze]:
    """Return the latest freeze of every task's material, by task id."""
    return {each.task_id: each for each in previous if isinstance(each, MaterialFreeze)}


def _all_records(
    loaded: LoadedEvaluation, stamp: Stamp, *, config: str | None = None
) -> Iterator[Freeze]:
    yield _evaluation_record(loaded, stamp)
    for name, each in loaded.configs.items():
        if config in {None, name}:
            yield _config_record(loaded, each, stamp)
    for task in loaded.tasks.values():
        yield _material_record(loaded, task, stamp)


def _evaluation_record(loaded: LoadedEvaluation, stamp: Stamp) -> EvaluationFreeze:
    return EvaluationFreeze(
        record="evaluation/1",
        evaluation=loaded.name,
        title=loaded.evaluation.title,
        constructed=loaded.evaluation.constructed,
        rules=loaded.evaluation.rules(),
        sha256=sha256_hex(loaded.content),
        description=loaded.description,
        reason=stamp.reason,
        frozen_by=stamp.person,
        frozen_at=stamp.at,
        tasks=len(loaded.tasks),
    )


def _config_record(loaded: LoadedEvaluation, config: LoadedConfig, stamp: Stamp) -> ConfigFreeze:
    content = config_content(loaded, config)
    return ConfigFreeze(
        record="config/1",
        evaluation=loaded.name,
        config=config.name,
        version=config.config.version,
        sha256=content.sha256,
        settings=content.settings,
        files=content.files,
        reason=stamp.reason,
        frozen_by=stamp.person,
        frozen_at=stamp.at,
    )


def _material_record(loaded: LoadedEvaluation, task: LoadedTask, stamp: Stamp) -> MaterialFreeze:
    parts = task_parts(task)
    refs = refs_of(parts)
    return MaterialFreeze(
        record="material/1",
        evaluation=loaded.name,
        task_id=task.task_id,
        title=task.task.title,
        negative=task.task.negative,
        parts=tuple(parts.values()),
        input_sha256=refs.input_sha256,
        initial_state_ref=refs.initial_state_ref,
        grader_ref=refs.grader_ref,
        sha256=material_sha256(parts),
        instruction=task.instruction,
        definition=definition(task),
        reason=stamp.reason,
        frozen_by=stamp.person,
        frozen_at=stamp.at,
    )


def _subject(record: Freeze) -> tuple[str, ...]:
    match record:
        case EvaluationFreeze():
            return ("evaluation",)
        case ConfigFreeze():
            return ("config", record.config, record.version)
        case MaterialFreeze():
            return ("task", record.task_id)


def _latest(previous: Sequence[Freeze]) -> dict[tuple[str, ...], Freeze]:
    return {_subject(record): record for record in previous}


def _content(record: Freeze) -> dict[str, object]:
    """Return what a record is about, without who, when and why."""
    return record.model_dump(exclude={"reason", "frozen_by", "frozen_at", "source"})


def _refuse_same_label(loaded: LoadedEvaluation, before: Freeze, now: ConfigFreeze) -> None:
    changed = ", ".join(each.path for each in _difference(before, now))
    raise UserError(
        f"evaluations/{loaded.name}/configs/{now.config}.toml: version {now.version!r} was frozen "
        f"on {before.frozen_at[:10]} with other content: {changed} changed",
        hint="give it a new version there: one label stands for one content",
    )


def _file_of(record: Freeze) -> str:
    match record:
        case EvaluationFreeze():
            return "evaluation.toml"
        case ConfigFreeze():
            return f"configs/{record.config}.toml"
        case MaterialFreeze():
            return f"tasks/{record.task_id}"


def _difference(before: Freeze, now: Freeze) -> Iterator[Difference]:
    """Yield the files in which two freezes of the same thing differ."""
    prefix = f"{_file_of(now)}/" if isinstance(now, MaterialFreeze) else ""
    old, new = _files_of(before), _files_of(now)
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            what = "removed" if path not in new else "added" if path not in old else "changed"
            yield Difference(f"{prefix}{path}", what)


def _files_of(record: Freeze) -> Mapping[str, object]:
    """Return every file that a freeze covers, and what it was."""
    match record:
        case EvaluationFreeze():
            return {"evaluation.toml": record.sha256}
        case ConfigFreeze():
            settings = {_file_of(record): record.settings}
            return settings | _digests(record.files)
        case MaterialFreeze():
            files = {name: d for part in record.parts for name, d in _digests(part.files).items()}
            return files | {"task.toml": record.definition}


def _digests(files: Sequence[FileDigest]) -> dict[str, object]:
    return {file.path: file.sha256 for file in files}
