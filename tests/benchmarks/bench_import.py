"""CPU of appending imported rows in bulk, against raw ``git fast-import`` of the same bytes.

Ours makes the records, their canonical bytes and digests, streams them, moves the branch and brings the
user's index and work tree along; the peer is handed finished bytes. The rows are 200 runs of 50.
"""

import tempfile
from pathlib import Path

from tests.benchmarks.measuring import cpu_of
from tests.builders import Clock, plan_of, rows_of

from evalbook.records.pages import page_bytes, page_kind, page_path, run_folder
from evalbook.store.git import Repository
from evalbook.store.ledger import Ledger, NewPage

_RUNS = 200
_ROWS = 50


def pages() -> list[NewPage]:
    """One page of plan and one of rows for each run."""
    made = []
    for number in range(_RUNS):
        plan = plan_of(
            {"complete": _ROWS}, run=f"20261130-{number // 60:02d}{number % 60:02d}-bulk"
        )
        folder = run_folder(plan.evaluation, plan.config, plan.run_id)
        made.append(NewPage(folder, (plan,), "plan"))
        made.append(NewPage(folder, tuple(rows_of(plan, {"complete": "p" * _ROWS})), "rows"))
    return made


def stream(wanted: list[NewPage]) -> bytes:
    """The same pages as a finished fast-import stream."""
    parts = [b"reset refs/heads/main\n\n"]
    for page in wanted:
        content = page_bytes(page.records)
        kind = page_kind(page.records)
        path = page_path(page.folder, "2026-11-30T21:18:04.000Z", kind, content)
        parts.append(b"commit refs/heads/main\ncommitter A <a@example.org> 1764537484 +0000\n")
        parts.append(b"data %d\n%s\n" % (len(page.subject), page.subject.encode()))
        parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content))
    return b"".join([*parts, b"done\n"])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Repository.create(Path(folder) / "ours") as repository:
            repository.run("config", "user.name", "A")
            repository.run("config", "user.email", "a@example.org")
            ours = cpu_of(lambda: Ledger(repository, clock=Clock()).append_bulk(pages()))
        with Repository.create(Path(folder) / "peer") as repository:
            raw = stream(pages())
            peer = cpu_of(lambda: repository.run("fast-import", "--quiet", "--done", stdin=raw))
            packed = cpu_of(lambda: repository.run("repack", "-adfq"))
    rows = _RUNS * (_ROWS + 1)
    print(
        f"evalbook, bulk import   {ours.cpu_s / rows * 1e6:7.0f} µs CPU a row, {rows} rows, repacked"
    )
    print(f"git fast-import         {peer.cpu_s / rows * 1e6:7.0f} µs CPU a row of the same bytes")
    print(f"and its repack -adf     {packed.cpu_s / rows * 1e6:7.0f} µs CPU a row")
    print(
        f"ratio                   {ours.cpu_s / (peer.cpu_s + packed.cpu_s):7.2f}   with the repack on both sides"
    )
    print(f"                        {ours.cpu_s / peer.cpu_s:7.2f}   against fast-import alone")
