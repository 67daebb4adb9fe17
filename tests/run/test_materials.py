"""A freeze covers everything that measures, and a difference is named by its file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.run.folders import AGENT, CONFIG, RULES, TASK, evaluation_folder, write_files
from tests.run.sittings import AT, PERSON

from evalbook.base.canonical import NamedDigest, manifest_digest
from evalbook.base.problems import UserError
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.pages import line_bytes, parse_line
from evalbook.records.task import MaterialFreeze
from evalbook.run.evaluations import load_evaluation
from evalbook.run.materials import (
    Freeze,
    Stamp,
    config_freeze,
    differences,
    freeze_records,
    material_freezes,
)
from evalbook.run.parts import material_refs, task_parts

STAMP = Stamp("first version", PERSON, AT)
LATER = Stamp("because", PERSON, "2026-12-01T00:00:00.000Z")


def frozen(
    folder: Path, previous: tuple[Freeze, ...] = (), stamp: Stamp = STAMP
) -> tuple[Freeze, ...]:
    return freeze_records(load_evaluation(folder), previous, stamp)


def found(
    folder: Path, previous: tuple[Freeze, ...], config: str = "agent"
) -> list[tuple[str, str]]:
    return [
        (each.path, each.what) for each in differences(load_evaluation(folder), previous, config)
    ]


def test_a_freeze_holds_rules_configs_and_tasks_and_fits_a_page(tmp_path: Path) -> None:
    records = frozen(evaluation_folder(tmp_path))

    rules, config, material = records
    assert isinstance(rules, EvaluationFreeze)
    assert isinstance(config, ConfigFreeze)
    assert isinstance(material, MaterialFreeze)
    assert (rules.title, rules.tasks, rules.description) == ("Greetings", 1, "# Greetings\n")
    assert [(each.key, each.value) for each in config.settings] == [
        ("agent", '"greeter 1.0"'),
        ("command", '["{python}","{evaluation}/agents/greeter.py"]'),
        ("model", '"scripted"'),
        ("prompt", '"prompts/v1.md"'),
        ("sampling.temperature", "0.2"),
    ]
    assert [file.path for file in config.files] == ["agents/greeter.py", "prompts/v1.md"]
    assert [(part.part, [file.path for file in part.files]) for part in material.parts] == [
        ("instruction", ["instruction.md"]),
        ("input", ["start/names.txt"]),
        ("start", ["start/names.txt"]),
        ("expected", ["expected/greeting.txt"]),
        ("grader", ["task.toml#checks"]),
    ]
    for part in material.parts:
        digests = [NamedDigest(file.path, file.sha256) for file in part.files]
        assert part.sha256 == manifest_digest(digests)
    assert all(parse_line(line_bytes(record)) == record for record in records)


def test_what_did_not_change_is_not_frozen_again(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    first = frozen(folder)

    assert frozen(folder, first, LATER) == ()
    assert found(folder, first) == []
    (folder / "tasks/hello/expected/greeting.txt").write_text("hi Ada\n")
    (again,) = frozen(folder, first, LATER)
    assert isinstance(again, MaterialFreeze)
    assert again.reason == "because"
    assert found(folder, (*first, again)) == []


EVERYTHING = {
    "tasks/hello/start/sub/more.txt": "m",
    "tasks/hello/solution/greeting.txt": "hello Ada\n",
    "tasks/hello/faults/rude/greeting.txt": "no\n",
    "tasks/hello/grader.py": "print('[]')",
    "tasks/hello/helper.py": "x = 1",
}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"evaluation.toml": RULES + "# a comment\n"}, [("evaluation.toml", "changed")]),
        ({"agents/greeter.py": AGENT + "#"}, [("agents/greeter.py", "changed")]),
        ({"prompts/v1.md": "Be rude.\n"}, [("prompts/v1.md", "changed")]),
        ({"configs/agent.toml": CONFIG.replace("0.2", "0.3")}, [("configs/agent.toml", "changed")]),
        ({"configs/agent.toml": CONFIG.replace('"v1"', '"v2"')}, [("configs/agent.toml", "never frozen")]),
        ({"tasks/hello/instruction.md": "Greet.\n"}, [("tasks/hello/instruction.md", "changed")]),
        ({"tasks/hello/start/names.txt": "Bob\n"}, [("tasks/hello/start/names.txt", "changed")]),
        ({"tasks/hello/start/new": ""}, [("tasks/hello/start/new", "added")]),
        ({"tasks/hello/start/sub/more.txt": None}, [("tasks/hello/start/sub/more.txt", "removed")]),
        ({"tasks/hello/expected/greeting.txt": "x"}, [("tasks/hello/expected/greeting.txt", "changed")]),
        ({"tasks/hello/grader.py": "print('[{}]')"}, [("tasks/hello/grader.py", "changed")]),
        ({"tasks/hello/helper.py": "x = 2"}, [("tasks/hello/helper.py", "changed")]),
        ({"tasks/hello/solution/greeting.txt": "x"}, [("tasks/hello/solution/greeting.txt", "changed")]),
        ({"tasks/hello/faults/rude/greeting.txt": "x"}, [("tasks/hello/faults/rude/greeting.txt", "changed")]),
        (
            {"tasks/hello/task.toml": TASK.replace("= 30", "= 31")},
            [("tasks/hello/task.toml", "changed"), ("tasks/hello/task.toml#checks", "changed")],
        ),
        ({"tasks/hello/task.toml": TASK.replace("Say", "Shout")}, [("tasks/hello/task.toml", "changed")]),
        (
            {"tasks/hello/task.toml": 'restore = ["/var/cache/x"]\n' + TASK},
            [("tasks/hello/task.toml", "changed"), ("tasks/hello/task.toml#restore", "added")],
        ),
        (
            {"tasks/bye/task.toml": TASK, "tasks/bye/instruction.md": "Bye.\n", "tasks/bye/expected/greeting.txt": ""},
            [("tasks/bye", "never frozen")],
        ),
        ({"README.md": "# Other words\n"}, []),
        ({"notes.txt": "x"}, []),
    ],
)  # fmt: skip
def test_a_run_learns_which_file_differs(
    tmp_path: Path, change: dict[str, str | None], named: list[tuple[str, str]]
) -> None:
    folder = evaluation_folder(tmp_path, EVERYTHING)
    first = frozen(folder)

    write_files(folder, change)

    assert found(folder, first) == named


def test_a_right_to_execute_is_material(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    first = frozen(folder)

    (folder / "tasks/hello/start/names.txt").chmod(0o755)

    assert found(folder, first) == [("tasks/hello/start#executable", "added")]


def test_a_task_that_is_gone_is_named_until_that_is_frozen_too(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path, {f"tasks/bye/{name}": text for name, text in {
        "task.toml": TASK, "instruction.md": "Bye.\n", "expected/greeting.txt": ""}.items()})  # fmt: skip
    first = frozen(folder)
    for name in ("task.toml", "instruction.md", "expected/greeting.txt"):
        (folder / "tasks/bye" / name).unlink()
    (folder / "tasks/bye/expected").rmdir()
    (folder / "tasks/bye").rmdir()

    assert found(folder, first) == [("tasks/bye", "removed")]
    second = frozen(folder, first, LATER)
    assert [type(each) for each in second] == [EvaluationFreeze]
    assert found(folder, (*first, *second)) == []


def test_only_the_config_that_runs_must_be_frozen(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    first = frozen(folder)

    write_files(folder, {"configs/other.toml": CONFIG})

    assert found(folder, first) == []
    assert found(folder, first, "other") == [("configs/other.toml", "never frozen")]


def test_one_label_stands_for_one_content(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    first = frozen(folder)
    (folder / "prompts/v1.md").write_text("Be rude.\n")

    with pytest.raises(UserError) as caught:
        frozen(folder, first, LATER)

    assert str(caught.value) == (
        "evaluations/greetings/configs/agent.toml: version 'v1' was frozen on 2026-11-30 with other "
        "content: prompts/v1.md changed"
    )


def test_going_back_to_an_older_version_needs_no_new_freeze(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    first = frozen(folder)
    write_files(
        folder, {"configs/agent.toml": CONFIG.replace('"v1"', '"v2"').replace("0.2", "0.9")}
    )
    second = frozen(folder, first, LATER)
    both = (*first, *second)
    write_files(folder, {"configs/agent.toml": CONFIG})

    assert frozen(folder, both, LATER) == ()
    assert found(folder, both) == []
    latest, v1 = config_freeze(both, "agent"), config_freeze(both, "agent", "v1")
    assert latest is not None
    assert v1 is not None
    assert (latest.version, v1.version) == ("v2", "v1")
    assert config_freeze(both, "other") is None


def test_equal_content_has_one_hash_whatever_it_is_called(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path)
    write_files(folder, {"configs/other.toml": CONFIG.replace('"v1"', '"2026-11"')})

    _, one, other, _ = frozen(folder)

    assert isinstance(one, ConfigFreeze)
    assert isinstance(other, ConfigFreeze)
    assert one.sha256 == other.sha256
    assert one.ref != other.ref


def test_each_reference_covers_its_own_files_only(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path, EVERYTHING)
    before = material_refs(load_evaluation(folder).tasks["hello"])

    def changed(name: str) -> list[str]:
        path = folder / "tasks/hello" / name
        kept = path.read_text()
        path.write_text(kept + "#")
        now = material_refs(load_evaluation(folder).tasks["hello"])
        path.write_text(kept)
        return [field for field, ref in before._asdict().items() if getattr(now, field) != ref]

    assert changed("instruction.md") == ["input_sha256"]
    assert changed("start/names.txt") == ["input_sha256", "initial_state_ref"]
    assert changed("expected/greeting.txt") == ["grader_ref"]
    assert changed("grader.py") == ["grader_ref"]
    assert changed("helper.py") == ["grader_ref"]
    assert changed("solution/greeting.txt") == []
    assert changed("faults/rude/greeting.txt") == []


def test_surroundings_are_start_but_not_input(tmp_path: Path) -> None:
    files = EVERYTHING | {"tasks/hello/task.toml": 'inputs = ["*.txt"]\n' + TASK}
    folder = evaluation_folder(tmp_path, files)

    parts = task_parts(load_evaluation(folder).tasks["hello"])

    assert [file.path for file in parts["input"].files] == ["start/names.txt"]
    assert [file.path for file in parts["start"].files] == ["start/names.txt", "start/sub/more.txt"]


def test_a_task_without_a_start_has_references_all_the_same(tmp_path: Path) -> None:
    folder = evaluation_folder(tmp_path, {"tasks/hello/start/names.txt": None})

    material = material_freezes(frozen(folder))["hello"]

    assert [part.part for part in material.parts] == ["instruction", "expected", "grader"]
    assert material.initial_state_ref == manifest_digest([])


def test_keys_with_dots_stay_apart(tmp_path: Path) -> None:
    config = CONFIG + '[tools]\n"a.b" = "1"\n[tools.a]\nb = "2"\n'

    _, frozen_config, _ = frozen(evaluation_folder(tmp_path, {"configs/agent.toml": config}))

    assert isinstance(frozen_config, ConfigFreeze)
    settings = {each.key: each.value for each in frozen_config.settings}
    assert settings['tools."a.b"'] == '"1"'
    assert settings["tools.a.b"] == '"2"'


@given(content=st.binary(max_size=50), other=st.binary(max_size=50))
def test_references_agree_exactly_when_the_bytes_do(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, other: bytes
) -> None:
    refs = []
    for each in (content, other):
        folder = evaluation_folder(tmp_path_factory.mktemp("book"))
        (folder / "tasks/hello/start/names.txt").write_bytes(each)
        refs.append(material_refs(load_evaluation(folder).tasks["hello"]))

    assert (refs[0] == refs[1]) == (content == other)
