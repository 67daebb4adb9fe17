"""Rule 4, in order: what a record rests on came in an earlier commit."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from evalbook.base.problems import Finding
from evalbook.store.verify.added import RULE as ADDED_ONLY
from evalbook.store.verify.added import Addition
from evalbook.store.verify.ancestry import Ancestry
from evalbook.store.verify.catalogue import Catalogue, Place
from evalbook.store.verify.walk import History

RULE = "in-order"

Relation = Literal["before", "same", "unseen", "not before"]
"""How one place stands to another: in an ancestor of its commit; in the same commit; lost in a
shallow clone, where history was cut off; or none of these."""

_WORST: tuple[Relation, ...] = ("not before", "same", "unseen", "before")


class Chronology:
    """Tells which commit came first; dates are no proof, ancestors are."""

    def __init__(self, history: History, boundary: Collection[str]) -> None:
        self._ancestry = Ancestry(history.steps)
        self._cut = {step.number for step in history.steps if step.commit in boundary}

    def relation(self, earlier: Place, later: Place) -> Relation:
        """Return how ``earlier`` stands to ``later``; of several commits that added it, the worst."""
        each = {self._one(earlier.steps, step) for step in later.steps}
        return next(relation for relation in _WORST if relation in each)

    def _one(self, earlier: tuple[int, ...], later: int) -> Relation:
        if any(self._ancestry.precedes(step, later) for step in earlier):
            return "before"
        if later in self._cut:
            return "unseen"
        return "same" if later in earlier else "not before"

    def reaches(self, earlier: int, later: int) -> bool:
        """Whether the step ``earlier`` is ``later`` or an ancestor of it."""
        return earlier == later or self._ancestry.precedes(earlier, later)


class Link(NamedTuple):
    """Two records of which the later rests on the earlier."""

    earlier: Place
    later: Place
    message: str
    """What the later one is to the earlier: ``the exclusion of attempt …``."""
    subject: str
    """What the earlier one is: ``its row``."""
    together: Literal["doubtful", "fine"] = "doubtful"
    """What it means when both came in one commit."""


def in_order(
    catalogue: Catalogue, chronology: Chronology, links: Iterable[Link]
) -> Iterator[Finding]:
    """Yield what did not come after the thing it rests on, or can't be shown to have.

    In the same commit it is a weakness: squash merges do that to honest books too.
    """
    for link in links:
        relation = chronology.relation(link.earlier, link.later)
        if relation == "not before":
            where = f"{link.earlier.path}, commit {catalogue.commit(link.earlier)[:12]}"
            message = f"{link.message} was not committed after {link.subject} ({where})"
            yield catalogue.finding("violation", RULE, message, link.later)
        elif relation == "same" and link.together == "doubtful":
            message = (
                f"{link.message} came in the same commit as {link.subject}: "
                "it can't be shown which was there first"
            )
            yield catalogue.finding("weakness", RULE, message, link.later)


def foreign_roots(
    history: History, chronology: Chronology, additions: Mapping[str, Addition]
) -> Iterator[Finding]:
    """Yield a weakness for every other beginning of history that brought files of the book along.

    Honest books can be joined that way, but nothing shows what stood before.
    """
    numbers = {step.commit: step.number for step in history.steps}
    roots = [step.number for step in history.steps if not step.parents]
    main = len(history.steps) - 1
    while history.steps[main].parents:
        main = numbers[history.steps[main].parents[0]]
    for root in roots:
        paths = [
            added.path
            for added in (additions.values() if root != main else ())
            if all(chronology.reaches(root, step) for step in added.steps)
            and not any(chronology.reaches(main, step) for step in added.steps)
        ]
        if paths:
            message = f"a history without link to the first was merged in with {len(paths)} files"
            commit = history.steps[root].commit
            yield Finding("weakness", ADDED_ONLY, message, commit, min(paths))
