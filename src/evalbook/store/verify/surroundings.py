"""What in the repository itself could hide the past from a reader."""

import os
from collections.abc import Iterator, Mapping

from evalbook.base.problems import Finding
from evalbook.store.git import Repository
from evalbook.store.verify.added import Addition
from evalbook.store.verify.walk import History

WHOLE = "whole-history"
SUBSTITUTES = "no-substitutes"


def boundary(repository: Repository) -> frozenset[str]:
    """Return the commits whose parents a shallow clone did not bring along; none for a whole one."""
    if not repository.is_shallow():
        return frozenset()
    listed = repository.common_dir / "shallow"
    return frozenset(listed.read_text("ascii").split())


def cut_off(history: History, commits: frozenset[str]) -> Iterator[Finding]:
    """Yield each place at which a shallow clone ends: nothing before it could be checked."""
    for step in history.steps:
        if step.commit in commits:
            message = "history is cut off here (shallow clone): `git fetch --unshallow`, then verify again"
            yield Finding("weakness", WHOLE, message, step.commit)


def substitutes(
    repository: Repository, history: History, additions: Mapping[str, Addition]
) -> Iterator[Finding]:
    """Yield replace refs and grafts, with the page or commit that other tools show otherwise.

    They are ignored here, so nothing is hidden from this verification.
    """
    listed = repository.run("for-each-ref", "--format=%(refname)", "refs/replace/").out
    paths = {added.blob: path for path, added in additions.items()}
    commits = {step.commit for step in history.steps}
    for ref in os.fsdecode(listed).split():
        replaced = ref.rpartition("/")[2]
        path, commit = paths.get(replaced), replaced if replaced in commits else None
        message = f"{ref} makes git show something else here; `git replace -d {replaced}` undoes it"
        yield Finding("weakness", SUBSTITUTES, message, commit, path)
    grafts = repository.common_dir / "info" / "grafts"
    if grafts.is_file() and grafts.read_text("utf-8", "replace").strip():
        message = "info/grafts makes git show other parents than the commits have; remove that file"
        yield Finding("weakness", SUBSTITUTES, message)
