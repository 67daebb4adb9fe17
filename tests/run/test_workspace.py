"""Every attempt starts from the same bytes, whatever an earlier one did."""

from pathlib import Path

import pytest

from evalbook.base.problems import UserError
from evalbook.run.trees import scan
from evalbook.run.workspace import (
    Snapshot,
    fresh_copy,
    is_intact,
    material_in,
    take_snapshot,
    touched_files,
)


def source_of(tmp_path: Path) -> Path:
    source = tmp_path / "start"
    (source / "sub").mkdir(parents=True)
    (source / "a.txt").write_text("a")
    (source / "sub/b.txt").write_text("b")
    return source


def snapshot_of(tmp_path: Path) -> Snapshot:
    source = source_of(tmp_path)
    return take_snapshot(source, tmp_path / "work/snapshot", material_in(source))


def test_what_machines_leave_behind_is_no_material(tmp_path: Path) -> None:
    source = source_of(tmp_path)
    (source / "sub/__pycache__").mkdir()
    (source / "sub/__pycache__/b.pyc").write_text("x")
    (source / ".DS_Store").write_text("x")

    assert list(material_in(source)) == ["a.txt", "sub/b.txt"]
    assert material_in(tmp_path / "none") == {}


def test_a_snapshot_is_read_only_and_intact_until_somebody_forces_it(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path)

    assert is_intact(snapshot)
    assert (snapshot.folder / "a.txt").stat().st_mode & 0o222 == 0
    (snapshot.folder / "a.txt").chmod(0o644)
    (snapshot.folder / "a.txt").write_text("changed")
    assert not is_intact(snapshot)


@pytest.mark.parametrize("damage", ["changed", "more", "gone", "linked"])
def test_a_damaged_snapshot_is_made_anew(tmp_path: Path, damage: str) -> None:
    snapshot = snapshot_of(tmp_path)
    snapshot.folder.chmod(0o755)
    file = snapshot.folder / "a.txt"
    if damage == "changed":
        file.chmod(0o644)
        file.write_text("x")
    elif damage == "more":
        (snapshot.folder / "new").write_text("x")
    elif damage == "gone":
        file.unlink()
    else:
        file.unlink()
        file.symlink_to("/etc/passwd")

    assert not is_intact(snapshot)
    again = take_snapshot(snapshot.source, snapshot.folder, snapshot.files)

    assert is_intact(again)
    assert [path.name for path in snapshot.folder.parent.iterdir()] == ["snapshot"]


def test_a_snapshot_of_what_changed_meanwhile_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    source = source_of(tmp_path)
    files = material_in(source)
    (source / "a.txt").write_text("other")

    with pytest.raises(UserError, match="changed while it was copied"):
        take_snapshot(source, tmp_path / "work/snapshot", files)
    (source / "a.txt").unlink()
    with pytest.raises(UserError, match="can't be copied"):
        take_snapshot(source, tmp_path / "work/snapshot", files)
    assert list((tmp_path / "work").iterdir()) == []


def test_a_copy_is_fresh_and_writable(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path)

    fresh_copy(snapshot, tmp_path / "one")
    (tmp_path / "one/a.txt").write_text("dirty")
    (tmp_path / "one/sub/new").write_text("dirty")
    fresh_copy(snapshot, tmp_path / "two")

    assert scan(tmp_path / "two") == snapshot.files


def test_a_copy_comes_from_the_source_where_the_snapshot_is_damaged(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path)
    (snapshot.folder / "a.txt").chmod(0o644)
    (snapshot.folder / "a.txt").write_text("poisoned")

    fresh_copy(snapshot, tmp_path / "copy")

    assert (tmp_path / "copy/a.txt").read_text() == "a"


def test_there_is_no_copy_where_both_are_damaged(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path)
    for folder in (snapshot.folder, snapshot.source):
        (folder / "a.txt").chmod(0o644)
        (folder / "a.txt").write_text("poisoned")

    with pytest.raises(UserError, match="is not what was frozen"):
        fresh_copy(snapshot, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_an_empty_start_is_a_start(tmp_path: Path) -> None:
    snapshot = take_snapshot(tmp_path / "none", tmp_path / "work/snapshot", {})

    fresh_copy(snapshot, tmp_path / "copy")

    assert is_intact(snapshot)
    assert list((tmp_path / "copy").iterdir()) == []


def test_every_touch_is_named_once_with_what_it_did(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path)
    workspace = tmp_path / "workspace"
    fresh_copy(snapshot, workspace)
    (workspace / "a.txt").write_text("changed")
    (workspace / "sub/b.txt").unlink()
    (workspace / "new\nname").write_text("new")
    (workspace / "link").symlink_to("/etc/passwd")

    touched = touched_files(snapshot.files, workspace)

    assert [(each.change.path, each.change.change, each.kept) for each in touched] == [
        ("a.txt", "changed", True),
        ("link", "created", False),
        ("new\nname", "created", True),
        ("sub/b.txt", "deleted", False),
    ]
    assert [each.change.sha256 is not None for each in touched] == [True, False, True, False]


def test_a_right_to_execute_is_a_change(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path)
    fresh_copy(snapshot, tmp_path / "workspace")
    (tmp_path / "workspace/a.txt").chmod(0o755)

    (touched,) = touched_files(snapshot.files, tmp_path / "workspace")

    assert (touched.change.path, touched.change.change) == ("a.txt", "changed")


def test_writing_the_same_bytes_again_is_no_touch(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path)
    fresh_copy(snapshot, tmp_path / "workspace")
    (tmp_path / "workspace/a.txt").unlink()
    (tmp_path / "workspace/a.txt").write_text("a")

    assert touched_files(snapshot.files, tmp_path / "workspace") == ()


def test_a_workspace_that_is_gone_has_lost_everything(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path)

    touched = touched_files(snapshot.files, tmp_path / "gone")

    assert [each.change.change for each in touched] == ["deleted", "deleted"]
