#!/usr/bin/env python3
"""Set up this checkout, then run one of its jobs.

    python3 dev.py demo [OPTIONS]    the worked example, from freezing to a finished site and report
    python3 dev.py test [OPTIONS]    run the tests
    python3 dev.py check             format, lint, types and import floors
    python3 dev.py bench [NAME]      CPU seconds against named peers, as ratios

Needs Python 3.11 with pip, and git. Everything else goes into .venv, which
may be deleted at any time. Uses only the standard library.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PIP = "pip==26.3"

JOBS = {
    "demo": ((), [["evalbook", "demo"]]),
    "test": (("test",), [["pytest"]]),
    "bench": (("test",), [["python", "-m", "tests.benchmarks"]]),
    "check": (
        ("test", "lint"),
        [["ruff", "format", "--check"], ["ruff", "check"], ["mypy"], ["lint-imports"]],
    ),
}
"""Job name: the dependency groups it needs, and the commands it runs."""


def prepare(groups):
    """Bring .venv up to date with pyproject.toml and constraints.txt."""
    key = hashlib.sha256(f"{sys.version}\n{ROOT}".encode())
    for name in ("pyproject.toml", "constraints.txt"):
        key.update((ROOT / name).read_bytes())

    def is_ready(group):
        stamp = VENV / f"ready-{group}"
        return stamp.is_file() and stamp.read_text() == key.hexdigest()

    wanted = ["package", *groups]
    if all(map(is_ready, wanted)):
        return
    print("dev.py: installing into .venv (about half a minute)", file=sys.stderr)
    if not is_ready("package"):
        # --without-pip: Debian's python3 has no ensurepip until python3-venv is installed.
        run([sys.executable, "-m", "venv", "--clear", "--without-pip", VENV])
    python = BIN / "python"
    quiet = ["install", "-qq", "--disable-pip-version-check"]
    run([sys.executable, "-m", "pip", "--python", python, *quiet, PIP])
    options = [option for group in groups for option in ("--group", group)]
    run([python, "-m", "pip", *quiet, "-c", "constraints.txt", "--editable", ".", *options])
    for group in wanted:
        (VENV / f"ready-{group}").write_text(key.hexdigest())


def run(command):
    """Run one command from the top of the checkout; stop here with its code if it fails."""
    code = subprocess.run([str(part) for part in command], cwd=ROOT).returncode
    if code:
        print(f"dev.py: failed ({code}): {' '.join(map(str, command))}", file=sys.stderr)
        sys.exit(code)


def main(arguments):
    """Run the named job."""
    if sys.version_info < (3, 11):
        sys.exit(f"dev.py: needs Python 3.11 or newer, this is {sys.version.split()[0]}")
    if not arguments or arguments[0] not in JOBS:
        sys.exit(__doc__)
    groups, commands = JOBS[arguments[0]]
    prepare(groups)
    for command in commands:
        run([BIN / command[0], *command[1:], *arguments[1:]])


if __name__ == "__main__":
    main(sys.argv[1:])
