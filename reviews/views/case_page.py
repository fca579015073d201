"""The case page's context: identity, what is running, the findings, and the one in view with its evidence."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.conf import settings

from reviews import words
from reviews.cases import earlier_findings
from reviews.models import Claim, Decision, Standing, User, Waiting
from reviews.standing import standings
from reviews.views.codes import countries, plain
from reviews.views.decided import Decided, decided, decisions_of
from reviews.views.evidence import Evidence, shown_evidence
from reviews.views.finding_rows import (
    Row,
    by_id,
    earlier_from,
    gone,
    row,
    row_state,
    unchecked_notice,
    was_checked,
)
from reviews.views.presenting import Corroboration, Reported, corroboration, reported
from verifier.domain.corroboration import Labels, label
from verifier.domain.findings import read_finding
from verifier.domain.gate import SENTENCES, ReviewReason
from verifier.domain.json_text import load
from verifier.domain.subjects import Subject, read_subject
from verifier.intake import VERIFICATION_SWITCH
from verifier.models import Case, Finding, FindingVerdict, Switch, Verification

NOT_ASKED = "not_asked"  # the kind of evidence of a finding no provider was asked about


@dataclass(frozen=True, slots=True)
class Progress:
    sentence: str
    times: str
    done: int
    of: int


# A finding is decided about; what is to be done about a whole case has to be said.
WHAT_ENDS = {
    ReviewReason.STRUCTURAL_GATE: "Nothing here lifts it, whatever is decided about single findings: "
    "it ends with a newer report that no longer asks for it.",
    ReviewReason.VERIFICATION_FAILED: "It ends with a re-check that comes to its end.",
}


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


@dataclass(frozen=True, slots=True)
class CasePage:
    case: Case
    facts: list[str]
    state: str
    held: str
    claim: Claim | None
    checked: bool
    switched_on: bool  # whether a re-check can be asked for at all
    unchecked: str  # what is said of findings that no re-check was asked for
    running: bool
    progress: Progress | None
    reasons: list[str]
    findings: list[Row]
    item: Item | None
    simulated: bool


def case_page(*, case: Case, user: User, finding_id: str, query: str, at: datetime) -> CasePage:
    """`query`: the queue's filters, kept in every link so that next and previous follow them."""
    standing = standings(case)
    findings = in_order(case, standing)
    waiting = list(Waiting.objects.filter(case=case, tenant_id=case.tenant_id).order_by("urgency", "severity_rank"))
    in_view = choose(findings, finding_id, waiting)
    decisions = decisions_of(case)
    verdicts = verdicts_of(case)
    run = case.current_verification
    assert run is not None, "a case is saved together with its first run"
    claim = current_claim(case, at)
    checked = was_checked(case)
    switched_on = Switch.is_on(VERIFICATION_SWITCH)
    unchecked = 0 if checked else sum(one.selected and one.report_id == case.current_report_id for one in findings)
    return CasePage(
        case=case,
        facts=identity(case),
        state=state_of(waiting, findings, run, checked=checked),
        held=held(claim, user, at),
        claim=claim,
        checked=checked,
        switched_on=switched_on,
        unchecked=unchecked_notice(unchecked=unchecked, any_checked=bool(standing), switched_on=switched_on),
        running=not run.ended,
        progress=None if run.ended else progress(run, at),
        reasons=reasons(waiting, findings),
        findings=[row(one, standing.get(one.id), verdicts, in_view, query, case) for one in findings],
        item=items(case, [in_view], standing, verdicts, decisions)[0] if in_view else None,
        simulated=any(one.simulated for one in verdicts),
    )


def every_item(case: Case) -> list[Item]:
    """Each finding as the one in view, in the order of the list."""
    standing = standings(case)
    return items(case, in_order(case, standing), standing, verdicts_of(case, evidence=True), decisions_of(case))


def in_order(case: Case, standing: dict[UUID, Standing]) -> list[Finding]:
    """The newest report's findings, the re-checked first, and after them what only an earlier report holds."""
    findings = list(case.current_report.findings.all())  # type: ignore[union-attr]
    findings.sort(key=lambda one: (one.id not in standing, one.recheck_position or 0, one.position))
    return findings + earlier_findings(standing)


def choose(findings: list[Finding], finding_id: str, waiting: list[Waiting]) -> Finding | None:
    """The finding asked for, else the most urgent that waits, else the first."""
    by_id = {str(one.id): one for one in findings}
    urgent = next((str(one.finding_id) for one in waiting if one.finding_id), "")
    return by_id.get(finding_id) or by_id.get(urgent) or (findings[0] if findings else None)


def identity(case: Case) -> list[str]:
    subject = subject_of(case)
    kind = plain(words.say("entity", subject.entity_type.casefold() or "company"))
    return [
        kind[:1].upper() + kind[1:],
        *([countries([subject.country])] if subject.country else []),
        *([f"no. {subject.registration_number}"] if subject.registration_number else []),
        *([f"born {subject.birth_date}"] if subject.birth_date else []),
    ]


def subject_of(case: Case) -> Subject:
    return read_subject(load(case.current_report.subject))  # type: ignore[union-attr]


def state_of(waiting: list[Waiting], findings: list[Finding], run: Verification, *, checked: bool) -> str:
    """`checked`: whether every finding that drives a decision was put to a re-check."""
    forced = [one for one in waiting if one.forced]
    unchecked = "" if checked else ", not re-checked"
    if forced:
        many = sum(one.finding_id is not None for one in forced)
        return f"needs review{f' ({many} of {len(findings)} findings)' if many else ''}{unchecked}"
    if waiting:
        many = sum(one.finding_id is not None for one in waiting)
        return f"advisory: {many} of {len(findings)} findings would need review{unchecked}"
    if not run.ended:
        return "being re-checked"
    return "nothing waits" if checked else "not re-checked"


def reasons(waiting: list[Waiting], findings: list[Finding]) -> list[str]:
    """The reasons that are no single finding's: those stand in the list."""
    told = [ReviewReason(one.reason) for one in waiting if one.finding_id is None]
    return [f"{SENTENCES[reason]} {WHAT_ENDS.get(reason, '')}".strip() for reason in told]


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


def verdicts_of(case: Case, *, evidence: bool = False) -> list[FindingVerdict]:
    """Every verdict ever given in the case, newest first. Without `evidence` each is asked for its own when needed."""
    verdicts = FindingVerdict.objects.filter(case=case).select_related("finding")
    unread = ("finding__content",) if evidence else ("evidence", "finding__content")
    return list(verdicts.defer(*unread).order_by("-recorded_at", "-id"))


def items(
    case: Case,
    findings: list[Finding],
    standing: dict[UUID, Standing],
    verdicts: list[FindingVerdict],
    decisions: list[Decision],
) -> list[Item]:
    sources = sources_of(case, findings)
    return [item(case, one, standing.get(one.id), verdicts, decisions, sources.get(one.id, ())) for one in findings]


def item(
    case: Case,
    finding: Finding,
    standing: Standing | None,
    verdicts: list[FindingVerdict],
    decisions: list[Decision],
    sources: tuple[str, ...],
) -> Item:
    verdict = by_id(verdicts, standing.verdict_row_id if standing else None)
    return Item(
        row=finding,
        reported=reported(finding, subject_of(case)),
        selection=selection(finding, standing),
        state=row_state(finding, standing),
        standing=standing,
        verdict=verdict,
        evidence=shown_evidence(verdict) if verdict else None,
        labels=labels(finding, sources),
        decisions=[
            decided(one, finding, standing) for one in decisions if one.finding.finding_id == finding.finding_id
        ],
        earlier=[one for one in verdicts if one.finding.finding_id == finding.finding_id and one != verdict],
        gone=gone(finding, case),
        earlier_from=earlier_from(standing, verdict),
    )


def selection(finding: Finding, standing: Standing | None) -> str:
    if finding.selected and standing is None:
        return f"meant to be re-checked, {words.say('selection', finding.selection_why).removeprefix('checked ')}"
    return words.say("selection", finding.selection_why)


def sources_of(case: Case, findings: list[Finding]) -> dict[UUID, tuple[str, ...]]:
    """The sources behind each label's count, by the same rule that counted them over the finding's own report."""
    found: dict[UUID, tuple[str, ...]] = {}
    for report_id in {one.report_id for one in findings if one.corroboration_count is not None}:
        together = list(Finding.objects.filter(report_id=report_id).order_by("position"))
        counted = label([read_finding(load(one.content)) for one in together], subject=case.subject_name)
        found |= {one.id: tuple(labels.sources) for one, labels in zip(together, counted, strict=True)}
    return found


def labels(finding: Finding, sources: tuple[str, ...]) -> Corroboration | None:
    """The stored labels; none where the report was taken in without."""
    if finding.corroboration_count is None or finding.source_trust is None:
        return None
    count = finding.corroboration_count
    return corroboration(Labels(finding.source_trust, count, count >= 2, count < 2, sources))
