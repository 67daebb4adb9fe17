"""Running one command with limits, and ending all of it."""

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from evalbook.base.problems import UserError

_GRACE_S = 2.0
"""Between asking processes to end and killing them."""
_DRAIN_S = 2.0
"""How long output of processes that are dead already may still arrive."""
_PATIENCE_S = 15.0
"""How long after its time limit a launcher may take; only one that was tampered with needs it."""
_TICK_S = 0.1
"""How often a wait looks whether everything is to stop."""
_MARK = "EVALBOOK_PROCESS"
"""A variable by which processes are found whose launcher was killed."""
_LAUNCHER = Path(__file__).with_name("launcher.py")
_STOPPED = threading.Event()


class Ended(NamedTuple):
    """How a command came to its end."""

    how: str
    """``exited``, ``signal SIGKILL`` and so on, ``time_limit``, ``interrupted``, ``not_started``, or
    ``launcher killed`` where the command took care that nobody saw its end."""
    exit_code: int | None
    """Negative: the signal that ended it; none when that is not known."""
    elapsed_s: Decimal
    """Wall clock of the command, to the millisecond."""
    stdout: bytes
    stderr: bytes
    problem: str | None
    """Why it could not be started."""
    left: int = 0
    """Processes that were still running when the command itself had ended; they were killed."""


class Capped:
    """Keeps the first and the last part of a stream, and says what was cut between."""

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._cut = 0

    def add(self, chunk: bytes) -> None:
        """Take in the next bytes."""
        room = self._half - len(self._head)
        self._head += chunk[:room] if room > 0 else b""
        rest = chunk[max(room, 0) :]
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._cut += gone

    def content(self) -> bytes:
        """Return what was kept."""
        note = f"\n[evalbook: {self._cut} bytes were cut here]\n".encode() if self._cut else b""
        return bytes(self._head) + note + b"".join(self._tail)


def stop_all() -> None:
    """End every command that runs in this process, and start no more until `allow_all`."""
    _STOPPED.set()


def allow_all() -> None:
    """Let commands start again."""
    _STOPPED.clear()


def run_command(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limits: Mapping[str, int],
    time_limit_s: float,
    most_output: int,
    grace_s: float = _GRACE_S,
) -> Ended:
    """Run ``command`` in ``folder`` with exactly ``environment``, and end all of it.

    Its standard input is empty. When it ends, or its time is up (SIGTERM, then after ``grace_s``
    SIGKILL), so do all processes it has started. Should this process die, the same happens.
    ``limits`` are names of RLIMIT_ constants without the prefix; ``most_output`` is how many bytes of
    stdout, and of stderr, are kept.

    Raises:
        UserError: on Windows.
    """
    if os.name == "nt":
        raise UserError("commands can't be run safely on Windows", hint="use WSL")
    if _STOPPED.is_set():
        return Ended("interrupted", None, Decimal(0), b"", b"", None)
    mark = uuid.uuid4().hex
    reading, writing = os.pipe()
    begun = time.monotonic()
    try:
        process = _launched(folder, {**environment, _MARK: mark}, writing)
    except (OSError, ValueError) as error:
        os.close(reading)
        problem = getattr(error, "strerror", None) or str(error)
        return Ended("not_started", None, Decimal(0), b"", b"", problem)
    finally:
        os.close(writing)
    task = {
        "command": list(command),
        "limits": dict(limits),
        "time_limit_s": time_limit_s,
        "grace_s": grace_s,
        "parent": os.getpid(),
        "token": uuid.uuid4().hex,
    }
    with os.fdopen(reading, "rb", buffering=0) as status:
        watched = _Watched(process, status.fileno(), most_output)
        try:
            watched.tell(task)
            said = watched.answer(str(task["token"]), begun + time_limit_s + grace_s + _PATIENCE_S)
        finally:
            watched.end(mark)
    elapsed = said.get("elapsed_s", time.monotonic() - begun)
    return _ended(said, Decimal(round(elapsed * 1000)) / 1000, watched)


def _launched(
    folder: Path, environment: Mapping[str, str], status: int
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_LAUNCHER), str(status)],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(status,),
        start_new_session=True,
    )


class _Watched:
    """A launcher that runs: its streams are read while we wait for its answer."""

    def __init__(self, process: "subprocess.Popen[bytes]", status: int, most: int) -> None:
        self._process = process
        self._status = bytearray()
        self.stdout = Capped(most)
        self.stderr = Capped(most)
        self._streams = selectors.DefaultSelector()
        sinks: dict[int, Callable[[bytes], None]] = {status: self._status.extend}
        for stream, kept in ((process.stdout, self.stdout), (process.stderr, self.stderr)):
            if stream is not None:
                sinks[stream.fileno()] = kept.add
        for number, sink in sinks.items():
            self._streams.register(number, selectors.EVENT_READ, sink)
        self._status_number = status
        self.interrupted = False

    def tell(self, task: Mapping[str, object]) -> None:
        """Say what to do. On standard input, so that the command can't read it from our arguments."""
        stdin = self._process.stdin
        if stdin is not None:
            with suppress(BrokenPipeError):  # killed already; there will be no answer
                stdin.write(json.dumps(task).encode())
            with suppress(BrokenPipeError):
                stdin.close()

    def answer(self, token: str, patience_end: float) -> dict[str, Any]:
        """Return the last thing the launcher says."""
        while self._is_open(self._status_number) and time.monotonic() < patience_end:
            if _STOPPED.is_set() and not self.interrupted:
                self.interrupted = True
                patience_end = time.monotonic() + _PATIENCE_S
                self._process.terminate()
            self._read(_TICK_S)
        for line in reversed(bytes(self._status).splitlines()):
            with suppress(ValueError):
                said = json.loads(line)
                if isinstance(said, dict) and said.get("token") == token:
                    return said
        return {"how": "not_started", "problem": "its launcher ended before it could start it"}

    def end(self, mark: str) -> None:
        """Take in the last output, and make sure that nothing is left, whatever happened."""
        if self._is_open(self._status_number):
            self._process.terminate()  # it neither answered nor died, or we are leaving early
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S + _DRAIN_S)
        self._process.kill()
        self._process.wait()
        if self._process.returncode != 0:
            for pid in _marked(mark):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        drained = time.monotonic() + _DRAIN_S
        while self._streams.get_map() and time.monotonic() < drained:
            self._read(_TICK_S)
        self._streams.close()
        for stream in (self._process.stdout, self._process.stderr, self._process.stdin):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def _is_open(self, number: int) -> bool:
        return number in self._streams.get_map()

    def _read(self, seconds: float) -> None:
        for key, _ in self._streams.select(seconds):
            chunk = os.read(key.fd, 1 << 16)
            if chunk:
                key.data(chunk)
            else:
                self._streams.unregister(key.fd)


def _ended(said: Mapping[str, Any], elapsed: Decimal, watched: _Watched) -> Ended:
    out, err = watched.stdout.content(), watched.stderr.content()
    if said.get("how") == "not_started":
        return Ended("not_started", None, elapsed, out, err, str(said.get("problem")))
    status = said.get("status")
    code = None if status is None else os.waitstatus_to_exitcode(status)
    if watched.interrupted:
        how = "interrupted"
    elif said.get("how") == "time_limit":
        how = "time_limit"
    elif code is None:
        how = "launcher killed"
    elif code < 0:
        how = f"signal {_signal_name(-code)}"
    else:
        how = "exited"
    return Ended(how, code, elapsed, out, err, None, int(said.get("left", 0)))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return str(number)


def _marked(mark: str) -> list[int]:
    """Return, on Linux, the processes that carry our mark: all that is known when a launcher was killed."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
