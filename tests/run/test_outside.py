"""Databases, caches and memory outside the workspace are as they were, after every attempt."""

import os
from pathlib import Path

import pytest

from evalbook.run.outside import keep_outside, restore_outside
from evalbook.run.trees import remove, scan


def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes/one").write_text("1")
    (folder / "link").symlink_to("notes/one")
    (folder / "tool").write_text("#!")
    (folder / "tool").chmod(0o755)
    return folder


def spoil(folder: Path, how: str) -> None:
    if how == "changed":
        (folder / "notes/one").write_text("other")
    elif how == "added":
        (folder / "notes/two").write_text("2")
    elif how == "an empty folder":
        (folder / "notes/empty").mkdir()
    elif how == "removed":
        (folder / "notes/one").unlink()
    elif how == "relinked":
        (folder / "link").unlink()
        (folder / "link").symlink_to("/etc/passwd")
    elif how == "gone":
        remove(folder)
    elif how == "a file":
        remove(folder)
        folder.write_text("x")
    elif how == "a link":
        remove(folder)
        folder.symlink_to("/tmp")
    elif how == "closed":
        (folder / "notes/two").write_text("2")
        folder.chmod(0)


@pytest.mark.parametrize(
    "how",
    [
        "nothing",
        "changed",
        "added",
        "an empty folder",
        "removed",
        "relinked",
        "gone",
        "a file",
        "a link",
        "closed",
    ],
)
def test_a_folder_is_set_back(tmp_path: Path, how: str) -> None:
    folder = memory(tmp_path)
    before = scan(folder, folders=True)
    kept = keep_outside([str(folder)], tmp_path / "kept")

    spoil(folder, how)

    assert restore_outside(kept) == ()
    assert scan(folder, folders=True) == before


def test_a_file_is_set_back(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    database.write_bytes(b"before")
    kept = keep_outside([str(database)], tmp_path / "kept")

    database.write_bytes(b"after")

    assert restore_outside(kept) == ()
    assert database.read_bytes() == b"before"


def test_what_did_not_exist_does_not_exist_again(tmp_path: Path) -> None:
    cache = tmp_path / "somewhere/cache"
    kept = keep_outside([str(cache)], tmp_path / "kept")

    cache.mkdir(parents=True)
    (cache / "x").write_text("x")

    assert restore_outside(kept) == ()
    assert not cache.exists()


def test_a_run_that_is_resumed_sets_back_to_its_first_start(tmp_path: Path) -> None:
    folder = memory(tmp_path)
    keep_outside([str(folder)], tmp_path / "kept")
    spoil(folder, "changed")  # by the attempt that was cut off

    kept = keep_outside([str(folder)], tmp_path / "kept")
    restore_outside(kept)

    assert (folder / "notes/one").read_text() == "1"


def test_a_copy_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    folder = memory(tmp_path)
    (tmp_path / "kept/0/copy").mkdir(parents=True)
    (tmp_path / "kept/0/copy/half").write_text("x")

    kept = keep_outside([str(folder)], tmp_path / "kept")
    spoil(folder, "changed")
    restore_outside(kept)

    assert (folder / "notes/one").read_text() == "1"
    assert not (folder / "half").exists()


def test_pipes_are_left_out_and_never_opened(tmp_path: Path) -> None:
    folder = memory(tmp_path)
    os.mkfifo(folder / "pipe")

    kept = keep_outside([str(folder)], tmp_path / "kept")
    spoil(folder, "changed")

    assert restore_outside(kept) == ()
    assert (folder / "notes/one").read_text() == "1"


def test_what_cannot_be_set_back_is_said(tmp_path: Path) -> None:
    database = tmp_path / "folder/state.db"
    database.parent.mkdir()
    database.write_bytes(b"before")
    kept = keep_outside([str(database)], tmp_path / "kept")
    database.unlink()
    database.parent.rmdir()
    database.parent.write_text("a file where the folder was")

    (problem,) = restore_outside(kept)

    assert str(database) in problem
