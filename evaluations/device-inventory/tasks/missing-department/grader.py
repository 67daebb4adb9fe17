"""Says whether both result files can be read as the tables that were asked for.

Started by evalbook with one argument, a JSON file that names the folders; prints one finding a file.
"""

import csv
import json
import sys
from pathlib import Path

COLUMNS = {"summary.csv": ["department", "devices"], "exceptions.csv": ["device_id", "reason"]}


def trouble(path, columns):
    """Return what is wrong with a file, in words; None when it can be read."""
    if not path.is_file():
        return "is not there"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        return f"can't be read: {error}"
    if not rows or sorted(rows[0]) != sorted(columns):
        return "has other columns"
    ragged = [number for number, row in enumerate(rows, 1) if row and len(row) != len(columns)]
    return f"row {ragged[0]} has another number of cells" if ragged else None


workspace = Path(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["workspace"])
for name, columns in COLUMNS.items():
    found = trouble(workspace / name, columns)
    finding = {
        "name": name,
        "held": found is None,
        "expected": f"a CSV file with the columns {', '.join(columns)}",
        "actual": found or "readable",
        "evidence": name,
    }
    print(json.dumps(finding))
