"""Text that no Markdown reader can take for markup."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.present.site.books import HOSTILE

from evalbook.present.markup import markdown_html
from evalbook.present.templates import escape_markdown
from evalbook.present.text import one_line

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def shown(markdown: str) -> str:
    """The text a reader sees, without the joiners that part mentions from their names."""
    rendered = READER.render(markdown)
    assert re.sub(r"</?p>|\n", "", rendered).count("<") == 0, rendered
    return unescape(re.sub(r"<[^>]*>", "", rendered)).strip("\n").replace("\u2060", "")


@given(st.text(alphabet=st.sampled_from("\\`*_{}[]<>()#+-.!|~&@$:=ab1 \n\t'\"/w"), max_size=40))
def test_a_markdown_reader_shows_the_text_and_nothing_else(text: str) -> None:
    line = one_line(text)
    if line:
        assert shown(escape_markdown(text)) == line


def test_the_hostile_text_is_shown_and_does_nothing() -> None:
    assert shown(escape_markdown(HOSTILE)) == one_line(HOSTILE)


@pytest.mark.parametrize(
    ("text", "part"),
    [("thanks @someone", "@someone"), ("see #1", "#1"), ("owner/name#12", "#12")],
)
def test_mentions_and_issue_links_are_parted(text: str, part: str) -> None:
    assert part not in escape_markdown(text)
    assert escape_markdown(text).replace("\u2060", "") == text


@pytest.mark.parametrize("text", ["http://evil.example", "www.evil.example", "WWW.evil.example"])
def test_bare_addresses_are_parted_by_a_backslash(text: str) -> None:
    assert "\\" in escape_markdown(text)


@pytest.mark.parametrize(
    "text", ["60.0 %", "snake_case_name", "pass@3", "pass^3", "9/15", "a (b), c: d", "研发 2"]
)
def test_harmless_text_stays_readable_in_the_source(text: str) -> None:
    assert escape_markdown(text) == text


def test_markdown_of_people_keeps_its_shape_and_loses_its_claws() -> None:
    text = (
        "# Title\n\n**bold** [good](https://example.org) [bad](javascript:alert(1)) [rel](../x.html)\n\n"
        "![pixel](https://example.org/x.png)\n\n<script>alert(1)</script>\n\n| a | b |\n|-|-|\n| 1 | 2 |\n"
    )
    made = markdown_html(text)
    assert "<h3>Title</h3>" in made
    assert "<strong>bold</strong>" in made
    assert '<a href="https://example.org" rel="nofollow noopener noreferrer">good</a>' in made
    assert "<table>" in made
    assert made.count("<a ") == 1
    assert "<img" not in made
    assert "[pixel]" in made
    assert "<script" not in made


def test_deep_nesting_ends() -> None:
    assert len(markdown_html("> " * 5_000 + "x")) < 50_000
    assert len(markdown_html("[" * 5_000)) < 50_000
