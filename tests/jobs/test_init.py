from pathlib import Path

import pytest

from evalbook.base.problems import UserError
from evalbook.jobs.init import make_book
from evalbook.store.git import Repository


def test_a_new_folder_becomes_a_repository_with_a_book(tmp_path: Path) -> None:
    made = make_book(tmp_path / "new" / "evals", example=False)
    assert made.top == (tmp_path / "new" / "evals").resolve()
    assert made.written == (".gitignore", ".gitattributes")
    assert (made.top / "evaluations").is_dir()
    with Repository(made.top) as repository:
        assert repository.head_ref() == "refs/heads/main"


def test_init_adds_what_is_missing_and_changes_nothing_else(repository: Repository) -> None:
    top = repository.work_tree
    assert top is not None
    (top / ".gitignore").write_text("build/")
    make_book(top, example=False)
    assert (top / ".gitignore").read_text() == "build/\n/.evalbook/\n/site/\n"
    assert make_book(top, example=False).written == ()


def test_init_inside_a_repository_uses_its_top(repository: Repository) -> None:
    top = repository.work_tree
    assert top is not None
    (top / "sub").mkdir()
    assert make_book(top / "sub", example=False).top == top


def test_the_example_is_complete_and_never_overwrites(tmp_path: Path) -> None:
    made = make_book(tmp_path / "evals", example=True)
    assert (made.top / "evaluations" / "device-inventory" / "evaluation.toml").is_file()
    with pytest.raises(UserError, match="already there"):
        make_book(tmp_path / "evals", example=True)


def test_a_bare_repository_is_no_place_to_write_a_book(
    tmp_path: Path, repository: Repository
) -> None:
    repository.run(
        "clone", "--quiet", "--bare", "--", str(repository.work_tree), str(tmp_path / "bare.git")
    )
    with pytest.raises(UserError, match="bare"):
        make_book(tmp_path / "bare.git", example=False)
