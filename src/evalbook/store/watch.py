"""Keeping a page in the user's index while a commit of theirs may be about to overwrite it.

`git commit` reads the index and locks it afterwards. One that has read it before our page came, and
locks it after we have let go, writes the old one back. The branch has moved, so that commit fails;
but the next would delete the page, with nobody wishing it. Every git program can lose another's
`git add` in this way; a book can't afford it.
"""

import time
from collections.abc import Mapping

from evalbook.store.checkout import Checkout
from evalbook.store.git import Repository
from evalbook.store.intent import index_held

_WATCHED_S = 0.02
"""How long a program may take from reading the index to locking it."""
_POLL_S = 0.001
_SWITCHED_S = 0.02
"""How long after writing the index `git switch` may take to move HEAD."""
_REPAIRS = 50


def keep_in_index(
    repository: Repository, checkout: Checkout, ref: str, blobs: Mapping[str, str]
) -> None:
    """Watch the user's index for a moment, and put the new paths back where they were lost.

    Call it right after the index was let go, while holding the lock of `writing`.
    """
    if not blobs:
        return
    path = min(blobs)  # they come and go together
    for _ in range(_REPAIRS):
        if _stays(checkout, path):
            return
        with index_held(repository) as intent:
            time.sleep(_SWITCHED_S)
            tip = repository.head()
            if repository.head_ref() != ref or tip is None or not _has(repository, tip, path):
                return  # the user went to another branch, or back to before: it does not belong there
            intent.says(ref, tip, blobs)
            checkout.take(checkout.index_with(blobs))


def _stays(checkout: Checkout, path: str) -> bool:
    until = time.monotonic() + _WATCHED_S
    while time.monotonic() < until:
        if not checkout.knows(path):
            return False
        time.sleep(_POLL_S)
    return True


def _has(repository: Repository, tip: str, path: str) -> bool:
    return bool(repository.run("ls-tree", "--full-tree", tip, "--", path).out)
