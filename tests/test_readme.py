"""What the README shows is what happens."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalbook.cli.main import cli
from evalbook.records.checks import Check
from evalbook.records.config import Config, Limits, Permissions
from evalbook.records.evaluation import Evaluation
from evalbook.records.task import Task

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def console_blocks() -> list[str]:
    return re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", console_blocks())
def test_every_console_block_runs_as_it_stands(block: str, tmp_path: Path) -> None:
    script = "\n".join(
        line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")
    )
    bin_folder = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "my-evals" / "site" / "index.html").is_file()


def test_there_is_a_console_block_to_run() -> None:
    assert console_blocks()


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_is_named_in_the_readme(name: str) -> None:
    assert re.search(rf"evalbook (?:-\S+ )*{name}\b|`{name}`", README)


def test_every_exit_code_of_the_help_stands_in_the_readme() -> None:
    said = CliRunner().invoke(cli, ["--help"]).output
    for code in re.findall(r"^ +(\d+) {2,}", said[said.index("Exit codes") :], re.MULTILINE):
        assert f"| {code} |" in README


def keys(model: type) -> set[str]:
    return set(getattr(model, "model_fields"))  # noqa: B009 - the models share no typed base here


@pytest.mark.parametrize(
    ("section", "models"),
    [
        ("### evaluation.toml", (Evaluation,)),
        ("### configs/", (Config, Permissions, Limits)),
        ("### task.toml", (Task,)),
    ],
)
def test_every_key_that_people_write_is_in_the_reference(
    section: str, models: tuple[type, ...]
) -> None:
    text = re.split(r"\n##", README.partition(section)[2])[0]
    for model in models:
        for key in keys(model):
            assert re.search(rf"\b{key}\b", text), f"{section} does not name {key}"


def test_every_kind_of_check_is_in_the_reference() -> None:
    union = Check.__origin__.__args__  # type: ignore[attr-defined]
    for model in union:
        kind = model.model_fields["kind"].annotation.__args__[0]
        assert f"`{kind}`" in README


def test_the_wheel_carries_templates_and_example(tmp_path: Path) -> None:
    top = Path(__file__).resolve().parents[1]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path), str(top)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(tmp_path / "lib"), str(wheel)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    program = "from evalbook.present.templates import packaged_folder as p; from evalbook.jobs.example import example_folder as e; print(p()); print(e())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "lib")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    for line in done.stdout.splitlines():
        assert line.startswith(str(tmp_path / "lib"))
