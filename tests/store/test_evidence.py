from pathlib import Path

from tests.builders import Clock, plan_of, row_of

from evalbook.base.canonical import sha256_hex
from evalbook.base.files import KeptFile
from evalbook.records.attempt import Artifact
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.evidence import LedgerArtifacts
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger
from evalbook.store.writer import RunWriter


def test_artifacts_of_the_ledger_are_read_in_any_order_and_others_are_not_there(
    repository: Repository, tmp_path: Path
) -> None:
    contents = [f"evidence {number}".encode() for number in range(5)]
    files, artifacts = [], []
    for content in contents:
        path = tmp_path / sha256_hex(content)
        path.write_bytes(content)
        files.append(KeptFile(path.name, path))
        artifacts.append(
            Artifact(
                name=content.decode(),
                role="output",
                sha256=path.name,
                size=len(content),
                place="ledger",
            )
        )
    plan = plan_of({"complete": 1})
    ledger = Ledger(repository, clock=Clock())
    with RunWriter.begin(ledger, ArtifactStore.of(repository), plan, Clock()) as writer:
        writer.finished(row_of(plan, "complete", 1, artifacts=tuple(artifacts)), files)
    commit = repository.head()
    assert commit is not None
    wanted = [sha256_hex(content) for content in contents]
    reader = LedgerArtifacts(repository, commit, wanted[1:3])
    for order in (wanted, wanted[::-1]):
        assert [reader.read(sha256) for sha256 in order] == [
            contents[wanted.index(sha256)] for sha256 in order
        ]
    assert reader.read("0" * 64) is None


def test_without_a_commit_there_are_no_artifacts(repository: Repository) -> None:
    assert LedgerArtifacts(repository, "", ()).read("0" * 64) is None
