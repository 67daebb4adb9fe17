"""What a site states about the book, and what a broken statement is answered with."""

import json
from typing import Any

import pytest
from tests.store.verify.builder import story

from evalbook.base.canonical import NamedDigest, manifest_digest, sha256_hex
from evalbook.base.problems import UserError
from evalbook.store.git import Repository
from evalbook.store.manifest import PageDigest, ledger_facts, ledger_json, parse_witness


def test_the_facts_name_every_page_with_its_bytes_and_one_root(repository: Repository) -> None:
    book = story(repository)
    head = book.past.write()
    facts = ledger_facts(repository, head)
    assert (facts.head, facts.object_format) == (head, "sha1")
    assert PageDigest(book.first.path, sha256_hex(book.first.content), 3) in facts.pages
    assert [page.path for page in facts.pages] == sorted(book.past.files())
    named = [NamedDigest(page.path, page.sha256) for page in facts.pages]
    assert facts.root_sha256 == manifest_digest(named)


def test_artifacts_and_other_files_are_no_pages(repository: Repository) -> None:
    book = story(repository)
    book.past.change({"ledger/README.md": b"hello\n", "x": b"y\n"})
    facts = ledger_facts(repository, book.past.write())
    assert len(facts.pages) == 5


def test_what_a_site_states_is_read_back_as_it_was(repository: Repository) -> None:
    facts = ledger_facts(repository, story(repository).past.write())
    stated = ledger_json(facts, "evalbook 0.1.0")
    assert parse_witness(stated) == (facts, "evalbook 0.1.0")
    assert stated == ledger_json(facts, "evalbook 0.1.0")
    assert json.loads(stated)["schema"] == 1


def test_a_book_without_pages_can_be_stated_too(repository: Repository) -> None:
    book = story(repository)
    book.past.change(dict.fromkeys(book.past.files()))
    facts = ledger_facts(repository, book.past.write())
    assert facts.pages == ()
    assert parse_witness(ledger_json(facts, "t")).facts == facts


GOOD: dict[str, Any] = {
    "schema": 1, "tool": "evalbook 0.1.0", "head": "a" * 40, "object_format": "sha1",
    "root_sha256": manifest_digest(()), "pages": [],
}  # fmt: skip
PAGE = {
    "path": "ledger/x/materials/20261130t211804z-materials-0123456789abcdef.jsonl",
    "sha256": "1" * 64,
    "rows": 1,
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": 2}, "schema"),
        ({"head": "main"}, "head"),
        ({"head": None}, "head"),
        ({"object_format": "md5"}, "object_format"),
        ({"surprise": 1}, "surprise"),
        ({"pages": [PAGE, PAGE]}, "names a page twice"),
        ({"pages": [PAGE | {"path": "../../etc/passwd"}]}, "something that is no page"),
        ({"pages": [PAGE | {"sha256": "1"}]}, "pages.0.sha256"),
        ({"pages": [PAGE]}, "its root_sha256 is not that of its pages"),
    ],
)
def test_a_broken_witness_is_answered_with_one_line_and_what_to_do(
    changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError) as told:
        parse_witness(json.dumps(GOOD | changes).encode())
    assert words in str(told.value)
    assert "\n" not in str(told.value)
    assert told.value.hint


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b"\xff\xfe", b'{"schema":1', b"null"])
def test_what_is_no_document_at_all_is_refused_in_one_line(content: bytes) -> None:
    with pytest.raises(UserError, match=r"^the witness is no ledger\.json of a site: .*$") as told:
        parse_witness(content)
    assert "\n" not in str(told.value)
