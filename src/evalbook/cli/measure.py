"""Commands that freeze, run and read results in."""

import os
from pathlib import Path

import click

from evalbook.base.exits import NOTHING_MEASURED
from evalbook.cli import options
from evalbook.cli.clock import now
from evalbook.cli.shell import answer, talk


@click.command(short_help="Record what an evaluation's material is, with a reason.")
@options.evaluation
@options.reason
@options.as_json
def freeze(evaluation: str | None, reason: str, *, as_json: bool) -> None:
    """Hash everything that an evaluation measures with, and commit the digests to the book.

    Reads evaluations/EVALUATION; writes one page under ledger/EVALUATION/materials. Only what
    changed since the last freeze is recorded again. A run refuses material that was not frozen.

    \b
    Examples:
      evalbook freeze device-inventory --reason "first version"
      evalbook freeze device-inventory --reason "expected rows of task 2 were wrong: see #12"
    """
    from evalbook.jobs.freeze import freeze_evaluation

    frozen = freeze_evaluation(options.folder(), evaluation, reason=reason, clock=now, say=talk)
    answer(frozen.as_json() if as_json else frozen.as_text())


@click.command(short_help="Attempt every task with one config.")
@options.evaluation
@click.option("--config", metavar="NAME", help="Which of evaluations/EVALUATION/configs to run.")
@click.option(
    "--attempts", type=click.IntRange(1), help="Per task; default: as the evaluation says."
)
@click.option("--task", "tasks", multiple=True, metavar="TASK", help="Only this task; repeatable.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="At a time.")
@click.option("--resume", metavar="RUN", help="Go on with a run that was interrupted.")
@options.as_json
def run(
    *,
    evaluation: str | None,
    config: str | None,
    attempts: int | None,
    tasks: tuple[str, ...],
    jobs: int,
    resume: str | None,
    as_json: bool,
) -> None:
    """Commit a plan, then make every planned attempt and commit its row, whatever comes of it.

    Each attempt gets a fresh copy of the frozen start state. Ctrl-C keeps what is finished; so does
    a crash, and the next command commits it. Prints the id of the run.

    \b
    Examples:
      evalbook run device-inventory --config agent --jobs 4
      evalbook run --resume 20261130-2118-k3f9
    """
    from evalbook.cli.progress import Terminal
    from evalbook.jobs.run import Order, run_evaluation

    order = Order(evaluation, config, attempts, tasks, jobs, resume, dict(os.environ))
    with Terminal() as terminal:
        done = run_evaluation(
            options.folder(), order, clock=now, say=talk, progress=terminal.update
        )
    said = done.answer()
    answer(said.as_json() if as_json else said.as_text())
    if not done.judged:
        talk("no attempt came to a verdict of its own: nothing was measured")
        click.get_current_context().exit(NOTHING_MEASURED)


@click.command("import", short_help="Read in the results of another tool.")
@click.argument("source", type=click.Choice(["tau-bench", "terminal-bench", "csv"]))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--evaluation",
    metavar="NAME",
    help="Into this evaluation; default: SOURCE's name, but a csv must name it.",
)
@click.option("--config", metavar="NAME", help="Name of the config; default: as the source says.")
@click.option("--label", metavar="VERSION", help="Its version; default: as the source says.")
@click.option("--reason", metavar="TEXT", default="results read in", show_default=True)
@options.as_json
def import_results(
    *,
    source: str,
    files: tuple[Path, ...],
    evaluation: str | None,
    config: str | None,
    label: str | None,
    reason: str,
    as_json: bool,
) -> None:
    """Read result files of SOURCE into the book, row by row, with where each row came from.

    The rules of evaluations/NAME/evaluation.toml hold where that file exists; without it nothing
    may be excluded. The same file a second time adds nothing; rows that contradict the book are
    refused, and rows that are gone from the file are named.

    \b
    Examples:
      evalbook import tau-bench gpt-4o-airline.json --evaluation airline
      evalbook import terminal-bench runs/2025-09-* --label 2025-09
    """
    from evalbook.jobs.read_in import Request, read_in

    request = Request(source, files, evaluation, config, label, reason)
    done = read_in(options.folder(), request, clock=now, say=talk)
    answer(done.as_json() if as_json else done.as_text())
    click.get_current_context().exit(done.exit_code)
