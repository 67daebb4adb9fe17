"""What an evaluation measures with, as digests."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalbook.base.canonical import NamedDigest, canonical_json, manifest_digest, sha256_hex
from evalbook.base.files import files_below
from evalbook.base.problems import UserError
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.fields import FileDigest, Setting
from evalbook.records.task import MaterialFreeze, Part, PartName
from evalbook.run.checks.globs import matches
from evalbook.run.checks.grade import CHECKS_VERSION
from evalbook.run.evaluations import LoadedConfig, LoadedEvaluation, LoadedTask

Freeze = EvaluationFreeze | ConfigFreeze | MaterialFreeze

_LEFT_OUT = frozenset({"__pycache__", ".DS_Store"})


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


def freeze_records(
    loaded: LoadedEvaluation, previous: Sequence[Freeze], stamp: Stamp
) -> tuple[Freeze, ...]:
    """Return a record for everything that differs from the latest freeze in ``previous``, or is new.

    Raises:
        UserError: when a config's content changed but its version label did not, or when material
            holds a symbolic link or another thing that is no file.
    """
    latest = _latest(previous)
    made: list[Freeze] = []
    for record in _all_records(loaded, stamp):
        before = latest.get(_subject(record))
        if before is None or _content(before) != _content(record):
            made.append(record)
    _refuse_same_label(made, previous)
    return tuple(made)


def differences(
    loaded: LoadedEvaluation, previous: Sequence[Freeze], config: str
) -> tuple[Difference, ...]:
    """Return every file that differs from what is frozen, for the tasks, the rules and one config."""
    latest = _latest(previous)
    found: list[Difference] = []
    for record in _all_records(loaded, Stamp("compared", "nobody <>", "1970-01-01T00:00:00.000Z")):
        if isinstance(record, ConfigFreeze) and record.config != config:
            continue
        before = latest.get(_subject(record))
        if before is None or _content(before) != _content(record):
            found += _difference(before, record)
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


def _all_records(loaded: LoadedEvaluation, stamp: Stamp) -> Iterator[Freeze]:
    yield _evaluation_record(loaded, stamp)
    for config in loaded.configs.values():
        yield _config_record(loaded, config, stamp)
    for task in loaded.tasks.values():
        yield _material_record(loaded, task, stamp)


def _evaluation_record(loaded: LoadedEvaluation, stamp: Stamp) -> EvaluationFreeze:
    return EvaluationFreeze(
        record="evaluation/1",
        evaluation=loaded.name,
        title=loaded.evaluation.title,
        constructed=loaded.evaluation.constructed,
        rules=loaded.evaluation.rules(),
        sha256=sha256_hex((loaded.folder / "evaluation.toml").read_bytes()),
        description=loaded.description,
        reason=stamp.reason,
        frozen_by=stamp.person,
        frozen_at=stamp.at,
        tasks=len(loaded.tasks),
    )


def _config_record(loaded: LoadedEvaluation, config: LoadedConfig, stamp: Stamp) -> ConfigFreeze:
    settings = tuple(sorted(_flatten(config.written), key=lambda each: each.key))
    files = tuple(_digest(loaded.folder, path) for path in _config_files(loaded.folder, config))
    content = {
        "settings": [[each.key, each.value] for each in settings],
        "files": [[each.path, each.sha256] for each in files],
    }
    return ConfigFreeze(
        record="config/1",
        evaluation=loaded.name,
        config=config.name,
        version=config.config.version,
        sha256=sha256_hex(canonical_json(content)),
        settings=settings,
        files=files,
        reason=stamp.reason,
        frozen_by=stamp.person,
        frozen_at=stamp.at,
    )


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[Setting]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield Setting(key=f"{prefix}{key}", value=canonical_json(value).decode())


def _config_files(folder: Path, config: LoadedConfig) -> list[Path]:
    """Return prompt, history and the files of the command that lie in the evaluation, sorted."""
    named = [each for each in (config.config.prompt, config.config.history) if each]
    for each in named:
        if not (folder / each).is_file():
            raise UserError(f"{config.path}: {each} is missing below {folder}")
    named += [
        word.removeprefix("{evaluation}/")
        for word in config.config.command
        if word.startswith("{evaluation}/")
        and (folder / word.removeprefix("{evaluation}/")).is_file()
    ]
    return sorted({folder / each for each in named})


def _material_record(loaded: LoadedEvaluation, task: LoadedTask, stamp: Stamp) -> MaterialFreeze:
    definition = canonical_json(
        {
            **task.task.model_dump(mode="json", exclude_defaults=True),
            "checks_version": CHECKS_VERSION,
        }
    )
    parts = {part.part: part for part in _parts(task, definition)}
    given = [NamedDigest(name, parts[name].sha256) for name in ("instruction", "input")]
    start = [
        NamedDigest("start", parts["start"].sha256),
        NamedDigest("restore", sha256_hex(canonical_json(list(task.task.restore)))),
    ]
    decides = [NamedDigest(name, parts[name].sha256) for name in ("expected", "grader")]
    return MaterialFreeze(
        record="material/1",
        evaluation=loaded.name,
        task_id=task.task_id,
        title=task.task.title,
        negative=task.task.negative,
        parts=tuple(part for part in parts.values() if part.files or part.part == "start"),
        input_sha256=manifest_digest(given),
        initial_state_ref=manifest_digest(start),
        grader_ref=manifest_digest(decides),
        sha256=manifest_digest(NamedDigest(name, part.sha256) for name, part in parts.items()),
        instruction=task.instruction,
        definition=definition.decode(),
        reason=stamp.reason,
        frozen_by=stamp.person,
        frozen_at=stamp.at,
    )


def _parts(task: LoadedTask, definition: bytes) -> Iterator[Part]:
    start = _digests(task.folder, task.folder / "start")
    prefix = "start/"
    given = [
        each
        for each in start
        if matches(each.path.removeprefix(prefix).removesuffix(" (executable)"), task.task.inputs)
    ]
    yield _part("instruction", [_digest(task.folder, task.folder / "instruction.md")])
    yield _part("input", given)
    yield _part("start", start)
    yield _part("expected", _digests(task.folder, task.folder / "expected"))
    checks = FileDigest(path="task.toml", sha256=sha256_hex(definition), size=len(definition))
    script = task.folder / "grader.py"
    yield _part("grader", [*([_digest(task.folder, script)] if script.is_file() else []), checks])
    proof = [
        each
        for name in ("faults", "solution")
        for each in _digests(task.folder, task.folder / name)
    ]
    yield _part("proof", proof)


def _part(name: PartName, files: Iterable[FileDigest]) -> Part:
    listed = tuple(sorted(files, key=lambda each: each.path))
    digest = manifest_digest(NamedDigest(each.path, each.sha256) for each in listed)
    return Part(part=name, sha256=digest, files=listed)


def _digests(base: Path, folder: Path) -> list[FileDigest]:
    if not folder.is_dir():
        return []
    return [_digest(base, path) for path in files_below(folder) if not _LEFT_OUT & set(path.parts)]


def _digest(base: Path, path: Path) -> FileDigest:
    mode = path.lstat().st_mode
    if not stat.S_ISREG(mode):
        raise UserError(
            f"{path} is no regular file",
            hint="material is frozen by its bytes: put the file itself there",
        )
    content = path.read_bytes()
    name = path.relative_to(base).as_posix()
    # An executable start script is other material than one that can't be run.
    executable = os.name != "nt" and mode & stat.S_IXUSR
    return FileDigest(
        path=f"{name} (executable)" if executable else name,
        sha256=sha256_hex(content),
        size=len(content),
    )


def _subject(record: Freeze) -> str:
    match record:
        case EvaluationFreeze():
            return "evaluation"
        case ConfigFreeze():
            return f"config {record.config}"
        case MaterialFreeze():
            return f"task {record.task_id}"


def _content(record: Freeze) -> dict[str, Any]:
    """Return what a record is about, without who, when and why."""
    return record.model_dump(exclude={"reason", "frozen_by", "frozen_at"})


def _latest(previous: Sequence[Freeze]) -> dict[str, Freeze]:
    return {_subject(record): record for record in previous}


def _refuse_same_label(made: Sequence[Freeze], previous: Sequence[Freeze]) -> None:
    for record in made:
        if not isinstance(record, ConfigFreeze):
            continue
        same = config_freeze(previous, record.config, record.version)
        if same is not None and same.sha256 != record.sha256:
            raise UserError(
                f"config {record.config} differs from the {record.version} that was frozen on {same.frozen_at[:10]}",
                hint=f"give it a new version in configs/{record.config}.toml: one label stands for one content",
            )


def _difference(before: Freeze | None, now: Freeze) -> Iterator[Difference]:
    """Name the files in which two freezes of the same thing differ."""
    name = _file_of(now)
    if before is None:
        yield Difference(name, "never frozen")
        return
    old, new = _files_of(before), _files_of(now)
    prefix = f"tasks/{now.task_id}/" if isinstance(now, MaterialFreeze) else ""
    changed = False
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            what = "removed" if path not in new else "added" if path not in old else "changed"
            yield Difference(f"{prefix}{path}", what)
            changed = True
    if not changed:
        yield Difference(name, "changed")


def _file_of(record: Freeze) -> str:
    match record:
        case EvaluationFreeze():
            return "evaluation.toml"
        case ConfigFreeze():
            return f"configs/{record.config}.toml"
        case MaterialFreeze():
            return f"tasks/{record.task_id}/task.toml"


def _files_of(record: Freeze) -> dict[str, str]:
    match record:
        case EvaluationFreeze():
            return {"evaluation.toml": record.sha256}
        case ConfigFreeze():
            return {each.path: each.sha256 for each in record.files}
        case MaterialFreeze():
            return {each.path: each.sha256 for part in record.parts for each in part.files}
