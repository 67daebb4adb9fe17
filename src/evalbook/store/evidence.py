"""Reading the small artifacts that lie in the ledger itself."""

from collections.abc import Sequence

from evalbook.records.pages import parse_artifact_path
from evalbook.store.git import Repository

_AT_ONCE = 256
"""Artifacts read by one git process; they are at most 32 KiB each."""


class LedgerArtifacts:
    """The ledger's artifacts at one commit, read some at a time in the order they will be asked for."""

    def __init__(self, repository: Repository, commit: str, order: Sequence[str]) -> None:
        found = {}
        for entry in repository.files_at(commit) if commit else ():
            artifact = parse_artifact_path(entry.path)
            if artifact is not None:
                found[artifact.sha256] = entry.blob
        self._repository = repository
        self._blobs = found
        wanted = dict.fromkeys(sha256 for sha256 in order if sha256 in found)
        self._order = [*wanted, *sorted(found.keys() - wanted.keys())]
        self._place = {sha256: place for place, sha256 in enumerate(self._order)}
        self._loaded: dict[str, bytes] = {}

    def read(self, sha256: str) -> bytes | None:
        """Return an artifact's bytes, or None where the ledger does not hold it."""
        if sha256 not in self._place:
            return None
        if sha256 not in self._loaded:
            first = self._place[sha256]
            some = self._order[first : first + _AT_ONCE]
            contents = self._repository.blobs(self._blobs[each] for each in some)
            self._loaded = dict(zip(some, contents, strict=True))
        return self._loaded[sha256]
