"""Pages are appended one by one or in bulk, each once, and a commit says what its page says."""

from datetime import datetime
from pathlib import Path

import pytest
from tests.builders import RUN, START, Clock, plan_of
from tests.store.scenes import PLAN, assert_only_added, git, plain

from evalbook.base.problems import UserError
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger, NewPage, Receipt, Trailer
from evalbook.store.reading import commits_of_pages


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


def still() -> datetime:
    """A clock that stands."""
    return START


def test_a_page_that_is_there_already_is_not_appended_again(made: Repository) -> None:
    ledger = Ledger(made, clock=still)
    page = NewPage(f"ledger/inventory/runs/agent/{RUN}", (PLAN,), "plan")
    first = ledger.append(page)
    assert ledger.append(page) == first
    assert ledger.append_bulk([page, page]) == Receipt(first.commit, first.paths * 2)
    assert made.head() == first.commit


def test_in_bulk_the_same_page_twice_is_one_commit(made: Repository) -> None:
    top = plain(made, Path())
    page = NewPage(f"ledger/inventory/runs/agent/{RUN}", (PLAN,), "plan")
    receipt = Ledger(made, clock=still).append_bulk([page, page])
    assert set(receipt.paths) == {receipt.paths[0]}
    assert git(top, "rev-list", "--count", "HEAD").strip() == "2"


def test_a_page_is_not_appended_to_a_branch_that_has_moved_on(made: Repository) -> None:
    top = plain(made, Path())
    seen = made.head()
    git(top, "commit", "--quiet", "--allow-empty", "-m", "meanwhile")
    ledger = Ledger(made, clock=Clock())
    page = NewPage(f"ledger/inventory/runs/agent/{RUN}", (PLAN,), "plan")
    assert ledger.append_at(page, seen) is None
    receipt = ledger.append_at(page, made.head())
    assert receipt is not None
    assert receipt.commit == made.head()


def test_a_page_is_not_appended_where_what_it_needs_is_missing(made: Repository) -> None:
    ledger = Ledger(made, clock=Clock())
    page = NewPage(f"ledger/inventory/runs/agent/{RUN}", (PLAN,), "plan", needed="ledger/x.jsonl")
    with pytest.raises(UserError, match="has no ledger/x"):
        ledger.append(page)


def test_trailers_say_what_the_page_says_in_the_form_git_understands(made: Repository) -> None:
    top = plain(made, Path())
    page = NewPage(
        f"ledger/inventory/runs/agent/{RUN}",
        (PLAN,),
        "plan(inventory): 40 attempts · 研发",
        (Trailer("Evalbook-Reason", "disk full — 磁盘满"),),
    )
    git(top, "config", "i18n.commitEncoding", "latin1")
    (path,) = Ledger(made, clock=Clock()).append(page).paths
    said = git(top, "log", "-1", "--format=%s%n%(trailers:only)", "--encoding=UTF-8").splitlines()
    assert said[:3] == [
        "plan(inventory): 40 attempts · 研发",
        "Evalbook-Reason: disk full — 磁盘满",
        f"Evalbook-Record: {path}",
    ]


def test_a_bulk_import_starts_a_repository_too(repository: Repository) -> None:
    page = NewPage(f"ledger/inventory/runs/agent/{RUN}", (PLAN,), "plan")
    receipt = Ledger(repository, clock=Clock()).append_bulk([page])
    assert receipt.commit == repository.head()
    assert_only_added(plain(repository, Path()))


def test_a_large_bulk_import_is_packed_and_keeps_what_nothing_refers_to(made: Repository) -> None:
    top = plain(made, Path())
    git(top, "commit", "--quiet", "--amend", "-m", "amended")
    lost = git(top, "rev-parse", "HEAD@{1}").strip()
    git(top, "repack", "-a", "-d", "-q")
    git(top, "reflog", "expire", "--expire=now", "--all")
    plans = [plan_of({"complete": 1}, run=f"20261130-{n:04d}-aaaa") for n in range(220)]
    pages = [
        NewPage(f"ledger/inventory/runs/agent/{p.run_id}", (p,), f"plan {p.run_id}") for p in plans
    ]
    Ledger(made, clock=Clock()).append_bulk(pages)
    assert git(top, "count-objects").startswith("0 objects")
    assert git(top, "cat-file", "-t", lost).strip() == "commit"
    assert git(top, "for-each-ref", "refs/evalbook") == ""
    assert git(top, "status", "--porcelain") == ""
    assert_only_added(top)


def test_who_is_at_work_is_who_git_says(made: Repository) -> None:
    assert Ledger(made, clock=Clock()).person() == "Test Person <person@example.org>"
