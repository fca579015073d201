"""One finding in full: what the report says, what its source says, and what people said."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from reviews import words
from reviews.models import Decision, Standing
from reviews.views.decided import Decided, decided, decisions_of
from reviews.views.evidence import Evidence, shown_evidence
from reviews.views.finding_list import standings_of
from reviews.views.finding_rows import earlier_from, gone, in_force, row_state
from reviews.views.presenting import Corroboration, Reported, corroboration, reported
from verifier.domain.corroboration import Labels, source_name, source_of
from verifier.domain.findings import read_finding
from verifier.domain.json_text import load
from verifier.domain.subjects import Subject, read_subject
from verifier.models import Case, Finding, FindingVerdict

NOT_ASKED = "not_asked"  # the kind of evidence of a finding no provider was asked about


@dataclass(frozen=True, slots=True)
class Item:
    """The finding in view."""

    row: Finding
    reported: Reported
    selection: str
    state: str
    standing: Standing | None
    verdict: FindingVerdict | None
    evidence: Evidence | None
    labels: Corroboration | None
    decisions: list[Decided] = field(default_factory=list)
    earlier: list[FindingVerdict] = field(default_factory=list)
    gone: str = ""  # which report told it last, where the newest one doesn't
    earlier_from: datetime | None = None  # of a verdict that an earlier re-check gave

    @property
    def selected(self) -> bool:
        return self.standing is not None

    @property
    def verdict_code(self) -> str:
        return self.standing.verdict if self.standing else "none"

    @property
    def answer_id(self) -> str:
        """What the answer in view is: another one is another answer."""
        return f"{self.verdict_code}-{self.verdict.id if self.verdict else ''}"

    @property
    def simulated(self) -> bool:
        return bool(self.verdict and self.verdict.simulated)

    @property
    def took(self) -> int | None:
        """How long the answer took, where somebody was asked and it was measured."""
        if self.verdict is None or self.verdict.evidence.get("kind") == NOT_ASKED:
            return None
        return self.verdict.duration_ms or None

    @property
    def sentence(self) -> str:
        if self.verdict:
            return self.verdict.reason
        return words.CAUSES["unrecorded"] if self.verdict_code == "indeterminate" else "The re-check is under way."


def subject_of(case: Case) -> Subject:
    return read_subject(load(case.current_report.subject))  # type: ignore[union-attr]


def items(case: Case, findings: list[Finding]) -> list[Item]:
    """Each of these findings as the one in view."""
    standing = standings_of(case, findings)
    told = told_of(case, findings)
    sources = sources_of(findings)
    subject = subject_of(case)
    return [
        item(case, one, standing.get(one.id), told[one.finding_id], sources.get(one.id, ()), subject)
        for one in findings
    ]


@dataclass(slots=True)
class ToldOf:
    """All that was ever said under one finding id, newest first."""

    verdicts: list[FindingVerdict] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)


def told_of(case: Case, findings: list[Finding]) -> defaultdict[str, ToldOf]:
    names = {one.finding_id for one in findings}
    verdicts = FindingVerdict.objects.filter(case=case, finding__finding_id__in=names).select_related("finding")
    unread = ("finding__content",) if len(findings) > 1 else ("evidence", "finding__content")
    told: defaultdict[str, ToldOf] = defaultdict(ToldOf)
    for verdict in verdicts.defer(*unread).order_by("-recorded_at", "-id"):
        told[verdict.finding.finding_id].verdicts.append(verdict)
    for decision in decisions_of(case, names):
        told[decision.finding.finding_id].decisions.append(decision)
    return told


def item(
    case: Case,
    finding: Finding,
    standing: Standing | None,
    told: ToldOf,
    sources: tuple[str, ...],
    subject: Subject,
) -> Item:
    verdict = in_force(standing, {one.id: one for one in told.verdicts})
    return Item(
        row=finding,
        reported=reported(finding, subject),
        selection=selection(finding, standing),
        state=row_state(finding, standing),
        standing=standing,
        verdict=verdict,
        evidence=shown_evidence(verdict) if verdict else None,
        labels=labels(finding, sources),
        decisions=[decided(one, finding, standing) for one in told.decisions],
        earlier=[one for one in told.verdicts if one != verdict],
        gone=gone(finding, case),
        earlier_from=earlier_from(standing, verdict),
    )


def selection(finding: Finding, standing: Standing | None) -> str:
    if finding.selected and standing is None:
        return f"meant to be re-checked, {words.say('selection', finding.selection_why).removeprefix('checked ')}"
    return words.say("selection", finding.selection_why)


def sources_of(findings: list[Finding]) -> dict[UUID, tuple[str, ...]]:
    """The sources behind each label's count: those of all findings of its report that say the same."""
    counted = [one for one in findings if one.corroboration_group]
    groups = {(one.report_id, one.corroboration_group) for one in counted}
    together = Finding.objects.filter(
        report_id__in={report_id for report_id, _ in groups}, corroboration_group__in={group for _, group in groups}
    )
    found: defaultdict[tuple[UUID, str], set[str]] = defaultdict(set)
    for report_id, group, content in together.values_list("report_id", "corroboration_group", "content"):
        found[report_id, group].add(source_name(source_of(read_finding(load(content)))))
    return {one.id: tuple(sorted(found[one.report_id, one.corroboration_group] - {""})) for one in counted}


def labels(finding: Finding, sources: tuple[str, ...]) -> Corroboration | None:
    """The stored labels; none where the report was taken in without."""
    if finding.corroboration_count is None or finding.source_trust is None:
        return None
    count = finding.corroboration_count
    return corroboration(Labels(finding.source_trust, count, count >= 2, count < 2, sources))
