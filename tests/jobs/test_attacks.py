"""What an agent, or its owner, tries in order to have better figures."""

import json

from tests.jobs.conftest import Bench

SAYS_RECOVERY = """\
import json, os, pathlib
ws = pathlib.Path(os.environ["EVALBOOK_WORKSPACE"])
run = next(part for part in ws.parts if part.count("-") == 2 and part[0] == "2")
task, number = os.environ["EVALBOOK_TASK"], os.environ["EVALBOOK_ATTEMPT"]
pathlib.Path("out.txt").write_text(task if number == "1" else "?")
if number != "1":
    pathlib.Path(os.environ["EVALBOOK_REPORT"]).write_text(json.dumps({"recovery_of": f"{run}/{task}/1"}))
"""

SPOILS_FOLDERS = """\
import os, pathlib, shutil
ws = pathlib.Path(os.environ["EVALBOOK_WORKSPACE"])
run = next(p for p in ws.parents if p.name.count("-") == 2 and p.name[0] == "2")
for path in run.iterdir():
    if path.name != "attempts":
        for folder, _, files in os.walk(path):
            os.chmod(folder, 0o755)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        path.write_text("x")
for name in ("kept", "grading-work"):
    if not (run / name).exists():
        (run / name).write_text("x")
"""

EDITS_ITSELF = """\
import os, pathlib
me = pathlib.Path(__file__)
pathlib.Path("out.txt").write_text("?")
me.write_text(me.read_text() + "\\npathlib.Path('out.txt').write_text(os.environ['EVALBOOK_TASK'])\\n")
"""


def test_an_agent_cannot_talk_its_failures_out_of_the_figures(bench: Bench) -> None:
    (bench.folder / "agent.py").write_text(SAYS_RECOVERY)
    bench("freeze", "--reason", "first version")
    bench("run", "--config", "agent", "--task", "a")
    (config,) = bench("show", "--json").document["configs"]
    assert config["counts"]["planned"] == config["counts"]["executed"] == 4
    assert config["rate"]["attempts"]["value"] == 0.25


def test_an_agent_that_damages_the_runs_folders_has_failed_and_can_not_be_excluded(
    bench: Bench,
) -> None:
    (bench.folder / "agent.py").write_text(SPOILS_FOLDERS)
    bench("freeze", "--reason", "first version")
    done = bench("run", "--config", "agent", "--task", "a", "--attempts", "1", "--json").document
    assert done["verdicts"] == {"fail": 1}
    bench("exclude", "a/1", "--reason", "the infrastructure broke", code=2)


def test_no_attempt_is_made_with_an_agent_that_was_changed_during_the_run(bench: Bench) -> None:
    (bench.folder / "agent.py").write_text(EDITS_ITSELF)
    bench("freeze", "--reason", "first version")
    done = bench("run", "--config", "agent", "--task", "a", "--json").document
    assert "pass" not in done["verdicts"]
    rows = [
        json.loads(line)
        for page in (bench.top / "ledger").rglob("*-attempts-*.jsonl")
        for line in page.read_text().splitlines()
    ]
    assert all("agent.py was changed while the run was under way" in row["note"] for row in rows)
    bench("verify")


def test_an_evaluation_without_tasks_is_refused_in_one_line(bench: Bench) -> None:
    for task in ("a", "b"):
        for path in sorted((bench.folder / "tasks" / task).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (bench.folder / "tasks" / task).rmdir()
    assert "has no tasks" in bench("freeze", "--reason", "nothing", code=2).err


def test_a_time_limit_that_no_clock_takes_is_refused(bench: Bench) -> None:
    task = bench.folder / "tasks" / "a" / "task.toml"
    task.write_text(task.read_text().replace("time_limit_s = 20", "time_limit_s = 1e308"))
    assert "30 days" in bench("freeze", "--reason", "for ever", code=2).err
