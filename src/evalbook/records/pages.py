"""Pages: immutable files of one or more records, one canonical JSON line each."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from evalbook.base.canonical import sha256_hex
from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.decision import Exclusion, Reinstatement, RerunDecision
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.plan import Plan
from evalbook.records.task import MaterialFreeze

Record = (
    EvaluationFreeze
    | ConfigFreeze
    | MaterialFreeze
    | Plan
    | Attempt
    | Exclusion
    | Reinstatement
    | RerunDecision
)
"""Anything a page can hold; ``record`` tells which, with its schema version."""

_RECORD: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="record")])

PageKind = Literal["materials", "plan", "attempts", "decisions"]
"""What one page holds: freezes; one plan; rows of one run; decisions."""

_HOLDS: dict[PageKind, tuple[type, ...]] = {
    "materials": (EvaluationFreeze, ConfigFreeze, MaterialFreeze),
    "plan": (Plan,),
    "attempts": (Attempt,),
    "decisions": (Exclusion, Reinstatement, RerunDecision),
}

_KINDS: dict[str, PageKind] = {kind: kind for kind in _HOLDS}

_PART = r"[a-z0-9][a-z0-9._~-]*"
_FILE = r"(?P<stamp>[0-9]{8}t[0-9]{6}z)-(?P<kind>[a-z]+)-(?P<digest>[0-9a-f]{16})\.jsonl"
_PATH = re.compile(
    rf"ledger/(?P<evaluation>{_PART})/"
    rf"(?:materials|runs/(?P<config>{_PART})/(?P<run>{_PART})|decisions/(?P<month>[0-9]{{4}}-[0-9]{{2}}))"
    rf"/{_FILE}"
)
_ARTIFACT = re.compile(
    rf"ledger/(?P<evaluation>{_PART})/artifacts/(?P<ab>[0-9a-f]{{2}})/(?P<sha256>[0-9a-f]{{64}})"
)


class PagePath(NamedTuple):
    """What the path of a page says."""

    evaluation: str
    kind: PageKind
    config: str | None
    """Only for plan and attempts."""
    run: str | None
    """Only for plan and attempts."""
    month: str | None
    """Only for decisions: ``2026-11``."""
    stamp: str
    """``20261130t211804z``: when the page was written, UTC."""
    digest: str
    """First 16 digits of the SHA-256 of the page's bytes: its name vouches for its content."""


class ArtifactPath(NamedTuple):
    """What the path of an artifact in the ledger says."""

    evaluation: str
    sha256: str


class Line(NamedTuple):
    """One record as it stands in a page."""

    record: Record
    sha256: str
    """Of the line's bytes, without the line end; what decisions refer to."""
    number: int
    """1-based."""


class Page(NamedTuple):
    """One page, read."""

    path: str
    lines: tuple[Line, ...]
    commit: str | None = None
    """The commit that added it, where that was looked up."""


class Flaw(NamedTuple):
    """What is wrong with a page's bytes or name."""

    line: int | None
    message: str


def line_bytes(record: Record) -> bytes:
    """Return the one byte string for ``record``, without a line end.

    Fields stand in the order of the model; those that equal their default are left out, so that a
    field added later changes no line written before.
    """
    return record.model_dump_json(exclude_defaults=True).encode()


def parse_line(raw: bytes) -> Record:
    """Return the record that a line says.

    Raises:
        ValueError: when it is no record (pydantic's ValidationError is one).
    """
    return _RECORD.validate_json(raw)


def page_bytes(records: Sequence[Record]) -> bytes:
    """Return the bytes of a page that holds ``records``, at least one.

    Raises:
        ValueError: for no records, or records that don't belong on one page.
    """
    page_kind(records)
    return b"".join(line_bytes(record) + b"\n" for record in records)


def page_kind(records: Iterable[Record]) -> PageKind:
    """Return the kind of page that ``records`` make.

    Raises:
        ValueError: for no records, or records that don't belong on one page.
    """
    types = {type(record) for record in records}
    for kind, held in _HOLDS.items():
        if types and types <= set(held):
            return kind
    names = ", ".join(sorted(each.__name__ for each in types)) or "no records"
    raise ValueError(f"one page can't hold {names}")


def page_path(folder: str, written_at: str, kind: PageKind, content: bytes) -> str:
    """Return the path for a page in ``folder``, written at an instant."""
    stamp = re.sub(r"[-:]|\.[0-9]+", "", written_at).lower()
    return f"{folder}/{stamp}-{kind}-{sha256_hex(content)[:16]}.jsonl"


def materials_folder(evaluation: str) -> str:
    """Return where an evaluation's freezes are kept."""
    return f"ledger/{evaluation}/materials"


def run_folder(evaluation: str, config: str, run_id: str) -> str:
    """Return where one run's plan and rows are kept."""
    return f"ledger/{evaluation}/runs/{config}/{run_id}"


def decisions_folder(evaluation: str, decided_at: str) -> str:
    """Return where decisions of that instant's month are kept."""
    return f"ledger/{evaluation}/decisions/{decided_at[:7]}"


def artifact_path(evaluation: str, sha256: str) -> str:
    """Return where an artifact is kept in the ledger."""
    return f"ledger/{evaluation}/artifacts/{sha256[:2]}/{sha256}"


@lru_cache(maxsize=65_536)  # every rule of a verification asks again
def parse_page_path(path: str) -> PagePath | None:
    """Return what ``path`` says, or None where no page can have that path."""
    match = _PATH.fullmatch(path)
    if match is None:
        return None
    kind = _KINDS.get(match["kind"])
    allowed = (
        ("decisions",)
        if match["month"]
        else ("plan", "attempts")
        if match["run"]
        else ("materials",)
    )
    if kind is None or kind not in allowed:
        return None
    return PagePath(
        match["evaluation"], kind, match["config"], match["run"], match["month"], match["stamp"], match["digest"]
    )  # fmt: skip


def parse_artifact_path(path: str) -> ArtifactPath | None:
    """Return what ``path`` says, or None where no artifact can have that path."""
    match = _ARTIFACT.fullmatch(path)
    if match is None or match["ab"] != match["sha256"][:2]:
        return None
    return ArtifactPath(match["evaluation"], match["sha256"])


class Parsed(NamedTuple):
    """A page's good lines, and what is wrong with the rest."""

    page: Page
    flaws: tuple[Flaw, ...]


def parse_page(path: str, content: bytes, *, commit: str | None = None) -> Parsed:
    """Return the records of a page and every flaw of its bytes, its name and its folder.

    Nothing is repaired: a line whose bytes are not the canonical form of what they say is a flaw,
    which rules out duplicate keys, CRLF, NaN and every other disguise at once.
    """
    flaws: list[Flaw] = []
    lines: list[Line] = []
    where = parse_page_path(path)
    if where is None:
        flaws.append(Flaw(None, "is not the path of a page"))
    elif not sha256_hex(content).startswith(where.digest):
        flaws.append(
            Flaw(None, f"its name says {where.digest}, its bytes are {sha256_hex(content)[:16]}")
        )
    if not content:
        flaws.append(Flaw(None, "holds no record"))
    elif not content.endswith(b"\n"):
        flaws.append(Flaw(content.count(b"\n") + 1, "the last line has no line end"))
    for number, raw in enumerate(content.removesuffix(b"\n").split(b"\n"), 1) if content else ():
        try:
            record = _RECORD.validate_json(raw)
        except ValidationError as error:
            flaws.append(Flaw(number, _in_words(error)))
            continue
        if line_bytes(record) != raw:
            flaws.append(Flaw(number, "is not in canonical form"))
        flaw = where and _misplaced(where, record)
        if flaw:
            flaws.append(Flaw(number, flaw))
        lines.append(Line(record, sha256_hex(raw), number))
    if where and where.kind == "plan" and len(lines) > 1:
        flaws.append(Flaw(2, "a plan's page holds one plan"))
    return Parsed(Page(path, tuple(lines), commit), tuple(flaws))


def _in_words(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"][1:] or first["loc"])
    more = error.error_count() - 1
    return f"{field + ': ' if field else ''}{first['msg']}" + (
        f" (and {more} more)" if more else ""
    )


def _misplaced(where: PagePath, record: Record) -> str | None:
    """Return why ``record`` has no place on that page, or None."""
    if not isinstance(record, _HOLDS[where.kind]):
        return f"a {record.record} has no place on a page of {where.kind}"
    match record:
        case Attempt():
            said: tuple[str, ...] = (
                record.config_ref.partition("@")[0],
                record.attempt_id.partition("/")[0],
            )
            stands: tuple[str | None, ...] = (where.config, where.run)
        case Plan():
            said = (record.evaluation, record.config, record.run_id)
            stands = (where.evaluation, where.config, where.run)
        case Exclusion() | Reinstatement() | RerunDecision():
            said = (record.evaluation, record.decided_at[:7])
            stands = (where.evaluation, where.month)
        case _:
            said, stands = (record.evaluation,), (where.evaluation,)
    if said == stands:
        return None
    return f"a record of {' '.join(said)} stands in the folder of {' '.join(map(str, stands))}"
