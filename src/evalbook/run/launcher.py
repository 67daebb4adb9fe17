"""Run one command within limits, and leave nothing of it behind.

Started as ``python -I -S launcher.py FD``: reads what to do as JSON from standard input and writes how
it ended, as one line of JSON, to the file descriptor FD. Only the standard library, and little of it:
this runs once for every attempt. It is a process of its own because a thread can't safely run Python
between fork and exec, and because on Linux it adopts every process that the command lets go of, so
that it can end them all, whatever group or session they moved to.
"""

import json
import os
import resource
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_END_S = 5.0
"""How long killed processes may take to go away."""


class Watch:
    """Wakes up for signals: the command ended, or it is to be ended."""

    def __init__(self) -> None:
        self.asked = False
        """Whether we were told to end."""
        self._awake, writing = os.pipe()
        os.set_blocking(self._awake, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._ask)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _ask(self, *_: object) -> None:
        self.asked = True

    def wait(self, seconds: float) -> None:
        """Return after a signal, at the latest after some seconds."""
        if select.select([self._awake], [], [], max(seconds, 0))[0]:
            os.read(self._awake, 4096)


def control(option: int, value: int) -> None:
    """Set a property of this process that only Linux has."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - costs time where it is of no use

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def limit(limits: dict[str, int]) -> None:
    """Set what the command and its children may use: bytes of memory, bytes of a file, CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, value in limits.items():
        what = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(what)
        # Two CPU seconds more before the kill, so that SIGXCPU tells why it ended.
        wanted = value + 2 if name == "CPU" else value
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(what, (min(value, most), most))


def start(command: list[str], limits: dict[str, int]) -> int:
    """Start the command in a session of its own and return its process id.

    Raises:
        OSError: when it can't be started: not found, not executable.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            control(_PR_SET_PDEATHSIG, signal.SIGKILL)
            os.setsid()
            os.umask(0o022)
            for name in ("SIGPIPE", "SIGXFSZ", "SIGINT", "SIGTERM", "SIGCHLD"):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            limit(limits)
            os.execvpe(command[0], command, os.environ)  # noqa: S606 - that is what this file is for
        except BaseException as error:  # noqa: BLE001 - nothing may return into the launcher's code
            number = getattr(error, "errno", None) or 0
            os.write(writing, f"{number} {error}".encode(errors="replace"))
        os._exit(127)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    if said:
        os.waitpid(pid, 0)
        number, _, words = said.partition(" ")
        raise OSError(int(number), os.strerror(int(number)) if int(number) else words)
    return pid


def descendants() -> list[int]:
    """Return, on Linux, every living process below this one."""
    parents: dict[int, int] = {}
    if sys.platform == "linux":
        for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib costs 10 ms
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                        state, parent = file.read().rpartition(b")")[2].split()[:2]
                except OSError:
                    continue
                if state != b"Z":
                    parents[int(name)] = int(parent)
    below = {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in below} - below
        below |= more
        grown = bool(more)
    return sorted(below - {os.getpid()})


def outside(group: int) -> list[int]:
    """Return the descendants that are not in that process group."""
    found = []
    for pid in descendants():
        try:
            if os.getpgid(pid) != group:
                found.append(pid)
        except OSError:
            continue
    return found


def send(pids: list[int], number: int) -> None:
    """Send a signal to processes, some of which may be gone."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue


def reap(ended: dict[int, int]) -> bool:
    """Take in every child that has ended, by process id; return whether there are others."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        ended[pid] = status


def supervise(agent: int, time_limit_s: float, grace_s: float, watch: Watch) -> dict[str, object]:
    """Wait until the command ends, time is up or we are told to end it, and end all of it."""
    begun = time.monotonic()
    end = begun + time_limit_s
    how = ""
    ended: dict[int, int] = {}
    while reap(ended) and agent not in ended:
        now = time.monotonic()
        if now >= end and how:
            break
        if now >= end or (watch.asked and not how):
            how = "stopped" if watch.asked else "time_limit"
            end = now + grace_s
            send([-agent, *outside(agent)], signal.SIGTERM)
        watch.wait(end - time.monotonic())
    elapsed = time.monotonic() - begun
    left = [pid for pid in descendants() if pid != agent]
    give_up = time.monotonic() + _END_S
    while time.monotonic() < give_up:
        send([-agent, *descendants()], signal.SIGKILL)
        if not reap(ended):
            break
        watch.wait(0.02)
    return {
        "how": how or "ended",
        "status": ended.get(agent),
        "elapsed_s": elapsed,
        "left": 0 if how else len(left),
    }


def say(status: int, answer: dict[str, object]) -> None:
    """Write one line; the last one counts."""
    os.write(status, json.dumps(answer).encode() + b"\n")


def main(status: int) -> None:
    """Do what standard input says."""
    os.set_inheritable(status, False)  # noqa: FBT003 - by position only
    with os.fdopen(0, "rb") as told:
        task = json.loads(told.read())
    nowhere = os.open(os.devnull, os.O_RDWR)  # the lowest free number: standard input
    os.set_inheritable(nowhere, True)  # noqa: FBT003 - by position only
    watch = Watch()
    control(_PR_SET_DUMPABLE, 0)  # so that the command can't write to our descriptors
    control(_PR_SET_CHILD_SUBREAPER, 1)
    control(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != task["parent"]:
        return  # it died before we could ask to be told
    # Said before it is so: a command that kills us at once must not seem never to have started.
    say(status, {"token": task["token"], "how": "launcher killed"})
    try:
        agent = start(task["command"], task["limits"])
    except OSError as error:
        answer: dict[str, object] = {"how": "not_started", "problem": error.strerror or str(error)}
    else:
        for output in (1, 2):  # whoever reads them waits for the last one that holds them
            os.dup2(nowhere, output)
        answer = supervise(agent, task["time_limit_s"], task["grace_s"], watch)
    say(status, {"token": task["token"], **answer})


if __name__ == "__main__":
    main(int(sys.argv[1]))
