"""What is kept is what was found, without credentials, under the name it had."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbook.base.canonical import sha256_hex
from evalbook.records.attempt import LEDGER_ARTIFACT_MAX, LEDGER_ATTEMPT_MAX
from evalbook.run.evidence import Cabinet
from evalbook.run.scrub import Scrubber
from evalbook.run.workspace import touched_files


def cabinet(tmp_path: Path, secret: str = "hunter2-hunter2") -> Cabinet:
    folder = tmp_path / "kept"
    folder.mkdir()
    return Cabinet(folder, Scrubber({"LOGIN": secret}))


def test_every_kept_file_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    box = cabinet(tmp_path)
    box.keep("stdout.txt", "log", b"login hunter2-hunter2")
    box.keep("stderr.txt", "log", b"")

    kept = box.close()

    assert [file.path.read_bytes() for file in kept.files if file.sha256 != sha256_hex(b"")] == [
        b"login [scrubbed:LOGIN]"
    ]
    assert all(sha256_hex(file.path.read_bytes()) == file.sha256 for file in kept.files)
    assert [(a.name, a.size) for a in kept.artifacts] == [("stderr.txt", 0), ("stdout.txt", 22)]
    assert (kept.artifact_ref, kept.trace_ref) == (None, None)


def test_equal_files_are_kept_once_under_both_names(tmp_path: Path) -> None:
    box = cabinet(tmp_path)
    box.keep("output/a", "output", b"x")
    box.keep("output/b", "output", b"x")

    kept = box.close()

    assert len(kept.files) == 1
    assert len(kept.artifacts) == 2


def test_names_that_differ_in_a_credential_only_stay_apart(tmp_path: Path) -> None:
    box = Cabinet(tmp_path, Scrubber({"A": "aaaaaaaa1", "B": "bbbbbbbb2"}))
    for name in ("ghp_" + "a" * 36, "ghp_" + "b" * 36):
        box.keep(f"output/{name}", "output", name[-1].encode())

    assert [a.name for a in box.close().artifacts] == [
        "output/[scrubbed:github-token]",
        "output/[scrubbed:github-token]~",
    ]


def test_a_touched_file_carries_the_digest_of_what_is_kept_of_it(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "notes").write_text("hunter2-hunter2")
    box = cabinet(tmp_path)

    (touched,) = box.keep_outputs(workspace, touched_files({}, workspace))

    assert touched.sha256 == sha256_hex(b"[scrubbed:LOGIN]")
    (artifact,) = box.close().artifacts
    assert artifact.sha256 == touched.sha256


@given(
    sizes=st.lists(
        st.integers(0, LEDGER_ARTIFACT_MAX + 2_000)
        | st.sampled_from([LEDGER_ARTIFACT_MAX, 30_000]),
        max_size=14,
    )
)
def test_the_ledger_never_takes_more_than_its_share(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int]
) -> None:
    box = Cabinet(tmp_path_factory.mktemp("kept"), Scrubber({}))
    for number, size in enumerate(sizes):
        box.keep(f"output/{number:02}", "output", bytes([number]) * size)

    artifacts = box.close().artifacts

    small = {a.sha256: a.size for a in artifacts if a.place == "ledger"}
    assert sum(small.values()) <= LEDGER_ATTEMPT_MAX
    assert all(size <= LEDGER_ARTIFACT_MAX for size in small.values())
    for artifact in artifacts:
        if artifact.place == "store":
            fits = sum(small.values()) + artifact.size <= LEDGER_ATTEMPT_MAX
            assert artifact.size > LEDGER_ARTIFACT_MAX or not fits
