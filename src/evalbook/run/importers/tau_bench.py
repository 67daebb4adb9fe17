"""Results of tau-bench: one JSON array a run."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalbook.base.canonical import NamedDigest, manifest_digest, sha256_hex
from evalbook.base.problems import UserError
from evalbook.records.attempt import CheckOutcome
from evalbook.records.fields import Setting
from evalbook.records.plan import SourceFile
from evalbook.records.task import Part
from evalbook.run.importers.assemble import assemble, check_planned
from evalbook.run.importers.cells import Cells, cells_of, needed
from evalbook.run.importers.freezes import MOST_ATTEMPTS
from evalbook.run.importers.reading import ReadFile, json_of, quoted, read_file
from evalbook.run.importers.values import (
    UNKNOWN,
    FoundConfig,
    FoundRow,
    FoundRun,
    Import,
    ImportRequest,
    Material,
)
from evalbook.run.importers.words import (
    check_name,
    counted,
    error_line,
    key_part,
    name_of,
    raw_word,
    scrubbed,
    settings_of,
)

MAPPING = 1
"""Version of this reading: success is a reward within 1e-6 of 1; an ``info.error`` is an infra_error,
though the tool itself counts it as a failure; a null ``reward_info`` without error is a failure that
ended at the step limit. The user simulator's cost is no cost of the agent, so the cost is unknown."""

_TOLERANCE = 1e-6
_NAME = re.compile(
    r"(?P<strategy>tool-calling|act|react|few-shot)-(?P<model>.+)-(?P<temperature>[0-9]+(?:\.[0-9]+)?)"
    r"_range_(?P<range>-?[0-9]+--?[0-9]+)"
    r"_user-(?P<user_model>.+)-(?P<user_strategy>[a-z]+)_(?P<stamp>[0-9]{10})"
)
"""The names that tau-bench gives its files; the configuration stands nowhere else."""
_MOST_TASK_NUMBER = 10**12


class _Seen(NamedTuple):
    """One row, and what it shows of its task."""

    row: FoundRow
    title: str
    """The task's id as the file writes it."""
    material: Material | None
    prompt: str | None
    """SHA-256 of the system message."""


def read_tau_bench(files: Sequence[Path], request: ImportRequest) -> Import:
    """Return what result files of tau-bench say; each file is one run, its name the run's identity.

    Raises:
        UserError: for a file that is no such result, with its row.
    """
    read: dict[str, ReadFile] = {}
    notes: list[str] = []
    for path in files:
        file = read_file(path)
        if file.sha256 in read:
            notes.append(f"{file.shown}: is the same file as {read[file.sha256].shown}, read once")
        read.setdefault(file.sha256, file)
    found = [_run(file, request) for file in read.values()]
    said: Counter[str] = sum((_tally(run) for run in found), Counter())
    notes += [counted(said[what], what) for what in sorted(said)]
    return assemble(found, request, notes)


def _run(file: ReadFile, request: ImportRequest) -> FoundRun:
    document = json_of(file)
    if not isinstance(document, list):
        raise UserError(
            f"{file.shown}: is {quoted(document)}, not the list of rows that tau-bench writes"
        )
    seen = [_row(file, at, value) for at, value in enumerate(document)]
    materials = _materials(seen)
    trials = frozenset(range(1, max((each.row.number for each in seen), default=0) + 1))
    check_planned(file.shown, len(trials) * len(materials))
    return FoundRun(
        identity=f"tau-bench:{key_part(file.stem)}",
        shown=file.shown,
        file=SourceFile(
            format="tau-bench", mapping=MAPPING, name=file.name, sha256=file.sha256, size=file.size
        ),
        config=_config(file, seen, request),
        started_at=None,
        materials=materials,
        # Each trial goes over all tasks, so a gap is an attempt that was meant and not made.
        planned=dict.fromkeys(materials, trials),
        rows=tuple(each.row for each in seen),
        facts=_facts(file),
    )


def _row(file: ReadFile, at: int, value: object) -> _Seen:
    cells = cells_of(f"{file.shown}: row [{at}]", value)
    task = _task_id(cells)
    trial = needed(cells, "trial", cells.whole("trial", most=MOST_ATTEMPTS - 1))
    info = needed(cells, "info", cells.table("info"))
    messages = _messages(cells)
    row = FoundRow(
        cells=cells,
        position=at,
        task_id=name_of(task),
        number=trial + 1,
        key=f"{key_part(task)}/{trial}",
        fields=_fields(cells, info, messages),
        raw=tuple(_raw(cells, info)),
    )
    shown = info.table("task")
    prompt = messages[0].text("content") if messages else None
    system = bool(messages) and messages[0].values.get("role") == "system"
    return _Seen(
        row,
        task,
        _material(shown, row.task_id, task) if shown else None,
        sha256_hex(prompt.encode()) if prompt and system else None,
    )


def _task_id(cells: Cells) -> str:
    value = needed(cells, "task_id", cells.values.get("task_id"))
    if isinstance(value, str):
        return needed(cells, "task_id", cells.identifier("task_id"))
    return str(cells.whole("task_id", most=_MOST_TASK_NUMBER))


def _messages(cells: Cells) -> list[Cells]:
    said = cells.items("traj") or []
    return [cells_of(f"{cells.where}: traj[{at}]", value) for at, value in enumerate(said)]


def _fields(cells: Cells, info: Cells, messages: Sequence[Cells]) -> dict[str, Any]:
    reward = needed(cells, "reward", cells.number("reward"))
    steps = sum(each.values.get("role") == "assistant" for each in messages)
    if info.has("error"):
        error = info.text("error")
        return {
            "verdict": "infra_error",
            "judged": False,
            "termination": "error",
            "note": f"the source says: {error_line(error or '') or 'nothing'}",
        }
    fields: dict[str, Any] = {
        "verdict": "pass" if abs(reward - 1) <= _TOLERANCE else "fail",
        "steps": steps or None,
    }
    graded = info.table("reward_info")
    if graded is None:
        note = f"reward_info is null after {len(messages)} messages: cut off at the step limit"
        return {**fields, "termination": "step_limit", "note": note}
    checks = tuple(_checks(graded))
    source = info.text("source") or ""
    return {
        **fields,
        "termination": error_line(source)[:80] or "done",
        "checks": checks,
        "failed_checks": tuple(each.name for each in checks if each.outcome != "held"),
    }


def _checks(graded: Cells) -> Iterator[CheckOutcome]:
    """Yield the checks that the source shows: where outputs were asked for, only these."""
    shown = graded.table("info")
    for name in ("r_actions", "r_outputs") if shown else ():
        if shown and shown.has(name):
            value = shown.values[name]
            score = float(value) if isinstance(value, bool) else shown.number(name) or 0.0
            held = abs(score - 1) <= _TOLERANCE
            outputs = shown.table("outputs") if name == "r_outputs" else None
            missing = [key for key, there in outputs.values.items() if not there] if outputs else []
            actual = f"not said: {', '.join(quoted(key) for key in missing)}" if missing else ""
            yield CheckOutcome(
                name=check_name(name), outcome="held" if held else "failed", actual=actual[:300]
            )


def _raw(cells: Cells, info: Cells) -> Iterator[Setting]:
    yield raw_word("reward", cells.values["reward"])
    if info.has("error"):
        yield raw_word("error", info.text("error"))
        return
    graded = info.table("reward_info")
    if graded is None:
        yield raw_word("reward_info", None)
        return
    shown = graded.table("info")
    for name in ("r_actions", "r_outputs", "gt_data_hash"):
        if shown and isinstance(shown.values.get(name), bool | int | float | str):
            yield raw_word(name, shown.values[name])


def _material(shown: Cells, task_id: str, title: str) -> Material:
    """Return what the file shows of a task: instruction, user, and the results that are wanted.

    The instruction is given to the simulated user, whom the agent must ask. Of the grader only the
    wanted actions and outputs are known, not its code; of the start state nothing.
    """
    instruction = shown.text("instruction")
    if instruction is None or not shown.has("actions"):
        raise shown.error("has no instruction or no actions", hint="tau-bench writes both")
    told = sha256_hex(instruction.encode())
    user = shown.digest("user_id")
    wanted = shown.digest("actions", "outputs")
    return Material(
        task_id=task_id,
        title=title,
        origin="tau-bench",
        parts=(
            Part(part="instruction", sha256=told),
            Part(part="input", sha256=user),
            Part(part="expected", sha256=wanted),
        ),
        input_sha256=manifest_digest([NamedDigest("instruction", told), NamedDigest("user", user)]),
        initial_state_ref=UNKNOWN,
        grader_ref=wanted,
        instruction=scrubbed(instruction),
    )


def _materials(seen: Sequence[_Seen]) -> dict[str, Material]:
    """Return each task's material; rows that broke off show none, others must agree.

    Raises:
        UserError: when two rows show different material for one task.
    """
    found: dict[str, _Seen] = {}
    for each in seen:
        if each.material is None:
            continue
        first = found.setdefault(each.row.task_id, each)
        if first.material != each.material:
            where = first.row.cells.where.rpartition(": ")[2]
            raise each.row.cells.error(
                f"its task {each.row.task_id} is another than that of {where}",
                hint="one run has one set of tasks: read its files in one by one",
            )
    shown = {task_id: each.material for task_id, each in found.items() if each.material}
    unseen = {
        each.row.task_id: Material(task_id=each.row.task_id, title=each.title, origin="tau-bench")
        for each in seen
    }
    return unseen | shown


def _config(file: ReadFile, seen: Sequence[_Seen], request: ImportRequest) -> FoundConfig:
    """Return the config that the file's name states, with the policy that all its rows show."""
    prompts = {each.prompt for each in seen if each.prompt}
    policy = prompts.pop() if len(prompts) == 1 else None
    said = _NAME.fullmatch(file.stem)
    # Where a person names the config, files that tell nothing by their names may be of one version.
    unsaid = None if request.config else file.stem
    settings: Mapping[str, Any] = {"file": unsaid, "policy_sha256": policy}
    name = file.stem
    if said:
        name = f"{said['strategy']}-{said['model']}"
        settings = {
            "agent": f"tau-bench {said['strategy']}",
            "model": said["model"],
            "policy_sha256": policy,
            "sampling": {"temperature": said["temperature"]},
            "user": {"model": said["user_model"], "strategy": said["user_strategy"]},
        }
    return FoundConfig(
        name=request.config or name_of(name),
        label=request.version or "imported",
        settings=settings_of(settings),
    )


def _facts(file: ReadFile) -> tuple[Setting, ...]:
    said = _NAME.fullmatch(file.stem)
    return settings_of({"range": said["range"], "stamp": said["stamp"]}) if said else ()


def _tally(run: FoundRun) -> Counter[str]:
    """Count what the person should hear of, by what is said of it."""
    ended = Counter(row.fields["termination"] for row in run.rows)
    said: Counter[str] = Counter()
    said["ended at the step limit"] += ended["step_limit"]
    said["broke off with an error: infra_error, where tau-bench itself counts a failure"] += ended[
        "error"
    ]
    said["planned but not executed"] += sum(map(len, run.planned.values())) - len(run.rows)
    return said
