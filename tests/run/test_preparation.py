"""A run is only begun with the material, the secrets and the places that its plan needs."""

from pathlib import Path

import pytest
from tests.run.folders import AGENT, CONFIG, TASK, evaluation_folder, write_files
from tests.run.sittings import jobs_of, plan_of, run_jobs

from evalbook.base.problems import UserError


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tasks/hello/start/names.txt": "Eve"}, "tasks/hello is not what the run was planned with: input_sha256"),
        ({"tasks/hello/expected/greeting.txt": "x"}, "tasks/hello is not what the run was planned with: grader_ref"),
        ({"agents/greeter.py": "pass"}, "configs/agent.toml is not what the run was planned with"),
        ({"configs/agent.toml": None}, "has no config agent any more"),
        ({"tasks/hello/task.toml": None, "tasks/hello/instruction.md": None,
          "tasks/hello/start/names.txt": None, "tasks/hello/expected/greeting.txt": None}, ": is not there"),
    ],
)  # fmt: skip
def test_material_that_changed_since_the_plan_is_refused(
    tmp_path: Path, change: dict[str, str | None], said: str
) -> None:
    folder = evaluation_folder(tmp_path)
    plan = plan_of(folder)
    write_files(folder, change)

    with pytest.raises(UserError) as caught:
        jobs_of(folder, plan=plan)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "configs/agent.toml: permissions.secrets names SERVICE_KEY, which is not set"),
        ({"SERVICE_KEY": ""}, "SERVICE_KEY, which is not set"),
        ({"SERVICE_KEY": "short"}, "the value of SERVICE_KEY has fewer than 8 characters"),
    ],
)
def test_a_secret_that_could_not_be_kept_out_of_the_records_is_refused(
    tmp_path: Path, environment: dict[str, str], said: str
) -> None:
    files = {"configs/agent.toml": CONFIG + '[permissions]\nsecrets = ["SERVICE_KEY"]\n'}

    with pytest.raises(UserError) as caught:
        jobs_of(evaluation_folder(tmp_path, files), environment=environment)

    assert said in str(caught.value)
    assert "short" not in str(caught.value)


def test_an_interrupted_attempt_leaves_its_memory_to_no_one(tmp_path: Path) -> None:
    memory = tmp_path / "memory.txt"
    memory.write_text("clean")
    code = AGENT + f"print(Path({str(memory)!r}).read_text())"
    files = {"agents/greeter.py": code, "tasks/hello/task.toml": f'restore = ["{memory}"]\n{TASK}'}
    folder = evaluation_folder(tmp_path, files)
    plan = plan_of(folder, attempts=2)
    jobs_of(folder, plan=plan)
    memory.write_text("dirty")  # the run is killed here, and resumed

    rows = run_jobs(jobs_of(folder, plan=plan, done=[plan.attempt_id("hello", 1)]))

    assert rows.artifact(rows.attempts[0], "stdout.txt") == b"clean\n"


def test_snapshots_are_used_again_when_a_run_is_resumed(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    plan = plan_of(folder, attempts=2)
    before = jobs_of(folder, plan=plan)[0].start.folder.stat().st_ino

    assert jobs_of(folder, plan=plan)[0].start.folder.stat().st_ino == before
