"""Every recorded answer of the four vendors: the verdict that its manifest calls right.

The judge is scripted but reads: it corroborates by a passage that supports the claim, and only when that passage stands
in the summary it was given. Sentences of the vendors' own language models are among its passages, so that it would fall
for them if they ever got into the evidence.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.replay import Answer, recorded, serving
from tests.verifier.providers.recordings import INDETERMINATE, SCREENINGS, SEARCH_ROWS, VIKTOR, Screened, Searched
from tests.verifier.providers.vendors import MEDIA_QUERY, point_at, screen, search
from verifier.domain.answers import Cause, Judgement, MergedMedia, NotAnswered, ScreeningAnswer
from verifier.domain.evidence import fingerprint
from verifier.domain.media import merge
from verifier.domain.screening import near_misses, screening_status
from verifier.domain.verdicts import Outcome, classify_adverse, classify_screening

PASSAGES = (
    "charged Acme Trading OÜ of Tallinn",
    "after it was charged with money laundering, a court spokesperson said",
    "Prosecutor charges Acme Trading OÜ with money laundering",
    "«Акме Трейдинг ОЮ» обвинена",
    "was charged with money laundering in 2026",  # Tavily's answer
    "was charged in 2026",  # Exa's output
    "has been charged with money laundering",  # Google's overview
)


@pytest.mark.parametrize(("file", "right"), SCREENINGS.items())
def test_a_recorded_screening_leads_to_the_right_verdict(settings: Any, file: str, right: Screened) -> None:
    with serving(recorded(f"opensanctions/{file}", echo=right.echo)) as replay:
        point_at(settings, replay.url)
        answer = screen(right.query)
    outcome = classify_screening(answer)
    assert (outcome.verdict, outcome.cause) == (right.verdict, right.cause)
    if isinstance(answer, ScreeningAnswer):
        assert screening_status(answer) == right.status
        assert not near_misses(answer)


@pytest.mark.parametrize(("vendor", "file", "right"), SEARCH_ROWS)
def test_a_recorded_search_leads_to_the_right_verdict(settings: Any, vendor: str, file: str, right: Searched) -> None:
    _, outcome = merged_and_judged(settings, vendor, recorded(f"{vendor}/{file}"))
    assert (outcome.verdict, outcome.cause) == (right.verdict, right.cause)


def merged_and_judged(settings: Any, vendor: str, recording: Answer) -> tuple[MergedMedia | NotAnswered, Outcome]:
    with serving(recording) as replay:
        point_at(settings, replay.url)
        media = merge([search(vendor, MEDIA_QUERY)])
    judgement = None if isinstance(media, NotAnswered) or not media.items else read_by_judge(media)
    return media, classify_adverse(media, judgement)


def read_by_judge(media: MergedMedia) -> Judgement:
    quote = next((passage for passage in PASSAGES if passage in media.summary), "")
    return Judgement(bool(quote), quote, "scripted", model="scripted", prompt_id="none", prompt_sha256="0" * 64)


def test_two_rankings_of_the_same_results_are_the_same_evidence(settings: Any) -> None:
    runs = [merged_and_judged(settings, "tavily", recorded(f"tavily/search_rank17_run_{run}.json"))[0] for run in "ab"]
    first, second = runs
    assert isinstance(first, MergedMedia)
    assert isinstance(second, MergedMedia)
    assert first.summary == second.summary
    assert fingerprint(first) == fingerprint(second)


def failing_on_the_wire() -> Iterator[tuple[str, Answer]]:
    good = {"opensanctions": "match_empty.json", "tavily": "search_empty.json", "exa": "search_empty.json"}
    for vendor, file in {**good, "brightdata": "raw_ok_empty_organic.json"}.items():
        for manner in ("stall_body", "drip_body", "drip_headers", "cut_body", "hang_up"):
            yield vendor, recorded(f"{vendor}/{file}", manner=manner)


@pytest.mark.parametrize(("vendor", "broken"), list(failing_on_the_wire()))
def test_an_empty_answer_that_never_wholly_came_is_indeterminate(settings: Any, vendor: str, broken: Answer) -> None:
    with serving(broken) as replay:
        point_at(settings, replay.url)
        if vendor == "opensanctions":
            outcome = classify_screening(screen(VIKTOR, timeout=0.4))
        else:
            outcome = classify_adverse(merge([search(vendor, timeout=0.4)]), None)
    assert outcome.verdict is INDETERMINATE
    assert outcome.cause in {Cause.PROVIDER_TIMEOUT, Cause.PROVIDER_ERROR}
