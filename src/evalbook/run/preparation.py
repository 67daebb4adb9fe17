"""Getting ready for a run: everything its attempts need, verified against the plan."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from evalbook.base.problems import UserError
from evalbook.records.fields import config_parts
from evalbook.records.plan import Plan, PlannedTask
from evalbook.run.agents import handed_on
from evalbook.run.assignment import AttemptJob, Refs
from evalbook.run.evaluations import LoadedEvaluation, LoadedTask
from evalbook.run.outside import Outside, keep_outside
from evalbook.run.parts import config_content, grading_files, material_refs, start_files
from evalbook.run.scrub import secrets_in
from evalbook.run.workspace import Snapshot, take_snapshot


class Scene(NamedTuple):
    """Where and with what a run takes place."""

    work: Path
    """Folder of all runs' workspaces, outside every evaluation: ``.evalbook/work``."""
    environment: Mapping[str, str]
    """The caller's whole environment; agents get what their config allows."""
    clock: Callable[[], datetime]
    """A function of a module, so that it can travel to another process."""


def prepare(
    plan: Plan, loaded: LoadedEvaluation, scene: Scene, *, done: Collection[str] = ()
) -> tuple[AttemptJob, ...]:
    """Return the jobs of a plan but those of the attempts in ``done``, in the order of the plan.

    Attempt by attempt over all tasks, so that a run that is cut short has a bit of everything.
    Snapshots are taken and what tasks restore is copied before anything starts; on resuming, the
    copies of the first start are used.

    Raises:
        UserError: when material is not what the plan says, a secret is not set, or the disk refuses.
    """
    config = loaded.configs.get(plan.config)
    if config is None:
        raise UserError(f"evaluation {loaded.name} has no config {plan.config} any more")
    content = config_content(loaded, config)
    if content.sha256 != config_parts(plan.config_ref).sha256:
        raise UserError(
            f"{loaded.shown(config.path)} is not what the run was planned with",
            hint="set it and the files it uses back to that state, or start a new run",
        )
    environment = handed_on(config.config, scene.environment, loaded.shown(config.path))
    secrets = secrets_in(scene.environment, config.config.permissions.secrets)
    jobs = []
    for planned in plan.tasks:
        open_attempts = [
            attempt
            for attempt in planned.attempts
            if plan.attempt_id(planned.task_id, attempt.number) not in done
        ]
        if open_attempts:
            task = _task(loaded, planned)
            shared = _shared(plan, planned, task, scene)
            jobs += [
                AttemptJob(
                    attempt_id=plan.attempt_id(task.task_id, attempt.number),
                    planned=attempt,
                    task=task,
                    config=config,
                    condition=plan.condition,
                    evaluation_folder=loaded.folder,
                    own_files={each.path: each.sha256 for each in content.files},
                    environment=environment,
                    secrets=secrets,
                    clock=scene.clock,
                    **shared._asdict(),
                )
                for attempt in open_attempts
            ]
    return tuple(sorted(jobs, key=lambda job: (job.planned.number, job.task.task_id)))


class _Shared(NamedTuple):
    """What all attempts at one task share, by the fields of `AttemptJob`."""

    refs: Refs
    run_folder: Path
    start: Snapshot
    grading: Snapshot
    outside: tuple[Outside, ...]


def _shared(plan: Plan, planned: PlannedTask, task: LoadedTask, scene: Scene) -> _Shared:
    """Take a task's snapshots, and copy what it restores.

    Raises:
        UserError: when something changes meanwhile, or the disk refuses.
    """
    folder = scene.work / plan.run_id
    return _Shared(
        Refs(
            plan.config_ref,
            planned.input_sha256,
            planned.initial_state_ref,
            planned.grader_ref,
        ),
        folder,
        take_snapshot(task.folder / "start", folder / "start" / task.task_id, start_files(task)),
        take_snapshot(task.folder, folder / "grading" / task.task_id, grading_files(task)),
        keep_outside(task.task.restore, folder / "outside" / task.task_id),
    )


def _task(loaded: LoadedEvaluation, planned: PlannedTask) -> LoadedTask:
    """Return a planned task's folder, whose material is still what the plan says.

    Raises:
        UserError: when it is not.
    """
    task = loaded.tasks.get(planned.task_id)
    if task is None:
        raise UserError(f"evaluation {loaded.name} has no task {planned.task_id} any more")
    for name, ref in material_refs(task)._asdict().items():
        if ref != getattr(planned, name):
            raise UserError(
                f"{loaded.shown(task.folder)} is not what the run was planned with: {name} differs",
                hint="set the material back to that state, or start a new run",
            )
    return task
