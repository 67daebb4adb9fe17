"""Checking that nobody changed the past."""

from pathlib import Path
from typing import NamedTuple

import httpx

from evalbook.base.exits import DOES_NOT_VERIFY, DONE, NOTHING_MEASURED
from evalbook.base.problems import Finding, UserError
from evalbook.jobs.answers import Answer
from evalbook.jobs.desk import Say
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository
from evalbook.store.manifest import Witness, parse_witness
from evalbook.store.verify.verify import Verification, verify
from evalbook.store.verify.witness import Anchoring

_SHORT = 12
_WAIT_S = 20.0
_LARGEST = 256 * 1024 * 1024


class _Words(NamedTuple):
    """How an outcome is said, and how the command ends."""

    sentence: str
    exit_code: int


_OUTCOMES = {
    "verified": _Words("verified: every page stands as it was written", DONE),
    "violated": _Words("NOT verified: the past was changed", DOES_NOT_VERIFY),
    "unproven": _Words(
        "NOT verified: it can't be shown that the past was left alone", DOES_NOT_VERIFY
    ),
    "empty": _Words("nothing to verify: there is no book here", NOTHING_MEASURED),
}


def verify_book(
    folder: Path, revision: str | None, *, artifacts: bool, witness: str | None, say: Say
) -> Answer:
    """Walk the history up to ``revision`` (default: HEAD). Writes nothing, not even what a killed run left.

    Raises:
        UserError: for an unknown revision, or a witness that can't be read.
    """
    with Repository(folder) as repository:
        held_to = read_witness(witness) if witness else None
        reader = ArtifactStore.of(repository).unchecked if artifacts else None
        seen = verify(repository, revision, artifacts=reader, witness=held_to)
        if revision is None:
            _say_uncommitted(repository, say)
        if witness and seen.outcome == "verified":
            say(f"held to {witness}")
    return _answer(seen)


def read_witness(place: str) -> Witness:
    """Read what a published site stated, from a file or an address.

    Raises:
        UserError: when it can't be read, or is not a ledger.json.
    """
    if not place.startswith(("http://", "https://")):
        try:
            return parse_witness(Path(place).read_bytes())
        except OSError as error:
            raise UserError(f"witness {place}: {error.strerror or error}") from None
    try:
        answer = httpx.get(place, timeout=_WAIT_S, follow_redirects=True)
        answer.raise_for_status()
    except httpx.HTTPError as error:
        raise UserError(f"witness {place}: {error}") from None
    if len(answer.content) > _LARGEST:
        raise UserError(f"witness {place} is larger than {_LARGEST} bytes")
    return parse_witness(answer.content)


def _say_uncommitted(repository: Repository, say: Say) -> None:
    """Say that only commits are looked at, where the work tree has something else."""
    if repository.work_tree is None or repository.head() is None:
        return
    changed = repository.run("diff", "--name-only", "-z", "HEAD", "--", "ledger/").out.count(b"\0")
    if changed:
        say(
            f"files under ledger/ that differ from the commit in your work tree: {changed};"
            " only what is committed is verified"
        )


def _answer(seen: Verification) -> Answer:
    words = _OUTCOMES[seen.outcome]
    lines = [_line(finding) for finding in seen.findings]
    if seen.outcome != "empty":
        lines.append(
            f"commits walked: {seen.commits}, pages read: {seen.pages}, rows: {seen.rows},"
            f" artifacts: {seen.artifacts}; up to {(seen.head or '')[:_SHORT]}"
        )
    lines.append(words.sentence)
    document = {
        "outcome": seen.outcome,
        "head": seen.head,
        "commits": seen.commits,
        "pages": seen.pages,
        "rows": seen.rows,
        "decisions": seen.decisions,
        "artifacts": seen.artifacts,
        "anchoring": _anchoring(seen.anchoring),
        "findings": [finding._asdict() for finding in seen.findings],
    }
    return Answer("\n".join(lines), document, words.exit_code)


def _anchoring(anchoring: Anchoring | None) -> dict[str, str] | None:
    return {"pages": anchoring.pages, "history": anchoring.history} if anchoring else None


def _line(finding: Finding) -> str:
    where = [finding.commit[:_SHORT] if finding.commit else "", finding.path or ""]
    if finding.line:
        where[1] += f":{finding.line}"
    place = " ".join(part for part in where if part)
    return f"{finding.severity}: {place + ': ' if place else ''}{finding.message} [{finding.rule}]"
