from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verifier.domain.samples import finding
from verifier.domain.findings import (
    Why,
    claim_fingerprint,
    classify_material_type,
    needs_two_persons,
    read_finding,
    recheck_order,
    select,
    severity_rank,
)

CLEAN, NETWORK, COVERAGE = Why.NOT_SELECTED_CLEAN, Why.NOT_SELECTED_NETWORK, Why.NOT_SELECTED_COVERAGE
NO_MATCH = "No matches found on consolidated lists"


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"category": "sanctions", "severity": "critical"}, Why.SEVERITY),
        ({"category": "sanctions", "severity": "CRITICAL "}, Why.SEVERITY),
        ({"category": "virtual_office", "severity": "high"}, Why.SEVERITY),
        ({"category": "criminal", "severity": "medium"}, Why.MATERIAL_TYPE),
        ({"category": "virtual_office", "severity": "medium"}, Why.NOT_SELECTED_OTHER),
        ({"category": "virtual_office", "severity": "low"}, Why.NOT_SELECTED_OTHER),
        # an unknown or missing severity adds scrutiny
        ({"category": "virtual_office", "severity": "urgent"}, Why.SEVERITY),
        ({"category": "virtual_office", "severity": ""}, Why.SEVERITY),
        # clean by severity
        ({"category": "sanctions", "severity": "low", "title": NO_MATCH}, CLEAN),
        ({"category": "sanctions", "severity": "low", "title": "Subject designated"}, CLEAN),
        *[
            ({"category": "sanctions", "severity": severity}, CLEAN)
            for severity in ("info", "Informational", "NONE", "verified", "VERIFIED_CLEAR", "verified-clear")
        ],
        # clean by its own signal, whatever the severity
        ({"category": "sanctions", "severity": "high", "hit": False}, CLEAN),
        ({"category": "sanctions", "severity": "critical", "status": "CLEAR"}, CLEAN),
        ({"category": "sanctions", "severity": "urgent", "hit": False}, CLEAN),
        # clean by the whole title, only where something was screened
        ({"category": "sanctions", "severity": "high", "title": NO_MATCH}, CLEAN),
        ({"category": "pep_match", "severity": "high", "title": NO_MATCH}, CLEAN),
        *[
            ({"category": "sanctions", "severity": "high", "title": NO_MATCH, "description": said}, CLEAN)
            for said in ("Screened against OFAC and EU lists; no designation.", "The subject isn't designated.", "")
        ],
        # a description that says otherwise keeps it in
        *[
            ({"category": "sanctions", "severity": "critical", "title": NO_MATCH, "description": said}, Why.SEVERITY)
            for said in (
                "Subject was designated on 3 March 2026 by OFAC.",
                "No match on the EU list. The prosecutor charged the subject with fraud.",
            )
        ],
        ({"category": "virtual_office", "severity": "high", "title": NO_MATCH}, Why.SEVERITY),
        ({"category": "sanctions", "severity": "high", "description": NO_MATCH}, Why.SEVERITY),
        ({"category": "sanctions", "title": "No matches found for director, but subject designated"}, Why.SEVERITY),
        # signals that contradict each other add scrutiny
        ({"category": "sanctions", "severity": "high", "hit": True, "status": "clear"}, Why.SEVERITY),
        ({"category": "sanctions", "severity": "low", "hit": True, "title": NO_MATCH}, Why.MATERIAL_TYPE),
        ({"category": "sanctions", "severity": "verified", "hit": True}, Why.MATERIAL_TYPE),
        ({"category": "sanctions", "severity": "high", "hit": False, "status": "hit"}, Why.SEVERITY),
        ({"category": "sanctions", "severity": "high", "status": "hit", "title": NO_MATCH}, Why.SEVERITY),
        ({"category": "pep_match", "severity": "low", "hit": True}, Why.MATERIAL_TYPE),
        # about others
        ({"category": "sanctions", "type": "network_sanctions_review_required"}, NETWORK),
        ({"type": "Network-Sanctions-Confirmed", "severity": "critical", "hit": True}, NETWORK),
        ({"category": "sanctions", "title": "Network entities flagged for sanctions review"}, NETWORK),
        ({"category": "sanctions", "title": "Related parties and subject designated"}, Why.SEVERITY),
        ({"category": "ownership", "title": "Related companies share an address"}, Why.SEVERITY),
        ({"category": "sanctions", "title": "Related companies designated", "hit": True}, Why.SEVERITY),
        # gaps in coverage
        ({"category": "adverse_media", "type": "adverse_media_recall_gap"}, COVERAGE),
        ({"type": "ADVERSE-MEDIA-RECALL-GAP", "hit": True}, COVERAGE),
        ({"category": "sanctions", "type": "sanctions_screening_gap", "severity": "critical"}, COVERAGE),
        ({"category": "adverse_media", "type": "screening_error"}, COVERAGE),
        ({"category": "adverse_media_unavailable"}, COVERAGE),
        ({"category": "sanctions", "status": "not_screened"}, COVERAGE),
        ({"category": "sanctions", "status": "Not screened"}, COVERAGE),
        ({"category": "sanctions", "status": "error", "hit": True}, Why.SEVERITY),
        ({"category": "criminal", "status": "indeterminate"}, Why.SEVERITY),
        ({"category": "source_of_funds_missing"}, Why.SEVERITY),
        ({"category": "sanctions", "type": "sanctions_match_partial"}, Why.SEVERITY),
    ],
)
def test_it_selects_what_drives_a_decision(keys: dict[str, Any], why: Why) -> None:
    selection = select(finding(**keys))
    assert selection.why is why
    assert selection.selected is (why in {Why.SEVERITY, Why.MATERIAL_TYPE})


@pytest.mark.parametrize("value", [1, "false", [], None, {"hit": True}])
def test_an_odd_hit_clears_nothing(value: object) -> None:
    assert select(finding(category="sanctions", hit=value)).selected


def test_the_most_severe_come_first_then_sanctions_and_criminal_then_as_reported() -> None:
    reported = [
        finding(category="adverse_media", severity="medium"),
        finding(category="virtual_office", severity="high"),
        finding(category="sanctions", severity="low"),
        finding(category="enforcement", severity="critical"),
        finding(category="criminal", severity="critical"),
        finding(category="sanctions", severity="critical"),
        finding(category="sanctions", severity="strange"),
        finding(category="sanctions", severity="low", hit=True),
    ]
    assert recheck_order([(one, select(one)) for one in reported]) == [4, 5, 3, 6, 1, 0, 7]


@pytest.mark.parametrize(
    ("severity", "rank"),
    [("Critical", 0), ("high", 1), ("catastrophic", 1), ("", 1), ("medium", 2), ("LOW", 3), ("verified", 4)],
)
def test_severities_rank(severity: str, rank: int) -> None:
    assert severity_rank(severity) == rank


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=30) | st.lists(st.integers(), max_size=2)
TELLING = ["sanctions", "criminal", "adverse_media_recall_gap", "network_sanctions_review_required", "high", "low"]
TITLES = ["No matches found", "Network entities flagged for sanctions review", "clear", "hit", "Ünïcode\u0000"]
WORDS = st.sampled_from([*TELLING, *TITLES])
KEYS = ["id", "category", "type", "severity", "title", "description", "source", "_provider", "target", "hit", "status"]
REPORTED = st.fixed_dictionaries({}, optional=dict.fromkeys([*KEYS, "attribution_lane"], VALUES | WORDS))


@given(st.lists(REPORTED, max_size=12))
def test_any_report_is_read_and_every_finding_of_it_answered_for(report: list[dict[str, Any]]) -> None:
    before = [dict(one) for one in report]
    pairs = [(one, select(one)) for one in map(read_finding, report)]
    assert len(pairs) == len(report)
    assert sorted(recheck_order(pairs)) == [place for place, (_, one) in enumerate(pairs) if one.selected]
    assert report == before


@given(REPORTED)
def test_an_explicit_hit_is_never_left_alone_but_for_its_type(data: dict[str, Any]) -> None:
    selection = select(read_finding({**data, "hit": True}))
    assert selection.selected or selection.why in {NETWORK, COVERAGE}
    assert select(read_finding({**data, "hit": True, "category": "sanctions", "type": "sanctions_hit"})).selected


@pytest.mark.parametrize(
    ("category", "type_", "two"),
    [
        ("sanctions", "sanctions_hit", True),
        ("criminal", "", True),
        ("virtual_office", "", True),  # a kind we don't know
        ("adverse_media", "adverse_media_hit", False),
        ("regulatory", "", False),
        ("enforcement", "regulatory_action", False),
        # a grave code beside a broad one, in whatever spelling
        ("adverse_media", "sanctions_designation_eu_annex", True),
        ("adverse_media", "criminal_complaint", True),
        ("adverse_media", "Money-Laundering case file", True),
        ("regulatory", "\u0421anctions hit", True),  # a Cyrillic letter
        ("adverse_media", "embargo_breach_x", True),
    ],
)
def test_setting_aside_needs_two_where_it_could_be_about_sanctions_or_crime(
    category: str, type_: str, two: bool
) -> None:
    for severity in ("critical", "high", "catastrophic", "medium"):
        told = finding(category=category, type=type_, severity=severity)
        assert needs_two_persons(told, classify_material_type(told)) is two


def test_a_claim_is_the_same_only_of_the_same_one_and_kind() -> None:
    def claim(subject: str = "Acme Trading O\u00dc", **keys: Any) -> str:
        told = finding(**{"category": "sanctions", **keys})
        return claim_fingerprint(told, classify_material_type(told), subject)

    assert claim() == claim(title="Told otherwise", severity="high") == claim(target=" ACME  trading o\u00dc ")
    assert len({claim(), claim("Other Trading"), claim(target="Other"), claim(category="criminal")}) == 4
