"""How a run looks while it runs: a line for every finished attempt, on stderr."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from evalbook.cli.shell import talk

if TYPE_CHECKING:
    from evalbook.run.session import Progress


class Terminal:
    """Tells on stderr what a run is doing; `-q` silences it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def update(self, progress: "Progress") -> None:
        """Say what was just finished, how far the run is, what it has cost and how long it may take."""
        row = progress.last
        if row is None:
            return
        costs = [f"{each.amount:f} {each.currency}" for each in progress.costs]
        if progress.unknown_costs:
            costs.append(f"{progress.unknown_costs} costs unknown")
        left = (
            f", about {_duration(progress.left_s)} left"
            if progress.left_s and progress.left_s >= 1
            else ""
        )
        seen = dict(progress.verdicts)[row.task_id]
        number = row.attempt_id.rpartition("/")[2]
        talk(
            f"[{progress.done}/{progress.planned}] {row.task_id} {number} {row.verdict}"
            f"  ({''.join(_MARKS[verdict] for verdict in seen)}; {', '.join(costs)}{left})"
        )


_MARKS = {"pass": "+", "fail": "x", "timeout": "t", "infra_error": "?"}
_MINUTE_S = 60


def _duration(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 2 * _MINUTE_S else f"{whole // _MINUTE_S} min"
