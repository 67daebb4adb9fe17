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
        """Say what has happened."""
        talk(str(progress))
