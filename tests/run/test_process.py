"""A command ends when it must, and so does everything it has started."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from evalbook.run.process import Capped, Ended, allow_all, run_command, stop_all

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs subreapers, which only Linux has")


@pytest.fixture(autouse=True)
def _allowed() -> Iterator[None]:
    allow_all()
    yield
    allow_all()


def run(
    folder: Path,
    code: str,
    *,
    limits: dict[str, int] | None = None,
    time_limit_s: float = 20,
    most_output: int = 100_000,
    grace_s: float = 0.2,
    environment: dict[str, str] | None = None,
) -> Ended:
    return run_command(
        [sys.executable, "-c", code],
        folder=folder,
        environment={"PATH": "/usr/bin:/bin", **(environment or {})},
        limits=limits or {},
        time_limit_s=time_limit_s,
        most_output=most_output,
        grace_s=grace_s,
    )


def is_alive(pid: int) -> bool:
    with suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


def written_pid(path: Path) -> int:
    end = time.monotonic() + 10
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < end, "the process never wrote its id"
        time.sleep(0.01)
    return int(path.read_text())


def test_output_and_exit_code_come_back(tmp_path: Path) -> None:
    ended = run(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

    assert (ended.how, ended.exit_code, ended.problem) == ("exited", 3, None)
    assert (ended.stdout, ended.stderr) == (b"out\n", b"err\n")
    assert 0 < ended.elapsed_s < 20
    assert ended.elapsed_s == round(ended.elapsed_s, 3)


def test_the_environment_is_exactly_what_was_given(tmp_path: Path) -> None:
    code = "import os; print(sorted(set(os.environ) - {'LC_CTYPE'})); print(os.getcwd())"

    ended = run(tmp_path, code, environment={"GIVEN": "1"})

    assert ended.stdout.decode().splitlines() == [
        "['EVALBOOK_PROCESS', 'GIVEN', 'PATH']",
        str(tmp_path),
    ]


def test_standard_input_is_empty_and_no_descriptor_is_left_open(tmp_path: Path) -> None:
    code = (
        "import os, sys; print(repr(sys.stdin.read())); print(sorted(os.listdir('/proc/self/fd')))"
    )

    lines = run(tmp_path, code).stdout.decode().splitlines()

    assert lines[0] == "''"
    if sys.platform == "linux":
        assert lines[1] == "['0', '1', '2', '3']"  # 3 is the listing itself


@pytest.mark.parametrize(
    "name", ["no-such-program", "./here/nothing", "./not_executable", "./no_format"]
)
def test_what_cannot_be_started_says_why(tmp_path: Path, name: str) -> None:
    (tmp_path / "not_executable").write_text("#!/bin/sh\n")
    (tmp_path / "no_format").write_bytes(b"\x00\x01")
    (tmp_path / "no_format").chmod(0o755)

    ended = run_command(
        [name], folder=tmp_path, environment={"PATH": "/usr/bin:/bin"}, limits={}, time_limit_s=5, most_output=100
    )  # fmt: skip

    assert ended.how == "not_started"
    assert ended.exit_code is None
    assert ended.problem in {"No such file or directory", "Permission denied", "Exec format error"}


def test_a_folder_that_is_gone_is_no_start(tmp_path: Path) -> None:
    ended = run(tmp_path / "gone", "pass")

    assert ended.how == "not_started"


def test_a_command_is_stopped_at_its_time_limit(tmp_path: Path) -> None:
    ended = run(
        tmp_path, "import time; print('begun', flush=True); time.sleep(60)", time_limit_s=0.5
    )

    assert (ended.how, ended.exit_code) == ("time_limit", -signal.SIGTERM)
    assert ended.stdout == b"begun\n"
    assert 0.5 <= ended.elapsed_s < 10


def test_a_command_that_cleans_up_when_asked_may_do_so(tmp_path: Path) -> None:
    code = (
        "import signal, sys, time\n"
        "def end(*_): print('clean', flush=True); sys.exit(7)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "time.sleep(60)"
    )

    ended = run(tmp_path, code, time_limit_s=0.5, grace_s=10)

    assert (ended.how, ended.exit_code, ended.stdout) == ("time_limit", 7, b"clean\n")


def test_a_command_that_ignores_the_asking_is_killed(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"

    ended = run(tmp_path, code, time_limit_s=0.5)

    assert (ended.how, ended.exit_code) == ("time_limit", -signal.SIGKILL)


_LINGER = """
import os, signal, sys, time
if os.fork() == 0:
    {leave}
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open('child', 'w').write(str(os.getpid()))
    time.sleep(60)
while not os.path.exists('child') or not open('child').read():
    time.sleep(0.01)
{end}
"""


@LINUX
@pytest.mark.parametrize(
    "leave",
    ["pass", "os.setsid()", "os.setsid()\n    if os.fork(): os._exit(0)"],
    ids=["in the group", "in a session of its own", "as a daemon"],
)
@pytest.mark.parametrize("end", ["sys.exit(0)", "time.sleep(60)"], ids=["exits", "runs on"])
def test_no_process_outlives_the_command(tmp_path: Path, leave: str, end: str) -> None:
    ended = run(tmp_path, _LINGER.format(leave=leave, end=end), time_limit_s=1.5)

    assert ended.how == ("exited" if "exit" in end else "time_limit")
    assert not is_alive(int((tmp_path / "child").read_text()))
    assert ended.left == (1 if "exit" in end else 0)


@LINUX
def test_a_command_that_kills_its_launcher_ends_all_the_same_and_did_start(tmp_path: Path) -> None:
    code = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)"

    ended = run(tmp_path, code)

    assert (ended.how, ended.exit_code) == ("launcher killed", None)
    assert ended.elapsed_s < 20


@LINUX
def test_a_child_of_a_killed_launcher_is_found_by_its_mark(tmp_path: Path) -> None:
    code = _LINGER.format(
        leave="os.setsid()",
        end="os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)",
    )

    run(tmp_path, code)

    end = time.monotonic() + 5
    while is_alive(int((tmp_path / "child").read_text())) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_alive(int((tmp_path / "child").read_text()))


def test_a_flood_of_output_keeps_its_head_and_its_tail(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.stdout.write('first\\n'); sys.stdout.flush()\n"
        "for _ in range(100): sys.stdout.buffer.write(b'x' * 1_000_000)\n"
        "sys.stdout.write('\\nlast\\n')"
    )

    ended = run(tmp_path, code, most_output=20_000)

    assert ended.how == "exited"
    assert ended.stdout.startswith(b"first\nxxx")
    assert ended.stdout.endswith(b"xxx\nlast\n")
    assert b"bytes were cut here]" in ended.stdout
    assert len(ended.stdout) < 200_000


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 20, 40, 1_000])
def test_what_fits_is_kept_whole_and_what_does_not_is_counted(size: int) -> None:
    content = bytes(i % 251 for i in range(size))
    kept = Capped(20)
    for start in range(0, size, 3):
        kept.add(content[start : start + 3])

    if size <= 20:
        assert kept.content() == content
    else:
        head, _, rest = kept.content().partition(b"\n[evalbook: ")
        cut, _, tail = rest.partition(b" bytes were cut here]\n")
        assert len(head) + int(cut) + len(tail) == size
        assert content.startswith(head)
        assert content.endswith(tail)
        assert len(tail) >= 10


@pytest.mark.parametrize(
    ("limits", "code", "how"),
    [
        (
            {"FSIZE": 1_000},
            "f = open('big', 'wb', 0); [f.write(b'x' * 900) for _ in '12']; f.write(b'x')",
            {"exited"},
        ),
        ({"AS": 256 << 20}, "bytearray(1 << 30)", {"exited"}),
        ({"CPU": 1}, "while True: pass", {"signal SIGXCPU", "signal SIGKILL"}),
    ],
)
def test_limits_hold(tmp_path: Path, limits: dict[str, int], code: str, how: set[str]) -> None:
    ended = run(tmp_path, code, limits=limits)

    assert ended.how in how
    assert ended.exit_code != 0
    if "FSIZE" in limits:
        assert (tmp_path / "big").stat().st_size == 1_000


def test_a_signal_is_named(tmp_path: Path) -> None:
    ended = run(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")

    assert (ended.how, ended.exit_code) == ("signal SIGSEGV", -signal.SIGSEGV)


def test_signals_that_python_ignores_are_as_any_program_expects_them(tmp_path: Path) -> None:
    ended = run_command(
        ["sh", "-c", "kill -PIPE $$; echo survived"],
        folder=tmp_path,
        environment={"PATH": "/usr/bin:/bin"},
        limits={},
        time_limit_s=5,
        most_output=100,
    )

    assert (ended.how, ended.stdout) == ("signal SIGPIPE", b"")


def test_stopping_ends_what_runs_and_starts_nothing_more(tmp_path: Path) -> None:
    found: list[Ended] = []
    code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    thread = threading.Thread(target=lambda: found.append(run(tmp_path, code)))
    thread.start()
    pid = written_pid(tmp_path / "pid")

    stop_all()
    thread.join(20)

    assert found[0].how == "interrupted"
    assert not is_alive(pid)
    assert run(tmp_path, "open('second', 'w')").how == "interrupted"
    assert not (tmp_path / "second").exists()


@LINUX
def test_nothing_runs_on_when_evalbook_itself_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from evalbook.run.process import run_command\n"
        "run_command([sys.executable, '-c', sys.argv[1]], folder=Path(sys.argv[2]), environment={},\n"
        "            limits={}, time_limit_s=60, most_output=100, grace_s=0.2)"
    )
    agent = _LINGER.format(leave="os.setsid()", end="time.sleep(60)")
    runner = subprocess.Popen([sys.executable, "-c", code, agent, str(tmp_path)])
    child = written_pid(tmp_path / "child")

    runner.kill()
    runner.wait()

    end = time.monotonic() + 10
    while is_alive(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_alive(child)


@LINUX
@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="root may look into everything")
def test_a_command_cannot_write_to_its_launchers_descriptors(tmp_path: Path) -> None:
    code = "import os; print(os.listdir(f'/proc/{os.getppid()}/fd'))"

    assert run(tmp_path, code).exit_code == 1
