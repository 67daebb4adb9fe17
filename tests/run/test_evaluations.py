"""An evaluation's folder is loaded whole, or refused in one line that names file, line and fault."""

import os
import pickle
from pathlib import Path

import pytest
from tests.run.folders import CONFIG, RULES, TASK, evaluation_folder

from evalbook.base.problems import UserError
from evalbook.run.evaluations import find_evaluation, load_evaluation

E = "evaluations/greetings"
CHECK = '[[check]]\nname = "c"\n'


def refusal(tmp_path: Path, files: dict[str, str | None]) -> str:
    folder = evaluation_folder(tmp_path, files)
    with pytest.raises(UserError) as caught:
        load_evaluation(folder)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    return str(caught.value)


def test_everything_people_wrote_is_loaded(tmp_path: Path) -> None:
    loaded = load_evaluation(evaluation_folder(tmp_path))

    assert loaded.name == "greetings"
    assert loaded.evaluation.k == (1, 2)
    assert loaded.description == "# Greetings\n"
    assert loaded.configs["agent"].config.version == "v1"
    assert loaded.configs["agent"].files == ("agents/greeter.py", "prompts/v1.md")
    assert loaded.tasks["hello"].task.time_limit_s == "30"
    assert loaded.tasks["hello"].instruction == "Greet everybody in names.txt.\n"
    assert pickle.loads(pickle.dumps(loaded)) == loaded


def test_an_evaluation_that_only_takes_imports_needs_no_tasks(tmp_path: Path) -> None:
    folder = tmp_path / "evaluations" / "airline"
    folder.mkdir(parents=True)
    (folder / "evaluation.toml").write_text('title = "Airline"\nattempts = 4\n')

    loaded = load_evaluation(folder)

    assert (loaded.tasks, loaded.configs, loaded.description) == ({}, {}, "")


@pytest.mark.parametrize(
    ("written", "weights"),
    [
        ('weights = "equal"', []),
        ("[weights]\nhello = 2", [("hello", "2")]),
        ("weights = { hello = 0.5 }", [("hello", "0.5")]),
    ],
)
def test_weights_are_a_word_or_a_table(
    tmp_path: Path, written: str, weights: list[tuple[str, str]]
) -> None:
    folder = evaluation_folder(
        tmp_path, {"evaluation.toml": f'title = "G"\nattempts = 1\n{written}\n'}
    )

    found = load_evaluation(folder).evaluation.weights

    assert [(each.task, each.weight) for each in found] == weights


RULES_2 = 'title = "G"\nattempts = 2\n'


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ('title = "G"\nattemps = 2\n', ":2: unknown key 'attemps'; did you mean 'attempts'? (and 1 more)"),
        (RULES_2 + "[exclusion]\n\nalowed = []\n", ":5: unknown key 'alowed'; did you mean 'allowed'?"),
        (RULES_2 + "zzz = 1\n", ":3: unknown key 'zzz' (known: attempts, baseline, constructed,"),
        ('title = "G"\n', ": 'attempts' is missing"),
        ('title = "G"\nattempts = "two"\n', ":2: 'attempts': input should be a valid integer, not \"two\""),
        ('title = "G"\nattempts = 0\n', ":2: 'attempts': input should be greater than or equal to 1, not 0"),
        (RULES_2 + "k = [3, 1]\n", ":3: 'k': must be whole numbers in ascending order, each once"),
        (RULES_2 + "seeds = [1]\n", ": seeds has 1 entries for 2 attempts per task"),
        (RULES_2 + 'weights = "same"\n', ":3: 'weights' is \"equal\" or a table"),
        (RULES_2 + "weights = 3\n", ":3: 'weights' is \"equal\" or a table"),
        (RULES_2 + "[weights]\nhallo = 1\n", ":4: there is no task 'hallo'; did you mean 'hello'?"),
        (RULES_2 + "[weights]\nhello = 0\n", ":3: 'weights': string should match pattern '[1-9]', not \"0\""),
        (RULES_2 + "[weights]\nhello = -1\n", ":3: 'weights': string should match pattern"),
        (RULES_2 + "[stability]\nmax_range = 2\n", ":4: 'max_range': string should match pattern"),
        (RULES_2 + "constructed = 2026-01-01\n", ":3: 'constructed': dates and infinities have no place"),
        (RULES_2 + "[retry]\nwait_s = inf\n", ":4: 'wait_s': dates and infinities have no place"),
        ("title = \n", ":1: is not TOML: Invalid value"),
        ("title = 'G'\nattempts = 2\nattempts = 3\n", ":3: is not TOML: Cannot overwrite a value"),
        ("title = '''\n\n", ":3: is not TOML: "),
        ("x = " + "[" * 5_000, "is nested too deeply"),
        ("attempts = " + "9" * 5_000, "is not TOML"),
    ],
)  # fmt: skip
def test_a_wrong_key_is_named_with_its_line(tmp_path: Path, rules: str, said: str) -> None:
    message = refusal(tmp_path, {"evaluation.toml": rules})

    assert message.startswith(f"{E}/evaluation.toml")
    assert said in message


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ('kind = "bytes_equals"\nfile = "a"\n', ":5: unknown kind 'bytes_equals'; did you mean 'bytes_equal'?"),
        ('file = "a"\n', ":5: 'check' needs a 'kind'"),
        ('kind = "file_exists"\nfiel = "a"\n', ":8: unknown key 'fiel'; did you mean 'file'?"),
        ('kind = "file_exists"\nfile = "/etc/passwd"\n', ":8: 'file': must be a relative path"),
        ('kind = "file_exists"\nfile = "../a"\n', ":8: 'file': must be a relative path"),
        ('kind = "file_exists"\n', ":5: 'file' is missing"),
        ('kind = "bytes_equal"\nfile = "a"\nexpected = "gone"\n', ":6: check 'c' needs expected/gone, which is not"),
        ('kind = "json_schema"\nfile = "a"\nschema_file = "s"\n', ":6: check 'c' needs expected/s"),
        ('kind = "script"\n', ":6: check 'c' needs grader.py"),
    ],
)  # fmt: skip
def test_a_wrong_check_is_named_with_its_line(tmp_path: Path, check: str, said: str) -> None:
    head = 'title = "T"\n\ntime_limit_s = 1\n\n'

    message = refusal(tmp_path, {"tasks/hello/task.toml": head + CHECK + check})

    assert message.startswith(f"{E}/tasks/hello/task.toml")
    assert said in message


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"evaluation.toml": None}, f"{E}/evaluation.toml: is not there"),
        ({"tasks/hello/instruction.md": None}, f"{E}/tasks/hello/instruction.md: is not there"),
        ({"tasks/hello/instruction.md": " \n"}, f"{E}/tasks/hello/instruction.md: is empty"),
        ({"tasks/hello/task.toml": None}, f"{E}/tasks/hello/task.toml: is not there"),
        ({"tasks/Hello/task.toml": TASK}, "greetings/tasks/Hello: can't be a name: names are lower-case"),
        ({"tasks/nul/task.toml": TASK}, "greetings/tasks/nul: can't be a name: is a Windows device"),
        ({"configs/My Agent.toml": CONFIG}, "greetings/configs/My Agent: can't be a name"),
        ({"prompts/v1.md": None}, "agent.toml:5: 'prompt' names prompts/v1.md, which is not there"),
        ({"agents/greeter.py": None}, "agent.toml:4: 'command' names agents/greeter.py, which is not there"),
        ({"configs/agent.toml": CONFIG.replace("prompts/", "../")}, "'prompt' names ../v1.md, which is outside"),
        ({"configs/agent.toml": CONFIG.replace("[sampling]", "[limit]")}, "agent.toml:6: unknown key 'limit'; did you mean 'limits'?"),
        ({"tasks/hello/task.toml": TASK.replace("greeting_right", "time_limit")}, "task.toml:5: every task has a check 'time_limit' of its own"),
        ({"tasks/hello/task.toml": 'restore = ["cache"]\n' + TASK}, "task.toml:1: 'restore' takes absolute paths, not 'cache'"),
        ({"tasks/hello/task.toml": 'restore = ["/"]\n' + TASK}, "task.toml:1: restoring '/' would overwrite the evaluation"),
        ({"tasks/hello/task.toml": TASK + TASK[TASK.index("[[check]]"):]}, "task.toml: two checks are named 'greeting_right'"),
    ],
)  # fmt: skip
def test_a_folder_that_does_not_fit_is_refused(
    tmp_path: Path, files: dict[str, str | None], said: str
) -> None:
    assert said in refusal(tmp_path, files)


def test_a_link_in_the_material_is_refused(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    (folder / "tasks/hello/start/all").symlink_to("/etc")

    with pytest.raises(UserError, match="tasks/hello/start/all: is a symbolic link"):
        load_evaluation(folder)


def test_a_pipe_in_the_material_is_refused_and_never_opened(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    os.mkfifo(folder / "tasks/hello/start/pipe")

    with pytest.raises(UserError, match="tasks/hello/start/pipe: is not a regular file"):
        load_evaluation(folder)


def test_a_file_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    (Path(os.fsdecode(os.fsencode(folder) + b"/tasks/hello/start/\xff"))).write_text("x")

    with pytest.raises(UserError, match="its name is not UTF-8"):
        load_evaluation(folder)


def test_text_that_is_no_utf8_is_refused_at_its_line(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    (folder / "evaluation.toml").write_bytes(RULES.encode() + b'baseline = "\xff"\n')

    with pytest.raises(UserError, match=r"evaluation.toml:7: is not UTF-8 text"):
        load_evaluation(folder)


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    (folder / "evaluation.toml").write_bytes(b"\xef\xbb\xbf" + RULES.replace("\n", "\r\n").encode())

    assert load_evaluation(folder).evaluation.seeds == (11, 12, 13)


def test_a_folder_of_the_command_stands_for_its_files(tmp_path: Path) -> None:
    folder = evaluation_folder(
        tmp_path,
        {
            "configs/agent.toml": CONFIG.replace("agents/greeter.py", "agents"),
            "agents/words.py": "",
            "agents/__pycache__/words.pyc": "",
        },
    )

    assert load_evaluation(folder).configs["agent"].files == (
        "agents/greeter.py",
        "agents/words.py",
        "prompts/v1.md",
    )


def test_a_misspelt_evaluation_is_answered_with_the_nearest(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)

    assert find_evaluation(folder.parent, "greetings") == folder
    for name in ("greeting", "", "..", "greetings/."):
        with pytest.raises(UserError, match="there is no evaluation"):
            find_evaluation(folder.parent, name)
    with pytest.raises(UserError, match="did you mean 'greetings'"):
        find_evaluation(folder.parent, "greeting")
