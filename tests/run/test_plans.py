"""A plan names every attempt, its seed and the frozen references its row must carry."""

from pathlib import Path

import pytest
from tests.run.folders import RULES, TASK, evaluation_folder
from tests.run.sittings import AT, PERSON, jobs_of, plan_of, run_jobs

from evalbook.base.problems import UserError
from evalbook.records.evaluation import Rules
from evalbook.run.evaluations import load_evaluation
from evalbook.run.materials import Stamp, config_freeze, freeze_records, material_freezes
from evalbook.run.parts import material_refs
from evalbook.run.plans import Original, PlanFacts, rerun_plan

FACTS = PlanFacts("20261201-0900-r2r2", PERSON, AT, "evalbook test", (), "live")
TWO = {
    "tasks/bye/task.toml": TASK,
    "tasks/bye/instruction.md": "Bye.\n",
    "tasks/bye/start/names.txt": "Ada\n",
    "tasks/bye/expected/greeting.txt": "x",
}


def test_fixed_seeds_are_the_same_for_every_task(tmp_path: Path) -> None:
    plan = plan_of(evaluation_folder(tmp_path, TWO), attempts=2)

    assert plan.seeds == "fixed"
    assert [(task.task_id, [a.seed for a in task.attempts]) for task in plan.tasks] == [
        ("bye", [11, 12]),
        ("hello", [11, 12]),
    ]
    assert plan.planned == 4


def test_independent_seeds_are_drawn_for_each_attempt(tmp_path: Path) -> None:
    rules = RULES.replace("seeds = [11, 12, 13]\n", "")

    plan = plan_of(evaluation_folder(tmp_path, {**TWO, "evaluation.toml": rules}), attempts=2)

    assert plan.seeds == "independent"
    assert [a.seed for task in plan.tasks for a in task.attempts] == [100, 101, 102, 103]


def test_fixed_seeds_are_never_filled_up_with_drawn_ones(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="greetings has 3 fixed seeds, too few for 4 attempts"):
        plan_of(evaluation_folder(tmp_path), attempts=4)


def test_a_plan_carries_the_references_of_the_material(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)

    (task,) = plan_of(folder).tasks

    refs = material_refs(load_evaluation(folder).tasks["hello"])
    assert (task.input_sha256, task.initial_state_ref, task.grader_ref) == tuple(refs)


def test_a_rerun_names_its_originals_and_keeps_their_seeds(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path, TWO)
    originals = run_jobs(jobs_of(folder, attempts=2)).attempts
    loaded = load_evaluation(folder)
    freezes = freeze_records(loaded, (), Stamp("first", PERSON, AT))
    config = config_freeze(freezes, "agent")
    assert config is not None
    wanted = [Original(each, "ab" * 32) for each in originals if each.attempt_id.endswith("/2")]

    plan = rerun_plan(
        loaded.evaluation.rules(),
        config,
        material_freezes(freezes),
        FACTS,
        [*wanted, Original(originals[0], "cd" * 32)],
        reason="the network was down",
    )

    assert (plan.purpose, plan.seeds, plan.reason) == ("rerun", "fixed", "the network was down")
    assert [
        (task.task_id, a.number, a.seed, a.rerun_of) for task in plan.tasks for a in task.attempts
    ] == [
        ("bye", 1, 12, "20261130-2118-k3f9/bye/2"),
        ("bye", 2, 11, "20261130-2118-k3f9/bye/1"),
        ("hello", 1, 12, "20261130-2118-k3f9/hello/2"),
    ]
    rows = run_jobs(jobs_of(folder, plan=plan)).attempts
    assert [(row.attempt_id, row.rerun_of, row.rerun_of_sha256) for row in rows] == [
        ("20261201-0900-r2r2/bye/1", "20261130-2118-k3f9/bye/2", "ab" * 32),
        ("20261201-0900-r2r2/hello/1", "20261130-2118-k3f9/hello/2", "ab" * 32),
        ("20261201-0900-r2r2/bye/2", "20261130-2118-k3f9/bye/1", "cd" * 32),
    ]


def test_the_rules_stand_in_the_plan_as_they_were(tmp_path: Path) -> None:
    plan = plan_of(evaluation_folder(tmp_path))

    assert type(plan.rules) is Rules
    assert plan.rules.exclusion.allowed == ("infra_error",)
