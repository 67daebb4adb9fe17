"""The attack table: whatever is done to the past, commit, file and line are named."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from tests.builders import exclusion_of, plan_of, row_of, rows_of
from tests.store.verify.builder import (
    EXECUTABLE,
    FILE,
    LINK,
    SUBMODULE,
    Commit,
    Entry,
    Leaf,
    Story,
    artifact,
    edited,
    freeze_of,
    page,
    story,
)

from evalbook.records.pages import line_bytes
from evalbook.store.git import Repository


class Deed(NamedTuple):
    """What an attack did, as the finding must tell it."""

    commit: Commit
    path: str
    words: str
    """Part of the message."""
    line: int | None = None
    rule: str = "added-only"
    accomplices: tuple[Commit, ...] = ()
    """Later commits that are violations too, since they carried the deed on."""


Attack = Callable[[Story], Deed]


def _rewrite(book: Story, leaf: Leaf, content: bytes, words: str, line: int) -> Deed:
    return Deed(book.past.change({leaf.path: content}), leaf.path, words, line)


def _lines(leaf: Leaf) -> list[bytes]:
    return leaf.content.splitlines(keepends=True)


def edited_row(book: Story) -> Deed:
    return _rewrite(book, book.first, edited(book.first), "page edited: line 2 differs", 2)


def deleted_last_row(book: Story) -> Deed:
    content = b"".join(_lines(book.first)[:-1])
    return _rewrite(book, book.first, content, "row deleted: line 3 is gone", 3)


def deleted_rows(book: Story) -> Deed:
    content = b"".join(_lines(book.first)[2:])
    return _rewrite(book, book.first, content, "row deleted: line 1 is gone, 2 in all", 1)


def inserted_row(book: Story) -> Deed:
    one, two, three = _lines(book.first)
    new = line_bytes(row_of(book.plan, "missing", 1, "f")) + b"\n"
    content = one + new + two + three
    return _rewrite(book, book.first, content, "row inserted: line 2 is new", 2)


def appended_row(book: Story) -> Deed:
    content = book.first.content + _lines(book.second)[0]
    return _rewrite(book, book.first, content, "row inserted: line 4 is new", 4)


def reordered_rows(book: Story) -> Deed:
    one, two, three = _lines(book.first)
    return _rewrite(book, book.first, one + three + two, "rows reordered from line 2", 2)


def emptied_page(book: Story) -> Deed:
    return _rewrite(book, book.first, b"", "row deleted: line 1 is gone, 3 in all", 1)


def edited_then_restored(book: Story) -> Deed:
    deed = edited_row(book)
    restored = book.past.change({book.first.path: book.first.content})
    return deed._replace(accomplices=(restored,))


def changed_spaces(book: Story) -> Deed:
    content = book.first.content.replace(b"\n", b" \n", 1)
    return _rewrite(book, book.first, content, "only line ends and spaces, from line 1", 1)


def rewritten_with_crlf(book: Story) -> Deed:
    content = book.first.content.replace(b"\n", b"\r\n")
    return _rewrite(book, book.first, content, "from line 1 (CRLF)", 1)


def cut_line_end(book: Story) -> Deed:
    return _rewrite(book, book.first, book.first.content[:-1], "only line ends", 3)


def hidden_from_diff(book: Story) -> Deed:
    book.past.change({"ledger/.gitattributes": b"* -diff -text\n", ".gitattributes": b"* -diff\n"})
    return edited_row(book)


def deleted_page(book: Story) -> Deed:
    return Deed(book.past.change({book.second.path: None}), book.second.path, "page deleted")


def deleted_then_added_again(book: Story) -> Deed:
    deed = deleted_page(book)
    book.past.commit(book.second)
    return deed


def replaced_after_deletion(book: Story) -> Deed:
    book.past.change({book.first.path: None})
    commit = book.past.change({book.first.path: edited(book.first)})
    words = "page added again with other bytes: line 2 differs"
    return Deed(commit, book.first.path, words, 2, accomplices=(commit - 1,))


def renamed_page(book: Story) -> Deed:
    new = book.first.path.replace("t211804z", "t211805z")
    return Deed(book.past.rename(book.first.path, new), book.first.path, f"page renamed to {new}")


def renamed_folder(book: Story) -> Deed:
    old = "ledger/inventory/runs/agent/"
    changes: dict[str, Entry | None] = {}
    for path, entry in book.past.files().items():
        if path.startswith(old):
            changes |= {path: None, path.replace(old, "ledger/inventory/runs/other/"): entry}
    commit = book.past.change(changes)
    new = book.first.path.replace(old, "ledger/inventory/runs/other/")
    return Deed(commit, book.first.path, f"page renamed to {new}")


def removed_book(book: Story) -> Deed:
    commit = book.past.change(dict.fromkeys(book.past.files()))
    return Deed(commit, book.second.path, "page deleted")


def page_made_a_link(book: Story) -> Deed:
    commit = book.past.change({book.first.path: Entry(b"elsewhere", LINK)})
    return Deed(commit, book.first.path, "page turned into a symbolic link")


def page_made_a_submodule(book: Story) -> Deed:
    commit = book.past.change({book.first.path: Entry(b"1" * 40, SUBMODULE)})
    return Deed(commit, book.first.path, "page turned into a submodule")


def page_made_executable(book: Story) -> Deed:
    commit = book.past.change({book.first.path: Entry(book.first.content, EXECUTABLE)})
    return Deed(commit, book.first.path, "mode of the page changed from 100644 to 100755")


def added_executable(book: Story) -> Deed:
    leaf = page(exclusion_of(book.rows[4], number=7))
    commit = book.past.change({leaf.path: Entry(leaf.content, EXECUTABLE)})
    return Deed(commit, leaf.path, "added as an executable file")


def added_link(book: Story) -> Deed:
    leaf = page(exclusion_of(book.rows[4], number=7))
    commit = book.past.change({leaf.path: Entry(b"elsewhere", LINK)})
    return Deed(commit, leaf.path, "added as a symbolic link")


def evaluation_made_a_link(book: Story) -> Deed:
    commit = book.past.change({"ledger/other": Entry(b"inventory", LINK)})
    return Deed(commit, "ledger/other", "a symbolic link stands where")


def file_beside_the_book_made_a_link(book: Story) -> Deed:
    book.past.change({"ledger/README.md": b"# Book\n"})
    commit = book.past.change({"ledger/README.md": Entry(b"/etc/passwd", LINK)})
    return Deed(commit, "ledger/README.md", "a symbolic link stands where")


def added_submodule(book: Story) -> Deed:
    path = "ledger/inventory/runs/agent/vendored"
    commit = book.past.change({path: Entry(b"1" * 40, SUBMODULE)})
    return Deed(commit, path, "added as a submodule")


def submodule_hidden_by_gitmodules(book: Story) -> Deed:
    path = "ledger/inventory/runs/agent/vendored"
    hiding = f'[submodule "v"]\n\tpath = {path}\n\turl = ./v\n\tignore = all\n'
    book.past.change({".gitmodules": hiding.encode()})
    commit = book.past.change({path: Entry(b"1" * 40, SUBMODULE)})
    return Deed(commit, path, "added as a submodule")


def ledger_made_a_link(book: Story) -> Deed:
    changes: dict[str, Entry | None] = dict.fromkeys(book.past.files())
    commit = book.past.change(changes | {"ledger": Entry(b"elsewhere", LINK)})
    return Deed(commit, "ledger", "a symbolic link stands where the book")


def stray_file(book: Story) -> Deed:
    path = "ledger/inventory/runs/agent/notes.md"
    words = "is the name of no page or artifact"
    return Deed(book.past.change({path: b"hello\n"}), path, words, rule="well-formed")


def case_variant_of_a_page(book: Story) -> Deed:
    path = book.first.path.replace("/agent/", "/Agent/")
    commit = book.past.change({path: book.first.content})
    return Deed(commit, path, f"differs from {book.first.path} only by case", rule="well-formed")


def case_variant_of_the_ledger(book: Story) -> Deed:
    path = "Ledger/inventory/x.jsonl"
    return Deed(book.past.change({path: b"{}\n"}), path, "differs from ledger/ only by case")


def edited_artifact(book: Story) -> Deed:
    leaf = artifact(b"department,devices\n")
    book.past.commit(leaf)
    commit = book.past.change({leaf.path: b"department,devices\nsales,2\n"})
    return Deed(commit, leaf.path, "artifact edited")


def deleted_artifact(book: Story) -> Deed:
    leaf = artifact(b"department,devices\n")
    book.past.commit(leaf)
    return Deed(book.past.change({leaf.path: None}), leaf.path, "artifact deleted")


def artifact_under_another_name(book: Story) -> Deed:
    leaf = artifact(b"department,devices\n")
    commit = book.past.change({leaf.path: b"other bytes\n"})
    return Deed(commit, leaf.path, "its bytes are not what its name says", rule="evidenced")


def row_completed_later(book: Story) -> Deed:
    whole = page(row_of(book.plan, "complete", 1, "f"), plan=book.plan, second=9)
    half = whole.content[:-9]
    commit = book.past.change({whole.path: half})
    completed = book.past.change({whole.path: whole.content})
    words = "the last line has no line end"
    return Deed(commit, whole.path, words, 1, "well-formed", accomplices=(completed,))


def crlf_in_an_honest_append(book: Story) -> Deed:
    leaf = page(exclusion_of(book.rows[4], number=7))
    content = leaf.content.replace(b"\n", b"\r\n")
    words = "is not in canonical form"
    return Deed(book.past.change({leaf.path: content}), leaf.path, words, 1, "well-formed")


def duplicate_key(book: Story) -> Deed:
    leaf = page(exclusion_of(book.rows[4], number=7))
    content = leaf.content.replace(b'"reason":', b'"reason":"a better one","reason":')
    words = "is not in canonical form"
    return Deed(book.past.change({leaf.path: content}), leaf.path, words, 1, "well-formed")


def decision_without_reason(book: Story) -> Deed:
    leaf = page(exclusion_of(book.rows[4], number=7, reason="gone"))
    content = leaf.content.replace(b'"reason":"gone"', b'"reason":""')
    words = "reason: String should have at least 1 character"
    return Deed(book.past.change({leaf.path: content}), leaf.path, words, 1, "well-formed")


def duplicate_row(book: Story) -> Deed:
    again = page(*book.rows[:3], plan=book.plan, second=9)
    words = f"attempt {book.rows[0].attempt_id} is in the book already, at {book.first.path}:1"
    return Deed(book.past.commit(again), again.path, words, 1, "well-formed")


def duplicate_id_with_another_verdict(book: Story) -> Deed:
    again = page(row_of(book.plan, "complete", 2, "p"), plan=book.plan, second=9)
    words = f"attempt {book.rows[1].attempt_id} is in the book already, at {book.first.path}:2"
    return Deed(book.past.commit(again), again.path, words, 1, "well-formed")


def page_under_a_name_of_other_bytes(book: Story) -> Deed:
    leaf = page(exclusion_of(book.rows[4], number=7))
    path = leaf.path.replace(leaf.path[-22:-6], "0" * 16)
    commit = book.past.change({path: leaf.content})
    return Deed(commit, path, "its name says 0000000000000000", rule="well-formed")


def _branches(book: Story) -> tuple[Commit, Commit]:
    """Two lines of history, each with a page that the other lacks."""
    base = 5
    mine = book.past.commit(page(exclusion_of(book.rows[4], number=7)), on=[base])
    other = book.past.commit(page(exclusion_of(book.rows[4], number=8)), on=[base])
    return mine, other


def merge_drops_the_other_side(book: Story) -> Deed:
    mine, other = _branches(book)
    dropped = page(exclusion_of(book.rows[4], number=8)).path
    commit = book.past.change({dropped: None}, on=[mine, other])
    return Deed(commit, dropped, "page dropped in a merge: parent 2 has it")


def merge_drops_what_both_have(book: Story) -> Deed:
    commit = book.past.change({book.first.path: None}, on=_branches(book))
    return Deed(commit, book.first.path, "page dropped in a merge: parent 1 has it")


def merge_edits_a_page(book: Story) -> Deed:
    commit = book.past.change({book.first.path: edited(book.first)}, on=_branches(book))
    return Deed(commit, book.first.path, "page edited in a merge: line 2 differs", 2)


def merge_takes_the_older_side(book: Story) -> Deed:
    base = 5
    forged = book.past.change({book.first.path: edited(book.first)}, on=[base])
    other = book.past.commit(page(exclusion_of(book.rows[4], number=8)), on=[base])
    commit = book.past.change({}, on=[other, forged])
    words = "by a merge that takes another version than parent 2 has: line 2 differs"
    return Deed(commit, book.first.path, words, 2, accomplices=(forged,))


def merge_takes_the_edited_side(book: Story) -> Deed:
    base = 5
    forged = book.past.change({book.first.path: edited(book.first)}, on=[base])
    other = book.past.commit(page(exclusion_of(book.rows[4], number=8)), on=[base])
    commit = book.past.change({}, on=[forged, other])
    return Deed(forged, book.first.path, "page edited: line 2 differs", 2, accomplices=(commit,))


def merge_adds_a_page(book: Story) -> Deed:
    leaf = page(exclusion_of(book.rows[4], number=9))
    commit = book.past.change({leaf.path: leaf.content}, on=_branches(book))
    return Deed(commit, leaf.path, "added in a merge: no parent has it")


def merge_unites_two_pages(book: Story) -> Deed:
    """As `merge=union` does with two versions of one file."""
    mine, other = _branches(book)
    kept = page(exclusion_of(book.rows[4], number=7))
    dropped = page(exclusion_of(book.rows[4], number=8))
    both = {kept.path: kept.content + dropped.content, dropped.path: None}
    commit = book.past.change(both, on=[mine, other])
    words = "page edited in a merge"
    return Deed(commit, kept.path, words.removesuffix(" in a merge"), 2)


def octopus_drops_a_page(book: Story) -> Deed:
    mine, other = _branches(book)
    third = book.past.commit(page(exclusion_of(book.rows[4], number=9)), on=[5])
    dropped = page(exclusion_of(book.rows[4], number=9)).path
    commit = book.past.change({dropped: None}, on=[mine, other, third])
    return Deed(commit, dropped, "page dropped in a merge: parent 3 has it")


def reset_to_an_edited_root(book: Story) -> Deed:
    """An unrelated root brings the same page with other bytes."""
    root = book.past.change({book.first.path: edited(book.first)}, on=[])
    merge = book.past.change({}, on=[5, root])
    words = "page added again with other bytes: line 2 differs"
    return Deed(root, book.first.path, words, 2, accomplices=(merge,))


ATTACKS: tuple[Attack, ...] = (
    edited_row, deleted_last_row, deleted_rows, inserted_row, appended_row, reordered_rows,
    emptied_page, edited_then_restored, changed_spaces, rewritten_with_crlf, cut_line_end,
    hidden_from_diff, deleted_page, deleted_then_added_again, replaced_after_deletion, renamed_page,
    renamed_folder, removed_book, page_made_a_link, page_made_a_submodule, page_made_executable,
    added_executable, added_link, evaluation_made_a_link,
    file_beside_the_book_made_a_link, added_submodule, submodule_hidden_by_gitmodules,
    ledger_made_a_link, stray_file,
    case_variant_of_a_page, case_variant_of_the_ledger, edited_artifact, deleted_artifact,
    artifact_under_another_name, row_completed_later, crlf_in_an_honest_append, duplicate_key,
    decision_without_reason, duplicate_row, duplicate_id_with_another_verdict,
    page_under_a_name_of_other_bytes, merge_drops_the_other_side, merge_drops_what_both_have,
    merge_edits_a_page, merge_takes_the_older_side, merge_takes_the_edited_side, merge_adds_a_page,
    merge_unites_two_pages, octopus_drops_a_page, reset_to_an_edited_root,
)  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_whoever_changes_the_past_is_named_with_commit_file_and_line(
    attack: Attack, repository: Repository
) -> None:
    book = story(repository)
    deed = attack(book)
    seen = book.past.verified()
    assert seen.outcome == "violated"
    told = [
        finding
        for finding in seen.findings
        if (finding.severity, finding.rule) == ("violation", deed.rule)
        and finding.commit == book.past.id(deed.commit)
        and (finding.path, finding.line) == (deed.path, deed.line)
        and deed.words in finding.message
    ]
    assert len(told) == 1, seen.findings
    guilty = {book.past.id(each) for each in (deed.commit, *deed.accomplices)}
    assert {f.commit for f in seen.findings if f.severity == "violation"} == guilty, seen.findings


def test_a_renamed_page_is_one_finding_and_its_rows_are_not_told_twice(
    repository: Repository,
) -> None:
    book = story(repository)
    renamed_page(book)
    assert [f.rule for f in book.past.verified().findings] == ["added-only"]


def test_an_honest_book_is_verified_without_a_finding(repository: Repository) -> None:
    seen = story(repository).past.verified()
    assert (seen.outcome, seen.findings) == ("verified", ())
    assert (seen.commits, seen.pages, seen.rows, seen.decisions) == (5, 5, 5, 1)


def test_merges_of_honest_branches_are_clean_with_two_parents_and_with_three(
    repository: Repository,
) -> None:
    book = story(repository)
    mine, other = _branches(book)
    third = book.past.commit(page(exclusion_of(book.rows[4], number=9)), on=[5])
    merge = book.past.commit(on=[mine, other, third])
    book.past.commit(on=[merge, 2])
    seen = book.past.verified()
    assert (seen.outcome, seen.findings, seen.decisions) == ("verified", (), 4)


def test_one_page_that_two_branches_added_with_the_same_bytes_is_one_page(
    repository: Repository,
) -> None:
    book = story(repository)
    leaf = page(exclusion_of(book.rows[4], number=7))
    one, two = book.past.commit(leaf, on=[5]), book.past.commit(leaf, on=[4])
    book.past.commit(on=[one, two])
    seen = book.past.verified()
    assert (seen.outcome, seen.findings, seen.decisions) == ("verified", (), 2)


def test_two_appends_squashed_into_one_commit_are_a_valid_append(repository: Repository) -> None:
    book = story(repository)
    again, fresh = plan_of({"complete": 1}, run="20261130-2200-aaaa"), book.past
    fresh.commit(page(again))
    rows = rows_of(again, {"complete": "p"})
    fresh.commit(page(*rows, plan=again), page(exclusion_of(book.rows[4], number=7)))
    assert fresh.verified().findings == ()


def test_files_beside_the_book_may_change_freely(repository: Repository) -> None:
    book = story(repository)
    book.past.change({"ledger/README.md": b"# Book\n", "src/x.py": b"1\n", "ledgers/y": b"\n"})
    book.past.change({"ledger/README.md": b"# The book\n", "src/x.py": None})
    book.past.change({"ledger/README.md": None, "ledgers/y": Entry(b"x", LINK)})
    book.past.change({"ledger/README.md": Entry(b"# Back\n", FILE)})
    assert book.past.verified().findings == ()


def test_a_page_moved_in_from_beside_the_book_is_judged_like_any_other(
    repository: Repository,
) -> None:
    book = story(repository)
    leaf = page(exclusion_of(book.rows[1], number=7))
    book.past.change({"ledger/prepared.jsonl": leaf.content})
    commit = book.past.rename("ledger/prepared.jsonl", leaf.path)
    (finding,) = book.past.verified().findings
    assert (finding.rule, finding.commit) == ("agreed", book.past.id(commit))


def test_a_history_without_link_to_the_first_is_a_weakness_that_names_its_root(
    repository: Repository,
) -> None:
    book = story(repository)
    plan = plan_of({"complete": 1}, evaluation="other", run="20261130-2200-aaaa")
    root = book.past.commit(freeze_of(plan), on=[])
    strange = book.past.commit(page(plan))
    book.past.commit(on=[5, strange])
    seen = book.past.verified()
    (finding,) = seen.findings
    assert (seen.outcome, finding.severity) == ("verified", "weakness")
    assert (finding.commit, finding.path) == (book.past.id(root), freeze_of(plan).path)
    assert "merged in with 2 files" in finding.message
