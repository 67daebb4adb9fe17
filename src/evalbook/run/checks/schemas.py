"""Validating a JSON document against a JSON Schema, without the network."""

import re
from itertools import islice
from typing import Any, NamedTuple

from evalbook.run.checks.answers import BrokenCheckError, UnreadableError

_ERRORS_SEEN = 100


class Invalid(NamedTuple):
    """The first place where a document breaks its schema."""

    pointer: str
    """JSON pointer into the document; empty: the whole of it."""
    expected: str
    """The rule: keyword and value."""
    actual: str


def validate(document: object, schema: dict[str, Any]) -> Invalid | None:
    """Return the first violation, by place in the document; None when it is valid.

    Raises:
        BrokenCheckError: when the schema is invalid or refers to what is not there.
        UnreadableError: when the document is nested too deep for the schema.
    """
    # Imported here: it takes longer than all other checks together, and few tasks have a schema.
    import jsonschema  # noqa: PLC0415
    import jsonschema.validators  # noqa: PLC0415
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    parsed: Any = document  # the stubs ask for a type of their own that means the same
    draft = jsonschema.validators.validator_for(
        schema, default=jsonschema.validators.Draft202012Validator
    )
    try:
        draft.check_schema(schema)
        # A registry of our own: the default one fetches references over the network.
        found = draft(schema, registry=REGISTRY).iter_errors(parsed)
        errors = list(islice(found, _ERRORS_SEEN))
    except jsonschema.SchemaError as error:
        raise BrokenCheckError(f"the schema is not valid: {error.message}") from None
    except Unresolvable as error:
        raise BrokenCheckError(f"the schema refers to {error.ref}, which is not in it") from None
    except re.error as error:
        raise BrokenCheckError(f"the schema holds a broken pattern: {error}") from None
    except RecursionError:
        raise UnreadableError("is nested too deep for the schema") from None
    if not errors:
        return None
    first = min(errors, key=lambda each: [str(part) for part in each.absolute_path])
    pointer = "".join(
        f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in first.absolute_path
    )
    return Invalid(pointer, f"{first.validator}: {first.validator_value}", first.message)
