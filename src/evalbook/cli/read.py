"""Commands that look at the book."""

import sys

import click

from evalbook.base.exits import NOTHING_MEASURED
from evalbook.cli import options
from evalbook.cli.clock import now
from evalbook.cli.shell import answer, talk

revision = click.option("--rev", metavar="REV", help="The book as of this commit; default: HEAD.")


@click.command(short_help="Figures of an evaluation, before and after exclusion.")
@options.evaluation
@click.option("--config", metavar="NAME", help="Only this config.")
@revision
@options.as_json
def show(evaluation: str | None, config: str | None, rev: str | None, *, as_json: bool) -> None:
    """Show counts, rates, pass@k and pass^k of every version, each with its denominator.

    \b
    Examples:
      evalbook show device-inventory
      evalbook show device-inventory --config agent --json
    """
    from evalbook.jobs.show import Look, show_evaluation

    look = Look(
        as_json=as_json,
        colour=options.colour(sys.stdout.isatty()),
        width=min(_width(), 120),
    )
    seen = show_evaluation(options.folder(), evaluation, config, rev, look, clock=now, say=talk)
    answer(seen.text)
    if not seen.executed:
        talk(f"no attempt of {seen.evaluation} is in the book: nothing was measured")
        click.get_current_context().exit(NOTHING_MEASURED)


@click.command(short_help="What was recorded: freezes, runs, decisions.")
@options.evaluation
@click.option("-n", "most", type=click.IntRange(1), metavar="N", help="The latest N only.")
@revision
@options.as_json
def log(evaluation: str | None, most: int | None, rev: str | None, *, as_json: bool) -> None:
    """List freezes, runs and decisions, newest first, each with who, when and why.

    \b
    Examples:
      evalbook log
      evalbook log device-inventory -n 5
    """
    from evalbook.jobs.show import Look, show_log

    look = Look(as_json=as_json, colour=options.colour(sys.stdout.isatty()), width=_width())
    answer(show_log(options.folder(), evaluation, most, rev, look, clock=now, say=talk))


@click.command(short_help="Check that nobody changed the past.")
@click.argument("rev", required=False, metavar="[REV]")
@click.option("--artifacts", is_flag=True, help="Also fetch what lies in the artifact store.")
@click.option("--witness", metavar="FILE|URL", help="A published site's ledger.json to hold it to.")
@options.as_json
def verify(rev: str | None, witness: str | None, *, artifacts: bool, as_json: bool) -> None:
    """Walk the whole history up to REV (default: HEAD) and name every violation.

    Exit code 0: verified. 6: somebody changed the past, or it can't be shown that nobody did (a
    shallow clone). 5: there is no book here. Anyone can look without evalbook too:

    \b
      git log -m --no-renames --diff-filter=DMRT --format=%h --name-status -- 'ledger/*/*'

    prints nothing for a book that was only ever added to.

    \b
    Examples:
      evalbook verify
      evalbook verify origin/main --witness https://example.org/evals/ledger.json
    """
    from evalbook.jobs.verify import verify_book

    seen = verify_book(options.folder(), rev, artifacts=artifacts, witness=witness, say=talk)
    answer(seen.as_json() if as_json else seen.as_text())
    click.get_current_context().exit(seen.exit_code)


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((80, 24)).columns
