"""Rules 4 and 5 for material: a plan uses what stood when it was made."""

from typing import Any

from tests.builders import plan_of, refs, rerun_of, rows_of
from tests.store.verify.builder import (
    Past,
    config_freeze,
    freeze_of,
    material_freezes,
    of_rule,
    page,
    rules_freeze,
    story,
)

from evalbook.records.plan import Plan
from evalbook.store.git import Repository

RULE = "agreed"
PLAN = plan_of({"complete": 2})
LENIENT = {"attempts": 2, "k": (1,), "exclusion": {"allowed": ("infra_error", "timeout")}}
STRICT_GRADER = "5" * 64


def _messages(past: Past) -> list[str]:
    return [finding.message for finding in of_rule(past.verified(), RULE)]


def _planned(plan: Plan, **task: Any) -> Plan:
    """The plan with other references for its one task."""
    facts = plan.model_dump()
    facts["tasks"] = ({**facts["tasks"][0], **task},)
    return Plan.model_validate(facts)


def test_a_plan_without_any_freeze_is_a_violation_that_names_what_lacks(
    repository: Repository,
) -> None:
    past = Past(repository)
    past.commit(page(PLAN))
    seen = past.verified()
    assert {(f.severity, f.path, f.line) for f in seen.findings} == {
        ("violation", page(PLAN).path, 1)
    }
    assert sorted(f.message for f in seen.findings) == [
        f"config_ref agent@v1:{PLAN.config_ref[-64:][:12]}: frozen nowhere",
        "input_sha256, initial_state_ref, grader_ref of complete: frozen nowhere",
        "its rules: frozen nowhere",
    ]


def test_a_plan_with_another_grader_than_frozen_is_a_violation(repository: Repository) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    past.commit(page(_planned(PLAN, grader_ref=STRICT_GRADER)))
    assert _messages(past) == ["grader_ref of complete: not as frozen in any page"]


def test_a_plan_with_a_more_lenient_policy_than_frozen_is_a_violation(
    repository: Repository,
) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    past.commit(page(plan_of({"complete": 2}, rules=LENIENT)))
    assert _messages(past) == ["its rules: not as frozen in any page"]


def test_a_plan_may_ask_for_fewer_attempts_than_the_rules(repository: Repository) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    rules = PLAN.rules.model_dump() | {"attempts": 1, "seeds": (7,)}
    past.commit(page(plan_of({"complete": 1}, rules=rules)))
    assert past.verified().findings == ()


def test_a_new_freeze_holds_for_plans_after_it_and_not_for_those_before(
    repository: Repository,
) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    past.commit(page(PLAN))
    later = _planned(PLAN, grader_ref=STRICT_GRADER).model_copy(
        update={"run_id": "20261130-2200-aaaa"}
    )
    past.commit(page(*material_freezes(later, reason="stricter grader")))
    past.commit(page(later))
    past.commit(page(*rows_of(PLAN, {"complete": "pp"}), plan=PLAN))
    assert past.verified().findings == ()


def test_a_plan_that_goes_back_to_an_older_grader_is_a_violation(repository: Repository) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    replaced = past.commit(page(*material_freezes(PLAN, grader_ref=STRICT_GRADER)))
    planned = past.commit(page(PLAN))
    (finding,) = past.verified().findings
    assert (finding.rule, finding.severity, finding.commit) == (RULE, "violation", past.id(planned))
    assert finding.message == (
        f"material of complete: an older freeze, which commit {past.id(replaced)[:12]} "
        "had replaced before the plan"
    )


def test_going_back_to_an_older_policy_is_a_violation_for_a_measurement(
    repository: Repository,
) -> None:
    past = Past(repository)
    lenient = plan_of({"complete": 2}, rules=LENIENT)
    past.commit(freeze_of(lenient))
    past.commit(page(rules_freeze(PLAN, reason="no more timeouts")))
    past.commit(page(lenient))
    (message,) = _messages(past)
    assert message.startswith("its rules: an older freeze")


def test_a_rerun_may_keep_the_rules_of_the_run_that_it_repeats(repository: Repository) -> None:
    book = story(repository)
    stricter = book.plan.rules.model_dump() | {"exclusion": {"allowed": ()}}
    book.past.commit(page(rules_freeze(book.plan, rules=stricter)))
    again, _ = rerun_of(book.plan, book.rows[4])
    book.past.commit(page(again))
    assert book.past.verified().findings == ()


def test_an_older_version_of_a_config_may_be_measured_again(repository: Repository) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    past.commit(page(config_freeze(plan_of({"complete": 2}, version="v2"))))
    past.commit(page(PLAN))
    assert past.verified().findings == ()


def test_a_version_label_with_other_content_than_frozen_is_a_violation(
    repository: Repository,
) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    past.commit(page(plan_of({"complete": 2}, config_ref=f"agent@v1:{'0' * 64}")))
    assert _messages(past) == ["config_ref agent@v1:000000000000: not as frozen in any page"]


def test_freezes_of_two_branches_both_stand(repository: Repository) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    one = past.commit(page(*material_freezes(PLAN, grader_ref=STRICT_GRADER)), on=[1])
    two = past.commit(page(*material_freezes(PLAN, reason="as it was")), on=[1])
    past.commit(on=[one, two])
    past.commit(page(PLAN))
    assert past.verified().findings == ()


def test_unknown_material_is_for_imports_only(repository: Repository) -> None:
    unknown = dict.fromkeys(refs("complete"), "unknown")
    for place, purpose in enumerate(("measure", "import")):
        past = Past(repository)
        plan = _planned(PLAN, **unknown).model_copy(update={"purpose": purpose})
        past.commit(freeze_of(plan))
        past.commit(page(plan))
        expected = ["input_sha256 of complete is unknown, which only an import may say"]
        assert _messages(past) == [expected, []][place]


def test_an_import_may_use_any_earlier_freeze(repository: Repository) -> None:
    past = Past(repository)
    past.commit(freeze_of(PLAN))
    past.commit(page(*material_freezes(PLAN, grader_ref=STRICT_GRADER)))
    past.commit(page(PLAN.model_copy(update={"purpose": "import"})))
    assert past.verified().findings == ()
