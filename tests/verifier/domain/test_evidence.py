import json
from dataclasses import replace
from typing import Any

import pytest

from tests.verifier.domain.samples import item, judged, listing, recorded_search, screening, searched, silent
from verifier.domain import evidence
from verifier.domain.answers import Cause, JudgeSilent, MergedMedia, NotAnswered, ScreeningQuery
from verifier.domain.media import merge

one, two = listing(entity_id="a", topics=("sanction", "role.pep")), listing(entity_id="b", match=False, score=0.6)
ANSWER = screening(one, two)


@pytest.mark.parametrize(
    "other",
    [
        screening(two, one),
        screening(replace(one, score=0.99), two),
        screening(replace(one, topics=("role.pep", "sanction")), two),
        screening(replace(one, last_change="2026-01-01"), two),
    ],
)
def test_order_and_score_do_not_change_a_screenings_fingerprint(other: Any) -> None:
    assert evidence.fingerprint(other) == evidence.fingerprint(ANSWER)


@pytest.mark.parametrize(
    "other",
    [
        screening(one),
        screening(replace(one, match=False), two),
        screening(replace(one, topics=("role.pep",)), two),
        screening(replace(one, birth_date_contradicts=True), two),
        replace(ANSWER, query=ScreeningQuery("Person", {"name": ["Acme Trading OÜ"]})),
        replace(ANSWER, query=ScreeningQuery("Company", {"name": ["Acme Trading AS"]})),
        replace(ANSWER, not_used=("birthDate",)),
        replace(ANSWER, scope="default"),
        replace(ANSWER, simulated=True),
    ],
)
def test_what_was_asked_and_what_came_back_change_a_screenings_fingerprint(other: Any) -> None:
    assert evidence.fingerprint(other) != evidence.fingerprint(ANSWER)


def merged(*items: Any, **keys: Any) -> MergedMedia:
    media = merge([replace(searched(*items), **keys)])
    assert isinstance(media, MergedMedia)
    return media


FOUND = merged(item("x", published="2 days ago"), item("y"))


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (merged(item("y"), item("x", published="3 days ago")), True),
        (merged(item("x", url="https://www.news.example/1?utm_source=z"), item("y")), True),
        (merged(item("x")), False),
        (merged(item("x"), item("z")), False),
        (merged(item("x"), item("y", url="https://other.example")), False),
        (merged(item("x"), item("y"), query="another"), False),
        (merged(item("x"), item("y"), simulated=True), False),
        (merge([searched(item("x"), item("y")), silent()]), False),
    ],
)
def test_only_substance_changes_a_searchs_fingerprint(other: Any, same: bool) -> None:
    assert (evidence.fingerprint(other) == evidence.fingerprint(FOUND)) is same


def test_a_silences_fingerprint_is_who_and_why() -> None:
    told = evidence.fingerprint(NotAnswered("exa", Cause.QUOTA, "one", 429))
    assert told == evidence.fingerprint(NotAnswered("exa", Cause.QUOTA, "two", 402))
    assert told != evidence.fingerprint(NotAnswered("exa", Cause.PROVIDER_TIMEOUT))
    assert told != evidence.fingerprint(NotAnswered("tavily", Cause.QUOTA))


def test_screening_evidence_keeps_what_was_asked_and_near_misses_apart() -> None:
    kept = evidence.screening_evidence(ANSWER.query, ANSWER)
    assert kept["asked"] == {"schema": "Company", "properties": {"name": ["Acme Trading OÜ"]}, "notes": ()}
    assert [row["entity_id"] for row in kept["listings"]] == ["a"]
    assert [row["entity_id"] for row in kept["near_misses"]] == ["b"]
    assert kept["status"] == "hit" and kept["not_answered"] is None


def test_media_evidence_keeps_the_judges_own_word() -> None:
    media = merge([recorded_search("search_ok_supports"), silent()])
    assert isinstance(media, MergedMedia)
    kept = evidence.media_evidence("q", media, judged(quote="not there"))
    assert kept["judge"]["answered"] and kept["judge"]["corroborates"] and kept["judge"]["quote"] == "not there"
    assert kept["partial"][0]["provider"] == "exa"
    assert len(kept["items"]) == 3 and kept["summary"] == media.summary


@pytest.mark.parametrize(
    "kept",
    [
        evidence.not_asked(NotAnswered("", Cause.OVER_CAP)),
        evidence.screening_evidence(ANSWER.query, ANSWER),
        evidence.screening_evidence(ANSWER.query, NotAnswered("opensanctions", Cause.QUOTA, "x", 429)),
        evidence.media_evidence("q", FOUND, JudgeSilent(Cause.JUDGE_FAILED, "cut off")),
        evidence.media_evidence("q", NotAnswered("exa", Cause.CAPACITY), None),
    ],
)
def test_evidence_is_json_and_says_whether_there_was_an_answer(kept: dict[str, Any]) -> None:
    assert json.loads(json.dumps(kept, allow_nan=False))["kind"] in {"not_asked", "screening", "media"}
    assert "not_answered" in kept
