"""Templates: the user's own before the packaged ones, file by file."""

import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import jinja2
from markupsafe import Markup

from evalbook.base.problems import UserError
from evalbook.present.markup import markdown_html
from evalbook.present.text import (
    ENGLISH,
    Language,
    count,
    coverage,
    day,
    known_cost,
    mark_of,
    mean_over,
    minute,
    name_only,
    one_line,
    percent,
    seconds,
    short,
    size,
    visible,
)

_PACKAGE = Path(__file__).resolve().parents[1]


def packaged_folder() -> Path:
    """Return the folder of our own templates: inside the wheel, or at the checkout's top.

    Raises:
        UserError: when this installation came without them.
    """
    for folder in (_PACKAGE / "site_templates", _PACKAGE.parents[1] / "site_templates"):
        if (folder / "page.html").is_file():
            return folder
    raise UserError(
        "this installation of evalbook came without its templates", hint="reinstall evalbook"
    )


class Templates:
    """Everything that pages and reports are made with, for one language."""

    def __init__(self, own: Path | None = None, language: Language = ENGLISH) -> None:
        folders = [*([own] if own else []), packaged_folder()]
        self.language = language
        self._loader = jinja2.FileSystemLoader(folders)
        self._html = self._environment(autoescape=True)
        self._html.filters.update(_FILTERS)
        self._html.globals |= {"language": language, "_": self._shown, "ngettext": self._counted}
        self._markdown = self._environment(autoescape=False)
        self._markdown.globals["_"] = self._said
        self._markdown.filters["ready"] = Ready
        self._folders = folders

    def html(self, name: str, **values: object) -> bytes:
        """Return a page, in which every value that is no markup of ours is escaped.

        Raises:
            UserError: when a template of the user's is broken, with its file and line.
        """
        return self._render(self._html, name, values).encode()

    def markdown(self, name: str, **values: object) -> str:
        """Return a Markdown document, in which no value can act as markup.

        Raises:
            UserError: when a template of the user's is broken, with its file and line.
        """
        return self._render(self._markdown, name, values)

    def file(self, name: str) -> bytes:
        """Return a file that is no template: the user's own, or ours."""
        for folder in self._folders:
            if (folder / name).is_file():
                return (folder / name).read_bytes()
        raise UserError(f"there is no {name} in site_templates")

    def _environment(self, *, autoescape: bool) -> jinja2.Environment:
        return jinja2.Environment(
            loader=self._loader,
            autoescape=autoescape,  # noqa: S701 - Markdown is escaped by its own finalize
            finalize=_seen if autoescape else _in_markdown,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )

    def _render(
        self, environment: jinja2.Environment, name: str, values: Mapping[str, object]
    ) -> str:
        try:
            return environment.get_template(name).render(values)
        except jinja2.TemplateSyntaxError as error:
            where = f"{error.filename or error.name}:{error.lineno}"
            raise UserError(f"{where}: {error.message}", hint=_MEND) from error
        except jinja2.TemplateNotFound as error:
            raise UserError(f"there is no template {error.name}", hint=_MEND) from error
        except jinja2.UndefinedError as error:
            raise UserError(f"{name}: {error.message}", hint=_MEND) from error

    def _shown(self, text: str, **values: object) -> str:
        """Return plain text, so that even a value passed for a message is escaped with the rest."""
        said = self.language.gettext(text)
        return said % values if values else said

    def _counted(self, one: str, many: str, number: int) -> str:
        return self.language.ngettext(one, many, number) % {"num": count(number)}

    def _said(self, text: str, **values: object) -> "Ready":
        said = self.language.gettext(text)
        escaped = {key: _in_markdown(value) for key, value in values.items()}
        return Ready(said % escaped if values else said)


_FILTERS = {
    "count": count,
    "coverage": coverage,
    "day": day,
    "decimal": Decimal,
    "known_cost": known_cost,
    "mark": mark_of,
    "markdown": markdown_html,
    "mean_over": mean_over,
    "minute": minute,
    "name_only": name_only,
    "percent": percent,
    "seconds": seconds,
    "short": short,
    "size": size,
}
"""What pages may do with a value: everything else is computed before."""

_MEND = "mend the file in site_templates/, or delete it: ours takes its place"


class Ready(str):
    """Markdown that is written as it is."""

    __slots__ = ()


def _seen(value: object) -> object:
    """Write out control and direction characters before a value is escaped into a page."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _in_markdown(value: object) -> object:
    if isinstance(value, Ready) or not isinstance(value, str):
        return value
    return Ready(escape_markdown(value))


_ALWAYS = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
"""Markup anywhere; an underscore inside a word is none."""
_FIRST = re.compile(r"^(?:([-+=>#])|([0-9]+)([.)])(?=\s|$))")
"""What would begin a heading, a list or a quotation where the text begins a line."""
_LINKED = re.compile(r"(?<!\w)@(?=\w)|#(?=\w)")
"""What hosting sites turn into mentions of people and links to issues after Markdown is done, so
that no backslash helps: a word joiner, which shows nothing, parts the two."""
_ADDRESS = re.compile(r"(?<=\w):(?=//)|(?<=www)\.", re.IGNORECASE)
"""What GitHub's dialect turns into a link without being asked."""


def escape_markdown(text: str) -> str:
    """Return ``text`` on one line, so that a Markdown reader shows it as it is, and only shows it.

    What is harmless stays as it is, so that the source can be read too.
    """
    line = one_line(text).replace("&", "&amp;").replace("<", "&lt;")
    line = _ALWAYS.sub(lambda match: f"\\{match[0]}", line)
    line = _ADDRESS.sub(lambda match: f"\\{match[0]}", line)
    line = _FIRST.sub(
        lambda match: f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}", line
    )
    return _LINKED.sub(lambda match: f"{match[0]}\u2060", line)
