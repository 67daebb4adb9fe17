import json

import pytest
from tests.run.checks.graded import Desk, lay

from evalbook.records.attempt import CheckOutcome, TouchedFile

READ = "import json, sys, pathlib\nsaid = json.loads(pathlib.Path(sys.argv[1]).read_text())\n"


def graded(desk: Desk, code: str, **facts: object) -> CheckOutcome:
    lay(desk.task, {"grader.py": READ + code})
    return desk.outcome("script", **facts)


def printing(value: object) -> str:
    return f"print({json.dumps(value)!r})\n"


@pytest.mark.parametrize(
    "code",
    [
        printing({"held": True}),
        printing([{"name": "a", "held": True}, {"name": "b", "held": True}]),
        printing({"held": True}) + "print()\n" + printing({"held": True}),
        "print('note', file=sys.stderr)\n" + printing({"held": True}),
    ],
    ids=["object", "list", "lines", "notes on stderr"],
)
def test_findings_come_as_an_object_a_list_or_lines(desk: Desk, code: str) -> None:
    assert graded(desk, code).outcome == "held"


def test_the_first_finding_that_does_not_hold_is_shown_with_the_names_of_all(desk: Desk) -> None:
    findings = [
        {"name": "one", "held": True},
        {"name": "two", "held": False, "expected": "4", "actual": "5", "evidence": "a.txt"},
        {"name": "three", "held": False},
    ]
    found = graded(desk, printing(findings))
    assert found.outcome == "failed"
    assert (found.expected, found.actual) == ("two: 4", "5")
    assert found.evidence == "a.txt; not held: two, three"


def test_a_grader_is_told_where_everything_lies(desk: Desk) -> None:
    desk.with_files({"left.txt": "L"}, {"want.txt": "W"})
    lay(desk.top / "start", {"given.txt": "G"})
    desk.touched = (TouchedFile(path="left.txt", change="created", sha256="a" * 64),)
    code = """
folder = lambda name: pathlib.Path(said[name])
assert (folder("workspace") / "left.txt").read_text() == "L"
assert (folder("expected") / "want.txt").read_text() == "W"
assert (folder("start") / "given.txt").read_text() == "G"
assert (folder("task") / "grader.py").is_file() and (folder("evaluation") / "tasks").is_dir()
assert said["touched"] == [{"path": "left.txt", "change": "created", "sha256": "a" * 64}]
assert said["elapsed_seconds"] == "1.5" and said["trace"] is None
(folder("workspace") / "left.txt").write_text("written by the grader")
print('{"held": true}')
"""
    found = graded(desk, code)
    assert found.outcome == "held", found.actual
    assert (desk.workspace / "left.txt").read_text() == "L"


def test_modules_of_the_workspace_are_not_imported_by_a_grader(desk: Desk) -> None:
    desk.with_files({"csv.py": "print('[{\"held\": true}]'); raise SystemExit(0)"})
    code = "import csv\nprint(json.dumps({'held': hasattr(csv, 'reader')}))\n"
    assert graded(desk, code).outcome == "held"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise ValueError('totals')", "exit code 1"),
        (printing({"held": True}) + "sys.exit(2)", "exit code 2"),
        ("", "printed no findings"),
        (printing([]), "printed no findings"),
        ("print('all good')", "printed no findings"),
        (printing({"held": "yes"}), "printed no findings"),
        (printing({"name": "a"}), "printed no findings"),
        (printing({"held": True, "score": 3}), "printed no findings"),
        (printing({"held": True}) + "print('done')", "printed no findings"),
        ("print('[' * 100000)", "printed no findings"),
        ("sys.stdout.buffer.write(b'\\xff')", "printed no findings"),
        ("print('{\"held\": true}\\n' * 100000)", "printed more than 1 MiB"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was ended"),
    ],
)
def test_a_grader_that_breaks_down_is_no_failure_of_the_agent(
    desk: Desk, code: str, why: str
) -> None:
    found = graded(desk, code, failure_class="tool_misuse")
    assert (found.outcome, found.failure_class) == ("error", None)
    assert why in found.actual


def test_a_grader_that_takes_too_long_breaks_down(desk: Desk) -> None:
    found = graded(desk, "while True: pass", time_limit_s=0.3)
    assert (found.outcome, found.actual) == ("error", "grader.py did not end within 0.3 s")


def test_a_missing_grader_breaks_the_check(desk: Desk) -> None:
    assert desk.outcome("script").outcome == "error"
