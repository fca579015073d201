import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier.domain.samples import SUPPORTING, item, judged, recorded_search, searched, silent
from verifier.domain.answers import Cause, Judgement, JudgeSilent, MediaAnswer, MergedMedia, NotAnswered
from verifier.domain.media import merge
from verifier.domain.verdicts import (
    Verdict,
    classify_adverse,
    deadline,
    over_cap,
    stopped,
    unmapped,
    unrecorded,
)

SUPPORTS = recorded_search("search_ok_supports")


def merged(*answers: MediaAnswer | NotAnswered) -> MergedMedia | NotAnswered:
    return merge(answers)


@pytest.mark.parametrize(
    ("media", "judgement", "verdict", "cause"),
    [
        (merged(searched()), judged(), Verdict.UNSUPPORTED, Cause.NO_HITS),
        (merged(SUPPORTS), judged(), Verdict.CONFIRMED, Cause.CORROBORATED),
        (merged(SUPPORTS, silent()), judged(), Verdict.CONFIRMED, Cause.CORROBORATED),
        (merged(SUPPORTS), judged(corroborates=False), Verdict.UNSUPPORTED, Cause.NOT_CORROBORATED),
        (merged(SUPPORTS), judged(quote="charged Acme Trading in Riga"), Verdict.UNSUPPORTED, Cause.NOT_CORROBORATED),
        (merged(SUPPORTS), judged(quote=SUPPORTING.upper()), Verdict.UNSUPPORTED, Cause.NOT_CORROBORATED),
        (merged(SUPPORTS), judged(quote=""), Verdict.UNSUPPORTED, Cause.NOT_CORROBORATED),
        (merged(SUPPORTS), judged(quote=" \n"), Verdict.UNSUPPORTED, Cause.NOT_CORROBORATED),
        (merged(SUPPORTS), judged(quote="."), Verdict.UNSUPPORTED, Cause.NOT_CORROBORATED),
        (merged(SUPPORTS), judged(quote="baltic-courier.example"), Verdict.UNSUPPORTED, Cause.NOT_CORROBORATED),
        (merged(SUPPORTS), JudgeSilent(Cause.JUDGE_FAILED), Verdict.UNSUPPORTED, Cause.JUDGE_FAILED),
        (merged(SUPPORTS), JudgeSilent(Cause.JUDGE_NOT_CONFIGURED), Verdict.UNSUPPORTED, Cause.JUDGE_NOT_CONFIGURED),
        (merged(SUPPORTS), None, Verdict.UNSUPPORTED, Cause.JUDGE_FAILED),
        (merged(searched(), silent()), judged(), Verdict.INDETERMINATE, Cause.PROVIDER_ERROR),
        (silent(cause=Cause.CAPACITY), None, Verdict.INDETERMINATE, Cause.CAPACITY),
    ],
)
def test_an_adverse_claim_is_classified(
    media: MergedMedia | NotAnswered, judgement: Judgement | JudgeSilent | None, verdict: Verdict, cause: Cause
) -> None:
    outcome = classify_adverse(media, judgement)
    assert (outcome.verdict, outcome.cause) == (verdict, cause)
    assert outcome.reason.endswith(".")


def test_an_obedient_judge_confirms_nothing_by_a_quote_of_its_own() -> None:
    media = merge([recorded_search("search_prompt_injection")])
    assert classify_adverse(media, judged()).verdict is Verdict.UNSUPPORTED


@pytest.mark.parametrize("cause", list(Cause))
def test_a_search_that_was_not_answered_is_indeterminate_whatever_the_judge_says(cause: Cause) -> None:
    outcome = classify_adverse(silent(cause=cause), judged())
    assert (outcome.verdict, outcome.cause) == (Verdict.INDETERMINATE, cause)


def test_what_was_not_rechecked_says_so() -> None:
    outcomes = [unmapped(), over_cap(), deadline(), unrecorded(), stopped()]
    assert {one.verdict for one in outcomes} == {Verdict.INDETERMINATE}
    assert [one.cause.value for one in outcomes] == ["unmapped_type", "over_cap", "deadline", "unrecorded", "stopped"]


TEXTS = st.text(max_size=60)
ITEMS = st.builds(item, TEXTS, title=TEXTS, url=st.sampled_from(["https://a.example/1", "http://b.example", "x", ""]))
ANSWERS = st.one_of(
    st.builds(lambda items: searched(*items), st.lists(ITEMS, max_size=4)),
    st.builds(lambda cause: silent(cause=cause), st.sampled_from(list(Cause))),
)
JUDGEMENTS = st.one_of(
    st.none(),
    st.builds(JudgeSilent, st.sampled_from([Cause.JUDGE_FAILED, Cause.JUDGE_NOT_CONFIGURED])),
    st.builds(judged, st.booleans(), TEXTS),
)


@given(st.lists(ANSWERS, min_size=1, max_size=3), JUDGEMENTS, st.booleans())
def test_no_combination_of_answers_confirms_without_an_affirming_judge_who_quotes_what_was_found(
    answers: list[MediaAnswer | NotAnswered], judgement: Judgement | JudgeSilent | None, quotes_item: bool
) -> None:
    media = merge(answers)
    found = [one for answer in answers if isinstance(answer, MediaAnswer) for one in answer.items]
    if quotes_item and isinstance(judgement, Judgement) and found:
        judgement = judged(judgement.corroborates, found[0].text)
    if classify_adverse(media, judgement).verdict is Verdict.CONFIRMED:
        assert isinstance(media, MergedMedia) and isinstance(judgement, Judgement)
        assert judgement.corroborates and judgement.quote.strip() and judgement.quote in media.summary
        assert found
