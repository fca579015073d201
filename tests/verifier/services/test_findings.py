"""One run of the re-check: serial, most severe first, capped, in one budget, each verdict with its event."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, connections

from audit.models import AuditEvent
from audit.sealed import Opened, open_event
from audit.verification import verify_tenant
from tests import factories
from tests.factories import AT
from tests.replay import Replay, recorded, said, serving
from verifier.models import Case, FindingVerdict, ScreeningRecord
from verifier.services import findings as service
from verifier.services import locks

pytestmark = pytest.mark.django_db
CLEAR = "opensanctions/match_empty.json"
SUBJECT = {"name": "Nordwind Bakery Oy", "entity_type": "company", "country": "FI"}
ACME = {"name": "Acme Trading OÜ", "entity_type": "company", "country": "EE"}


def now() -> datetime:
    return AT


@contextmanager
def screened_by(settings: Any, *answers: Any) -> Iterator[Replay]:
    with serving(*answers) as vendor:
        settings.OPENSANCTIONS_URL, settings.OPENSANCTIONS_API_KEY = vendor.url, "key"
        yield vendor


@pytest.fixture(autouse=True)
def switched_on(db: None) -> None:
    factories.switches()


def case(*findings: dict[str, Any], subject: dict[str, Any] = SUBJECT, **changes: Any) -> Case:
    return factories.case(factories.tenant(), *findings, subject=subject, **changes)


def verify(made: Case, clock: Callable[[], datetime] = now) -> dict[str, FindingVerdict]:
    run = factories.run_of(made)
    service.verify_case(verification_id=run.id, clock=clock)
    given = FindingVerdict.objects.filter(verification=run).select_related("finding")
    return {verdict.finding.finding_id: verdict for verdict in given}


def causes(given: dict[str, FindingVerdict]) -> dict[str, str]:
    return {name: verdict.cause for name, verdict in given.items()}


def test_it_checks_the_most_severe_first_and_names_what_is_over_the_cap(settings: Any) -> None:
    settings.FINDING_CORRECTNESS_MAX_RECHECKS = 2
    made = case(
        factories.finding("low", severity="medium"),
        factories.finding("high", severity="high"),
        factories.finding("top", severity="CRITICAL"),
    )

    with screened_by(settings, recorded(CLEAR)) as vendor:
        given = verify(made)

    assert causes(given) == {"top": "screening_clear", "high": "screening_clear", "low": "over_cap"}
    assert given["low"].verdict == "indeterminate"
    assert len(vendor.requests) == 2
    assert factories.run_of(made).status == "finished"


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_not_rechecked_is_recorded_many_at_a_time_and_none_is_lost(
    settings: Any, monkeypatch: Any, fails: bool
) -> None:
    settings.FINDING_CORRECTNESS_MAX_RECHECKS = 1
    monkeypatch.setattr(service, "BATCH", 3)
    made = case(*[factories.finding(f"f{place}") for place in range(9)])
    sizes, together = [], FindingVerdict.objects.bulk_create

    def bulk_create(verdicts: list[FindingVerdict]) -> Any:
        sizes.append(len(verdicts))
        if fails:
            raise IntegrityError("one of them can't be recorded")
        return together(verdicts)

    monkeypatch.setattr(FindingVerdict.objects, "bulk_create", bulk_create)
    with screened_by(settings, recorded(CLEAR)):
        given = verify(made)

    assert sizes == [3, 3, 2]
    assert list(causes(given).values()).count("over_cap") == 8
    events = AuditEvent.objects.filter(case_id=made.id, event_type="finding_correctness_verified")
    assert set(events.values_list("id", flat=True)) == {verdict.event_id for verdict in given.values()}


def test_it_starts_no_recheck_with_less_than_five_seconds_left(settings: Any) -> None:
    made = case(factories.finding("f1"), factories.finding("f2"))
    late = iter([AT] * 4 + [AT + timedelta(seconds=296)] * 100)

    with screened_by(settings, recorded(CLEAR)) as vendor:
        given = verify(made, clock=lambda: next(late))

    assert "deadline" in causes(given).values()
    assert len(given) == 2
    assert len(vendor.requests) == sum(cause != "deadline" for cause in causes(given).values())


def test_it_stops_when_the_switch_is_turned_off(settings: Any) -> None:
    made = case(factories.finding("f1"))
    factories.switch(service.SWITCH, False)

    with screened_by(settings, recorded(CLEAR)) as vendor:
        given = verify(made)

    assert causes(given) == {"f1": "stopped"}
    assert given["f1"].verdict == "indeterminate"
    assert vendor.requests == []


def test_it_writes_each_verdict_with_exactly_one_event(settings: Any) -> None:
    made = case(factories.finding("f1"), factories.finding("f2"))

    with screened_by(settings, recorded(CLEAR)):
        given = verify(made)

    events = AuditEvent.objects.filter(case_id=made.id, event_type="finding_correctness_verified")
    assert {event.id for event in events} == {verdict.event_id for verdict in given.values()}
    for verdict in given.values():
        said = open_event(AuditEvent.objects.get(id=verdict.event_id))
        assert isinstance(said, Opened)
        assert said.details["verdict_id"] == str(verdict.id)


def test_a_verdict_whose_event_fails_does_not_exist_and_the_others_go_on(settings: Any) -> None:
    made = case(factories.finding("f1"), factories.finding("f2"), factories.finding("f3"))
    refuse_the_second_verdicts_event()

    with screened_by(settings, recorded(CLEAR)):
        given = verify(made)

    assert set(given) == {"f1", "f3"}
    assert factories.run_of(made).status == "finished"


def refuse_the_second_verdicts_event() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE SEQUENCE verdicts_told;"
            "CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " IF nextval('verdicts_told') = 2 THEN RAISE EXCEPTION 'no room for this event'; END IF;"
            " RETURN NEW; END $$;"
            "CREATE TRIGGER refuse_event BEFORE INSERT ON audit_auditevent FOR EACH ROW"
            " WHEN (NEW.event_type = 'finding_correctness_verified') EXECUTE FUNCTION refuse_event()"
        )


def test_it_picks_up_where_a_dead_worker_left_off(settings: Any) -> None:
    made = case(factories.finding("f1"), factories.finding("f2"))
    run = factories.run_of(made)
    run.status, run.started_at = "running", AT
    run.save()
    first = factories.verdict(factories.finding_of(made, "f1"), "contradicted", run=run)

    with screened_by(settings, recorded(CLEAR)) as vendor:
        given = verify(made)

    assert given["f1"].id == first.id
    assert given["f2"].cause == "screening_clear"
    assert len(vendor.requests) == 1


def test_it_does_nothing_to_a_run_that_has_ended(settings: Any) -> None:
    made = factories.verified(factories.tenant(), f1="contradicted")

    with screened_by(settings, recorded(CLEAR)) as vendor:
        verify(made)

    assert vendor.requests == []
    assert FindingVerdict.objects.filter(case_id=made.id).count() == 1


def test_it_does_nothing_while_another_worker_holds_the_run(settings: Any) -> None:
    made = case(factories.finding("f1"))
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_lock({locks.KEY})", [str(factories.run_of(made).id)])
        with screened_by(settings, recorded(CLEAR)) as vendor:
            assert verify(made) == {}
    finally:
        other.close()

    assert vendor.requests == []
    assert factories.run_of(made).status == "queued"


def test_whatever_breaks_ends_the_run_as_failed_with_its_event(settings: Any, monkeypatch: Any) -> None:
    made = case(factories.finding("f1"))

    def broken(*args: Any, **more: Any) -> Any:
        raise KeyError("Acme")

    monkeypatch.setattr(service, "verify_findings", broken)
    verify(made)

    run = factories.run_of(made)
    assert (run.status, run.failure) == ("failed", "KeyError")
    assert AuditEvent.objects.filter(case_id=made.id, event_type="verification_failed").count() == 1


def test_a_screening_answer_is_kept_on_its_own(settings: Any) -> None:
    made = case(factories.finding("f1"), factories.finding("v1", category="virtual_office", type="", hit=None))

    with screened_by(settings, recorded(CLEAR)):
        given = verify(made)

    [kept] = ScreeningRecord.objects.filter(case_id=made.id)
    assert (kept.provider, kept.status, kept.finding.finding_id) == ("opensanctions", "clear", "f1")
    assert given["v1"].cause == "unmapped_type"


def test_a_failed_screening_is_kept_as_an_error(settings: Any) -> None:
    made = case(factories.finding("f1"))

    with screened_by(settings, recorded("opensanctions/error_429_monthly_quota.json")):
        given = verify(made)

    assert given["f1"].cause == "quota"
    assert ScreeningRecord.objects.get(case_id=made.id).status == "error"


def test_without_a_provider_the_finding_is_indeterminate_and_nothing_was_screened(settings: Any) -> None:
    settings.OPENSANCTIONS_URL = settings.OPENSANCTIONS_API_KEY = ""
    made = case(factories.finding("f1"), factories.criminal("c1"))

    given = verify(made)

    assert causes(given) == {"f1": "provider_not_configured", "c1": "provider_not_configured"}
    assert not ScreeningRecord.objects.filter(case_id=made.id).exists()


@contextmanager
def searched_by(settings: Any, answers: dict[str, Any], judge: Any = None) -> Iterator[dict[str, Replay]]:
    with (
        serving(answers.get("tavily", said({}, 404))) as tavily,
        serving(answers.get("exa", said({}, 404))) as exa,
        serving(judge or recorded("openai/tools_ok_true.json")) as model,
    ):
        settings.TAVILY_URL, settings.TAVILY_API_KEY = tavily.url, "key" if "tavily" in answers else ""
        settings.EXA_URL, settings.EXA_API_KEY = exa.url, "key" if "exa" in answers else ""
        settings.JUDGE_MODEL, settings.JUDGE_BASE_URL = "openai/demo-judge", f"{model.url}/v1"
        yield {"tavily": tavily, "exa": exa, "judge": model}


SUPPORTS = recorded("tavily/search_ok_supports.json")
EXA_SUPPORTS = recorded("exa/search_ok_supports.json")


@pytest.mark.parametrize(
    ("answers", "cause", "partial"),
    [
        ({"tavily": SUPPORTS}, "corroborated", []),
        ({"tavily": SUPPORTS, "exa": recorded("exa/error_429_bare.json")}, "corroborated", ["exa"]),
        ({"tavily": recorded("tavily/search_empty.json"), "exa": EXA_SUPPORTS}, "corroborated", []),
        ({"tavily": recorded("tavily/search_empty.json"), "exa": recorded("exa/search_empty.json")}, "no_hits", []),
        (
            {"tavily": recorded("tavily/search_empty.json"), "exa": recorded("exa/error_402_key_budget.json")},
            "quota",
            None,
        ),
    ],
)
def test_several_media_providers_give_one_answer(
    settings: Any, answers: dict[str, Any], cause: str, partial: list[str] | None
) -> None:
    made = case(
        factories.criminal("c1", title="Prosecutor charged Acme Trading OÜ with money laundering"), subject=ACME
    )

    with searched_by(settings, answers):
        given = verify(made)["c1"]

    assert given.cause == cause
    if partial is not None:
        assert [one["provider"] for one in given.evidence["partial"]] == partial


def test_a_hanging_provider_beside_hits_leaves_the_judge_its_time(settings: Any) -> None:
    settings.FINDING_CORRECTNESS_ADVERSE_RECHECK_TIMEOUT_SECONDS = 3
    made = case(
        factories.criminal("c1", title="Prosecutor charged Acme Trading OÜ with money laundering"), subject=ACME
    )
    hanging = replace(EXA_SUPPORTS, delay_seconds=20)

    with searched_by(settings, {"tavily": SUPPORTS, "exa": hanging}):
        given = verify(made)["c1"]

    assert given.cause == "corroborated"
    assert [(one["provider"], one["cause"]) for one in given.evidence["partial"]] == [("exa", "provider_timeout")]


def test_the_judge_is_not_asked_about_nothing(settings: Any) -> None:
    made = case(factories.criminal("c1"), subject=ACME)

    with searched_by(settings, {"tavily": recorded("tavily/search_empty.json")}) as vendors:
        given = verify(made)["c1"]

    assert (given.verdict, given.cause, given.model) == ("unsupported", "no_hits", None)
    assert vendors["judge"].requests == []


def test_a_confirmed_adverse_verdict_names_quote_model_and_prompt(settings: Any) -> None:
    made = case(
        factories.criminal("c1", title="Prosecutor charged Acme Trading OÜ with money laundering"), subject=ACME
    )

    with searched_by(settings, {"tavily": SUPPORTS}):
        given = verify(made)["c1"]

    assert given.verdict == "confirmed"
    assert given.quote in given.evidence["summary"]
    assert given.model == "demo-judge-2026-10-01"
    assert given.prompt_id == "finding_corroboration_v1"
    assert given.prompt_sha256


def test_a_nul_in_a_report_reaches_neither_provider_nor_database(settings: Any) -> None:
    title = "Prosecutor charged\0 Acme"
    made = case(factories.criminal("c1", title=title), factories.finding("f1", target="Nul\0 Corp"), subject=ACME)

    nothing = recorded("tavily/search_empty.json")
    with searched_by(settings, {"tavily": nothing}) as vendors, screened_by(settings, recorded(CLEAR)) as screening:
        given = verify(made)

    assert set(given) == {"c1", "f1"}
    assert "\0" not in vendors["tavily"].requests[0].body["query"]
    assert "\0" not in str(screening.requests[0].body)


def test_bright_data_without_a_free_slot_is_capacity_and_costs_no_recheck_time(settings: Any, monkeypatch: Any) -> None:
    from verifier.services import recheck

    @contextmanager
    def none_free(wait_seconds: float) -> Iterator[None]:
        yield None

    settings.BRIGHTDATA_API_KEY = settings.BRIGHTDATA_ZONE = "set"
    monkeypatch.setattr(recheck, "brightdata_slot", none_free)
    made = case(factories.criminal("c1"), subject=ACME)

    given = verify(made)["c1"]

    assert (given.verdict, given.cause) == ("indeterminate", "capacity")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("verdict", "confirmed"),
        ("cause", "screening_hit"),
        ("reason", "All is well."),
        ("quote", "said so"),
        ("evidence", '{"kind": "screening"}'),
        ("evidence_sha256", "0" * 64),
    ],
)
def test_the_trail_finds_a_verdict_flipped_behind_the_applications_back(settings: Any, column: str, value: str) -> None:
    made = case(factories.finding("f1"))
    with screened_by(settings, recorded(CLEAR)):
        verify(made)
    connection.check_constraints()  # seals, as a commit would
    assert verify_tenant(tenant=made.tenant, missing_guards=[]).broken is None

    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE verifier_findingverdict DISABLE TRIGGER USER")
        cursor.execute(f"UPDATE verifier_findingverdict SET {column} = %s WHERE case_id = %s", [value, made.id])
        connection.check_constraints()
        cursor.execute("ALTER TABLE verifier_findingverdict ENABLE ALWAYS TRIGGER verifier_findingverdict_append_only")

    broken = verify_tenant(tenant=made.tenant, missing_guards=[]).broken
    assert broken is not None
    assert broken.kind == "row_disagrees"
    assert "verdict" in broken.detail
