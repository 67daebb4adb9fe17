"""A process that is killed at any moment loses nothing it has called finished."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.builders import RUN, Clock
from tests.store.scenes import assert_only_added, git, plain, rows_in, started_repository

from evalbook.records.attempt import Attempt
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger
from evalbook.store.reading import read_book
from evalbook.store.recovery import recover

PROJECT = Path(__file__).resolve().parents[2]
REAL_GIT = subprocess.run(
    ["sh", "-c", "command -v git"], capture_output=True, text=True, check=True
).stdout.strip()

INTERPOSED = """#!/bin/sh
# Counts the commands of one kind that are run under our name, and strikes whoever runs the chosen one.
case " $* " in
*STRUCK*) ;;
*) exec "$STRIKE_GIT" "$@" ;;
esac
count=$(($(cat "$STRIKE_COUNT") + 1))
echo $count > "$STRIKE_COUNT"
if [ $count -ne "$STRIKE_AT" ]; then exec "$STRIKE_GIT" "$@"; fi
if [ "$STRIKE" = KILL-after ]; then
    "$STRIKE_GIT" "$@"
    touch "$STRIKE_COUNT.done"
    kill -KILL $PPID
    exit 0
fi
if [ "$STRIKE" = OUTLIVED ]; then
    # An update-ref that is told to commit, and does so after its caller has died.
    while read -r line; do
        told="$told$line\\n"
        case "$line" in
        start | prepare) echo "$line: ok" ;;
        commit) break ;;
        esac
    done
    kill -KILL $PPID
    sleep 0.2
    printf "$told" | "$STRIKE_GIT" "$@" > /dev/null
    touch "$STRIKE_COUNT.done"
    exit 0
fi
kill -"$STRIKE" $PPID
sleep 0.2 # whoever comes next is there before we have done what we were told
"$STRIKE_GIT" "$@"
code=$?
touch "$STRIKE_COUNT.done"
exit $code
"""


def repository_at_work(top: Path) -> Repository:
    """A repository in which the user is in the middle of something."""
    repository = started_repository(top)
    (top / ".git" / "info" / "exclude").write_text("/.evalbook/\n")  # as `evalbook init` ignores it
    (top / "b.txt").write_text("staged\n")
    git(top, "add", "b.txt")
    (top / "b.txt").write_text("staged, then changed\n")
    (top / "untracked").write_text("")
    return repository


def assert_as_the_user_left_it(top: Path) -> None:
    assert git(top, "status", "--porcelain") == "MM b.txt\n?? untracked\n"
    assert git(top, "show", ":b.txt") == "staged\n"
    assert (top / "b.txt").read_text() == "staged, then changed\n"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Repository]:
    with repository_at_work(tmp_path / "made") as repository:
        yield repository


def write_run(
    top: Path, attempts: int, threads: int, **environment: str
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.write_run", str(top), RUN, str(attempts), str(threads)],
        cwd=PROJECT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def wait_for(file: Path) -> None:
    """Wait until a git that outlived its caller has done what it was told."""
    for _ in range(1_000):
        if file.exists():
            file.unlink()
            return
        time.sleep(0.01)
    pytest.fail("the struck git never ended")


def assert_nothing_is_lost(repository: Repository, said: list[str]) -> None:
    top = plain(repository, Path())
    found = rows_in(repository)
    assert max(Counter(found).values(), default=1) == 1, "a row is there twice"
    assert set(said) <= set(found), "a row that was called finished is lost"
    head = repository.head()
    assert head is not None
    judged = {
        line.record.attempt_id
        for page in read_book(repository, head).pages
        for line in page.lines
        if isinstance(line.record, Attempt) and line.record.judged
    }
    assert set(said) <= judged, "a finished row became an interrupted one"
    store = ArtifactStore.of(repository)
    for page in read_book(repository, head).pages:
        for line in page.lines:
            for artifact in line.record.artifacts if isinstance(line.record, Attempt) else ():
                if artifact.place == "store":
                    assert len(store.read(artifact.sha256)) == artifact.size
                else:
                    sha = artifact.sha256
                    git(top, "cat-file", "-e", f"HEAD:ledger/inventory/artifacts/{sha[:2]}/{sha}")
    assert_as_the_user_left_it(top)
    assert not (repository.git_dir / "index.lock").exists()
    assert_only_added(top)


@pytest.mark.parametrize("seed", range(5))
def test_ten_kills_at_random_moments_of_a_run_with_four_threads_lose_nothing(
    made: Repository, seed: int
) -> None:
    top = plain(made, Path())
    moment = random.Random(seed)
    said: list[str] = []
    for _ in range(10):
        process = write_run(top, 400, 4)
        assert process.stdout is not None
        said += [process.stdout.readline().strip() for _ in range(moment.randrange(1, 12))]
        time.sleep(moment.random() * 0.1)  # where in its work it is hit
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().split()
        process.wait()
        process.stdout.close()
    for found in recover(Ledger(made, clock=Clock()), ArtifactStore.of(made)):
        assert found.held_up is None
    assert len(said) >= 10
    assert "" not in said
    assert_nothing_is_lost(made, said)


@pytest.mark.parametrize(
    ("strike", "command", "part"),
    [
        *(("KILL", "*", part) for part in range(4)),
        *(("INT", "*", part) for part in range(4)),
        *(("KILL-after", "update-ref", part) for part in range(2)),
        *(("OUTLIVED", "update-ref", part) for part in range(2)),
    ],
)
def test_whatever_git_was_doing_when_its_caller_was_struck_nothing_is_lost(
    tmp_path: Path, strike: str, command: str, part: int
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").write_text(INTERPOSED.replace("STRUCK", command))
    (tools / "git").chmod(0o755)
    count = tmp_path / "count"
    step = 4 if command == "*" else 2
    for at in range(1 + part, 50, step):
        count.write_text("0\n")
        with repository_at_work(tmp_path / f"made-{at}") as repository:
            process = write_run(
                plain(repository, tmp_path), 1, 1, PATH=f"{tools}:{os.environ['PATH']}",
                STRIKE=strike, STRIKE_AT=str(at), STRIKE_COUNT=str(count), STRIKE_GIT=REAL_GIT,
            )  # fmt: skip
            said = process.communicate()[0].split()
            recover(Ledger(repository, clock=Clock()), ArtifactStore.of(repository))
            if int(count.read_text()) >= at:
                wait_for(tmp_path / "count.done")
            assert_nothing_is_lost(repository, said)
        if int(count.read_text()) < at:
            return  # the run came to its end before that
    pytest.fail("the run uses more git than this test strikes")
