"""One byte string per value, and the digests of those bytes."""

import hashlib
import json
import re
from collections.abc import Iterable
from typing import NamedTuple

_PLAIN = re.compile(r"[a-z0-9]")
_KEPT = re.compile(r"[a-z0-9._-]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)")
"""Windows device names, which no file can have there, whatever the extension."""


def canonical_json(value: object) -> bytes:
    """Return ``value`` as JSON with sorted keys, no spaces and UTF-8.

    Raises:
        ValueError: for NaN, infinities and lone surrogates, which have no JSON form.
    """
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    return text.encode()


def sha256_hex(content: bytes) -> str:
    """Return the SHA-256 of ``content`` as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


class NamedDigest(NamedTuple):
    """A file's path inside what is hashed, and the SHA-256 of its bytes."""

    path: str
    sha256: str


def manifest_digest(files: Iterable[NamedDigest]) -> str:
    """Return one SHA-256 for a set of files, whatever their order.

    It is the digest of the canonical JSON list of ``[path, sha256]``, sorted by path.
    """
    return sha256_hex(canonical_json([[file.path, file.sha256] for file in sorted(files)]))


def slug(text: str) -> str:
    """Return ``text`` as a name fit for a path: ``[a-z0-9][a-z0-9._~-]*``, never a device name.

    Reversible, so two texts never share a slug: every other byte of the UTF-8 form becomes ``~``
    and two hex digits; what would begin with another character, or be a device name, gets ``0~~``
    before it.

    Raises:
        ValueError: for the empty text.
    """
    if not text:
        raise ValueError("the empty text has no slug")
    out = "".join(c if _KEPT.fullmatch(c) else _escaped(c) for c in text)
    return out if _PLAIN.match(out) and not _RESERVED.match(out) else f"0~~{out}"


def _escaped(character: str) -> str:
    return "".join(f"~{byte:02x}" for byte in character.encode())
