"""The four verdicts, and the rules that turn what providers and the judge said into one of them (ADR-0111).

Nothing here confirms without a positive answer about the claim itself, and what could not run is never a pass.
"""

from dataclasses import dataclass
from enum import StrEnum

from verifier.domain.answers import (
    Cause,
    Judgement,
    JudgeSilent,
    MergedMedia,
    NotAnswered,
    ScreeningAnswer,
    ScreeningStatus,
)
from verifier.domain.media import is_quote_of
from verifier.domain.screening import hides_matches, near_misses, screening_status


class Verdict(StrEnum):
    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    INDETERMINATE = "indeterminate"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict with the code and the plain sentence that say why."""

    verdict: Verdict
    cause: Cause
    reason: str


PROVIDER_NAMES = {"opensanctions": "OpenSanctions", "tavily": "Tavily", "exa": "Exa", "brightdata": "Bright Data"}

OF_SCREENING = {
    ScreeningStatus.HIT: Outcome(
        Verdict.CONFIRMED, Cause.SCREENING_HIT, "The sanctions lists hold a match for this name. The claim stands."
    ),
    ScreeningStatus.WARNING: Outcome(
        Verdict.CONFIRMED,
        Cause.SCREENING_WARNING,
        "The sanctions lists hold a match that is open to doubt: it is linked only, rests on a single name, or the "
        "birth date differs. The claim stands until a person has looked.",
    ),
    ScreeningStatus.OTHER_LISTING: Outcome(
        Verdict.INDETERMINATE,
        Cause.OTHER_LISTING,
        "The name is listed, but not as sanctioned. Whether the claim is right remains open.",
    ),
    ScreeningStatus.NEAR_MISS: Outcome(
        Verdict.INDETERMINATE,
        Cause.NEAR_MISS,
        "The lists hold only similar names, too close to rule out. Whether the claim is right remains open.",
    ),
    ScreeningStatus.CLEAR: Outcome(
        Verdict.CONTRADICTED,
        Cause.SCREENING_CLEAR,
        "The sanctions lists were searched and hold nobody of this name. That contradicts the claim.",
    ),
}
MATCHES_NOT_SHOWN = Outcome(
    Verdict.INDETERMINATE,
    Cause.NEAR_MISS,
    "The provider counts matches that it did not show. Whether the claim is right remains open.",
)

NO_HITS = Outcome(
    Verdict.UNSUPPORTED,
    Cause.NO_HITS,
    "The search found no publication about this. That leaves the claim without support; it does not refute it.",
)
NOT_CORROBORATED = Outcome(
    Verdict.UNSUPPORTED,
    Cause.NOT_CORROBORATED,
    "Publications were found, but none of them was shown to support the claim.",
)
QUOTE_NOT_FOUND = Outcome(
    Verdict.UNSUPPORTED,
    Cause.NOT_CORROBORATED,
    "The judge called the claim supported, but its quote is not in what was found. The claim is left without support.",
)
CORROBORATED = Outcome(
    Verdict.CONFIRMED, Cause.CORROBORATED, "A publication supports the claim; the sentence is quoted."
)
OF_SILENT_JUDGE = {
    Cause.JUDGE_NOT_CONFIGURED: (
        "Publications were found, but no judge is set up to read them. The claim is left without support."
    ),
    Cause.JUDGE_FAILED: (
        "Publications were found, but the judge gave no usable answer. The claim is left without support."
    ),
}


def classify_screening(answer: ScreeningAnswer | NotAnswered) -> Outcome:
    """The verdict on a claim that the target is sanctioned."""
    if isinstance(answer, NotAnswered):
        return not_answered(answer)
    status = screening_status(answer)
    if status is ScreeningStatus.NEAR_MISS and hides_matches(answer) and not near_misses(answer):
        return MATCHES_NOT_SHOWN
    return OF_SCREENING[status]


def classify_adverse(media: MergedMedia | NotAnswered, judgement: Judgement | JudgeSilent | None) -> Outcome:
    """The verdict on an adverse claim. Hits alone prove nothing: the judge must affirm, with a quote that is there."""
    if isinstance(media, NotAnswered):
        return not_answered(media)
    if not media.items:
        return NO_HITS
    if not isinstance(judgement, Judgement):
        return judge_silent(judgement)
    if judgement.corroborates is not True:
        return NOT_CORROBORATED
    return CORROBORATED if is_quote_of(judgement.quote, media.summary) else QUOTE_NOT_FOUND


def judge_silent(silence: JudgeSilent | None) -> Outcome:
    """ADR-0111: this leg answers false. A judge that was never asked is one that gave no answer."""
    not_configured = silence is not None and silence.cause is Cause.JUDGE_NOT_CONFIGURED
    cause = Cause.JUDGE_NOT_CONFIGURED if not_configured else Cause.JUDGE_FAILED
    return Outcome(Verdict.UNSUPPORTED, cause, OF_SILENT_JUDGE[cause])


def not_answered(answer: NotAnswered) -> Outcome:
    who = PROVIDER_NAMES.get(answer.provider, "The provider")
    what = {
        Cause.PROVIDER_TIMEOUT: f"{who} did not answer in time.",
        Cause.PROVIDER_NOT_CONFIGURED: "No provider is set up for this check.",
        Cause.QUOTA: f"{who} refused: its quota or rate limit is used up.",
        Cause.CAPACITY: "No free slot for the search came up in time.",
        Cause.UNANSWERED_QUERY: f"{who} did not answer the question that had to be asked.",
    }.get(answer.cause, f"{who} gave no usable answer.")
    return Outcome(Verdict.INDETERMINATE, answer.cause, f"{what} Nothing is known of the claim.")


def unmapped() -> Outcome:
    reason = "There is no live check for a finding of this kind. A person has to look at it."
    return Outcome(Verdict.INDETERMINATE, Cause.UNMAPPED_TYPE, reason)


def over_cap() -> Outcome:
    reason = "Not re-checked: the run's limit of re-checks went to more urgent findings."
    return Outcome(Verdict.INDETERMINATE, Cause.OVER_CAP, reason)


def deadline() -> Outcome:
    reason = "Not re-checked: the time for the whole run was used up."
    return Outcome(Verdict.INDETERMINATE, Cause.DEADLINE, reason)


def unrecorded() -> Outcome:
    reason = "The run ended without a recorded verdict on this finding. A person has to look at it."
    return Outcome(Verdict.INDETERMINATE, Cause.UNRECORDED, reason)


def stopped() -> Outcome:
    reason = "Not re-checked: re-checks were switched off during the run."
    return Outcome(Verdict.INDETERMINATE, Cause.STOPPED, reason)
