"""Recording a person's decisions about attempts."""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evalbook.base.identifiers import decision_id
from evalbook.base.problems import UserError
from evalbook.derive.figures import ConfigFigures, figures_of
from evalbook.jobs.answers import Answer
from evalbook.jobs.desk import Clock, Desk, Say, open_desk, read_shelf
from evalbook.jobs.freeze import one_line
from evalbook.jobs.select import Found, Selection, find_attempts
from evalbook.present.tables import exclusion_effect
from evalbook.records.decision import Exclusion, Reinstatement, exclusion_refusal, grounds_of
from evalbook.records.evaluation import ExclusionGround
from evalbook.records.pages import decisions_folder
from evalbook.store.ledger import NewPage, Trailer

_MOST_NAMED = 3


class Stamped(NamedTuple):
    """Who decides, when and why."""

    reason: str
    person: str
    at: str


def exclude_attempts(
    folder: Path, selection: Selection, *, reason: str, clock: Clock, say: Say
) -> Answer:
    """Exclude attempts as far as the policy of their plan allows: all that were named, or none.

    Raises:
        UserError: for an unknown attempt, one that is excluded already, or one that the policy does
            not allow to leave out, which is quoted.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        chosen = find_attempts(read_shelf(desk, None).book, selection)
        if selection.verdicts:
            chosen = tuple(each for each in chosen if each.entry.exclusion is None)
            if not chosen:
                raise UserError("all attempts with that verdict are excluded already")
        grounds = [_ground(each) for each in chosen]
        stamp = Stamped(one_line(reason), desk.ledger.person(), desk.ledger.now())
        records = [
            Exclusion(
                record="exclusion/1",
                decision_id=decision_id(clock(), secrets.choice),
                evaluation=each.evaluation,
                subject=each.entry.attempt.attempt_id,
                subject_sha256=each.entry.sha256,
                reason=stamp.reason,
                decided_by=stamp.person,
                decided_at=stamp.at,
                ground=ground,
            )
            for each, ground in zip(chosen, grounds, strict=True)
        ]
        return _record(desk, chosen, records, stamp, "exclude")


def reinstate_attempts(
    folder: Path, selection: Selection, *, reason: str, clock: Clock, say: Say
) -> Answer:
    """Take the exclusions of attempts back: of all that were named, or of none.

    Raises:
        UserError: for an unknown attempt, or one that is not excluded.
    """
    with open_desk(folder, clock=clock, say=say) as desk:
        chosen = find_attempts(read_shelf(desk, None).book, selection)
        stamp = Stamped(one_line(reason), desk.ledger.person(), desk.ledger.now())
        records = []
        for each in chosen:
            if each.entry.exclusion is None:
                raise UserError(f"{each.entry.attempt.attempt_id} is not excluded")
            records.append(
                Reinstatement(
                    record="reinstatement/1",
                    decision_id=decision_id(clock(), secrets.choice),
                    evaluation=each.evaluation,
                    subject=each.entry.attempt.attempt_id,
                    subject_sha256=each.entry.sha256,
                    reason=stamp.reason,
                    decided_by=stamp.person,
                    decided_at=stamp.at,
                    exclusion=each.entry.exclusion.decision_id,
                )
            )
        return _record(desk, chosen, records, stamp, "reinstate")


def _ground(found: Found) -> ExclusionGround:
    """Return the ground on which the policy of the attempt's plan allows leaving it out."""
    entry = found.entry
    if entry.exclusion is not None:
        raise UserError(
            f"{entry.attempt.attempt_id} is excluded already, since {entry.exclusion.decided_at[:10]}"
        )
    refusal = None
    for ground in grounds_of(entry.attempt):
        refusal = exclusion_refusal(entry.attempt, ground, entry.plan.rules)
        if refusal is None:
            return ground
    allowed = ", ".join(entry.plan.rules.exclusion.allowed) or "nothing"
    why = (
        refusal
        or f"its verdict is {entry.attempt.verdict}, and the plan of that run allows exclusion for {allowed}"
    )
    raise UserError(
        f"{entry.attempt.attempt_id} can't be excluded: {why}",
        hint="the policy that stood when the run was planned decides; a change holds for later runs only",
    )


def _record(
    desk: Desk,
    chosen: Sequence[Found],
    records: Sequence[Exclusion | Reinstatement],
    stamp: Stamped,
    verb: str,
) -> Answer:
    evaluations = sorted({each.evaluation for each in chosen})
    if len(evaluations) != 1:
        raise UserError("one decision is about one evaluation", hint="name it with --evaluation")
    name = evaluations[0]
    before = _figures(desk, name)
    ids = [each.entry.attempt.attempt_id for each in chosen]
    receipt = desk.ledger.append(
        NewPage(
            decisions_folder(name, stamp.at),
            tuple(records),
            f"{verb}({name}): {_named(ids)}",
            (Trailer("Evalbook-Reason", stamp.reason),),
        )
    )
    after = _figures(desk, name)
    effect = exclusion_effect(before, after)
    return Answer(
        "\n".join([*(f"{verb}d {each}" for each in ids), *effect, f"commit {receipt.commit[:12]}"]),
        {"evaluation": name, "attempts": ids, "commit": receipt.commit, "effect": list(effect)},
    )


def _figures(desk: Desk, name: str) -> tuple[ConfigFigures, ...]:
    book = read_shelf(desk, None, evaluation=name).book
    return figures_of(next(each for each in book.evaluations if each.name == name))


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return ", ".join(ids[:_MOST_NAMED]) + more
