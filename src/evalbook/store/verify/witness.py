"""Rule 7, anchored: the book holds to what a published site once stated."""

from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

from evalbook.base.canonical import sha256_hex
from evalbook.base.problems import Finding
from evalbook.store.git import Repository, TreeEntry
from evalbook.store.manifest import LedgerFacts
from evalbook.store.verify.catalogue import Catalogue
from evalbook.store.verify.contents import contents
from evalbook.store.verify.walk import History

RULE = "anchored"


class Anchoring(NamedTuple):
    """Two separate facts about what a site stated."""

    pages: Literal["kept", "changed", "unknown"]
    """Whether every page it named is there with the same bytes: shown even in a depth-1 clone."""
    history: Literal["kept", "rewritten", "unknown"]
    """Whether its head is an ancestor; unknown where a shallow clone was cut off before it."""
    findings: tuple[Finding, ...]


def anchored(
    repository: Repository,
    history: History,
    catalogue: Catalogue,
    stated: LedgerFacts,
    missing: Collection[str],
    *,
    cut_off: bool,
) -> Anchoring:
    """Return how the book stands to what was stated; ``cut_off`` says that history isn't whole."""
    changed = tuple(_pages(repository, history, catalogue, stated, missing))
    pages: Literal["kept", "changed", "unknown"] = "kept"
    if changed:
        violated = any(each.severity == "violation" for each in changed)
        pages = "changed" if violated else "unknown"
    if any(step.commit == stated.head for step in history.steps):
        return Anchoring(pages, "kept", changed)
    head = f"commit {stated.head[:12]}, which the site was built from,"
    if cut_off:
        message = f"{head} is not in this shallow clone: that history is intact can't be shown"
        finding = Finding("weakness", RULE, message, history.head)
        return Anchoring(pages, "unknown", (*changed, finding))
    message = f"history was rewritten: {head} is no ancestor of this head"
    if _is_ahead(repository, history.head, stated.head):
        message = f"history was cut back: {head} is ahead of this head"
    finding = Finding("violation", RULE, message, history.head)
    return Anchoring(pages, "rewritten", (*changed, finding))


def _is_ahead(repository: Repository, head: str, other: str) -> bool:
    asked = repository.run("merge-base", "--is-ancestor", head, other, ok=(0, 1, 128))
    return asked.code == 0


def _pages(
    repository: Repository,
    history: History,
    catalogue: Catalogue,
    stated: LedgerFacts,
    missing: Collection[str],
) -> Iterator[Finding]:
    there = {entry.path: entry for entry in repository.files_at(history.head)}
    present = [page for page in stated.pages if page.path in there]
    digests = _digests(repository, catalogue, [there[page.path] for page in present], missing)
    for page in stated.pages:
        if page.path not in there:
            message = "page vanished: the site stated it, this head does not have it"
            yield Finding("violation", RULE, message, history.head, page.path)
        elif page.path not in digests:
            message = "its content is missing here: that it is as the site stated can't be shown"
            yield Finding("weakness", RULE, message, history.head, page.path)
        elif digests[page.path] != page.sha256:
            message = f"page changed: the site stated SHA-256 {page.sha256[:12]}, it is {digests[page.path][:12]}"
            yield Finding("violation", RULE, message, history.head, page.path)


def _digests(
    repository: Repository,
    catalogue: Catalogue,
    entries: list[TreeEntry],
    missing: Collection[str],
) -> dict[str, str]:
    """Return the SHA-256 of each entry's bytes at the head; those known from reading aren't read again."""
    known: dict[str, str] = {}
    unread: list[TreeEntry] = []
    for entry in entries:
        facts = catalogue.pages.get(entry.path)
        if facts is not None and facts.blob == entry.blob:
            known[entry.path] = facts.sha256
        else:
            unread.append(entry)
    read = contents(repository, [entry.blob for entry in unread], missing=missing)
    for entry, content in zip(unread, read, strict=True):
        if content is not None:
            known[entry.path] = sha256_hex(content)
    return known
