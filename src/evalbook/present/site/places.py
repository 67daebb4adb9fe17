"""Where every page of the site lies, and how one leads to another."""

import posixpath

from evalbook.derive.book import Entry
from evalbook.records.fields import attempt_parts

HOME = "index.html"
CHECK = "check.html"
STYLE = "style.css"
LEDGER = "ledger.json"


def evaluation(name: str) -> str:
    """Return the page of an evaluation."""
    return f"evaluation/{name}/index.html"


def config(name: str, config_name: str) -> str:
    """Return the page of a config: all its versions."""
    return f"evaluation/{name}/config/{config_name}.html"


def task(name: str, task_id: str) -> str:
    """Return the page of a task."""
    return f"evaluation/{name}/task/{task_id}.html"


def decisions(name: str) -> str:
    """Return the page of everything people decided."""
    return f"evaluation/{name}/decisions.html"


def report(name: str) -> str:
    """Return the page of the results report; the same as Markdown ends in ``.md``."""
    return f"evaluation/{name}/report.html"


def report_markdown(name: str) -> str:
    """Return the results report as Markdown."""
    return f"evaluation/{name}/report.md"


def attempts_csv(name: str) -> str:
    """Return the table of all rows."""
    return f"evaluation/{name}/attempts.csv"


def figures_json(name: str) -> str:
    """Return the figures for programs."""
    return f"data/{name}.json"


def has_page(entry: Entry) -> bool:
    """Tell whether there is enough evidence about an attempt for a page of its own.

    Rows read in from elsewhere come without files and stand on their task's page.
    """
    row = entry.attempt
    if row.source is not None:
        return False
    return bool(row.checks or row.artifacts or row.trace_ref or row.note) or not row.passed


def attempt(name: str, entry: Entry) -> str:
    """Return where an attempt is shown: its own page, or its line on the page of its task."""
    parts = attempt_parts(entry.attempt.attempt_id)
    if has_page(entry):
        return f"evaluation/{name}/attempt/{parts.run}/{parts.task}/{parts.number}.html"
    return f"{task(name, parts.task)}#{anchor(entry)}"


def anchor(entry: Entry) -> str:
    """Return the id of an attempt's line on the page of its task."""
    parts = attempt_parts(entry.attempt.attempt_id)
    return f"a-{parts.run}-{parts.number}"


def relative(here: str, target: str) -> str:
    """Return how the page at ``here`` leads to ``target``, which may end in ``#`` and an id."""
    path, mark, fragment = target.partition("#")
    if path == here and mark:
        return f"#{fragment}"
    return posixpath.relpath(path, posixpath.dirname(here) or ".") + mark + fragment
