"""Checks on files as such: there, absent, equal byte for byte, holding a text."""

from evalbook.records.checks import BytesEqual, FileAbsent, FileExists, TextContains
from evalbook.run.checks.context import (
    Finding,
    GradeContext,
    agents_bytes,
    agents_file,
    failed,
    held,
    quoted,
    reference_bytes,
)

_AROUND = 16


def file_exists(check: FileExists, context: GradeContext) -> Finding:
    """Answer whether a regular file is there."""
    agents_file(context, check.file)
    return held(f"{check.file} is there", evidence=check.file)


def file_absent(check: FileAbsent, context: GradeContext) -> Finding:
    """Answer whether nothing is there, not even a link that leads nowhere."""
    expected = f"nothing at {check.file}"
    path = context.workspace / check.file
    if path.exists() or path.is_symlink():
        return failed(expected, f"{check.file} is there", check.file)
    return held(expected)


def bytes_equal(check: BytesEqual, context: GradeContext) -> Finding:
    """Answer whether a file equals its reference, and where it first differs."""
    wanted = reference_bytes(context, check.expected)
    found = agents_bytes(context, check.file)
    expected = f"the bytes of expected/{check.expected}"
    if found == wanted:
        return held(expected, evidence=check.file)
    at = next(
        (n for n, (a, b) in enumerate(zip(wanted, found, strict=False)) if a != b),
        min(len(wanted), len(found)),
    )
    near = slice(max(0, at - _AROUND), at + _AROUND)
    return failed(
        f"{expected}: {wanted[near]!r} around byte {at}",
        f"{found[near]!r}; {len(found)} bytes, not {len(wanted)}"
        if len(found) != len(wanted)
        else f"{found[near]!r}",
        f"{check.file}, byte {at}",
    )


def text_contains(check: TextContains, context: GradeContext) -> Finding:
    """Answer whether every text occurs in a file."""
    text = agents_bytes(context, check.file).decode("utf-8", "replace")
    haystack = text.casefold() if check.ignore_case else text
    missing = [
        each
        for each in check.texts
        if (each.casefold() if check.ignore_case else each) not in haystack
    ]
    expected = f"{check.file} contains {', '.join(repr(quoted(each)) for each in check.texts)}"
    if missing:
        return failed(
            expected, f"without {', '.join(repr(quoted(each)) for each in missing)}", check.file
        )
    return held(expected, evidence=check.file)
