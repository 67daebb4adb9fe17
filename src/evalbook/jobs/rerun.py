"""Attempting again, beside the original, by decision."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalbook.base.identifiers import decision_id
from evalbook.base.problems import UserError
from evalbook.jobs.decide import Stamped
from evalbook.jobs.desk import Clock, Desk, Say, open_desk, read_shelf
from evalbook.jobs.freeze import freezes_in, load, one_line
from evalbook.jobs.run import Ran, Watch, carry_out, plan_facts, refuse_unfrozen
from evalbook.jobs.select import Found, Selection, find_attempts
from evalbook.records.decision import RerunDecision
from evalbook.records.fields import config_parts
from evalbook.records.pages import decisions_folder
from evalbook.records.plan import Plan
from evalbook.run.materials import config_freeze, material_freezes
from evalbook.run.plans import Original, rerun_plan
from evalbook.run.preparation import Scene, prepare
from evalbook.store.ledger import NewPage, Trailer
from evalbook.store.writer import RunWriter


def rerun_attempts(
    folder: Path,
    selection: Selection,
    *,
    reason: str,
    jobs: int,
    environment: Mapping[str, str],
    clock: Clock,
    say: Say,
    progress: Watch,
) -> Ran:
    """Record the decision to attempt again, then do it, in a run of its own.

    Raises:
        UserError: when the attempts are of several configs, were read in from elsewhere, or config
            or material are not those of the originals any more.
        KeyboardInterrupt: after Ctrl-C, with how to go on.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        shelf = read_shelf(desk, None)
        chosen = find_attempts(shelf.book, selection)
        original = _same_version(chosen)
        loaded = load(desk, original.evaluation)
        previous = freezes_in(
            [page for page in shelf.pages if page.path.startswith(f"ledger/{loaded.name}/")]
        )
        if original.config not in loaded.configs:
            raise UserError(f"evaluation {loaded.name} has no config {original.config} any more")
        refuse_unfrozen(loaded, previous, original.config)
        written = loaded.configs[original.config].config.version
        frozen = config_freeze(previous, original.config, written)
        if frozen is None or frozen.ref != original.config_ref:
            now = f"{frozen.config} {frozen.version}" if frozen else "not frozen"
            raise UserError(
                f"the original was made by {original.config} {original.version}; the config is {now} now",
                hint="a rerun needs the original's config: set the file back to it first",
            )
        _refuse_other_material(chosen, loaded.name, material_freezes(previous))
        why = one_line(reason)
        decided_at = desk.ledger.now()  # before the plan, which follows from the decision
        plan = rerun_plan(
            original.rules,
            frozen,
            material_freezes(previous),
            plan_facts(desk, clock, condition=original.condition),
            [Original(each.entry.attempt, each.entry.sha256) for each in chosen],
            reason=why,
        )
        scene = Scene(desk.top / ".evalbook" / "work", environment, clock)
        wanted = prepare(plan, loaded, scene)  # no decision for a rerun that can't begin
        _decide(desk, chosen, plan, Stamped(why, desk.ledger.person(), decided_at), clock)
        with RunWriter.begin(desk.ledger, desk.store, plan, clock) as writer:
            return carry_out(plan, wanted, scene, writer, jobs=jobs, progress=progress)


def _same_version(chosen: Sequence[Found]) -> Plan:
    """Return a plan of the version that all chosen attempts are of."""
    first = chosen[0].entry.plan
    for each in chosen:
        if each.entry.plan.purpose == "import":
            raise UserError(
                f"{each.entry.attempt.attempt_id} was read in: it can't be run again here"
            )
        if (
            each.entry.plan.config_ref != first.config_ref
            or each.evaluation != chosen[0].evaluation
        ):
            raise UserError(
                f"{each.entry.attempt.attempt_id} is of {each.entry.plan.config} {each.entry.plan.version},"
                f" {chosen[0].entry.attempt.attempt_id} is not",
                hint="rerun the attempts of one version at a time",
            )
    return first


def _refuse_other_material(
    chosen: Sequence[Found], evaluation: str, materials: Mapping[str, object]
) -> None:
    for each in chosen:
        attempt = each.entry.attempt
        now = materials.get(attempt.task_id)
        said = [
            getattr(now, name, None) for name in ("input_sha256", "initial_state_ref", "grader_ref")
        ]
        if said != [attempt.input_sha256, attempt.initial_state_ref, attempt.grader_ref]:
            digest = config_parts(attempt.config_ref).name
            raise UserError(
                f"the material of {evaluation}/{attempt.task_id} is not that of {attempt.attempt_id} any more",
                hint=f"start a new run instead: evalbook run {evaluation} --config {digest}",
            )


def _decide(desk: Desk, chosen: Sequence[Found], plan: Plan, stamp: Stamped, clock: Clock) -> None:
    records = tuple(
        RerunDecision(
            record="rerun/1",
            decision_id=decision_id(clock(), secrets.choice),
            evaluation=plan.evaluation,
            subject=each.entry.attempt.attempt_id,
            subject_sha256=each.entry.sha256,
            reason=stamp.reason,
            decided_by=stamp.person,
            decided_at=stamp.at,
            run_id=plan.run_id,
        )
        for each in chosen
    )
    named = ", ".join(record.subject for record in records)
    desk.ledger.append(
        NewPage(
            decisions_folder(plan.evaluation, stamp.at),
            records,
            f"rerun({plan.evaluation}): {named if len(records) == 1 else f'{len(records)} attempts'}",
            (Trailer("Evalbook-Reason", stamp.reason),),
        )
    )
