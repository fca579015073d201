"""Why nothing was recorded, and what is different from what was shown; beside it what was typed."""

from dataclasses import dataclass, field

from django.http import QueryDict

from reviews import words
from reviews.rules import StaleVerdict
from reviews.standing import Told
from reviews.views.decided import Decided, code_words


@dataclass(frozen=True, slots=True)
class Trouble:
    sentence: str
    rows: list[tuple[str, str, str]] = field(default_factory=list)  # of the verdict: when opened, now
    newer: Decided | None = None  # a colleague's decision that the page did not show
    beside: list[tuple[str, str, str]] = field(default_factory=list)  # the colleague's words and one's own
    typed: list[tuple[str, str]] = field(default_factory=list)  # where no form can hold them any more


def trouble_of(problem: Exception, typed: QueryDict, newer: Decided | None, *, form_is_there: bool) -> Trouble:
    sentence = str(problem)
    if newer is not None and newer.newest.sentence not in sentence:
        sentence = f"{sentence} {newer.newest.sentence} meanwhile."
    return Trouble(
        sentence=sentence,
        rows=differences(problem.old, problem.new) if isinstance(problem, StaleVerdict) else [],
        newer=newer,
        beside=side_by_side(newer, typed) if newer else [],
        typed=[] if form_is_there or newer else [(name, value) for name, value in told(typed).items() if value],
    )


def differences(old: Told | None, new: Told | None) -> list[tuple[str, str, str]]:
    if old is None or new is None:
        return []
    pairs = (
        ("Verdict", verdict_words(old), verdict_words(new)),
        ("Because", words.say("cause", old.cause), words.say("cause", new.cause)),
        ("In words", old.reason, new.reason),
        ("Evidence SHA-256", old.evidence_sha256[:12], new.evidence_sha256[:12]),
    )
    return [(name, before or "none", now or "none") for name, before, now in pairs if before != now]


def verdict_words(verdict: Told) -> str:
    return words.say("verdict", verdict.verdict) + (" (simulated answer)" if verdict.simulated else "")


def side_by_side(newer: Decided, typed: QueryDict) -> list[tuple[str, str, str]]:
    theirs = {
        "Outcome": words.say("outcome", newer.outcome),
        "Reason code": newer.reason_code_words,
        "Reason": newer.reason,
        "Evidence": newer.evidence_words,
        "Status": words.say("status", newer.status),
        "Afterwards": newer.second,
    }
    mine = told(typed)
    return [(name, value, mine.get(name, "")) for name, value in theirs.items() if value]


def told(typed: QueryDict) -> dict[str, str]:
    """What an officer typed and chose, in the words of the form."""
    outcome, _, code = typed.get("reason_code", "").rpartition(":")
    return {
        "Outcome": words.say("outcome", typed.get("outcome", "")),
        "Reason code": code_words(outcome, code),
        "Reason": typed.get("reason", ""),
        "Evidence": "; ".join(typed.getlist("evidence")),
    }
