"""Every row of a run reaches the book once, whatever happens to the branch or the process."""

import os
import subprocess
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from tests.builders import RUN, Clock, plan_of, row_of
from tests.store.scenes import PLAN, git, linked, plain, rows_in, write_three

from evalbook.base.canonical import sha256_hex
from evalbook.base.files import KeptFile
from evalbook.base.problems import UserError
from evalbook.records.attempt import Artifact
from evalbook.records.pages import line_bytes
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository
from evalbook.store.journal import Journal, Opened, Waiting
from evalbook.store.ledger import Ledger
from evalbook.store.reading import read_book
from evalbook.store.recovery import Recovered, recover
from evalbook.store.writer import RunWriter


def test_a_run_does_not_end_because_the_user_is_rebasing(made: Repository) -> None:
    top = plain(made, Path())
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    writer = RunWriter.begin(ledger, store, PLAN, Clock())
    git(top, "checkout", "--quiet", "--detach")
    for number in range(1, 4):
        writer.finished(row_of(PLAN, "complete", number), ())
    assert "detached" in str(writer.held_up)
    git(top, "switch", "--quiet", "main")
    assert rows_in(made) == []
    for number in range(4, 17):
        writer.finished(row_of(PLAN, "complete", number), ())
    writer.close()
    assert len(rows_in(made)) == 16
    assert writer.held_up is None


def test_a_row_that_could_not_be_committed_is_kept_and_committed_later(made: Repository) -> None:
    top = plain(made, Path())
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    writer = RunWriter.begin(ledger, store, PLAN, Clock())
    git(top, "checkout", "--quiet", "--detach")
    writer.finished(row_of(PLAN, "complete", 1), ())
    with pytest.raises(UserError, match="detached"):
        writer.close()
    (held,) = recover(ledger, store)
    assert (held.run_id, held.rows) == (RUN, 0)
    assert "detached" in str(held.held_up)
    git(top, "switch", "--quiet", "main")
    assert recover(ledger, store) == (Recovered(RUN, 1, ()),)
    assert rows_in(made) == [f"{RUN}/complete/1"]
    assert recover(ledger, store) == ()


def test_rows_wait_for_the_branch_that_has_their_plan(made: Repository) -> None:
    top = plain(made, Path())
    git(top, "branch", "other")
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    writer = RunWriter.begin(ledger, store, PLAN, Clock())
    git(top, "switch", "--quiet", "other")
    writer.finished(row_of(PLAN, "complete", 1), ())
    with pytest.raises(UserError, match="which these rows belong to"):
        writer.close()
    (held,) = recover(ledger, store)
    assert "not on this branch" in str(held.held_up)
    git(top, "switch", "--quiet", "main")
    assert recover(ledger, store) == (Recovered(RUN, 1, ()),)
    assert rows_in(made) == [f"{RUN}/complete/1"]


def test_a_run_of_another_work_tree_is_left_to_that_one(made: Repository, tmp_path: Path) -> None:
    side = linked(made, tmp_path)
    with Repository(side) as repository:
        ledger, store = Ledger(repository, clock=Clock()), ArtifactStore.of(repository)
        writer = RunWriter.begin(ledger, store, PLAN, Clock())
        git(side, "checkout", "--quiet", "--detach")
        writer.finished(row_of(PLAN, "complete", 1), ())
        with pytest.raises(UserError, match="detached"):
            writer.close()
        git(side, "switch", "--quiet", "side")
        git(plain(made, Path()), "merge", "--quiet", "side")
        assert recover(Ledger(made, clock=Clock()), store) == ()
        assert recover(ledger, store) == (Recovered(RUN, 1, ()),)
        assert rows_in(repository) == [f"{RUN}/complete/1"]
    assert rows_in(made) == []


def test_a_run_that_died_before_its_plan_leaves_nothing(made: Repository) -> None:
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    journal = Journal.of(made, RUN)
    assert journal.hold()
    journal.open(Opened(f"ledger/inventory/runs/agent/{RUN}", str(made.git_dir), os.getpid()))
    journal.release()
    assert recover(ledger, store) == ()
    assert list((made.common_dir / "evalbook" / "runs").iterdir()) == []


def test_a_row_that_contradicts_the_book_is_refused_by_name(made: Repository) -> None:
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with RunWriter.begin(ledger, store, PLAN, Clock()) as writer:
        writer.finished(row_of(PLAN, "complete", 1), ())
    row = line_bytes(row_of(PLAN, "complete", 1, "f"))
    journal = Journal.of(made, RUN)
    assert journal.hold()
    journal.open(Opened(f"ledger/inventory/runs/agent/{RUN}", str(made.git_dir), os.getpid()))
    journal.finish(Waiting(f"{RUN}/complete/1", row, ()))
    journal.release()
    with pytest.raises(UserError, match=f"{RUN}/complete/1"):
        recover(ledger, store)
    assert len(rows_in(made)) == 1


def test_an_attempt_is_recorded_once_however_often_it_is_told(made: Repository) -> None:
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with RunWriter.begin(ledger, store, PLAN, Clock()) as writer:
        writer.finished(row_of(PLAN, "complete", 1), ())
        writer.finished(row_of(PLAN, "complete", 1), ())
        with pytest.raises(UserError, match="another row"):
            writer.finished(row_of(PLAN, "complete", 1, "f"), ())
    with RunWriter.resume(ledger, store, PLAN, Clock()) as again:
        again.finished(row_of(PLAN, "complete", 1), ())
        with pytest.raises(UserError, match="another row"):
            again.finished(row_of(PLAN, "complete", 1, "f"), ())
    assert rows_in(made) == [f"{RUN}/complete/1"]


def test_only_planned_attempts_can_be_written(made: Repository) -> None:
    other = plan_of({"unheard": 1})
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with RunWriter.begin(ledger, store, PLAN, Clock()) as writer:
        with pytest.raises(ValueError, match="not in the plan"):
            writer.started(f"{RUN}/complete/21")
        with pytest.raises(ValueError, match="not in the plan"):
            writer.finished(row_of(other, "unheard", 1), ())
    with pytest.raises(ValueError, match="closed"):
        writer.finished(row_of(PLAN, "complete", 1), ())


def test_a_run_that_is_resumed_knows_what_has_no_row_yet(made: Repository) -> None:
    plan = plan_of({"complete": 2, "missing": 1})
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with RunWriter.begin(ledger, store, plan, Clock()) as writer:
        assert len(writer.without_row()) == 3
        writer.finished(row_of(plan, "complete", 1), ())
    with RunWriter.resume(ledger, store, plan, Clock()) as again:
        assert again.without_row() == (f"{RUN}/complete/2", f"{RUN}/missing/1")
    git(plain(made, Path()), "switch", "--quiet", "--orphan", "empty")
    with pytest.raises(UserError, match="not on this branch"):
        RunWriter.resume(ledger, store, plan, Clock())


def test_a_row_that_waits_is_committed_after_ten_minutes(made: Repository) -> None:
    plan = plan_of({"complete": 30})
    clock = Clock()
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with RunWriter.begin(ledger, store, plan, clock) as writer:
        for number in range(1, 26):  # from the 24th on, three rows wait for one page
            writer.finished(row_of(plan, "complete", number), ())
        assert len(rows_in(made)) == 24
        clock.skip(timedelta(minutes=10))
        writer.finished(row_of(plan, "complete", 26), ())
        assert len(rows_in(made)) == 26


def test_a_file_that_changed_after_it_was_hashed_is_not_kept(
    made: Repository, tmp_path: Path
) -> None:
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    file = tmp_path / "stdout.txt"
    file.write_bytes(b"now this")
    digest = sha256_hex(b"then that")
    with RunWriter.begin(ledger, store, PLAN, Clock()) as writer:
        for place in ("ledger", "store"):
            artifact = Artifact(name="a", role="log", sha256=digest, size=9, place=place)
            row = row_of(PLAN, "complete", 1, artifacts=(artifact,))
            with pytest.raises(ValueError, match="has changed"):
                writer.finished(row, (KeptFile(digest, file),))
    assert rows_in(made) == []


def test_looking_for_what_was_left_starts_no_git(
    made: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_three(made)
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    monkeypatch.setenv("PATH", "/nonexistent")
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
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    with RunWriter.begin(ledger, store, PLAN, Clock()) as writer:
        for number in range(1, 18):  # from the sixteenth on, two rows wait for one page
            writer.finished(row_of(PLAN, "complete", number), ())
        with pytest.raises(UserError, match="another row"):
            writer.finished(row_of(PLAN, "complete", 17, "f"), ())
    assert len(rows_in(made)) == 17


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


def test_a_run_is_recovered_though_a_program_it_was_starting_holds_its_lock_a_little_longer(
    made: Repository,
) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    ledger, store = Ledger(made, clock=Clock()), ArtifactStore.of(made)
    writer = RunWriter.begin(ledger, store, PLAN, Clock())
    writer.started(f"{RUN}/complete/1")
    writer.close()
    journal = Journal.of(made, RUN)
    assert journal.hold()
    journal.open(Opened(f"ledger/inventory/runs/agent/{RUN}", str(made.git_dir), dead.pid))
    later = threading.Timer(0.2, journal.release)
    later.start()
    assert recover(ledger, store) == (Recovered(RUN, 1, (f"{RUN}/complete/1",)),)
    later.join()
