"""Rule 7: two separate facts about what a published site stated."""

from pathlib import Path

import pytest
from tests.builders import exclusion_of
from tests.store.verify.builder import Commit, Past, Story, clone, edited, of_rule, page, story

from evalbook.store.git import Repository
from evalbook.store.manifest import Witness, ledger_facts
from evalbook.store.verify.verify import Verification, verify

RULE = "anchored"


def _stated(book: Story) -> Witness:
    """What a site states that is built from the book as it is now."""
    head = book.past.write()
    return Witness(ledger_facts(book.past.repository, head), "evalbook 0.1.0")


def _squash(book: Story, changes: dict[str, bytes | None] | None = None) -> Commit:
    """Force-push one commit in the place of all history."""
    past = Past(book.past.repository)
    files: dict[str, bytes | None] = {p: entry.content for p, entry in book.past.files().items()}
    for path, content in (changes or {}).items():
        if content is None:
            del files[path]
        else:
            files[path] = content
    commit = past.change(dict(files), on=[])
    past.write()
    return commit


def _depth_1(repository: Repository, folder: Path, witness: Witness) -> Verification:
    with clone(repository, folder, "--depth=1") as copy:
        return verify(copy, witness=witness)


def test_a_book_that_was_only_added_to_holds_to_its_witness(repository: Repository) -> None:
    book = story(repository)
    witness = _stated(book)
    book.past.commit(page(exclusion_of(book.rows[4], number=7)))
    seen = book.past.verified(witness=witness)
    assert seen.outcome == "verified"
    assert seen.anchoring == ("kept", "kept", ())


def test_an_edit_on_top_of_what_was_stated_changes_a_page_and_keeps_history(
    repository: Repository,
) -> None:
    book = story(repository)
    witness = _stated(book)
    book.past.change({book.first.path: edited(book.first)})
    seen = book.past.verified(witness=witness)
    assert seen.anchoring is not None
    assert seen.anchoring[:2] == ("changed", "kept")
    assert [f.path for f in of_rule(seen, RULE)] == [book.first.path]


def test_a_force_push_that_keeps_every_page_is_found_by_its_history(
    repository: Repository,
) -> None:
    book = story(repository)
    witness = _stated(book)
    _squash(book)
    seen = verify(repository, witness=witness)
    assert seen.outcome == "violated"
    assert seen.anchoring is not None
    assert seen.anchoring[:2] == ("kept", "rewritten")
    (finding,) = of_rule(seen, RULE)
    assert finding.message.startswith("history was rewritten: commit ")


def test_a_force_push_that_edits_a_page_is_found_by_both(repository: Repository) -> None:
    book = story(repository)
    witness = _stated(book)
    _squash(book, {book.first.path: edited(book.first), book.excluded.path: None})
    seen = verify(repository, witness=witness)
    assert seen.anchoring is not None
    assert seen.anchoring[:2] == ("changed", "rewritten")
    found = {finding.path: finding.message for finding in of_rule(seen, RULE)}
    assert found[book.first.path].startswith("page changed: the site stated SHA-256 ")
    assert found[book.excluded.path].startswith("page vanished")


def test_in_a_depth_1_clone_pages_are_shown_and_history_is_not(
    repository: Repository, tmp_path: Path
) -> None:
    book = story(repository)
    witness = _stated(book)
    book.past.commit(page(exclusion_of(book.rows[4], number=7)))
    book.past.write()
    seen = _depth_1(repository, tmp_path / "clone", witness)
    assert seen.outcome == "unproven"
    assert seen.anchoring is not None
    assert seen.anchoring[:2] == ("kept", "unknown")


def test_in_a_depth_1_clone_at_the_stated_head_history_is_kept(
    repository: Repository, tmp_path: Path
) -> None:
    witness = _stated(story(repository))
    seen = _depth_1(repository, tmp_path / "clone", witness)
    assert (seen.outcome, seen.anchoring) == ("unproven", ("kept", "kept", ()))


def test_in_a_depth_1_clone_a_force_push_that_edits_a_page_is_found(
    repository: Repository, tmp_path: Path
) -> None:
    book = story(repository)
    witness = _stated(book)
    _squash(book, {book.first.path: edited(book.first)})
    seen = _depth_1(repository, tmp_path / "clone", witness)
    assert seen.outcome == "violated"
    changed = [f for f in of_rule(seen, RULE) if f.severity == "violation"]
    assert [f.path for f in changed] == [book.first.path]


def test_a_head_that_was_set_back_is_told_as_such(repository: Repository) -> None:
    book = story(repository)
    witness = _stated(book)
    seen = verify(repository, book.past.id(4), witness=witness)
    assert seen.outcome == "violated"
    told = [finding.message for finding in of_rule(seen, RULE)]
    assert any(message.startswith("history was cut back: ") for message in told)
    assert any(message.startswith("page vanished") for message in told)


@pytest.mark.parametrize("head", ["f" * 40, "f" * 64])
def test_a_witness_of_another_repository_is_no_ancestor(repository: Repository, head: str) -> None:
    book = story(repository)
    witness = _stated(book)
    other = witness._replace(facts=witness.facts._replace(head=head))
    seen = verify(repository, witness=other)
    assert seen.anchoring is not None
    assert seen.anchoring[:2] == ("kept", "rewritten")
