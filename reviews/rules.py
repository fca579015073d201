"""The rules of a decision: its reasons, its form, and when a second person is needed."""

from collections.abc import Sequence
from dataclasses import dataclass

from reviews.standing import Outcome, Told, kind_of
from verifier.models import Finding, Switch

MAKER_CHECKER = "MAKER_CHECKER_ENABLED"
LEAST_CHARACTERS = 20  # of a reason, without the white space around it
MOST_CHARACTERS = 10_000
MOST_EVIDENCE = 50

REASON_CODES: dict[str, dict[str, str]] = {
    Outcome.STANDS: {
        "source_states_it": "A source states it",
        "same_subject": "The match is this subject",
        "primary_document": "A primary document shows it",
        "check_fell_short": "The re-check asked too narrowly or could not run",
        "other": "Another reason, as written",
    },
    Outcome.DOES_NOT_STAND: {
        "not_listed": "The list does not hold this subject",
        "other_subject": "It is about someone else",
        "no_source": "No source states it",
        "outdated": "It was so, and no longer is",
        "report_in_error": "The report misread its source",
        "other": "Another reason, as written",
    },
    Outcome.NEEDS_MORE: {
        "document_needed": "A document is needed",
        "identity_unclear": "It is unclear whom it is about",
        "source_unreachable": "A source could not be reached",
        "other": "Another reason, as written",
    },
    Outcome.ESCALATED: {
        "senior_decision": "Someone more senior decides",
        "legal_question": "A question of law is open",
        "specialist_needed": "A specialist has to look",
        "conflict_of_interest": "The officer is not impartial here",
        "other": "Another reason, as written",
    },
}


class InvalidDecision(Exception):
    """What was sent is no decision. `problems`: a sentence for each field that is wrong."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


class Stale(Exception):
    """What was on the page is no longer so: nothing was recorded."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class StaleVerdict(Stale):
    """The verdict changed since the page was loaded. `old` is what was shown, `new` what is."""

    def __init__(self, old: Told | None, new: Told | None, sentence: str) -> None:
        super().__init__(sentence)
        self.old = old
        self.new = new


class StaleDecision(Stale):
    """Someone has decided, answered or taken back since the page was loaded; the page has to show it first."""


@dataclass(frozen=True, slots=True)
class Words:
    """The part of a decision that a person types or chooses."""

    outcome: str
    reason_code: str
    reason: str
    evidence: list[str]


def check_words(outcome: str, reason_code: str, reason: str, evidence: Sequence[str]) -> Words:
    problems: dict[str, str] = {}
    if outcome not in REASON_CODES:
        problems["outcome"] = "Choose what becomes of the finding."
    elif reason_code not in REASON_CODES[outcome]:
        problems["reason_code"] = "Choose a reason that fits this outcome."
    reason = clean(reason)
    if problem := reason_problem(reason):
        problems["reason"] = problem
    relied_on = list(dict.fromkeys(item for item in map(clean, evidence) if item))
    if not relied_on:
        problems["evidence"] = "Choose at least one thing you rely on."
    elif len(relied_on) > MOST_EVIDENCE or max(map(len, relied_on)) > MOST_CHARACTERS:
        problems["evidence"] = f"Choose at most {MOST_EVIDENCE} things, each of at most {MOST_CHARACTERS} characters."
    if problems:
        raise InvalidDecision(problems)
    return Words(outcome, reason_code, reason, relied_on)


def clean(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").strip()


def reason_problem(reason: str) -> str | None:
    if len(reason) < LEAST_CHARACTERS:
        return f"Say why in at least {LEAST_CHARACTERS} characters."
    return f"Say why in at most {MOST_CHARACTERS} characters." if len(reason) > MOST_CHARACTERS else None


def check_reason(reason: str) -> str:
    reason = clean(reason)
    problem = reason_problem(reason)
    if problem:
        raise InvalidDecision({"reason": problem})
    return reason


def check_kind(kind: str, verdict: str, outcome: str) -> None:
    if kind and kind != kind_of(verdict, outcome):
        said = kind.replace("_", " ")
        raise InvalidDecision({"kind": f"With a finding that is {verdict}, this outcome is no {said}."})


def needs_second(finding: Finding, outcome: str) -> bool:
    """Whether another officer must agree before a sanctions or criminal finding is set aside."""
    return outcome == Outcome.DOES_NOT_STAND and concerns_two_persons(finding) and Switch.is_on(MAKER_CHECKER)


def concerns_two_persons(finding: Finding) -> bool:
    """As it was found at intake (`needs_two_persons` in `verifier.domain.findings`); the database asks the same."""
    return finding.two_persons
