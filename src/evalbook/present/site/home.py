"""The first page: what stands where."""

from collections.abc import Sequence
from typing import NamedTuple

from evalbook.derive.figures import ConfigFigures
from evalbook.present.sentences import Sentence, cautions, headline
from evalbook.present.site import places
from evalbook.present.site.press import Measured, Press, SitePage
from evalbook.present.text import Language


class Latest(NamedTuple):
    """The latest version of one config."""

    figures: ConfigFigures
    headline: str
    cautions: tuple[Sentence, ...]
    versions: int
    """How many versions of the config were measured."""


class Standing(NamedTuple):
    """One evaluation and what stands in it."""

    measured: Measured
    latest: tuple[Latest, ...]


class Total(NamedTuple):
    """What the whole book holds."""

    evaluations: int
    configs: int
    attempts: int
    planned: int
    executed: int
    excluded: int
    unjudged: int
    reruns: int
    latest_run: str
    """When the latest run took place; empty where there is none."""


def home_page(press: Press, evaluations: Sequence[Measured]) -> SitePage:
    """Return the first page."""
    language = press.templates.language
    return press.page(
        places.HOME,
        "home.html",
        title=language.gettext("What stands where"),
        standings=tuple(standing(each, language) for each in evaluations),
        total=_total(evaluations),
    )


def standing(measured: Measured, language: Language) -> Standing:
    """Return the latest version of every config of an evaluation."""
    by_config: dict[str, list[ConfigFigures]] = {}
    for each in measured.figures:
        by_config.setdefault(each.version.config, []).append(each)
    latest = [(versions[-1], len(versions)) for _, versions in sorted(by_config.items())]
    return Standing(
        measured,
        tuple(
            Latest(each, headline(each, language), cautions(each, language), versions)
            for each, versions in latest
        ),
    )


def _total(evaluations: Sequence[Measured]) -> Total:
    figures = [each for measured in evaluations for each in measured.figures]
    before = [each.before.counts for each in figures]
    return Total(
        evaluations=len(evaluations),
        configs=sum(len({each.version.config for each in m.figures}) for m in evaluations),
        attempts=sum(len(measured.book.entries) for measured in evaluations),
        planned=sum(counts.planned for counts in before),
        executed=sum(counts.executed for counts in before),
        excluded=sum(each.after.counts.excluded for each in figures),
        unjudged=sum(counts.unjudged for counts in before),
        reruns=sum(each.reruns for each in figures),
        latest_run=max((run.at for each in figures for run in each.runs), default=""),
    )
