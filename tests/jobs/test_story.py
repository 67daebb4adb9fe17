"""The main job from one end to the other, as a person would type it."""

import csv
import io
import subprocess
from pathlib import Path

import pytest
from tests.jobs.conftest import Bench


def only(bench: Bench) -> dict[str, object]:
    (config,) = bench("show", "--json").document["configs"]
    found: dict[str, object] = config
    return found


def test_a_run_leaves_a_row_for_every_attempt_and_exact_figures(measured: Bench) -> None:
    config = only(measured)
    assert config["counts"]["executed"] == 8  # type: ignore[index]
    assert config["counts"]["pass"] == 6  # type: ignore[index]
    assert config["rate"]["attempts"]["value"] == 0.75  # type: ignore[index]
    assert config["rate"]["tasks"]["value"] == 0.75  # type: ignore[index]
    assert config["pass_at"]["2"]["value"] == round((1 + 5 / 6) / 2, 12)  # type: ignore[index]
    assert config["pass_hat"]["2"]["value"] == round((1 + 1 / 6) / 2, 12)  # type: ignore[index]
    assert measured("verify").out.endswith("verified: every page stands as it was written\n")
    assert measured.git("status", "--porcelain") == ""


def test_a_run_refuses_material_that_was_not_frozen_and_names_the_file(bench: Bench) -> None:
    refused = bench("run", "--config", "agent", code=2)
    assert "was never frozen" in refused.err
    assert "evalbook freeze letters" in refused.err
    bench("freeze", "--reason", "first version")
    (bench.folder / "tasks" / "b" / "expected" / "out.txt").write_text("?")
    refused = bench("run", "--config", "agent", code=2)
    assert "tasks/b/expected/out.txt (changed)" in refused.err
    assert bench("show", code=5).err.endswith("nothing was measured\n")


def test_a_changed_grader_needs_a_reason_and_is_a_commit_of_its_own(measured: Bench) -> None:
    task = measured.folder / "tasks" / "b" / "task.toml"
    task.write_text(task.read_text() + "critical = true\n")
    assert "Missing option '--reason'" in measured("freeze", code=2).err
    assert "says nothing" in measured("freeze", "--reason", "  ", code=2).err
    before = measured.git("rev-list", "--count", "HEAD")
    measured("freeze", "--reason", "b must never be wrong")
    assert int(measured.git("rev-list", "--count", "HEAD")) == int(before) + 1
    latest = measured("log", "-n", "1", "--json").document["log"][0]
    assert (latest["what"], latest["why"]) == ("task b", "b must never be wrong")
    assert "nothing to add" in measured("freeze", "--reason", "again").out


def test_one_label_stands_for_one_content(measured: Bench) -> None:
    (measured.folder / "agent.py").write_text("print('other')\n")
    refused = measured("freeze", "--reason", "a new agent", code=2)
    assert "agent.py changed" in refused.err
    assert "give it a new version" in refused.err


def test_a_failure_can_not_be_excluded_and_the_policy_is_quoted(measured: Bench) -> None:
    refused = measured("exclude", "b/2", "--reason", "it spoils the figures", code=2)
    assert "infra_error" in refused.err
    assert only(measured)["counts"]["excluded"] == 0  # type: ignore[index]


def test_a_broken_grader_is_an_infra_error_that_can_be_excluded_rerun_and_reinstated(
    bench: Bench,
) -> None:
    task = bench.folder / "tasks" / "b" / "task.toml"
    task.write_text(task.read_text() + '[[check]]\nname = "asks"\nkind = "script"\n')
    marker = bench.top.parent / "broken"
    marker.touch()
    (bench.folder / "tasks" / "b" / "grader.py").write_text(
        f"import os, sys\nif os.path.exists({str(marker)!r}): sys.exit('no service')\n"
        "print('{\"held\": true}')\n"
    )
    bench("freeze", "--reason", "first version")
    done = bench("run", "--config", "agent", "--task", "b", "--json", code=0).document
    assert done["verdicts"] == {"fail": 2, "infra_error": 2}
    marker.unlink()
    before = only(bench)["before_exclusion"]
    out = bench(
        "exclude", "--evaluation", "letters", "--verdict", "infra_error", "--reason", "grader down"
    ).out
    assert "before exclusion it stays 0/4" in out
    assert only(bench)["counts"]["excluded"] == 2  # type: ignore[index]
    bench("rerun", "b/1", "b/3", "--reason", "the grader is up again")
    config = only(bench)
    assert config["counts"]["pass"] == 2  # type: ignore[index]
    assert config["before_exclusion"] == before, "a rerun never enters the figures before exclusion"
    run = bench("log", "--json").document["log"]
    assert [line["kind"] for line in run].count("rerun") == 2
    first = next(line["what"] for line in run if line["kind"] == "exclude")
    bench("reinstate", first, "--reason", "it was an honest failure after all")
    assert only(bench)["counts"]["excluded"] == 1  # type: ignore[index]
    bench("verify", "--artifacts")


def test_an_ending_that_fits_several_attempts_is_refused_and_a_near_one_suggested(
    measured: Bench,
) -> None:
    measured("run", "--config", "agent", "--attempts", "1")
    assert "fits" in measured("exclude", "a/1", "--reason", "which one?", code=2).err
    assert (
        "no attempt's id ends in 'c/1'"
        in measured("exclude", "c/1", "--reason", "none", code=2).err
    )


def test_a_secret_never_reaches_the_book_or_the_store(bench: Bench) -> None:
    config = bench.folder / "configs" / "agent.toml"
    config.write_text(config.read_text() + '[permissions]\nsecrets = ["MY_TOKEN"]\n')
    bench("freeze", "--reason", "first version")
    assert "MY_TOKEN, which is not set" in bench("run", "--config", "agent", code=2).err
    secret = "correct-horse-battery"
    bench("run", "--config", "agent", env={"MY_TOKEN": secret})
    bench("build", "--out", "site")
    holders = [
        path
        for folder in ("ledger", ".evalbook", "site")
        for path in (bench.top / folder).rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ]
    assert holders == []
    assert any(
        b"[scrubbed:MY_TOKEN]" in path.read_bytes()
        for path in (bench.top / "ledger").rglob("*")
        if path.is_file()
    )


def test_unknown_evaluations_and_configs_are_answered_with_the_near_one(measured: Bench) -> None:
    assert "did you mean letters?" in measured("show", "leters", code=2).err
    assert "did you mean agent?" in measured("run", "letters", "--config", "agnt", code=2).err
    assert "names no commit" in measured("show", "--rev", "nope", code=2).err


def test_what_is_published_is_a_function_of_the_commit(measured: Bench, tmp_path: Path) -> None:
    def published(name: str, env: dict[str, str]) -> dict[str, bytes]:
        measured("build", "--out", str(tmp_path / name), env=env)
        site = {
            p.relative_to(tmp_path / name).as_posix(): p.read_bytes()
            for p in (tmp_path / name).rglob("*")
            if p.is_file()
        }
        for command in (["show", "--json"], ["report"], ["export", "csv"], ["log", "--json"]):
            site[command[0]] = measured(*command, env=env).out.encode()
        return site

    one = published("one", {"PYTHONHASHSEED": "1", "TZ": "UTC", "LANG": "C.UTF-8"})
    other = published("other", {"PYTHONHASHSEED": "2", "TZ": "Asia/Shanghai", "LANG": "C"})
    assert one == other


def test_the_export_has_the_columns_of_the_book(measured: Bench) -> None:
    rows = list(csv.DictReader(io.StringIO(measured("export", "csv").out)))
    assert len(rows) == 8
    assert {row["verdict"] for row in rows} == {"pass", "fail"}
    assert {row["cost"] for row in rows} == {"0.5"}


def test_a_site_is_never_built_over_something_else(measured: Bench) -> None:
    (measured.top / "precious").mkdir()
    (measured.top / "precious" / "file").write_text("mine")
    assert "no site of evalbook" in measured("build", "--out", "precious", code=2).err
    assert (measured.top / "precious" / "file").read_text() == "mine"
    measured("build", "--out", "site")
    measured("build", "--out", "site")


def test_a_book_with_an_edited_page_gives_no_figures(measured: Bench) -> None:
    rows = sorted((measured.top / "ledger").rglob("*-attempts-*.jsonl"))
    page = next(path for path in rows if b'"verdict":"pass"' in path.read_bytes())
    page.write_bytes(page.read_bytes().replace(b'"verdict":"pass"', b'"verdict":"fail"'))
    measured.git("commit", "--quiet", "-am", "a little correction")
    commit = measured.git("rev-parse", "HEAD").strip()
    assert page.name in measured("show", code=6).err
    seen = measured("verify", "--json", code=6).document
    assert seen["outcome"] == "violated"
    assert {(f["commit"], f["path"]) for f in seen["findings"]} >= {
        (commit, page.relative_to(measured.top).as_posix())
    }


def test_a_run_that_is_stopped_goes_on_where_it_was(bench: Bench) -> None:
    import os
    import signal
    import subprocess
    import sys

    (bench.folder / "agent.py").write_text("import time\ntime.sleep(0.3)\n")
    bench("freeze", "--reason", "first version")
    process = subprocess.Popen(
        [sys.executable, "-m", "evalbook", "-C", str(bench.top), "run", "--config", "agent"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert process.stderr is not None
    seen = ""
    while "[2/8]" not in seen:
        seen = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "evalbook run --resume" in rest
    run = rest.rpartition("--resume ")[2].split("`")[0]
    bench("run", "--resume", run)
    config = only(bench)
    assert config["counts"]["executed"] == 8  # type: ignore[index]
    assert config["counts"]["infra_error"] <= 1, "whichever was under way just then"  # type: ignore[index]
    assert "is complete" in bench("run", "--resume", run, code=2).err
    bench("verify")


def test_an_artifact_changed_in_the_store_is_a_violation_and_a_missing_one_is_not_proven(
    bench: Bench,
) -> None:
    (bench.folder / "agent.py").write_text("open('out.txt', 'w').write('x' * 40_000)\n")
    bench("freeze", "--reason", "first version")
    bench("run", "--config", "agent", "--task", "a", "--attempts", "1")
    (stored,) = (path for path in (bench.top / ".evalbook" / "store").rglob("*") if path.is_file())
    bench("verify", "--artifacts")
    content = stored.read_bytes()
    stored.chmod(0o644)
    stored.write_bytes(b"y" + content[1:])
    assert "violation" in bench("verify", "--artifacts", code=6).out
    stored.unlink()
    assert "NOT verified: it can't be shown" in bench("verify", "--artifacts", code=6).out
    bench("verify")


def audit_command() -> str:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    return next(
        line.strip() for line in readme.splitlines() if line.strip().startswith("git log -m")
    )


@pytest.mark.parametrize("how", ["edit", "delete", "rename"])
def test_the_audit_with_stock_git_prints_what_was_done_and_else_nothing(
    measured: Bench, how: str
) -> None:
    def audited() -> str:
        done = subprocess.run(
            ["sh", "-c", audit_command()],
            cwd=measured.top,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert audited() == ""
    page = next((measured.top / "ledger").rglob("*-attempts-*.jsonl"))
    if how == "edit":
        page.write_bytes(page.read_bytes() + b"{}\n")
    elif how == "delete":
        page.unlink()
    else:
        page.rename(page.with_name(f"x{page.name}"))
    measured.git("add", "--all")
    measured.git("commit", "--quiet", "-m", "tidy up")
    assert page.relative_to(measured.top).as_posix() in audited()


def test_verify_says_that_it_does_not_look_at_what_is_not_committed(measured: Bench) -> None:
    page = next((measured.top / "ledger").rglob("*-attempts-*.jsonl"))
    page.write_bytes(b"{}\n")
    assert "only what is committed is verified" in measured("verify").err


def test_freezing_what_is_not_committed_is_warned_of(bench: Bench) -> None:
    (bench.folder / "agent.py").write_text("print('not committed')\n")
    assert (
        "not committed in evaluations/letters: 1 files" in bench("freeze", "--reason", "first").err
    )
