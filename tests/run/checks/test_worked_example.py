"""The project's own evaluation is what the mission says: graders proved, agents erring as planned."""

import os
import shutil
import sys
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from evalbook.records.attempt import CheckOutcome
from evalbook.run.checks.grade import GradeContext, grade
from evalbook.run.checks.lint import lint
from evalbook.run.evaluations import load_evaluation
from evalbook.run.process import run_command
from evalbook.run.workspace import material_in, touched_files

FOLDER = Path(__file__).resolve().parents[3] / "evaluations" / "device-inventory"
LOADED = load_evaluation(FOLDER)
TASKS = ("complete", "missing-department", "duplicate-ids")
FAULTS = [
    (task, fault.name) for task in TASKS for fault in sorted(FOLDER.glob(f"tasks/{task}/faults/*"))
]
NOT_INJECTED = {"in_time"}
"""A fault is files, and being slow leaves none."""


def graded(task: str, workspace: Path, tmp_path: Path) -> dict[str, CheckOutcome]:
    folder = FOLDER / "tasks" / task
    touched = touched_files(material_in(folder / "start"), workspace)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    context = GradeContext(
        workspace=workspace,
        start=folder / "start",
        task_folder=folder,
        evaluation_folder=FOLDER,
        touched=tuple(each.change for each in touched),
        elapsed_seconds=Decimal(1),
        scratch=scratch,
        scrub=str,
        trace=None,
    )
    found = grade(LOADED.tasks[task].task.check, context)
    assert "error" not in {each.outcome for each in found}, found
    return {each.name: each for each in found}


def failed(outcomes: dict[str, CheckOutcome]) -> set[str]:
    return {name for name, each in outcomes.items() if each.outcome != "held"}


def left_by(task: str, tmp_path: Path, *overlay: str) -> Path:
    """The start with some files laid over it."""
    workspace = tmp_path / "workspace"
    shutil.copytree(FOLDER / "tasks" / task / "start", workspace)
    if overlay:
        source = FOLDER.joinpath("tasks", task, *overlay)
        ignore = shutil.ignore_patterns("fault.toml")
        shutil.copytree(source, workspace, dirs_exist_ok=True, ignore=ignore)
    return workspace


@pytest.mark.parametrize("task", TASKS)
def test_the_reference_solution_passes_every_check(task: str, tmp_path: Path) -> None:
    assert failed(graded(task, left_by(task, tmp_path, "solution"), tmp_path)) == set()


@pytest.mark.parametrize("task", TASKS)
def test_an_agent_that_does_nothing_fails(task: str, tmp_path: Path) -> None:
    assert failed(graded(task, left_by(task, tmp_path), tmp_path)) == {
        "summary_right", "exceptions_complete", "files_readable",
    }  # fmt: skip


@pytest.mark.parametrize(("task", "fault"), FAULTS)
def test_every_fault_is_caught_by_the_check_that_should_catch_it(
    task: str, fault: str, tmp_path: Path
) -> None:
    said = tomllib.loads((FOLDER / "tasks" / task / "faults" / fault / "fault.toml").read_text())
    outcomes = graded(task, left_by(task, tmp_path, "faults", fault), tmp_path)
    assert said["check"] in failed(outcomes)
    assert said["why"]
    assert outcomes[said["check"]].failure_class is not None


@pytest.mark.parametrize("task", TASKS)
def test_every_check_has_a_fault_that_it_must_catch(task: str) -> None:
    caught = {
        tomllib.loads(path.read_text())["check"]
        for path in FOLDER.glob(f"tasks/{task}/faults/*/fault.toml")
    }
    assert caught | NOT_INJECTED == {check.name for check in LOADED.tasks[task].task.check}


def agent_run(version: str, task: str, seed: int, tmp_path: Path) -> dict[str, CheckOutcome]:
    workspace = left_by(task, tmp_path)
    environment = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "EVALBOOK_SEED": str(seed),
        "EVALBOOK_TRACE": str(tmp_path / "trace.jsonl"),
        "EVALBOOK_REPORT": str(tmp_path / "report.json"),
    }
    ended = run_command(
        [sys.executable, str(FOLDER / "agents" / f"inventory_{version}.py")],
        folder=workspace,
        environment=environment,
        limits={},
        time_limit_s=30,
        most_output=10_000,
    )
    assert ended.exit_code == 0, ended.stderr
    return graded(task, workspace, tmp_path)


@pytest.mark.parametrize(
    ("version", "task", "passes"),
    [
        ("v1", "complete", [1, 1, 1, 1, 1]),
        ("v1", "missing-department", [1, 0, 1, 0, 1]),
        ("v1", "duplicate-ids", [0, 0, 1, 0, 0]),
        ("v2", "complete", [1, 1, 1, 0, 1]),
        ("v2", "missing-department", [1, 1, 0, 1, 1]),
        ("v2", "duplicate-ids", [1, 1, 1, 1, 1]),
    ],
)
def test_each_version_of_the_agent_errs_on_exactly_these_seeds(
    version: str, task: str, passes: list[int], tmp_path: Path
) -> None:
    found = []
    for seed in LOADED.evaluation.seeds:
        here = tmp_path / str(seed)
        here.mkdir()
        outcomes = agent_run(version, task, seed, here)
        found.append(int(not failed(outcomes)))
        assert {outcomes[name].failure_class for name in failed(outcomes)} <= {
            "misread_contract", "out_of_bounds", "wrong_location",
        }  # fmt: skip
    assert found == passes


def test_what_version_two_breaks_is_critical(tmp_path: Path) -> None:
    outcomes = agent_run("v2", "complete", 14, tmp_path)
    assert outcomes["input_unchanged"].critical
    assert outcomes["input_unchanged"].failure_class == "out_of_bounds"


def test_no_task_of_it_has_a_weak_spot() -> None:
    assert {name: lint(task.task) for name, task in LOADED.tasks.items()} == dict.fromkeys(
        sorted(TASKS), ()
    )


def test_it_is_what_the_mission_says() -> None:
    evaluation = LOADED.evaluation
    assert evaluation.constructed
    assert "made up" in LOADED.description
    assert (evaluation.attempts, evaluation.k) == (5, (1, 3))
    assert evaluation.exclusion.allowed == ("infra_error",)
    start = FOLDER / "tasks" / "missing-department" / "start" / "devices.csv"
    assert start.read_text(encoding="utf-8").splitlines() == [
        "device_id,department", "D001,研发", "D002,销售", "D003,", "D004,研发",
    ]  # fmt: skip
