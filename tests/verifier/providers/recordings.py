"""What the manifests call right for every recorded answer of the four vendors, as tables."""

from dataclasses import dataclass

from verifier.domain.answers import Cause, ScreeningQuery
from verifier.domain.verdicts import Verdict

CONFIRMED, CONTRADICTED = Verdict.CONFIRMED, Verdict.CONTRADICTED
UNSUPPORTED, INDETERMINATE = Verdict.UNSUPPORTED, Verdict.INDETERMINATE

MALINOVSKIJ = "Viktor Petrovich Malinovskij"


def person(name: str = MALINOVSKIJ, **properties: list[str]) -> ScreeningQuery:
    return ScreeningQuery("Person", {"name": [name], **properties})


def company(name: str, **properties: list[str]) -> ScreeningQuery:
    return ScreeningQuery("Company", {"name": [name], **properties})


VIKTOR = person()


@dataclass(frozen=True)
class Screened:
    verdict: Verdict
    cause: Cause
    query: ScreeningQuery = VIKTOR
    status: str = ""
    not_used: tuple[str, ...] = ()
    echo: bool = True


HIT, WARNING, CLEAR = Cause.SCREENING_HIT, Cause.SCREENING_WARNING, Cause.SCREENING_CLEAR
BROKEN = Screened(INDETERMINATE, Cause.PROVIDER_ERROR)
QUOTA = Screened(INDETERMINATE, Cause.QUOTA)
OTHER_QUERY = Cause.UNANSWERED_QUERY
SEVRYBA = company("Sevryba Logistics LLC", jurisdiction=["ru"], registrationNumber=["1025100000000"])
FULL = person(birthDate=["1961-04-07"], nationality=["ru"])
SCREENINGS = {
    "match_company_hit.json": Screened(CONFIRMED, HIT, SEVRYBA, "hit"),
    "match_person_hit_full_dob.json": Screened(CONFIRMED, HIT, FULL, "hit"),
    "match_person_cyrillic_reversed_hit.json": Screened(CONFIRMED, HIT, person("Малиновский Виктор"), "hit"),
    "match_dob_day_month_swapped.json": Screened(CONFIRMED, HIT, person(birthDate=["1961-07-04"]), "hit"),
    "match_huge.json": Screened(CONFIRMED, HIT, company("Global Trade Holding LLC"), "hit"),
    "match_odd_unicode.json": Screened(CONFIRMED, HIT, company("Acme Trading OÜ"), "hit"),
    "match_dob_format_dropped.json": Screened(
        CONFIRMED, HIT, person(birthDate=["02/01/1984"]), "hit", not_used=("birthDate",)
    ),
    "match_unknown_property_dropped.json": Screened(
        CONFIRMED, HIT, person(dob=["1984-01-02"], nationality=["Atlantis"]), "hit", not_used=("dob", "nationality")
    ),
    "match_birth_year_mismatch_still_true.json": Screened(CONFIRMED, WARNING, person(birthDate=["1984"]), "warning"),
    "match_single_surname_true.json": Screened(CONFIRMED, WARNING, person("Malinovskij"), "warning"),
    "match_topic_sanction_linked_only.json": Screened(
        CONFIRMED, WARNING, company("Norrvik Shipping AB", jurisdiction=["se"]), "warning"
    ),
    "match_empty.json": Screened(CONTRADICTED, CLEAR, company("Nordwind Bakery Oy", jurisdiction=["fi"]), "clear"),
    "match_topics_filter_excludes_hit.json": Screened(CONTRADICTED, CLEAR, person(), "clear"),
    "match_person_screened_as_company_empty.json": Screened(INDETERMINATE, OTHER_QUERY),
    "match_empty_name_list.json": Screened(INDETERMINATE, OTHER_QUERY),
    "match_batch_missing_key.json": Screened(INDETERMINATE, Cause.PROVIDER_ERROR, echo=False),
    "error_402_payment_required.json": QUOTA,
    "error_429_monthly_quota.json": QUOTA,
} | dict.fromkeys(
    [
        *("error_400_batch_too_large.json", "error_400_no_queries.json", "error_400_non_matchable_schema.json"),
        *("error_400_unknown_algorithm.json", "error_401_no_api_key.json", "error_414_uri_too_long.json"),
        *("error_422_limit_too_high.json", "error_422_missing_schema.json", "error_500_status_error.json"),
        *("error_502_html.html", "error_503_index_not_ready.json", "ok_200_null_results.json", "ok_200_truncated.json"),
        # Answers of other calls and bulk files prove nothing where an answer of /match should be.
        *("algorithms.json", "entity_308_merged.json", "entity_nested.json", "search_empty.json", "search_ok.json"),
        *("search_total_lower_bound.json", "bulk_entities.ftm.json", "bulk_index_failed_run.json"),
        *("bulk_targets.simple.csv", "bulk_targets_truncated.csv"),
    ],
    BROKEN,
)


@dataclass(frozen=True)
class Searched:
    verdict: Verdict
    cause: Cause
    items: int = 0


def confirmed(items: int) -> Searched:
    return Searched(CONFIRMED, Cause.CORROBORATED, items)


def not_corroborated(items: int) -> Searched:
    return Searched(UNSUPPORTED, Cause.NOT_CORROBORATED, items)


NOTHING = Searched(UNSUPPORTED, Cause.NO_HITS)
FAILED = Searched(INDETERMINATE, Cause.PROVIDER_ERROR)
OUT_OF_QUOTA = Searched(INDETERMINATE, Cause.QUOTA)
SEARCHES = {
    "tavily": {
        "error_400.json": FAILED,
        "error_401.json": FAILED,
        "error_422_detail_list.json": FAILED,
        "error_500.json": FAILED,
        "ok_200_detail_error.json": OUT_OF_QUOTA,
        "ok_200_truncated.json": FAILED,
        "search_answer_affirms_results_dont.json": not_corroborated(1),
        "search_empty.json": NOTHING,
        "search_empty_with_answer.json": NOTHING,
        "search_huge_raw_content.json": confirmed(13),
        "search_odd_unicode.json": confirmed(1),
        "search_ok_contrary.json": not_corroborated(2),
        "search_ok_namesake_only.json": not_corroborated(2),
        "search_ok_supports.json": confirmed(3),
        "search_prompt_injection.json": not_corroborated(1),
        "search_rank17_run_a.json": confirmed(20),
        "search_rank17_run_b.json": confirmed(20),
        "search_response_time_string.json": confirmed(1),
        "search_syndicated_copies.json": confirmed(5),
    },
    "exa": {
        "error_401_invalid_key.json": FAILED,
        "error_402_key_budget.json": OUT_OF_QUOTA,
        "error_403_feature_disabled.json": FAILED,
        "error_429_bare.json": OUT_OF_QUOTA,
        "error_429_rate_limit.json": OUT_OF_QUOTA,
        "ok_200_empty_body.json": FAILED,
        "ok_200_truncated.json": FAILED,
        "search_deep_output.json": not_corroborated(1),
        "search_empty.json": NOTHING,
        "search_huge_text.json": confirmed(10),  # by its title; the sentence itself is cut off, which is told
        "search_ok_contrary.json": not_corroborated(1),
        "search_ok_legacy_score.json": confirmed(1),
        "search_ok_namesake.json": not_corroborated(2),
        "search_ok_supports.json": confirmed(3),
    },
    "brightdata": {
        "error_400_validation.json": FAILED,
        "error_429_outer.txt": OUT_OF_QUOTA,
        "json_wrapped_html_body.json": FAILED,
        "json_wrapped_inner_429.json": OUT_OF_QUOTA,
        "json_wrapped_inner_502.json": FAILED,
        "json_wrapped_ok.json": confirmed(1),
        "raw_ok_ai_overview.json": not_corroborated(1),
        "raw_ok_contrary.json": not_corroborated(2),
        "raw_ok_empty_organic.json": NOTHING,
        "raw_ok_huge.json": confirmed(20),
        "raw_ok_news_supports.json": confirmed(2),
        "raw_ok_organic_supports.json": confirmed(3),
        "raw_ok_spelling_corrected.json": not_corroborated(1),
    },
}
SEARCH_ROWS = [(vendor, file, right) for vendor, rows in SEARCHES.items() for file, right in rows.items()]
