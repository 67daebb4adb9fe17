"""A desk on which one check at a time is tried."""

from pathlib import Path

import pytest
from tests.run.checks.graded import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
