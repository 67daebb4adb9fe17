"""The one place where errors become text and exit codes."""

import os
import sys
import traceback
from typing import Never

import click

from evalbook.base.exits import BUG, DONE, INTERRUPTED
from evalbook.base.problems import UserError

EXIT_CODES = """\b
Exit codes:
  0    done, or yes
  1    ran, and the answer is no (regression, critical failure, gate)
  2    could not run (usage, configuration, no repository)
  3    a bug in evalbook
  4    not enough data to judge
  5    nothing was measured
  6    the ledger does not verify
  130  interrupted"""


class Cli(click.Group):
    """A group that ends every command in one of the documented exit codes."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; the person sees an error, never a traceback, unless it is our bug."""
        try:
            return super().invoke(ctx)
        except UserError as error:
            _show(error, ctx)
            ctx.exit(error.exit_code)
        except (KeyboardInterrupt, click.Abort) as stop:
            click.echo(f"interrupted{_says(stop)}", err=True)
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BrokenPipeError:
            _close_quietly()
        except Exception:  # noqa: BLE001 - the last stop before the shell
            self._report_bug(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which a book is made, not by the alphabet."""
        del ctx
        return list(self.commands)

    @staticmethod
    def _report_bug(ctx: click.Context) -> Never:
        traceback.print_exc()
        click.echo("hint: this is a bug in evalbook; please report the lines above", err=True)
        ctx.exit(BUG)


def _show(error: UserError, ctx: click.Context) -> None:
    """Print one ``error:`` line and at most one ``hint:`` line on stderr."""
    if ctx.params.get("debug"):
        traceback.print_exception(error)
    click.secho(f"error: {error}", err=True, fg="red", color=ctx.color)
    if error.hint:
        click.echo(f"hint: {error.hint}", err=True)


def _says(stop: BaseException) -> str:
    return f": {stop}" if str(stop) else ""


def _close_quietly() -> Never:
    """End as ``| head`` expects: no traceback, and none from Python's own last flush either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise click.exceptions.Exit(DONE)


def answer(text: str) -> None:
    """Print what was asked for, on stdout."""
    click.echo(text, nl=not text.endswith("\n"))


def talk(text: str) -> None:
    """Say something by the way, on stderr; silent with ``-q``."""
    context = click.get_current_context(silent=True)
    if context is None or not context.find_root().params.get("quiet"):
        click.echo(text, err=True)
