"""CPU of verifying a book of 10,000 commits against `git log -m --raw` of the same history."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.builders import PERSON, plan_of, row_of
from tests.store.verify.builder import Leaf, freeze_of, page

from evalbook.records.plan import Plan
from evalbook.store.git import Repository
from evalbook.store.verify.added import added_only
from evalbook.store.verify.verify import verify
from evalbook.store.verify.walk import walk

COMMITS = 10_000
RUNS = 40
MERGES = 100
TIMES = 3
AIM = 2.0


def main() -> None:
    """Build the history once, measure each side a few times, print the least of each."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Repository.create(Path(folder) / "book") as repository,
    ):
        repository.run("fast-import", "--quiet", stdin=b"".join(_history()))
        repository.run("repack", "-adfq")
        commits = int(repository.run("rev-list", "--count", "HEAD").out)
        head = repository.resolve("HEAD")
        log = min(_cpu(lambda: _log(repository)) for _ in range(TIMES))
        trees = min(_cpu(lambda: _walked(repository, head)) for _ in range(TIMES))
        whole = min(_cpu(lambda: _verified(repository)) for _ in range(TIMES))
    print(f"{commits} commits, a row each; git log -m --raw, which reads trees: {log:.2f} s CPU")
    print(f"rule 1, which reads trees too: {trees:.2f} s CPU, ratio {trees / log:.2f}")
    print(f"all seven rules, every row read and judged: {whole:.2f} s CPU, ratio {whole / log:.2f}")
    print(f"(aim: under {AIM:.0f})")


def _walked(repository: Repository, head: str) -> None:
    if added_only(repository, walk(repository, head), frozenset()).findings:
        raise RuntimeError("the benchmark's own book was changed")


def _verified(repository: Repository) -> None:
    seen = verify(repository)
    if (seen.outcome, seen.findings) != ("verified", ()):
        raise RuntimeError(f"the benchmark's own book is {seen.outcome}")


def _log(repository: Repository) -> None:
    subprocess.run(
        ["git", "-C", str(repository.work_tree), "log", "-m", "--raw", "HEAD"],
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _cpu(work: Callable[[], None]) -> float:
    """Return the CPU seconds of ``work``, user and system, its finished children included."""
    before = os.times()
    work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def _history() -> Iterator[bytes]:
    """Yield a fast-import stream: one row a commit, runs one after the other, side lines merged."""
    tasks = [f"task-{number:02d}" for number in range(50)]
    per_run = (COMMITS - 1 - MERGES) // RUNS - 1
    each = -(-per_run // len(tasks))
    plans = [
        plan_of(dict.fromkeys(tasks, each), run=f"20261130-2118-{number:04d}")
        for number in range(RUNS)
    ]
    leaves = [freeze_of(plans[0])]
    for plan in plans:
        leaves += _run(plan, tasks, each)[: per_run + 1]
    mark, every = 0, len(leaves) // MERGES
    for place, leaf in enumerate(leaves):
        mark += 1
        side = place % every == every - 1
        # The last page of each stretch comes on a line of its own, and is merged at once.
        yield _commit(
            mark, [mark - 1] if mark > 1 else [], leaf, "refs/heads/side" if side else None
        )
        if side:
            mark += 1
            yield _commit(mark, [mark - 2, mark - 1], leaf)


def _run(plan: Plan, tasks: list[str], each: int) -> list[Leaf]:
    rows = (row_of(plan, task, number) for number in range(1, each + 1) for task in tasks)
    return [page(plan), *(page(row, plan=plan) for row in rows)]


def _commit(mark: int, parents: list[int], leaf: Leaf, ref: str | None = None) -> bytes:
    words = b"from", b"merge"
    return b"".join(
        [
            f"commit {ref or 'refs/heads/main'}\nmark :{mark}\n".encode(),
            f"committer {PERSON} {1_796_000_000 + mark} +0000\ndata 0\n".encode(),
            *(b"%s :%d\n" % (words[place > 0], parent) for place, parent in enumerate(parents)),
            f"M 100644 inline {leaf.path}\ndata {len(leaf.content)}\n".encode(),
            leaf.content,
            b"\n",
        ]
    )


if __name__ == "__main__":
    main()
