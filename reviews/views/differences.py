"""What a newer report says otherwise, in words: never as a matter of course, and what it takes back first."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from reviews import words
from reviews.changes import Step, fields_otherwise, reports_of, steps
from reviews.text import members_of
from reviews.views.codes import plain
from reviews.views.presenting import NAMED, Reported, reported, spoken
from verifier.domain.changes import Aspect, Change, Difference
from verifier.domain.findings import read_finding
from verifier.domain.json_text import load, members
from verifier.domain.subjects import Subject
from verifier.models import Case, Finding

LOOKED_BACK = 5  # steps that the case page counts
MOST_LINES = 50  # of one finding, and of what stands outside the findings
MOST = 400  # characters of a value beside another
SAME_BEFORE = 80  # of what the two have in common, this much is shown before they part
SHORT = 120  # characters of both sides, to stand in one line
NOTHING = "nothing"
FIELDS = {"quality_gate": "quality gate", "created_at": "time of the report"}
# What of a step is counted, in the order in which it is told.
COUNTED = {
    "gone": ("1 finding gone", "{} findings gone"),
    "lowered": ("1 severity lowered", "{} severities lowered"),
    "undriven": ("1 finding no longer drives a decision", "{} findings no longer drive a decision"),
    "candidates": ("1 finding only about a candidate by name now", "{} findings only about a candidate by name now"),
    "otherwise": ("1 finding about someone or something else", "{} findings about someone or something else"),
    "raised": ("1 severity raised", "{} severities raised"),
    "new": ("1 new finding", "{} new findings"),
    "reworded": ("1 finding in another text", "{} findings in another text"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One difference: what it is, and both sides where there are two."""

    label: str
    before: str = ""
    after: str = ""

    @property
    def short(self) -> bool:
        return len(self.before) + len(self.after) <= SHORT


@dataclass(frozen=True, slots=True)
class Row:
    """A finding that two reports tell differently."""

    finding: Finding  # as the newer report tells it, or as the older one did
    lines: list[Line]
    more: int  # differences beyond these
    told: Reported | None = None  # all of it, where only one of the reports tells it
    selection: str = ""


def changed_lately(case: Case) -> list[tuple[Step, str]]:
    """The newest step, and of those shortly before it each that took something back."""
    assert case.current_report is not None, "a case is saved together with its first report"
    if case.current_report.iteration == 1:
        return []
    told = steps(list(reports_of(case)[: LOOKED_BACK + 1]))
    return [(step, in_short(step)) for step in told if step is told[0] or step.says_less]


def in_short(step: Step | None) -> str:
    """A step in one line; none leads to the first report."""
    if step is None:
        return "the first report"
    told = ["the whole report is advisory now"] if step.turned_advisory else []
    told += ["the report’s own gate no longer asks for a review"] if step.review_lifted else []
    for name, (one, many) in COUNTED.items():
        number = getattr(step, name)
        told += [one if number == 1 else many.format(number)] if number else []
    return ", ".join(told) or "no finding changed"


def rows(found: Sequence[Change], subjects: tuple[Subject, Subject]) -> list[Row]:
    """`subjects`: as each of the two reports names it."""
    ids = [one.row for change in found for one in (change.before, change.after) if one]
    findings = Finding.objects.in_bulk(ids)
    return [row(change, findings, subjects) for change in found]


def row(change: Change, findings: dict[UUID, Finding], subjects: tuple[Subject, Subject]) -> Row:
    before, after = (findings[one.row] if one else None for one in (change.before, change.after))
    if before is None or after is None:
        only, subject = (before, subjects[0]) if before else (after, subjects[1])
        assert only is not None, "one of the reports tells it"
        lines = [Line(words.say("aspect", one.aspect)) for one in change.differences]
        return Row(only, lines, 0, reported(only, subject), words.say("selection", only.selection_why))
    raw = dict(members(before.content)), dict(members(after.content))
    told = [line(one, (before, after), raw, subjects) for one in change.differences[:MOST_LINES]]
    return Row(after, told, len(change.differences) - len(told))


def line(
    difference: Difference,
    findings: tuple[Finding, Finding],
    raw: tuple[dict[str, str], dict[str, str]],
    subjects: tuple[Subject, Subject],
) -> Line:
    label = words.say("aspect", difference.aspect)
    if difference.key:
        name = NAMED.get(difference.key, plain(difference.key))
        label = label if difference.key in {"title", "description"} else f"{label}: {name}"
        return sides(label, *(spoken(each.get(difference.key, "null")) for each in raw))
    return sides(label, *(side(difference.aspect, *each) for each in zip(findings, subjects, strict=True)))


def side(aspect: Aspect, finding: Finding, subject: Subject) -> str:
    """What one of the reports says, or makes our rules say, in this respect."""
    match aspect:
        case Aspect.SEVERITY_LOWERED | Aspect.SEVERITY_RAISED | Aspect.SEVERITY_REWORDED:
            return finding.severity
        case Aspect.NO_LONGER_DRIVING | Aspect.NOW_DRIVING:
            return words.say("selection", finding.selection_why)
        case Aspect.HIT_WITHDRAWN | Aspect.HIT_CLAIMED:
            return spoken(dict(members(finding.content)).get("hit", "null")) or "not stated"
        case Aspect.CANDIDATE_ONLY | Aspect.VERIFIED_SUBJECT:
            return words.say("lane", finding.lane)
        case Aspect.OTHER_TARGET:
            return read_finding(load(finding.content)).target or subject.name
        case Aspect.OTHER_KIND:
            return words.say("material", finding.material_type) if finding.material_type else "no kind that is known"
        case Aspect.LESS_CORROBORATED | Aspect.MORE_CORROBORATED:
            return f"{finding.corroboration_count} named"
        case Aspect.NO_SECOND_OFFICER | Aspect.SECOND_OFFICER:
            return "a second officer must agree" if finding.two_persons else "one officer is enough"
        case _:
            raise AssertionError(f"{aspect} has no two sides")


def sides(label: str, before: str, after: str) -> Line:
    """Both cut to where they part."""
    start = max(0, alike(before, after) - SAME_BEFORE) if max(len(before), len(after)) > MOST else 0
    return Line(label, cut(before, start), cut(after, start))


def alike(before: str, after: str) -> int:
    """How many characters the two have in common, halving what is in question: a text may have millions."""
    least, most = 0, min(len(before), len(after))
    while least < most:
        middle = (least + most + 1) // 2
        if before[least:middle] == after[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def cut(text: str, start: int) -> str:
    if not text:
        return NOTHING
    told = text[start : start + MOST]
    if len(told) == len(text):
        return text
    behind = " …" if start + MOST < len(text) else ""
    return f"{'… ' if start else ''}{told}{behind} ({len(text)} characters in all)"


def fields(before: dict[str, str], after: dict[str, str]) -> tuple[list[Line], int]:
    """What the newer report says otherwise outside its findings, and how much more there is."""
    paths = fields_otherwise(before, after)
    lines: list[Line] = []
    for name, inside in groupby(paths[:MOST_LINES], key=lambda path: path[0]):
        raw = [told.get(name, "null") for told in (before, after)]
        keys = [dict(members_of(each)) for each in raw]
        for _, *key in inside:
            values = [each.get(key[0], "null") for each in keys] if key else raw
            label = ", ".join(FIELDS.get(step, plain(step)) for step in (name, *key))
            lines.append(sides(label[:1].upper() + label[1:], *map(spoken, values)))
    return lines, len(paths) - len(lines)
