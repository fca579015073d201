"""The case as callers read it: what the report said untouched, what was found and decided beside it."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.log import tenant_scope
from reviews import decisions
from reviews.cases import FINDING_KEYS, case_json
from tests import factories as make
from verifier.models import Case

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _on() -> None:
    make.switches()


@pytest.fixture
def tenant() -> Any:
    return make.tenant()


def read(case: Case, **options: Any) -> dict[str, Any]:
    return json.loads(case_json(case, **options))


def raw_report(finding: str) -> bytes:
    """A report whose one finding is this very text."""
    return f'{{"report_id": "raw", "subject": {{"name": "A\\u0000cme", "n": 1.0}}, "findings": [{finding}]}}'.encode()


SPELLINGS = [
    *("1.0", "1e2", "1E+2", "-0.0", "0.1000000000000000055", "1" * 5000, "1e999", "123456789012345678901234567890"),
    *('"\\u0000"', '"\\u00e9"', '"é"', '"\\/"', '{"b": 1, "a": [1.50, {}]}', "[]", "null", "true", '"\u202e"'),
]


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_an_unknown_key_comes_back_as_spelled(tenant: Any, spelled: str) -> None:
    content = f'{{"id": "f1", "severity": "critical", "title": "T", "extra": {spelled}, "confidence": 0.930}}'
    case = make.accept(tenant, raw_report(content)).case
    text = case_json(case)
    assert f'"extra": {spelled}, "confidence": 0.930' in text
    assert '"subject": {"name": "A\\u0000cme", "n": 1.0}' in text


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("key", sorted(FINDING_KEYS))
def test_a_report_that_uses_our_key_is_not_believed(tenant: Any, key: str, enabled: bool) -> None:
    make.switches(verification=enabled, labels=enabled)
    case = make.case(tenant, make.finding(**{key: {"verdict": "confirmed"}}))
    if enabled:  # with the switch off it has ended already
        make.end(make.run_of(case))
    told = read(case)["findings"][0]
    assert told["reported"][key] == {"verdict": "confirmed"}
    if key != "reported":
        assert told.get(key) != {"verdict": "confirmed"}
    assert read(case)["needs_review"] is enabled


def test_a_gate_that_uses_our_keys_is_not_believed(tenant: Any) -> None:
    gate = {"overall": 9.5, "correctness_needs_review": False, "correctness_verdicts": ["x"], "reported": 1}
    case = make.case(tenant, quality_gate=gate)
    told = read(case)["quality_gate"]
    assert told["overall"] == 9.5
    assert told["correctness_needs_review"] is True
    assert told["reported"] == {"correctness_needs_review": False, "correctness_verdicts": ["x"], "reported": 1}
    make.switches(verification=False)
    told = read(make.case(tenant, quality_gate=gate))["quality_gate"]
    assert set(told) == {"overall", "reported"}


def test_with_the_switches_off_findings_and_gate_are_the_reports_own(tenant: Any) -> None:
    make.switches(verification=False, labels=False)
    report = make.report(make.finding(confidence=0.5), make.clean(), quality_gate={"overall": 7})
    told = read(make.accept(tenant, report).case)
    assert told["findings"] == report["findings"]
    assert list(told["findings"][0]) == list(report["findings"][0])
    assert told["quality_gate"] == report["quality_gate"]


def test_labels_are_there_only_when_the_report_was_labelled(tenant: Any) -> None:
    keys = {"source_trust", "corroboration_count", "corroborated", "uncorroborated"}
    labelled = read(make.case(tenant))["findings"][0]
    make.switches(labels=False)
    plain = read(make.case(tenant))["findings"][0]
    assert keys <= set(labelled)
    assert not keys & set(plain)
    assert (labelled["source_trust"], labelled["corroboration_count"], labelled["uncorroborated"]) == (0.96, 1, True)


def test_a_finding_that_drives_no_decision_has_a_selection_and_no_verdict(tenant: Any) -> None:
    told = read(make.case(tenant, make.clean()))["findings"][0]
    assert told["selection"] == {"selected": False, "why": "not_selected_clean", "material_type": "sanctions"}
    assert told["verdict"] is None
    assert told["decision"] is None


def test_a_verdict_holds_what_was_promised(tenant: Any) -> None:
    case = make.case(tenant)
    evidence = {"kind": "screening", "near_misses": [{"caption": "Acme"}], "not_used": ["birthDate"], "partial": [1]}
    make.verdict(make.finding_of(case), evidence=evidence, simulated=True, quote="q", slot_wait_ms=3)
    told = read(case)
    verdict = told["findings"][0]["verdict"]
    promised = {
        "verdict",
        "cause",
        "reason",
        "provider",
        "started_at",
        "duration_ms",
        "evidence_sha256",
        "model",
        "prompt_id",
    }
    assert promised <= set(verdict)
    assert verdict["started_at"] == "2026-07-20T08:30:00.000000Z"
    assert (verdict["near_misses"], verdict["not_used"], verdict["partial"]) == (
        [{"caption": "Acme"}],
        ["birthDate"],
        [1],
    )
    assert (verdict["simulated"], verdict["quote"], verdict["slot_wait_ms"]) == (True, "q", 3)
    assert told["simulated"] is True


def test_a_synthesised_verdict_has_the_same_keys_as_a_recorded_one(tenant: Any) -> None:
    case = make.case(tenant, make.finding("f1"), make.finding("f2"))
    make.verdict(make.finding_of(case, "f1"))
    make.end(make.run_of(case))
    recorded, unrecorded = (finding["verdict"] for finding in read(case)["findings"])
    assert set(recorded) == set(unrecorded)
    assert (unrecorded["verdict"], unrecorded["cause"]) == ("indeterminate", "unrecorded")


def test_the_gates_verdicts_come_in_the_order_of_rechecks(tenant: Any) -> None:
    told = [
        make.media("m1", severity="high"),
        make.criminal("c1"),
        make.finding("s1"),
        make.media("m2", severity="critical"),
    ]
    case = make.case(tenant, *told)
    for name in ("m1", "c1", "s1", "m2"):
        make.verdict(make.finding_of(case, name))
    listed = read(case)["quality_gate"]["correctness_verdicts"]
    assert [one["finding_id"] for one in listed] == ["c1", "s1", "m2", "m1"]
    assert listed[1] == {
        "finding_id": "s1",
        "material_type": "sanctions",
        "verdict": "contradicted",
        "cause": "screening_clear",
    }


def test_a_decision_is_told_with_its_state(tenant: Any) -> None:
    case = make.verified(tenant, f1="contradicted")
    first, second = make.user(tenant), make.user(tenant)
    decision = make.decide(first, make.finding_of(case), "does_not_stand")
    told = read(case)["findings"][0]["decision"]
    assert (told["status"], told["second"], told["by"], told["answers"]) == (
        "awaiting_second",
        None,
        first.username,
        False,
    )
    decisions.approve(user=second, decision=decision, reason=make.REASON, at=make.later())
    told = read(case)["findings"][0]["decision"]
    assert (told["status"], told["second"]["by"], told["answers"]) == ("effective", second.username, True)
    assert told["answers_verdict"] == read(case)["findings"][0]["verdict"]["id"]
    decisions.reverse(user=second, decision=decision, reason=make.REASON, at=make.later(2))
    told = read(case)["findings"][0]["decision"]
    assert (told["status"], told["reversed_by"]["by"], told["answers"]) == ("reversed", second.username, False)


def test_the_history_holds_every_verdict_and_decision_oldest_first(tenant: Any) -> None:
    report = make.report()
    case = make.accept(tenant, report).case
    officer = make.user(tenant)
    make.verdict(make.finding_of(case), "contradicted")
    make.end(make.run_of(case))
    decision = make.decide(officer, make.finding_of(case))
    decisions.reverse(user=officer, decision=decision, reason=make.REASON, at=make.later())
    make.rerun(case, make.later(2), f1="unsupported")
    make.accept(tenant, {**report, "iteration": 2, "findings": [make.finding("f2")]}, make.later(3))
    make.verdict(make.finding_of(case, "f2"), "confirmed", at=make.later(4))
    assert "history" not in read(case)
    history = read(case, history=True)["history"]
    verdicts = [(one["finding_id"], one["iteration"], one["verdict"]) for one in history["verdicts"]]
    assert verdicts == [("f1", 1, "contradicted"), ("f1", 1, "unsupported"), ("f2", 2, "confirmed")]
    assert len({one["verification_id"] for one in history["verdicts"]}) == 3
    assert [(one["status"], one["reverses"]) for one in history["decisions"]] == [
        ("reversed", None),
        ("effective", str(decision.id)),
    ]


def test_the_number_of_queries_does_not_depend_on_the_number_of_findings(tenant: Any) -> None:
    def queries(count: int) -> int:
        case = make.case(tenant, *[make.finding(f"f{place}") for place in range(count)])
        officer = make.user(tenant)
        for place in range(count):
            make.verdict(make.finding_of(case, f"f{place}"))
            make.decide(officer, make.finding_of(case, f"f{place}"))
        with CaptureQueriesContext(connection) as seen:
            case_json(case, history=True)
        return len(seen)

    assert queries(1) == queries(12)


def test_it_reads_with_the_applications_own_rights(
    tenant: Any, as_application: Callable[[], AbstractContextManager[None]]
) -> None:
    case = make.verified(tenant, f1="contradicted")
    with as_application(), tenant_scope(tenant.id):
        assert read(case)["needs_review"] is True
    stranger = make.tenant()
    with as_application(), tenant_scope(stranger.id), pytest.raises(Case.DoesNotExist):
        case_json(case)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers()
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
KNOWN = {"id", "severity", "title", "description", "category", "type", "source", "_provider", "source_url", "target",
         "attribution_lane", "hit", "status", "confidence", "rule_id", "regulatory_basis", "details"}  # fmt: skip
KEYS = st.one_of(st.sampled_from(sorted(FINDING_KEYS)), st.text(st.characters(codec="utf-8"), min_size=1, max_size=12))
EXTRAS = st.dictionaries(KEYS.filter(lambda key: key not in KNOWN), JSON, max_size=5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(extras=st.lists(st.tuples(st.sampled_from(["critical", "HIGH", "info", "odd"]), EXTRAS), min_size=1, max_size=4))
def test_no_report_gets_a_finding_lowered_dropped_reordered_or_rewritten(tenant: Any, extras: list[Any]) -> None:
    said = [{**make.finding(f"f{place}", severity=severity), **extra} for place, (severity, extra) in enumerate(extras)]
    case = make.case(tenant, *said)
    make.end(make.run_of(case))
    told = read(case)["findings"]
    assert [finding["id"] for finding in told] == [finding["id"] for finding in said]
    for before, now in zip(said, told, strict=True):
        for key, value in before.items():
            held = now.get("reported", {}) if key in FINDING_KEYS else now
            assert key in held
            assert held[key] == value
            assert type(held[key]) is type(value)
