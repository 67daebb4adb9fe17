"""One verification: walk, read, apply the seven rules."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, Self

from evalbook.base.problems import Finding
from evalbook.store.git import Repository
from evalbook.store.manifest import Witness
from evalbook.store.verify.added import added_only
from evalbook.store.verify.agreement import agreed
from evalbook.store.verify.catalogue import EVIDENCE, Catalogue, read_catalogue
from evalbook.store.verify.contents import missing_blobs
from evalbook.store.verify.evidence import Fetch, evidenced
from evalbook.store.verify.freezes import frozen
from evalbook.store.verify.order import Chronology, Link, foreign_roots, in_order
from evalbook.store.verify.references import referenced
from evalbook.store.verify.surroundings import WHOLE, boundary, cut_off, substitutes
from evalbook.store.verify.walk import History, walk
from evalbook.store.verify.witness import RULE as ANCHORED
from evalbook.store.verify.witness import Anchoring, anchored

Outcome = Literal["verified", "violated", "unproven", "empty"]
"""``violated``: somebody changed the past. ``empty``: no page was there to check. ``unproven``: part
of what was to be checked could not be looked at. ``verified``: everything was looked at and nobody
changed it; weaknesses may be reported all the same."""

_UNSEEN = frozenset({WHOLE, ANCHORED, EVIDENCE})
"""Rules whose weaknesses mean that something could not be looked at. The others (a squash merge put
a row and its exclusion in one commit, a replace ref is about) leave nothing unread: they are
reported, and the book is verified."""


class Verification(NamedTuple):
    """What was looked at, and what was found."""

    head: str | None
    """Full id of the commit; None on a branch without commits."""
    commits: int
    """Commits walked."""
    pages: int
    rows: int
    """Attempts."""
    decisions: int
    artifacts: int
    """Files read and compared with their SHA-256, in the ledger and the store."""
    anchoring: Anchoring | None
    """How the book stands to the witness; None without one."""
    findings: tuple[Finding, ...]
    """Violations first, each kind in the order of history, then by path and line."""
    outcome: Outcome

    @classmethod
    def nothing(cls) -> Self:
        """Return what there is to say of a branch without commits."""
        return cls(None, 0, 0, 0, 0, 0, None, (), "empty")


def verify(
    repository: Repository,
    revision: str | None = None,
    *,
    artifacts: Fetch | None = None,
    witness: Witness | None = None,
) -> Verification:
    """Verify all of history up to ``revision`` (default: HEAD) by rules 1 to 7.

    ``artifacts`` fetches from the artifact store, whose files are left unread without it. Content is
    vouched for by SHA-256; that commits and trees match their own ids is what `git fsck` shows.

    Raises:
        UserError: for an unknown revision, or when git can't read a commit or a tree.
    """
    head = repository.resolve(revision) if revision else repository.head()
    if head is None:
        return Verification.nothing()
    history = walk(repository, head)
    shallow = boundary(repository)
    missing = missing_blobs(repository, head)
    added = added_only(repository, history, missing)
    catalogue = read_catalogue(repository, history, added.additions, missing)
    evidence = evidenced(catalogue, artifacts)
    anchoring = (
        anchored(repository, history, catalogue, witness.facts, missing, cut_off=bool(shallow))
        if witness
        else None
    )
    chronology = Chronology(history, shallow)
    findings = [
        *added.findings,
        *catalogue.findings,
        *evidence.findings,
        *_by_rules(catalogue, chronology),
        *(() if shallow else foreign_roots(history, chronology, added.additions)),
        *cut_off(history, shallow),
        *_unread(catalogue),
        *substitutes(repository, history, added.additions),
        *(anchoring.findings if anchoring else ()),
    ]
    return Verification(
        head=head,
        commits=len(history.steps),
        pages=len(catalogue.pages),
        rows=len(catalogue.attempts),
        decisions=len(catalogue.decisions),
        artifacts=len(catalogue.artifacts) + evidence.checked,
        anchoring=anchoring,
        findings=_sorted(findings, history),
        outcome=_outcome(findings, has_pages=bool(catalogue.pages or catalogue.missing)),
    )


def _by_rules(catalogue: Catalogue, chronology: Chronology) -> list[Finding]:
    """Return what rules 3 to 5 find; rule 4 judges the order that the others ask for."""
    links: list[Link] = []
    findings: list[Finding] = []
    for each in (
        *referenced(catalogue, chronology),
        *agreed(catalogue),
        *frozen(catalogue, chronology),
    ):
        if isinstance(each, Link):
            links.append(each)
        else:
            findings.append(each)
    return [*findings, *in_order(catalogue, chronology, links)]


def _unread(catalogue: Catalogue) -> list[Finding]:
    """Return every file whose content this repository lacks."""
    message = "its content is missing in this repository (a partial or damaged clone)"
    return [
        Finding("weakness", WHOLE, message, catalogue.commit(added), added.path)
        for added in catalogue.missing
    ]


def _sorted(findings: Iterable[Finding], history: History) -> tuple[Finding, ...]:
    numbers = {step.commit: step.number for step in history.steps}

    def key(finding: Finding) -> tuple[str, int, str, int, str, str]:
        number = numbers.get(finding.commit or "", len(numbers))
        place = (number, finding.path or "", finding.line or 0)
        return (finding.severity, *place, finding.rule, finding.message)

    return tuple(sorted(set(findings), key=key))


def _outcome(findings: Iterable[Finding], *, has_pages: bool) -> Outcome:
    if any(finding.severity == "violation" for finding in findings):
        return "violated"
    if not has_pages:
        return "empty"
    if any(finding.rule in _UNSEEN for finding in findings):
        return "unproven"
    return "verified"
