"""The queue: most urgent first, each row says why, and a filter says how much it hides."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.log import tenant_scope
from reviews import claims, listing, queues
from reviews.queues import Filters
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _on() -> None:
    make.switches()


@pytest.fixture
def tenant() -> Any:
    return make.tenant()


@pytest.fixture
def officer(tenant: Any) -> Any:
    return make.user(tenant)


def ids(page: queues.Page) -> list[str | None]:
    return [row.finding_id for row in page.rows]


def one_of_each(tenant: Any) -> Any:
    told = [make.finding(name) for name in ("pending", "warning", "indeterminate", "unsupported", "contradicted")]
    case = make.case(tenant, *told, make.finding("confirmed"), quality_gate={"forces_review": True})
    make.verdict(make.finding_of(case, "warning"), "confirmed", "screening_warning")
    for name in ("indeterminate", "unsupported", "contradicted", "confirmed"):
        make.verdict(make.finding_of(case, name), name)
    return case


def test_the_most_urgent_comes_first(tenant: Any) -> None:
    one_of_each(tenant)
    page = queues.waiting(tenant, at=make.AT)
    assert ids(page)[:3] == ["contradicted", "unsupported", "indeterminate"]
    assert [row.reason for row in page.rows][3:] == ["structural_gate", "screening_warning", "verification_pending"]


def test_within_a_verdict_severity_decides_then_age(tenant: Any) -> None:
    def waits(name: str, severity: str, minutes: float) -> None:
        case = make.case(tenant, make.finding(name, severity=severity), at=make.later(minutes))
        make.verdict(make.finding_of(case, name))

    waits("young critical", "critical", 9)
    waits("old medium", "medium", 0)
    waits("old critical", "CRITICAL", 5)
    waits("unknown", "apocalyptic", 1)
    waits("high", "high", 2)
    assert ids(queues.waiting(tenant, at=make.AT)) == [
        "old critical",
        "young critical",
        "unknown",
        "high",
        "old medium",
    ]


def test_each_row_says_why_it_is_there(tenant: Any) -> None:
    one_of_each(tenant)
    for row in queues.waiting(tenant, at=make.AT).rows:
        assert row.why.endswith(".")
        assert row.case_id
        assert row.title


@pytest.mark.parametrize(
    ("outcome", "says"),
    [("does_not_stand", "second officer"), ("needs_more", "asked for more"), ("escalated", "escalated")],
)
def test_a_row_says_what_was_decided_and_why_it_still_waits(tenant: Any, officer: Any, outcome: str, says: str) -> None:
    case = make.verified(tenant, f1="contradicted")
    make.decide(officer, make.finding_of(case), outcome)
    (row,) = queues.waiting(tenant, at=make.AT).rows
    assert says in row.why
    assert officer.display_name in row.why
    assert row.awaiting_second is (outcome == "does_not_stand")


FILTERS = [
    (Filters(), 4),
    (Filters(verdict="contradicted"), 2),
    (Filters(verdict="verification_failed"), 1),
    (Filters(cause="no_hits"), 1),
    (Filters(severity="Critical"), 2),
    (Filters(material_type="sanctions"), 2),
    (Filters(corroboration="corroborated"), 2),
    (Filters(corroboration="uncorroborated"), 1),
    (Filters(corroboration="unlabelled"), 1),
    (Filters(provider="opensanctions"), 3),
    (Filters(text="acme MEDIA"), 1),
    (Filters(text="100%"), 0),
    (Filters(text="z\0q"), 0),
    (Filters(verdict="contradicted", severity="high"), 0),
]


@pytest.mark.parametrize(("filters", "shown"), FILTERS)
def test_a_filter_says_how_much_it_hides(tenant: Any, filters: Filters, shown: int) -> None:
    twice = {"title": "Twice told", "severity": "critical"}
    case = make.case(
        tenant, make.finding("s1", **twice), make.finding("s2", **twice, _provider="kbo"), make.media("m1")
    )
    for name, word in (("s1", "contradicted"), ("s2", "contradicted"), ("m1", "unsupported")):
        make.verdict(make.finding_of(case, name), word)
    make.end(make.run_of(case), "failed")
    page = queues.waiting(
        tenant, Filters(**{**vars_of(filters), "text": filters.text.replace("MEDIA", "m1")}), at=make.AT
    )
    assert len(page.rows) == page.matching == shown
    assert (page.total, page.hidden) == (4, 4 - shown)
    assert page.counts["verdict"] == {"contradicted": 2, "unsupported": 1, "verification_failed": 1}


def vars_of(filters: Filters) -> dict[str, Any]:
    return {name: getattr(filters, name) for name in Filters.__slots__}


def test_holders_are_told_apart(tenant: Any, officer: Any) -> None:
    mine, theirs, nobodys = (make.verified(tenant, f1="contradicted") for _ in range(3))
    claims.claim(user=officer, case=mine, at=make.AT)
    claims.claim(user=make.user(tenant), case=theirs, at=make.AT)

    def held(holder: str, at: Any = make.AT) -> set[Any]:
        return {row.case_id for row in queues.waiting(tenant, Filters(holder=holder), user=officer, at=at).rows}

    assert held("mine") == {mine.id}
    assert held("others") == {theirs.id}
    assert held("nobody") == {nobodys.id}
    assert held("nobody", make.later(31)) == {mine.id, theirs.id, nobodys.id}
    row = next(row for row in queues.waiting(tenant, at=make.AT).rows if row.case_id == mine.id)
    assert (row.holder, row.held_since) == (officer.display_name, make.AT)


def test_pages_hold_every_row_once(tenant: Any) -> None:
    make.verified(tenant, **{f"f{place}": "contradicted" for place in range(7)})
    pages = [queues.waiting(tenant, Filters(page=number), at=make.AT, size=3) for number in (1, 2, 3)]
    assert sorted(name or "" for page in pages for name in ids(page)) == [f"f{place}" for place in range(7)]
    assert [page.pages for page in pages] == [3, 3, 3]
    assert queues.waiting(tenant, Filters(page=99), at=make.AT, size=3).number == 3
    assert queues.waiting(tenant, Filters(page=-1), at=make.AT, size=3).number == 1


def test_another_tenants_rows_are_never_there(
    tenant: Any, as_application: Callable[[], AbstractContextManager[None]]
) -> None:
    make.verified(make.tenant(), f1="contradicted")
    assert queues.waiting(tenant, at=make.AT).total == 0
    stranger = make.tenant()
    make.verified(stranger, f1="contradicted")
    with as_application(), tenant_scope(tenant.id):
        assert queues.waiting(stranger, at=make.AT).rows == []
    with as_application(), tenant_scope(stranger.id):
        assert queues.waiting(stranger, at=make.AT).total == 1


def test_a_page_is_one_query_and_its_counts_another(tenant: Any, officer: Any) -> None:
    case = make.verified(tenant, **{f"f{place}": "contradicted" for place in range(9)})
    make.decide(officer, make.finding_of(case, "f1"), "needs_more")
    claims.claim(user=officer, case=case, at=make.AT)
    with CaptureQueriesContext(connection) as seen:
        queues.waiting(tenant, at=make.AT)
    assert len(seen) == 2
    with CaptureQueriesContext(connection) as seen:
        queues.waiting(tenant, Filters(verdict="contradicted"), at=make.AT)
    assert len(seen) == 3, "what a filter hides is counted too"


def test_an_outage_is_told_by_provider_and_count(tenant: Any) -> None:
    case = make.case(tenant, *[make.media(f"m{place}") for place in range(3)], make.finding("s1"))
    for place, provider in enumerate(("tavily", "tavily", "exa")):
        make.verdict(make.finding_of(case, f"m{place}"), "indeterminate", "provider_timeout", provider=provider)
    make.verdict(make.finding_of(case, "s1"), "indeterminate", "over_cap", provider="")
    short = queues.in_short(tenant)
    assert [(outage.provider, outage.findings) for outage in short.outages] == [("tavily", 2), ("exa", 1)]
    assert short.waiting == queues.waiting(tenant, at=make.AT).total


def test_cases_are_listed_newest_first_in_pages(tenant: Any) -> None:
    made = [make.verified(tenant, f1="contradicted") for _ in range(3)]
    calm = make.verified(tenant, f1="confirmed")
    seen, after = [], None
    while True:
        rows, after = listing.cases(tenant, after=after, limit=3)
        seen += [row.id for row in rows]
        if after is None:
            break
    assert sorted(seen) == sorted(case.id for case in [*made, calm])
    waiting, _ = listing.cases(tenant, needs_review=True)
    assert {row.id for row in waiting} == {case.id for case in made}
    assert waiting[0].verdicts == {"contradicted": 1}
    assert [row.id for row in listing.cases(tenant, needs_review=False)[0]] == [calm.id]
    assert [row.id for row in listing.cases(tenant, text=calm.report_id.upper())[0]] == [calm.id]
    assert listing.cases(tenant, after=make.verified(make.tenant(), f1="confirmed").id)[0] == []
