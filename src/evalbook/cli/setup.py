"""Commands that make a book."""

import os
from pathlib import Path

import click

from evalbook.cli.clock import now
from evalbook.cli.options import folder
from evalbook.cli.shell import answer, talk


@click.command(short_help="Make a book in a new or existing git repository.")
@click.argument("directory", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--example", is_flag=True, help="Add the device-inventory example to start from.")
def init(directory: Path | None, *, example: bool) -> None:
    """Make a book in DIRECTORY (default: this folder), a new or existing git repository.

    Adds lines to .gitignore and .gitattributes where they are missing, and a folder evaluations/.
    Nothing that is there is changed, and nothing is committed.

    \b
    Examples:
      evalbook init
      evalbook init my-evals --example
    """
    from evalbook.jobs.init import make_book

    made = make_book(directory or folder(), example=example)
    for path in made.written:
        talk(f"wrote {path}")
    if made.top != (directory or folder()).resolve():
        talk(f"this folder lies in the repository {made.top}: the book is made at its top")
    answer(str(made.top))
    talk(made.next_step)


@click.command(short_help="Show it all on made-up data, in a scratch folder.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Work here instead of in a new temporary folder; must be empty or absent.",
)
def demo(out: Path | None) -> None:
    """Do the main job once, on the worked example: from freezing to a finished site and report.

    Makes a scratch repository, freezes the device-inventory evaluation, runs two versions of a
    scripted agent, interrupts the second run as a power cut would, excludes and reruns what that
    broke, verifies the book, and builds the site and the report. Prints where they are.

    \b
    Examples:
      evalbook demo
      evalbook demo --out ~/evalbook-demo
    """
    from evalbook.jobs.demo import play

    finished = play(out, environment=dict(os.environ), clock=now, say=talk)
    answer(f"site    {finished.site}\nreport  {finished.report}\nbook    {finished.repository}")
