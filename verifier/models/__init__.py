"""What the machine knows: cases as reported, runs, verdicts, screening answers, and who may send reports."""

from verifier.models.access import ApiKey, Switch
from verifier.models.cases import Case, Finding, Report, SearchText
from verifier.models.law import LawArticle, LawImport, LawText
from verifier.models.runs import FindingVerdict, ScreeningRecord, Verification

__all__ = [
    "ApiKey",
    "Case",
    "Finding",
    "FindingVerdict",
    "LawArticle",
    "LawImport",
    "LawText",
    "Report",
    "ScreeningRecord",
    "SearchText",
    "Switch",
    "Verification",
]
