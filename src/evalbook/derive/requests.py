"""Delivery per request: what the first attempt gave, and what was there in the end."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from evalbook.derive.book import Entry


class Delivery(NamedTuple):
    """How the requests behind some attempts were served; reruns belong to no request."""

    requests: int
    delivered_first: int
    """The first attempt passed."""
    delivered_finally: int
    """Some attempt passed: the first, a retry or a recovery."""
    attempts: int
    """All that were executed for these requests; one that never happened is not counted."""

    @property
    def retries(self) -> int:
        """Attempts beyond the first of each request."""
        return self.attempts - self.requests


def delivery_of(entries: Iterable[Entry]) -> Delivery:
    """Return how the requests were served, in the order in which ``entries`` come.

    A recovery serves the request of the attempt whose conversation it carried on.
    """
    served: dict[str, list[bool]] = defaultdict(list)
    request_of: dict[str, str] = {}
    for entry in entries:
        row = entry.attempt
        if row.rerun_of is not None:
            continue
        request = request_of.get(row.recovery_of or "", row.request_id)
        request_of[row.attempt_id] = request
        served[request].append(row.passed)
    return Delivery(
        requests=len(served),
        delivered_first=sum(verdicts[0] for verdicts in served.values()),
        delivered_finally=sum(any(verdicts) for verdicts in served.values()),
        attempts=sum(len(verdicts) for verdicts in served.values()),
    )
