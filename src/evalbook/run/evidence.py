"""What an attempt leaves behind: scrubbed, hashed and laid aside before anything is graded."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from evalbook.base.canonical import NamedDigest, manifest_digest, sha256_hex
from evalbook.base.files import KeptFile
from evalbook.records.attempt import (
    LEDGER_ARTIFACT_MAX,
    LEDGER_ATTEMPT_MAX,
    Artifact,
    TouchedFile,
)
from evalbook.run.scrub import Scrubber
from evalbook.run.trees import read_regular, shown
from evalbook.run.workspace import Touched

Role = Literal["output", "log", "trace", "response", "report", "grading"]

FILES_MAX = 2_000
"""Output files that are kept of one attempt; the note says how many there were beyond."""
BYTES_MAX = 1 << 30
"""Bytes of output that are kept of one attempt."""
TOUCHED_MAX = 5_000
"""Touched files that a row names; checks see all of them."""

_FIRST: dict[Role, int] = {
    "trace": 0, "report": 1, "log": 2, "grading": 3, "response": 4, "output": 5,
}  # fmt: skip
"""Who gets into the ledger first, while there is room."""


class Kept(NamedTuple):
    """The evidence of one attempt."""

    artifacts: tuple[Artifact, ...]
    """Sorted by name."""
    files: tuple[KeptFile, ...]
    artifact_ref: str | None
    """One digest for all kept output files; none where there are none."""
    trace_ref: str | None


class Cabinet:
    """Takes in what is to be kept, under the names it had in the attempt."""

    def __init__(self, folder: Path, scrubber: Scrubber) -> None:
        self.folder = folder
        """Holds what is kept, each file named by its digest."""
        self._scrubber = scrubber
        self._found: dict[str, tuple[Role, str, int]] = {}
        self.problems: list[str] = []
        """What could not be kept, one line each."""

    def keep(self, name: str, role: Role, content: bytes) -> str:
        """Lay ``content`` aside without credentials, and return the digest of what is kept."""
        clean = self._scrubber.data(content)
        sha256 = sha256_hex(clean)
        path = self.folder / sha256
        if not path.exists():
            path.write_bytes(clean)
        name = self._scrubber.text(name)
        while name in self._found:  # two names that differ in a credential only
            name += "~"
        self._found[name] = (role, sha256, len(clean))
        return sha256

    def read(self, sha256: str) -> bytes:
        """Return what was kept under that digest."""
        return (self.folder / sha256).read_bytes()

    def keep_outputs(self, workspace: Path, touched: Iterable[Touched]) -> tuple[TouchedFile, ...]:
        """Keep the touched regular files, and return all touched ones with the digests of what is kept."""
        room = BYTES_MAX
        said = []
        count = left_out = 0
        for each in touched:
            path = self._scrubber.text(each.change.path)
            change = each.change.model_copy(update={"path": path})
            if each.kept:
                # One more byte than there is room for tells a file that fits from one that does not.
                content = read_regular(workspace, each.name, most=room + 1)
                if content is None or len(content) > room or count == FILES_MAX:
                    left_out += 1
                else:
                    room -= len(content)
                    count += 1
                    sha256 = self.keep(f"output/{shown(each.name)}", "output", content)
                    change = change.model_copy(update={"sha256": sha256})
            said.append(change)
        if left_out:
            self.problems.append(
                f"{left_out} output files were not kept: too many, too large or unreadable"
            )
        return tuple(said)

    def close(self) -> Kept:
        """Return everything that was kept, small files meant for the ledger while there is room."""
        room = LEDGER_ATTEMPT_MAX
        artifacts = []
        counted: set[str] = set()
        in_turn = sorted(self._found.items(), key=lambda item: (_FIRST[item[1][0]], item[0]))
        for name, (role, sha256, size) in in_turn:
            fits = size <= LEDGER_ARTIFACT_MAX and (sha256 in counted or size <= room)
            if fits and sha256 not in counted:
                counted.add(sha256)
                room -= size
            artifacts.append(
                Artifact(
                    name=name,
                    role=role,
                    sha256=sha256,
                    size=size,
                    place="ledger" if fits else "store",
                )
            )
        artifacts.sort(key=lambda each: each.name)
        outputs = [NamedDigest(a.name, a.sha256) for a in artifacts if a.role == "output"]
        traces = [a.sha256 for a in artifacts if a.role == "trace"]
        return Kept(
            tuple(artifacts),
            tuple(
                KeptFile(sha, self.folder / sha) for sha in sorted({a.sha256 for a in artifacts})
            ),
            manifest_digest(outputs) if outputs else None,
            traces[0] if traces else None,
        )
