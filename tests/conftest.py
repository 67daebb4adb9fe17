"""Every test has a git of its own: no global configuration, no HOME, no inherited variables."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from evalbook.store.git import Repository

settings.register_profile(
    "ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("deep", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"


@pytest.fixture(autouse=True)
def _lonely_git(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    config = home / "gitconfig"
    config.write_text(
        "[user]\nname = Test Person\nemail = person@example.org\n[init]\ndefaultBranch = main\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    with Repository.create(tmp_path / "repository") as repository:
        yield repository


@pytest.fixture
def cases() -> Path:
    """The real result files, where the workplace has them."""
    if not CASES.is_dir():
        pytest.skip("needs ../shared/cases, which is not part of the project")
    return CASES
