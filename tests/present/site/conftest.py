"""A browser for the site: Debian's Chromium, which CI must have."""

import os
import shutil
from typing import Any

import pytest


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail("no chromium on PATH, and CI must run the browser tests")
        pytest.skip("no chromium on PATH")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    return {**browser_type_launch_args, "executable_path": chromium, "args": quiet}
