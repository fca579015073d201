"""The case page's context: identity, what is running, the findings, and the one in view with its evidence."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.urls import reverse

from reviews import words
from reviews.cases import earlier_findings
from reviews.models import Claim, Decision, Standing, User, Waiting
from reviews.standing import standings
from reviews.views.decided import Decided, decided, decisions_of
from reviews.views.evidence import Evidence, shown_evidence
from reviews.views.presenting import Corroboration, Reported, corroboration, reported
from verifier.domain.corroboration import Labels, label
from verifier.domain.findings import read_finding
from verifier.domain.gate import SENTENCES, ReviewReason
from verifier.domain.json_text import load
from verifier.domain.subjects import read_subject
from verifier.models import Case, Finding, FindingVerdict, Verification


@dataclass(frozen=True, slots=True)
class Progress:
    sentence: str
    times: str
    done: int
    of: int


@dataclass(frozen=True, slots=True)
class Row:
    """A finding in the list."""

    id: UUID
    title: str
    severity: str
    severity_rank: int
    selected: bool
    verdict_code: str
    simulated: bool
    state: str
    url: str
    current: bool
    gone: str  # which report told it last, where the newest one doesn't


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
    def sentence(self) -> str:
        if self.verdict:
            return self.verdict.reason
        return words.CAUSES["unrecorded"] if self.verdict_code == "indeterminate" else "The re-check is under way."


@dataclass(frozen=True, slots=True)
class CasePage:
    case: Case
    facts: list[str]
    state: str
    held: str
    claim: Claim | None
    checked: bool
    running: bool
    progress: Progress | None
    reasons: list[str]
    findings: list[Row]
    item: Item | None
    simulated: bool


def case_page(*, case: Case, user: User, finding_id: str, query: str, at: datetime) -> CasePage:
    """`query`: the queue's filters, kept in every link so that next and previous follow them."""
    findings = list(case.current_report.findings.all())  # type: ignore[union-attr]
    standing = standings(case)
    waiting = list(Waiting.objects.filter(case=case, tenant_id=case.tenant_id).order_by("urgency", "severity_rank"))
    findings.sort(key=lambda one: (one.id not in standing, one.recheck_position or 0, one.position))
    findings += earlier_findings(standing)
    in_view = choose(findings, finding_id, waiting)
    decisions = decisions_of(case)
    verdicts = verdicts_of(case)
    run = case.current_verification
    assert run is not None, "a case is saved together with its first run"
    claim = current_claim(case, at)
    return CasePage(
        case=case,
        facts=identity(case),
        state=state_of(waiting, findings, case),
        held=held(claim, user, at),
        claim=claim,
        checked=bool(standing) or run.correctness_enabled,
        running=not run.ended,
        progress=None if run.ended else progress(run, at),
        reasons=reasons(waiting, findings),
        findings=[row(one, standing.get(one.id), verdicts, in_view, query, case) for one in findings],
        item=item(case, in_view, findings, standing.get(in_view.id), verdicts, decisions) if in_view else None,
        simulated=any(one.simulated for one in verdicts),
    )


def choose(findings: list[Finding], finding_id: str, waiting: list[Waiting]) -> Finding | None:
    """The finding asked for, else the most urgent that waits, else the first."""
    by_id = {str(one.id): one for one in findings}
    urgent = next((str(one.finding_id) for one in waiting if one.finding_id), "")
    return by_id.get(finding_id) or by_id.get(urgent) or (findings[0] if findings else None)


def identity(case: Case) -> list[str]:
    subject = read_subject(load(case.current_report.subject))  # type: ignore[union-attr]
    kind = words.say("entity", subject.entity_type.casefold() or "company")
    number = f"{subject.country.upper()} {subject.registration_number}".strip()
    born = f"born {subject.birth_date}" if subject.birth_date else ""
    return [fact for fact in (kind[:1].upper() + kind[1:], number, born) if fact]


def state_of(waiting: list[Waiting], findings: list[Finding], case: Case) -> str:
    open_findings = sum(one.finding_id is not None for one in waiting)
    if any(one.forced for one in waiting):
        return f"needs review ({open_findings} of {len(findings)} findings)" if open_findings else "needs review"
    if waiting:
        return f"advisory: {open_findings} of {len(findings)} findings would need review"
    run = case.current_verification
    return "nothing waits" if run is None or run.ended else "being re-checked"


def reasons(waiting: list[Waiting], findings: list[Finding]) -> list[str]:
    """The reasons that are no single finding's: those stand in the list."""
    return [SENTENCES[ReviewReason(one.reason)] for one in waiting if one.finding_id is None]


def current_claim(case: Case, at: datetime) -> Claim | None:
    return Claim.objects.select_related("holder").filter(case=case, expires_at__gt=at).first()


def held(claim: Claim | None, user: User, at: datetime) -> str:
    if claim is None:
        return "held by nobody"
    minutes = int((at - claim.claimed_at).total_seconds() // 60)
    return "held by you" if claim.holder_id == user.pk else f"held by {claim.holder} for {minutes} min"


def progress(run: Verification, at: datetime) -> Progress:
    of = min(run.report.findings.filter(selected=True).count(), settings.FINDING_CORRECTNESS_MAX_RECHECKS)
    done = run.verdicts.count()
    limit = settings.FINDING_CORRECTNESS_BUDGET_SECONDS
    if run.started_at is None:
        return Progress(
            "The re-check waits for a free worker.", f"asked for {elapsed(run.queued_at, at)} ago", done, of
        )
    sentence = f"Re-checking: {run.working_on.title}" if run.working_on else "The re-check is starting."
    on_it = f"{elapsed(run.working_since, at)} on this finding, " if run.working_since else ""
    return Progress(sentence, f"{on_it}{elapsed(run.started_at, at)} of at most {limit:.0f} s", done, of)


def elapsed(since: datetime, at: datetime) -> str:
    return f"{max(0, int((at - since).total_seconds()))} s"


def verdicts_of(case: Case) -> list[FindingVerdict]:
    """Every verdict ever given in the case, newest first. Only the one in view is asked for its evidence."""
    verdicts = FindingVerdict.objects.filter(case=case).select_related("finding")
    return list(verdicts.defer("evidence", "finding__content").order_by("-recorded_at", "-id"))


def row(
    finding: Finding,
    standing: Standing | None,
    verdicts: list[FindingVerdict],
    in_view: Finding | None,
    query: str,
    case: Case,
) -> Row:
    verdict = by_id(verdicts, standing.verdict_row_id if standing else None)
    address = reverse("case", args=[case.id])
    return Row(
        id=finding.id,
        title=finding.title,
        severity=finding.severity,
        severity_rank=finding.severity_rank,
        selected=standing is not None,
        verdict_code=standing.verdict if standing else "none",
        simulated=bool(verdict and verdict.simulated),
        state=row_state(finding, standing),
        url=f"{address}?finding={finding.id}{'&' if query else ''}{query}",
        current=finding == in_view,
        gone=gone(finding, case),
    )


def gone(finding: Finding, case: Case) -> str:
    """Which report told a finding last that the newest no longer holds as one to re-check."""
    return "" if finding.report_id == case.current_report_id else f"report {finding.report.iteration}"


def row_state(finding: Finding, standing: Standing | None) -> str:
    if standing is None:
        return (
            words.say("selection", finding.selection_why)
            if not finding.selected
            else "not checked: the re-check is switched off"
        )
    if standing.awaiting_second:
        return "waits for a second officer"
    if standing.answered:
        return "decided"
    if standing.verdict == "pending":
        return "its re-check has not ended"
    return "needs a person" if standing.open else "nothing waits"


def by_id(verdicts: list[FindingVerdict], verdict_id: UUID | None) -> FindingVerdict | None:
    return next((one for one in verdicts if one.id == verdict_id), None)


def item(
    case: Case,
    finding: Finding,
    findings: list[Finding],
    standing: Standing | None,
    verdicts: list[FindingVerdict],
    decisions: list[Decision],
) -> Item:
    verdict = by_id(verdicts, standing.verdict_row_id if standing else None)
    return Item(
        row=finding,
        reported=reported(finding, case.subject_name),
        selection=words.say("selection", finding.selection_why) if standing else row_state(finding, None),
        state=row_state(finding, standing),
        standing=standing,
        verdict=verdict,
        evidence=shown_evidence(verdict) if verdict else None,
        labels=labels(case, finding, findings),
        decisions=[
            decided(one, finding, standing) for one in decisions if one.finding.finding_id == finding.finding_id
        ],
        earlier=[one for one in verdicts if one.finding.finding_id == finding.finding_id and one != verdict],
        gone=gone(finding, case),
    )


def labels(case: Case, finding: Finding, findings: list[Finding]) -> Corroboration | None:
    """The stored labels; the sources behind their count are named by the same rule that counted them."""
    if finding.corroboration_count is None or finding.source_trust is None:
        return None
    if finding.report_id != case.current_report_id:
        findings = list(Finding.objects.filter(report_id=finding.report_id))
    together = [one for one in findings if one.report_id == finding.report_id]
    in_order = sorted(together, key=lambda one: one.position)
    counted = label([read_finding(load(one.content)) for one in in_order], subject=case.subject_name)
    count = finding.corroboration_count
    sources = counted[in_order.index(finding)].sources
    return corroboration(Labels(finding.source_trust, count, count >= 2, count < 2, sources))
