"""Rules 4 and 5 for material: a plan uses what was frozen before it and stood when it was made."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalbook.base.problems import Finding
from evalbook.records.evaluation import Rules
from evalbook.records.fields import config_parts
from evalbook.records.plan import Plan, PlannedTask
from evalbook.records.task import MaterialFreeze
from evalbook.store.verify.agreement import REFERENCES, RULE
from evalbook.store.verify.catalogue import Catalogue, Key, Placed, R
from evalbook.store.verify.order import Chronology, Link, Relation


def frozen(catalogue: Catalogue, chronology: Chronology) -> Iterator[Finding | Link]:
    """Yield every plan whose rules, config or material were not frozen as it says.

    A config counts with any earlier freeze of that version. Rules and material must be those that
    stood, the latest before the plan; but for an import any earlier freeze does, since each source
    shows its own, and a rerun may keep the rules of the run that it repeats.
    """
    for plan in catalogue.plans.values():
        search = _Search(catalogue, chronology, plan)
        yield from search.rules()
        yield from search.config()
        for task in plan.record.tasks:
            yield from search.material(task)


class _Search(NamedTuple):
    """Looks for what one plan rests on."""

    catalogue: Catalogue
    chronology: Chronology
    plan: Placed[Plan]

    def rules(self) -> Iterator[Finding | Link]:
        freezes = self.catalogue.rules.get(self.plan.evaluation, [])
        meant = _agreed_part(self.plan.record.rules)
        fitting = [each for each in freezes if _agreed_part(each.record.rules) == meant]
        if not fitting:
            yield self._nothing("its rules", freezes)
        elif self.plan.record.purpose == "measure":
            yield from self._stood("its rules", fitting, freezes)
        else:
            yield from self._came_first("its rules", fitting)

    def config(self) -> Iterator[Finding | Link]:
        name, version, sha256 = config_parts(self.plan.record.config_ref)
        freezes = self.catalogue.configs.get(Key(self.plan.evaluation, name), [])
        fitting = [
            each
            for each in freezes
            if (each.record.version, each.record.sha256) == (version, sha256)
        ]
        if fitting:
            yield from self._came_first("its config", fitting)
        else:
            yield self._nothing(f"config_ref {name}@{version}:{sha256[:12]}", freezes)

    def material(self, task: PlannedTask) -> Iterator[Finding | Link]:
        record = self.plan.record
        unknown = [name for name in REFERENCES if getattr(task, name) == "unknown"]
        if unknown and record.purpose != "import":
            message = f"{unknown[0]} of {task.task_id} is unknown, which only an import may say"
            yield self.catalogue.finding("violation", RULE, message, self.plan.place)
        freezes = self.catalogue.materials.get(Key(self.plan.evaluation, task.task_id), [])
        fitting = [each for each in freezes if not _differing(task, each.record)]
        if not fitting:
            names = _differing(task, freezes[-1].record) if freezes else REFERENCES
            yield self._nothing(f"{', '.join(names)} of {task.task_id}", freezes)
        elif record.purpose == "import":
            yield from self._came_first(f"material of {task.task_id}", fitting)
        else:
            yield from self._stood(f"material of {task.task_id}", fitting, freezes)

    def _nothing(self, what: str, freezes: Sequence[Placed[R]]) -> Finding:
        """Return that no freeze, early or late, says what the plan says."""
        said = "not as frozen in any page" if freezes else "frozen nowhere"
        severity = self.catalogue.absence
        return self.catalogue.finding(severity, RULE, f"{what}: {said}", self.plan.place)

    def _came_first(self, what: str, fitting: Sequence[Placed[R]]) -> Iterator[Link]:
        """Yield the order that the plan demands of the freeze that speaks best for it."""
        best = min(fitting, key=lambda each: _DOUBT[self._relation(each)])
        run = f"the plan of run {self.plan.record.run_id}"
        yield Link(best.place, self.plan.place, run, f"the freeze of {what}")

    def _stood(
        self, what: str, fitting: Sequence[Placed[R]], freezes: Sequence[Placed[R]]
    ) -> Iterator[Finding | Link]:
        earlier = [each for each in freezes if self._relation(each) == "before"]
        mine = [each for each in earlier if each in fitting]
        if not mine:
            yield from self._came_first(what, fitting)
            return
        later = [
            next((other for other in earlier if self._replaces(other, each)), None) for each in mine
        ]
        if None not in later and later[0] is not None:
            commit = self.catalogue.commit(later[0].place)[:12]
            message = f"{what}: an older freeze, which commit {commit} had replaced before the plan"
            yield self.catalogue.finding("violation", RULE, message, self.plan.place)

    def _relation(self, freeze: Placed[R]) -> Relation:
        return self.chronology.relation(freeze.place, self.plan.place)

    def _replaces(self, new: Placed[R], old: Placed[R]) -> bool:
        return self.chronology.relation(old.place, new.place) == "before"


_DOUBT: dict[Relation, int] = {"before": 0, "unseen": 1, "same": 2, "not before": 3}


def _agreed_part(rules: Rules) -> Rules:
    """Return what must be as frozen; how many attempts, and with which seeds, each plan says."""
    return rules.model_copy(update={"attempts": 1, "seeds": ()})


def _differing(task: PlannedTask, freeze: MaterialFreeze) -> tuple[str, ...]:
    return tuple(name for name in REFERENCES if getattr(task, name) != getattr(freeze, name))
