"""From received bytes to a report that passed every check, or to everything that is wrong with them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.conf import settings

from verifier.domain import json_text
from verifier.domain.json_text import UNREADABLE, JsonProblems, Problem
from verifier.schemas import find_problems, read_iteration


class InvalidReport(Exception):
    """The report is not one. `problems` holds all that is wrong; printed, each is a line `$.path message`."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = list(problems)


class ReportTooLarge(Exception):
    """More bytes than MAX_REPORT_BYTES."""

    def __init__(self) -> None:
        super().__init__(f"A report may have at most {settings.MAX_REPORT_BYTES} bytes.")


@dataclass(frozen=True, slots=True)
class ParsedReport:
    """A report that passed every check: what was read of it, and the texts it was read from."""

    value: dict[str, Any]
    content: bytes
    sha256: str
    iteration: int
    subject: str
    quality_gate: str
    findings: list[str]


def parse(content: bytes) -> ParsedReport:
    """Reads received bytes; raises ReportTooLarge, or InvalidReport with everything that is wrong with them."""
    if len(content) > settings.MAX_REPORT_BYTES:
        raise ReportTooLarge
    value = read(content)
    texts = dict(json_text.members(content.decode()))
    gate = value.get("quality_gate")
    iteration = read_iteration(value.get("iteration"))
    assert iteration is not None, "checked with the shape"
    return ParsedReport(
        value=value,
        content=content,
        sha256=hashlib.sha256(content).hexdigest(),
        iteration=iteration,
        subject=texts["subject"],
        quality_gate="{}" if gate is None else texts["quality_gate"],
        findings=json_text.elements(texts["findings"]),
    )


def read(content: bytes) -> dict[str, Any]:
    """The value of a report without a problem. Where the text has some, the shape is looked at all the same."""
    problems: list[Problem] = []
    try:
        value = json_text.read(content)
    except JsonProblems as unclean:
        problems, value = unclean.problems, unclean.value
    if value is not UNREADABLE:
        told = {problem.path for problem in problems}
        wrong_shape = (problem for problem in find_problems(value) if problem.path not in told)
        problems = list(json_text.first(chain(problems, wrong_shape)))
    if problems:
        raise InvalidReport(problems)
    return value  # type: ignore[no-any-return]
