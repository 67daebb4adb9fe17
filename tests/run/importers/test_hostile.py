"""Files that are broken or mean ill give one line and nothing else, whatever they hold."""

import copy
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.run.importers.miniatures import (
    pages_after,
    request,
    tau_broken,
    tau_cut_off,
    tau_row,
    tb_row,
    tb_run,
    write,
)

from evalbook.base.problems import UserError
from evalbook.records.pages import Record, line_bytes, parse_line
from evalbook.run.importers.f9_csv import read_csv
from evalbook.run.importers.reconcile import reconcile
from evalbook.run.importers.tau_bench import read_tau_bench
from evalbook.run.importers.terminal_bench import read_terminal_bench
from evalbook.run.importers.values import Import

READERS: dict[str, Callable[[Path], Import]] = {
    "tau-bench": lambda path: read_tau_bench([path], request()),
    "terminal-bench": lambda path: read_terminal_bench([path], request()),
    "csv": lambda path: read_csv([path], request()),
}
every_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
json_reader = pytest.mark.parametrize(
    "reader", [READERS["tau-bench"], READERS["terminal-bench"]], ids=["tau-bench", "terminal-bench"]
)


def refused(reader: Callable[[Path], Import], path: Path) -> str:
    """The one line with which a file is refused."""
    with pytest.raises(UserError) as caught:
        reader(path)
    said = str(caught.value)
    assert said.isprintable(), said
    assert path.name in said
    assert len(said) < 600
    return said


@every_reader
@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\x00", b"\x00" * 100, b"PK\x03\x04\x14\x00\x00\x00\x08\x00\x9f\xff", b"\xef\xbb\xbf", b"hello"],
    ids=["empty", "utf-16", "zeros", "zip", "only a byte order mark", "prose"],
)  # fmt: skip
def test_what_is_no_result_at_all_is_refused(
    tmp_path: Path, reader: Callable[[Path], Import], content: bytes
) -> None:
    refused(reader, write(tmp_path / "results.json", content))


@every_reader
def test_what_is_missing_or_no_file_is_refused(
    tmp_path: Path, reader: Callable[[Path], Import]
) -> None:
    refused(reader, tmp_path / "absent.json")
    os.mkfifo(tmp_path / "pipe.json")
    assert "is no regular file" in refused(reader, tmp_path / "pipe.json")
    (tmp_path / "folder").mkdir()
    refused(reader, tmp_path / "folder")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused(reader, tmp_path / "loop")


@every_reader
def test_a_name_that_would_break_the_line_is_shown_escaped(
    tmp_path: Path, reader: Callable[[Path], Import]
) -> None:
    path = write(tmp_path / "two\nlines\x1b[31m.json", "{")
    with pytest.raises(UserError) as caught:
        reader(path)
    assert "two\\nlines\\x1b[31m.json" in str(caught.value)


@json_reader
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 200_000 + "]" * 200_000, "is nested too deeply"),
        ('[{"a": 1,}]', "line 1, column 10: is no JSON"),
        ('[{"a": "b', "line 1, column 8: is no JSON: Unterminated string"),
        ('[{"a": 1}', "line 1: ends in the middle of its JSON"),
        ("[1] [2]", "is no JSON: Extra data"),
        ('[{"reward": NaN}]', "row [0].reward is NaN, which is no JSON"),
        ('[0, {"a": [-Infinity]}]', "row [1].a[0] is -Infinity, which is no JSON"),
        ('[{"reward": 1e999}]', "row [0].reward is a number beyond all bounds"),
        ('[{"reward": ' + "9" * 1_000_000 + "}]", "row [0].reward has 1000000 digits"),
        ('[{"trial": 0, "trial": 1}]', 'row [0] has the key "trial" twice'),
        ('[{"x": {"\\u2028": 0, "\\u2028": 1}}]', 'row [0].x has the key "\\u2028" twice'),
    ],
    ids=lambda value: value[:24],
)  # fmt: skip
def test_what_is_no_clean_json_is_refused_with_its_place(
    tmp_path: Path, reader: Callable[[Path], Import], text: str, message: str
) -> None:
    assert message in refused(reader, write(tmp_path / "results.json", text))


@json_reader
@pytest.mark.parametrize(
    "document", [{}, [], "text", 3, None, True, [1], [[]], [None], {"results": 3}]
)
def test_a_document_of_another_shape_is_refused(
    tmp_path: Path, reader: Callable[[Path], Import], document: object
) -> None:
    refused(reader, write(tmp_path / "results.json", document))


LONE = "\ud800"
TAU_FAULTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"reward": "1.0"}, 'reward is "1.0", not a number'),
    ({"reward": True}, "reward is true, not a number"),
    ({"reward": None}, "reward is missing"),
    ({"trial": -1}, "trial is -1, not a whole number from 0 to 9999"),
    ({"trial": 10_000}, "trial is 10000, not"),
    ({"trial": 0.5}, "trial is 0.5, not a whole number"),
    ({"trial": None}, "trial is missing"),
    ({"task_id": ""}, 'task_id is "", which can\'t be a name'),
    ({"task_id": "a\nb"}, 'task_id is "a\\nb", which can\'t be a name'),
    ({"task_id": "a\0b"}, 'task_id is "a\\x00b", which can\'t be a name'),
    ({"task_id": LONE}, "task_id holds half a surrogate pair"),
    ({"task_id": "x" * 5_000}, "task_id has 5000 characters"),
    ({"task_id": -1}, "task_id is -1, not a whole number"),
    ({"task_id": [1]}, "task_id is a list, not a whole number"),
    ({"info": None}, "info is missing"),
    ({"info": []}, "info: is a list, not an object"),
    ({"info": {"error": 3}}, "info: error is 3, not a text"),
    ({"info": {"task": {"instruction": LONE, "actions": []}}}, "instruction holds half a surrogate pair"),
    ({"info": {"task": {"instruction": "x", "actions": [LONE]}}}, "actions holds what has no canonical JSON form"),
    ({"info": {"task": {"instruction": "x" * 1_000_001, "actions": []}}}, "instruction has 1000001 characters"),
    ({"info": {"task": {"instruction": "x"}}}, "has no instruction or no actions"),
    ({"info": {"reward_info": 1}}, "reward_info: is 1, not an object"),
    ({"traj": "long"}, 'traj is "long", not a list'),
    ({"traj": [3]}, "traj[0]: is 3, not an object"),
)  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), TAU_FAULTS)
def test_a_wrong_row_of_tau_bench_is_named_by_its_place(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = write(tmp_path / "run.json", [tau_row(0), tau_row(1, **changes)])
    said = refused(READERS["tau-bench"], path)
    assert said.startswith(f"{path}: row [1]: ")
    assert message in said


TB_FAULTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"is_resolved": "true"}, 'is_resolved is "true", not true, false or null'),
    ({"is_resolved": 1}, "is_resolved is 1, not true"),
    ({"task_id": None}, "task_id is missing"),
    ({"task_id": 3}, "task_id is 3, not a text"),
    ({"task_id": "a\r\nb"}, "which can't be a name"),
    ({"failure_mode": ["x"]}, "failure_mode is a list, not a text"),
    ({"parser_results": ["x"]}, "parser_results: is a list, not an object"),
    ({"parser_results": {"t": None}}, '"t" is missing'),
    ({"parser_results": {"": "passed"}}, "a test with an empty name"),
    ({"parser_results": {LONE: "passed"}}, "the name of a test holds half a surrogate pair"),
    ({"parser_results": {LONE: False}}, "the name of a test holds half a surrogate pair"),
    ({"instruction": {}}, "instruction is an object, not a text"),
    ({"total_input_tokens": -5}, "total_input_tokens is -5, not a whole number"),
    ({"total_input_tokens": 10**80}, "not a whole number"),
    ({"trial_started_at": 17}, "trial_started_at is 17, not a text"),
    ({"trial_name": LONE}, "trial_name holds half a surrogate pair"),
)


@pytest.mark.parametrize(("changes", "message"), TB_FAULTS)
def test_a_wrong_row_of_terminal_bench_is_named_by_its_place(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    rows = [tb_row("a"), tb_row("b", **changes)]
    path = write(tmp_path / "results.json", {"id": "r", "results": rows})
    said = refused(READERS["terminal-bench"], path)
    assert said.startswith(f"{path}: row [1]: ")
    assert message in said


@pytest.mark.parametrize("row", [tau_row(0, 0), tau_row(0, 0, 0.0)])
def test_one_trial_twice_is_refused_in_tau_bench(tmp_path: Path, row: dict[str, Any]) -> None:
    path = write(tmp_path / "run.json", [tau_row(0, 0), row])
    assert "row [1]: is attempt 1 of 0, as row [0] is already" in refused(
        READERS["tau-bench"], path
    )


def test_one_trial_twice_is_refused_in_terminal_bench(tmp_path: Path) -> None:
    path = write(tmp_path / "results.json", {"results": [tb_row("a"), tb_row("a", id="other")]})
    said = refused(READERS["terminal-bench"], path)
    assert "row [1]: is attempt 1 of a, as row [0] is already" in said


def test_a_plan_that_nobody_would_make_is_not_listed(tmp_path: Path) -> None:
    rows = [tau_row(task, 0) for task in range(150)] + [tau_row(0, 9_999)]
    said = refused(READERS["tau-bench"], write(tmp_path / "run.json", rows))
    assert "means to make 1500000 attempts" in said
    tasks = [f"t{n}" for n in range(101)]
    folder = tb_run(tmp_path / "run", [tb_row("t0")], tasks=tasks, attempts=10_000)
    with pytest.raises(UserError, match="means to make 1010000 attempts"):
        READERS["terminal-bench"](folder)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"n_attempts": 0}, "n_attempts is 0, not a whole number from 1"),
        ({"n_attempts": 10**9}, "n_attempts is 1000000000, not"),
        ({"task_ids": "a"}, 'task_ids is "a", not a list'),
        ({"task_ids": ["a", "a"]}, "task_ids[1] is there already"),
        ({"task_ids": [None]}, "task_ids[0] is missing"),
        ({"agent_name": "a\nb"}, "agent_name is"),
        ({"agent_kwargs": {"x": LONE}}, "agent_kwargs: holds what has no canonical JSON form"),
        ({"agent_kwargs": {LONE: 1}}, "agent_kwargs: holds what has no canonical JSON form"),
        ({"start_time": 5}, "start_time is 5, not a text"),
    ],
)
def test_broken_metadata_is_named(tmp_path: Path, metadata: dict[str, Any], message: str) -> None:
    folder = tb_run(tmp_path / "run", [tb_row("a")], metadata=metadata)
    with pytest.raises(UserError) as caught:
        READERS["terminal-bench"](folder)
    assert "run_metadata.json" in str(caught.value)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


def test_deep_nesting_that_json_still_reads_is_refused_in_settings_and_material(
    tmp_path: Path,
) -> None:
    deep: object = 0
    for _ in range(300):
        deep = {"x": deep}
    row = tau_row()
    row["info"]["task"]["actions"] = [deep]
    READERS["tau-bench"](write(tmp_path / "run.json", [row]))
    folder = tb_run(tmp_path / "run", [tb_row()], metadata={"agent_kwargs": {"x": deep}})
    READERS["terminal-bench"](folder)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + json.dumps([tau_row()]).encode()
    assert len(READERS["tau-bench"](write(tmp_path / "run.json", content)).runs[0].attempts) == 1


_ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**40, "", " ", "\0", "a\nb", LONE, "x" * 400, "../..", "con", "é任务",
    [], {}, [None], {"a": {}}, "2025-01-01T00:00:00", "9999-12-31T23:59:59-23:59", "pass", "'=1",
)  # fmt: skip


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in inner:
        yield from _paths(each, (*path, key))


def _mutated(document: Any, draw: random.Random) -> Any:
    """Replace, remove, double or add something at a random place."""
    made = copy.deepcopy(document)
    *outer, last = draw.choice([path for path in _paths(made) if path])
    around = made
    for key in outer:
        around = around[key]
    match draw.randrange(4):
        case 0:
            del around[last]
        case 1 if isinstance(around, list):
            around.append(copy.deepcopy(around[last]))
        case 2 if isinstance(around, dict):
            around[draw.choice(["x", "error", LONE, "", "id"])] = draw.choice(_ODD)
        case _:
            around[last] = draw.choice(_ODD)
    return made


def _survives(read: Callable[[], Import]) -> None:
    """Whatever is read can be written, read back and reconciled; all else is one line."""
    refusal = ""
    try:
        made = read()
        records: list[Record] = list(made.freezes)
        for run in made.runs:
            records += [run.plan, *run.attempts]
        assert [parse_line(line_bytes(record)) for record in records] == records
        pages = pages_after(reconcile(made, ()))
        again = reconcile(made, pages)
        assert (again.runs, again.freezes, again.contradictions, again.vanished) == ((),) * 4
    except UserError as error:
        refusal = str(error)
    assert refusal.isprintable(), refusal


seeds = given(seed=st.integers(0, 2**32))


@seeds
def test_no_mutation_of_tau_bench_escapes_as_anything_but_one_line(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    draw = random.Random(seed)
    document: Any = [tau_row(0), tau_row("b", 1, 0.0), tau_broken(0, 1), tau_cut_off(0, 2)]
    for _ in range(draw.randint(1, 4)):
        document = _mutated(document, draw) or [tau_row()]
    path = write(tmp_path_factory.getbasetemp() / "tau" / "run.json", document)
    _survives(lambda: read_tau_bench([path], request()))


@seeds
def test_no_mutation_of_terminal_bench_escapes_as_anything_but_one_line(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    draw = random.Random(seed)
    folder = tmp_path_factory.getbasetemp() / "tb"
    rows = [tb_row("a", 1, 2), tb_row("a", 2, 2, resolved=None), tb_row("b", 1, 2, resolved=False)]
    tb_run(folder, rows, tasks=["a", "b", "c"], attempts=2)
    for name in draw.choices(
        ["results.json", "run_metadata.json", "tb.lock"], k=draw.randint(1, 4)
    ):
        document = json.loads((folder / name).read_text())
        write(folder / name, _mutated(document, draw) if document else {})
    _survives(lambda: read_terminal_bench([folder], request()))


@seeds
def test_no_mutation_of_a_table_escapes_as_anything_but_one_line(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    draw = random.Random(seed)
    run = "20261130-2118-k3f9"
    lines: Any = [
        ["task_id", "attempt_id", "request_id", "verdict", "cost", "currency", "started_at", "rerun_of"],
        ["a", f"{run}/a/1", f"{run}/a/1", "infra_error", "unknown", "", "2026-11-30T21:18:04.000Z", ""],
        ["a", f"{run}/a/2", f"{run}/a/1", "pass", "0.5", "EUR", "", ""],
        ["b", "1", "1", "fail", "", "", "", ""],
        ["a", "20261130-2300-rrrr/a/1", "", "pass", "", "", "", f"{run}/a/1"],
    ]  # fmt: skip
    for _ in range(draw.randint(1, 4)):
        lines = _mutated(lines, draw) or [["task_id"]]
    text = "\n".join(
        ",".join(str(cell) for cell in row) if isinstance(row, list) else str(row) for row in lines
    )
    path = write(
        tmp_path_factory.getbasetemp() / "csv" / "run.csv", text.encode("utf-8", "surrogatepass")
    )
    _survives(lambda: read_csv([path], request()))


@given(cut=st.integers(0, 4_000), flip=st.integers(0, 255))
def test_no_truncation_and_no_flipped_byte_escapes_as_anything_but_one_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flip: int
) -> None:
    content = bytearray(json.dumps([tau_row(0), tau_row(1)]).encode())
    at = cut % len(content)
    path = tmp_path_factory.getbasetemp() / "bytes" / "run.json"
    for made in (bytes(content[:at]), bytes([*content[:at], flip, *content[at + 1 :]])):
        write(path, made)
        _survives(lambda: read_tau_bench([path], request()))
