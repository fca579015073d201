"""Every recorded answer of the four vendors: whether it is an answer, and what is read from it."""

from typing import Any

import pytest

from tests.replay import manifest, recorded, serving
from tests.verifier.providers.recordings import (
    INDETERMINATE,
    SCREENINGS,
    SEARCH_ROWS,
    SEARCHES,
    VIKTOR,
    Screened,
    Searched,
)
from tests.verifier.providers.vendors import point_at, screen, search
from verifier.domain.answers import MediaAnswer, NotAnswered, ScreeningAnswer


@pytest.mark.parametrize("vendor", ["opensanctions", *SEARCHES])
def test_every_entry_of_the_manifest_is_here(vendor: str) -> None:
    entries = {name for name in manifest(vendor) if name != "__timeouts__"}
    assert set(SEARCHES.get(vendor, SCREENINGS)) == entries


@pytest.mark.parametrize(("file", "right"), SCREENINGS.items())
def test_a_recorded_screening_is_read_as_it_is(settings: Any, file: str, right: Screened) -> None:
    with serving(recorded(f"opensanctions/{file}", echo=right.echo)) as replay:
        point_at(settings, replay.url)
        answer = screen(right.query)
    if right.verdict is INDETERMINATE:
        assert isinstance(answer, NotAnswered)
        assert answer.cause is right.cause
    else:
        assert isinstance(answer, ScreeningAnswer)
        assert answer.not_used == right.not_used
        assert answer.query == right.query


@pytest.mark.parametrize(("vendor", "file", "right"), SEARCH_ROWS)
def test_a_recorded_search_is_read_as_it_is(settings: Any, vendor: str, file: str, right: Searched) -> None:
    with serving(recorded(f"{vendor}/{file}")) as replay:
        point_at(settings, replay.url)
        answer = search(vendor)
    if right.verdict is INDETERMINATE:
        assert isinstance(answer, NotAnswered)
        assert answer.cause is right.cause
    else:
        assert isinstance(answer, MediaAnswer)
        assert len(answer.items) == right.items


def test_a_text_that_was_cut_off_says_so(settings: Any) -> None:
    with serving(recorded("exa/search_huge_text.json")) as replay:
        point_at(settings, replay.url)
        answer = search("exa")
    assert isinstance(answer, MediaAnswer)
    assert all(item.cut and len(item.text) == 4000 for item in answer.items)


def test_a_corrected_spelling_is_on_record(settings: Any) -> None:
    with serving(recorded("brightdata/raw_ok_spelling_corrected.json")) as replay:
        point_at(settings, replay.url)
        answer = search("brightdata")
    assert isinstance(answer, MediaAnswer)
    assert answer.notes == (
        "The search engine corrected the spelling of the query; it searched for: Acme Trading OU money laundering",
    )


def test_no_filter_of_ours_can_hide_a_listing(settings: Any) -> None:
    with serving(recorded("opensanctions/match_topics_filter_excludes_hit.json")) as replay:
        point_at(settings, replay.url)
        screen(VIKTOR)
    filters = ("topics", "include", "exclude", "changed_since")
    assert not [name for name in filters if name in replay.requests[0].query]
