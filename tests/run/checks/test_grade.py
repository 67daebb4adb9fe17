from tests.run.checks.graded import Desk, check_of, lay

from evalbook.run.scrub import Scrubber


def test_every_check_gets_one_outcome_in_the_order_declared(desk: Desk) -> None:
    desk.with_files({"a": "x"})
    checks = [
        check_of("command", name="last", command=["{python}", "-c", "pass"]),
        check_of("file_exists", name="first", file="a", critical=True),
        check_of("file_exists", name="second", file="b", failure_class="wrong_location"),
    ]
    found = desk.outcomes(checks)
    assert [each.name for each in found] == ["last", "first", "second"]
    assert [each.outcome for each in found] == ["held", "held", "failed"]
    assert [each.critical for each in found] == [False, True, False]
    assert [each.failure_class for each in found] == [None, None, "wrong_location"]


def test_no_code_of_the_agents_runs_before_its_files_have_been_looked_at(desk: Desk) -> None:
    desk.with_files({"a": "wrong"}, {"a": "right"})
    mend = f"open({str(desk.workspace / 'a')!r}, 'w').write('right')"
    checks = [
        check_of("command", name="mends", command=["{python}", "-c", mend]),
        check_of("bytes_equal", name="judges", file="a", expected="a"),
    ]
    assert [each.outcome for each in desk.outcomes(checks)] == ["held", "failed"]


def test_a_secret_never_reaches_an_outcome_even_where_a_text_is_cut(desk: Desk) -> None:
    secret = "hunter2-hunter2-hunter2"
    desk.scrub = Scrubber({"PASSWORD": secret}).text
    for padding in (0, 1_980, 1_990, 2_000, 19_990):
        desk.with_files({"a.csv": f"n\n{'x' * padding}{secret}\n"}, {"a.csv": "n\n1\n"})
        found = desk.outcome("csv_equals", file="a.csv", expected="a.csv")
        assert found.outcome == "failed"
        assert "hunter2" not in found.expected + found.actual + found.evidence
        assert len(found.actual) <= 2_000
    code = f"import sys; sys.exit('{secret}')"
    found = desk.outcome("command", command=["{python}", "-c", code])
    assert found.outcome == "failed"
    assert "hunter2" not in str(found)


def test_every_text_can_be_written_into_a_row(desk: Desk) -> None:
    odd = "bell\x07 escape\x1b[31m nul\\u0000 \U0001f600\u202e"
    desk.with_files({"a.json": '"\\ud800 \\u0007 \\u001b[31m"', "b.txt": odd})
    for found in (
        desk.outcome("json_equals", file="a.json", value="x"),
        desk.outcome("bytes_equal", file="b.txt", expected="gone"),
        desk.outcome("text_contains", file="b.txt", texts=[odd + "!"]),
    ):
        text = f"{found.expected}{found.actual}{found.evidence}"
        text.encode()
        assert text.isprintable()


def test_a_broken_check_costs_neither_the_row_nor_the_other_checks(desk: Desk) -> None:
    lay(desk.task, {"expected/folder/x": ""})
    desk.with_files({"a": "x"})
    checks = [
        check_of("bytes_equal", name="broken", file="a", expected="folder"),
        check_of("file_exists", name="whole", file="a"),
    ]
    assert [each.outcome for each in desk.outcomes(checks)] == ["error", "held"]
