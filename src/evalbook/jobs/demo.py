"""Doing the main job once, on the worked example, in a scratch repository."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from evalbook.base.files import write_whole
from evalbook.base.problems import UserError
from evalbook.jobs.decide import exclude_attempts
from evalbook.jobs.desk import Clock, Say
from evalbook.jobs.example import NAME, example_path
from evalbook.jobs.freeze import freeze_evaluation
from evalbook.jobs.init import make_book
from evalbook.jobs.publish import build_site, write_report
from evalbook.jobs.rerun import rerun_attempts
from evalbook.jobs.run import Order, run_evaluation
from evalbook.jobs.select import Selection
from evalbook.jobs.show import Look, show_evaluation
from evalbook.jobs.verify import verify_book
from evalbook.run.session import Progress
from evalbook.store.git import Repository

_CUT_AFTER = 7
"""Finished attempts of the second run after which the power fails."""
_TOGETHER = 2
_VERSIONS = (
    ('version = "v1"', 'version = "v2"'),
    ("inventory-agent 1.0", "inventory-agent 2.0"),
    ("agents/inventory_v1.py", "agents/inventory_v2.py"),
    ("prompts/v1.md", "prompts/v2.md"),
    ("temper = 8\n", "temper = 58\n"),
)
"""What the example's config says in its first and in its second version."""
_REASON = "the machine lost power while the attempt was under way; its journal ends there"


class _Stage(NamedTuple):
    top: Path
    environment: Mapping[str, str]
    clock: Clock
    say: Say


class Played(NamedTuple):
    """Where the results of the demo are."""

    repository: Path
    site: Path
    report: Path


def play(out: Path | None, *, environment: Mapping[str, str], clock: Clock, say: Say) -> Played:
    """Freeze, run two versions, lose power, exclude, rerun, verify, report and build.

    Raises:
        UserError: when ``out`` is not empty, or git can't be used.
    """
    top = _scratch(out)
    say(f"making a scratch repository in {top}")
    stage = _Stage(top, environment, clock, say)
    make_book(top, example=True)
    _introduce(top)
    _set_version(top, 0)
    _commit(top, "The worked example, version 1 of the agent")
    say("\n== Freeze what is measured, and run version 1: three tasks, five attempts each")
    freeze_evaluation(top, NAME, reason="first version", clock=clock, say=_silent)
    _run(stage)
    _set_version(top, 1)
    _commit(top, "Version 2 of the agent compares rows that name the same device")
    say("\n== Version 2 of the agent; in the middle of its run the power fails")
    freeze_evaluation(top, NAME, reason="version 2 compares duplicates", clock=clock, say=_silent)
    _lose_power(stage)
    say("\n== The interrupted attempts: excluded with a reason, and run once more")
    _mend(stage)
    say("\n== Check that nobody changed the past")
    say(verify_book(top, None, artifacts=True, witness=None, say=say).as_text())
    report = top / "report.md"
    write_report(top, NAME, None, None, report, clock=clock, say=_silent)
    site = build_site(top, top / "site", (), None, clock=clock, say=_silent).home
    look = Look(as_json=False, colour=False, width=80)
    say("\n== The figures\n")
    say(show_evaluation(top, NAME, None, None, look, clock=clock, say=_silent).text)
    return Played(top, site, report)


def _scratch(out: Path | None) -> Path:
    if out is None:
        return Path(tempfile.mkdtemp(prefix="evalbook-demo-"))
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} is not empty", hint="name a folder that does not exist yet")
    out.mkdir(parents=True, exist_ok=True)
    return out.resolve()


def _introduce(top: Path) -> None:
    """Let the scratch repository's git have an author and no signing, whatever the machine's has."""
    with Repository(top) as repository:
        for key, value in (
            ("user.name", "evalbook demo"),
            ("user.email", "demo@example.org"),
            ("commit.gpgsign", "false"),
        ):
            repository.run("config", key, value)


def _commit(top: Path, message: str) -> None:
    with Repository(top) as repository:
        repository.run("add", "--all", "--", ".")
        repository.run(
            "-c", "commit.gpgsign=false", "commit", "--quiet", "--no-verify", "-m", message
        )


def _order(stage: _Stage, resume: str | None = None) -> Order:
    return Order(NAME, "agent", None, (), _TOGETHER, resume, stage.environment)


def _run(stage: _Stage, resume: str | None = None) -> None:
    ran = run_evaluation(
        stage.top, _order(stage, resume), clock=stage.clock, say=stage.say, progress=_watch
    )
    stage.say(ran.answer().as_text())


def _lose_power(stage: _Stage) -> None:
    def cut(progress: Progress) -> None:
        if progress.done >= _CUT_AFTER and progress.running:
            raise KeyboardInterrupt

    try:
        run_evaluation(stage.top, _order(stage), clock=stage.clock, say=stage.say, progress=cut)
    except KeyboardInterrupt as stop:
        stage.say(f"interrupted: {stop}")
        _run(stage, str(stop).partition("--resume ")[2].partition("`")[0])


def _mend(stage: _Stage) -> None:
    broken = Selection(NAME, (), "agent", ("infra_error",))
    try:
        excluded = exclude_attempts(
            stage.top, broken, reason=_REASON, clock=stage.clock, say=_silent
        )
    except UserError:
        stage.say("no attempt happened to be under way at that moment: nothing to mend")
        return
    stage.say(excluded.as_text())
    ids = tuple(str(each) for each in excluded.document["attempts"])
    again = rerun_attempts(
        stage.top, Selection(NAME, ids, None, ()), reason=_REASON, jobs=1,
        environment=stage.environment, clock=stage.clock, say=stage.say, progress=_watch,
    )  # fmt: skip
    stage.say(again.answer().as_text())


def _set_version(top: Path, version: Literal[0, 1]) -> None:
    """Make the example's config say what it said in its first or in its second version."""
    path = top / example_path() / "configs" / "agent.toml"
    text = path.read_text(encoding="utf-8")
    for pair in _VERSIONS:
        text = text.replace(pair[1 - version], pair[version])
    write_whole(path, text.encode())


def _watch(progress: Progress) -> None:
    del progress


def _silent(text: str) -> None:
    del text
