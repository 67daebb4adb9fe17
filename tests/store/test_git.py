"""The one module that runs git asks the repository it was given, and no other."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.store.scenes import git, linked, plain

from evalbook.base.problems import UserError
from evalbook.store.git import Repository


def test_a_folder_without_a_repository_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not in a git repository") as refusal:
        Repository(tmp_path)
    assert "evalbook init" in str(refusal.value.hint)
    with pytest.raises(UserError, match="is not a folder"):
        Repository(tmp_path / "nothing")


def test_a_repository_that_vanished_is_not_mistaken_for_the_one_around_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "outer")
    with Repository.create(tmp_path / "outer" / "inner") as inner:
        shutil.rmtree(tmp_path / "outer" / "inner")
        with pytest.raises(UserError):
            inner.run("status")


def test_variables_of_a_hook_do_not_lead_to_another_repository(
    made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere"))
    with Repository(plain(made, tmp_path)) as again:
        assert again.git_dir == made.git_dir
        again.run("update-index", "--refresh")
    assert not (tmp_path / "elsewhere").exists()


def test_a_linked_work_tree_and_a_bare_repository_are_told_apart(
    made: Repository, tmp_path: Path
) -> None:
    with Repository(linked(made, tmp_path)) as side:
        assert side.work_tree == tmp_path / "linked"
        assert side.common_dir == made.common_dir
        assert side.git_dir != made.git_dir
    git(tmp_path, "clone", "--quiet", "--bare", str(plain(made, tmp_path)), "bare")
    with Repository(tmp_path / "bare") as bare:
        assert bare.work_tree is None
    git(tmp_path, "config", "--global", "safe.bareRepository", "explicit")
    with Repository(tmp_path / "bare") as bare:
        assert bare.head() == made.head()


def test_what_a_person_types_never_becomes_an_option(made: Repository) -> None:
    for typed in ("--output=stolen", "-x", "HEAD..HEAD", "no such thing", ""):
        with pytest.raises(UserError, match="names no commit"):
            made.resolve(typed)
    assert not list(plain(made, Path()).glob("stolen*"))
    assert made.resolve("HEAD") == made.head()


def test_bytes_come_back_as_they_are(made: Repository) -> None:
    contents = [b"", b"\n", b"no end", b"\r\n\0\xff\n\n"]
    ids = [
        made.run("hash-object", "-w", "--stdin", stdin=content).out.decode().strip()
        for content in contents
    ]
    assert list(made.blobs(ids)) == contents
    with pytest.raises(UserError, match="is missing"):
        list(made.blobs([ids[0], "0" * len(ids[0])]))
    assert list(made.blobs([])) == []


def test_files_are_listed_with_names_git_would_quote(made: Repository) -> None:
    top = plain(made, Path())
    names = ['ledger/"quoted".txt', "ledger/new\nline", "ledger/研发"]
    (top / "ledger").mkdir()
    for name in names:
        (top / name).write_text("x")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "names")
    assert [entry.path for entry in made.files_at("HEAD")] == sorted(names)
    assert {entry.mode for entry in made.files_at("HEAD")} == {"100644"}


def test_no_git_is_left_running(made: Repository) -> None:
    with Repository(plain(made, Path())) as again:
        list(again.blobs([again.run("rev-parse", "HEAD:b.txt").out.decode().strip()]))
    children = subprocess.run(
        ["ps", "-o", "comm=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert "git" not in children.stdout.split()
