"""The book is read as a commit has it, whatever the work tree holds."""

from pathlib import Path

import pytest
from tests.builders import RUN, Clock, plan_of
from tests.store.scenes import PLAN, git, plain, write_three

from evalbook.base.problems import UserError
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger, NewPage
from evalbook.store.reading import commits_of_pages, read_book, read_run


def plan_page(run: str, *, evaluation: str = "inventory") -> NewPage:
    plan = plan_of({"complete": 1}, run=run, evaluation=evaluation)
    return NewPage(f"ledger/{evaluation}/runs/agent/{run}", (plan,), f"plan {run}")


def test_what_lies_in_the_work_tree_is_not_read(made: Repository) -> None:
    top = plain(made, Path())
    write_three(made)
    head = made.head()
    assert head is not None
    before = read_book(made, head)
    for page in (top / "ledger").rglob("*.jsonl"):
        page.write_text("edited\n")
    assert read_book(made, head) == before
    assert before.flaws == ()
    assert [page.path for page in before.pages] == sorted(page.path for page in before.pages)


def test_a_broken_line_is_a_flaw_of_its_commit_file_and_line(made: Repository) -> None:
    top = plain(made, Path())
    write_three(made)
    page = min((top / "ledger").rglob("*-attempts-*.jsonl"))
    page.write_text(page.read_text() + "not a record\n")
    git(top, "commit", "--quiet", "-am", "edited")
    head = made.head()
    assert head is not None
    flaws = read_book(made, head).flaws
    assert {(flaw.commit, flaw.path) for flaw in flaws} == {(head, str(page.relative_to(top)))}
    assert {flaw.line for flaw in flaws} == {None, 2}


def test_one_evaluation_or_one_run_can_be_read_alone(made: Repository) -> None:
    ledger = Ledger(made, clock=Clock())
    ledger.append(plan_page("20261130-2118-aaaa"))
    ledger.append(plan_page("20261130-2118-aaab"))
    head = ledger.append(plan_page("20261130-2118-bbbb", evaluation="other")).commit
    assert len(read_book(made, head).pages) == 3
    assert len(read_book(made, head, evaluation="inventory").pages) == 2
    assert len(read_book(made, head, evaluation="inv").pages) == 0
    assert len(read_run(made, head, "ledger/inventory/runs/agent/20261130-2118-aaaa").pages) == 1


def test_every_page_names_the_commit_that_brought_it_through_merges_too(made: Repository) -> None:
    top = plain(made, Path())
    ledger = Ledger(made, clock=Clock())
    git(top, "config", "log.showSignature", "true")
    git(top, "switch", "--quiet", "-c", "side")
    side = ledger.append(plan_page("20261130-2118-aaaa"))
    git(top, "switch", "--quiet", "main")
    main = ledger.append(plan_page("20261130-2118-bbbb"))
    git(top, "merge", "--quiet", "--no-edit", "side")
    head = made.head()
    assert head is not None
    assert commits_of_pages(made, head) == {
        side.paths[0]: side.commit,
        main.paths[0]: main.commit,
    }


def test_a_clone_without_file_contents_says_how_to_get_them(
    made: Repository, tmp_path: Path
) -> None:
    top = plain(made, tmp_path)
    page = NewPage(f"ledger/inventory/runs/agent/{RUN}", (PLAN,), "plan")
    head = Ledger(made, clock=Clock()).append(page).commit
    git(top, "config", "uploadpack.allowFilter", "true")
    git(
        tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", top.as_uri(), "partial"
    )
    git(tmp_path / "partial", "remote", "set-url", "origin", (tmp_path / "gone").as_uri())
    with Repository(tmp_path / "partial") as partial, pytest.raises(UserError):
        read_book(partial, head)
