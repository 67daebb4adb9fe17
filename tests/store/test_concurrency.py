"""Many processes write to one repository at once; every row lands, and so does the user's own work."""

import subprocess
import sys
import time
from pathlib import Path

from tests.builders import Clock
from tests.store.scenes import assert_only_added, git, linked, plain, rows_in, started_repository

from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger
from evalbook.store.recovery import recover

PROJECT = Path(__file__).resolve().parents[2]

USER = """
n=0
while [ ! -e stop ]; do
    n=$((n + 1))
    echo $n > user-$n
    # Another program's lock makes git give up at once, as it would for any user; they try again.
    until git add user-$n 2>> ../refusals; do :; done
    until git commit --quiet -m "user $n" 2>> ../refusals; do sleep 0.02; done
    sleep 0.1
done
"""


def write_run(top: Path, run: str, attempts: int, threads: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.write_run", str(top), run, str(attempts), str(threads)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes: list["subprocess.Popen[str]"]) -> list[str]:
    """The ids of all attempts that were called finished, once every process has come to its end."""
    said: list[str] = []
    for process in processes:
        out, err = process.communicate()
        assert process.returncode == 0, err
        said += out.split()
    return said


def ignore_our_folder(top: Path) -> None:
    (top / ".git" / "info" / "exclude").write_text("/.evalbook/\n")  # as `evalbook init` does


def test_sixteen_processes_appending_fifty_rows_each_lose_none(tmp_path: Path) -> None:
    with started_repository(tmp_path / "made") as made:
        top = plain(made, tmp_path)
        ignore_our_folder(top)
        (top / "b.txt").write_text("staged\n")
        git(top, "add", "b.txt")
        runs = [f"20261130-21{number:02d}-aaaa" for number in range(16)]
        said = finish([write_run(top, run, 50, 1) for run in runs])
        assert len(said) == 800
        assert sorted(rows_in(made)) == sorted(said)
        assert git(top, "status", "--porcelain") == "M  b.txt\n"
        assert_only_added(top)


def test_two_runs_and_a_user_who_commits_all_the_time_lose_nothing_of_each_other(
    tmp_path: Path,
) -> None:
    with started_repository(tmp_path / "made") as made:
        top = plain(made, tmp_path)
        (top / ".git" / "info" / "exclude").write_text("/.evalbook/\n/stop\n")
        user = subprocess.Popen(["sh", "-c", USER], cwd=top)
        try:
            runs = ("20261130-2118-aaaa", "20261130-2118-bbbb")
            said = finish([write_run(top, run, 40, 2) for run in runs])
        finally:
            (top / "stop").touch()
            user.wait()
        assert len(said) == 80
        assert sorted(rows_in(made)) == sorted(said)
        commits = git(top, "log", "--format=%s").splitlines()
        numbers = sorted(int(text.split()[1]) for text in commits if text.startswith("user "))
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) > 3
        for number in numbers:
            assert git(top, "show", f"HEAD:user-{number}") == f"{number}\n"
        assert git(top, "log", "--diff-filter=DMRT", "--format=%h", "--", "ledger/") == ""
        assert git(top, "status", "--porcelain") == ""
        assert_only_added(top)


def test_two_work_trees_write_their_own_branches_at_once(tmp_path: Path) -> None:
    with started_repository(tmp_path / "made") as made:
        ignore_our_folder(plain(made, tmp_path))
        side = linked(made, tmp_path)
        runs = {plain(made, tmp_path): "20261130-2118-aaaa", side: "20261130-2118-bbbb"}
        said = finish([write_run(top, run, 20, 1) for top, run in runs.items()])
        assert len(said) == 40
        with Repository(side) as repository:
            assert sorted({*rows_in(made), *rows_in(repository)}) == sorted(said)
            assert not set(rows_in(made)) & set(rows_in(repository))
        for top in runs:
            assert git(top, "status", "--porcelain") == ""
            assert_only_added(top)


def test_a_user_who_switches_branches_during_a_run_finds_every_row_on_one_of_them(
    tmp_path: Path,
) -> None:
    with started_repository(tmp_path / "made") as made:
        top = plain(made, tmp_path)
        ignore_our_folder(top)
        run = "20261130-2118-aaaa"
        process = write_run(top, run, 60, 2)
        assert process.stdout is not None
        said = [process.stdout.readline().strip()]
        branches = ["main"]
        for number in range(8):
            branch = f"topic-{number}"
            while subprocess.run(
                ["git", "switch", "--quiet", "-c", branch], cwd=top, stderr=subprocess.DEVNULL, check=False
            ).returncode:  # fmt: skip
                time.sleep(0.005)  # the index was locked for a moment
            branches.append(branch)
            said.append(process.stdout.readline().strip())
        said += finish([process])
        with Repository(top) as repository:
            recover(Ledger(repository, clock=Clock()), ArtifactStore.of(repository))
            assert sorted(rows_in(repository)) == sorted(said)
        assert git(top, "status", "--porcelain") == ""
        assert_only_added(top)
