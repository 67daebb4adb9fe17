"""The check that validates a JSON document against a JSON Schema."""

import json
import sys
from pathlib import Path

from pydantic import ValidationError

from evalbook.records.checks import JsonSchema
from evalbook.records.fields import Frozen
from evalbook.run.checks.answers import (
    Answer,
    BrokenCheckError,
    UnreadableError,
    broken_if_unreadable,
)
from evalbook.run.checks.documents import place_in, read_json
from evalbook.run.process import run_command

_WORKER = Path(__file__).with_name("schema_worker.py")
_LONGEST_S = 30.0
_MOST_MEMORY = 2 << 30
_MOST_OUTPUT = 1 << 20


class _Said(Frozen):
    """What the worker prints."""

    valid: bool = False
    broken: str | None = None
    too_deep: bool = False
    pointer: str = ""
    expected: str = ""
    actual: str = ""


def json_schema(check: JsonSchema, workspace: Path, references: Path, scratch: Path) -> Answer:
    """Hold when the document is valid against the schema, whose draft is that of its ``$schema``.

    References are looked up in the schema itself and among the published drafts, never in the
    network. It takes a process of its own with 30 s and 2 GiB; a document that needs more fails.
    """
    with broken_if_unreadable("the schema"):
        schema = read_json(references, check.schema_file, exact=False)
    if not isinstance(schema, dict):
        raise BrokenCheckError(f"expected/{check.schema_file} is no schema: not an object")
    said = _validated(read_json(workspace, check.file, exact=False), schema, check, scratch)
    if said.broken is not None:
        raise BrokenCheckError(said.broken)
    if said.too_deep:
        raise UnreadableError("is nested too deep for the schema", check.file)
    if said.valid:
        return Answer("held", f"valid against {check.schema_file}", "valid", check.file)
    return Answer("failed", said.expected, said.actual, place_in(check.file, said.pointer))


def _validated(document: object, schema: object, check: JsonSchema, scratch: Path) -> _Said:
    scratch.mkdir(parents=True, exist_ok=True)
    arguments = scratch / "arguments.json"
    arguments.write_text(json.dumps({"document": document, "schema": schema, "path": sys.path}))
    ended = run_command(
        [sys.executable, "-I", str(_WORKER), str(arguments.resolve())],
        folder=scratch,
        environment={},
        limits={"AS": _MOST_MEMORY},
        time_limit_s=_LONGEST_S,
        most_output=_MOST_OUTPUT,
    )
    if ended.how == "time_limit":
        raise UnreadableError(f"can't be validated within {_LONGEST_S:g} s", check.file)
    try:
        return _Said.model_validate_json(ended.stdout)
    except ValidationError:
        last = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        if "MemoryError" in last:
            raise UnreadableError("can't be validated within 2 GiB", check.file) from None
        raise BrokenCheckError(
            f"the validation ended: {ended.problem or last or ended.how}"
        ) from None
