"""Building the plan of a run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from evalbook.base.problems import UserError
from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import Rules
from evalbook.records.fields import Setting, attempt_parts
from evalbook.records.plan import Plan, PlannedAttempt, PlannedTask
from evalbook.records.task import MaterialFreeze

Seeds = Literal["fixed", "independent", "none"]


class PlanFacts(NamedTuple):
    """What every plan says of itself."""

    run_id: str
    person: str
    at: str
    tool: str
    host: tuple[Setting, ...]
    condition: Literal["live", "replayed"]


class Original(NamedTuple):
    """An attempt that is to be made once more, and the SHA-256 of its row."""

    attempt: Attempt
    sha256: str


def measure_plan(
    rules: Rules,
    config: ConfigFreeze,
    materials: Sequence[MaterialFreeze],
    facts: PlanFacts,
    *,
    attempts: int,
    seed: Callable[[], int],
) -> Plan:
    """Return the plan of ``attempts`` attempts at every task.

    Seeds are the evaluation's own, one per attempt number, the same for every task; where it has
    none, each attempt gets one of its own from ``seed``.

    Raises:
        UserError: when the evaluation has seeds, but fewer than attempts: independent seeds for the
            rest would be another kind of measurement under the same name.
    """
    if rules.seeds and len(rules.seeds) < attempts:
        raise UserError(
            f"{config.evaluation} has {len(rules.seeds)} fixed seeds, too few for {attempts} attempts",
            hint="ask for fewer attempts, or add seeds to evaluation.toml and freeze it",
        )
    fixed = bool(rules.seeds)
    tasks = tuple(
        _planned(
            material,
            tuple(
                PlannedAttempt(number=n, seed=rules.seeds[n - 1] if fixed else seed())
                for n in range(1, attempts + 1)
            ),
        )
        for material in sorted(materials, key=lambda each: each.task_id)
    )
    seeds: Seeds = "fixed" if fixed else "independent"
    return _plan(rules, config, tasks, facts, purpose="measure", seeds=seeds)


def rerun_plan(
    rules: Rules,
    config: ConfigFreeze,
    materials: Mapping[str, MaterialFreeze],
    facts: PlanFacts,
    originals: Sequence[Original],
    *,
    reason: str,
) -> Plan:
    """Return the plan that makes the ``originals`` once more, each with its original's seed."""
    wanted: dict[str, list[PlannedAttempt]] = {}
    for attempt, sha256 in originals:
        task = attempt_parts(attempt.attempt_id).task
        numbered = wanted.setdefault(task, [])
        numbered.append(
            PlannedAttempt(
                number=len(numbered) + 1,
                seed=attempt.seed,
                rerun_of=attempt.attempt_id,
                rerun_of_sha256=sha256,
            )
        )
    tasks = tuple(_planned(materials[task], tuple(wanted[task])) for task in sorted(wanted))
    seeds: Seeds = "fixed" if any(o.attempt.seed is not None for o in originals) else "none"
    return _plan(rules, config, tasks, facts, purpose="rerun", seeds=seeds, reason=reason)


def _planned(material: MaterialFreeze, attempts: tuple[PlannedAttempt, ...]) -> PlannedTask:
    return PlannedTask(
        task_id=material.task_id,
        input_sha256=material.input_sha256,
        initial_state_ref=material.initial_state_ref,
        grader_ref=material.grader_ref,
        attempts=attempts,
    )


def _plan(
    rules: Rules,
    config: ConfigFreeze,
    tasks: tuple[PlannedTask, ...],
    facts: PlanFacts,
    *,
    purpose: Literal["measure", "rerun"],
    seeds: Seeds,
    reason: str | None = None,
) -> Plan:
    return Plan(
        record="plan/1",
        run_id=facts.run_id,
        evaluation=config.evaluation,
        config=config.config,
        version=config.version,
        config_ref=config.ref,
        planned_at=facts.at,
        planned_by=facts.person,
        purpose=purpose,
        rules=rules,
        seeds=seeds,
        condition=facts.condition,
        tasks=tasks,
        tool=facts.tool,
        host=facts.host,
        reason=reason,
    )
