"""Books for the site's tests: a plain one, one with everything, one whose every text is hostile."""

from functools import cache
from typing import Any

from tests.builders import (
    PERSON,
    WORKED_EXAMPLE,
    config_ref,
    exclusion_of,
    page_of,
    pages_of,
    plan_of,
    refs,
    reinstatement_of,
    rerun_decision_of,
    rerun_of,
    row_of,
)

from evalbook.derive.book import Book, fold
from evalbook.present.site.build import build_pages
from evalbook.present.site.press import SiteFacts
from evalbook.present.templates import Templates
from evalbook.records.attempt import Attempt
from evalbook.records.config import ConfigFreeze
from evalbook.records.evaluation import EvaluationFreeze
from evalbook.records.pages import Page
from evalbook.records.plan import Plan
from evalbook.records.task import MaterialFreeze

RULES = {"attempts": 5, "k": (1, 3), "exclusion": {"allowed": ("infra_error",)}}
ONE_LINE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> \"'`|&lt; @someone #1 **b** [x](javascript:alert(1)) "
    "{{ 7 * 7 }} {% raw %} http://evil.example www.evil.example"
)
HOSTILE = f"{ONE_LINE}\n</pre></td>\u202egnp.exe\x1b[31mred\x00\r\n# heading\n- item"
"""What an agent or a source may put into any text: markup, control and direction characters."""
FREEZE = {"frozen_by": PERSON, "frozen_at": "2026-11-30T20:00:00.000Z", "reason": "first version"}
TEXT = "1" * 64
BINARY = "2" * 64
LONG = "3" * 64
GONE = "4" * 64
ARTIFACTS = {
    TEXT: b"department,devices\nresearch,2\n",
    BINARY: b"\x89PNG\0\1",
    LONG: b"line\n" * 10_000,
}


def facts(*, preview: dict[str, bytes] | None = None, commit: str = "3f9c" * 10) -> SiteFacts:
    found = ARTIFACTS if preview is None else preview
    return SiteFacts(
        commit, "sha1", "9b1e" * 16, "evalbook 0.1.0", b'{"schema": 1}\n', {}, found.get
    )


def site(book: Book, templates: Templates | None = None, **changes: Any) -> dict[str, bytes]:
    """The files of the site, by path."""
    pages = list(build_pages(book, facts(**changes), templates or Templates()))
    files = {page.path: page.content for page in pages}
    assert len(files) == len(pages), "a path was written twice"
    return files


def evaluation_freeze(name: str = "inventory", **changes: Any) -> EvaluationFreeze:
    known: dict[str, Any] = {
        "record": "evaluation/1", "evaluation": name, "title": "Device inventory", "constructed": False,
        "rules": RULES, "sha256": "a" * 64, "tasks": 3, **FREEZE,
    }  # fmt: skip
    return EvaluationFreeze.model_validate(known | changes)


def config_freeze(version: str, settings: dict[str, str], **changes: Any) -> ConfigFreeze:
    known: dict[str, Any] = {
        "record": "config/1", "evaluation": "inventory", "config": "agent", "version": version,
        "sha256": config_ref("agent", version).rpartition(":")[2],
        "settings": tuple({"key": key, "value": value} for key, value in sorted(settings.items())), **FREEZE,
    }  # fmt: skip
    return ConfigFreeze.model_validate(known | changes)


def material_freeze(task: str, **changes: Any) -> MaterialFreeze:
    known: dict[str, Any] = {
        "record": "material/1", "evaluation": "inventory", "task_id": task, "title": task, "parts": (),
        **refs(task), "sha256": "c" * 64, "instruction": "Count the *devices*.",
        "definition": '{"check":[{"critical":true,"kind":"unchanged","name":"untouched"}]}', **FREEZE,
    }  # fmt: skip
    return MaterialFreeze.model_validate(known | changes)


def evidence(outcome: str, **changes: Any) -> dict[str, Any]:
    """What a graded attempt of our own leaves."""
    held = outcome == "p"
    known: dict[str, Any] = {
        "checks": ({"name": "untouched", "outcome": "held" if held else "failed", "critical": True,
                    "failure_class": None if held else "out_of_bounds"},),
        "failed_checks": () if held else ("untouched",),
        "artifacts": (
            {"name": "output/summary.csv", "role": "output", "sha256": TEXT, "size": 30, "place": "ledger"},
            {"name": "stdout.txt", "role": "log", "sha256": LONG, "size": 50_000, "place": "store"},
        ),
        "restored": "verified", "isolation": "process group", "cost": "0.08", "currency": "CNY",
    }  # fmt: skip
    return known | changes


def full_pages() -> tuple[Page, ...]:
    """Two versions; of the second one attempt excluded and run again, one run again for nothing."""
    first, second = (
        plan_of(
            dict.fromkeys(WORKED_EXAMPLE, 5),
            version=version,
            run=run,
            planned_at=f"2026-12-0{number}T01:00:00.000Z",
            rules=RULES,
        )
        for number, (version, run) in enumerate(
            (("v1", "20261201-0100-aaaa"), ("v2", "20261202-0100-bbbb")), 1
        )
    )
    outcomes = {"complete": "ppfpp", "duplicate-ids": "ppppp", "missing-department": "ptip"}
    rows = _graded(second, outcomes)
    broken = next(row for row in rows if row.verdict == "infra_error")
    failed = next(row for row in rows if row.verdict == "fail")
    stands, stood = rerun_of(second, broken, "p", run="20261203-0100-cccc", **evidence("p"))
    apart, shown = rerun_of(second, failed, "p", run="20261203-0200-dddd")
    taken_back = exclusion_of(broken, number=1)
    return (
        page_of(evaluation_freeze(constructed=True, description="# About\n\nSee [x](https://example.org).")),
        page_of(config_freeze("v1", {"model": '"m1"', "agent": '"a"'}), config_freeze("v2", {"model": '"m2"', "agent": '"a"', "sampling.top_p": "1"}, frozen_at="2026-12-01T20:00:00.000Z")),
        page_of(*(material_freeze(task) for task in sorted(WORKED_EXAMPLE))),
        *pages_of(first, _graded(first, WORKED_EXAMPLE)),
        *pages_of(second, rows),
        *pages_of(stands, [stood]),
        *pages_of(apart, [shown]),
        page_of(taken_back),
        page_of(reinstatement_of(taken_back, number=2)),
        page_of(exclusion_of(broken, number=3)),
        page_of(rerun_decision_of(broken, stands.run_id, number=4)),
        page_of(rerun_decision_of(failed, apart.run_id, number=5)),
    )  # fmt: skip


def full_book() -> Book:
    return fold(full_pages())


@cache
def full_site() -> dict[str, bytes]:
    """The site of the full book, built once for all tests that only look at it."""
    return site(full_book())


def _graded(plan: Plan, outcomes: dict[str, str]) -> list[Attempt]:
    return [
        row_of(plan, task, number, letter, **({} if letter == "i" else evidence(letter)))
        for task, letters in sorted(outcomes.items())
        for number, letter in enumerate(letters, 1)
    ]


def hostile_book() -> Book:
    """Every field that takes free text holds `HOSTILE`, or `ONE_LINE` where it must be one line."""
    plan = plan_of(
        {"complete": 3}, rules=RULES, purpose="import", planned_by=ONE_LINE, tool=HOSTILE, reason=HOSTILE,
        sources=({"format": "csv", "mapping": 1, "name": HOSTILE, "sha256": "9" * 64, "size": 1},),
        host=({"key": HOSTILE, "value": HOSTILE},),
    )  # fmt: skip
    word = ONE_LINE[:80]
    texts = {
        "termination": word, "isolation": word, "stop_reason": HOSTILE, "note": HOSTILE,
        "dependency_error": HOSTILE, "human_hints": (HOSTILE,),
        "checks": ({"name": "check", "outcome": "failed", "expected": HOSTILE, "actual": HOSTILE, "evidence": HOSTILE},),
        "touched": ({"path": HOSTILE, "change": "created"},),
        "dependencies": ({"name": word, "version": HOSTILE, "status": HOSTILE, "error": HOSTILE},),
        "artifacts": ({"name": HOSTILE, "role": "log", "sha256": TEXT, "size": 9, "place": "ledger"},),
    }  # fmt: skip
    ours = row_of(plan, "complete", 1, "f", **texts)
    source = {
        "file_sha256": "9" * 64, "position": 0, "key": HOSTILE, "raw": ({"key": HOSTILE, "value": HOSTILE},)
    }  # fmt: skip
    imported = row_of(plan, "complete", 2, "i", source=source, note=HOSTILE, termination=word)
    about = {"frozen_by": ONE_LINE, "reason": HOSTILE}
    exclusion = exclusion_of(imported, reason=HOSTILE, decided_by=ONE_LINE)
    definition = '{"check":[{"name":"<script>alert(1)</script>","kind":"<b>"},7]}'
    return fold(
        (
            page_of(evaluation_freeze(title=HOSTILE, description=HOSTILE, **about)),
            page_of(config_freeze("v1", {HOSTILE: HOSTILE}, source=HOSTILE, files=({"path": HOSTILE, "sha256": "7" * 64, "size": 1},), **about)),
            page_of(material_freeze("complete", title=HOSTILE, instruction=HOSTILE, definition=definition, source=HOSTILE, **about)),
            *pages_of(plan, [ours, imported]),
            page_of(exclusion),
            page_of(rerun_decision_of(imported, "20261203-0100-cccc", number=2)),
        )
    )  # fmt: skip
