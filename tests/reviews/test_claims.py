"""Who works on a case: one at a time, for half an hour, and the other is told."""

import threading
from typing import Any

import pytest
from django.db import DatabaseError, connection

from audit.models import AuditEvent
from reviews import claims
from reviews.models import Claim
from reviews.permissions import Refused
from tests import factories as make


def types() -> list[str]:
    return list(
        AuditEvent.objects.filter(event_type__startswith="claim")
        .order_by("recorded_at")
        .values_list("event_type", flat=True)
    )


@pytest.fixture
def tenant(db: None) -> Any:
    return make.tenant()


@pytest.fixture
def case(tenant: Any) -> Any:
    return make.case(tenant)


@pytest.fixture
def officer(tenant: Any) -> Any:
    return make.user(tenant)


@pytest.fixture
def other(tenant: Any) -> Any:
    return make.user(tenant)


def test_a_case_is_taken_for_half_an_hour(case: Any, officer: Any) -> None:
    claim = claims.claim(user=officer, case=case, at=make.AT)
    assert claim.expires_at == make.later(30)
    assert types() == ["claim_taken"]


def test_the_other_is_told_by_whom_and_when(case: Any, officer: Any, other: Any) -> None:
    claims.claim(user=officer, case=case, at=make.AT)
    with pytest.raises(claims.Held, match=f"{officer.display_name} holds this case since 08:30 UTC") as held:
        claims.claim(user=other, case=case, at=make.later(5))
    assert (held.value.holder, held.value.since) == (officer, make.AT)
    assert types() == ["claim_taken"]


def test_ones_own_claim_is_renewed_without_a_further_event(case: Any, officer: Any) -> None:
    claims.claim(user=officer, case=case, at=make.AT)
    renewed = claims.claim(user=officer, case=case, at=make.later(20))
    assert (renewed.claimed_at, renewed.expires_at) == (make.AT, make.later(50))
    assert types() == ["claim_taken"]


def test_an_idle_claim_lapses_and_its_holder_is_told(case: Any, officer: Any, other: Any) -> None:
    claims.claim(user=officer, case=case, at=make.AT)
    with pytest.raises(claims.NotHeld, match="held until 09:00 UTC"):
        claims.check_held(user=officer, case=case, at=make.later(30))
    claims.claim(user=other, case=case, at=make.later(31))
    with pytest.raises(claims.NotHeld, match=f"{other.display_name} took this case at 09:01 UTC"):
        claims.check_held(user=officer, case=case, at=make.later(32))
    with pytest.raises(claims.NotHeld):
        claims.release(user=officer, case=case, at=make.later(32))


def test_a_case_is_given_back(case: Any, officer: Any, other: Any) -> None:
    claims.claim(user=officer, case=case, at=make.AT)
    with pytest.raises(claims.NotHeld):
        claims.release(user=other, case=case, at=make.AT)
    claims.release(user=officer, case=case, at=make.AT)
    assert claims.holder(case=case, at=make.AT) is None
    assert types() == ["claim_taken", "claim_released"]


@pytest.mark.parametrize("role", ["admin", "auditor"])
def test_only_officers_take_cases(case: Any, tenant: Any, role: str) -> None:
    with pytest.raises(Refused):
        claims.claim(user=make.user(tenant, role), case=case, at=make.AT)


def test_another_tenants_case_is_not_taken(case: Any) -> None:
    with pytest.raises(Refused):
        claims.claim(user=make.user(make.tenant()), case=case, at=make.AT)


def test_a_claim_is_not_there_without_its_event(case: Any, officer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**values: Any) -> None:
        raise DatabaseError("no event")

    monkeypatch.setattr("reviews.claims.record", refuse)
    with pytest.raises(DatabaseError):
        claims.claim(user=officer, case=case, at=make.AT)
    assert not Claim.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_gets_it() -> None:
    tenant = make.tenant()
    case = make.case(tenant)
    officers = [make.user(tenant) for _ in range(6)]
    start, outcomes = threading.Barrier(len(officers)), []

    def take(officer: Any) -> None:
        start.wait()
        try:
            claims.claim(user=officer, case=case, at=make.AT)
            outcomes.append("got it")
        except claims.Held:
            outcomes.append("held")
        finally:
            connection.close()

    threads = [threading.Thread(target=take, args=[officer]) for officer in officers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["got it", *["held"] * 5]
    assert types() == ["claim_taken"]


def test_reading_a_case_is_recorded_once_an_hour_for_each_session(case: Any, officer: Any, other: Any) -> None:
    from django.utils import timezone

    now = timezone.now()
    for person, session in ((officer, "a"), (officer, "a"), (officer, "b"), (other, "a")):
        claims.note_view(user=person, case=case, session=session, at=now)
    claims.note_view(user=officer, case=make.case(case.tenant), session="a", at=now)
    assert AuditEvent.objects.filter(event_type="case_viewed").count() == 4
    claims.note_view(user=officer, case=case, session="a", at=now + claims.ONE_VIEW * 2)
    assert AuditEvent.objects.filter(event_type="case_viewed").count() == 5
    assert not AuditEvent.objects.filter(body__contains='"session"').exists()
