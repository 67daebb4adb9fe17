"""Outcomes, and two laws: honest histories verify, and no changed byte goes unnoticed."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import exclusion_of, plan_of, reinstatement_of, rows_of
from tests.store.verify.builder import Commit, Entry, Leaf, Past, edited, freeze_of, page, story

from evalbook.base.problems import UserError
from evalbook.store.git import Repository
from evalbook.store.verify.verify import Verification, verify


def test_a_branch_without_commits_is_empty(repository: Repository) -> None:
    assert verify(repository) == Verification.nothing()
    assert verify(repository).outcome == "empty"


def test_a_repository_without_a_book_is_empty(repository: Repository) -> None:
    past = Past(repository)
    past.change({"README.md": b"hello\n", "ledger/README.md": b"no pages yet\n"})
    seen = past.verified()
    assert (seen.outcome, seen.commits, seen.findings) == ("empty", 1, ())


def test_a_book_that_was_removed_is_violated_and_not_empty(repository: Repository) -> None:
    book = story(repository)
    book.past.change(dict.fromkeys(book.past.files()) | {"x": b"y\n"})
    assert book.past.verified().outcome == "violated"


def test_an_unknown_revision_is_one_line(repository: Repository) -> None:
    story(repository).past.write()
    with pytest.raises(UserError, match="names no commit here"):
        verify(repository, "nowhere")


def test_only_what_the_revision_reaches_is_judged(repository: Repository) -> None:
    book = story(repository)
    book.past.change({book.first.path: None})
    book.past.write()
    assert verify(repository, book.past.id(5)).outcome == "verified"
    assert verify(repository, "main").outcome == "violated"


def test_a_sha_256_repository_is_verified_and_its_attacker_named(tmp_path: Path) -> None:
    with Repository.create(tmp_path / "r", object_format="sha256") as repository:
        book = story(repository)
        assert book.past.verified().outcome == "verified"
        commit = book.past.change({book.first.path: edited(book.first)})
        (finding,) = (f for f in book.past.verified().findings if f.rule == "added-only")
        assert (finding.commit, finding.line) == (book.past.id(commit), 2)
        assert len(book.past.id(commit)) == 64


def test_a_folder_inside_the_repository_serves_as_well_as_its_top(repository: Repository) -> None:
    book = story(repository)
    book.past.change({book.first.path: None})
    book.past.write()
    assert repository.work_tree is not None
    inside = repository.work_tree / "src"
    inside.mkdir()
    with Repository(inside) as below:
        assert verify(below).findings == verify(repository).findings != ()


def test_the_users_settings_of_git_hide_nothing(repository: Repository) -> None:
    book = story(repository)
    path = "ledger/inventory/runs/agent/vendored"
    book.past.change({path: Entry(b"1" * 40, "160000")})
    book.past.change({book.first.path: Entry(b"1" * 40, "160000")})
    book.past.write()
    for name, value in (
        ("diff.ignoreSubmodules", "all"), ("diff.relative", "true"), ("diff.renames", "copies"),
        ("core.quotePath", "true"), ("log.showRoot", "false"), ("diff.noprefix", "true"),
    ):  # fmt: skip
        repository.run("config", name, value)
    assert repository.work_tree is not None
    (repository.work_tree / "src").mkdir()
    with Repository(repository.work_tree / "src") as below:
        assert [f.path for f in verify(below).findings] == [path, book.first.path]


def test_findings_come_violations_first_and_then_in_the_order_of_history(
    repository: Repository,
) -> None:
    plan = plan_of({"complete": 1})
    past = Past(repository)
    past.commit(freeze_of(plan))
    past.commit(page(plan), page(*rows_of(plan, {"complete": "i"}), plan=plan))
    past.change({freeze_of(plan).path: None})
    past.change({page(plan).path: None})
    found = past.verified().findings
    assert [f.severity for f in found] == ["violation", "violation", "weakness"]
    assert [f.commit for f in found] == [past.id(3), past.id(4), past.id(2)]


@contextmanager
def _fresh() -> Iterator[Repository]:
    """A repository of its own for each example."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Repository.create(Path(folder) / "r") as repository,
    ):
        yield repository


class _Line:
    """One line of an honest history; what it still has to write of its latest run."""

    def __init__(self, tip: Commit) -> None:
        self.tip = tip
        self.waiting: list[Leaf] = []


class _Team:
    """Writers on lines of their own, who append, fork and merge."""

    def __init__(self, past: Past) -> None:
        self.past = past
        self.plan = plan_of({"complete": 2})
        self.lines = [_Line(past.commit(freeze_of(self.plan)))]
        self.written: list[Leaf] = []
        self._runs = 0

    def do(self, what: str, one: int, other: int) -> None:
        line, beside = self.lines[one % len(self.lines)], self.lines[other % len(self.lines)]
        if what == "fork":
            self.lines.append(_Line(line.tip))
        elif what == "append":
            self._append(line)
        elif line.tip != beside.tip:
            line.tip = self.past.commit(on=[line.tip, beside.tip])

    def _append(self, line: _Line) -> None:
        if not line.waiting:
            self._runs += 1
            line.waiting = self._run(self._runs)
        leaf = line.waiting.pop(0)
        self.written.append(leaf)
        line.tip = self.past.commit(leaf, on=[line.tip])

    def _run(self, number: int) -> list[Leaf]:
        """Return the pages of one run in order: plan, rows, exclusion, reinstatement."""
        plan = self.plan.model_copy(update={"run_id": f"20261130-2118-{number:04d}"})
        passed, failed = rows_of(plan, {"complete": "pi"})
        excluded = exclusion_of(failed, number=2 * number)
        return [
            page(plan), page(passed, plan=plan), page(failed, plan=plan), page(excluded),
            page(reinstatement_of(excluded, number=2 * number + 1)),
        ]  # fmt: skip

    def join(self) -> Commit:
        """Merge every line into the first, all at once, and return that merge."""
        tips = list(dict.fromkeys(line.tip for line in self.lines))
        return self.past.commit(on=tips) if len(tips) > 1 else tips[0]


_DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "append", "fork", "merge"]),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=25,
)


def _team(past: Past, deeds: list[tuple[str, int, int]]) -> _Team:
    team = _Team(past)
    for what, one, other in deeds:
        team.do(what, one, other)
    return team


@settings(max_examples=40)
@given(_DEEDS)
def test_whatever_honest_people_append_and_merge_verifies(
    deeds: list[tuple[str, int, int]],
) -> None:
    with _fresh() as repository:
        team = _team(Past(repository), deeds)
        tip = team.join()
        head = team.past.write(tip=tip)
        seen = verify(repository, head)
    assert (seen.outcome, seen.findings) == ("verified", ())
    assert seen.pages == 1 + len(team.written)


@settings(max_examples=40)
@given(_DEEDS, st.data())
def test_one_changed_byte_in_any_page_is_found_at_any_time(
    deeds: list[tuple[str, int, int]], data: st.DataObject
) -> None:
    """The change comes in a commit of its own and is, perhaps, taken back and merged later."""
    with _fresh() as repository:
        team = _team(Past(repository), deeds)
        tip = team.join()
        path, entry = data.draw(st.sampled_from(sorted(team.past.files(tip).items())))
        at = data.draw(st.integers(0, len(entry.content) - 1))
        byte = data.draw(st.integers(1, 255)) ^ entry.content[at]
        changed = entry.content[:at] + bytes([byte]) + entry.content[at + 1 :]
        guilty = team.past.change({path: changed}, on=[tip])
        last = guilty
        if data.draw(st.booleans(), label="taken back"):
            last = team.past.change({path: entry.content}, on=[guilty])
        if data.draw(st.booleans(), label="merged"):
            last = team.past.commit(on=[last, tip])
        head = team.past.write(tip=last)
        seen = verify(repository, head)
        told = {(f.commit, f.path) for f in seen.findings if f.rule == "added-only"}
        assert seen.outcome == "violated"
        assert (team.past.id(guilty), path) in told


@settings(max_examples=25)
@given(_DEEDS, st.data())
def test_one_changed_byte_is_found_even_where_all_history_was_rewritten(
    deeds: list[tuple[str, int, int]], data: st.DataObject
) -> None:
    """The page is added with the change: its name and its row's digests vouch for its bytes."""
    with _fresh() as repository:
        team = _team(Past(repository), deeds)
        files = dict(team.past.files(team.join()))
        path = data.draw(st.sampled_from(sorted(files)))
        content = files[path].content
        at = data.draw(st.integers(0, len(content) - 1))
        byte = data.draw(st.integers(1, 255)) ^ content[at]
        files[path] = Entry(content[:at] + bytes([byte]) + content[at + 1 :])
        past = Past(repository)
        past.change(files, on=[])
        seen = past.verified()
    assert seen.outcome == "violated"
    assert path in {finding.path for finding in seen.findings if finding.rule == "well-formed"}
