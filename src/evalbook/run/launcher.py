"""Set limits on this process, then become the agent's command.

Started as ``python -I -S launcher.py STATUS LIMITS COMMAND…``; uses only the standard library, and
imports little of it: it runs once for every attempt. It exists because a thread can't safely run
Python between fork and exec.
"""

import json
import os
import sys

_KILL = 9
_PR_SET_PDEATHSIG = 1


def limit(limits: dict[str, int]) -> None:
    """Set what the agent and its children may use: bytes of memory and of a file, CPU seconds."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, value in limits.items():
        what = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(what)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (most, most))


def die_with_parent() -> None:
    """On Linux, ask to be killed when evalbook dies, so that no agent outlives its row."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - costs time where it is of no use

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _KILL)


def main(arguments: list[str]) -> None:
    """Become the command, or write down why that failed and end."""
    status, limits, *command = arguments
    try:
        limit(json.loads(limits))
        die_with_parent()
        os.execvpe(command[0], command, os.environ)  # noqa: S606 - that is what this file is for
    except (OSError, ValueError) as error:
        with open(status, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs 10 ms
            file.write(f"{command[0]}: {getattr(error, 'strerror', None) or error}")
        os._exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
