"""Measure evalbook against named peers on the same work in the same run, in CPU seconds.

``python3 dev.py bench`` runs all of them, ``python3 dev.py bench startup`` one. Each ``bench_<name>.py``
has a ``main()`` that prints what was measured and the ratio.
"""

import importlib
import sys
from pathlib import Path


def main(wanted: list[str]) -> None:
    names = sorted(
        path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")
    )
    unknown = [name for name in wanted if name not in names]
    if unknown:
        sys.exit(f"bench: there is no {unknown[0]}; there is {', '.join(names)}")
    for name in wanted or names:
        print(f"== {name}", flush=True)
        importlib.import_module(f"tests.benchmarks.bench_{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
