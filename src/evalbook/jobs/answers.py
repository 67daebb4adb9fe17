"""What commands answer: text for people, one JSON document for programs."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from evalbook.base.exits import DONE


class Answer(NamedTuple):
    """The answer of one command."""

    text: str
    document: Mapping[str, Any]
    """Without ``schema``, which every document gets."""
    exit_code: int = DONE

    def as_text(self) -> str:
        """Return it for people."""
        return self.text

    def as_json(self) -> str:
        """Return it for programs: sorted keys, ``"schema": 1``."""
        return json.dumps(
            {"schema": 1, **self.document}, ensure_ascii=False, indent=2, sort_keys=True
        )
