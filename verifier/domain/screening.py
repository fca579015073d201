"""From a screening answer to one status: the rule of our own that stands between a score and a verdict.

Several listings: a hit outweighs a warning, a warning another listing, another listing a near miss.
"""

from verifier.domain.answers import Listing, ScreeningAnswer, ScreeningStatus

SANCTION = "sanction"
BY_WEIGHT = list(ScreeningStatus)  # hit, warning, other_listing, near_miss, clear


def screening_status(answer: ScreeningAnswer) -> ScreeningStatus:
    statuses = {listing_status(listing, answer.cutoff) for listing in answer.listings}
    if hides_matches(answer):
        statuses.add(ScreeningStatus.NEAR_MISS)
    return next((status for status in BY_WEIGHT if status in statuses), ScreeningStatus.CLEAR)


def listing_status(listing: Listing, cutoff: float) -> ScreeningStatus:
    """What one listed entity means by itself. Its own flags and topics count, never another's."""
    if not listing.match:
        return ScreeningStatus.CLEAR if listing.score < cutoff else ScreeningStatus.NEAR_MISS
    topics = {topic.strip().casefold() for topic in listing.topics}
    if SANCTION in topics:
        doubted = listing.name_only_single_token or listing.birth_date_contradicts
        return ScreeningStatus.WARNING if doubted else ScreeningStatus.HIT
    if any(topic.startswith(SANCTION + ".") for topic in topics):
        return ScreeningStatus.WARNING  # linked to, controlled by or countering: not itself designated
    return ScreeningStatus.OTHER_LISTING


def hides_matches(answer: ScreeningAnswer) -> bool:
    """Whether the provider counts more matches than it lists: what isn't shown can't be called clear."""
    listed = sum(listing.match for listing in answer.listings)
    return answer.total_matches is not None and answer.total_matches > listed


def near_misses(answer: ScreeningAnswer) -> tuple[Listing, ...]:
    """Listed entities that came close without matching, for a person to look at."""
    return tuple(one for one in answer.listings if not one.match and not one.score < answer.cutoff)
