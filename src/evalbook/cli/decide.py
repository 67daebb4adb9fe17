"""Commands that record a person's decision about attempts."""

import os

import click

from evalbook.cli import options
from evalbook.cli.clock import now
from evalbook.cli.shell import answer, talk

ids = click.argument("attempts", nargs=-1, metavar="[ATTEMPT]...")
evaluation = click.option("--evaluation", metavar="NAME", help="Look for the attempts here only.")
verdict = click.option(
    "--verdict",
    "verdicts",
    multiple=True,
    type=click.Choice(["infra_error", "timeout", "unjudged"]),
    help="Instead of ids: every attempt with this verdict, or without one of its own; repeatable.",
)


@click.command(short_help="Leave attempts out of the figures, with a reason.")
@ids
@evaluation
@click.option("--config", metavar="NAME", help="With --verdict: only attempts of this config.")
@verdict
@options.reason
@options.as_json
def exclude(
    attempts: tuple[str, ...],
    evaluation: str | None,
    config: str | None,
    verdicts: tuple[str, ...],
    reason: str,
    *,
    as_json: bool,
) -> None:
    """Leave attempts out of the figures after exclusion. The rows stay, and so do the first figures.

    Allowed only for what the evaluation had agreed to when the run was planned. ATTEMPT is an id or
    any ending of one that only one attempt has. Writes one page of decisions.

    \b
    Examples:
      evalbook exclude missing-department/3 --reason "the machine lost power during the attempt"
      evalbook exclude --evaluation terminal-bench --verdict infra_error --reason "no verdict in the source"
    """
    from evalbook.jobs.decide import exclude_attempts
    from evalbook.jobs.select import Selection

    chosen = Selection(evaluation, attempts, config, verdicts)
    done = exclude_attempts(options.folder(), chosen, reason=reason, clock=now, say=talk)
    answer(done.as_json() if as_json else done.as_text())


@click.command(short_help="Take an exclusion back, with a reason.")
@ids
@evaluation
@options.reason
@options.as_json
def reinstate(
    attempts: tuple[str, ...], evaluation: str | None, reason: str, *, as_json: bool
) -> None:
    """Take the exclusion of attempts back; both decisions stay in the book.

    \b
    Examples:
      evalbook reinstate missing-department/3 --reason "the log shows that power came back in time"
      evalbook reinstate k3f9/complete/1 k3f9/complete/2 --reason "excluded by mistake, see #31"
    """
    from evalbook.jobs.decide import reinstate_attempts
    from evalbook.jobs.select import Selection

    chosen = Selection(evaluation, attempts, None, ())
    done = reinstate_attempts(options.folder(), chosen, reason=reason, clock=now, say=talk)
    answer(done.as_json() if as_json else done.as_text())


@click.command(short_help="Attempt again, beside the original, with a reason.")
@ids
@evaluation
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="At a time.")
@options.reason
@options.as_json
def rerun(
    attempts: tuple[str, ...], evaluation: str | None, jobs: int, reason: str, *, as_json: bool
) -> None:
    """Record the decision to attempt again, then do it, in a run of its own.

    The original row stays. The new one stands in for it only where the original is excluded; every
    other rerun is shown apart. Material and config must still be those of the original.

    \b
    Examples:
      evalbook rerun missing-department/3 --reason "the machine lost power during the attempt"
      evalbook rerun k3f9/complete/1 --reason "does the crash come again?"
    """
    from evalbook.cli.progress import Terminal
    from evalbook.jobs.rerun import rerun_attempts
    from evalbook.jobs.select import Selection

    chosen = Selection(evaluation, attempts, None, ())
    with Terminal() as terminal:
        done = rerun_attempts(
            options.folder(), chosen, reason=reason, jobs=jobs, environment=dict(os.environ),
            clock=now, say=talk, progress=terminal.update,
        )  # fmt: skip
    said = done.answer()
    answer(said.as_json() if as_json else said.as_text())
