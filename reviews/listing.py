"""The list of cases, whether they wait for someone or not."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from audit.models import Tenant
from reviews.models import Standing, Waiting
from verifier.domain.search import folded
from verifier.models import Case, FindingVerdict, Report, Verification

PAGE = 50
# What the list can be narrowed to, by the annotations below. What was not re-checked is not among what is done.
STATES = {
    "review": Q(waits=True),
    "advisory": Q(waits=False, advises=True),
    "unchecked": Q(checked=False),
    "done": Q(waits=False, advises=False, checked=True),
}


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case in a list, whether it waits or not."""

    id: UUID
    report_id: str
    iteration: int
    subject_name: str
    created_at: datetime  # when its first report came
    received_at: datetime  # when its newest did
    reports: int
    run: str
    verification_id: UUID
    needs_review: bool
    would_need_review: bool  # of an advisory case
    checked: bool  # whether a re-check was ever asked for of its newest report
    simulated: bool
    advisory: bool
    verdicts: dict[str, int]  # of its decision-driving findings, by word


def cases(
    tenant: Tenant,
    *,
    needs_review: bool | None = None,
    state: str = "",
    text: str = "",
    after: UUID | None = None,
    limit: int = PAGE,
) -> tuple[list[CaseRow], UUID | None]:
    """One page of the cases, newest first, and the case after which the next page begins, if there is one."""
    found = with_state(Case.objects.filter(tenant=tenant).exclude(current_report=None)).filter(STATES.get(state, Q()))
    if needs_review is not None:
        found = found.filter(waits=needs_review)
    for word in folded(text).split():
        found = found.filter(search_text__text__contains=word)
    if after is not None:
        found = found.filter(older_than(tenant, after))
    page = list(
        found.select_related("current_report", "current_verification")
        .defer("current_report__content", "current_report__subject", "current_report__quality_gate")
        .order_by("-created_at", "-id")[: limit + 1]
    )
    words = count_verdicts(page[:limit])
    rows = [make_case_row(case, words.get(case.pk, {})) for case in page[:limit]]
    return rows, (rows[-1].id if len(page) > limit else None)


def count_unchecked(tenant: Tenant) -> int:
    """The cases of whose newest report no re-check was ever asked for."""
    asked = Verification.objects.filter(report=OuterRef("current_report"), correctness_enabled=True)
    return Case.objects.filter(~Exists(asked), tenant=tenant).exclude(current_report=None).count()


def with_state(found: "QuerySet[Case]") -> "QuerySet[Any]":
    waiting = Waiting.objects.filter(case=OuterRef("pk"))
    asked = Verification.objects.filter(report=OuterRef("current_report"), correctness_enabled=True)
    told = Report.objects.filter(case=OuterRef("pk")).order_by().values("case")
    counted = told.annotate(number=Count("id"))
    return found.annotate(
        waits=Exists(waiting.filter(forced=True)),
        advises=Exists(waiting.filter(forced=False)),
        checked=Exists(asked),
        simulated=Exists(FindingVerdict.objects.filter(case=OuterRef("pk"), simulated=True)),
        reports_told=Subquery(counted.values("number")),
    )


def older_than(tenant: Tenant, case_id: UUID) -> Q:
    moment = Case.objects.filter(tenant=tenant, id=case_id).values_list("created_at", flat=True).first()
    if moment is None:
        return Q(pk__in=[])
    return Q(created_at__lt=moment) | Q(created_at=moment, id__lt=case_id)


def count_verdicts(page: Iterable[Case]) -> dict[UUID, dict[str, int]]:
    standings = Standing.objects.filter(case__in=list(page))
    groups = standings.values_list("case_id", "verdict").annotate(Count("finding_id"))
    words: dict[UUID, dict[str, int]] = {}
    for case_id, verdict, number in groups.order_by():
        words.setdefault(case_id, {})[verdict] = number
    return words


def make_case_row(case: Any, verdicts: dict[str, int]) -> CaseRow:
    report, run = case.current_report, case.current_verification
    assert isinstance(run, Verification)
    return CaseRow(
        id=case.id,
        report_id=case.report_id,
        iteration=report.iteration,
        subject_name=case.subject_name,
        created_at=case.created_at,
        received_at=report.received_at,
        reports=case.reports_told,
        run=run.status,
        verification_id=run.id,
        needs_review=case.waits,
        would_need_review=case.advises and not case.waits,
        checked=case.checked,
        simulated=case.simulated,
        advisory=report.advisory_only,
        verdicts=verdicts,
    )
