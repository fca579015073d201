"""The four verdicts, and the rules that turn what providers and the judge said into one of them (ADR-0111)."""

from dataclasses import dataclass
from enum import StrEnum

from verifier.domain.answers import Cause


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
