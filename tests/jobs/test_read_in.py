"""Real results read in from the command line, and the right answers of ../shared/cases."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.conftest import Bench

POLICY = 'title = "Terminal-Bench core"\nattempts = 5\nk = [1, 2, 3, 4, 5]\n[exclusion]\nallowed = ["infra_error", "timeout"]\n'


def configs(bench: Bench, evaluation: str) -> dict[str, Any]:
    return {
        each["version"]: each for each in bench("show", evaluation, "--json").document["configs"]
    }


def values(estimates: dict[str, dict[str, float]]) -> list[float]:
    return [round(estimates[k]["value"], 4) for k in sorted(estimates)]


@pytest.mark.cases
def test_tau_bench_gives_the_published_figures(bench: Bench, cases: Path) -> None:
    file = str(cases / "tau-bench" / "gpt-4o-airline.json")
    assert bench("import", "tau-bench", file, "--json").document["added"] == 200
    (config,) = configs(bench, "tau-bench").values()
    assert values(config["pass_hat"]) == [0.42, 0.2733, 0.22, 0.2]
    assert values(config["pass_at"]) == [0.42, 0.5667, 0.66, 0.72]
    again = bench("import", "tau-bench", file, "--json").document
    assert (again["added"], again["already"], again["commit"]) == (0, 200, None)
    bench("verify")


@pytest.mark.cases
def test_terminal_bench_keeps_attempts_without_a_verdict_in_sight(
    bench: Bench, cases: Path
) -> None:
    folder = bench.top / "evaluations" / "terminal-bench"
    folder.mkdir(parents=True)
    (folder / "evaluation.toml").write_text(POLICY)
    for version in ("2025-08", "2025-09"):
        bench(
            "import",
            "terminal-bench",
            str(cases / "terminal-bench" / f"ob1-{version}"),
            "--label",
            version,
        )
    found = configs(bench, "terminal-bench")
    assert found["2025-08"]["rate"]["attempts"]["value"] == 0.59
    assert found["2025-09"]["rate"]["attempts"]["value"] == 0.5675
    assert values(found["2025-09"]["pass_hat"]) == [0.5675, 0.5337, 0.5112, 0.4925, 0.475]
    counts = found["2025-09"]["counts"]
    assert counts["timeout"] + counts["infra_error"] == 38
    bench(
        "exclude", "--evaluation", "terminal-bench", "--config", "ob1-agent", "--verdict", "infra_error",
        "--verdict", "timeout", "--reason", "the tests gave no verdict",
    )  # fmt: skip
    after = configs(bench, "terminal-bench")["2025-09"]
    assert after["counts"]["excluded"] == 38
    assert round(after["rate"]["attempts"]["value"], 4) == 0.6271
    assert after["before_exclusion"]["rate"]["attempts"]["value"] == 0.5675
    bench("verify")


def trial(task: int, number: int, reward: float) -> dict[str, Any]:
    return {
        "task_id": task,
        "trial": number,
        "reward": reward,
        "info": {"task": {"instruction": "do", "actions": []}, "reward_info": {"reward": reward}},
        "traj": [],
    }


def test_rows_that_contradict_the_book_add_nothing_and_are_named(
    bench: Bench, tmp_path: Path
) -> None:
    file = tmp_path / "agent-domain.json"
    file.write_text(json.dumps([trial(0, 0, 1.0), trial(0, 1, 0.0)]))
    bench("import", "tau-bench", str(file))
    before = bench.git("rev-parse", "HEAD")
    file.write_text(json.dumps([trial(0, 0, 0.0), trial(0, 1, 0.0), trial(0, 2, 1.0)]))
    said = bench("import", "tau-bench", str(file), code=1).out
    assert "pass in the book, fail in the file" in said
    assert bench.git("rev-parse", "HEAD") == before


def test_rows_that_are_gone_from_a_file_are_reported_and_stay(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "agent-domain.json"
    file.write_text(json.dumps([trial(0, 0, 1.0), trial(0, 1, 0.0)]))
    bench("import", "tau-bench", str(file))
    file.write_text(json.dumps([trial(0, 0, 1.0)]))
    said = bench("import", "tau-bench", str(file), "--json", code=1).document
    assert [each["verdict"] for each in said["vanished"]] == ["fail"]
    assert said["added"] == 0
    (config,) = configs(bench, "tau-bench").values()
    assert config["counts"]["executed"] == 2


@pytest.mark.parametrize(
    "content", [b"", b"[", b"{}", b"\xff\xfe", b"[1, 2]", b"null", b"[" * 200_000]
)
@pytest.mark.parametrize("source", ["tau-bench", "terminal-bench", "csv"])
def test_a_broken_file_gives_one_line_and_adds_nothing(
    bench: Bench, tmp_path: Path, source: str, content: bytes
) -> None:
    file = tmp_path / "results.json"
    file.write_bytes(content)
    before = bench.git("rev-parse", "HEAD")
    said = bench("import", source, str(file), "--evaluation", "x", code=2)
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert len(said.err.splitlines()) <= 2
    assert bench.git("rev-parse", "HEAD") == before


def test_what_was_exported_reads_in_again(measured: Bench, tmp_path: Path) -> None:
    table = tmp_path / "attempts.csv"
    measured("export", "csv", "letters", "--out", str(table))
    measured("import", "csv", str(table), "--evaluation", "copy")
    assert [c["counts"]["pass"] for c in configs(measured, "copy").values()] == [6]
    measured("verify")
