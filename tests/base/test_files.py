import os
from pathlib import Path

import pytest

from evalbook.base.files import files_below, replace_tree, write_whole


def listing(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files_below(folder)}


def test_a_tree_is_replaced_whole(tmp_path: Path) -> None:
    replace_tree(tmp_path / "site", {"old.html": b"old", "a/b.html": b"b"})
    replace_tree(tmp_path / "site", {"new.html": b"new"})
    assert listing(tmp_path / "site") == {"new.html": b"new"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_tree_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    replace_tree(tmp_path / "site", {"old.html": b"old"})
    with pytest.raises(OSError, match=r".+"):
        replace_tree(tmp_path / "site", {"a": b"a file", "a/b": b"and a folder of that name"})
    assert listing(tmp_path / "site") == {"old.html": b"old"}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_written_whole_and_leaves_nothing_beside_it(
    tmp_path: Path, durable: bool
) -> None:
    target = tmp_path / "deep" / "file"
    write_whole(target, b"one", durable=durable)
    write_whole(target, b"two", durable=durable)
    assert listing(tmp_path) == {"deep/file": b"two"}


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match=r".+"):
        write_whole(tmp_path / "taken", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_files_are_listed_by_path_with_links_and_without_following_them(tmp_path: Path) -> None:
    inner = tmp_path / "tree"
    (inner / "b").mkdir(parents=True)
    (inner / "b" / "x").write_bytes(b"")
    (inner / "a").write_bytes(b"")
    os.symlink(tmp_path, inner / "loop")
    assert [path.relative_to(inner).as_posix() for path in files_below(inner)] == [
        "a",
        "b/x",
        "loop",
    ]
