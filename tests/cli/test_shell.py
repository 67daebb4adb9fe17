"""How a command ends: tried on the real program, and on a group with commands that go wrong."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from evalbook.base.problems import UserError
from evalbook.cli.main import cli
from evalbook.cli.shell import Cli


@click.group(cls=Cli)
@click.option("--debug", is_flag=True)
def group(*, debug: bool) -> None:
    """A group whose commands go wrong."""


@group.command()
def fixable() -> None:
    """Raise what a person can fix."""
    raise UserError("the cup is empty", hint="fill it")


@group.command()
def broken() -> None:
    """Raise what is our bug."""
    nothing: dict[str, str] = {}
    _ = nothing["missing"]


@group.command()
def stopped() -> None:
    """Be interrupted."""
    raise KeyboardInterrupt("go on with `evalbook run --resume x`")


def test_what_a_person_can_fix_is_two_lines_and_exit_code_two() -> None:
    result = CliRunner().invoke(group, ["fixable"])
    assert (result.exit_code, result.stdout, result.stderr) == (
        2,
        "",
        "error: the cup is empty\nhint: fill it\n",
    )


def test_debug_shows_where_an_expected_error_came_from() -> None:
    result = CliRunner().invoke(group, ["--debug", "fixable"])
    assert "Traceback" in result.stderr
    assert result.exit_code == 2


def test_a_bug_shows_its_traceback_and_is_exit_code_three() -> None:
    result = CliRunner().invoke(group, ["broken"])
    assert result.exit_code == 3
    assert "KeyError" in result.stderr
    assert "bug in evalbook" in result.stderr


def test_an_interrupt_says_how_to_go_on() -> None:
    result = CliRunner().invoke(group, ["stopped"])
    assert (result.exit_code, result.stderr) == (
        130,
        "interrupted: go on with `evalbook run --resume x`\n",
    )


def test_usage_is_exit_code_two_and_names_the_near_command() -> None:
    result = CliRunner().invoke(cli, ["shwo"])
    assert result.exit_code == 2
    assert "show" in result.stderr


def commands() -> list[str]:
    return sorted(cli.commands)


@pytest.mark.parametrize("name", commands())
def test_every_command_explains_itself_with_examples(name: str) -> None:
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0
    assert "\\b" not in result.output, "click wants a real backspace, not one in a raw string"
    command = cli.commands[name]
    if not isinstance(command, click.Group):
        assert result.output.count(f"evalbook {name}") >= 3, "usage and two examples"
    assert len(command.get_short_help_str()) <= 60


def test_no_command_needs_a_repository_to_explain_itself(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evalbook", "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Exit codes" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    "arguments", [["show"], ["log"], ["verify"], ["report"], ["build"], ["export", "csv"]]
)
def test_outside_a_repository_every_command_says_so(tmp_path: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evalbook", "-C", str(tmp_path), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "is not in a git repository" in done.stderr
    assert "evalbook init" in done.stderr


def test_help_stays_cheap_by_importing_no_job(tmp_path: Path) -> None:
    program = "import sys; from evalbook.cli.main import cli; print(*sorted(m for m in sys.modules if m.split('.')[0] in {'pydantic', 'git', 'jinja2', 'rich', 'httpx', 'fsspec'}))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
