"""What every page of the site keeps to."""

import html
import json
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.builders import page_of, pages_of, plan_of, rows_of
from tests.present.site.books import (
    BINARY,
    GONE,
    HOSTILE,
    evaluation_freeze,
    evidence,
    facts,
    full_book,
    full_pages,
    full_site,
    hostile_book,
    site,
)

from evalbook.base.problems import UserError
from evalbook.derive.book import Book, fold
from evalbook.present.site.build import build_pages
from evalbook.present.templates import Templates, packaged_folder

CSP = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "link",
        "body",
        "a",
        "header",
        "nav",
        "ol",
        "ul",
        "li",
        "main",
        "footer",
        "div",
        "p",
        "b",
        "code",
        "pre",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "section",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "span",
        "svg",
        "path",
        "circle",
        "rect",
        "dl",
        "dt",
        "dd",
        "details",
        "summary",
        "del",
        "ins",
        "em",
        "strong",
        "blockquote",
        "br",
        "hr",
    ]
)
VOID = frozenset(["meta", "link", "br", "hr", "path", "circle", "rect"])


class Read(HTMLParser):
    """A page, read as a browser would: links, ids, text, and whatever should not be there."""

    def __init__(self, content: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.csp: list[str] = []
        self.odd: list[str] = []
        self.open: list[str] = []
        self.feed(content.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag not in TAGS:
            self.odd.append(f"<{tag}>")
        self.odd += [name for name in found if name.startswith("on") or name == "style"]
        self.odd += [name for name in found if name in {"src", "srcset", "action", "data"}]
        if found.get("http-equiv") == "Content-Security-Policy":
            self.csp.append(found.get("content") or "")
        if found.get("href") is not None:
            self.links.append(found["href"] or "")
        if found.get("id") is not None:
            self.ids.append(found["id"] or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.odd.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module", params=["full", "hostile", "empty", "planned", "frozen"])
def files(request: pytest.FixtureRequest) -> dict[str, bytes]:
    books: dict[str, Book] = {
        "full": full_book(),
        "hostile": hostile_book(),
        "empty": fold(()),
        "planned": fold(pages_of(plan_of({"complete": 2}), [])),
        "frozen": fold([page_of(evaluation_freeze())]),
    }
    return site(books[str(request.param)])


def html_pages(files: dict[str, bytes]) -> dict[str, Read]:
    return {path: Read(content) for path, content in files.items() if path.endswith(".html")}


def test_every_link_leads_to_a_page_and_an_id_of_this_site(files: dict[str, bytes]) -> None:
    pages = html_pages(files)
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert link.startswith(("https://example.org", "http://evil.example")), link
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), parts.path))
            target = path if not parts.path else target
            assert target in files, f"{path} leads to {link}"
            if parts.fragment:
                assert parts.fragment in pages[target].ids, f"{path} leads to {link}"


def test_every_page_closes_its_tags_and_holds_none_that_could_act(files: dict[str, bytes]) -> None:
    for path, page in html_pages(files).items():
        assert page.odd == [], path
        assert page.open == [], path


def test_every_page_carries_the_content_security_policy(files: dict[str, bytes]) -> None:
    for path, page in html_pages(files).items():
        assert page.csp == [CSP], path


def test_no_id_stands_twice_on_a_page(files: dict[str, bytes]) -> None:
    for path, page in html_pages(files).items():
        assert len(page.ids) == len(set(page.ids)), path


def test_every_page_states_commit_root_hash_and_tool(files: dict[str, bytes]) -> None:
    for path, page in html_pages(files).items():
        for fact in ("3f9c3f9c3f9c", "9b1e9b1e9b1e", "evalbook 0.1.0"):
            assert fact in page.text, f"{path} does not state {fact}"


def test_links_to_pages_end_in_html_so_that_they_work_without_a_server(
    files: dict[str, bytes],
) -> None:
    for page in html_pages(files).values():
        for link in page.links:
            name = urlsplit(link).path
            assert not name or posixpath.splitext(name)[1] in {
                ".html", ".css", ".json", ".csv", ".md", ".example", ".org",
            } or urlsplit(link).scheme, link  # fmt: skip


def test_nothing_of_a_hostile_text_acts_or_hides() -> None:
    files = site(hostile_book(), preview={"1" * 64: HOSTILE.replace("\0", "").encode()})
    for path, content in files.items():
        text = content.decode()
        if path.endswith((".html", ".md")):
            for character in ("\x00", "\x1b", "\u202e", "\r"):
                assert character not in text, path
        if path.endswith(".html"):
            assert "<script" not in text.lower()
            assert "<img" not in text.lower()
            assert "javascript:" not in " ".join(Read(content).links)
    attempt = next(content for path, content in files.items() if "/attempt/" in path)
    shown = Read(attempt).text
    assert shown.count("<script>alert(1)</script>") > 10
    assert "⟨U+202E⟩gnp.exe⟨U+001B⟩[31mred" in shown
    assert html.escape("<script>") in attempt.decode()


def test_the_same_book_gives_the_same_bytes_whatever_the_order_of_its_pages() -> None:
    pages = full_pages()
    assert site(fold(pages)) == site(fold(reversed(pages)))


def test_constructed_data_is_labelled_on_every_page_about_it_and_on_the_first() -> None:
    for path, page in html_pages(full_site()).items():
        if path.startswith("evaluation/"):
            assert "Constructed data." in page.text, path
    assert "constructed" in Read(full_site()["index.html"]).text


def test_real_data_carries_no_such_label() -> None:
    plan = plan_of({"complete": 1})
    files = site(fold(pages_of(plan, rows_of(plan, {"complete": "p"}))))
    assert all("onstructed" not in content.decode() for content in files.values())


def test_an_attempt_has_a_page_only_where_there_is_evidence() -> None:
    plan = plan_of({"complete": 3})
    plain, failed, graded = rows_of(plan, {"complete": "pfp"})
    graded = graded.model_validate(graded.model_dump() | evidence("p"))
    files = site(fold(pages_of(plan, [plain, failed, graded])))
    pages = {path.rsplit("/", 1)[1] for path in files if "/attempt/" in path}
    assert pages == {"2.html", "3.html"}


def test_an_imported_row_stands_on_the_page_of_its_task() -> None:
    files = site(hostile_book())
    assert "a-20261130-2118-k3f9-2" in Read(files["evaluation/inventory/task/complete.html"]).ids
    assert not any(path.endswith("/complete/2.html") for path in files)


def test_what_cannot_be_shown_of_an_artifact_is_said() -> None:
    plan = plan_of({"complete": 1})
    kept = tuple(
        {"name": name, "role": "output", "sha256": sha256, "size": 9, "place": "ledger"}
        for name, sha256 in (("a.png", BINARY), ("gone.txt", GONE))
    )
    row = rows_of(plan, {"complete": "f"})[0]
    row = row.model_validate(row.model_dump() | {"artifacts": kept})
    page = next(c for p, c in site(fold(pages_of(plan, [row]))).items() if "/attempt/" in p)
    assert Read(page).text.count("Not shown:") == 2


def test_a_long_artifact_is_cut_and_the_cut_is_said() -> None:
    page = next(c for p, c in full_site().items() if p.endswith("/complete/3.html"))
    assert "30,000 more characters are left out here." in Read(page).text


def test_figures_rows_and_statement_lie_beside_the_pages() -> None:
    files = full_site()
    document = json.loads(files["data/inventory.json"])
    assert [each["version"] for each in document["configs"]] == ["v1", "v2"]
    assert files["evaluation/inventory/attempts.csv"].count(b"\n") == 1 + 15 + 14 + 2
    assert files["ledger.json"] == b'{"schema": 1}\n'
    assert files["evaluation/inventory/report.md"].startswith(b"# Results report: Device inventory")


def test_decisions_are_shown_with_reason_and_whether_they_hold() -> None:
    text = Read(full_site()["evaluation/inventory/decisions.html"]).text
    assert "the machine lost power" in text
    assert text.count("not in force") == 1
    assert "reinstated" in text


def test_a_config_page_names_what_changed_between_versions() -> None:
    text = Read(full_site()["evaluation/inventory/config/agent.html"]).text
    assert '"m1"' in text
    assert '"m2"' in text
    assert "sampling.top_p" in text
    assert "1 key unchanged." in text


@pytest.mark.parametrize("page", ["index.html", "evaluation/inventory/index.html"])
def test_the_latest_version_stands_first(page: str) -> None:
    said = re.search(r"[0-9]+ of [0-9]+ attempts passed", Read(full_site()[page]).text)
    assert said is not None
    assert said[0] == "11 of 14 attempts passed"


def test_an_evaluation_that_is_not_wanted_is_left_out() -> None:
    plans = [plan_of({"a": 1}, evaluation=name) for name in ("ant", "zebra")]
    pages = [page for plan in plans for page in pages_of(plan, rows_of(plan, {"a": "p"}))]
    everything = site(fold(pages))
    wanted = {page.path for page in build_pages(fold(pages), facts(), Templates(), only=["ant"])}
    assert wanted == {path for path in everything if "zebra" not in path}


def test_a_users_template_takes_the_place_of_ours_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "style.css").write_text("body { color: red }")
    files = site(full_book(), Templates(tmp_path))
    assert files["style.css"] == b"body { color: red }"
    assert files["index.html"] == full_site()["index.html"]


def test_a_broken_template_of_the_users_is_named_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "home.html").write_text("one\n{% if %}\n")
    with pytest.raises(UserError, match=r"home\.html:2: ") as caught:
        site(full_book(), Templates(tmp_path))
    assert "site_templates/" in str(caught.value.hint)


def test_a_template_that_asks_for_what_there_is_not_is_named(tmp_path: Path) -> None:
    (tmp_path / "home.html").write_text("{{ no_such_thing }}")
    with pytest.raises(UserError, match=r"home\.html: 'no_such_thing' is undefined"):
        site(full_book(), Templates(tmp_path))


def test_the_stylesheet_stays_under_ten_kilobytes() -> None:
    assert (packaged_folder() / "style.css").stat().st_size < 10_000
