"""Commands that write what others read."""

import sys
from pathlib import Path

import click

from evalbook.cli import options
from evalbook.cli.clock import now
from evalbook.cli.read import revision
from evalbook.cli.shell import answer, talk

out_file = click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write here, not to stdout.",
)


@click.command(short_help="The filled results report, in Markdown.")
@options.evaluation
@click.option("--config", metavar="NAME", help="Only this config.")
@out_file
@revision
def report(evaluation: str | None, config: str | None, out: Path | None, rev: str | None) -> None:
    """Write the results report: every field filled, or the reason why it can't be.

    \b
    Examples:
      evalbook report device-inventory
      evalbook report device-inventory --config agent --out report.md
    """
    from evalbook.jobs.publish import write_report

    text = write_report(options.folder(), evaluation, config, rev, out, clock=now, say=talk)
    if out is None:
        answer(text)


@click.command(short_help="The static site.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="site",
    show_default=True,
    help="The site's folder; replaced whole, and only if it is a site of ours or empty.",
)
@click.option("--evaluation", "evaluations", multiple=True, metavar="NAME", help="Only this one.")
@revision
def build(out: Path, evaluations: tuple[str, ...], rev: str | None) -> None:
    """Build the site: complete without JavaScript, and from file:// too.

    The same commit gives the same bytes. Reads the book at REV and site_templates/, where a file of
    the same name as one of ours takes its place.

    \b
    Examples:
      evalbook build
      evalbook build --out public --rev v1.0
    """
    from evalbook.jobs.publish import build_site

    built = build_site(options.folder(), out, evaluations, rev, clock=now, say=talk)
    talk(f"wrote {built.pages} files from ledger commit {built.commit[:12]}")
    answer(str(built.home))


@click.group(short_help="Rows for other programs.")
def export() -> None:
    """Write the rows of the book for other programs."""


@export.command("csv", short_help="One row an attempt, the columns of the book.")
@options.evaluation
@out_file
@revision
def export_csv(evaluation: str | None, out: Path | None, rev: str | None) -> None:
    """Write one CSV row for every attempt, reruns and excluded ones included.

    Text that a spreadsheet would run as a formula gets an apostrophe before it.

    \b
    Examples:
      evalbook export csv device-inventory
      evalbook export csv device-inventory --out attempts.csv
    """
    from evalbook.jobs.publish import export_attempts

    text = export_attempts(options.folder(), evaluation, rev, out, clock=now, say=talk)
    if out is None:
        sys.stdout.write(text)
