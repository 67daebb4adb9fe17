"""The page of one evaluation: its versions side by side."""

from typing import NamedTuple

from evalbook.derive.figures import ConfigFigures
from evalbook.present.sentences import Sentence, cautions, headline
from evalbook.present.site import places
from evalbook.present.site.marks import grid, section_of
from evalbook.present.site.press import Measured, Press, SitePage
from evalbook.present.tables import version_name


class Standing(NamedTuple):
    """One version."""

    name: str
    section: str
    """Id of its part of its config's page."""
    figures: ConfigFigures
    headline: str
    cautions: tuple[Sentence, ...]


def evaluation_page(press: Press, measured: Measured) -> SitePage:
    """Return the page of an evaluation."""
    language = press.templates.language
    book = measured.book
    return press.page(
        places.evaluation(book.name),
        "evaluation.html",
        title=measured.title,
        constructed=measured.constructed,
        measured=measured,
        book=book,
        agreed=book.agreed,
        versions=tuple(
            Standing(
                version_name(each),
                section_of(each.version),
                each,
                headline(each, language),
                cautions(each, language),
            )
            for each in measured.figures
        ),
        grid=grid(book.name, measured.figures),
        tasks=sorted({cell.task_id for each in measured.figures for cell in each.version.cells}),
    )
