"""What the trials of Terminal-Bench become."""

from pathlib import Path
from typing import Any

import pytest
from tests.run.importers.miniatures import request, tb_row, tb_run, write

from evalbook.base.problems import UserError
from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.task import MaterialFreeze
from evalbook.run.importers.terminal_bench import read_terminal_bench
from evalbook.run.importers.values import Import


def _config(made: Import) -> ConfigFreeze:
    return next(each for each in made.freezes if isinstance(each, ConfigFreeze))


def _row(tmp_path: Path, **changes: Any) -> Attempt:
    made = read_terminal_bench([tb_run(tmp_path / "run", [tb_row(**changes)])], request())
    return made.runs[0].attempts[0]


@pytest.mark.parametrize(
    ("resolved", "mode", "verdict", "judged"),
    [
        (True, "unset", "pass", True),
        (True, "agent_timeout", "pass", True),
        (True, "unknown_agent_error", "pass", True),
        (False, "unset", "fail", True),
        (False, "agent_timeout", "fail", True),
        (None, "test_timeout", "timeout", False),
        (None, "parse_error", "infra_error", False),
        (None, "unknown_agent_error", "infra_error", False),
        (None, "agent_timeout", "infra_error", False),
        (None, "unset", "infra_error", False),
        (None, "a word of tomorrow", "infra_error", False),
    ],
)
def test_is_resolved_decides_and_the_failure_mode_tells_how_it_ended(
    tmp_path: Path, resolved: bool | None, mode: str, verdict: str, judged: bool
) -> None:
    row = _row(tmp_path, resolved=resolved, failure_mode=mode)
    assert (row.verdict, row.judged, row.termination) == (verdict, judged, mode)
    assert row.source is not None
    words = {word.key: word.value for word in row.source.raw}
    assert words["is_resolved"] == {True: "true", False: "false", None: "null"}[resolved]
    assert words["failure_mode"] == f'"{mode}"'


def test_elapsed_is_the_agents_own_time_and_times_are_utc(tmp_path: Path) -> None:
    row = _row(tmp_path, trial_started_at="2025-09-10T03:27:25.975148+02:00")
    assert row.elapsed_seconds == "140.25"
    assert row.started_at == "2025-09-10T01:27:25.975Z"
    assert row.ended_at == "2025-09-10T01:31:28.955Z"


@pytest.mark.parametrize(
    "time", ["2025-09-10T01:27:25", "yesterday", "", "0001-01-01T00:00:00+23:00", "2025-02-30T00:00:00+00:00"]
)  # fmt: skip
def test_a_time_without_zone_or_sense_is_unknown_and_said(tmp_path: Path, time: str) -> None:
    folder = tb_run(tmp_path / "run", [tb_row(trial_started_at=time)])
    made = read_terminal_bench([folder], request())
    assert made.runs[0].attempts[0].started_at is None
    said = "1 attempt with a time that has no zone or makes no sense, kept as unknown"
    assert made.notes == ((said,) if time else ())


def test_an_agent_that_ended_before_it_started_has_no_elapsed_time(tmp_path: Path) -> None:
    folder = tb_run(tmp_path / "run", [tb_row(agent_ended_at="2025-09-10T01:00:00+00:00")])
    made = read_terminal_bench([folder], request())
    assert made.runs[0].attempts[0].elapsed_seconds is None
    assert len(made.notes) == 1


def test_no_tokens_in_and_out_are_what_the_tool_writes_for_not_reported(tmp_path: Path) -> None:
    row = _row(tmp_path, total_input_tokens=0, total_output_tokens=0)
    assert (row.tokens_in, row.tokens_out) == (None, None)
    known = _row(tmp_path, total_input_tokens=0, total_output_tokens=7)
    assert (known.tokens_in, known.tokens_out) == (0, 7)


def test_tests_become_checks_under_names_that_lead_back_to_them(tmp_path: Path) -> None:
    row = _row(
        tmp_path,
        resolved=False,
        parser_results={"test_a": "passed", "test_map[1]": "failed", "test_map[2]": "exploded"},
    )
    names = [check.name for check in row.checks]
    assert names[0] == "test_a"
    assert [each.rpartition(".")[0] for each in names[1:]] == ["test_map-1", "test_map-2"]
    assert [each.outcome for each in row.checks] == ["held", "failed", "error"]
    assert [each.evidence for each in row.checks] == ["", "test_map[1]", "test_map[2]"]
    assert row.failed_checks == tuple(names[1:])
    assert row.checks[2].actual == "exploded"


def test_instruction_is_known_while_start_grader_and_cost_are_not(tmp_path: Path) -> None:
    made = read_terminal_bench([tb_run(tmp_path / "run", [tb_row()])], request())
    row = made.runs[0].attempts[0]
    assert row.input_sha256 != "unknown"
    assert (row.initial_state_ref, row.grader_ref, row.cost) == ("unknown",) * 3
    material = next(each for each in made.freezes if isinstance(each, MaterialFreeze))
    assert (material.instruction, material.source) == (
        "Do fix-git.",
        "terminal-bench: tiny-bench 0.1",
    )


def test_what_was_planned_and_left_no_row_is_not_executed(tmp_path: Path) -> None:
    folder = tb_run(tmp_path / "run", [tb_row("a", 2, 2)], tasks=["a", "b"], attempts=2)
    made = read_terminal_bench([folder], request())
    plan = made.runs[0].plan
    assert (plan.planned, len(made.runs[0].attempts)) == (4, 1)
    assert [task.task_id for task in plan.tasks] == ["a", "b"]
    assert plan.tasks[1].input_sha256 == "unknown"
    assert made.runs[0].attempts[0].attempt_id.endswith("/a/2")
    assert made.notes == ("3 attempts planned but not executed",)


def test_a_task_without_a_row_is_the_task_that_another_run_of_the_set_shows(tmp_path: Path) -> None:
    tb_run(tmp_path / "1", [tb_row("a"), tb_row("b")], run="one")
    tb_run(tmp_path / "2", [tb_row("a")], run="two", tasks=["a", "b"])
    tb_run(
        tmp_path / "3",
        [tb_row("a")],
        run="three",
        tasks=["a", "b"],
        metadata={"dataset_version": "0.2"},
    )
    made = read_terminal_bench([tmp_path], request())
    shown = {run.identity: run.plan.tasks[1].input_sha256 for run in made.runs}
    assert shown["terminal-bench:two"] == shown["terminal-bench:one"] != "unknown"
    assert shown["terminal-bench:three"] == "unknown"


def test_without_metadata_the_trials_names_say_how_many_were_meant(tmp_path: Path) -> None:
    path = write(tmp_path / "results.json", {"id": "r", "results": [tb_row("a", 3, 5)]})
    made = read_terminal_bench([path], request())
    assert made.runs[0].plan.planned == 5
    assert made.runs[0].plan.config_ref.startswith("unknown-agent@2025-09:")


def test_trials_without_names_are_numbered_in_their_order(tmp_path: Path) -> None:
    rows = [tb_row("a", trial_name=None, id=name) for name in ("x", "y")]
    made = read_terminal_bench([tb_run(tmp_path / "run", rows, attempts=2)], request())
    assert [row.attempt_id[-1] for row in made.runs[0].attempts] == ["1", "2"]
    assert [row.source.key for row in made.runs[0].attempts if row.source] == [
        "terminal-bench:run-a/x", "terminal-bench:run-a/y",
    ]  # fmt: skip


def test_trials_without_names_take_the_numbers_that_named_ones_leave(tmp_path: Path) -> None:
    named = tb_row("a", 2, 4)
    rows = [tb_row("a", trial_name=None, id=name) for name in ("x", "y")]
    folder = tb_run(tmp_path / "run", [rows[0], named, rows[1]], attempts=4)
    made = read_terminal_bench([folder], request())
    assert [row.attempt_id[-1] for row in made.runs[0].attempts] == ["1", "2", "3"]


def test_the_config_holds_what_an_agent_can_notice_and_nothing_of_the_person(
    tmp_path: Path,
) -> None:
    kwargs = {
        "api_key": "hunter2hunter2",
        "max_tokens": 4096,
        "url": "https://kim:pw123456@example.org",
    }
    folder = tb_run(tmp_path / "run", [tb_row()], metadata={"agent_kwargs": kwargs})
    made = read_terminal_bench([folder], request())
    settings = {each.key: each.value for each in _config(made).settings}
    assert settings.pop("kwargs.url").startswith('"https://[scrubbed')
    assert settings == {
        "agent": '"tiny-agent"', "model": '"tiny-model"', "import_path": '"tiny:Agent"',
        "harness.package": '"terminal-bench"', "harness.version": '"0.2.17"',
        "kwargs.api_key": '"[scrubbed]"', "kwargs.max_tokens": "4096",
        "limits.global_agent_timeout_sec": "600.0", "limits.global_timeout_multiplier": "1.0",
    }  # fmt: skip
    everything = "".join(each.model_dump_json() for each in (*made.freezes, made.runs[0].plan))
    for secret in ("hunter2", "pw123456", "sk-abcdef", "/home/kim", '"kim"'):
        assert secret not in everything


def test_how_many_ran_side_by_side_is_a_fact_of_the_run_not_of_the_version(tmp_path: Path) -> None:
    tb_run(tmp_path / "1", [tb_row()], run="one", metadata={"n_concurrent_trials": 8})
    tb_run(tmp_path / "2", [tb_row()], run="two", metadata={"n_concurrent_trials": 32})
    made = read_terminal_bench([tmp_path], request())
    assert len({run.plan.config_ref for run in made.runs}) == 1
    said = [{each.key: each.value for each in run.plan.host} for run in made.runs]
    assert sorted(each["n_concurrent_trials"] for each in said) == ["32", "8"]


def test_the_label_is_the_month_of_the_start_and_the_id_its_minute(tmp_path: Path) -> None:
    made = read_terminal_bench([tb_run(tmp_path / "run", [tb_row()])], request())
    assert _config(made).version == "2025-09"
    assert made.runs[0].plan.run_id.startswith("20250910-0127-")


def test_other_settings_in_the_same_month_need_a_label_of_their_own(tmp_path: Path) -> None:
    tb_run(tmp_path / "1", [tb_row()], run="one")
    tb_run(tmp_path / "2", [tb_row()], run="two", metadata={"model_name": "other-model"})
    with pytest.raises(UserError, match=r'2/results\.json: this is not the tiny-agent@2025-09 in .*: model is "other-model", not "tiny-model"') as caught:  # fmt: skip
        read_terminal_bench([tmp_path], request())
    assert "--label" in (caught.value.hint or "")


def test_a_file_a_run_folder_and_a_folder_of_runs_are_all_understood(tmp_path: Path) -> None:
    folder = tb_run(tmp_path / "runs" / "one", [tb_row()])
    (tmp_path / "runs" / "notes").mkdir()
    ways = [folder / "results.json", folder, tmp_path / "runs"]
    found = [read_terminal_bench([way], request()).runs for way in ways]
    assert found[0] == found[1] == found[2]
    together = read_terminal_bench(ways, request())
    assert len(together.runs) == 1


def test_a_folder_without_results_is_refused_with_the_way_on(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no results\.json") as caught:
        read_terminal_bench([tmp_path], request())
    assert caught.value.hint


def test_a_figure_that_the_rows_do_not_bear_out_is_said(tmp_path: Path) -> None:
    rows = [tb_row("a"), tb_row("b", resolved=None, failure_mode="test_timeout")]
    path = write(tmp_path / "results.json", {"id": "r", "results": rows, "accuracy": 1.0})
    notes = read_terminal_bench([path], request()).notes
    assert any(
        "states an accuracy of 1.0000, its own rows give 0.5000 (1 of 2)" in each for each in notes
    )
    assert "1 attempt without a verdict of its own (test_timeout), read as timeout" in notes


def test_an_odd_task_id_gets_a_safe_name_and_keeps_its_own_as_title(tmp_path: Path) -> None:
    odd = "../Ünïcode task/CON."
    made = read_terminal_bench([tb_run(tmp_path / "run", [tb_row(odd)])], request())
    material = next(each for each in made.freezes if isinstance(each, MaterialFreeze))
    assert material.title == odd
    assert "/" not in material.task_id
    assert made.runs[0].attempts[0].task_id == material.task_id


def test_a_very_long_task_id_still_gets_a_name_of_its_own(tmp_path: Path) -> None:
    rows = [tb_row("任" * 150 + end) for end in "ab"]
    made = read_terminal_bench([tb_run(tmp_path / "run", rows)], request())
    names = {row.task_id for row in made.runs[0].attempts}
    assert len(names) == 2
    assert max(map(len, names)) <= 120
