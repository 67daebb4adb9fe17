"""The site in a real browser, from file:// and without a server."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from tests.present.site.books import full_site, hostile_book, site

from evalbook.base.files import replace_tree

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=["full", "hostile"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("sites") / "site"
    replace_tree(where, full_site() if request.param == "full" else site(hostile_book()))
    return where


def pages_of(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.html"))


def watched(page: Page) -> list[str]:
    """What the browser complains about, and what it asks the network for."""
    seen: list[str] = []
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("dialog", lambda dialog: seen.append(f"dialog {dialog.message}"))
    page.on(
        "request",
        lambda request: None if request.url.startswith("file:") else seen.append(request.url),
    )
    return seen


def test_every_page_opens_from_a_file_styled_and_without_a_complaint(
    folder: Path, page: Page
) -> None:
    seen = watched(page)
    for path in pages_of(folder):
        page.goto(path.as_uri())
        width = page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth")
        assert width == "1088px", f"{path} has no style"
    assert seen == []


def test_no_page_is_wider_than_a_narrow_phone(folder: Path, page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    for path in pages_of(folder):
        page.goto(path.as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, f"{path} is {wide} pixels wide"


def test_a_reader_without_javascript_gets_from_the_first_page_to_the_evidence(
    browser: Browser, tmp_path: Path
) -> None:
    replace_tree(tmp_path / "site", full_site())
    options: dict[str, Any] = {"java_script_enabled": False}
    context = browser.new_context(**options)
    page = context.new_page()
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.get_by_role("link", name="Device inventory").first.click()
    page.get_by_role("link", name="missing-department").first.click()
    page.get_by_role("link", name="20261201-0100-aaaa/missing-department/2").first.click()
    assert page.get_by_role("heading", level=1).inner_text().endswith("missing-department/2")
    assert page.get_by_text("did not hold: untouched").count() == 1
    context.close()


def test_dark_and_light_pages_differ_in_paper_and_agree_in_words(folder: Path, page: Page) -> None:
    page.goto((folder / "index.html").as_uri())
    papers = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        papers[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert papers == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 21, 20)"}
