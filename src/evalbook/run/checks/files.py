"""Checks of single files: there, not there, byte for byte, holding a text."""

from itertools import count
from pathlib import Path
from typing import NamedTuple

from evalbook.records.checks import BytesEqual, FileAbsent, FileExists, TextContains
from evalbook.run.checks.answers import Answer, broken_if_unreadable, listed, quoted
from evalbook.run.checks.reading import content_of, opened

_CHUNK = 1 << 20
_AROUND = 16


def file_exists(check: FileExists, workspace: Path) -> Answer:
    """Hold when a regular file is there, empty or not; a link, folder or pipe is none."""
    with opened(workspace, check.file):
        return Answer("held", f"{check.file} is there", "it is", check.file)


def file_absent(check: FileAbsent, workspace: Path) -> Answer:
    """Hold when nothing has that name: no folder and no dangling link either.

    What can't be looked at, because its folder was locked, is not known to be absent: failed.
    """
    expected = f"nothing named {check.file}"
    try:
        (workspace / check.file).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return Answer("held", expected, "nothing is there", check.file)
    except OSError as error:
        return Answer("failed", expected, f"can't be looked at: {error.strerror}", check.file)
    return Answer("failed", expected, "something of that name is there", check.file)


class _FirstDifference(NamedTuple):
    offset: int
    line: int
    expected: bytes
    actual: bytes


def bytes_equal(check: BytesEqual, workspace: Path, references: Path) -> Answer:
    """Hold when the file has exactly the bytes of the reference, whatever its size."""
    expected = f"the bytes of expected/{check.expected}"
    found = _first_difference(check, workspace, references)
    if found is None:
        return Answer("held", expected, "all bytes equal", check.file)
    return Answer(
        "failed",
        f"{expected}; there {_shown(found.expected)}",
        _shown(found.actual),
        f"{check.file}, byte offset {found.offset}, line {found.line}",
    )


def _first_difference(
    check: BytesEqual, workspace: Path, references: Path
) -> _FirstDifference | None:
    with broken_if_unreadable("the reference"), opened(references, check.expected):
        pass  # only to learn whether it can be
    line = 1
    with opened(workspace, check.file) as file, (references / check.expected).open("rb") as wanted:
        for number in count():
            expected, actual = wanted.read(_CHUNK), file.read(_CHUNK)
            if expected != actual:
                shared = min(len(expected), len(actual))
                at = next((n for n in range(shared) if expected[n] != actual[n]), shared)
                line += expected[:at].count(b"\n")
                window = slice(at, at + _AROUND)
                return _FirstDifference(
                    number * _CHUNK + at, line, expected[window], actual[window]
                )
            if not expected:
                break
            line += expected.count(b"\n")
    return None


def _shown(content: bytes) -> str:
    if not content:
        return "the end of the file"
    return quoted(content.decode("utf-8", "backslashreplace"))


def text_contains(check: TextContains, workspace: Path) -> Answer:
    """Hold when every text occurs, anywhere, in any order; bytes that are not UTF-8 match nothing.

    Weak: words can be right where the state is not.
    """
    text = content_of(workspace, check.file).decode("utf-8", "replace")
    wanted = check.texts
    if check.ignore_case:
        text, wanted = text.casefold(), tuple(each.casefold() for each in wanted)
    missing = [
        quoted(each) for each, folded in zip(check.texts, wanted, strict=True) if folded not in text
    ]
    expected = f"{check.file} contains {listed([quoted(each) for each in check.texts])}"
    if missing:
        return Answer("failed", expected, f"without {listed(missing)}", check.file)
    return Answer("held", expected, "all found", check.file)
