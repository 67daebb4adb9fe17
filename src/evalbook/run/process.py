"""Running one command with limits, and ending all of it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import IO, NamedTuple

_GRACE_S = 2.0
"""Between asking a process group to end and killing it."""
_DRAIN_S = 2.0
"""How long output of processes that are dead already may still arrive."""
_MARK = "EVALBOOK_PROCESS"
"""A variable by which processes are found that left their group and session."""
_LAUNCHER = Path(__file__).with_name("launcher.py")


class Ended(NamedTuple):
    """How a command came to its end."""

    how: str
    """``exited``, ``signal SIGKILL`` and so on, ``time_limit``, ``interrupted`` or ``not_started``."""
    exit_code: int | None
    """Negative: the signal that ended it; none when it was not started."""
    elapsed_s: Decimal
    """Wall clock, to the millisecond."""
    stdout: bytes
    stderr: bytes
    problem: str | None
    """Why it could not be started."""


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


class _Live:
    """The commands that run in this process, so that Ctrl-C can end them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.groups: set[int] = set()
        self.stopped = threading.Event()


_LIVE = _Live()


def stop_all() -> None:
    """Kill every command that runs now, and start no more until `allow_all`."""
    _LIVE.stopped.set()
    with _LIVE.lock:
        for group in _LIVE.groups:
            _signal_group(group, signal.SIGKILL)


def allow_all() -> None:
    """Let commands start again."""
    _LIVE.stopped.clear()


def run_command(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limits: Mapping[str, int],
    time_limit_s: float,
    most_output: int,
    scratch: Path,
) -> Ended:
    """Run ``command`` in ``folder`` with exactly ``environment``, and end its whole group with it.

    Limits are names of RLIMIT_ constants without the prefix. ``most_output`` is how many bytes of
    stdout, and of stderr, are kept.
    """
    mark = uuid.uuid4().hex
    status = scratch / f"status-{mark}"
    line = [
        sys.executable,
        "-I",
        "-S",
        str(_LAUNCHER),
        str(status),
        json.dumps(dict(limits)),
        *command,
    ]
    started = time.monotonic()
    if _LIVE.stopped.is_set():
        return Ended("interrupted", None, Decimal(0), b"", b"", None)
    process = subprocess.Popen(
        line,
        cwd=folder,
        env={**environment, _MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with _LIVE.lock:
        _LIVE.groups.add(process.pid)
    try:
        readers = [_Reader(process.stdout, most_output), _Reader(process.stderr, most_output)]
        timed_out = not _wait(process, time_limit_s)
        elapsed = Decimal(round((time.monotonic() - started) * 1000)) / 1000
        _end_all(process, mark, ask_first=timed_out)
        stdout, stderr = (reader.content() for reader in readers)
    finally:
        with _LIVE.lock:
            _LIVE.groups.discard(process.pid)
    if status.exists():
        problem = status.read_text(encoding="utf-8", errors="replace")
        status.unlink()
        return Ended("not_started", None, elapsed, stdout, stderr, problem)
    how = _how(process.returncode, timed_out=timed_out)
    return Ended(how, process.returncode, elapsed, stdout, stderr, None)


def _how(code: int, *, timed_out: bool) -> str:
    if _LIVE.stopped.is_set() and code == -signal.SIGKILL:
        return "interrupted"
    if timed_out:
        return "time_limit"
    if code < 0:
        with suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return "exited"


def _wait(process: subprocess.Popen[bytes], time_limit_s: float) -> bool:
    try:
        process.wait(time_limit_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end_all(process: subprocess.Popen[bytes], mark: str, *, ask_first: bool) -> None:
    if ask_first:
        _signal_group(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()
    for pid in _marked(mark):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _marked(mark: str) -> list[int]:
    """Return, on Linux, the processes that carry our mark but may have left group and session."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


class _Reader:
    """Reads one stream to its end in a thread of its own."""

    def __init__(self, stream: IO[bytes] | None, most: int) -> None:
        assert stream is not None  # noqa: S101 - a pipe was asked for
        self._stream = stream
        self._kept = Capped(most)
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError, ValueError):  # closed under us after the drain time
            while chunk := os.read(self._stream.fileno(), 1 << 16):
                with self._lock:
                    self._kept.add(chunk)

    def content(self) -> bytes:
        """Return what came; whoever still holds the other end after that time is not waited for."""
        self._thread.join(_DRAIN_S)
        with self._lock:
            content = self._kept.content()
        if not self._thread.is_alive():
            self._stream.close()
        return content
