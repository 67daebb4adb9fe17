"""Scripted agent for the device inventory, version 1: made up, but it really does the work.

Reads devices.csv in the folder it starts in and writes summary.csv and exceptions.csv beside it. Seed
and input decide together whether it slips, and how: as a model with that seed would, it does the same again.
"""

import csv
import datetime
import hashlib
import json
import os
import time
from pathlib import Path

TEMPER = "8"
SLIPS = {
    "drop rows without a department": 0.4,
    "count every row": 0.4,
    "keep the first department": 0.6,
}
"""What version 1 gets wrong, and how often."""

SEED = os.environ.get("EVALBOOK_SEED", "0")
DEVICES = Path("devices.csv")


def slips(what):
    """Whether this seed makes the agent slip on this input."""
    chance = SLIPS.get(what, 0)
    text = f"{TEMPER}/{SEED}/{what}/".encode() + DEVICES.read_bytes()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") < chance * 2**32


class Trace:
    """Writes one step a line for evalbook."""

    def __init__(self):
        self.path = os.environ.get("EVALBOOK_TRACE")
        self.steps = 0

    def step(self, kind, **said):
        self.steps += 1
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        line = {"index": self.steps, "time": now, "kind": kind, **said}
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def write(trace, name, header, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    trace.step("edit", tool="write_file", arguments={"path": name}, result=f"{len(rows)} rows")


def read_instruction(trace):
    """Note what was asked: the first line of the instruction, and how long the prompt is."""
    asked, prompt = (
        Path(os.environ[name]).read_text(encoding="utf-8") if os.environ.get(name) else ""
        for name in ("EVALBOOK_INSTRUCTION", "EVALBOOK_PROMPT")
    )
    title = asked.partition("\n")[0].lstrip("# ")
    trace.step("message", result=title or "no instruction", tokens_in=len(asked + prompt) // 4)


def read(trace):
    with open(DEVICES, encoding="utf-8", newline="") as file:
        rows = [(row["device_id"], row["department"]) for row in csv.DictReader(file)]
    trace.step("tool_call", tool="read_file", arguments={"path": str(DEVICES)}, result=f"{len(rows)} rows")
    return rows


def sort_out(trace, rows):
    """Return the departments of each device, and the exceptions."""
    exceptions = []
    if slips("drop rows without a department"):
        rows = [row for row in rows if row[1]]
        trace.step("message", result="went on with the rows that have a department")
    departments = {}
    for device, department in rows:
        departments.setdefault(device, []).append(department)
    for device, named in departments.items():
        if "" in named:
            exceptions.append((device, "no department"))
            departments[device] = []
        elif slips("count every row"):
            continue
        elif len(set(named)) > 1 and slips("keep the first department"):
            departments[device] = named[:1]
        elif len(set(named)) > 1:
            exceptions.append((device, "two departments"))
            departments[device] = []
        else:
            departments[device] = named[:1]
    return departments, exceptions


def main():
    trace = Trace()
    started = time.monotonic()
    read_instruction(trace)
    rows = read(trace)
    if slips("sort the list in place"):
        write(trace, str(DEVICES), ("device_id", "department"), sorted(rows, reverse=True))
    departments, exceptions = sort_out(trace, rows)
    counts = {}
    for named in departments.values():
        for department in named:
            counts[department] = counts.get(department, 0) + 1
    time.sleep(0.2)  # a real agent thinks
    write(trace, "summary.csv", ("department", "devices"), sorted(counts.items()))
    write(trace, "exceptions.csv", ("device_id", "reason"), sorted(exceptions))
    trace.step("stop", result="both files are written")
    tokens = 40 * len(rows) + 600
    report = {
        "tokens_in": tokens,
        "tokens_out": tokens // 4,
        "cost": f"{tokens / 10_000:.4f}",
        "currency": "CNY",
        "tool_retries": 0,
        "stop_reason": "both files are written",
    }
    if os.environ.get("EVALBOOK_REPORT"):
        Path(os.environ["EVALBOOK_REPORT"]).write_text(json.dumps(report), encoding="utf-8")
    print(f"done in {time.monotonic() - started:.1f} s: {len(counts)} departments, {len(exceptions)} exceptions")


main()
