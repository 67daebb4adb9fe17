"""Rows reach the book once each, in every kind of repository, and the user's work stays as it was."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.builders import RUN, Clock, plan_of, row_of

from evalbook.base.canonical import sha256_hex
from evalbook.base.files import KeptFile
from evalbook.base.problems import UserError
from evalbook.records.attempt import Artifact, Attempt
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository
from evalbook.store.journal import Journal
from evalbook.store.ledger import Ledger, NewPage
from evalbook.store.reading import commits_of_pages, read_book
from evalbook.store.writer import RunWriter, recover

PLAN = plan_of({"complete": 20, "missing": 20})


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def has_reftable() -> bool:
    version = subprocess.run(
        ["git", "version"], capture_output=True, text=True, check=True
    ).stdout.split()[2]
    return tuple(int(part) for part in version.split(".")[:2]) >= (2, 45)


def plain(repository: Repository, where: Path) -> Path:
    del where
    assert repository.work_tree is not None
    return repository.work_tree


def linked(repository: Repository, where: Path) -> Path:
    git(plain(repository, where), "worktree", "add", "--quiet", "-b", "side", str(where / "linked"))
    return where / "linked"


def submodule(repository: Repository, where: Path) -> Path:
    inner = plain(repository, where)
    outer = where / "outer"
    kind = git(inner, "rev-parse", "--show-object-format").strip()
    git(where, "init", "--quiet", f"--object-format={kind}", str(outer))
    git(
        outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "part"
    )
    return outer / "part"


def sparse_outside(repository: Repository, where: Path) -> Path:
    top = plain(repository, where)
    git(top, "sparse-checkout", "set", "--cone", "--sparse-index", "code")
    return top


def sparse_inside(repository: Repository, where: Path) -> Path:
    top = plain(repository, where)
    git(top, "sparse-checkout", "set", "--cone", "ledger")
    return top


@pytest.fixture(params=["sha1", "sha256"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Repository]:
    with Repository.create(tmp_path / "made", object_format=request.param) as repository:
        top = plain(repository, tmp_path)
        (top / "code").mkdir()
        (top / "code" / "a.py").write_text("a = 1\n")
        (top / "b.txt").write_text("b\n")
        git(top, "add", ".")
        git(top, "commit", "--quiet", "-m", "start")
        yield repository


def write_three(repository: Repository) -> None:
    ledger = Ledger(repository, clock=Clock())
    with RunWriter.begin(ledger, ArtifactStore.of(repository), PLAN, Clock()) as writer:
        for number in (1, 2, 3):
            attempt = row_of(PLAN, "complete", number, "p")
            writer.started(attempt.attempt_id)
            writer.finished(attempt, ())


def rows_in(repository: Repository) -> list[str]:
    head = repository.head()
    assert head is not None
    text = read_book(repository, head)
    assert text.flaws == ()
    return [
        line.record.attempt_id
        for page in text.pages
        for line in page.lines
        if isinstance(line.record, Attempt)
    ]


def assert_only_added(top: Path) -> None:
    assert (
        git(
            top, "log", "-m", "--no-renames", "--diff-filter=DMRT", "--format=%h", "--", "ledger/*/"
        )
        == ""
    )
    git(top, "fsck", "--strict")


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
    monkeypatch.setattr("evalbook.store.commits._PATIENCE_S", 0.1)
    lock = made.git_dir / "index.lock"
    lock.touch()
    before = made.head()
    with pytest.raises(UserError, match=r"index\.lock"):
        write_three(made)
    assert lock.exists()
    assert made.head() == before


def test_a_row_that_could_not_be_committed_is_kept_and_committed_later(made: Repository) -> None:
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    writer = RunWriter.begin(ledger, store, PLAN, Clock())
    git(plain(made, Path()), "checkout", "--quiet", "--detach")
    with pytest.raises(UserError, match="detached"):
        writer.finished(row_of(PLAN, "complete", 1), ())
    with pytest.raises(UserError, match="detached"):
        writer.close()
    git(plain(made, Path()), "switch", "--quiet", "main")
    assert [(found.rows, found.interrupted) for found in recover(ledger, store)] == [(1, ())]
    assert rows_in(made) == [f"{RUN}/complete/1"]
    assert recover(ledger, store) == ()


def test_an_attempt_that_was_under_way_becomes_an_infra_error_row(made: Repository) -> None:
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    writer = RunWriter.begin(ledger, store, PLAN, Clock())
    writer.started(f"{RUN}/complete/1")
    writer.finished(row_of(PLAN, "complete", 1), ())
    writer.started(f"{RUN}/missing/2")
    assert recover(ledger, store) == (), "its process is alive"
    writer.close()
    (found,) = recover(ledger, store)
    assert found.interrupted == (f"{RUN}/missing/2",)
    assert rows_in(made) == [f"{RUN}/complete/1", f"{RUN}/missing/2"]
    with RunWriter.resume(ledger, store, PLAN, Clock()) as again:
        again.finished(row_of(PLAN, "complete", 3), ())
    assert len(rows_in(made)) == 3


def test_a_run_has_one_writer(made: Repository) -> None:
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with (
        RunWriter.begin(ledger, store, PLAN, Clock()),
        pytest.raises(UserError, match="another process"),
    ):
        RunWriter.resume(ledger, store, PLAN, Clock())


def test_another_row_for_an_attempt_that_waits_is_refused(made: Repository) -> None:
    journal = Journal.of(made, RUN)
    assert journal.hold()
    journal.release()
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with RunWriter.begin(ledger, store, PLAN, Clock()) as writer:
        for number in range(1, 18):  # from the sixteenth on, two rows wait for one page
            writer.finished(row_of(PLAN, "complete", number), ())
        with pytest.raises(UserError, match="another row"):
            writer.finished(row_of(PLAN, "complete", 17, "f"), ())


def test_pages_grow_with_the_run_so_that_a_pull_request_stays_readable(made: Repository) -> None:
    plan = plan_of({"complete": 200})
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with RunWriter.begin(ledger, store, plan, Clock()) as writer:
        for number in range(1, 201):
            writer.finished(row_of(plan, "complete", number), ())
    head = made.head()
    assert head is not None
    assert 20 < len(read_book(made, head).pages) < 45
    assert len(rows_in(made)) == 200


def test_artifacts_go_where_their_row_says(made: Repository, tmp_path: Path) -> None:
    small, large = b"small", b"large" * 10_000
    files = []
    for content in (small, large):
        path = tmp_path / sha256_hex(content)
        path.write_bytes(content)
        files.append(KeptFile(sha256_hex(content), path))
    artifacts = (
        Artifact(name="a", role="output", sha256=sha256_hex(small), size=5, place="ledger"),
        Artifact(name="b", role="output", sha256=sha256_hex(large), size=50_000, place="store"),
    )
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with RunWriter.begin(ledger, store, PLAN, Clock()) as writer:
        writer.finished(row_of(PLAN, "complete", 1, artifacts=artifacts), files)
    top = plain(made, Path())
    assert (
        top / f"ledger/inventory/artifacts/{sha256_hex(small)[:2]}/{sha256_hex(small)}"
    ).read_bytes() == small
    assert store.read(sha256_hex(large)) == large
    assert not store.has(sha256_hex(small))


def test_a_bulk_import_is_a_commit_a_page_and_moves_the_branch_once(made: Repository) -> None:
    top = plain(made, Path())
    (top / "b.txt").write_text("staged\n")
    git(top, "add", "b.txt")
    plans = [plan_of({"complete": 1}, run=f"20261130-21{n:02d}-aaaa") for n in range(30)]
    pages = [
        NewPage(f"ledger/inventory/runs/agent/{p.run_id}", (p,), f"plan {p.run_id}") for p in plans
    ]
    receipt = Ledger(made, clock=Clock()).append_bulk(pages)
    assert receipt.commit == made.head()
    assert len(receipt.paths) == 30
    assert git(top, "status", "--porcelain") == "M  b.txt\n"
    found = commits_of_pages(made, receipt.commit)
    assert sorted(found) == sorted(receipt.paths)
    assert len(set(found.values())) == 30
    assert_only_added(top)


def test_a_line_break_cannot_forge_a_trailer(made: Repository) -> None:
    page = NewPage(f"ledger/inventory/runs/agent/{RUN}", (PLAN,), "plan\n\nEvalbook-Reason: forged")
    before = made.head()
    with pytest.raises(UserError, match="line break"):
        Ledger(made, clock=Clock()).append(page)
    assert made.head() == before


def test_a_ledger_that_is_a_link_is_refused(made: Repository, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (plain(made, Path()) / "ledger").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="symbolic link"):
        write_three(made)
    assert list((tmp_path / "elsewhere").iterdir()) == []
