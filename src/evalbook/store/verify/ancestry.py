"""Which commits are ancestors of which."""

from collections import Counter
from collections.abc import Sequence

from evalbook.store.verify.walk import Step


class Ancestry:
    """Answers for any two commits of a walk, exactly, at once.

    Commits are gathered into segments: stretches in which each has one parent and is its only
    child. Whoever reaches one commit of a segment from outside reaches all of it, so one set of
    segments per segment is all there is to know; a set is the bits of a whole number.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        numbers = {step.commit: step.number for step in steps}
        parents = [tuple(numbers[p] for p in step.parents if p in numbers) for step in steps]
        children = Counter(parent for each in parents for parent in set(each))
        self._segment: list[int] = []
        self._reach: list[int] = []
        for above in parents:
            if len(above) == 1 and children[above[0]] == 1:
                self._segment.append(self._segment[above[0]])
                continue
            self._segment.append(len(self._reach))
            reach = 0
            for parent in above:
                segment = self._segment[parent]
                reach |= self._reach[segment] | 1 << segment
            self._reach.append(reach)

    def precedes(self, earlier: int, later: int) -> bool:
        """Whether the step ``earlier`` is a true ancestor of the step ``later``; never of itself."""
        above, below = self._segment[earlier], self._segment[later]
        if above == below:
            return earlier < later
        return bool(self._reach[below] >> above & 1)
