"""Taking credentials out of everything that is kept."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote, quote_plus

_NAMED = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 8
"""Shorter values would blot out ordinary words."""
_PLAIN = re.compile(r"[0-9.]*|true|false|none|null", re.IGNORECASE)
"""Values of variables that only look secret by their name, say MAX_TOKENS=10000000."""


class _Shape(NamedTuple):
    name: str
    anchor: bytes
    """Occurs in every match; without it the pattern need not be tried."""
    pattern: re.Pattern[bytes]


def _shape(name: str, anchor: bytes, pattern: bytes) -> _Shape:
    return _Shape(name, anchor, re.compile(pattern, re.DOTALL))


# Each begins at the border of a word and takes it whole without giving back: what an agent prints
# is hostile too, and must not make the search slow.
_SHAPES = (
    _shape(
        "private-key",
        b"PRIVATE KEY-----",
        rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.*?"
        rb"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|\Z)",
    ),
    _shape("jwt", b"eyJ", rb"(?<![\w-])eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+"),
    _shape("api-key", b"k-", rb"(?<![\w-])[spr]k-(?=[\w-]*[0-9])[\w-]{16,}+"),
    _shape("api-key", b"k_", rb"(?<![\w-])[sr]k_(?:live|test)_\w{16,}+"),
    _shape("github-token", b"gh", rb"(?<![\w-])gh[pousr]_\w{30,}+"),
    _shape("github-token", b"github_pat_", rb"(?<![\w-])github_pat_\w{20,}+"),
    _shape("gitlab-token", b"glpat-", rb"(?<![\w-])glpat-[\w-]{16,}+"),
    _shape("aws-key", b"A", rb"(?<![A-Za-z0-9])A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape("google-key", b"AIza", rb"(?<![\w-])AIza[\w-]{35}"),
    _shape("slack-token", b"xox", rb"(?<![\w-])xox[abeoprs]-[\w-]{10,}+"),
    _shape("hugging-face-token", b"hf_", rb"(?<![\w-])hf_[A-Za-z0-9]{30,}+"),
    _shape("bearer-token", b"earer", rb"(?<![\w-])[Bb]earer[ \t]{1,4}[\w.~+/-]{16,}+=*"),
    _shape("basic-credentials", b"asic", rb"(?<=[Aa]uthorization: )[Bb]asic [A-Za-z0-9+/]{8,}+=*"),
    _shape("url-password", b"://", rb"""(?<=://)[^\s/@:?#"'<>]{0,256}:[^\s/@"'<>]{1,256}(?=@)"""),
)


class Scrubber:
    """Replaces known secret values, and whatever has the shape of one, by ``[scrubbed:…]``.

    Known values are found as they are and as JSON, URLs, base64 (at any offset) and UTF-16 write
    them. In content that is no UTF-8 text the replacement is as long as what it replaces, so that a
    database or an archive still opens. What is compressed or encrypted can't be looked into.
    Picklable, so that it can travel with an attempt.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        forms: dict[bytes, str] = {}
        for name, value in sorted(secrets.items()):
            if len(value) >= _SHORTEST:
                for form in _forms(value):
                    forms.setdefault(form, name)
        self._names = forms
        # Longest first, so that a secret that holds another one is replaced whole.
        in_turn = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile(b"|".join(map(re.escape, in_turn))) if in_turn else None

    def data(self, content: bytes) -> bytes:
        """Return ``content`` without credentials; other bytes are as they were."""
        fit = not _is_text(content)
        if self._known is not None:
            content = self._known.sub(
                lambda found: _mark(self._names[found[0]], len(found[0]) if fit else None), content
            )
        for name, anchor, pattern in _SHAPES:
            if anchor in content:
                content = pattern.sub(
                    lambda found, name=name: _mark(name, len(found[0]) if fit else None),  # type: ignore[misc]  # a default binds the loop's value
                    content,
                )
        return content

    def text(self, text: str) -> str:
        """Return ``text`` without credentials; lone surrogates become question marks."""
        return self.data(text.encode("utf-8", "replace")).decode("utf-8", "replace")


def secrets_in(environment: Mapping[str, str], named: tuple[str, ...]) -> dict[str, str]:
    """Return the variables that hold secrets: those a config names, and those whose name says so."""
    return {
        name: value
        for name, value in environment.items()
        if name in named or (_NAMED.search(name) and not _PLAIN.fullmatch(value))
    }


def _mark(name: str, length: int | None) -> bytes:
    mark = f"[scrubbed:{name}]".encode()
    return mark if length is None else mark[:length].ljust(length, b"*")


def _is_text(content: bytes) -> bool:
    if b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _forms(value: str) -> Iterator[bytes]:
    raw = value.encode("utf-8", "surrogateescape")
    yield raw
    yield raw.decode("utf-8", "replace").encode("utf-16-le")
    for ascii_only in (True, False):
        inner = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield inner.encode("utf-8", "surrogateescape")
    yield quote(raw, safe="").encode()
    yield quote_plus(raw).encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(raw).rstrip(b"=")
    for offset in range(3):
        # Base64 of the value inside something longer: what does not depend on its neighbours.
        padded = bytes(offset) + raw
        whole = len(padded) // 3 * 3
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            form = encode(padded[:whole])[4 if offset else 0 :]
            if len(form) >= _SHORTEST:
                yield form
