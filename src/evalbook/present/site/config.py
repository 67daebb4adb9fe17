"""The page of one config: its versions over time, with what changed between them."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from evalbook.derive.changes import ConfigChange, config_change
from evalbook.derive.effort import Effort, effort_of
from evalbook.derive.figures import ConfigFigures
from evalbook.present.sentences import Sentence, cautions, headline
from evalbook.present.site import places
from evalbook.present.site.marks import grid, section_of
from evalbook.present.site.press import Measured, Press, SitePage, way_to
from evalbook.present.tables import version_name
from evalbook.records.config import ConfigFreeze


class Shown(NamedTuple):
    """One version of the config."""

    name: str
    section: str
    """Id of its part of the page."""
    figures: ConfigFigures
    headline: str
    cautions: tuple[Sentence, ...]
    freeze: ConfigFreeze | None
    effort: Effort
    """Of all its attempts, failures and reruns included."""


class Step(NamedTuple):
    """From one version to the next."""

    before: str
    after: str
    reason: str
    change: ConfigChange


def config_pages(press: Press, measured: Measured) -> Iterator[SitePage]:
    """Yield a page for every config that was measured."""
    for name in sorted({each.version.config for each in measured.figures}):
        figures = [each for each in measured.figures if each.version.config == name]
        yield _page(press, measured, name, figures)


def _page(
    press: Press, measured: Measured, name: str, figures: Sequence[ConfigFigures]
) -> SitePage:
    language = press.templates.language
    freezes = measured.book.configs
    shown = [
        Shown(
            name=version_name(each),
            section=section_of(each.version),
            figures=each,
            headline=headline(each, language),
            cautions=cautions(each, language),
            freeze=freezes.get(each.version.config_ref),
            effort=effort_of(entry.attempt for entry in each.version.entries),
        )
        for each in figures
    ]
    return press.page(
        places.config(measured.book.name, name),
        "config.html",
        title=name,
        trail=way_to(measured),
        constructed=measured.constructed,
        measured=measured,
        book=measured.book,
        versions=shown,
        latest=shown[-1],
        grid=grid(measured.book.name, figures),
        steps=tuple(_steps(shown)),
    )


def _steps(shown: Sequence[Shown]) -> Iterator[Step]:
    """Yield what changed from version to version, newest first, where both were frozen."""
    frozen = [each.freeze for each in shown if each.freeze is not None]
    distinct = [
        freeze
        for number, freeze in enumerate(frozen)
        if number == 0 or freeze.ref != frozen[number - 1].ref
    ]
    for before, after in reversed(tuple(itertools.pairwise(distinct))):
        yield Step(before.version, after.version, after.reason, config_change(before, after))
