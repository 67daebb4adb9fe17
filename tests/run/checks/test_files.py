import os
import socket
from pathlib import Path

import pytest
from tests.run.checks.graded import Desk


def test_a_regular_file_is_there_even_when_empty(desk: Desk) -> None:
    desk.with_files({"a/b.txt": ""})
    assert desk.outcome("file_exists", file="a/b.txt").outcome == "held"


def test_a_missing_file_fails_and_says_so(desk: Desk) -> None:
    found = desk.outcome("file_exists", file="a/b.txt")
    assert (found.outcome, found.actual, found.evidence) == ("failed", "is missing", "a/b.txt")


@pytest.mark.parametrize("kind", ["file_exists", "text_contains", "bytes_equal", "json_equals"])
def test_a_link_pipe_socket_or_folder_is_no_regular_file(desk: Desk, kind: str) -> None:
    needed: dict[str, dict[str, object]] = {
        "file_exists": {},
        "text_contains": {"texts": ["x"]},
        "bytes_equal": {"expected": "ref"},
        "json_equals": {"value": 1},
    }
    desk.with_files({"real": "x", "folder/a": "x"}, {"ref": "x"})
    (desk.workspace / "link").symlink_to("real")
    os.mkfifo(desk.workspace / "pipe")
    # Bound by a short relative name: the path of a socket may have 107 bytes only.
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(desk.workspace)
        try:
            made.bind("socket")
        finally:
            os.chdir(here)
    for name, said in (
        ("link", "a symbolic link"),
        ("pipe", "a pipe"),
        ("socket", "a socket"),
        ("folder", "a folder"),
    ):
        found = desk.outcome(kind, file=name, **needed[kind])
        assert found.outcome == "failed"
        assert found.actual == f"is {said}, not a regular file"


def test_a_file_behind_a_link_that_leads_out_is_not_read(desk: Desk) -> None:
    outside = desk.top / "outside"
    outside.mkdir()
    (outside / "right.txt").write_text("right")
    (desk.workspace / "out").symlink_to(outside)
    desk.with_files({}, {"right.txt": "right"})
    found = desk.outcome("bytes_equal", file="out/right.txt", expected="right.txt")
    assert found.outcome == "failed"
    assert "outside the workspace" in found.actual


def test_a_folder_link_that_stays_inside_is_followed(desk: Desk) -> None:
    desk.with_files({"release-1/a": "x"})
    (desk.workspace / "current").symlink_to("release-1")
    assert desk.outcome("file_exists", file="current/a").outcome == "held"


def test_a_loop_of_links_fails(desk: Desk) -> None:
    (desk.workspace / "loop").symlink_to("loop")
    assert desk.outcome("file_exists", file="loop/a").outcome == "failed"


def test_a_name_too_long_for_the_system_fails_and_breaks_nothing(desk: Desk) -> None:
    assert desk.outcome("file_exists", file="x" * 5_000).outcome == "failed"
    assert desk.outcome("file_absent", file="x" * 5_000).outcome == "failed"


def test_nothing_of_that_name_means_no_folder_and_no_dangling_link(desk: Desk) -> None:
    desk.with_files({"folder/a": "", "file": ""})
    (desk.workspace / "dangling").symlink_to("nowhere")
    for name in ("folder", "file", "dangling"):
        assert desk.outcome("file_absent", file=name).outcome == "failed"
    for name in ("other", "file/below-a-file"):
        assert desk.outcome("file_absent", file=name).outcome == "held"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into any folder")
def test_a_locked_folder_does_not_prove_that_a_file_is_absent(desk: Desk) -> None:
    desk.with_files({"locked/a": ""})
    (desk.workspace / "locked").chmod(0)
    try:
        assert desk.outcome("file_absent", file="locked/a").outcome == "failed"
        assert desk.outcome("file_exists", file="locked/a").outcome == "failed"
    finally:
        (desk.workspace / "locked").chmod(0o755)


def test_the_first_different_byte_is_named(desk: Desk) -> None:
    desk.with_files({"a": "one\ntwo\nthrei\n", "short": "one\n"}, {"a": "one\ntwo\nthree\n"})
    found = desk.outcome("bytes_equal", file="a", expected="a")
    assert found.outcome == "failed"
    assert found.evidence == "a, byte offset 12, line 3"
    assert found.actual == r'"i\n"'
    short = desk.outcome("bytes_equal", file="short", expected="a")
    assert short.actual == "the end of the file"
    assert short.evidence == "short, byte offset 4, line 2"


def test_bytes_beyond_the_first_mebibyte_count_too(desk: Desk) -> None:
    same = b"\n" * (1 << 20)
    desk.with_files({"a": same + b"x", "b": same + b"y"}, {"a": same + b"x"})
    assert desk.outcome("bytes_equal", file="a", expected="a").outcome == "held"
    found = desk.outcome("bytes_equal", file="b", expected="a")
    assert found.evidence == f"b, byte offset {1 << 20}, line {(1 << 20) + 1}"


def test_a_missing_reference_is_no_failure_of_the_agent(desk: Desk) -> None:
    desk.with_files({"a": "x"})
    found = desk.outcome("bytes_equal", file="a", expected="gone", failure_class="tool_misuse")
    assert (found.outcome, found.failure_class) == ("error", None)
    assert found.actual == "the reference: is missing gone"


def test_all_texts_must_occur(desk: Desk) -> None:
    desk.with_files({"answer.txt": "Fixed the Parser\n"})
    assert desk.outcome("text_contains", file="answer.txt", texts=["Fixed"]).outcome == "held"
    found = desk.outcome("text_contains", file="answer.txt", texts=["Fixed", "parser"])
    assert (found.outcome, found.actual) == ("failed", 'without "parser"')
    folded = desk.outcome("text_contains", file="answer.txt", texts=["parser"], ignore_case=True)
    assert folded.outcome == "held"


def test_a_file_too_large_to_parse_fails_without_being_read_whole(desk: Desk) -> None:
    with (desk.workspace / "large").open("wb") as file:
        file.truncate(5 << 30)  # sparse: takes no room
    found = desk.outcome("text_contains", file="large", texts=["x"])
    assert (found.outcome, found.actual) == ("failed", "is larger than 64 MiB, too large to check")
