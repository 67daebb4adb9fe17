"""A commit adds pages in every kind of repository, and the user's work stays as it was."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.builders import RUN, Clock, plan_of
from tests.store.scenes import (
    PLAN,
    assert_only_added,
    git,
    has_reftable,
    linked,
    plain,
    rows_in,
    sparse_inside,
    sparse_outside,
    submodule,
    write_three,
)

from evalbook.base.problems import UserError
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger, NewPage


@pytest.mark.parametrize("kind", [plain, linked, submodule, sparse_outside, sparse_inside])
def test_rows_land_in_every_kind_of_work_tree(
    made: Repository, tmp_path: Path, kind: Callable[[Repository, Path], Path]
) -> None:
    top = kind(made, tmp_path)
    with Repository(top) as repository:
        write_three(repository)
        assert rows_in(repository) == [f"{RUN}/complete/{n}" for n in (1, 2, 3)]
        assert git(top, "status", "--porcelain") == ""
        assert (top / "ledger").exists() == (kind is not sparse_outside)
        (top / "c.txt").write_text("")
        git(top, "add", "c.txt")
        git(top, "commit", "--quiet", "-m", "the user's next plain commit")
        assert len(rows_in(repository)) == 3
    assert_only_added(top)


@pytest.mark.skipif(not has_reftable(), reason="this git has no reftable")
def test_rows_land_in_a_reftable_repository(tmp_path: Path) -> None:
    with Repository.create(tmp_path / "made", ref_format="reftable") as repository:
        write_three(repository)
        assert len(rows_in(repository)) == 3
    assert_only_added(tmp_path / "made")


def test_the_first_commit_of_a_repository_can_be_a_page(repository: Repository) -> None:
    write_three(repository)
    assert len(rows_in(repository)) == 3
    assert repository.work_tree is not None
    assert git(repository.work_tree, "status", "--porcelain") == ""


def test_what_the_user_has_staged_changed_and_left_untracked_stays_as_it_was(
    made: Repository,
) -> None:
    top = plain(made, Path())
    (top / "b.txt").write_text("staged\n")
    git(top, "add", "b.txt")
    (top / "b.txt").write_text("staged, then changed\n")
    (top / "code" / "a.py").unlink()
    (top / "new").write_text("untracked\n")
    (top / "intended").write_text("x")
    git(top, "add", "-N", "intended")
    before = git(top, "status", "--porcelain=v2"), git(top, "diff"), git(top, "diff", "--cached")
    write_three(made)
    assert before == (
        git(top, "status", "--porcelain=v2"),
        git(top, "diff"),
        git(top, "diff", "--cached"),
    )
    assert len(rows_in(made)) == 3
    git(top, "commit", "--quiet", "-m", "only what was staged")
    assert git(top, "show", "--name-only", "--format=").split() == ["b.txt"]


def test_line_end_conversion_and_filters_do_not_touch_a_page(made: Repository) -> None:
    top = plain(made, Path())
    git(top, "config", "core.autocrlf", "true")
    git(top, "config", "filter.shout.clean", "tr a-z A-Z")
    git(top, "config", "filter.shout.smudge", "tr a-z A-Z")
    (top / ".git" / "info" / "attributes").write_text("ledger/** filter=shout\n")
    write_three(made)
    assert len(rows_in(made)) == 3


def test_hooks_of_the_user_are_not_run(made: Repository) -> None:
    hook = made.git_dir / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    write_three(made)
    assert len(rows_in(made)) == 3


def test_commits_are_signed_where_the_user_signs(made: Repository, tmp_path: Path) -> None:
    top = plain(made, Path())
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    git(top, "config", "gpg.format", "ssh")
    git(top, "config", "user.signingkey", str(key))
    git(top, "config", "commit.gpgsign", "true")
    (tmp_path / "signers").write_text(f"person@example.org {key.with_suffix('.pub').read_text()}")
    git(top, "config", "gpg.ssh.allowedSignersFile", str(tmp_path / "signers"))
    write_three(made)
    assert set(git(top, "log", "-4", "--format=%G?").split()) == {"G"}
    ledger = Ledger(made, clock=Clock())
    other = plan_of({"complete": 1}, run="20261130-2119-aaaa")
    ledger.append_bulk([NewPage(f"ledger/inventory/runs/agent/{other.run_id}", (other,), "plan")])
    assert git(top, "log", "-1", "--format=%G?").strip() == "G"


def test_a_detached_head_is_refused_and_the_way_out_named(made: Repository) -> None:
    git(plain(made, Path()), "checkout", "--quiet", "--detach")
    with pytest.raises(UserError, match="detached") as refusal:
        write_three(made)
    assert "git switch" in str(refusal.value.hint)


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick", "revert"])
def test_in_the_middle_of_something_nothing_is_written(made: Repository, what: str) -> None:
    top = plain(made, Path())
    git(top, "switch", "--quiet", "-c", "other")
    (top / "b.txt").write_text("other\n")
    git(top, "commit", "--quiet", "-am", "other")
    git(top, "switch", "--quiet", "main")
    (top / "b.txt").write_text("main\n")
    git(top, "commit", "--quiet", "-am", "main")
    if what == "revert":
        (top / "b.txt").write_text("later\n")
        git(top, "commit", "--quiet", "-am", "later")
    argument = "HEAD~1" if what == "revert" else "other"
    stopped = subprocess.run(["git", what, argument], cwd=top, capture_output=True, check=False)
    assert stopped.returncode != 0
    before = git(top, "rev-parse", "HEAD")
    with pytest.raises(UserError, match="under way"):
        write_three(made)
    assert git(top, "rev-parse", "HEAD") == before


def test_without_an_identity_nothing_is_written(
    made: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git(plain(made, Path()), "config", "user.useConfigOnly", "true")
    with pytest.raises(UserError, match="who you are"):
        Ledger(made, clock=Clock()).person()


def test_a_lock_of_gits_own_is_named_and_never_deleted(
    made: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalbook.store.checkout._PATIENCE_S", 0.1)
    lock = made.git_dir / "index.lock"
    lock.touch()
    before = made.head()
    with pytest.raises(UserError, match=r"index\.lock"):
        write_three(made)
    assert lock.exists()
    assert made.head() == before


def test_a_ledger_that_is_a_link_is_refused(made: Repository, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (plain(made, Path()) / "ledger").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="symbolic link"):
        write_three(made)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_something_in_the_way_of_a_page_is_left_alone_and_named(made: Repository) -> None:
    top = plain(made, Path())
    (top / "ledger").mkdir()
    (top / "ledger" / "inventory").write_text("mine\n")
    before = made.head()
    with pytest.raises(UserError, match="inventory is no folder"):
        write_three(made)
    assert (top / "ledger" / "inventory").read_text() == "mine\n"
    assert made.head() == before


def test_a_file_that_stands_where_the_book_must_be_is_never_replaced(made: Repository) -> None:
    top = plain(made, Path())
    (top / "ledger").write_text("mine\n")
    git(top, "add", "ledger")
    git(top, "commit", "--quiet", "-m", "a file of that name")
    (top / "ledger").unlink()
    before = made.head()
    with pytest.raises(UserError, match="ledger is a file in this branch"):
        write_three(made)
    assert made.head() == before
    assert git(top, "status", "--porcelain") == " D ledger\n"


def test_a_page_whose_name_is_taken_by_other_bytes_is_refused(made: Repository) -> None:
    top = plain(made, Path())
    page = NewPage(f"ledger/inventory/runs/agent/{RUN}", (PLAN,), "plan")
    (path,) = Ledger(made, clock=Clock()).append(page).paths
    (top / path).write_text("forged\n")
    git(top, "commit", "--quiet", "-am", "forged")
    forged = made.head()
    with pytest.raises(UserError, match="never changed"):
        Ledger(made, clock=Clock()).append(page)
    assert made.head() == forged


def test_conflicts_that_a_stash_left_in_the_index_stay(made: Repository) -> None:
    top = plain(made, Path())
    (top / "b.txt").write_text("stashed\n")
    git(top, "stash", "--quiet")
    (top / "b.txt").write_text("committed\n")
    git(top, "commit", "--quiet", "-am", "other")
    popped = subprocess.run(["git", "stash", "pop"], cwd=top, capture_output=True, check=False)
    assert popped.returncode != 0
    before = git(top, "ls-files", "--unmerged"), (top / "b.txt").read_bytes()
    write_three(made)
    assert before == (git(top, "ls-files", "--unmerged"), (top / "b.txt").read_bytes())
    assert len(rows_in(made)) == 3


def test_a_split_index_and_an_untracked_cache_learn_of_the_page(made: Repository) -> None:
    top = plain(made, Path())
    git(top, "update-index", "--split-index", "--untracked-cache")
    (top / "new").write_text("untracked\n")
    assert git(top, "status", "--porcelain") == "?? new\n"
    write_three(made)
    assert git(top, "status", "--porcelain") == "?? new\n"
    assert_only_added(top)


def test_a_sparse_checkout_by_patterns_stays_clean(made: Repository) -> None:
    top = plain(made, Path())
    git(top, "sparse-checkout", "set", "--no-cone", "/code/", "/ledger/")
    write_three(made)
    assert git(top, "status", "--porcelain") == ""
    git(top, "sparse-checkout", "reapply")
    assert list((top / "ledger").rglob("*.jsonl"))
    assert git(top, "status", "--porcelain") == ""


def test_a_hook_that_watches_every_ref_is_not_run(made: Repository) -> None:
    for name in ("reference-transaction", "post-index-change"):
        hook = made.git_dir / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho ran >> '{made.git_dir}/ran'\nexit 1\n")
        hook.chmod(0o755)
    write_three(made)
    assert not (made.git_dir / "ran").exists()


def test_a_lock_on_the_branch_is_named_and_never_deleted(made: Repository) -> None:
    top = plain(made, Path())
    if (made.common_dir / "reftable").exists():
        pytest.skip("a reftable has one lock for all")
    lock = made.git_dir / "refs" / "heads" / "main.lock"
    lock.touch()
    before = made.head()
    with pytest.raises(UserError, match=r"main\.lock is there"):
        write_three(made)
    assert lock.exists()
    assert made.head() == before
    assert git(top, "status", "--porcelain") == ""
    lock.unlink()
    write_three(made)
    assert len(rows_in(made)) == 3


def test_a_folder_that_can_not_be_written_changes_nothing(made: Repository) -> None:
    top = plain(made, Path())
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    top.chmod(0o555)
    before = made.head()
    try:
        with pytest.raises(UserError, match="can't be written"):
            write_three(made)
    finally:
        top.chmod(0o755)
    assert made.head() == before
    assert git(top, "status", "--porcelain") == ""


def test_our_own_leftovers_are_cleaned_and_others_are_not(made: Repository) -> None:
    write_three(made)
    assert sorted(path.name for path in (made.common_dir / "evalbook").iterdir()) == [
        "lock", "lock-of-git", "runs", "scratch",
    ]  # fmt: skip
    assert list((made.common_dir / "evalbook" / "scratch").iterdir()) == []
    assert list((made.common_dir / "evalbook" / "runs").iterdir()) == []
