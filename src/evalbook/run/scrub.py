"""Taking credentials out of everything that is kept."""

import base64
import re
from collections.abc import Mapping

_NAMED = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_SHORTEST = 8
"""Shorter values would blot out ordinary words."""

_SHAPES: tuple[tuple[str, re.Pattern[bytes]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "private key",
            rb"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        ),
        ("jwt", rb"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        ("api key", rb"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"),
        ("github token", rb"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
        ("gitlab token", rb"\bglpat-[A-Za-z0-9_-]{16,}"),
        ("aws key", rb"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("google key", rb"\bAIza[A-Za-z0-9_-]{30,}"),
        ("slack token", rb"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("hugging face token", rb"\bhf_[A-Za-z0-9]{20,}"),
        ("bearer token", rb"(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}"),
        ("password in an address", rb"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"),
    )
)


class Scrubber:
    """Replaces known secret values, and whatever has the shape of one, by ``[scrubbed:…]``.

    Picklable, so that it can travel with an attempt; the values never reach a record.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        known = {name: value for name, value in secrets.items() if len(value) >= _SHORTEST}
        forms: dict[bytes, bytes] = {}
        for name, value in sorted(known.items()):
            raw = value.encode("utf-8", "surrogateescape")
            mark = f"[scrubbed:{name}]".encode()
            for form in (raw, base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
                forms.setdefault(form.rstrip(b"="), mark)
        # Longest first, so that a secret that holds another one is replaced whole.
        self._known = tuple(sorted(forms.items(), key=lambda each: (-len(each[0]), each[0])))

    def data(self, content: bytes) -> bytes:
        """Return ``content`` without credentials; other bytes are as they were."""
        for value, mark in self._known:
            content = content.replace(value, mark)
        for name, shape in _SHAPES:
            content = shape.sub(f"[scrubbed:{name}]".encode(), content)
        return content

    def text(self, text: str) -> str:
        """Return ``text`` without credentials."""
        return self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


def secrets_in(environment: Mapping[str, str], named: tuple[str, ...]) -> dict[str, str]:
    """Return the variables that hold secrets: those a config names, and those whose name says so."""
    return {
        name: value
        for name, value in environment.items()
        if value and (name in named or _NAMED.search(name))
    }
