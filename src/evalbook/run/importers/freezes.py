"""The freezes that plans of imported runs rest on."""

from collections.abc import Iterable, Mapping

from evalbook.base.canonical import NamedDigest, canonical_json, manifest_digest, sha256_hex
from evalbook.base.problems import UserError
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze, Rules
from evalbook.records.plan import Plan
from evalbook.records.task import MaterialFreeze
from evalbook.run.importers.reading import printable
from evalbook.run.importers.values import UNKNOWN, FoundRun, Freeze, ImportRequest, Material
from evalbook.run.importers.words import content_sha256

MOST_ATTEMPTS = 10_000
"""Per task and run: what `Rules` allow."""
_MOST_K = 10
_MOST_NAMED = 3
"""Settings that an error names."""


def default_rules(attempts: int) -> Rules:
    """Return rules for results about which nothing was agreed: no exclusion, k = 1 … 10 at most."""
    return Rules(
        attempts=max(1, min(attempts, MOST_ATTEMPTS)),
        k=tuple(range(1, max(1, min(attempts, _MOST_K)) + 1)),
    )


def rules_sha256(rules: Rules) -> str:
    """Return the digest that stands for rules without a file of their own."""
    return sha256_hex(canonical_json(rules.model_dump(mode="json")))


def lend(wanted: Material, lender: Material | None) -> Material:
    """Return ``wanted``, or the same task of the same origin where more is known of it.

    A task that was planned but never attempted shows nothing in its file, though it is the same.
    """
    if wanted.seen or lender is None or not lender.seen or lender.origin != wanted.origin:
        return wanted
    return lender


def config_freezes(found: Iterable[FoundRun], request: ImportRequest) -> tuple[ConfigFreeze, ...]:
    """Return one freeze a config version, sorted by name and label.

    Raises:
        UserError: when two contents would share one label.
    """
    made: dict[tuple[str, str], ConfigFreeze] = {}
    told: dict[tuple[str, str], FoundRun] = {}
    for run in found:
        config = run.config
        freeze = ConfigFreeze(
            record="config/1",
            evaluation=request.evaluation,
            config=config.name,
            version=config.label,
            sha256=config.sha256 or content_sha256(config.settings),
            settings=config.settings,
            reason=request.reason,
            frozen_by=request.person,
            frozen_at=request.at,
            source=f"{run.file.format}: {run.file.name}",
        )
        key = (config.name, config.label)
        earlier = made.setdefault(key, freeze)
        first = told.setdefault(key, run)
        if earlier.sha256 != freeze.sha256:
            raise two_contents(run.shown, freeze, earlier, f"in {first.shown}")
    return tuple(made[key] for key in sorted(made))


def two_contents(shown: str, freeze: ConfigFreeze, earlier: ConfigFreeze, where: str) -> UserError:
    """Return the error that one label would stand for two contents, naming up to three settings."""
    old = {each.key: each.value for each in earlier.settings}
    new = {each.key: each.value for each in freeze.settings}
    differing = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
    said = "; ".join(
        printable(f"{key} is {new.get(key, 'not said')[:60]}, not {old.get(key, 'not said')[:60]}")
        for key in differing[:_MOST_NAMED]
    )
    unnamed = len(differing) - _MOST_NAMED
    more = f" (and {unnamed} more)" if unnamed > 0 else ""
    return UserError(
        f"{shown}: this is not the {freeze.config}@{freeze.version} {where}: "
        f"{said + more or 'its content hash differs'}",
        hint="one label stands for one content: read the file in with a --label of its own",
    )


def material_freezes(
    shown: Iterable[Mapping[str, Material]], request: ImportRequest
) -> tuple[MaterialFreeze, ...]:
    """Return one freeze for each set of material that some run shows, sorted by task."""
    distinct = {
        (material.task_id, *material[2:7]): material
        for materials in shown
        for material in materials.values()
    }
    return tuple(
        MaterialFreeze(
            record="material/1",
            evaluation=request.evaluation,
            task_id=material.task_id,
            title=material.title,
            parts=material.parts,
            input_sha256=material.input_sha256,
            initial_state_ref=material.initial_state_ref,
            grader_ref=material.grader_ref,
            sha256=_material_sha256(material),
            instruction=material.instruction,
            reason=request.reason,
            frozen_by=request.person,
            frozen_at=request.at,
            source=material.origin,
        )
        for _, material in sorted(distinct.items(), key=lambda item: (item[0][0], item[0][3:]))
    )


def _material_sha256(material: Material) -> str:
    """Return the digest of everything the source shows of a task, its name and origin included."""
    named = {"task": material.title, "origin": material.origin}
    stated = dict(zip(("input", "start", "grader"), material[4:7], strict=True))
    return manifest_digest(
        NamedDigest(
            name, value if name in stated and value != UNKNOWN else sha256_hex(value.encode())
        )
        for name, value in {**named, **stated}.items()
    )


def evaluation_freeze(rules: Rules, request: ImportRequest, tasks: int) -> EvaluationFreeze:
    """Return the freeze of the rules; ``tasks`` is how many tasks there are."""
    return EvaluationFreeze(
        record="evaluation/1",
        evaluation=request.evaluation,
        title=request.title or request.evaluation,
        constructed=request.constructed,
        rules=rules,
        sha256=rules_sha256(rules),
        reason=request.reason,
        frozen_by=request.person,
        frozen_at=request.at,
        tasks=tasks,
    )


def freezes_used(freezes: Iterable[Freeze], plans: Iterable[Plan]) -> tuple[Freeze, ...]:
    """Return those of ``freezes`` that some plan rests on, rules included, in the same order."""
    kept = list(plans)
    refs = {plan.config_ref for plan in kept}
    tasks = {
        (task.task_id, task.input_sha256, task.initial_state_ref, task.grader_ref)
        for plan in kept
        for task in plan.tasks
    }

    def used(freeze: Freeze) -> bool:
        match freeze:
            case EvaluationFreeze():
                return bool(kept)
            case ConfigFreeze():
                return freeze.ref in refs
            case MaterialFreeze():
                said = (freeze.input_sha256, freeze.initial_state_ref, freeze.grader_ref)
                return (freeze.task_id, *said) in tasks

    return tuple(each for each in freezes if used(each))
