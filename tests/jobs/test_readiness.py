"""Nothing is recorded of a run that could not begin, and an older version can be run again."""

import os
import signal
import subprocess
import sys
import time

from tests.jobs.conftest import AGENT, CONFIG, Bench


def test_a_missing_secret_is_found_before_a_plan_is_committed(bench: Bench) -> None:
    config = bench.folder / "configs/agent.toml"
    config.write_text(CONFIG + '[permissions]\nsecrets = ["NOT_SET_TOKEN"]\n')
    bench("freeze", "--reason", "first version")
    before = bench.git("rev-parse", "HEAD")

    refused = bench("run", code=2)

    assert "permissions.secrets names NOT_SET_TOKEN, which is not set" in refused.err
    assert bench.git("rev-parse", "HEAD") == before


def test_a_rerun_that_cannot_begin_leaves_no_decision(measured: Bench) -> None:
    bench = measured
    config = bench.folder / "configs/agent.toml"
    config.write_text(CONFIG.replace('"v1"', '"v2"') + '[permissions]\nsecrets = ["SOME_TOKEN"]\n')
    bench("freeze", "--reason", "hands on a secret")
    run = bench("run", "--json", env={"SOME_TOKEN": "abcdefgh1234"}).document["run"]
    before = bench.git("rev-parse", "HEAD")

    refused = bench("rerun", f"{run}/b/2", "--reason", "once more", code=2)

    assert "permissions.secrets names SOME_TOKEN, which is not set" in refused.err
    assert bench.git("rev-parse", "HEAD") == before


def test_the_version_that_the_file_says_is_run_not_the_one_frozen_last(measured: Bench) -> None:
    bench = measured
    config = bench.folder / "configs/agent.toml"
    config.write_text(CONFIG.replace('"v1"', '"v2"').replace("scripted", "other"))
    bench("freeze", "--reason", "another model")
    config.write_text(CONFIG)  # back to v1, which is frozen already

    assert bench("run", "--json").document["version"] == "v1"
    (first,) = [
        line for line in bench("show", "--json").document["configs"] if line["version"] == "v1"
    ]
    assert first["counts"]["executed"] == 16


def test_an_attempt_of_an_older_version_can_be_made_again_once_its_file_is_back(
    measured: Bench,
) -> None:
    bench = measured
    config = bench.folder / "configs/agent.toml"
    config.write_text(CONFIG.replace('"v1"', '"v2"').replace("scripted", "other"))
    bench("freeze", "--reason", "another model")
    refused = bench("rerun", "b/2", "--reason", "again", code=2)
    assert "set the file back to it first" in refused.err
    config.write_text(CONFIG)

    assert bench("rerun", "b/2", "--reason", "again", "--json").document["version"] == "v1"


def test_ctrl_c_keeps_what_is_finished_and_the_run_can_go_on(bench: Bench) -> None:
    slow = AGENT + "import time\nif seed > 2: time.sleep(30)\n"
    (bench.folder / "agent.py").write_text(slow)
    bench("freeze", "--reason", "first version")
    run = subprocess.Popen(
        [sys.executable, "-m", "evalbook", "-C", str(bench.top), "run", "--jobs", "2"],
        cwd=bench.top,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    end = time.monotonic() + 60
    while len(list((bench.top / ".evalbook").glob("work/*/attempts/b/3-*/workspace"))) == 0:
        assert time.monotonic() < end
        time.sleep(0.05)

    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)

    assert run.returncode == 130
    assert "evalbook run --resume" in err
    counts = bench("show", "--json").document["configs"][0]["counts"]
    assert (counts["executed"], counts["not_executed"], counts["infra_error"]) == (6, 2, 2)
    (bench.folder / "agent.py").write_text(AGENT)
    assert (
        "is not what the run was planned with"
        in bench("run", "--resume", err.split("--resume ")[1].split("`")[0].strip(), code=2).err
    )
