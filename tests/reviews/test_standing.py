"""What waits: one rule, read by the queue, the case JSON and the decisions alike."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews import decisions, queues
from reviews.cases import case_json
from reviews.models import Standing
from tests import factories as make
from verifier.domain.answers import Cause
from verifier.domain.gate import ReviewReason, finding_reason
from verifier.domain.verdicts import Verdict
from verifier.models import Case

pytestmark = pytest.mark.django_db


def read(case: Case, **options: Any) -> dict[str, Any]:
    return json.loads(case_json(case, **options))


def reasons(case: Case) -> list[tuple[str, str | None]]:
    return [(reason["code"], reason["finding_id"]) for reason in read(case)["review_reasons"]]


def queued(case: Case) -> set[tuple[str, str | None]]:
    page = queues.waiting(case.tenant, at=make.AT, size=10_000)
    return {(row.reason, row.finding_id) for row in page.rows if row.case_id == case.id}


@pytest.fixture(autouse=True)
def _on() -> None:
    make.switches()


@pytest.fixture
def tenant() -> Any:
    return make.tenant()


@pytest.mark.parametrize("word", ["contradicted", "unsupported", "indeterminate"])
def test_a_finding_that_is_not_confirmed_waits(tenant: Any, word: str) -> None:
    case = make.verified(tenant, f1=word)
    assert reasons(case) == [(f"finding_{word}", "f1")]
    assert queued(case) == {(f"finding_{word}", "f1")}


def test_a_confirmed_finding_does_not_wait(tenant: Any) -> None:
    case = make.verified(tenant, f1="confirmed")
    assert read(case)["needs_review"] is False
    assert queued(case) == set()


def test_a_match_open_to_doubt_waits_although_confirmed(tenant: Any) -> None:
    case = make.case(tenant)
    make.verdict(make.finding_of(case), "confirmed", "screening_warning")
    make.end(make.run_of(case))
    assert reasons(case) == [("screening_warning", "f1")]
    assert read(case)["quality_gate"]["correctness_needs_review"] is False, "ADR-0111 asks for confirmed and no more"


def test_a_finding_without_a_verdict_is_pending_until_the_run_ends(tenant: Any) -> None:
    case = make.case(tenant)
    assert reasons(case) == [("verification_pending", "f1")]
    assert read(case)["findings"][0]["verdict"] is None
    make.end(make.run_of(case))
    assert reasons(case) == [("finding_indeterminate", "f1")]
    verdict = read(case)["findings"][0]["verdict"]
    assert (verdict["verdict"], verdict["cause"]) == ("indeterminate", "unrecorded")


def test_a_failed_run_waits_even_with_nothing_selected(tenant: Any) -> None:
    case = make.case(tenant, make.clean())
    make.end(make.run_of(case), "failed")
    assert reasons(case) == [("verification_failed", None)]
    assert read(case)["quality_gate"]["correctness_needs_review"] is True
    assert queued(case) == {("verification_failed", None)}


def test_nothing_selected_and_nothing_failed_waits_for_nobody(tenant: Any) -> None:
    case = make.case(tenant, make.clean())
    make.end(make.run_of(case))
    assert read(case)["needs_review"] is False
    assert read(case)["quality_gate"] == {"correctness_needs_review": False, "correctness_verdicts": []}


@pytest.mark.parametrize("advisory", [False, True])
@pytest.mark.parametrize("enabled", [False, True])
def test_the_structural_gates_word_is_never_lifted(tenant: Any, advisory: bool, enabled: bool) -> None:
    make.switches(verification=enabled)
    case = make.case(tenant, quality_gate={"forces_review": True, "advisory_only": advisory})
    if enabled:
        make.verdict(make.finding_of(case), "contradicted")
        make.end(make.run_of(case))
        make.decide(make.user(tenant), make.finding_of(case))
    assert reasons(case) == [("structural_gate", None)]
    assert queued(case) == {("structural_gate", None)}


def test_an_advisory_case_is_listed_apart_and_not_forced(tenant: Any) -> None:
    case = make.case(tenant, quality_gate={"advisory_only": True})
    make.verdict(make.finding_of(case), "contradicted")
    make.end(make.run_of(case))
    told = read(case)
    assert told["needs_review"] is False
    assert told["quality_gate"]["correctness_needs_review"] is True
    assert told["findings"][0]["verdict"]["verdict"] == "contradicted"
    assert queued(case) == set()
    assert [row.finding_id for row in queues.advisory(tenant, at=make.AT).rows] == ["f1"]


def test_with_the_switch_off_nothing_waits_for_correctness(tenant: Any) -> None:
    make.switches(verification=False)
    case = make.case(tenant)
    assert read(case)["needs_review"] is False
    assert queued(case) == set()


def test_switching_off_and_running_again_lifts_nothing(tenant: Any) -> None:
    case = make.verified(tenant, f1="contradicted")
    make.switches(verification=False)
    from audit.models import ActorType
    from verifier.intake import request_recheck

    request_recheck(case=case, requested_by="tests", actor_type=ActorType.SYSTEM, at=make.later())
    assert reasons(case) == [("finding_contradicted", "f1")]


def test_the_newest_run_has_the_word(tenant: Any) -> None:
    case = make.verified(tenant, f1="confirmed")
    make.rerun(case, make.later(), f1="unsupported")
    assert reasons(case) == [("finding_unsupported", "f1")]
    make.rerun(case, make.later(2), f1="confirmed")
    assert reasons(case) == []


def test_while_a_run_goes_on_the_earlier_verdict_stays_in_force(tenant: Any) -> None:
    case = make.verified(tenant, f1="contradicted")
    run = make.rerun(case, make.later(), ended=False)
    run.status = "running"
    run.save()
    assert reasons(case) == [("finding_contradicted", "f1")]
    make.end(run)
    assert reasons(case) == [("finding_indeterminate", "f1")], "it ended without a verdict"


@pytest.mark.parametrize(
    ("outcome", "answers"), [("stands", True), ("does_not_stand", True), ("needs_more", False), ("escalated", False)]
)
def test_only_an_outcome_that_settles_the_finding_answers_it(tenant: Any, outcome: str, answers: bool) -> None:
    make.switches(maker_checker=False)
    case = make.verified(tenant, f1="contradicted")
    make.decide(make.user(tenant), make.finding_of(case), outcome)
    assert (reasons(case) == []) is answers
    assert (queued(case) == set()) is answers
    assert read(case)["quality_gate"]["correctness_needs_review"] is True, "whatever officers decide"


def test_a_new_run_with_the_same_verdict_and_evidence_leaves_the_decision_in_force(tenant: Any) -> None:
    case = make.verified(tenant, f1="contradicted")
    make.decide(make.user(tenant), make.finding_of(case))
    make.rerun(case, make.later(), f1="contradicted")
    assert reasons(case) == []


@pytest.mark.parametrize(
    ("word", "cause", "sha"),
    [
        ("unsupported", "screening_clear", "a" * 64),
        ("contradicted", "near_miss", "a" * 64),
        ("contradicted", "screening_clear", "b" * 64),
    ],
)
def test_another_verdict_cause_or_evidence_opens_it_again(tenant: Any, word: str, cause: str, sha: str) -> None:
    case = make.case(tenant)
    on = make.finding_of(case)
    make.verdict(on, "contradicted", "screening_clear", evidence_sha256="a" * 64)
    make.end(make.run_of(case))
    make.decide(make.user(tenant), on)
    run = make.rerun(case, make.later())
    make.verdict(on, word, cause, run=run, evidence_sha256=sha)
    assert reasons(case) == [(f"finding_{word}", "f1")]
    assert "earlier verdict" in queues.waiting(tenant, at=make.AT).rows[0].why


def test_a_higher_iteration_opens_only_what_changed(tenant: Any) -> None:
    first = make.report(make.finding("f1"), make.finding("f2"))
    case = make.accept(tenant, first).case
    for name in ("f1", "f2"):
        make.verdict(make.finding_of(case, name), "contradicted")
    make.end(make.run_of(case))
    officer = make.user(tenant)
    for name in ("f1", "f2"):
        make.decide(officer, make.finding_of(case, name))
    changed = make.finding("f2", description="Now with a source.")
    second = {**first, "iteration": 2, "findings": [make.finding("f1"), changed]}
    make.accept(tenant, second, make.later())
    for name in ("f1", "f2"):
        make.verdict(make.finding_of(case, name), "contradicted")
    make.end(make.run_of(case))
    assert reasons(case) == [("finding_contradicted", "f2")]
    told = {one["id"]: one["decision"] for one in read(case)["findings"]}
    assert told["f1"]["answers"] is True
    assert told["f2"] is None


CLEARED = make.clean("f1", title="No match found")
NEWER = {
    "no finding at all": {"findings": []},
    "another finding": {"findings": [make.finding("f9")]},
    "the finding cleared": {"findings": [CLEARED]},
    "the finding under another id": {"findings": [make.finding("F1")]},
    "the finding of somebody else": {"findings": [make.finding("f1", target="Really Listed AO")]},
    "the finding as another kind": {"findings": [make.media("f1")]},
    "another subject": {"findings": [make.finding("f1")], "subject": {"name": "Really Listed AO"}},
    "the gate advisory": {"quality_gate": {"advisory_only": True}},
    "the gate advisory and the finding left out": {"findings": [], "quality_gate": {"advisory_only": True}},
}


@pytest.mark.parametrize("newer", NEWER.values(), ids=NEWER)
def test_a_newer_report_takes_nothing_out_of_the_queue(tenant: Any, newer: dict[str, Any]) -> None:
    first = make.report(make.finding("f1"))
    case = make.accept(tenant, first).case
    make.verdict(make.finding_of(case), "contradicted")
    make.end(make.run_of(case))
    make.accept(tenant, {**first, "iteration": 2, **newer}, make.later())
    if "findings" not in newer:  # the same finding, re-checked anew
        assert reasons(case) == [("verification_pending", "f1")]
        make.verdict(make.finding_of(case), "contradicted")
    make.end(make.run_of(case), "finished")
    assert ("finding_contradicted", "f1") in reasons(case)
    assert ("finding_contradicted", "f1") in queued(case)
    assert read(case)["needs_review"] is True


def test_a_newer_report_with_the_switch_off_takes_nothing_out_of_the_queue(tenant: Any) -> None:
    first = make.report(make.finding("f1"))
    case = make.accept(tenant, first).case
    make.verdict(make.finding_of(case), "contradicted")
    make.end(make.run_of(case))
    make.switches(verification=False)
    make.accept(tenant, {**first, "iteration": 2}, make.later())
    assert reasons(case) == [("finding_contradicted", "f1")]


def test_a_finding_only_an_earlier_report_holds_is_told_and_decided_about(tenant: Any) -> None:
    first = make.report(make.finding("f1"), make.finding("f2"))
    case = make.accept(tenant, first).case
    on = make.finding_of(case, "f1")
    make.verdict(on, "contradicted")
    make.verdict(make.finding_of(case, "f2"), "confirmed")
    make.end(make.run_of(case))
    make.switches(maker_checker=False)
    make.accept(tenant, {**first, "iteration": 2, "findings": []}, make.later())
    make.end(make.run_of(case))
    told = read(case)
    assert told["findings"] == []
    assert [(one["iteration"], one["finding"]["id"]) for one in told["earlier_findings"]] == [(1, "f1"), (1, "f2")]
    assert told["earlier_findings"][0]["finding"]["verdict"]["verdict"] == "contradicted"
    assert [one["text"] for one in told["review_reasons"]] == [
        "A fresh check contradicts this finding. The newest report no longer holds it as a finding to re-check."
    ]
    make.decide(make.user(tenant), on, "does_not_stand", at=make.later(2))
    assert reasons(case) == []
    assert read(case)["earlier_findings"][0]["finding"]["decision"]["answers"] is True


def test_a_finding_told_again_stands_as_the_newest_report_has_it(tenant: Any) -> None:
    first = make.report(make.finding("f1"))
    case = make.accept(tenant, first).case
    make.verdict(make.finding_of(case), "contradicted")
    make.end(make.run_of(case))
    make.accept(tenant, {**first, "iteration": 2, "findings": []}, make.later())
    make.accept(tenant, {**first, "iteration": 3}, make.later(2))
    make.verdict(make.finding_of(case), "confirmed")
    make.end(make.run_of(case))
    assert reasons(case) == []
    assert "earlier_findings" not in read(case)


def test_a_decision_on_an_unrecorded_finding_holds_only_while_it_is_unrecorded(tenant: Any) -> None:
    case = make.case(tenant)
    make.end(make.run_of(case))
    make.decide(make.user(tenant), make.finding_of(case), verdict_id=None)
    assert reasons(case) == []
    make.rerun(case, make.later(), f1="contradicted")
    assert reasons(case) == [("finding_contradicted", "f1")]


VERDICTS = st.sampled_from(
    [None, *[(str(word), cause) for word in Verdict for cause in ("screening_hit", "screening_warning", "no_hits")]]
)
OUTCOMES = st.sampled_from([None, "stands", "does_not_stand", "needs_more", "escalated"])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    findings=st.lists(st.tuples(VERDICTS, OUTCOMES), min_size=1, max_size=4),
    status=st.sampled_from(["running", "finished", "failed"]),
    advisory=st.booleans(),
    structural=st.booleans(),
    two_persons=st.booleans(),
)
def test_queue_case_and_pure_rule_agree(
    tenant: Any, findings: list[Any], status: str, advisory: bool, structural: bool, two_persons: bool
) -> None:
    make.switches(maker_checker=two_persons)
    told = [make.finding(f"f{place}") for place in range(len(findings))]
    case = make.case(tenant, *told, quality_gate={"advisory_only": advisory, "forces_review": structural})
    officer = make.user(tenant)
    for place, (verdict, _) in enumerate(findings):
        if verdict:
            make.verdict(make.finding_of(case, f"f{place}"), *verdict)
    make.end(make.run_of(case), status)
    expected = expect(findings, status, two_persons)
    for place, (verdict, outcome) in enumerate(findings):
        if outcome and (verdict or status != "running"):
            make.decide(officer, make.finding_of(case, f"f{place}"), outcome)
    open_findings = {(code, finding_id) for code, finding_id in expected}
    forced = set() if advisory else open_findings | ({("verification_failed", None)} if status == "failed" else set())
    forced |= {("structural_gate", None)} if structural else set()
    assert set(reasons(case)) == forced
    assert queued(case) == forced
    assert read(case)["needs_review"] is bool(forced)
    standing_open = Standing.objects.filter(case=case, open=True)
    assert {one.finding.finding_id for one in standing_open} == {name for _, name in open_findings}


def expect(findings: list[Any], status: str, two_persons: bool) -> list[tuple[str, str]]:
    """By the pure rule of `verifier.domain.gate` and the words of the decision rule, written down a second time."""
    expected = []
    for place, (verdict, outcome) in enumerate(findings):
        if verdict:
            reason = finding_reason(Verdict(verdict[0]), Cause(verdict[1]))
        elif status == "running":
            reason = ReviewReason.VERIFICATION_PENDING
        else:
            reason = ReviewReason.FINDING_INDETERMINATE
        decided = bool(verdict) or status != "running"
        settled = outcome == "stands" or (outcome == "does_not_stand" and not two_persons)
        if reason and not (decided and settled):
            expected.append((str(reason), f"f{place}"))
    return expected


def test_a_withdrawn_decision_does_not_bring_an_older_one_back(tenant: Any) -> None:
    case = make.verified(tenant, f1="contradicted")
    officer, on = make.user(tenant), make.finding_of(case)
    make.decide(officer, on, at=make.later(1))
    newer = make.decide(officer, on, at=make.later(2))
    decisions.reverse(user=officer, decision=newer, reason=make.REASON, at=make.later(3))
    assert reasons(case) == [("finding_contradicted", "f1")]
