"""Rule 6, evidenced: the files that rows name are there, with the bytes that rows state."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import Finding
from evalbook.records.attempt import Artifact, Attempt
from evalbook.store.verify.catalogue import EVIDENCE, Catalogue, Key, Placed

Fetch = Callable[[str], bytes | None]
"""Returns what the artifact store holds under a SHA-256, unchecked; None where it holds nothing."""


class Evidence(NamedTuple):
    """What became of the files that rows name."""

    findings: tuple[Finding, ...]
    checked: int
    """Files of the artifact store whose bytes were read."""


def evidenced(catalogue: Catalogue, fetch: Fetch | None) -> Evidence:
    """Return every named file that is not there or is another.

    Files in the ledger are always looked for. Those in the store only with ``fetch``, each once;
    one that is missing there is a weakness, since stores may be thinned out, one with other bytes a
    violation.
    """
    findings: list[Finding] = []
    stored: dict[str, str | None] = {}
    for row in catalogue.attempts.values():
        for artifact in row.record.artifacts:
            if artifact.place == "ledger":
                findings.extend(_in_ledger(catalogue, row, artifact))
            elif fetch is not None:
                if artifact.sha256 not in stored:
                    content = fetch(artifact.sha256)
                    stored[artifact.sha256] = None if content is None else sha256_hex(content)
                findings.extend(_in_store(catalogue, row, artifact, stored[artifact.sha256]))
    return Evidence(tuple(findings), sum(found is not None for found in stored.values()))


def _in_ledger(catalogue: Catalogue, row: Placed[Attempt], artifact: Artifact) -> Iterator[Finding]:
    size = catalogue.artifacts.get(Key(row.evaluation, artifact.sha256))
    if size is None:
        message = f"{artifact.name} is not among the ledger's artifacts ({artifact.sha256[:12]})"
        yield catalogue.finding(catalogue.absence, EVIDENCE, message, row.place)
    elif size != artifact.size:
        message = f"{artifact.name} has {size} bytes, the row says {artifact.size}"
        yield catalogue.finding("violation", EVIDENCE, message, row.place)


def _in_store(
    catalogue: Catalogue, row: Placed[Attempt], artifact: Artifact, found: str | None
) -> Iterator[Finding]:
    if found is None:
        message = f"{artifact.name} is not in the artifact store ({artifact.sha256[:12]})"
        yield catalogue.finding("weakness", EVIDENCE, message, row.place)
    elif found != artifact.sha256:
        message = f"{artifact.name} has other bytes in the artifact store ({artifact.sha256[:12]})"
        yield catalogue.finding("violation", EVIDENCE, message, row.place)
