"""The shape of a report: all that is wrong is told at once, each with its path; unknown keys are nobody's business."""

import json
from typing import Any

import pytest

from tests.paths import SHARED
from verifier.domain.json_text import read
from verifier.schemas import REPORT_SCHEMA, find_problems

SCENARIOS = sorted((SHARED / "scenarios").glob("*.json"))


def report(**changes: Any) -> dict[str, Any]:
    return {"report_id": "r-1", "subject": {"name": "Acme"}, "findings": [finding()], **changes}


def finding(**changes: Any) -> dict[str, Any]:
    return {"id": "f1", "severity": "high", "title": "Listed", **changes}


def problems_of(value: Any) -> dict[str, str]:
    return {problem.path: problem.message for problem in find_problems(read(json.dumps(value).encode()))}


def paths_of(value: Any) -> list[str]:
    return list(problems_of(value))


@pytest.mark.parametrize("value", [None, True, 1, "text", [], [{}]])
def test_it_refuses_what_is_no_object(value: Any) -> None:
    assert paths_of(value) == ["$"]


def test_it_tells_everything_that_is_missing_at_once() -> None:
    assert problems_of({}) == dict.fromkeys(["$.report_id", "$.subject", "$.findings"], "is required")
    assert problems_of({"report_id": None, "subject": {}, "findings": [{}, finding(), {"id": "x"}]}) == dict.fromkeys(
        [
            *["$.report_id", "$.subject.name", "$.findings[0].id", "$.findings[0].severity", "$.findings[0].title"],
            *["$.findings[2].severity", "$.findings[2].title"],
        ],
        "is required",
    )


@pytest.mark.parametrize(
    ("value", "path"),
    [
        *[(report(report_id=bad), "$.report_id") for bad in (1, True, [], {}, "", "  ", "a\0b", "x" * 201)],
        *[(report(subject=bad), "$.subject") for bad in ("Acme", [], 1, True)],
        *[(report(subject={"name": bad}), "$.subject.name") for bad in (1, [], "", "\t\n", "x" * 501)],
        *[
            (report(subject={"name": "A", key: bad}), f"$.subject.{key}")
            for key in ("entity_type", "country", "registration_number", "birth_date", "nationality")
            for bad in (1, 1.5, True, [], {}, ["EE"])
        ],
        *[(report(subject={"name": "A", "aliases": bad}), "$.subject.aliases") for bad in ("B", {}, 1)],
        (report(subject={"name": "A", "aliases": ["B", 1]}), "$.subject.aliases[1]"),
        (report(subject={"name": "A", "aliases": [None]}), "$.subject.aliases[0]"),
        *[(report(subject={"name": "A", "identifiers": bad}), "$.subject.identifiers") for bad in ("x", [], 1)],
        *[(report(findings=bad), "$.findings") for bad in ({}, "x", 1, True)],
        *[(report(findings=[finding(), bad]), "$.findings[1]") for bad in (None, "x", 1, [], True)],
        *[(report(findings=[finding(id=bad)]), "$.findings[0].id") for bad in (1, "", " ", "a\0", "x" * 201)],
        *[(report(findings=[finding(severity=bad)]), "$.findings[0].severity") for bad in (1, "", " ", [], "x" * 101)],
        *[(report(findings=[finding(title=bad)]), "$.findings[0].title") for bad in (1, "", "\n", {})],
        *[
            (report(findings=[finding(**{key: bad})]), f"$.findings[0].{key}")
            for key in ("category", "type", "description", "source", "_provider", "source_url")
            for bad in (1, True, [], {})
        ],
        *[
            (report(findings=[finding(**{key: bad})]), f"$.findings[0].{key}")
            for key in ("target", "status", "rule_id", "regulatory_basis")
            for bad in (1, True, [], {})
        ],
        *[
            (report(findings=[finding(attribution_lane=bad)]), "$.findings[0].attribution_lane")
            for bad in ("verified", "Subject", "", 1, [], {})
        ],
        *[(report(findings=[finding(hit=bad)]), "$.findings[0].hit") for bad in ("true", 1, 0, [], {})],
        *[(report(findings=[finding(confidence=bad)]), "$.findings[0].confidence") for bad in ("0.9", True, [])],
        *[(report(findings=[finding(details=bad)]), "$.findings[0].details") for bad in ("x", 1, [], True)],
        *[
            (report(iteration=bad), "$.iteration")
            for bad in (0, -1, 1.0, 1.5, 1e3, True, "1", [], 2**31, 10**40, float("1e300"))
        ],
        *[
            (report(created_at=bad), "$.created_at")
            for bad in (
                *(1, True, [], "", "yesterday", "2026-07-18", "2026-07-18T09:12:00", "2026-07-18 09:12:00Z"),
                *("2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-07-18T24:00:00Z", "2026-07-18T09:60:00Z"),
                *("2026-07-18T09:12:61Z", "2026-07-18T09:12:00+25:00", "2026-07-18T09:12:00+0200", "20260718T091200Z"),
                *("2026-07-18T09:12Z", "2026-07-18T09:12:00Z\n", "２０２６-07-18T09:12:00Z", "2026-07-18T09:12:00.Z"),
            )
        ],
        *[(report(quality_gate=bad), "$.quality_gate") for bad in ("x", 1, [], True)],
        *[
            (report(quality_gate={key: bad}), f"$.quality_gate.{key}")
            for key in ("advisory_only", "forces_review")
            for bad in ("false", "true", 0, 1, None, [], {})
        ],
        *[(report(documents=bad), "$.documents") for bad in ("x", 1, {}, True)],
        (report(documents=[{"document_id": "d1"}, "x"]), "$.documents[1]"),
        *[
            (report(documents=[{"document_id": "d1", key: bad}]), f"$.documents[0].{key}")
            for key in ("file_name", "revision", "text")
            for bad in (1, [], {}, True)
        ],
        *[(report(documents=[{"document_id": bad}]), "$.documents[0].document_id") for bad in (1, "", "a\0", [])],
    ],
)
def test_it_refuses_a_wrong_shape_by_its_path(value: Any, path: str) -> None:
    assert paths_of(value) == [path]


@pytest.mark.parametrize(
    "value",
    [
        report(),
        report(findings=[]),
        report(iteration=None, created_at=None, quality_gate=None, documents=None),
        report(iteration=1),
        report(iteration=2**31 - 1),
        report(report_id="x" * 200, subject={"name": "x" * 500}),
        report(subject={"name": "A\0B", **dict.fromkeys(("entity_type", "country", "aliases", "identifiers"))}),
        report(
            subject={"name": "A", "entity_type": "spaceship", "aliases": [], "identifiers": {"any": [1]}, "born": 7}
        ),
        report(findings=[finding(**dict.fromkeys(("hit", "confidence", "details", "target", "attribution_lane")))]),
        report(findings=[finding(title="a\0b", severity="CATASTROPHIC", hit=False, confidence=7, anything=[None])]),
        report(findings=[finding(attribution_lane="unverified_candidate"), finding(id="F1"), finding(id="f1 ")]),
        report(findings=[finding(verdict="confirmed", selection=7, decision=[], source_trust="high", reported=None)]),
        report(quality_gate={}),
        report(quality_gate={"advisory_only": True, "forces_review": False, "overall": 7.1}),
        report(documents=[{}, {"document_id": None}, {"document_id": "d"}, {"text": "…", "pages": 3}]),
        *[
            report(created_at=moment)
            for moment in (
                *("2026-07-18T09:12:00Z", "2026-07-18t09:12:00z", "2026-07-18T09:12:00.123456789+02:00"),
                *("2016-12-31T23:59:60Z", "2024-02-29T00:00:00-11:30", "0001-01-01T00:00:00Z"),
            )
        ],
    ],
)
def test_it_takes_what_is_allowed_and_leaves_unknown_keys_alone(value: Any) -> None:
    assert problems_of(value) == {}


def test_it_points_at_the_second_of_two_equal_ids() -> None:
    findings = [finding(), finding(id="f2"), finding(), finding(id="f2"), finding()]
    assert problems_of(report(findings=findings)) == {
        "$.findings[2].id": "is the same as that of $.findings[0]",
        "$.findings[3].id": "is the same as that of $.findings[1]",
        "$.findings[4].id": "is the same as that of $.findings[0]",
    }
    documents = [{"document_id": "d"}, {"document_id": "d"}]
    assert paths_of(report(documents=documents)) == ["$.documents[1].document_id"]


def test_it_tells_problems_of_every_part_together() -> None:
    value = report(
        iteration=0,
        subject={"name": 7},
        quality_gate={"advisory_only": "no"},
        findings=[finding(hit=1), finding(title="")],
    )
    assert paths_of(value) == [
        "$.subject.name",
        "$.findings[0].hit",
        "$.findings[1].title",
        "$.findings[1].id",
        "$.iteration",
        "$.quality_gate.advisory_only",
    ]


def test_the_documented_example_is_a_report() -> None:
    assert problems_of(REPORT_SCHEMA["example"]) == {}


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_reports_of_every_scenario_are_reports(path: Any) -> None:
    assert problems_of(json.loads(path.read_text())["report"]) == {}
