"""Validate one JSON document against one JSON Schema, as a program of its own.

Started as ``python -I schema_worker.py ARGUMENTS``, where ARGUMENTS is a JSON file with ``document``, ``schema`` and
the ``path`` on which modules are found. Prints ``{"valid"}``, ``{"broken"}``, ``{"too_deep"}`` or ``{"pointer",
"expected", "actual"}`` as JSON. It exists because a document can be made to stall a pattern of its
schema, and no thread can be stopped inside one.
"""

import json
import re
import sys
from itertools import islice
from pathlib import Path
from typing import Any

_ERRORS_SEEN = 100
_LONGEST = 20_000
"""Characters; messages quote the document."""


def verdict(document: object, schema: dict[str, Any]) -> dict[str, object]:
    """Return what is to be printed."""
    # Imported here, since only `main` knows where these lie.
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
        return {"broken": f"the schema is not valid: {error.message}"}
    except Unresolvable as error:
        return {"broken": f"the schema refers to {error.ref}, which is not in it"}
    except re.error as error:
        return {"broken": f"the schema holds a broken pattern: {error}"}
    except RecursionError:
        return {"too_deep": True}
    if not errors:
        return {"valid": True}
    return _first(errors)


def _first(errors: list[Any]) -> dict[str, object]:
    first = min(errors, key=lambda each: [str(part) for part in each.absolute_path])
    steps = [str(part).replace("~", "~0").replace("/", "~1") for part in first.absolute_path]
    return {
        "pointer": "".join(f"/{step}" for step in steps),
        "expected": f"{first.validator}: {first.validator_value}"[:_LONGEST],
        "actual": str(first.message)[:_LONGEST],
    }


def main(arguments: str) -> None:
    """Read the arguments, print the verdict."""
    said = json.loads(Path(arguments).read_text(encoding="utf-8"))
    sys.path[:] = said["path"]
    sys.stdout.write(json.dumps(verdict(said["document"], said["schema"])))


if __name__ == "__main__":
    main(sys.argv[1])
