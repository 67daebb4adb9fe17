"""An evaluation's folder, loaded and checked."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from evalbook.base.files import files_below
from evalbook.base.problems import UserError
from evalbook.records.checks import BytesEqual, Check, CsvEquals, JsonEquals, JsonSchema, Script
from evalbook.records.config import Config
from evalbook.records.evaluation import Evaluation
from evalbook.records.fields import Name
from evalbook.records.task import Task
from evalbook.run.toml_files import (
    TomlFile,
    as_text,
    nearest,
    parse_model,
    read_material,
    read_toml,
)

FORBIDDEN_PATHS = "forbidden_paths"
"""Name of the check that every task with ``forbid`` has of its own."""
TIME_LIMIT = "time_limit"
"""Name of the check that every task has of its own."""

_NAME = TypeAdapter[str](Name)
_OWN_FILE = re.compile(r"\{evaluation\}/(.+)$")


class LoadedConfig(NamedTuple):
    """One config's file, and the files that belong to it."""

    name: str
    path: Path
    config: Config
    written: Mapping[str, Any]
    """What the TOML says, for `ConfigFreeze.settings`."""
    files: tuple[str, ...]
    """Prompt, history and the command's own files, relative to the evaluation's folder, sorted.

    Of the command, whatever an argument names as ``{evaluation}/…``; a folder stands for all files
    below it. What those files import is only covered when such a folder holds it.
    """


class LoadedTask(NamedTuple):
    """One task's folder."""

    task_id: str
    task: Task
    folder: Path
    instruction: str


class LoadedEvaluation(NamedTuple):
    """Everything people wrote for one evaluation."""

    name: str
    folder: Path
    evaluation: Evaluation
    content: bytes
    """Of ``evaluation.toml``."""
    description: str
    """README.md; empty when there is none."""
    configs: Mapping[str, LoadedConfig]
    """Sorted by name; may be empty, where results are only read in."""
    tasks: Mapping[str, LoadedTask]
    """Sorted by id; may be empty."""

    def shown(self, path: Path) -> str:
        """Return a path inside the evaluation as messages name it: ``evaluations/x/…``."""
        return _shown(self.folder, path)


def find_evaluation(evaluations: Path, name: str) -> Path:
    """Return the folder of an evaluation in the folder of all of them.

    Raises:
        UserError: when there is none of that name, with the nearest one.
    """
    folder = evaluations / name
    if name and Path(name).name == name and (folder / "evaluation.toml").exists():
        return folder
    known = [each.parent.name for each in evaluations.glob("*/evaluation.toml")]
    raise UserError(
        f"there is no evaluation {name!r} in {evaluations.name}/{nearest(name, known)}",
        hint="an evaluation is a folder with an evaluation.toml",
    )


def load_evaluation(folder: Path) -> LoadedEvaluation:
    """Load an evaluation's folder; nothing is hashed yet.

    Raises:
        UserError: for the first thing that is wrong: file, line, what.
    """
    folder = folder.resolve()
    _check_name(folder.name, folder.parent.name)
    file = read_toml(folder / "evaluation.toml", _shown(folder, folder / "evaluation.toml"))
    evaluation = parse_model(Evaluation, file, _with_weights(file))
    readme = folder / "README.md"
    has_readme = readme.exists() or readme.is_symlink()
    description = _text(folder, readme) if has_readme else ""
    configs = {path.stem: _config(folder, path) for path in sorted(folder.glob("configs/*.toml"))}
    tasks = {path.name: _task(folder, path) for path in _folders(folder / "tasks")}
    _check_weights(file, evaluation, tasks)
    return LoadedEvaluation(
        folder.name,
        folder,
        evaluation,
        file.content,
        description,
        configs,
        tasks,
    )


def _shown(folder: Path, path: Path) -> str:
    return path.relative_to(folder.parent.parent).as_posix()


def _check_name(name: str, where: str) -> None:
    try:
        _NAME.validate_python(name)
    except ValidationError as error:
        details = error.errors(include_url=False)[0]
        said = details.get("ctx", {}).get("error")
        why = str(said) if said else "names are lower-case a-z, 0-9, '.', '_', '~', '-'"
        raise UserError(f"{where}/{name}: can't be a name: {why}", hint="rename it") from None


def _folders(parent: Path) -> Iterator[Path]:
    if parent.is_dir():
        yield from sorted(
            each for each in parent.iterdir() if each.is_dir() and each.name[0] not in "._"
        )


def _text(folder: Path, path: Path) -> str:
    shown = _shown(folder, path)
    return as_text(read_material(path, shown), shown)


def _with_weights(file: TomlFile) -> dict[str, Any]:
    """Return the values with ``weights`` as the record has it: a list, empty for ``"equal"``."""
    values = dict(file.values)
    match values.pop("weights", "equal"):
        case "equal":
            return values
        case dict() as table if table:
            return values | {
                "weights": [{"task": task, "weight": weight} for task, weight in table.items()]
            }
        case _:
            raise UserError(
                f"{file.at(('weights',))}: 'weights' is \"equal\" or a table of task to number"
            )


def _check_weights(file: TomlFile, evaluation: Evaluation, tasks: Mapping[str, LoadedTask]) -> None:
    if not evaluation.weights or not tasks:
        return
    named = {weight.task for weight in evaluation.weights}
    for task in sorted(named - set(tasks)):
        where = file.at(("weights", task))
        raise UserError(f"{where}: there is no task {task!r}{nearest(task, tasks)}")
    for task in sorted(set(tasks) - named):
        raise UserError(
            f"{file.at(('weights',))}: task {task!r} has no weight",
            hint='give every task one, or say weights = "equal"',
        )


def _config(folder: Path, path: Path) -> LoadedConfig:
    shown = _shown(folder, path)
    _check_name(path.stem, f"{folder.name}/configs")
    file = read_toml(path, shown)
    config = parse_model(Config, file, file.values)
    files: set[str] = set()
    for key, name in (("prompt", config.prompt), ("history", config.history)):
        if name is not None:
            files.update(_own_files(folder, name, f"{file.at((key,))}: {key!r}"))
    for argument in config.command:
        own = _OWN_FILE.search(argument)
        if own:
            files.update(_own_files(folder, own[1], f"{file.at(('command',))}: 'command'"))
    return LoadedConfig(path.stem, path, config, file.values, tuple(sorted(files)))


def _own_files(folder: Path, name: str, where: str) -> Iterator[str]:
    """Yield the files that a path of a config stands for, relative to the evaluation's folder."""
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts:
        raise UserError(
            f"{where} names {name}, which is outside the evaluation's folder",
            hint="what a config uses is frozen with it, so it must lie in its evaluation",
        )
    path = folder / pure
    if not path.exists():
        raise UserError(f"{where} names {name}, which is not there")
    if path == folder:
        raise UserError(f"{where} names the whole evaluation", hint="name the agent's own folder")
    found = [each for each in files_below(path) if "__pycache__" not in each.parts] or [path]
    for each in found if path.is_dir() else [path]:
        _check_regular(folder, each)
        yield each.relative_to(folder).as_posix()


def _check_regular(folder: Path, path: Path) -> None:
    shown = _shown(folder, path)
    try:
        shown.encode()
    except UnicodeEncodeError:
        raise UserError(f"{shown!a}: its name is not UTF-8", hint="rename the file") from None
    for each in (path, *path.parents):
        if each == folder:
            break
        if each.is_symlink():
            raise UserError(
                f"{_shown(folder, each)}: is a symbolic link",
                hint="put the file itself there; links can't be frozen",
            )
    if not path.is_file():
        raise UserError(f"{shown}: is not a regular file", hint="only files can be frozen")


def _task(folder: Path, path: Path) -> LoadedTask:
    _check_name(path.name, f"{folder.name}/tasks")
    file = read_toml(path / "task.toml", _shown(folder, path / "task.toml"))
    task = parse_model(Task, file, file.values)
    instruction = _text(folder, path / "instruction.md")
    if not instruction.strip():
        raise UserError(f"{_shown(folder, path / 'instruction.md')}: is empty")
    for each in files_below(path):
        _check_regular(folder, each)
    for index, name in enumerate(task.restore):
        _check_restore(folder, name, file.at(("restore", index)))
    for index, check in enumerate(task.check):
        _check_check(path, check, file.at(("check", index, "name")))
    return LoadedTask(path.name, task, path, instruction)


def _check_restore(folder: Path, name: str, where: str) -> None:
    """Refuse what could not be set back without harm: it is removed and copied after attempts."""
    path = Path(name)
    if not path.is_absolute() or ".." in path.parts:
        raise UserError(
            f"{where}: 'restore' takes absolute paths, not {name!r}",
            hint="the workspace is made anew for each attempt and needs no restoring",
        )
    if path == folder or path in folder.parents or folder in path.parents:
        raise UserError(f"{where}: restoring {name!r} would overwrite the evaluation itself")


def _check_check(path: Path, check: Check, where: str) -> None:
    if check.name in {FORBIDDEN_PATHS, TIME_LIMIT}:
        raise UserError(
            f"{where}: every task has a check {check.name!r} of its own", hint="choose another name"
        )
    match check:
        case BytesEqual() | CsvEquals():
            needed: str | None = f"expected/{check.expected}"
        case JsonEquals(expected=str(reference)):
            needed = f"expected/{reference}"
        case JsonSchema():
            needed = f"expected/{check.schema_file}"
        case Script():
            needed = "grader.py"
        case _:
            needed = None
    if needed and not (path / needed).is_file():
        raise UserError(f"{where}: check {check.name!r} needs {needed}, which is not there")
