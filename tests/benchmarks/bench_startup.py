"""CPU of ``evalbook --help`` against a click program with as many commands and no work."""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_TIMES = 15

_BARE = '''
import click

@click.group(epilog="Exit codes: 0 done")
@click.version_option("1")
@click.option("-q", "quiet", is_flag=True, help="Quiet.")
def cli(quiet):
    """A program that does nothing."""

for number in range(14):
    @cli.command(f"command{number}", short_help="Do nothing at all.")
    @click.argument("name", required=False)
    @click.option("--json", "as_json", is_flag=True, help="JSON.")
    def command(name, as_json):
        """Do nothing."""

cli()
'''


def cpu_seconds(command: list[str]) -> float:
    """The CPU, user and system, that one run of a command takes."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(_BARE)
        ours, peer = [], []
        for _ in range(_TIMES):  # by turns, so that a noisy moment falls on both
            ours.append(cpu_seconds([sys.executable, "-m", "evalbook", "--help"]))
            peer.append(cpu_seconds([sys.executable, str(bare), "--help"]))
    mine, theirs = statistics.median(ours), statistics.median(peer)
    print(f"evalbook --help   {mine * 1000:6.0f} ms CPU, median of {_TIMES}")
    print(f"bare click        {theirs * 1000:6.0f} ms CPU")
    print(f"ratio             {mine / theirs:6.2f}   (aim: under 1.5)")
