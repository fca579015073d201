"""What the shared scenarios expect of selection and labels follows from the rules alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SHARED
from verifier.domain.corroboration import label
from verifier.domain.findings import read_finding, recheck_order, select
from verifier.domain.subjects import read_subject, screening_query

SCENARIOS = sorted((SHARED / "scenarios").glob("*.json"))


def seen_of(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    findings = [read_finding(data) for data in report["findings"]]
    labels = label(findings, subject=report["subject"]["name"])
    return {
        finding.finding_id: {
            "selected": select(finding).selected,
            "why": select(finding).why,
            "corroboration_count": told.corroboration_count,
            "corroborated": told.corroborated,
            "source_trust": told.source_trust,
        }
        for finding, told in zip(findings, labels, strict=True)
    }


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenarios_findings_are_selected_and_labelled_as_it_expects(path: Path) -> None:
    scenario = json.loads(path.read_text())
    seen = seen_of(scenario["report"])
    expected = {
        (finding_id, name): value
        for finding_id, wanted in scenario["expect"]["findings"].items()
        for name, value in wanted.items()
        if name in seen[finding_id]
    }
    assert {(finding_id, name): seen[finding_id][name] for finding_id, name in expected} == expected


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("01_sanctions_claim_contradicted", "Company"),
        ("02_sanctions_hit_confirmed", "Company"),
        ("03_person_confirmed", "Person"),
    ],
)
def test_a_scenarios_subject_is_screened_with_the_schema_it_expects(name: str, schema: str) -> None:
    scenario = json.loads((SHARED / "scenarios" / f"{name}.json").read_text())
    assert scenario["expect"]["requests"]["opensanctions"]["schema"] == schema
    subject = read_subject(scenario["report"]["subject"])
    assert screening_query(read_finding(scenario["report"]["findings"][0]), subject).schema == schema


def test_the_cap_leaves_the_last_of_nine_for_a_person() -> None:
    report = json.loads((SHARED / "scenarios" / "10_over_the_cap.json").read_text())["report"]
    pairs = [(finding, select(finding)) for finding in map(read_finding, report["findings"])]
    assert [pairs[place][0].finding_id for place in recheck_order(pairs)][6:] == ["s7", "s8", "s9"]
