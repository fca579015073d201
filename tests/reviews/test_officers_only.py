"""The database itself takes decisions and second words from active officers only, whatever writes the row."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from audit.log import tenant_scope
from reviews.models import Approval, Decision, User
from tests import factories as make

pytestmark = pytest.mark.django_db
AsApplication = Callable[[], AbstractContextManager[None]]
NOT_OFFICERS: dict[str, dict[str, Any]] = {
    "an admin": {"role": "admin"},
    "an auditor": {"role": "auditor"},
    "one who left": {"is_active": False},
}


@pytest.fixture
def waiting() -> Decision:
    """A decision that waits for its second person."""
    make.switches()
    case = make.verified(make.tenant(), f1="contradicted")
    return make.decide(make.user(case.tenant), make.finding_of(case), "does_not_stand")


def written_by(person: User, waiting: Decision) -> Decision:
    """The row of another decision on the same finding, as nothing but the database could refuse it."""
    values = {field.attname: getattr(waiting, field.attname) for field in Decision._meta.concrete_fields}
    return Decision(**{**values, "id": uuid4(), "author_id": person.pk, "form_token": uuid4(), "event_id": uuid4()})


def second_word(person: User, waiting: Decision) -> Approval:
    return Approval(
        tenant_id=waiting.tenant_id,
        decision=waiting,
        decision_author_id=waiting.author_id,
        approved=True,
        reason=make.REASON,
        by=person,
        approved_at=make.later(),
        event_id=uuid4(),
    )


ROWS = {"a decision": written_by, "a second word": second_word}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("who", NOT_OFFICERS)
def test_the_application_role_cannot_write_for_someone_who_is_no_active_officer(
    waiting: Decision, as_application: AsApplication, who: str, row: str
) -> None:
    changes = NOT_OFFICERS[who]
    person = make.user(waiting.tenant, **changes)
    refused = pytest.raises(IntegrityError, match=f"{row} is refused: the person is not an active officer")
    with as_application(), tenant_scope(waiting.tenant_id), refused, transaction.atomic():
        ROWS[row](person, waiting).save(force_insert=True)


@pytest.mark.parametrize("row", ROWS)
def test_the_application_role_writes_for_an_officer(waiting: Decision, as_application: AsApplication, row: str) -> None:
    person = make.user(waiting.tenant)
    with as_application(), tenant_scope(waiting.tenant_id):
        ROWS[row](person, waiting).save(force_insert=True)


def test_a_table_of_the_writers_own_does_not_stand_in_for_the_people(
    waiting: Decision, as_application: AsApplication
) -> None:
    admin = make.user(waiting.tenant, "admin")
    with as_application(), tenant_scope(waiting.tenant_id):
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE TEMP TABLE reviews_user AS"
                " SELECT id, 'officer' AS role, true AS is_active FROM public.reviews_user"
            )
        with pytest.raises(IntegrityError, match="not an active officer"), transaction.atomic():
            written_by(admin, waiting).save(force_insert=True)


@pytest.mark.parametrize(
    ("finding", "switch", "refused"),
    [
        (make.finding("f1"), True, True),
        (make.criminal("f1"), True, True),
        (make.media("f1"), True, False),
        (make.finding("f1"), False, False),
    ],
)
def test_who_writes_the_row_does_not_choose_whether_two_are_needed(
    as_application: AsApplication, finding: dict[str, Any], switch: bool, refused: bool
) -> None:
    make.switches()
    case = make.case(make.tenant(), finding)
    make.verdict(make.finding_of(case), "contradicted")
    make.end(make.run_of(case))
    decision = make.decide(make.user(case.tenant), make.finding_of(case), "does_not_stand")
    make.switches(maker_checker=switch)
    alone = written_by(decision.author, decision)
    alone.needs_second = False
    with as_application(), tenant_scope(case.tenant_id):
        if refused:
            with pytest.raises(IntegrityError, match="not set aside without a second officer"), transaction.atomic():
                alone.save(force_insert=True)
        else:
            alone.save(force_insert=True)
