"""Every record of the book with its place, and rule 2, well formed."""

from collections.abc import Collection, Mapping
from typing import Generic, NamedTuple, TypeVar

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import Finding, Severity
from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.decision import Decision, Exclusion, Reinstatement, RerunDecision
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.pages import Line, parse_page
from evalbook.records.plan import Plan
from evalbook.records.task import MaterialFreeze
from evalbook.store.git import Repository
from evalbook.store.verify.added import NAMES, Addition
from evalbook.store.verify.contents import contents
from evalbook.store.verify.walk import History

EVIDENCE = "evidenced"

R = TypeVar("R")


class Place(NamedTuple):
    """Where a record stands."""

    path: str
    line: int
    """1-based."""
    steps: tuple[int, ...]
    """The steps that added its page."""


class Placed(NamedTuple, Generic[R]):
    """A record of the book."""

    record: R
    evaluation: str
    sha256: str
    """Of its line."""
    place: Place


class Key(NamedTuple):
    """What is known by a name inside one evaluation."""

    evaluation: str
    name: str


class PageFacts(NamedTuple):
    """What a page was when it came."""

    blob: str
    sha256: str
    rows: int
    """Lines that hold a record."""


class Catalogue:
    """The records of every page as it first came; a later edit is a finding of its own.

    Of records with the same id the first is kept.
    """

    def __init__(self, history: History) -> None:
        self._commits = tuple(step.commit for step in history.steps)
        self.findings: list[Finding] = []
        """Of rule 2, and of artifacts whose bytes are not what their name says."""
        self.missing: list[Addition] = []
        """Files whose content this repository lacks."""
        self.pages: dict[str, PageFacts] = {}
        """By path."""
        self.artifacts: dict[Key, int] = {}
        """Bytes of each artifact in the ledger, by its SHA-256."""
        self.attempts: dict[Key, Placed[Attempt]] = {}
        self.decisions: dict[Key, Placed[Decision]] = {}
        self.plans: dict[Key, Placed[Plan]] = {}
        """By run."""
        self.rules: dict[str, list[Placed[EvaluationFreeze]]] = {}
        """By evaluation."""
        self.configs: dict[Key, list[Placed[ConfigFreeze]]] = {}
        """By config."""
        self.materials: dict[Key, list[Placed[MaterialFreeze]]] = {}
        """By task."""

    @property
    def absence(self) -> Severity:
        """How bad it is when a record is not there: it may be in what can't be read."""
        return "weakness" if self.missing else "violation"

    def commit(self, where: Place | Addition) -> str:
        """Return the commit that first brought a record or a file."""
        return self._commits[where.steps[0]]

    def finding(self, severity: Severity, rule: str, message: str, place: Place) -> Finding:
        """Return a finding about one record."""
        return Finding(severity, rule, message, self.commit(place), place.path, place.line)

    def take_page(self, added: Addition, content: bytes) -> None:
        """Take in the records of a page, and what is wrong with it."""
        parsed = parse_page(added.path, content)
        commit = self.commit(added)
        self.findings += [
            Finding("violation", NAMES, flaw.message, commit, added.path, flaw.line)
            for flaw in parsed.flaws
        ]
        lines = parsed.page.lines
        self.pages[added.path] = PageFacts(added.blob, sha256_hex(content), len(lines))
        if added.renamed_from is None:
            for line in lines:
                self._take(line, added.evaluation, Place(added.path, line.number, added.steps))

    def take_artifact(self, added: Addition, content: bytes) -> None:
        """Take in an artifact; its name vouches for its bytes."""
        found, named = sha256_hex(content), added.path.rpartition("/")[2]
        self.artifacts[Key(added.evaluation, named)] = len(content)
        if found != named:
            message = f"its bytes are not what its name says: their SHA-256 is {found}"
            self.findings.append(
                Finding("violation", EVIDENCE, message, self.commit(added), added.path)
            )

    def _take(self, line: Line, evaluation: str, place: Place) -> None:
        match line.record:
            case Attempt() as row:
                self._once(
                    self.attempts,
                    "attempt",
                    row.attempt_id,
                    Placed(row, evaluation, line.sha256, place),
                )
            case Plan() as plan:
                self._once(
                    self.plans,
                    "the plan of run",
                    plan.run_id,
                    Placed(plan, evaluation, line.sha256, place),
                )
            case Exclusion() | Reinstatement() | RerunDecision() as decision:
                self._once(
                    self.decisions, "decision", decision.decision_id,
                    Placed[Decision](decision, evaluation, line.sha256, place),
                )  # fmt: skip
            case EvaluationFreeze() as rules:
                self.rules.setdefault(evaluation, []).append(
                    Placed(rules, evaluation, line.sha256, place)
                )
            case ConfigFreeze() as config:
                key = Key(evaluation, config.config)
                self.configs.setdefault(key, []).append(
                    Placed(config, evaluation, line.sha256, place)
                )
            case MaterialFreeze() as material:
                key = Key(evaluation, material.task_id)
                self.materials.setdefault(key, []).append(
                    Placed(material, evaluation, line.sha256, place)
                )

    def _once(self, table: dict[Key, Placed[R]], what: str, name: str, placed: Placed[R]) -> None:
        first = table.setdefault(Key(placed.evaluation, name), placed)
        if first is not placed:
            where = f"{first.place.path}:{first.place.line}"
            message = f"{what} {name} is in the book already, at {where}"
            self.findings.append(self.finding("violation", NAMES, message, placed.place))


def read_catalogue(
    repository: Repository,
    history: History,
    additions: Mapping[str, Addition],
    missing: Collection[str],
) -> Catalogue:
    """Read every file that was ever added to the book, each once."""
    catalogue = Catalogue(history)
    order = sorted(additions.values(), key=lambda each: (each.steps[0], each.path))
    read = contents(repository, [each.blob for each in order], missing=missing)
    for added, content in zip(order, read, strict=True):
        if content is None:
            catalogue.missing.append(added)
        elif added.kind == "page":
            catalogue.take_page(added, content)
        else:
            catalogue.take_artifact(added, content)
    return catalogue
