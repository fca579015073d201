import pytest

from tests.verifier.domain.samples import finding
from verifier.domain.findings import MaterialType, classify_material_type, is_adverse

SANCTIONS, CRIMINAL = MaterialType.SANCTIONS, MaterialType.CRIMINAL
ENFORCEMENT, REGULATORY, ADVERSE = MaterialType.ENFORCEMENT, MaterialType.REGULATORY_ACTION, MaterialType.ADVERSE_MEDIA


@pytest.mark.parametrize(
    ("category", "type_", "kind"),
    [
        ("sanctions", "", SANCTIONS),
        ("SANCTIONS", "", SANCTIONS),
        ("", "sanctions_hit", SANCTIONS),
        ("", "Sanctions-Hit", SANCTIONS),
        ("", "eu sanctions list match", SANCTIONS),
        ("director_sanctions", "", SANCTIONS),
        ("criminal", "", CRIMINAL),
        ("", "entity_criminal_investigation", CRIMINAL),
        ("", "entityCriminalInvestigation", CRIMINAL),
        ("money_laundering", "", CRIMINAL),
        ("sanctions_evasion", "", CRIMINAL),
        ("enforcement_action", "", ENFORCEMENT),
        ("sanctions_enforcement", "", ENFORCEMENT),
        ("regulatory", "", REGULATORY),
        ("disciplinary_action", "", REGULATORY),
        ("adverse media", "", ADVERSE),
        ("adverse_media_hit", "", ADVERSE),
        ("adverse_media", "criminal_investigation", CRIMINAL),
        ("adverse_media", "regulatory_action", ADVERSE),
        ("sanctions", "something_else", SANCTIONS),
        ("virtual_office", "", None),
        ("pep_match", "", None),
        ("data_breach", "", None),
        ("regulatory_filing", "", None),
        ("no_sanctions", "", None),
        ("", "", None),
        ("adverse_media", "adverse_media_recall_gap", None),
        ("sanctions", "sanctions_screening_gap", None),
        ("sanctions", "screening_error", None),
    ],
)
def test_the_kind_follows_from_the_taxonomy(category: str, type_: str, kind: MaterialType | None) -> None:
    assert classify_material_type(finding(category=category, type=type_)) == kind


def test_prose_makes_no_kind() -> None:
    assert classify_material_type(finding(title="Sanctions", description="criminal adverse media")) is None


@pytest.mark.parametrize("kind", list(MaterialType))
def test_only_sanctions_claims_are_screened(kind: MaterialType) -> None:
    assert is_adverse(kind) is (kind is not SANCTIONS)
