"""A page stays in the user's index though a commit that was under way writes the old one back."""

import os
import threading
import time
from pathlib import Path

from tests.builders import RUN, Clock
from tests.store.scenes import PLAN, git, plain

from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger, NewPage

PAGE = NewPage(f"ledger/inventory/runs/agent/{RUN}", (PLAN,), "plan")


class StalledCommit(threading.Thread):
    """What `git commit` does to the index when it has read it before us and locks it after us."""

    def __init__(self, git_dir: Path) -> None:
        super().__init__()
        self._index = git_dir / "index"
        self._lock = git_dir / "index.lock"
        self._read = self._index.read_bytes()
        self._seen = self._index.stat().st_ino
        self.wrote = False

    def run(self) -> None:
        until = time.monotonic() + 30
        while self._index.stat().st_ino == self._seen and time.monotonic() < until:
            time.sleep(0.0005)
        while not self.wrote and time.monotonic() < until:
            try:
                handle = os.open(self._lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                time.sleep(0.0005)
                continue
            os.write(handle, self._read)
            os.close(handle)
            self._lock.replace(self._index)
            self.wrote = True


def test_an_old_index_that_is_written_back_does_not_take_the_page_out(made: Repository) -> None:
    top = plain(made, Path())
    stalled = StalledCommit(made.git_dir)
    stalled.start()
    (path,) = Ledger(made, clock=Clock()).append(PAGE).paths
    stalled.join()
    assert stalled.wrote
    assert git(top, "status", "--porcelain") == ""
    git(top, "commit", "--quiet", "--allow-empty", "-m", "the user tries again")
    assert git(top, "ls-tree", "--name-only", "HEAD", path).strip() == path


def test_what_the_user_takes_out_later_is_their_own_business(made: Repository) -> None:
    top = plain(made, Path())
    ledger = Ledger(made, clock=Clock())
    (path,) = ledger.append(PAGE).paths
    git(top, "rm", "--quiet", "--cached", path)
    ledger.settle()
    assert git(top, "status", "--porcelain") == f"D  {path}\n?? ledger/\n"
