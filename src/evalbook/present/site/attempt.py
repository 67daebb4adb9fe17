"""The page of one attempt: the evidence behind its verdict."""

from collections.abc import Iterator
from typing import NamedTuple

from evalbook.derive.book import Entry
from evalbook.present.site import places
from evalbook.present.site.press import Crumb, Measured, Press, Preview, SitePage, way_to
from evalbook.present.text import mark_of
from evalbook.records.attempt import Artifact

_LONGEST_PREVIEW = 20_000
"""Characters; the rest is a click away in the ledger, under its hash."""
_SHOWN_FIRST = ("output", "log", "trace", "response", "grading", "report")


class Kept(NamedTuple):
    """One artifact, with its text where it has any that can be shown."""

    artifact: Artifact
    text: str | None
    cut: int
    """Characters left out at the end."""


def attempt_pages(press: Press, measured: Measured) -> Iterator[SitePage]:
    """Yield a page for every attempt with evidence enough for one."""
    for entry in measured.book.entries:
        if places.has_page(entry):
            yield _page(press, measured, entry)


def _page(press: Press, measured: Measured, entry: Entry) -> SitePage:
    book = measured.book
    row = entry.attempt
    task = Crumb(row.task_id, places.task(book.name, row.task_id))
    return press.page(
        places.attempt(book.name, entry),
        "attempt.html",
        title=row.attempt_id,
        trail=(*way_to(measured), task),
        constructed=measured.constructed,
        book=book,
        entry=entry,
        row=row,
        mark=mark_of(row),
        checks=sorted(row.checks, key=lambda check: (check.outcome == "held", not check.critical)),
        commit=press.facts.commits_of_pages.get(entry.path),
        original=book.by_id[row.rerun_of] if row.rerun_of else None,
        reruns=tuple(book.by_id[each] for each in entry.reruns),
        kept=tuple(_kept(row.artifacts, press.facts.preview)),
    )


def _kept(artifacts: tuple[Artifact, ...], preview: Preview) -> Iterator[Kept]:
    order = {role: number for number, role in enumerate(_SHOWN_FIRST)}
    for artifact in sorted(artifacts, key=lambda each: (order[each.role], each.name)):
        text = _text(preview(artifact.sha256))
        cut = max(0, len(text or "") - _LONGEST_PREVIEW)
        yield Kept(artifact, text[:_LONGEST_PREVIEW] if text is not None else None, cut)


def _text(content: bytes | None) -> str | None:
    """Return what can be read, or None for what is no text."""
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
