from pathlib import Path

import pytest

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import UserError
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository


def test_what_is_stored_comes_back_and_is_written_once(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    digest = store.put(b"evidence")
    assert digest == sha256_hex(b"evidence")
    assert store.put(b"evidence") == digest
    assert store.read(digest) == b"evidence"
    assert [path.name for path in (tmp_path / "store").rglob("*") if path.is_file()] == [digest]


def test_a_damaged_artifact_is_never_handed_out(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    digest = store.put(b"evidence")
    place = tmp_path / "store" / digest[:2] / digest
    place.chmod(0o644)
    place.write_bytes(b"edited")
    with pytest.raises(UserError, match=r"damaged|hash"):
        store.read(digest)


def test_an_artifact_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="0000"):
        ArtifactStore(str(tmp_path / "store")).read("0" * 64)


def test_the_store_can_be_any_fsspec_address(repository: Repository) -> None:
    repository.run("config", "evalbook.store", "memory://evidence")
    store = ArtifactStore.of(repository)
    assert store.read(store.put(b"elsewhere")) == b"elsewhere"
