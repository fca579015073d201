"""What a newer report says otherwise, by each aspect; what it takes back comes first, and nothing is left out."""

import json
import time
from typing import Any
from uuid import uuid4

import pytest

from verifier.domain.changes import WEAKER, Aspect, Change, Told, changes, fields_changed
from verifier.domain.findings import classify_material_type, needs_two_persons, read_finding, select, severity_rank
from verifier.domain.json_text import load

NAME = "Acme Trading OÜ"
FINDING = {
    "id": "f1",
    "category": "adverse_media",
    "type": "adverse_media_hit",
    "severity": "high",
    "title": "Reported on",
    "description": "A newspaper wrote of it.",
    "source": "Gazette",
}


def told(position: int = 0, count: int | None = None, text: str = "", **said: Any) -> Told:
    """As intake reads it."""
    value = {key: each for key, each in (FINDING | said).items() if each is not ...}
    finding = read_finding(value)
    kind = classify_material_type(finding)
    return Told(
        row=uuid4(),
        finding_id=value["id"],
        position=position,
        severity=value["severity"],
        severity_rank=severity_rank(value["severity"]),
        content=text or json.dumps(value),
        selected=select(finding).selected,
        material_type=kind or "",
        lane=finding.attribution_lane,
        two_persons=needs_two_persons(finding, kind),
        corroboration_count=count,
    )


def between(before: list[Told], after: list[Told], subject: str = NAME) -> list[Change]:
    return changes(before, after, subject_before=NAME, subject_after=subject)


def aspects(before: Told, after: Told, subject: str = NAME) -> list[str]:
    return [one.aspect for change in between([before], [after], subject) for one in change.differences]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, []),
        ({"severity": "critical"}, {"severity": "medium"}, ["severity_lowered"]),
        ({"severity": "medium"}, {"severity": "critical"}, ["severity_raised"]),
        ({"severity": "critical"}, {"severity": "Critical"}, ["severity_reworded"]),
        ({}, {"severity": "low"}, ["severity_lowered", "no_longer_driving"]),
        ({}, {"hit": False}, ["no_longer_driving", "hit_withdrawn"]),
        ({"hit": True}, {}, ["hit_withdrawn"]),
        ({"hit": False}, {}, ["now_driving", "hit_claimed"]),
        ({}, {"hit": True}, ["hit_claimed"]),
        ({"hit": False}, {"hit": True}, ["now_driving", "hit_claimed"]),
        ({}, {"status": "clear"}, ["no_longer_driving", "other_key"]),
        ({}, {"attribution_lane": "unverified_candidate"}, ["candidate_only"]),
        ({}, {"attribution_lane": "subject"}, []),
        ({"attribution_lane": "unverified_candidate"}, {}, ["verified_subject"]),
        ({}, {"target": "Beta Holding"}, ["other_target"]),
        ({}, {"target": " ACME  trading oü"}, []),
        ({"target": "Beta"}, {}, ["other_target"]),
        (
            {"category": "criminal", "type": "charge"},
            {"category": "enforcement", "type": "fine"},
            ["no_second_officer", "other_kind", "other_key", "other_key"],
        ),
        ({}, {"category": "criminal"}, ["other_kind", "second_officer", "other_key"]),
        ({"count": 2}, {"count": 1}, ["less_corroborated"]),
        ({"count": 1}, {"count": 3}, ["more_corroborated"]),
        ({"count": 2}, {"count": None}, []),
        ({}, {"source": None}, ["source_gone"]),
        ({}, {"source": "  "}, ["source_gone"]),
        ({}, {"source": "Tribune"}, ["source_changed"]),
        ({}, {"source_url": "https://a.example"}, ["source_added"]),
        ({}, {"_provider": "exa"}, ["source_added"]),
        ({}, {"title": "Reported on again"}, ["title"]),
        ({}, {"description": "A newspaper hinted at it."}, ["description"]),
        ({}, {"description": ...}, ["description"]),
        ({}, {"confidence": 0.5}, ["other_key"]),
        ({"details": {"a": [1, 2]}}, {"details": {"a": [1, 3]}}, ["other_key"]),
        ({"details": {"a": 1, "b": 2}}, {"details": {"b": 2, "a": 1}}, []),
        ({}, {"rule_id": None}, []),
    ],
)
def test_every_difference_has_its_aspect(before: dict[str, Any], after: dict[str, Any], expected: list[str]) -> None:
    assert aspects(told(**before), told(**after)) == expected


def test_another_subject_makes_every_finding_that_names_none_one_about_someone_else() -> None:
    assert aspects(told(), told(), "Beta Holding") == ["other_target"]
    assert aspects(told(target=NAME), told(target=NAME), "Beta Holding") == []


def test_spelling_as_json_is_no_difference_and_the_spelling_of_a_number_is() -> None:
    assert aspects(told(), told(text=json.dumps(FINDING, indent=4))) == []
    assert aspects(told(text='{"id": "f1", "n": 1.0}'), told(text='{"id": "f1", "n": 1.00}')) == ["other_key"]


def test_a_finding_that_one_report_alone_tells_is_gone_or_new() -> None:
    old, new = told(id="f1"), told(id="f2")
    gone, added = between([old], [new])
    assert (gone.before, gone.after, gone.differences[0].aspect) == (old, None, "gone")
    assert (added.before, added.after, added.differences[0].aspect) == (None, new, "new")


def test_what_is_taken_back_comes_first_and_of_that_the_gravest() -> None:
    severities = {"a": "medium", "b": "critical", "c": "critical", "d": "high", "e": "high", "g": "critical"}
    before = [told(place, id=name, severity=severity) for place, (name, severity) in enumerate(severities.items())]
    changed = {"c": {"severity": "low"}, "d": {"attribution_lane": "unverified_candidate"}, "e": {"title": "Other"}}
    after = [told(place, **{"id": name, "severity": severities[name]} | each) for place, (name, each) in
             enumerate(changed.items())]  # fmt: skip
    after += [told(8, id="g", severity="critical"), told(9, id="n", severity="critical")]
    assert [(one.before or one.after).finding_id for one in between(before, after)] == ["b", "a", "c", "d", "e", "n"]  # type: ignore[union-attr]


def test_a_change_of_several_aspects_stands_under_the_first() -> None:
    [change] = between([told()], [told(title="Other", severity="medium", source="")])
    assert [one.aspect for one in change.differences] == ["severity_lowered", "source_gone", "title"]


def test_weaker_is_all_that_takes_something_back_and_nothing_else() -> None:
    told_first = list(Aspect)[: len(WEAKER)]
    assert set(told_first) == WEAKER
    assert {Aspect.GONE, Aspect.SEVERITY_LOWERED, Aspect.SOURCE_GONE} <= WEAKER
    assert WEAKER.isdisjoint({Aspect.NEW, Aspect.SEVERITY_RAISED, Aspect.TITLE})


def test_twenty_thousand_findings_take_linear_time() -> None:
    before = [told(place, id=f"x{place}") for place in range(20_000)]
    after = [told(place, id=f"x{place}", severity="medium") for place in range(10_000, 30_000)]
    started = time.process_time()
    found = between(before, after)
    assert time.process_time() - started < 10
    assert [one.differences[0].aspect for one in found] == (
        ["gone"] * 10_000 + ["severity_lowered"] * 10_000 + ["new"] * 10_000
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, []),
        ({"findings": [1], "iteration": 1, "report_id": "a"}, {"findings": [], "iteration": 2, "report_id": "a"}, []),
        ({"answer": "stop"}, {"answer": "go"}, [("answer",)]),
        ({"recommendation": "reject"}, {}, [("recommendation",)]),
        ({}, {"risk": None}, []),
        ({"risk": 1.0}, {"risk": 1.5}, [("risk",)]),
        (
            {"subject": {"name": "A", "country": "EE"}},
            {"subject": {"name": "B"}},
            [("subject", "name"), ("subject", "country")],
        ),
        ({"subject": {"aliases": ["A"]}}, {"subject": {"aliases": ["B"]}}, [("subject", "aliases")]),
        ({"quality_gate": None}, {"quality_gate": {"advisory_only": True}}, [("quality_gate", "advisory_only")]),
        (
            {"created_at": "2026", "zone": 1, "decision": "no", "quality_gate": {"advisory_only": False}},
            {"created_at": "2027", "zone": 2, "decision": "yes", "quality_gate": {"advisory_only": True}},
            [("quality_gate", "advisory_only"), ("decision",), ("zone",), ("created_at",)],
        ),
    ],
)
def test_fields_outside_the_findings(
    before: dict[str, Any], after: dict[str, Any], expected: list[tuple[str, ...]]
) -> None:
    assert fields_changed(load(json.dumps(before)), load(json.dumps(after))) == expected
