"""Markdown that people or sources wrote, as HTML that can do nothing but be read."""

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from evalbook.present.text import visible

_ALLOWED = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
"""Addresses that may be followed; a relative one would lead out of the site's own pages."""
_HEADINGS_BELOW = 2
_DEEPEST_HEADING = 6
_DEEPEST_NESTING = 40


class _Reader(RendererHTML):
    """Writes HTML as the parser does, but no image, and links that tell the other side nothing."""

    def image(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: EnvType,
    ) -> str:
        """Show an image's words: fetching it would tell its owner who reads the page."""
        return str(escape(f"[{self.renderInlineAsText(tokens[idx].children, options, env)}]"))

    def link_open(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: EnvType,
    ) -> str:
        """Open a link that hands on no address."""
        tokens[idx].attrSet("rel", "nofollow noopener noreferrer")
        return self.renderToken(tokens, idx, options, env)


def _parser() -> MarkdownIt:
    parser = MarkdownIt(
        "commonmark", {"html": False, "maxNesting": _DEEPEST_NESTING}, renderer_cls=_Reader
    ).enable("table")
    # The parser's own rule lets relative addresses pass; the attribute is meant to be replaced.
    parser.validateLink = lambda url: _ALLOWED.match(url) is not None  # type: ignore[method-assign]
    return parser


_PARSER = _parser()


def markdown_html(text: str) -> Markup:
    """Return Markdown as HTML without raw HTML, scripts, images or addresses of other schemes.

    Headings begin two levels down, below those of the page.
    """
    tokens = _PARSER.parse(visible(text))
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            level = min(_DEEPEST_HEADING, int(token.tag[1:]) + _HEADINGS_BELOW)
            token.tag = f"h{level}"
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S704 - the parser escapes, and raw HTML is off
