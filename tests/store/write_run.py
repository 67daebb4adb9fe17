"""A process that writes a run with several threads, and says what it has finished.

    python -m tests.store.write_run FOLDER RUN ATTEMPTS THREADS

It recovers what was left, begins or resumes the run, and prints the id of every attempt for which
`RunWriter.finished` has returned.
"""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from tests.builders import plan_of, row_of

from evalbook.base.canonical import sha256_hex
from evalbook.base.files import KeptFile
from evalbook.records.attempt import Artifact
from evalbook.records.fields import attempt_parts
from evalbook.records.plan import Plan
from evalbook.store.artifacts import ArtifactStore
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger
from evalbook.store.recovery import recover
from evalbook.store.rows import run_text
from evalbook.store.writer import RunWriter


def now() -> datetime:
    return datetime.now(UTC)


def folder_of(plan: Plan) -> str:
    return f"ledger/{plan.evaluation}/runs/{plan.config}/{plan.run_id}"


def main(folder: Path, run: str, attempts: int, threads: int) -> None:
    plan = plan_of({"complete": attempts}, run=run)
    with Repository(folder) as repository:
        ledger, store = Ledger(repository, clock=now), ArtifactStore.of(repository)
        recover(ledger, store)
        began = run_text(repository, repository.head(), folder_of(plan)) is not None
        open_writer = RunWriter.resume if began else RunWriter.begin
        said = threading.Lock()
        with open_writer(ledger, store, plan, now) as writer:

            def attempt(attempt_id: str) -> None:
                number = attempt_parts(attempt_id).number
                writer.started(attempt_id)
                content = f"what attempt {number} printed\n".encode()
                file = folder.parent / f"{run}-{number}.txt"
                file.write_bytes(content)
                place: Literal["ledger", "store"] = "ledger" if number % 2 else "store"
                kept = Artifact(
                    name="stdout.txt", role="log", sha256=sha256_hex(content), size=len(content), place=place
                )  # fmt: skip
                row = row_of(plan, "complete", number, "pf"[number % 3 == 0], artifacts=(kept,))
                writer.finished(row, (KeptFile(kept.sha256, file),))
                with said:
                    print(attempt_id, flush=True)

            with ThreadPoolExecutor(threads) as executor:
                list(executor.map(attempt, writer.without_row()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
