"""One attempt leaves one row that says what happened, whatever the agent does."""

import json
import pickle
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from tests.run.folders import AGENT, CONFIG, TASK, evaluation_folder
from tests.run.sittings import jobs_of, run_agent, run_jobs

from evalbook.base.canonical import NamedDigest, manifest_digest
from evalbook.records.attempt import LEDGER_ARTIFACT_MAX, LEDGER_ATTEMPT_MAX, Attempt
from evalbook.records.pages import line_bytes, parse_line
from evalbook.run.attempt import execute_attempt

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs what only Linux has")
OPEN_TASK = {"tasks/hello/task.toml": TASK.replace('forbid = ["names.txt"]\n', "")}


def names(attempt: Attempt) -> list[str]:
    return [artifact.name for artifact in attempt.artifacts]


def test_a_right_agent_passes_and_its_row_says_everything(tmp_path: Path) -> None:
    attempt, rows = run_agent(
        tmp_path,
        AGENT
        + """
import json, os, sys
print("said")
print("moaned", file=sys.stderr)
with open(os.environ["EVALBOOK_TRACE"], "a") as trace:
    for kind in ("message", "tool_call", "stop"):
        trace.write(json.dumps({"kind": kind, "tokens_in": 5}) + "\\n")
with open(os.environ["EVALBOOK_REPORT"], "w") as report:
    json.dump({"tokens_in": 7, "tokens_out": 3, "cost": "0.0120", "currency": "EUR", "tool_retries": 2,
               "stop_reason": "done", "human_hints": ["left"], "human_seconds": 4.5}, report)
""",
    )

    assert (attempt.verdict, attempt.judged, attempt.failed_checks) == ("pass", True, ())
    assert (attempt.termination, attempt.exit_code, attempt.restored) == ("exited", 0, "verified")
    assert (attempt.cost, attempt.currency) == ("0.012", "EUR")
    assert (attempt.tokens_in, attempt.tokens_out, attempt.steps) == (7, 3, 3)
    assert (attempt.tool_retries, attempt.stop_reason) == (2, "done")
    assert (attempt.human_help, attempt.human_hints, attempt.human_seconds) == (1, ("left",), "4.5")
    assert attempt.seed == 11
    assert attempt.note is None
    assert [check.name for check in attempt.checks] == [
        "forbidden_paths", "time_limit", "greeting_right",
    ]  # fmt: skip
    assert names(attempt) == [
        "output/greeting.txt", "report.json", "stderr.txt", "stdout.txt", "trace.jsonl",
    ]  # fmt: skip
    assert rows.artifact(attempt, "output/greeting.txt") == b"hello Ada\n"
    assert rows.artifact(attempt, "stdout.txt") == b"said\n"
    assert attempt.trace_ref == sha256(rows.artifact(attempt, "trace.jsonl")).hexdigest()
    assert attempt.artifact_ref == manifest_digest(
        [NamedDigest("output/greeting.txt", sha256(b"hello Ada\n").hexdigest())]
    )
    assert parse_line(line_bytes(attempt)) == attempt


def test_a_silent_agent_leaves_what_is_unknown_unknown(tmp_path: Path) -> None:
    attempt, _ = run_agent(tmp_path, "")

    assert attempt.verdict == "fail"
    assert attempt.failed_checks == ("greeting_right",)
    assert (attempt.cost, attempt.currency) == ("unknown", None)
    assert (attempt.tokens_in, attempt.tool_retries, attempt.human_help) == (None, None, None)
    assert (attempt.artifact_ref, attempt.trace_ref, attempt.steps) == (None, None, None)
    assert attempt.artifacts == ()


def test_the_agent_gets_what_the_reference_promises(tmp_path: Path) -> None:
    code = """
import json, os
from pathlib import Path
told = {name: value for name, value in os.environ.items()}
told["cwd"] = os.getcwd()
for name in ("EVALBOOK_INSTRUCTION", "EVALBOOK_PROMPT"):
    told[name + " text"] = Path(os.environ[name]).read_text()
told["files"] = sorted(os.listdir())
Path("told.json").write_text(json.dumps(told))
"""
    attempt, rows = run_agent(
        tmp_path,
        code,
        files={"configs/agent.toml": CONFIG + '[permissions]\nenvironment = ["LEVEL", "UNSET"]\n'},
        environment={"LEVEL": "3", "OTHER": "no", "PYTHONPATH": "/nowhere"},
    )
    told = json.loads(rows.artifact(attempt, "output/told.json"))

    assert told["EVALBOOK_INSTRUCTION text"] == "Greet everybody in names.txt.\n"
    assert told["EVALBOOK_PROMPT text"] == "Be polite.\n"
    assert told["files"] == ["names.txt"]
    assert told["cwd"] == told["EVALBOOK_WORKSPACE"]
    assert (told["EVALBOOK_SEED"], told["EVALBOOK_TASK"], told["EVALBOOK_ATTEMPT"]) == (
        "11",
        "hello",
        "1",
    )
    assert (told["LEVEL"], told["LANG"], told["TZ"]) == ("3", "C.UTF-8", "UTC")
    assert set(told) & {"OTHER", "UNSET", "PYTHONPATH", "EVALBOOK_HISTORY"} == set()
    own = Path(told["cwd"]).parent
    assert {own} == {Path(told[name]).parent for name in ("HOME", "TMPDIR")}
    assert told["GIT_CEILING_DIRECTORIES"] == str(own)


def test_an_agent_that_types_git_does_not_reach_the_book(tmp_path: Path) -> None:
    code = "import subprocess; raise SystemExit(subprocess.run(['git', 'status']).returncode)"
    evaluation_folder(tmp_path)
    (tmp_path / ".git").mkdir()
    for name, text in {
        "HEAD": "ref: refs/heads/main\n",
        "config": "[core]\nbare = false\n",
    }.items():
        (tmp_path / ".git" / name).write_text(text)
    (tmp_path / ".git/objects").mkdir()
    (tmp_path / ".git/refs").mkdir()

    attempt, rows = run_agent(tmp_path, code)

    assert attempt.exit_code == 128
    assert b"not a git repository" in rows.artifact(attempt, "stderr.txt")


def test_a_config_with_history_hands_over_the_same_one_each_time(tmp_path: Path) -> None:
    code = "import os; open('greeting.txt', 'w').write(open(os.environ['EVALBOOK_HISTORY']).read())"
    files = {"configs/agent.toml": 'history = "h.jsonl"\n' + CONFIG, "h.jsonl": "hello Ada\n"}

    attempt, _ = run_agent(tmp_path, code, files=files)

    assert attempt.verdict == "pass"


def test_placeholders_of_the_command_are_filled_in(tmp_path: Path) -> None:
    command = 'command = ["{python}", "-c", "import sys; print(sys.argv[1:])", "{seed}", "{workspace}", "{x}"]'
    line = next(line for line in CONFIG.splitlines() if line.startswith("command"))

    attempt, rows = run_agent(
        tmp_path, "", files={"configs/agent.toml": CONFIG.replace(line, command)}
    )

    said = rows.artifact(attempt, "stdout.txt").decode()
    assert said.startswith("['11', '")
    assert said.endswith("/workspace', '{x}']\n")


def test_a_forbidden_path_fails_the_attempt_whatever_else_holds(tmp_path: Path) -> None:
    attempt, _ = run_agent(tmp_path, AGENT + "open('names.txt', 'a').write('Bob')")

    assert attempt.verdict == "fail"
    assert attempt.failed_checks == ("forbidden_paths",)
    assert attempt.checks[0].critical
    assert attempt.checks[0].failure_class == "out_of_bounds"
    assert attempt.checks[0].actual == "touched names.txt"


def test_an_attempt_over_its_time_is_a_timeout_even_when_all_else_holds(tmp_path: Path) -> None:
    files = {"tasks/hello/task.toml": TASK.replace("= 30", "= 0.5")}

    attempt, _ = run_agent(tmp_path, AGENT + "import time; time.sleep(60)", files=files)

    assert (attempt.verdict, attempt.termination) == ("timeout", "time_limit")
    assert attempt.failed_checks == ("time_limit",)
    assert [check.outcome for check in attempt.checks] == ["held", "failed", "held"]
    assert attempt.judged


def test_the_exit_code_alone_decides_nothing(tmp_path: Path) -> None:
    attempt, _ = run_agent(tmp_path, AGENT + "raise SystemExit(9)")

    assert (attempt.verdict, attempt.exit_code, attempt.termination) == ("pass", 9, "exited")


@pytest.mark.parametrize("command", ['["no-such-agent"]', '["{evaluation}/agents/greeter.py"]'])
def test_an_agent_that_cannot_be_started_is_no_failure_of_it(tmp_path: Path, command: str) -> None:
    line = next(line for line in CONFIG.splitlines() if line.startswith("command"))
    config = CONFIG.replace(line, f"command = {command}")

    attempt, _ = run_agent(tmp_path, "", files={"configs/agent.toml": config})

    assert (attempt.verdict, attempt.judged) == ("infra_error", False)
    assert (attempt.termination, attempt.exit_code) == ("not started", None)
    assert attempt.note is not None
    assert attempt.note.startswith("the agent could not be started: ")
    assert attempt.checks == ()


def test_a_grader_that_breaks_down_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    files = {
        "tasks/hello/task.toml": TASK + '[[check]]\nname = "graded"\nkind = "script"\n',
        "tasks/hello/grader.py": "raise RuntimeError('broken')",
    }

    attempt, _ = run_agent(tmp_path, AGENT, files=files)

    assert (attempt.verdict, attempt.judged, attempt.failed_checks) == ("infra_error", False, ())


def test_no_agent_hides_a_failure_by_breaking_the_grader(tmp_path: Path) -> None:
    files = {
        "tasks/hello/task.toml": TASK + '[[check]]\nname = "graded"\nkind = "script"\n',
        "tasks/hello/grader.py": "raise RuntimeError('broken')",
    }

    attempt, _ = run_agent(tmp_path, "", files=files)

    assert (attempt.verdict, attempt.failed_checks) == ("fail", ("greeting_right",))


def test_an_agent_that_kills_what_watches_it_still_fails(tmp_path: Path) -> None:
    attempt, _ = run_agent(tmp_path, "import os; os.kill(os.getppid(), 9)")

    assert (attempt.verdict, attempt.judged) == ("fail", True)
    assert attempt.termination == "launcher killed"


@pytest.mark.parametrize(
    "crime",
    [
        "shutil.rmtree(work)",
        "shutil.rmtree(work); work.symlink_to('/')",
        "shutil.rmtree(work); work.write_text('x')",
        "shutil.rmtree(work); os.mkfifo(work)",
        "shutil.rmtree(work.parent)",
    ],
)
def test_an_agent_that_does_away_with_its_workspace_fails(tmp_path: Path, crime: str) -> None:
    code = f"import os, shutil\nfrom pathlib import Path\nwork = Path.cwd()\n{crime}"

    attempt, _ = run_agent(tmp_path, code, files=OPEN_TASK)

    assert (attempt.verdict, attempt.judged) == ("fail", True)
    assert [(each.path, each.change) for each in attempt.touched] == [("names.txt", "deleted")]
    assert attempt.artifacts == ()


def test_links_pipes_and_odd_names_do_no_harm(tmp_path: Path) -> None:
    code = (
        AGENT
        + """
import os, socket
os.symlink("/etc/passwd", "stolen")
os.symlink("/", "world")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
open("two\\nlines", "w").write("x")
open(b"\\xff", "w").write("y")
os.mkdir("-rf"); open("-rf/*", "w").write("z")
"""
    )

    attempt, rows = run_agent(tmp_path, code)

    assert attempt.verdict == "pass"
    assert [each.path for each in attempt.touched] == [
        "-rf/*", "\\xff", "greeting.txt", "pipe", "socket", "stolen", "two\nlines", "world",
    ]  # fmt: skip
    assert [name.removeprefix("output/") for name in names(attempt)] == [
        "-rf/*", "\\xff", "greeting.txt", "two\nlines",
    ]  # fmt: skip
    assert b"root:" not in b"".join(rows.bytes.values())
    assert parse_line(line_bytes(attempt)) == attempt


@pytest.mark.parametrize("name", ["EVALBOOK_TRACE", "EVALBOOK_REPORT"])
@pytest.mark.parametrize(
    "act", ["os.symlink('/etc/passwd', path)", "os.mkfifo(path)", "os.mkdir(path)"]
)
def test_a_trace_or_report_that_is_no_file_is_not_read(tmp_path: Path, name: str, act: str) -> None:
    attempt, rows = run_agent(tmp_path, AGENT + f"import os; path = os.environ['{name}']; {act}")

    assert attempt.verdict == "pass"
    assert attempt.note is not None
    assert "is no regular file and was not read" in attempt.note
    assert b"root:" not in b"".join(rows.bytes.values())


@pytest.mark.parametrize(
    "report", ["", "{", "[]", "null", '{"cost": NaN}', '{"cost": -1}', "[" * 100_000, "\\xff", '{"a": "\\ud800"}']
)  # fmt: skip
def test_a_malformed_report_is_noted_and_decides_nothing(tmp_path: Path, report: str) -> None:
    code = (
        AGENT
        + f"import os; open(os.environ['EVALBOOK_REPORT'], 'wb').write({report!r}.encode('latin-1'))"
    )

    attempt, _ = run_agent(tmp_path, code)

    assert attempt.verdict == "pass"
    assert (attempt.cost, attempt.currency) == ("unknown", None)
    assert attempt.note is not None
    assert "report" in attempt.note
    assert parse_line(line_bytes(attempt)) == attempt


def test_dependencies_are_recorded_with_their_responses(tmp_path: Path) -> None:
    code = (
        AGENT
        + """
import json, os
from pathlib import Path
report = Path(os.environ["EVALBOOK_REPORT"])
(report.parent / "responses").mkdir()
(report.parent / "responses/1.json").write_text('{"rain": true}')
os.symlink("/etc/passwd", report.parent / "responses/2.json")
report.write_text(json.dumps({"dependencies": [
    {"name": "weather", "version": None, "at": "2026-11-30T22:18:04+01:00", "seconds": 0.25, "status": 200,
     "response_file": "responses/1.json"},
    {"name": "search", "version": "2", "rate_limited": True, "error": "429 slow down",
     "response_file": "responses/2.json"},
    {"name": "up", "response_file": "../given/instruction.md"},
    {"name": "away", "response_file": "/etc/passwd"},
    {"nameless": 1},
]}))
"""
    )
    attempt, rows = run_agent(tmp_path, code)

    weather, search, up, away = attempt.dependencies
    assert weather.at == "2026-11-30T21:18:04.000Z"
    assert (weather.version, weather.seconds, weather.status) == (None, "0.25", "200")
    assert weather.response_sha256 == sha256(b'{"rain": true}').hexdigest()
    assert rows.artifact(attempt, "responses/responses/1.json") == b'{"rain": true}'
    assert (search.rate_limited, search.error, search.response_sha256) == (
        True,
        "429 slow down",
        None,
    )
    assert (up.response_sha256, away.response_sha256) == (None, None)
    assert attempt.dependency_error == "429 slow down"
    assert attempt.note is not None
    assert "dependencies[4] has no name" in attempt.note


def test_a_secret_reaches_nothing_that_is_kept(tmp_path: Path) -> None:
    secret, other = "hunter2-hunter2", "s3cr3t-s3cr3t"
    code = (
        AGENT
        + """
import base64, json, os, sys
secret = os.environ["SERVICE_LOGIN"]
print("login", secret, "sk-abcdefgh1234567890")
print(secret, file=sys.stderr)
open("notes.txt", "w").write("I used " + secret)
open("data.bin", "wb").write(b"\\0\\xff" + secret.encode() + b"\\0" + base64.b64encode(secret.encode()))
open(secret + ".txt", "w").write("named")
open(os.environ["EVALBOOK_TRACE"], "w").write(json.dumps({"kind": "note", "result": secret}) + "\\n")
json.dump({"stop_reason": "used " + secret, "human_hints": [secret],
           "dependencies": [{"name": "api", "error": "bad " + secret}]}, open(os.environ["EVALBOOK_REPORT"], "w"))
open("leak.txt", "w").write("hello Ada s3cr3t-s3cr3t")
"""
    )
    check = '[[check]]\nname = "leaks"\nkind = "text_contains"\nfile = "notes.txt"\ntexts = ["nothing"]\n'
    files = {
        "configs/agent.toml": CONFIG + '[permissions]\nsecrets = ["SERVICE_LOGIN"]\n',
        "tasks/hello/task.toml": TASK + check,
    }

    attempt, rows = run_agent(
        tmp_path, code, files=files, environment={"SERVICE_LOGIN": secret, "MY_API_KEY": other}
    )

    kept = b"".join(rows.bytes.values()) + line_bytes(attempt)
    for word in (secret, other, "sk-abcdefgh1234567890"):
        assert word.encode() not in kept
    assert b"aHVudGVyMi1odW50ZXI" not in kept  # its base64
    assert rows.artifact(attempt, "output/notes.txt") == b"I used [scrubbed:SERVICE_LOGIN]"
    assert attempt.stop_reason == "used [scrubbed:SERVICE_LOGIN]"
    assert "output/[scrubbed:SERVICE_LOGIN].txt" in names(attempt)
    assert all(sha256(content).hexdigest() == digest for digest, content in rows.bytes.items())


def test_a_secret_that_is_not_handed_on_stays_with_us(tmp_path: Path) -> None:
    code = "import os; print('MY_API_KEY' in os.environ)"

    attempt, rows = run_agent(tmp_path, code, environment={"MY_API_KEY": "abcdefgh12"})

    assert rows.artifact(attempt, "stdout.txt") == b"False\n"


def test_a_flood_of_output_is_cut_and_said(tmp_path: Path) -> None:
    code = AGENT + "import sys\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)"
    files = {"configs/agent.toml": CONFIG + "[limits]\noutput_mb = 1\n"}

    attempt, rows = run_agent(tmp_path, code, files=files)

    assert attempt.verdict == "pass"
    out = rows.artifact(attempt, "stdout.txt")
    assert 1_000_000 < len(out) < 1_300_000
    assert b"bytes were cut here]" in out


def test_large_evidence_goes_into_the_store_and_the_ledger_takes_only_so_much(
    tmp_path: Path,
) -> None:
    code = AGENT + (
        f"open('big', 'w').write('x' * {LEDGER_ARTIFACT_MAX + 1})\n"
        "for n in range(12): open(f'{n:02}', 'w').write(chr(97 + n) * 30_000)\n"
        "open('same', 'w').write('a' * 30_000)\n"
    )

    attempt, _ = run_agent(tmp_path, code)

    places = {artifact.name: artifact.place for artifact in attempt.artifacts}
    assert places["output/big"] == "store"
    assert places["output/00"] == places["output/same"] == "ledger"
    small = {a.sha256: a.size for a in attempt.artifacts if a.place == "ledger"}
    assert LEDGER_ATTEMPT_MAX - 30_000 < sum(small.values()) <= LEDGER_ATTEMPT_MAX
    by_content = {(a.sha256, a.place) for a in attempt.artifacts}
    assert len({sha for sha, _ in by_content}) == len(by_content)


def test_too_many_files_are_counted_and_said(tmp_path: Path) -> None:
    code = AGENT + "for n in range(2_100): open(f'n{n:04}', 'w').write(str(n))"

    attempt, _ = run_agent(tmp_path, code)

    assert len([name for name in names(attempt) if name.startswith("output/")]) == 2_000
    assert len(attempt.touched) == 2_101
    assert attempt.note == "101 output files were not kept: too many, too large or unreadable"


def test_the_references_lie_in_no_folder_above_the_workspace(tmp_path: Path) -> None:
    code = """
from pathlib import Path
above = [Path.cwd(), *Path.cwd().parents]
ours = above[: 1 + [(folder / "evaluations").is_dir() for folder in above].index(True)]
print(len(ours) > 5, [p for folder in ours for name in ("expected*", "grader*") for p in folder.glob(name)])
"""
    attempt, rows = run_agent(tmp_path, code)

    assert rows.artifact(attempt, "stdout.txt") == b"True []\n"


def test_an_agent_cannot_change_what_it_is_graded_by(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
top = Path(sys.argv[0]).resolve().parents[3]
for path in [*top.rglob("expected/greeting.txt"), *top.rglob("grading/hello/expected/*")]:
    path.chmod(0o644)
    path.write_text("wrong")
    break
Path("greeting.txt").write_text("wrong")
"""
    attempt, _ = run_agent(tmp_path, code)

    assert (attempt.verdict, attempt.judged) == ("fail", True)


def test_without_the_frozen_references_there_is_no_verdict(tmp_path: Path) -> None:
    (job,) = jobs_of(evaluation_folder(tmp_path))
    for folder in (job.grading.folder, job.grading.source):
        (folder / "expected").chmod(0o755)
        (folder / "expected/greeting.txt").unlink()

    rows = run_jobs([job])

    assert (rows.attempts[0].verdict, rows.attempts[0].judged) == ("infra_error", False)
    assert rows.attempts[0].note is not None
    assert "could not be graded" in rows.attempts[0].note


def test_a_start_that_an_agent_changed_is_said_and_made_anew(tmp_path: Path) -> None:
    code = (
        AGENT
        + """
import os
path = Path.cwd().parents[3] / "start/hello/names.txt"
path.chmod(0o644)
path.write_text("Eve")
"""
    )
    folder = evaluation_folder(tmp_path, {"agents/greeter.py": code})

    rows = run_jobs(jobs_of(folder, attempts=2))

    assert [row.verdict for row in rows.attempts] == ["pass", "pass"]
    assert [row.restored for row in rows.attempts] == ["verified", "verified"]
    assert all("snapshot of the start was changed" in (row.note or "") for row in rows.attempts)


def test_without_a_verified_start_no_agent_runs(tmp_path: Path) -> None:
    (job,) = jobs_of(evaluation_folder(tmp_path))
    for folder in (job.start.folder, job.start.source):
        (folder / "names.txt").chmod(0o644)
        (folder / "names.txt").write_text("Eve")

    row = execute_attempt(job).attempt

    assert (row.verdict, row.judged, row.restored) == ("infra_error", False, "failed")
    assert row.termination == "start not verified"
    assert row.elapsed_seconds is None
    assert row.exit_code is None


def test_what_a_task_restores_is_set_back_before_the_next_attempt(tmp_path: Path) -> None:
    memory = tmp_path / "memory.txt"
    memory.write_text("clean")
    code = (
        AGENT
        + f"""
memory = Path({str(memory)!r})
print(memory.read_text())
memory.write_text("dirty")
"""
    )
    files = {"agents/greeter.py": code, "tasks/hello/task.toml": f'restore = ["{memory}"]\n{TASK}'}
    folder = evaluation_folder(tmp_path, files)

    rows = run_jobs(jobs_of(folder, attempts=3), slots=3)

    assert [rows.artifact(row, "stdout.txt") for row in rows.attempts] == [b"clean\n"] * 3
    assert memory.read_text() == "clean"
    assert {row.restored for row in rows.attempts} == {"verified"}


@LINUX
def test_a_process_that_was_left_behind_is_said(tmp_path: Path) -> None:
    code = AGENT + "import subprocess\nsubprocess.Popen(['sleep', '60'], start_new_session=True)"

    attempt, _ = run_agent(tmp_path, code)

    assert attempt.verdict == "pass"
    assert attempt.note == "processes still running when the agent had ended, killed: 1"


def test_memory_is_limited(tmp_path: Path) -> None:
    files = {"configs/agent.toml": CONFIG + "[limits]\nmemory_mb = 200\n"}

    attempt, rows = run_agent(tmp_path, "bytearray(1 << 29)", files=files)

    assert attempt.exit_code == 1
    assert b"MemoryError" in rows.artifact(attempt, "stderr.txt")


def test_a_job_can_travel_and_does_not_show_its_secrets(tmp_path: Path) -> None:
    (job,) = jobs_of(evaluation_folder(tmp_path), environment={"MY_TOKEN": "abcdefgh1234"})

    assert pickle.loads(pickle.dumps(job)) == job
    assert "abcdefgh1234" not in repr(job)
