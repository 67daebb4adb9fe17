"""A repository with a small evaluation whose agent does what its seed says."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

EVALUATION = """\
title = "Letters"
constructed = true
attempts = 4
k = [1, 2]
seeds = [1, 2, 3, 4]
[exclusion]
allowed = ["infra_error"]
"""

TASK = """\
title = "Write {letter}"
time_limit_s = 20
forbid = ["keep.txt"]
[[check]]
name = "right"
kind = "bytes_equal"
file = "out.txt"
expected = "out.txt"
failure_class = "misread_contract"
"""

CONFIG = """\
version = "v1"
agent = "letters 1"
model = "scripted"
command = ["python3", "{evaluation}/agent.py"]
currency = "USD"
"""

AGENT = """\
import json, os, pathlib
seed = int(os.environ["EVALBOOK_SEED"])
text = pathlib.Path(os.environ["EVALBOOK_INSTRUCTION"]).read_text().strip()[-1]
pathlib.Path("out.txt").write_text(text if seed % 2 or text == "a" else "?")
pathlib.Path(os.environ["EVALBOOK_REPORT"]).write_text(json.dumps({"cost": "0.5"}))
print("seed", seed, os.environ.get("MY_TOKEN", ""))
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


class Bench(NamedTuple):
    """A repository, and the command line to use on it."""

    top: Path

    def __call__(self, *arguments: str, code: int = 0, env: dict[str, str] | None = None) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "evalbook", "-C", str(self.top), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.top,
            env={**os.environ, **(env or {})},
        )
        assert done.returncode == code, (
            f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.top, capture_output=True, text=True, check=True
        )
        return done.stdout

    @property
    def folder(self) -> Path:
        return self.top / "evaluations" / "letters"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two tasks, ``a`` that always passes and ``b`` that passes with odd seeds; committed, not frozen."""
    bench = Bench(tmp_path / "bench")
    bench.top.mkdir()
    bench.git("init", "--quiet")

    def write(name: str, text: str) -> None:
        path = bench.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write("evaluation.toml", EVALUATION)
    write("configs/agent.toml", CONFIG)
    write("agent.py", AGENT)
    for letter in "ab":
        write(f"tasks/{letter}/task.toml", TASK.format(letter=letter))
        write(f"tasks/{letter}/instruction.md", f"Write the letter {letter}\n")
        write(f"tasks/{letter}/start/keep.txt", "keep\n")
        write(f"tasks/{letter}/expected/out.txt", letter)
    (bench.top / ".gitignore").write_text("/.evalbook/\n/site/\n")
    bench.git("add", ".")
    bench.git("commit", "--quiet", "-m", "the evaluation")
    return bench


@pytest.fixture
def measured(bench: Bench) -> Bench:
    """The same, frozen and run once."""
    bench("freeze", "--reason", "first version")
    bench("run", "--config", "agent", "--jobs", "2")
    return bench
