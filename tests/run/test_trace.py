"""No step of a trace is lost, whatever its line looks like."""

import json

from hypothesis import given
from hypothesis import strategies as st

from evalbook.run.trace import Step, read_trace, tokens_in_trace


def test_steps_are_read_in_order_with_everything_they_say() -> None:
    lines: list[dict[str, object]] = [
        {"kind": "message", "index": 7},
        {"kind": "dance", "steps": 3},
        {"tool": "ls"},
    ]

    steps = read_trace(b"\n".join(json.dumps(line).encode() for line in lines) + b"\n\n")

    assert steps == (
        Step(1, "message", lines[0]),
        Step(2, "dance", lines[1]),
        Step(3, "unnamed", lines[2]),
    )


def test_broken_lines_are_steps_that_show_their_text() -> None:
    content = b'{"kind": "a"}\n{"kind": \n[1]\n\xff\xfe\n' + b"[" * 100_000 + b"\n" + b"9" * 5_000

    steps = read_trace(content)

    assert [step.kind for step in steps] == ["a", *["unreadable"] * 5]
    assert steps[1].fields == {"result": '{"kind": '}
    assert len(str(steps[4].fields["result"])) == 2_000


def test_a_line_beyond_all_measure_is_not_parsed() -> None:
    (step,) = read_trace(json.dumps({"kind": "message", "result": "x" * (1 << 20)}).encode())

    assert step.kind == "unreadable"


@given(st.lists(st.binary(max_size=30)))
def test_every_line_that_says_something_is_one_step(lines: list[bytes]) -> None:
    content = b"\n".join(lines)

    wanted = [line for line in content.split(b"\n") if line.strip()]
    assert [step.number for step in read_trace(content)] == list(range(1, len(wanted) + 1))


def test_tokens_are_the_sum_of_the_steps_that_state_them() -> None:
    said = [
        {"tokens_in": 3},
        {"tokens_in": True},
        {"tokens_in": -1},
        {"tokens_in": "4"},
        {"tokens_in": 2},
    ]
    steps = read_trace(b"\n".join(json.dumps(each).encode() for each in said))

    assert tokens_in_trace(steps, "tokens_in") == 5
    assert tokens_in_trace(steps, "tokens_out") is None
