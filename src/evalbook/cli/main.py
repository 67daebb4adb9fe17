"""The whole command list."""

from pathlib import Path

import click

from evalbook.cli import decide, measure, publish, read, setup
from evalbook.cli.shell import EXIT_CODES, Cli


@click.group(
    "evalbook",
    cls=Cli,
    epilog=EXIT_CODES,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "EVALBOOK",
        "max_content_width": 100,
    },
)
@click.version_option(None, "--version", package_name="evalbook")
@click.option(
    "-C",
    "folder",
    metavar="DIR",
    default=".",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Work on the book of this folder's repository.",
)
@click.option("-q", "quiet", is_flag=True, help="Print answers only, no talk on stderr.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour; auto: on a terminal, unless NO_COLOR is set.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an expected error too.")
@click.pass_context
def cli(context: click.Context, folder: Path, *, quiet: bool, color: str, debug: bool) -> None:
    """Keep the book of agent evaluations: every attempt a row, nothing ever rewritten.

    A book lives in a git repository: what is measured in evaluations/, what happened in ledger/.

    \b
    Start:    evalbook init · evalbook freeze NAME · evalbook run NAME --config CONFIG
    Look:     evalbook show · evalbook log · evalbook report · evalbook build
    Trust:    evalbook verify
    """
    del folder, quiet, debug  # read from the context where they are needed
    context.color = _colour(color)


def _colour(wanted: str) -> bool | None:
    import os

    if wanted == "auto":
        return False if os.environ.get("NO_COLOR") else None
    return wanted == "always"


for command in (
    setup.init,
    setup.demo,
    measure.freeze,
    measure.run,
    measure.import_results,
    decide.exclude,
    decide.reinstate,
    decide.rerun,
    read.show,
    read.log,
    publish.report,
    publish.build,
    publish.export,
    read.verify,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line with what was typed."""
    cli(prog_name="evalbook")
