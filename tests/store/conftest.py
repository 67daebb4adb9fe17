"""A repository with a commit in it, in each format that this git has."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.scenes import FORMATS, started_repository

from evalbook.store.git import Repository


@pytest.fixture(params=FORMATS, ids=lambda formats: "-".join(filter(None, formats)))
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Repository]:
    with started_repository(tmp_path / "made", request.param) as repository:
        yield repository
