"""What every page of the site has in common."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from evalbook.derive.book import EvaluationBook
from evalbook.derive.figures import ConfigFigures
from evalbook.present.site import places
from evalbook.present.templates import Templates

Preview = Callable[[str], bytes | None]
"""The bytes of an artifact by SHA-256, or None where they can't be shown."""


class SiteFacts(NamedTuple):
    """What a site must state and the book does not know."""

    commit: str
    """The ledger commit it was built from; full id."""
    object_format: str
    """``sha1`` or ``sha256``: what the commit's id is made with."""
    root_sha256: str
    """One hash over all pages of the ledger, see ``ledger.json``."""
    tool: str
    """``evalbook`` and its version."""
    ledger_json: bytes
    """What a later check holds the book to."""
    commits_of_pages: Mapping[str, str]
    """Path of a page to the commit that brought it."""
    preview: Preview


class SitePage(NamedTuple):
    """One file of the site."""

    path: str
    content: bytes


class Measured(NamedTuple):
    """One evaluation, with its figures."""

    book: EvaluationBook
    figures: tuple[ConfigFigures, ...]

    @property
    def title(self) -> str:
        """What people call it."""
        return self.book.agreed.title if self.book.agreed else self.book.name

    @property
    def constructed(self) -> bool:
        """Whether its data are made up, which every page of it says."""
        return self.book.agreed is not None and self.book.agreed.constructed

    @property
    def imported(self) -> bool:
        """Whether all its runs were read in from elsewhere."""
        plans = self.book.plans
        return bool(plans) and all(plan.purpose == "import" for plan in plans)


class Crumb(NamedTuple):
    """One step of the way to a page."""

    label: str
    path: str


class Press(NamedTuple):
    """What pages are made with."""

    facts: SiteFacts
    templates: Templates

    def page(
        self,
        path: str,
        template: str,
        *,
        title: str,
        trail: tuple[Crumb, ...] = (),
        constructed: bool = False,
        **values: object,
    ) -> SitePage:
        """Return one page; its template gets ``to``, which leads to another page from here."""

        def to(target: str) -> str:
            return places.relative(path, target)

        content = self.templates.html(
            template,
            title=title,
            trail=trail,
            constructed=constructed,
            facts=self.facts,
            places=places,
            to=to,
            here=path,
            **values,
        )
        return SitePage(path, content)


def way_to(measured: Measured) -> tuple[Crumb, ...]:
    """Return the way to the pages of an evaluation."""
    return (Crumb(measured.book.name, places.evaluation(measured.book.name)),)
