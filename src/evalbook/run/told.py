"""What an agent says of itself, kept and read: output, trace, report, recorded responses."""

from typing import NamedTuple

from evalbook.records.attempt import Dependency
from evalbook.run.agents import Place
from evalbook.run.evidence import Cabinet
from evalbook.run.process import Ended
from evalbook.run.report import Report, Use, read_report
from evalbook.run.trace import Step, read_trace, tokens_in_trace
from evalbook.run.trees import read_regular

_MOST = 64 * 1024 * 1024
"""Bytes of a trace, a report or a recorded response that are read."""


class Told(NamedTuple):
    """What was said, as far as it could be understood."""

    report: Report = Report()
    steps: int | None = None
    """How many the trace has; none: there is no trace."""
    dependencies: tuple[Dependency, ...] = ()
    problems: tuple[str, ...] = ()


def keep_told(cabinet: Cabinet, place: Place, ended: Ended, *, currency: str | None) -> Told:
    """Keep what an agent said, and return what it says once credentials are taken out."""
    problems: list[str] = []
    for name, content in (("stdout.txt", ended.stdout), ("stderr.txt", ended.stderr)):
        if content:
            cabinet.keep(name, "log", content)
    steps = None
    read: tuple[Step, ...] = ()
    trace = read_regular(place.told, place.trace.name, most=_MOST)
    if trace is not None:
        clean = cabinet.read(cabinet.keep("trace.jsonl", "trace", trace))
        read = read_trace(clean)
        steps = len(read)
    elif _something_else(place, place.trace.name):
        problems.append("the trace is no regular file and was not read")
    report = Report()
    told = read_regular(place.told, place.report.name, most=_MOST)
    if told is not None:
        clean = cabinet.read(cabinet.keep("report.json", "report", told))
        report = read_report(clean, currency=currency)
    elif _something_else(place, place.report.name):
        problems.append("the report is no regular file and was not read")
    problems += report.problems
    if report.tokens_in is None and report.tokens_out is None:
        report = report._replace(
            tokens_in=tokens_in_trace(read, "tokens_in"),
            tokens_out=tokens_in_trace(read, "tokens_out"),
        )
    dependencies = tuple(_dependency(cabinet, place, use, problems) for use in report.dependencies)
    return Told(report, steps, dependencies, tuple(problems))


def _something_else(place: Place, name: str) -> bool:
    path = place.told / name
    return path.is_symlink() or path.exists()


def _dependency(cabinet: Cabinet, place: Place, use: Use, problems: list[str]) -> Dependency:
    """Return one use with the digest of its recorded response, where that could be kept."""
    sha256 = None
    if use.response_file is not None:
        name = use.response_file.removeprefix(f"{place.told}/")
        content = None
        if not name.startswith("/") and ".." not in name.split("/"):
            content = read_regular(place.told, name, most=_MOST)
        if content is None:
            problems.append(f"the response file {name} of {use.name} could not be read")
        else:
            sha256 = cabinet.keep(f"responses/{name}", "response", content)
    return Dependency(
        name=use.name,
        version=use.version,
        at=use.at,
        seconds=use.seconds,
        status=use.status,
        rate_limited=use.rate_limited,
        error=use.error,
        response_sha256=sha256,
    )
