"""Running an evaluation: plan, attempts, rows."""

import platform
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from evalbook.base.identifiers import run_id
from evalbook.base.problems import UserError
from evalbook.jobs.answers import Answer
from evalbook.jobs.desk import Clock, Desk, Say, Shelf, choose, open_desk, read_shelf
from evalbook.jobs.freeze import freezes_in, load
from evalbook.records.attempt import Attempt
from evalbook.records.fields import Setting
from evalbook.records.plan import Plan
from evalbook.run.assignment import AttemptJob
from evalbook.run.evaluations import LoadedEvaluation
from evalbook.run.materials import Freeze, config_freeze, differences, material_freezes
from evalbook.run.plans import PlanFacts, measure_plan
from evalbook.run.preparation import Scene, prepare
from evalbook.run.session import Progress, run_plan
from evalbook.run.trees import remove
from evalbook.store.writer import RunWriter

_MOST_NAMED = 5
_SEED_BITS = 31
Watch = Callable[[Progress], None]


class Order(NamedTuple):
    """What was asked of `run_evaluation`."""

    evaluation: str | None
    config: str | None
    attempts: int | None
    """Per task; None: as the evaluation says."""
    tasks: tuple[str, ...]
    """Empty: all."""
    jobs: int
    """Attempts at a time."""
    resume: str | None
    """Id of a run to go on with, or an ending of it."""
    environment: Mapping[str, str]


class Ran(NamedTuple):
    """What came of a run."""

    plan: Plan
    rows: tuple[Attempt, ...]
    """Of this sitting."""

    @property
    def judged(self) -> int:
        """How many attempts came to a verdict of their own."""
        return sum(row.judged for row in self.rows)

    def answer(self) -> Answer:
        """Return it for people and programs."""
        counted = Counter(row.verdict for row in self.rows)
        said = (
            ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items())) or "none"
        )
        document = {
            "run": self.plan.run_id,
            "evaluation": self.plan.evaluation,
            "config": self.plan.config,
            "version": self.plan.version,
            "planned": self.plan.planned,
            "executed_now": len(self.rows),
            "verdicts": dict(sorted(counted.items())),
        }
        part = (
            ""
            if len(self.rows) == self.plan.planned
            else f" of {self.plan.planned} planned, in this sitting"
        )
        return Answer(f"run {self.plan.run_id}: {said}{part}", document)


def run_evaluation(folder: Path, order: Order, *, clock: Clock, say: Say, progress: Watch) -> Ran:
    """Plan and make a run, or go on with one that was cut short.

    Raises:
        UserError: when material is not what was frozen (the files are named), the branch can't be
            written to, or there is nothing to resume.
        KeyboardInterrupt: after Ctrl-C, with how to go on; every finished row is committed.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        if order.resume is not None:
            return _resume(desk, order, clock=clock, say=say, progress=progress)
        loaded = load(desk, order.evaluation)
        shelf = read_shelf(desk, None, evaluation=loaded.name)
        previous = freezes_in(shelf.pages)
        config = choose(loaded.configs, order.config, what="config")
        refuse_unfrozen(loaded, previous, config)
        plan = _plan(desk, loaded, previous, config, order=order, clock=clock)
        scene = Scene(desk.top / ".evalbook" / "work", order.environment, clock)
        wanted = prepare(plan, loaded, scene)  # a plan that can't begin must not be in the book
        with RunWriter.begin(desk.ledger, desk.store, plan, clock) as writer:
            say(
                f"run {plan.run_id}: {plan.planned} attempts at {len(plan.tasks)} tasks, {config} {plan.version}"
            )
            return carry_out(plan, wanted, scene, writer, jobs=order.jobs, progress=progress)


def refuse_unfrozen(loaded: LoadedEvaluation, previous: Sequence[Freeze], config: str) -> None:
    """Refuse a run whose material is not what was frozen, and name the files.

    Raises:
        UserError: when anything differs.
    """
    found = differences(loaded, previous, config)
    if not found:
        return
    if not previous:
        raise UserError(
            f"evaluation {loaded.name} was never frozen",
            hint=f'evalbook freeze {loaded.name} --reason "first version"',
        )
    named = ", ".join(f"{each.path} ({each.what})" for each in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    raise UserError(
        f"evaluation {loaded.name} is not as it was frozen: {named}{more}",
        hint=f'undo that, or state it: evalbook freeze {loaded.name} --reason "what changed, and why"',
    )


def _plan(
    desk: Desk,
    loaded: LoadedEvaluation,
    previous: Sequence[Freeze],
    config: str,
    *,
    order: Order,
    clock: Clock,
) -> Plan:
    frozen = config_freeze(previous, config, loaded.configs[config].config.version)
    if frozen is None:
        raise UserError(f"config {config} was never frozen")
    wanted = {choose(loaded.tasks, task, what="task") for task in order.tasks} or set(loaded.tasks)
    materials = material_freezes(previous)
    return measure_plan(
        loaded.evaluation.rules(),
        frozen,
        [materials[task] for task in sorted(wanted)],
        plan_facts(desk, clock, condition=loaded.configs[config].config.condition),
        attempts=order.attempts or loaded.evaluation.attempts,
        seed=lambda: secrets.randbits(_SEED_BITS),
    )


def plan_facts(desk: Desk, clock: Clock, *, condition: str) -> PlanFacts:
    """Return what every plan says of itself; of the machine nothing that names it or its owner."""
    host = (
        Setting(key="machine", value=f'"{platform.machine()}"'),
        Setting(key="python", value=f'"{platform.python_version()}"'),
        Setting(key="system", value=f'"{platform.system()}"'),
    )
    return PlanFacts(
        run_id=run_id(clock(), secrets.choice),
        person=desk.ledger.person(),
        at=desk.ledger.now(),
        tool=f"evalbook {version('evalbook')}",
        host=host,
        condition="replayed" if condition == "replayed" else "live",
    )


def carry_out(
    plan: Plan,
    wanted: Sequence[AttemptJob],
    scene: Scene,
    writer: RunWriter,
    *,
    jobs: int,
    progress: Watch,
) -> Ran:
    """Make the attempts of a plan that are wanted, each row through the writer.

    Raises:
        KeyboardInterrupt: after Ctrl-C, with how to go on.
    """
    try:
        with ThreadPoolExecutor(max_workers=jobs) as executor:
            rows = run_plan(wanted, executor, writer, slots=jobs, progress=progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"go on with `evalbook run --resume {plan.run_id}`; what was cut off is an infra_error"
            " row, which `evalbook rerun` attempts again"
        ) from None
    with suppress(OSError):
        remove(scene.work / plan.run_id)
    return Ran(plan, rows)


def _resume(desk: Desk, order: Order, *, clock: Clock, say: Say, progress: Watch) -> Ran:
    shelf = read_shelf(desk, None)
    plan = _plan_of(shelf, str(order.resume))
    loaded = load(desk, plan.evaluation)
    done = frozenset(
        line.record.attempt_id
        for page in shelf.pages
        for line in page.lines
        if isinstance(line.record, Attempt) and line.record.attempt_id.startswith(f"{plan.run_id}/")
    )
    if len(done) == plan.planned:
        raise UserError(
            f"run {plan.run_id} is complete: every planned attempt has its row",
            hint="what was cut off is an infra_error row; `evalbook rerun` attempts it again",
        )
    say(f"run {plan.run_id}: {plan.planned - len(done)} of {plan.planned} attempts are left")
    scene = Scene(desk.top / ".evalbook" / "work", order.environment, clock)
    wanted = prepare(plan, loaded, scene, done=done)
    with RunWriter.resume(desk.ledger, desk.store, plan, clock) as writer:
        return carry_out(plan, wanted, scene, writer, jobs=order.jobs, progress=progress)


def _plan_of(shelf: Shelf, ending: str) -> Plan:
    plans = [
        plan for book in shelf.book.evaluations for plan in book.plans if plan.purpose != "import"
    ]
    found = [plan for plan in plans if plan.run_id.endswith(ending)]
    if len(found) != 1:
        choose((plan.run_id for plan in plans), ending, what="run")
        raise UserError(f"{ending!r} fits several runs", hint="type more of the id")
    return found[0]
