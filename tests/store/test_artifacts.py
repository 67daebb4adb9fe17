"""The artifact store keeps files by their digest, whole or not at all, and never trusts them blindly."""

from pathlib import Path

import fsspec
import pytest
from tests.store.scenes import plain

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import UserError
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    if request.param == "local":
        return ArtifactStore(str(tmp_path / "store"))
    fsspec.filesystem("memory").store.clear()
    return ArtifactStore("memory://artifacts")


def test_what_was_put_is_read_back_by_its_digest(store: ArtifactStore, tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"0123456789" * 400_000)
    for sha, content in (
        (store.put(b"small"), b"small"),
        (store.put(b""), b""),
        (store.put_file(file), file.read_bytes()),
    ):
        assert sha == sha256_hex(content)
        assert store.has(sha)
        assert store.read(sha) == content


def test_an_artifact_that_is_not_there_is_named_and_so_is_the_store(store: ArtifactStore) -> None:
    sha = sha256_hex(b"never put")
    assert not store.has(sha)
    with pytest.raises(UserError, match=sha[:12]) as absent:
        store.read(sha)
    assert store.url in str(absent.value)
    assert absent.value.hint


def test_a_file_is_written_once_and_found_out_when_it_is_damaged(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    sha = store.put(b"content")
    place = tmp_path / "store" / sha[:2] / sha
    written = place.stat().st_mtime_ns
    store.put(b"content")
    (tmp_path / "same").write_bytes(b"content")
    store.put_file(tmp_path / "same")
    assert place.stat().st_mtime_ns == written
    assert [path.name for path in place.parent.iterdir()] == [sha], "nothing is left beside it"
    place.write_bytes(b"damaged")
    with pytest.raises(UserError, match="damaged"):
        store.read(sha)


def test_a_repository_keeps_its_artifacts_beside_itself_or_where_it_is_told(
    repository: Repository, tmp_path: Path
) -> None:
    top = plain(repository, tmp_path)
    assert ArtifactStore.of(repository).url == str(top / ".evalbook" / "store")
    repository.run("config", "evalbook.store", "memory://elsewhere")
    assert ArtifactStore.of(repository).url == "memory://elsewhere"
