import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier.domain.samples import listing, screening
from verifier.domain.answers import Cause, Listing, NotAnswered, ScreeningStatus
from verifier.domain.screening import near_misses, screening_status
from verifier.domain.verdicts import Verdict, classify_screening

HIT, WARNING, OTHER = ScreeningStatus.HIT, ScreeningStatus.WARNING, ScreeningStatus.OTHER_LISTING
NEAR, CLEAR = ScreeningStatus.NEAR_MISS, ScreeningStatus.CLEAR

sanctioned = listing()
linked = listing(topics=("sanction.linked",))
single_token = listing(name_only_single_token=True)
other_birth_date = listing(birth_date_contradicts=True)
politician = listing(topics=("role.pep", "gov.head"))
without_topics = listing(topics=())
close = listing(match=False, score=0.6)
far = listing(match=False, score=0.495)


@pytest.mark.parametrize(
    ("listings", "status"),
    [
        ([], CLEAR),
        ([sanctioned], HIT),
        ([listing(topics=("Sanction", "role.pep", "new.topic"))], HIT),
        ([listing(topics=("sanction", "sanction.linked"))], HIT),
        ([listing(score=0.7)], HIT),
        ([linked], WARNING),
        ([listing(topics=("sanction.control",))], WARNING),
        ([listing(topics=("sanction.counter", "role.pep"))], WARNING),
        ([listing(topics=("sanction.something.new",))], WARNING),
        ([single_token], WARNING),
        ([other_birth_date], WARNING),
        ([politician], OTHER),
        ([listing(topics=("export.control", "sanctionish"))], OTHER),
        ([without_topics], OTHER),
        ([close], NEAR),
        ([listing(match=False, score=0.5)], NEAR),
        ([listing(match=False, score=0.95)], NEAR),
        ([listing(match=False, score=float("nan"))], NEAR),
        ([far], CLEAR),
        # several: the gravest, each by its own topics and flags
        ([close, politician, single_token, sanctioned], HIT),
        ([close, politician, linked], WARNING),
        ([listing(topics=("role.pep",)), listing(match=False, topics=("sanction",), score=0.6)], OTHER),
        ([single_token, politician], WARNING),
        ([close, politician], OTHER),
    ],
)
def test_an_answer_has_one_status(listings: list[Listing], status: ScreeningStatus) -> None:
    assert screening_status(screening(*listings)) is status
    assert screening_status(screening(*reversed(listings))) is status


@pytest.mark.parametrize(
    ("listings", "verdict", "cause"),
    [
        ([sanctioned], Verdict.CONFIRMED, Cause.SCREENING_HIT),
        ([linked], Verdict.CONFIRMED, Cause.SCREENING_WARNING),
        ([politician], Verdict.INDETERMINATE, Cause.OTHER_LISTING),
        ([close], Verdict.INDETERMINATE, Cause.NEAR_MISS),
        ([], Verdict.CONTRADICTED, Cause.SCREENING_CLEAR),
    ],
)
def test_a_status_makes_a_verdict(listings: list[Listing], verdict: Verdict, cause: Cause) -> None:
    outcome = classify_screening(screening(*listings))
    assert (outcome.verdict, outcome.cause) == (verdict, cause)
    assert outcome.reason.endswith(".")


@pytest.mark.parametrize(
    ("listings", "total", "verdict"),
    [
        ([], 0, Verdict.CONTRADICTED),
        ([], 3, Verdict.INDETERMINATE),
        ([far], 1, Verdict.INDETERMINATE),
        ([politician], 2, Verdict.INDETERMINATE),
        ([sanctioned], 90, Verdict.CONFIRMED),
    ],
)
def test_matches_that_are_counted_but_not_shown_are_never_clear(
    listings: list[Listing], total: int, verdict: Verdict
) -> None:
    assert classify_screening(screening(*listings, total_matches=total)).verdict is verdict


@pytest.mark.parametrize("cause", list(Cause))
def test_what_was_not_answered_is_indeterminate_with_its_cause(cause: Cause) -> None:
    outcome = classify_screening(NotAnswered("opensanctions", cause))
    assert (outcome.verdict, outcome.cause) == (Verdict.INDETERMINATE, cause)


def test_near_misses_are_those_that_came_close_without_matching() -> None:
    assert near_misses(screening(sanctioned, close, far)) == (close,)


TOPICS = ["sanction", "sanction.linked", "role.pep", "crime", "unheard.of", ""]
LISTINGS = st.builds(
    listing,
    score=st.floats(0, 1),
    match=st.booleans(),
    topics=st.lists(st.sampled_from(TOPICS), max_size=3).map(tuple),
    name_only_single_token=st.booleans(),
    birth_date_contradicts=st.booleans(),
)


@given(st.lists(LISTINGS, max_size=6), st.none() | st.integers(0, 9))
def test_nothing_confirms_but_a_match_of_the_sanction_family(listings: list[Listing], total: int | None) -> None:
    verdict = classify_screening(screening(*listings, total_matches=total)).verdict
    on_topic = any(one.match and any(topic.startswith("sanction") for topic in one.topics) for one in listings)
    assert (verdict is Verdict.CONFIRMED) == on_topic
    if any(one.match for one in listings) or total:
        assert verdict is not Verdict.CONTRADICTED
