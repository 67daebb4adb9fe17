import os
import shutil
from pathlib import Path

import pytest
from tests.run.checks.graded import Desk

from evalbook.run.checks.reading import copy_workspace
from evalbook.run.trees import remove


def python(code: str) -> list[str]:
    return ["{python}", "-c", code]


def test_the_exit_code_decides(desk: Desk) -> None:
    assert desk.outcome("command", command=python("raise SystemExit(0)")).outcome == "held"
    three = python("import sys; print('no totals', file=sys.stderr); raise SystemExit(3)")
    found = desk.outcome("command", command=three)
    assert (found.outcome, found.actual, found.evidence) == ("failed", "exit code 3", "no totals")
    assert desk.outcome("command", command=three, exit_code=3).outcome == "held"


def test_a_command_works_in_a_copy_and_leaves_the_workspace_as_it_is(desk: Desk) -> None:
    desk.with_files({"a/b.txt": "left by the agent"})
    code = (
        "import pathlib; p = pathlib.Path('a/b.txt'); assert p.read_text() == 'left by the agent';"
        "p.write_text('changed'); assert str(p.resolve()).startswith({workspace!r})"
    ).replace("{workspace!r}", "r'{workspace}'")
    found = desk.outcome("command", command=python(code))
    assert found.outcome == "held", found.evidence
    assert (desk.workspace / "a/b.txt").read_text() == "left by the agent"


def test_task_and_evaluation_are_filled_in(desk: Desk) -> None:
    desk.with_files({}, {"want.txt": "x"})
    code = "import pathlib; pathlib.Path(r'{task}/expected/want.txt').read_text()"
    assert desk.outcome("command", command=python(code)).outcome == "held"
    code = "import pathlib; assert pathlib.Path(r'{evaluation}/tasks/t').is_dir()"
    assert desk.outcome("command", command=python(code)).outcome == "held"


def test_the_environment_of_the_caller_is_not_handed_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "do-not-hand-on")
    code = (
        "import os; assert 'SOME_API_KEY' not in os.environ; assert os.environ['HOME'] != '/root'"
    )
    found = desk.outcome("command", command=python(code))
    assert found.outcome == "held", found.evidence


def test_running_too_long_is_a_failure_since_it_mostly_is_the_agents_code(desk: Desk) -> None:
    found = desk.outcome("command", command=python("while True: pass"), time_limit_s=0.3)
    assert (found.outcome, found.actual) == ("failed", "not ended after 0.3 s")


def test_a_command_that_is_killed_did_not_exit(desk: Desk) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    found = desk.outcome("command", command=python(code))
    assert found.outcome == "failed"
    assert "SIGKILL" in found.actual


def test_a_program_the_agent_should_have_left_fails_and_another_breaks_the_check(
    desk: Desk,
) -> None:
    assert desk.outcome("command", command=["./build.sh"]).outcome == "failed"
    assert desk.outcome("command", command=["no-such-program-here"]).outcome == "error"
    desk.with_files({"build.sh": "#!/bin/sh\nexit 0\n"})
    assert desk.outcome("command", command=["./build.sh"]).outcome == "failed"
    (desk.workspace / "build.sh").chmod(0o755)
    assert desk.outcome("command", command=["./build.sh"]).outcome == "held"


def test_endless_output_is_cut(desk: Desk) -> None:
    code = "import sys; sys.stdout.write('x' * (20 << 20)); raise SystemExit(1)"
    found = desk.outcome("command", command=python(code))
    assert found.outcome == "failed"
    assert len(found.evidence) <= 2_000


def test_a_copy_holds_no_way_back_to_the_original(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "w", tmp_path / "outside"
    (workspace / "deep").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (workspace / "file").write_text("x")
    os.mkfifo(workspace / "pipe")
    for name, goal in {
        "inside": "file",
        "deep/up": "../file",
        "dangling": "nowhere",
        "absolute": str(workspace / "file"),
        "out": "../outside",
        "deep/out": "../../outside/secret",
        "round": "../w/file",
        "here": ".",
        "climb": "here/deep/../../outside",
        "loop": "loop",
    }.items():
        (workspace / name).symlink_to(goal)
    copy_workspace(workspace, tmp_path / "copy")
    kept = {p.relative_to(tmp_path / "copy").as_posix() for p in (tmp_path / "copy").rglob("*")}
    assert kept == {"deep", "file", "inside", "deep/up", "dangling", "here"}
    for path in (tmp_path / "copy").rglob("*"):
        assert path.resolve().is_relative_to(tmp_path / "copy")


def test_modes_are_kept_but_not_set_user_id(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "tool").write_text("x")
    (workspace / "tool").chmod(0o4755)
    copy_workspace(workspace, tmp_path / "copy")
    assert (tmp_path / "copy/tool").stat().st_mode & 0o7777 == 0o755


def test_a_copy_that_a_command_locked_is_removed_all_the_same(desk: Desk) -> None:
    desk.with_files({"a/b": "x"})
    code = "import os; os.mkdir('l'); open('l/x', 'w').close(); os.chmod('l', 0); os.chmod('a', 0)"
    assert desk.outcome("command", command=python(code)).outcome == "held"  # the desk looks


def test_folders_nested_too_deep_to_walk_cost_an_outcome_and_no_more(desk: Desk) -> None:
    here = os.open(desk.workspace, os.O_RDONLY)
    for _ in range(1_100):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    try:
        assert desk.outcome("command", command=python("pass")).outcome in {"held", "failed"}
    finally:
        remove(desk.workspace)  # pytest can't


def test_a_workspace_that_is_gone_is_the_agents_fault(desk: Desk) -> None:
    shutil.rmtree(desk.workspace)
    assert desk.outcome("command", command=python("pass")).outcome == "failed"
    assert desk.outcome("file_exists", file="a").outcome == "failed"
    assert desk.outcome("file_absent", file="a").outcome == "held"
