"""The whole site, file by file: the same book, facts and templates give the same bytes."""

from collections.abc import Collection, Iterator

from evalbook.derive.book import Book
from evalbook.derive.figures import figures_of
from evalbook.present.document import document_text, show_document
from evalbook.present.export import attempts_csv
from evalbook.present.report import report_markdown, report_of
from evalbook.present.report_parts import Facts
from evalbook.present.site import places
from evalbook.present.site.attempt import attempt_pages
from evalbook.present.site.config import config_pages
from evalbook.present.site.decisions import decisions_page
from evalbook.present.site.evaluation import evaluation_page
from evalbook.present.site.home import home_page
from evalbook.present.site.press import Measured, Press, SiteFacts, SitePage, way_to
from evalbook.present.site.task import task_pages
from evalbook.present.templates import Templates


def build_pages(
    book: Book,
    facts: SiteFacts,
    templates: Templates,
    *,
    only: Collection[str] = (),
) -> Iterator[SitePage]:
    """Yield every file of the site; ``only`` names the evaluations that are wanted, empty: all.

    Raises:
        UserError: when a template of the user's is broken.
    """
    press = Press(facts, templates)
    evaluations = tuple(
        Measured(each, figures_of(each))
        for each in book.evaluations
        if not only or each.name in only
    )
    yield SitePage(places.STYLE, templates.file("style.css"))
    yield SitePage(places.LEDGER, facts.ledger_json)
    yield home_page(press, evaluations)
    yield press.page(
        places.CHECK, "check.html", title=templates.language.gettext("How to check these pages")
    )
    for measured in evaluations:
        yield from _evaluation(press, measured)


def _evaluation(press: Press, measured: Measured) -> Iterator[SitePage]:
    name = measured.book.name
    document = show_document(name, press.facts.commit, measured.figures)
    yield SitePage(places.figures_json(name), document_text(document).encode())
    yield SitePage(places.attempts_csv(name), attempts_csv(measured.book).encode())
    facts = Facts(press.facts.commit, press.facts.tool)
    report = report_of(measured.book, measured.figures, facts, press.templates.language)
    yield SitePage(places.report_markdown(name), report_markdown(report, press.templates).encode())
    yield press.page(
        places.report(name),
        "report.html",
        title=press.templates.language.gettext("Results report"),
        trail=way_to(measured),
        constructed=measured.constructed,
        report=report,
        book=measured.book,
    )
    yield evaluation_page(press, measured)
    yield decisions_page(press, measured)
    yield from config_pages(press, measured)
    yield from task_pages(press, measured)
    yield from attempt_pages(press, measured)
