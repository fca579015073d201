"""A report is kept whole in one transaction with its run and its events, once, and byte-true."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import DatabaseError, connection

from audit.log import tenant_scope
from audit.models import ActorType, AuditEvent, AuditSeal, Tenant
from audit.sealed import Opened, open_events
from tests.verifier.intake.reports import AT, content, finding
from tests.verifier.intake.trail import trail_refuses
from verifier.intake import (
    CHANNEL,
    Accepted,
    InvalidReport,
    ReportConflict,
    ReportTooLarge,
    accept_report,
    request_recheck,
)
from verifier.models import Case, Finding, Report, Verification
from verifier.services.recorded import report_details

Status = Verification.Status


@pytest.fixture(autouse=True)
def switches(settings: Any) -> dict[str, bool]:
    names = ("FINDING_CORRECTNESS_VERIFICATION_ENABLED", "FINDING_CORROBORATION_ENABLED")
    settings.SWITCHES = {**settings.SWITCHES, **dict.fromkeys(names, True)}
    return settings.SWITCHES  # type: ignore[no-any-return]


def accept(tenant: Tenant, received: bytes) -> Accepted:
    return accept_report(tenant_id=tenant.id, content=received, received_by="key one", actor_type=ActorType.KEY, at=AT)


def recheck(case: Case) -> Verification:
    return request_recheck(case=case, requested_by="ines", actor_type=ActorType.PERSON, actor_role="officer", at=AT)


def end(verification: Verification) -> None:
    Verification.objects.filter(id=verification.id).update(status=Status.FINISHED, finished_at=AT)


def events(tenant: Tenant) -> list[dict[str, Any]]:
    """Each event's content with what it keeps sealed."""
    stored = list(AuditEvent.objects.filter(tenant=tenant).order_by("recorded_at"))
    return [
        {**json.loads(event.body), "subject": said.subject, "details": said.details}
        for event, said in zip(stored, open_events(stored), strict=True)
        if isinstance(said, Opened)
    ]


def event_types(tenant: Tenant) -> list[str]:
    return [event["event_type"] for event in events(tenant)]


def rows() -> list[int]:
    return [model.objects.count() for model in (Case, Report, Finding, Verification, AuditEvent)]


# A report comes in


def test_it_keeps_the_report_and_queues_its_verification(tenant: Tenant) -> None:
    received = content(
        iteration=3,
        findings=[
            finding("low", severity="low", hit=False, title="No match found"),
            finding("news", category="adverse_media", type="adverse_media", severity="high", hit=None, title="Press"),
            finding("listed"),
        ],
        quality_gate={"advisory_only": True, "forces_review": True, "overall": 3.0},
    )
    accepted = accept(tenant, received)
    case = Case.objects.get()
    assert (accepted.created, accepted.case, accepted.verification) == (True, case, case.current_verification)
    assert (case.tenant, case.report_id, case.subject_name) == (tenant, "inv-1", "Acme Trading OÜ")
    report = case.current_report
    assert report is not None and bytes(report.content) == received
    assert (report.iteration, report.advisory_only, report.forces_review) == (3, True, True)
    assert (report.received_by, report.received_at) == ("key one", AT)
    found = case.findings.order_by("position")
    assert list(found.values_list("finding_id", "selected", "recheck_position")) == [
        ("low", False, None),
        ("news", True, 1),
        ("listed", True, 0),
    ]
    run = accepted.verification
    assert (run.status, run.report_id, run.correctness_enabled) == (Status.QUEUED, report.id, True)
    assert (run.requested_by, run.queued_at, run.started_at) == ("key one", AT, None)


def test_its_events_say_what_came_in_and_hold_no_names(tenant: Tenant) -> None:
    accepted = accept(tenant, content(findings=[finding(), finding("f2", severity="info", hit=False)]))
    received, queued = events(tenant)
    assert received["event_type"] == "report_received"
    assert (received["actor"], received["actor_type"], received["subject"]) == ("key one", "key", "inv-1")
    assert received["case_id"] == queued["case_id"] == str(accepted.case.id)
    report = accepted.case.current_report
    assert report is not None
    assert report.event_id == UUID(received["event_id"])
    assert received["details"] == report_details(report, list(report.findings.order_by("position")))
    told = {"report_sha256": report.sha256, "iteration": 1, "findings": 2, "selected": 1, "forces_review": False}
    assert told.items() <= received["details"].items()
    assert queued["event_type"] == "verification_queued"
    assert queued["details"] == {"verification_id": str(accepted.verification.id), "correctness_enabled": True}
    assert "Acme" not in json.dumps([received, queued])


def test_it_keeps_every_text_as_it_was_sent(tenant: Tenant) -> None:
    received = (
        rb'{ "report_id":"n","subject": {"name" :"A\u0000B", "size":1.50} ,'
        rb'"findings":[ {"id":"f\u0031","severity":"x\u0000",'
        b'"title":"T\\u0000 \xc3\x9f","n":[1E5, '
        + b"9" * 5000
        + b', 1e999999]} ],\n"quality_gate":{ "overall":7.10 }}\n'
    )
    accept(tenant, received)
    report = Report.objects.get()
    assert bytes(report.content) == received
    assert report.subject == r'{"name" :"A\u0000B", "size":1.50}'
    assert report.quality_gate == '{ "overall":7.10 }'
    kept = Finding.objects.get()
    assert kept.content.encode() in received and kept.content.startswith(r'{"id":"f\u0031"')
    assert kept.content.endswith("1e999999]}")
    assert (kept.finding_id, kept.title, kept.severity) == ("f1", "T\ufffd ß", "x\ufffd")
    assert Case.objects.get().subject_name == "A\ufffdB"


@pytest.mark.parametrize("gate", [{}, {"quality_gate": None}])
def test_an_absent_gate_is_an_enforcing_one(tenant: Tenant, gate: dict[str, Any]) -> None:
    accept(tenant, content(**gate))
    report = Report.objects.get()
    assert (report.quality_gate, report.advisory_only, report.forces_review) == ("{}", False, False)


@pytest.mark.parametrize("on", [True, False])
def test_findings_are_labelled_when_that_switch_is_on(tenant: Tenant, switches: dict[str, bool], on: bool) -> None:
    switches["FINDING_CORROBORATION_ENABLED"] = on
    accept(tenant, content())
    kept = Finding.objects.get()
    assert kept.report.corroboration_labels is on
    assert (kept.source_trust is not None, kept.corroboration_count is not None) == (on, on)


def test_with_the_verification_switch_off_the_run_ends_at_once(tenant: Tenant, switches: dict[str, bool]) -> None:
    switches["FINDING_CORRECTNESS_VERIFICATION_ENABLED"] = False
    run = accept(tenant, content()).verification
    assert (run.status, run.correctness_enabled) == (Status.FINISHED, False)
    assert (run.queued_at, run.started_at, run.finished_at) == (AT, AT, AT)
    assert event_types(tenant) == ["report_received", "verification_switched_off"]


def test_a_report_without_findings_is_one(tenant: Tenant) -> None:
    accepted = accept(tenant, content(findings=[]))
    assert accepted.created and not accepted.case.findings.exists()


def test_it_takes_a_report_of_exactly_the_allowed_size_and_no_byte_more(tenant: Tenant, settings: Any) -> None:
    received = content()
    settings.MAX_REPORT_BYTES = len(received)
    with pytest.raises(ReportTooLarge, match=f"at most {len(received)} bytes"):
        accept(tenant, received + b" ")
    assert rows() == [0, 0, 0, 0, 0]
    assert accept(tenant, received).created


def test_it_refuses_an_invalid_report_with_every_problem_and_keeps_nothing(tenant: Tenant) -> None:
    received = b'{"report_id": "", "subject": {"name": NaN, "name": "\xff"}, "findings": [{"id": "a", "id": "b"}]}'
    with pytest.raises(InvalidReport) as refused:
        accept(tenant, received)
    assert str(refused.value).splitlines() == [
        "$.subject.name stands more than once in its object",
        "$.subject.name holds bytes that are not UTF-8",
        "$.findings[0].id stands more than once in its object",
        "$.report_id must not be blank",
        "$.findings[0].severity is required",
        "$.findings[0].title is required",
    ]
    assert rows() == [0, 0, 0, 0, 0]


def test_it_lists_no_more_than_a_hundred_problems(tenant: Tenant) -> None:
    with pytest.raises(InvalidReport) as refused:
        accept(tenant, content(findings=[{} for _ in range(500)]))
    assert len(refused.value.problems) == 101
    assert str(refused.value).endswith("$ has more problems than the 100 listed")


@pytest.mark.parametrize("event_type", ["report_received", "verification_queued"])
def test_a_failed_audit_write_undoes_the_whole_intake(tenant: Tenant, event_type: str) -> None:
    with trail_refuses(event_type), pytest.raises(DatabaseError):
        accept(tenant, content())
    assert rows() == [0, 0, 0, 0, 0]
    assert accept(tenant, content()).created


# It comes again, or another one with its name


def test_the_same_bytes_again_change_nothing_and_give_the_same_ids(tenant: Tenant) -> None:
    first = accept(tenant, content())
    before = rows()
    second = accept(tenant, content())
    assert not second.created
    assert (second.case, second.verification) == (first.case, first.verification)
    assert rows() == before


def test_they_give_the_first_ids_after_a_recheck_and_after_a_newer_iteration_too(tenant: Tenant) -> None:
    first = accept(tenant, content())
    end(first.verification)
    recheck(first.case)
    assert accept(tenant, content()).verification == first.verification
    accept(tenant, content(iteration=2))
    again = accept(tenant, content())
    assert (again.created, again.verification) == (False, first.verification)


@pytest.mark.parametrize("iteration", [None, 1, 3, 4])
def test_it_refuses_other_content_without_a_higher_iteration(tenant: Tenant, iteration: int | None) -> None:
    accept(tenant, content(iteration=4))
    before = rows()
    with pytest.raises(ReportConflict, match="with iteration 4. Send a changed report with a higher iteration"):
        accept(tenant, content(iteration=iteration, findings=[]))
    assert rows() == [*before[:4], before[4] + 1]
    conflicted = events(tenant)[-1]
    assert conflicted["event_type"] == "report_conflicted"
    assert conflicted["details"]["iteration"] == (iteration or 1)


def test_a_space_more_is_other_content(tenant: Tenant) -> None:
    accept(tenant, content())
    with pytest.raises(ReportConflict):
        accept(tenant, content() + b" ")


@pytest.mark.parametrize(("first", "then"), [(2**31 - 1, None), (1_000_001, None), (1, 1_000_002), (7, 2**31 - 1)])
def test_no_iteration_leaves_a_report_id_without_room_for_later_ones(
    tenant: Tenant, first: int, then: int | None
) -> None:
    with pytest.raises(InvalidReport, match=r"^\$\.iteration may be at most [\d,]+: "):  # whichever is too far
        accept(tenant, content(iteration=first))
        accept(tenant, content(iteration=then, findings=[]))


def test_a_higher_iteration_is_the_same_case_with_a_new_report_and_run(tenant: Tenant) -> None:
    first = accept(tenant, content())
    second = accept(tenant, content(iteration=7, subject={"name": "Acme Trading AS"}))
    assert second.created and second.case == first.case
    assert second.verification != first.verification
    case = Case.objects.get()
    assert case.current_report is not None and case.current_report.iteration == 7
    assert (case.current_verification, case.subject_name) == (second.verification, "Acme Trading AS")
    assert case.reports.count() == case.findings.count() == case.verifications.count() == 2
    assert Report.objects.get(iteration=1).subject == '{"name": "Acme Trading OÜ"}'


def test_tenants_may_use_the_same_report_id(make_tenant: Callable[[], Tenant]) -> None:
    one, other = make_tenant(), make_tenant()
    assert accept(one, content()).created
    assert accept(other, content(findings=[])).created
    assert Case.objects.count() == 2


# A re-check is asked for


@pytest.mark.parametrize("ended", [Status.FINISHED, Status.FAILED])
def test_a_recheck_is_a_new_run_over_the_current_report(tenant: Tenant, ended: str) -> None:
    accept(tenant, content())
    latest = accept(tenant, content(iteration=2))
    Verification.objects.filter(id=latest.verification.id).update(status=ended)
    run = recheck(latest.case)
    assert (run.status, run.report_id, run.requested_by) == (Status.QUEUED, latest.verification.report_id, "ines")
    assert Case.objects.get().current_verification == run
    assert Verification.objects.get(id=latest.verification.id).status == ended
    asked, queued = events(tenant)[-2:]
    assert (asked["event_type"], asked["actor"], asked["actor_role"]) == ("recheck_requested", "ines", "officer")
    assert queued["event_type"] == "verification_queued"
    assert asked["details"]["verification_id"] == queued["details"]["verification_id"] == str(run.id)


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_a_run_that_has_not_ended_is_the_answer(tenant: Tenant, status: str) -> None:
    accepted = accept(tenant, content())
    Verification.objects.update(status=status)
    before = rows()
    assert recheck(accepted.case) == accepted.verification
    assert rows() == before


def test_with_the_switch_off_a_recheck_ends_at_once(tenant: Tenant, switches: dict[str, bool]) -> None:
    accepted = accept(tenant, content())
    end(accepted.verification)
    switches["FINDING_CORRECTNESS_VERIFICATION_ENABLED"] = False
    assert recheck(accepted.case).status == Status.FINISHED


@pytest.mark.parametrize("event_type", ["recheck_requested", "verification_queued"])
def test_a_failed_audit_write_undoes_the_recheck(tenant: Tenant, event_type: str) -> None:
    accepted = accept(tenant, content())
    end(accepted.verification)
    before = rows()
    with trail_refuses(event_type), pytest.raises(DatabaseError):
        recheck(accepted.case)
    assert rows() == before
    assert Case.objects.get().current_verification == accepted.verification


# As the application's own role


def test_the_application_role_takes_in_and_rechecks_without_a_scope_of_its_own(
    tenant: Tenant, as_application: Callable[[], Any]
) -> None:
    with as_application():
        accepted = accept(tenant, content())
        assert not accept(tenant, content()).created
        with tenant_scope(tenant.id):
            end(accepted.verification)
        assert recheck(accepted.case) != accepted.verification
        assert not Case.objects.exists()  # the scope ended with the call


def test_the_application_role_finds_only_the_tenants_own_report(
    make_tenant: Callable[[], Tenant], as_application: Callable[[], Any]
) -> None:
    one, other = make_tenant(), make_tenant()
    with as_application():
        accept(one, content())
        assert accept(other, content()).created
        with tenant_scope(other.id):
            assert [case.tenant_id for case in Case.objects.all()] == [other.id]
            assert [report.tenant_id for report in Report.objects.all()] == [other.id]
            assert {found.tenant_id for found in Finding.objects.all()} == {other.id}


# At the same moment


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Does the work in as many threads, each with a connection of its own; exceptions are results too."""

    def attempt(number: int) -> Any:
        try:
            return work(number)
        except (AssertionError, DatabaseError, ReportConflict) as problem:
            return problem
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(attempt, range(count)))


@pytest.fixture
def committed_tenant(transactional_db: None, make_tenant: Callable[[], Tenant]) -> Tenant:
    return make_tenant()


def test_one_report_sent_many_times_at_once_is_taken_in_once(committed_tenant: Tenant) -> None:
    results = at_once(8, lambda number: accept(committed_tenant, content()))
    assert [result.created for result in results].count(True) == 1
    assert {(result.case.id, result.verification.id) for result in results} == {
        (Case.objects.get().id, Verification.objects.get().id)
    }
    assert AuditSeal.objects.filter(tenant=committed_tenant).count() == 2


def test_of_different_reports_with_one_id_at_once_only_one_is_taken_in(committed_tenant: Tenant) -> None:
    results = at_once(6, lambda number: accept(committed_tenant, content(findings=[finding(f"f{number}")])))
    assert sum(isinstance(result, Accepted) for result in results) == 1
    assert sum(isinstance(result, ReportConflict) for result in results) == 5
    assert Case.objects.count() == Report.objects.count() == Finding.objects.count() == 1
    assert event_types(committed_tenant).count("report_conflicted") == 5


def test_two_rechecks_asked_for_at_once_are_one_run(committed_tenant: Tenant) -> None:
    accepted = accept(committed_tenant, content())
    end(accepted.verification)
    runs = at_once(4, lambda number: recheck(accepted.case))
    assert len({run.id for run in runs}) == 1
    assert Verification.objects.count() == 2


def test_the_relay_is_notified_when_the_report_is_committed(
    committed_tenant: Tenant, app_connection: psycopg.Connection[Any]
) -> None:
    app_connection.execute(f"LISTEN {CHANNEL}")
    accepted = accept(committed_tenant, content())
    [notice] = app_connection.notifies(timeout=10, stop_after=1)
    assert notice.payload == str(accepted.verification.id)


def test_a_trail_that_cannot_be_sealed_undoes_the_intake_at_commit(
    committed_tenant: Tenant, owner_connection: psycopg.Connection[Any]
) -> None:
    owner_connection.execute("ALTER TABLE audit_auditseal ADD CONSTRAINT sealed_no_more CHECK (sequence < 2) NOT VALID")
    try:
        with pytest.raises(DatabaseError):
            accept(committed_tenant, content())
    finally:
        owner_connection.execute("ALTER TABLE audit_auditseal DROP CONSTRAINT sealed_no_more")
    assert rows() == [0, 0, 0, 0, 0]
    assert accept(committed_tenant, content()).created
