"""What tau-bench's rows become."""

from pathlib import Path

import pytest
from tests.run.importers.miniatures import (
    TAU_NAME,
    agreed,
    request,
    tau_broken,
    tau_cut_off,
    tau_row,
    write,
)

from evalbook.base.problems import UserError
from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.task import MaterialFreeze
from evalbook.run.importers.tau_bench import MAPPING, read_tau_bench


def _row(tmp_path: Path, row: dict[str, object]) -> Attempt:
    made = read_tau_bench([write(tmp_path / "run.json", [row])], request())
    return made.runs[0].attempts[0]


@pytest.mark.parametrize(
    ("reward", "verdict"),
    [(1.0, "pass"), (1, "pass"), (1 - 9e-7, "pass"), (1 + 9e-7, "pass"), (1 - 2e-6, "fail"), (0.5, "fail"), (2, "fail")],
)  # fmt: skip
def test_a_reward_within_a_millionth_of_one_is_a_pass_and_nothing_else_is(
    tmp_path: Path, reward: float, verdict: str
) -> None:
    row = _row(tmp_path, tau_row(reward=reward))
    assert (row.verdict, row.judged) == (verdict, True)


def test_an_exception_is_an_infra_error_without_a_verdict_of_its_own(tmp_path: Path) -> None:
    row = _row(tmp_path, tau_broken(error="RateLimitError: slow down\nkey sk-abcdefghij0123456789"))
    assert (row.verdict, row.judged, row.termination) == ("infra_error", False, "error")
    assert row.note == "the source says: RateLimitError: slow down"
    assert row.steps is None
    assert (row.input_sha256, row.grader_ref) == ("unknown", "unknown")


def test_no_credential_of_an_error_message_reaches_the_row(tmp_path: Path) -> None:
    row = _row(tmp_path, tau_broken(error="bad key sk-abcdefghij0123456789klmn given"))
    assert "abcdefghij" not in row.model_dump_json()
    assert row.note is not None
    assert "bad key [scrubbed:" in row.note


def test_a_row_at_the_step_limit_fails_and_says_what_was_seen(tmp_path: Path) -> None:
    made = read_tau_bench([write(tmp_path / "run.json", [tau_cut_off(), tau_row(1)])], request())
    row = made.runs[0].attempts[0]
    assert (row.verdict, row.judged, row.termination) == ("fail", True, "step_limit")
    assert row.note == "reward_info is null after 5 messages: cut off at the step limit"
    assert made.notes == ("1 attempt ended at the step limit",)


def test_trials_count_from_zero_there_and_from_one_here(tmp_path: Path) -> None:
    rows = [tau_row(7, 0), tau_row(7, 1)]
    made = read_tau_bench([write(tmp_path / "run.json", rows)], request())
    ids = [row.attempt_id.partition("/")[2] for row in made.runs[0].attempts]
    assert ids == ["7/1", "7/2"]
    assert [row.source.key for row in made.runs[0].attempts if row.source] == [
        "tau-bench:run/7/0", "tau-bench:run/7/1",
    ]  # fmt: skip


def test_what_the_source_does_not_show_stays_unknown(tmp_path: Path) -> None:
    row = _row(tmp_path, tau_row())
    assert (row.cost, row.currency) == ("unknown", None)
    assert (row.started_at, row.ended_at, row.elapsed_seconds) == (None, None, None)
    assert (row.tokens_in, row.tool_retries, row.human_help) == (None, None, None)
    assert row.initial_state_ref == "unknown"
    assert (row.condition, row.restored) == ("unknown", "unknown")


def test_a_row_keeps_its_place_and_the_words_of_its_source(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", [tau_row(1), tau_row(2, reward=0.0)])
    made = read_tau_bench([path], request())
    source = made.runs[0].attempts[1].source
    assert source is not None
    assert (source.position, source.file_sha256) == (1, made.runs[0].plan.sources[0].sha256)
    assert {word.key: word.value for word in source.raw} == {
        "reward": "0.0", "r_actions": "0.0", "gt_data_hash": '"ab12"',
    }  # fmt: skip
    assert made.runs[0].plan.sources[0].mapping == MAPPING
    assert made.runs[0].attempts[1].termination == "user"
    assert made.runs[0].attempts[1].steps == 2


def test_checks_that_failed_are_named_and_missing_outputs_quoted(tmp_path: Path) -> None:
    row = tau_row(reward=0.0)
    row["info"]["reward_info"]["info"] = {"r_outputs": 0.0, "outputs": {"327": False, "4": True}}
    made = _row(tmp_path, row)
    assert made.failed_checks == ("r_outputs",)
    assert made.checks[0].actual == 'not said: "327"'


def test_a_trial_that_is_missing_counts_as_planned_and_not_executed(tmp_path: Path) -> None:
    rows = [tau_row(0, 0), tau_row(1, 0), tau_row(0, 1)]
    made = read_tau_bench([write(tmp_path / "run.json", rows)], request())
    plan = made.runs[0].plan
    assert (plan.planned, len(made.runs[0].attempts)) == (4, 3)
    assert made.notes == ("1 attempt planned but not executed",)


def test_a_broken_row_takes_the_material_that_other_rows_show(tmp_path: Path) -> None:
    rows = [tau_broken(3, 0), tau_row(3, 1)]
    made = read_tau_bench([write(tmp_path / "run.json", rows)], request())
    first, second = made.runs[0].attempts
    assert first.input_sha256 == second.input_sha256 != "unknown"
    assert first.verdict == "infra_error"


def test_rows_of_one_task_that_show_different_material_are_refused(tmp_path: Path) -> None:
    other = tau_row(0, 1)
    other["info"]["task"]["instruction"] = "Something else."
    path = write(tmp_path / "run.json", [tau_row(0, 0), other])
    with pytest.raises(
        UserError, match=r"run\.json: row \[1\]: its task 0 is another than that of row \[0\]"
    ):
        read_tau_bench([path], request())


def test_material_changes_with_what_is_wanted_and_the_input_with_the_instruction(
    tmp_path: Path,
) -> None:
    def freeze(name: str, key: str, value: object) -> MaterialFreeze:
        row = tau_row()
        row["info"]["task"][key] = value
        made = read_tau_bench([write(tmp_path / name, [row])], request())
        return next(each for each in made.freezes if isinstance(each, MaterialFreeze))

    plain = freeze("a.json", "outputs", [])
    wanted = freeze("b.json", "outputs", ["327"])
    told = freeze("c.json", "instruction", "Be quick.")
    assert plain.grader_ref != wanted.grader_ref
    assert plain.input_sha256 == wanted.input_sha256
    assert told.grader_ref == plain.grader_ref
    assert told.input_sha256 != plain.input_sha256
    assert len({plain.sha256, wanted.sha256, told.sha256}) == 3
    assert (told.instruction, told.title, told.source) == ("Be quick.", "0", "tau-bench")


def test_the_name_that_tau_bench_gives_its_files_tells_the_config(tmp_path: Path) -> None:
    made = read_tau_bench([write(tmp_path / TAU_NAME, [tau_row()])], request())
    config = next(each for each in made.freezes if isinstance(each, ConfigFreeze))
    settings = {each.key: each.value for each in config.settings}
    settings.pop("policy_sha256")
    assert (config.config, config.version) == ("tool-calling-tiny-model", "imported")
    assert settings == {
        "agent": '"tau-bench tool-calling"', "model": '"tiny-model"', "sampling.temperature": '"0.0"',
        "user.model": '"tiny-user"', "user.strategy": '"llm"',
    }  # fmt: skip
    assert {each.key for each in made.runs[0].plan.host} == {"range", "stamp"}


def test_config_and_label_can_be_given(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", [tau_row()])
    made = read_tau_bench([path], request(config="clerk", version="v2"))
    assert made.runs[0].plan.config_ref.startswith("clerk@v2:")


@pytest.mark.parametrize(
    ("option", "value"), [("config", "Upper Case"), ("version", "a b"), ("config", "con")]
)
def test_a_config_or_label_that_can_be_no_name_is_refused(
    tmp_path: Path, option: str, value: str
) -> None:
    path = write(tmp_path / "run.json", [tau_row()])
    with pytest.raises(UserError, match="can't be a name"):
        read_tau_bench([path], request(**{option: value}))


def test_two_policies_under_one_label_are_refused_with_what_differs(tmp_path: Path) -> None:
    other = tau_row()
    other["traj"][0]["content"] = "Be a careless clerk."
    paths = [write(tmp_path / "a.json", [tau_row()]), write(tmp_path / "b.json", [other])]
    with pytest.raises(
        UserError, match=r"b\.json: this is not the clerk@imported in .*a\.json: policy_sha256 is"
    ) as caught:
        read_tau_bench(paths, request(config="clerk"))
    assert "--label" in (caught.value.hint or "")


def test_two_files_of_one_config_are_two_runs_of_it(tmp_path: Path) -> None:
    later = TAU_NAME.replace("0426123456", "0427123456")
    paths = [
        write(tmp_path / TAU_NAME, [tau_row()]),
        write(tmp_path / later, [tau_row(reward=0.0)]),
    ]
    made = read_tau_bench(paths, request())
    assert len({run.plan.run_id for run in made.runs}) == 2
    assert len({run.plan.config_ref for run in made.runs}) == 1
    rules = next(each for each in made.freezes if isinstance(each, EvaluationFreeze)).rules
    assert (rules.attempts, rules.k) == (2, (1, 2))


def test_the_same_file_given_twice_is_read_once(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, [tau_row()]) for name in ("a.json", "b.json")]
    made = read_tau_bench(paths, request())
    assert len(made.runs) == 1
    assert made.notes[0].endswith("a.json, read once")


def test_two_other_files_of_one_name_are_the_same_run_and_refused(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "x" / "run.json", [tau_row()]),
        write(tmp_path / "y" / "run.json", [tau_row(reward=0.0)]),
    ]
    with pytest.raises(UserError, match="holds the same run as"):
        read_tau_bench(paths, request())


def test_rules_that_were_agreed_go_into_the_plan_as_they_are(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", [tau_row()])
    made = read_tau_bench([path], request(rules=agreed()))
    assert made.rules == "agreed"
    assert made.runs[0].plan.rules == agreed()


def test_the_same_file_makes_the_same_ids(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json", [tau_row()])
    assert read_tau_bench([path], request()) == read_tau_bench([path], request())
    other = read_tau_bench([path], request(evaluation="another"))
    assert other.runs[0].plan.run_id != read_tau_bench([path], request()).runs[0].plan.run_id
    assert other.runs[0].plan.run_id.startswith("20261201-0830-")
