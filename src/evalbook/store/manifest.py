"""What a published site states about the book: head commit, and the SHA-256 of every page."""

from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StringConstraints, ValidationError, model_validator

from evalbook.base.canonical import NamedDigest, canonical_json, manifest_digest, sha256_hex
from evalbook.base.problems import UserError
from evalbook.records.fields import Count, Frozen, Sha256
from evalbook.records.pages import parse_page_path
from evalbook.store.git import Repository


class PageDigest(NamedTuple):
    """One page as it is at the head."""

    path: str
    sha256: str
    rows: int
    """Lines of the page."""


class LedgerFacts(NamedTuple):
    """The state of the book at one commit."""

    head: str
    """Full commit id."""
    object_format: str
    """``sha1`` or ``sha256``: what the commit id is made with."""
    pages: tuple[PageDigest, ...]
    """Sorted by path."""
    root_sha256: str
    """One digest for all pages: `manifest_digest` of their paths and digests."""


class Witness(NamedTuple):
    """What somebody else saw of the book, at an earlier time."""

    facts: LedgerFacts
    tool: str
    """Which program said so."""


def ledger_facts(repository: Repository, commit: str) -> LedgerFacts:
    """Return the facts of the book at ``commit``, a full id.

    Raises:
        UserError: when a page's content is missing, as in a partial clone.
    """
    entries = [each for each in repository.files_at(commit) if parse_page_path(each.path)]
    contents = repository.blobs(each.blob for each in entries)
    pages = tuple(
        PageDigest(entry.path, sha256_hex(content), content.count(b"\n"))
        for entry, content in zip(entries, contents, strict=True)
    )
    return LedgerFacts(commit, repository.object_format, pages, _root(pages))


def _root(pages: tuple[PageDigest, ...]) -> str:
    return manifest_digest(NamedDigest(page.path, page.sha256) for page in pages)


def ledger_json(facts: LedgerFacts, tool: str) -> bytes:
    """Return the bytes of a site's ``ledger.json``; ``tool`` names program and version."""
    document = {
        "schema": 1,
        "tool": tool,
        "head": facts.head,
        "object_format": facts.object_format,
        "root_sha256": facts.root_sha256,
        "pages": [page._asdict() for page in facts.pages],
    }
    return canonical_json(document) + b"\n"


class _Page(Frozen):
    path: str
    sha256: Sha256
    rows: Count


class _Document(Frozen):
    # Named apart from the field "schema": pydantic's models have a method of that name.
    version: Literal[1] = Field(alias="schema")
    tool: str
    head: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
    object_format: Literal["sha1", "sha256"]
    root_sha256: Sha256
    pages: tuple[_Page, ...]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "_Document":
        paths = [page.path for page in self.pages]
        if len(set(paths)) != len(paths):
            raise ValueError("it names a page twice")
        if any(parse_page_path(path) is None for path in paths):
            raise ValueError("it names something that is no page")
        return self


def parse_witness(content: bytes) -> Witness:
    """Return what a ``ledger.json`` states.

    Raises:
        UserError: when it is not such a document, or contradicts itself.
    """
    try:
        document = _Document.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        what = " ".join(first["msg"].split())
        raise UserError(
            f"the witness is no ledger.json of a site: {where + ': ' if where else ''}{what}",
            hint="a site publishes it as ledger.json beside its index.html",
        ) from None
    pages = tuple(sorted(PageDigest(page.path, page.sha256, page.rows) for page in document.pages))
    if _root(pages) != document.root_sha256:
        raise UserError(
            "the witness contradicts itself: its root_sha256 is not that of its pages",
            hint="fetch ledger.json again; if it stays so, the site was altered after it was built",
        )
    facts = LedgerFacts(document.head, document.object_format, pages, document.root_sha256)
    return Witness(facts, document.tool)
