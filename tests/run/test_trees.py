"""A folder that an agent could write to is looked at, copied and removed whatever lies in it."""

import os
import socket
from hashlib import sha256
from pathlib import Path

import pytest

from evalbook.run.trees import Entry, copy_files, read_regular, remove, scan, shown


def of(content: bytes, *, executable: bool = False) -> Entry:
    return Entry("file", sha256(content).hexdigest(), executable, len(content))


def deep_folder(top: Path, levels: int) -> None:
    """Make folders nested so deeply that no path can name the last one."""
    here = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    handle = os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here)
    os.close(handle)
    os.close(here)


def test_files_are_found_by_path_with_what_they_hold(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c.txt").write_bytes(b"x")
    (tmp_path / "run.sh").write_bytes(b"")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "empty").mkdir()

    assert scan(tmp_path) == {"a/b/c.txt": of(b"x"), "run.sh": of(b"", executable=True)}


def test_links_are_never_followed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/secret").write_text("x")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/folder").symlink_to(tmp_path / "out")
    (tmp_path / "in/file").symlink_to(tmp_path / "out/secret")
    (tmp_path / "in/loop").symlink_to(".")
    (tmp_path / "in/nowhere").symlink_to("gone")

    found = scan(tmp_path / "in")

    assert {name: entry.kind for name, entry in found.items()} == dict.fromkeys(
        ["folder", "file", "loop", "nowhere"], "link"
    )
    assert found["loop"].sha256 == sha256(b".").hexdigest()


def test_a_folder_that_became_a_link_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/file").write_text("x")
    (tmp_path / "link").symlink_to("real")

    assert scan(tmp_path / "link") == {}
    assert scan(tmp_path / "gone") == {}
    assert scan(tmp_path / "real/file") == {}


def test_pipes_and_sockets_are_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")

    assert scan(tmp_path) == {"pipe": Entry("special"), "socket": Entry("special")}
    assert read_regular(tmp_path, "pipe", most=10) is None


def test_names_with_line_breaks_and_without_meaning_survive(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff\xfe")
    for name in ("two\nlines", " ", "-rf", "é", odd):
        (tmp_path / name).write_bytes(name.encode("utf-8", "surrogateescape"))

    found = scan(tmp_path)

    assert set(found) == {"two\nlines", " ", "-rf", "é", odd}
    assert shown(odd) == "\\xff\\xfe"
    assert shown("two\nlines") == "two\nlines"
    assert read_regular(tmp_path, odd, most=10) == b"\xff\xfe"


def test_a_folder_too_deep_to_name_is_seen_and_can_be_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    (top / "file").write_bytes(b"x")
    deep_folder(top, 2_500)

    found = scan(top)
    assert found.pop("file") == of(b"x")
    assert [entry.kind for entry in found.values()] == ["unreadable"]

    remove(top)
    assert not top.exists()


def test_rights_taken_away_are_taken_back_only_where_that_is_asked(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "closed").mkdir(parents=True)
    (top / "closed/file").write_bytes(b"x")
    (top / "closed/file").chmod(0)
    (top / "closed").chmod(0)
    top.chmod(0o500)

    assert scan(top, force=True) == {"closed/file": of(b"x")}
    (top / "closed").chmod(0)
    remove(top)
    assert not top.exists()


def test_removing_a_link_leaves_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real/inner").symlink_to("/")

    remove(tmp_path / "link")
    remove(tmp_path / "real")
    remove(tmp_path / "gone")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["link/file", "here/link", "gone", "../out/file", "here", "a\0b", ""]
)
def test_only_a_regular_file_reached_without_links_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/file").write_text("secret")
    top = tmp_path / "top"
    (top / "here").mkdir(parents=True)
    (top / "here/link").symlink_to("/etc/passwd")
    (top / "link").symlink_to("../out")

    if not name.startswith(".."):  # callers refuse those before
        assert read_regular(top, name, most=100) is None


def test_reading_stops_where_it_was_told_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100)

    assert read_regular(tmp_path, "file", most=10) == b"x" * 10


def test_copies_have_plain_modes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "a").mkdir(parents=True)
    (source / "a/run").write_bytes(b"#!")
    (source / "a/run").chmod(0o711)
    (source / "text").write_bytes(b"t")
    (source / "text").chmod(0o600)

    copy_files(source, tmp_path / "fixed", scan(source), writable=False)
    copy_files(source, tmp_path / "free", scan(source), writable=True)

    assert scan(tmp_path / "fixed") == scan(tmp_path / "free") == scan(source)
    modes = {
        name: (tmp_path / name).stat().st_mode & 0o777
        for name in ("fixed", "fixed/a", "fixed/a/run", "fixed/text", "free/a/run", "free/text")
    }
    assert modes == {
        "fixed": 0o555,
        "fixed/a": 0o555,
        "fixed/a/run": 0o555,
        "fixed/text": 0o444,
        "free/a/run": 0o755,
        "free/text": 0o644,
    }
