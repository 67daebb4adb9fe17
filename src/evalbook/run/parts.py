"""What a task and a config consist of, as digests.

Every part is a list of files with their SHA-256; its own digest is `manifest_digest` of that list.
What is no file of its own stands as a pseudo-file: ``task.toml#checks`` (checks, time limit, forbidden
paths and the version of the checks' meaning), ``task.toml#restore``, and ``…#executable`` (which files
can be executed).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from evalbook.base.canonical import NamedDigest, canonical_json, manifest_digest, sha256_hex
from evalbook.base.problems import UserError
from evalbook.records.fields import FileDigest, Setting
from evalbook.records.task import Part, PartName
from evalbook.run.checks.globs import matches
from evalbook.run.checks.grade import CHECKS_VERSION
from evalbook.run.evaluations import LoadedConfig, LoadedEvaluation, LoadedTask
from evalbook.run.toml_files import read_material
from evalbook.run.trees import Entry
from evalbook.run.workspace import material_in

_OWN = frozenset({"start", "solution", "faults", "task.toml", "instruction.md", "README.md"})
"""What of a task's folder takes no part in grading."""
_EXECUTABLE = "#executable"


class Refs(NamedTuple):
    """The references of one task's material, as plans and rows carry them."""

    input_sha256: str
    initial_state_ref: str
    grader_ref: str


class ConfigContent(NamedTuple):
    """What one version of a config is, without what people call it."""

    settings: tuple[Setting, ...]
    """Every key that was set but ``version``, sorted by key."""
    files: tuple[FileDigest, ...]
    sha256: str


def start_files(task: LoadedTask) -> dict[str, Entry]:
    """Return the start state: path below ``start/`` to what stands there."""
    return material_in(task.folder / "start")


def grading_files(task: LoadedTask) -> dict[str, Entry]:
    """Return ``expected/``, ``grader.py`` and whatever else lies beside them, by path in the task."""
    return {
        name: entry
        for name, entry in material_in(task.folder).items()
        if name.partition("/")[0] not in _OWN
    }


def task_parts(task: LoadedTask) -> dict[PartName, Part]:
    """Return the parts of a task that there are, in the order of `PartName`.

    Raises:
        UserError: when a file can't be read.
    """
    start = start_files(task)
    given = {name: entry for name, entry in start.items() if matches(name, task.task.inputs)}
    grading = grading_files(task)
    expected = {name: e for name, e in grading.items() if name.startswith("expected/")}
    others = {name: e for name, e in grading.items() if name not in expected}
    everything = material_in(task.folder)
    proof = {n: e for n, e in everything.items() if n.startswith(("solution/", "faults/"))}
    restore = [_pseudo("task.toml#restore", list(task.task.restore))] if task.task.restore else []
    found: dict[PartName, list[FileDigest]] = {
        "instruction": _listed(task, {"instruction.md": everything["instruction.md"]}),
        "input": _listed(task, given, "start/"),
        "start": [*_listed(task, start, "start/"), *restore],
        "expected": _listed(task, expected),
        "grader": [*_listed(task, others), _pseudo("task.toml#checks", _deciding(task))],
        "proof": _listed(task, proof),
    }
    return {name: _part(name, files) for name, files in found.items() if files}


def material_refs(task: LoadedTask) -> Refs:
    """Return the references of a task as its folder stands now.

    Raises:
        UserError: when a file can't be read.
    """
    return refs_of(task_parts(task))


def refs_of(parts: Mapping[PartName, Part]) -> Refs:
    """Return the references that some parts make: each the digest of all files that belong to it."""
    return Refs(
        _joined(parts, "instruction", "input"),
        _joined(parts, "start"),
        _joined(parts, "expected", "grader"),
    )


def material_sha256(parts: Mapping[PartName, Part]) -> str:
    """Return the digest of all parts together."""
    return manifest_digest(NamedDigest(name, part.sha256) for name, part in parts.items())


def definition(task: LoadedTask) -> str:
    """Return what ``task.toml`` says, as canonical JSON without defaults."""
    said = task.task.model_dump(mode="json", exclude_defaults=True)
    return canonical_json(said).decode()


def config_content(loaded: LoadedEvaluation, config: LoadedConfig) -> ConfigContent:
    """Return what a config's file and the files it uses are now.

    Raises:
        UserError: when a file can't be read.
    """
    settings = tuple(
        Setting(key=key, value=canonical_json(value).decode())
        for key, value in sorted(_flat(config.written, ""))
        if key != "version"
    )
    files = tuple(_file(loaded, name) for name in config.files)
    content = {
        "settings": [[each.key, each.value] for each in settings],
        "files": [[each.path, each.sha256] for each in files],
    }
    return ConfigContent(settings, files, sha256_hex(canonical_json(content)))


def _file(loaded: LoadedEvaluation, name: str) -> FileDigest:
    path = loaded.folder / name
    content = read_material(path, loaded.shown(path))
    return FileDigest(path=name, sha256=sha256_hex(content), size=len(content))


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values; a key with a dot of its own is quoted, as TOML does."""
    for key, value in table.items():
        name = prefix + (f'"{key}"' if "." in key or '"' in key else key)
        if isinstance(value, dict):
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def _deciding(task: LoadedTask) -> dict[str, object]:
    said = task.task.model_dump(mode="json", exclude_defaults=True)
    return {
        "checks_version": CHECKS_VERSION,
        **{key: said[key] for key in ("time_limit_s", "forbid", "check") if key in said},
    }


def _listed(task: LoadedTask, entries: Mapping[str, Entry], prefix: str = "") -> list[FileDigest]:
    files = []
    for name, entry in entries.items():
        if entry.kind != "file" or entry.sha256 is None:
            where = f"{task.folder.parent.parent.name}/tasks/{task.task_id}/{prefix}{name}"
            raise UserError(f"{where}: can't be read", hint="material must be plain readable files")
        files.append(FileDigest(path=f"{prefix}{name}", sha256=entry.sha256, size=entry.size))
    runnable = [name for name, entry in entries.items() if entry.executable]
    if runnable:
        files.append(_pseudo(f"{prefix.rstrip('/')}{_EXECUTABLE}", runnable))
    return files


def _pseudo(path: str, value: object) -> FileDigest:
    content = canonical_json(value)
    return FileDigest(path=path, sha256=sha256_hex(content), size=len(content))


def _part(name: PartName, files: Iterable[FileDigest]) -> Part:
    listed = tuple(sorted(files, key=lambda each: each.path))
    return Part(part=name, sha256=_digest(listed), files=listed)


def _joined(parts: Mapping[PartName, Part], *names: PartName) -> str:
    return _digest(file for name in names if name in parts for file in parts[name].files)


def _digest(files: Iterable[FileDigest]) -> str:
    return manifest_digest(NamedDigest(each.path, each.sha256) for each in files)
