"""A case as callers read it. What the report said is put together from its own text, so it comes back as spelled."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from reviews.models import Decision, Standing, Waiting
from reviews.standing import standings
from reviews.text import Members, apart, assemble, dump, members_of, moment
from reviews.values import NO_VERDICT, decision_values, verdict_values
from verifier.domain.answers import Cause
from verifier.domain.gate import (
    SENTENCES,
    CheckedFinding,
    ReviewReason,
    correctness_needs_review,
    correctness_verdicts,
)
from verifier.domain.json_text import members
from verifier.domain.verdicts import Verdict
from verifier.models import Case, Finding, FindingVerdict, Report, Verification

# Ours beside the report's own keys. A report's value under one of them goes to `reported` and is never believed.
FINDING_KEYS = {
    *("source_trust", "corroboration_count", "corroborated", "uncorroborated"),
    *("selection", "verdict", "decision", "reported"),
}
GATE_KEYS = {"correctness_needs_review", "correctness_verdicts", "reported"}
PENDING = "pending"
NO_LONGER_TOLD = "The newest report no longer holds it as a finding to re-check."


@dataclass(frozen=True, slots=True)
class Loaded:
    """A case with everything its JSON holds, read in a number of queries that doesn't depend on its size."""

    case: Case
    report: Report
    run: Verification
    correctness: Verification | None  # the run whose verdicts are in force; None: the check was never on
    findings: list[Finding]
    earlier: list[Finding]  # re-checked findings that only an earlier report holds; they are not dropped with it
    standings: dict[UUID, Standing]
    verdicts: dict[UUID, FindingVerdict]
    decisions: list[Decision]  # newest last
    waiting: list[Waiting]

    def iterations_ago(self, finding: Finding) -> int:
        """0 for a finding of the current report, and more the longer ago its report came."""
        ago = {one.id: self.report.iteration - one.report.iteration for one in self.earlier}
        return ago.get(finding.id, 0)


def case_json(case: Case, *, history: bool = False) -> str:
    """The case as JSON text. With `history` also every verdict and decision ever given, oldest first."""
    loaded = load(case)
    reasons = review_reasons(loaded)
    parts: Members = [
        ("case_id", dump(str(case.id))),
        ("tenant", dump(case.tenant.slug)),
        ("report_id", dump(case.report_id)),
        ("iteration", dump(loaded.report.iteration)),
        ("subject", loaded.report.subject),
        ("needs_review", dump(bool(reasons))),
        ("review_reasons", dump(reasons)),
        ("quality_gate", gate_json(loaded)),
        ("verification", dump(verification(loaded.run))),
        ("simulated", dump(is_simulated(loaded))),
        ("findings", "[" + ", ".join(finding_json(finding, loaded) for finding in loaded.findings) + "]"),
    ]
    if loaded.earlier:
        parts.append(("earlier_findings", "[" + ", ".join(earlier_json(one, loaded) for one in loaded.earlier) + "]"))
    if history:
        parts.append(("history", dump({"verdicts": all_verdicts(case), "decisions": all_decisions(loaded)})))
    return assemble(parts)


def load(case: Case) -> Loaded:
    case = (
        Case.objects.select_related("tenant", "current_report", "current_verification")
        .defer("current_report__content")
        .get(id=case.id)
    )
    report, run = case.current_report, case.current_verification
    assert report is not None, "a case is saved together with its first report"
    assert run is not None, "and with its first run"
    standing = standings(case)
    named = [one.verdict_row_id for one in standing.values() if one.verdict_row_id]
    waiting = Waiting.objects.filter(case=case, tenant_id=case.tenant_id)
    asked = Verification.objects.filter(case=case, report=report, correctness_enabled=True)
    return Loaded(
        case=case,
        report=report,
        run=run,
        correctness=asked.order_by("-queued_at", "-id").first(),
        findings=list(report.findings.order_by("position")),
        earlier=earlier_findings(standing),
        standings=standing,
        verdicts=FindingVerdict.objects.in_bulk(named),
        decisions=decisions_of(case),
        waiting=list(waiting.select_related("finding").defer("finding__content")),
    )


def earlier_findings(standing: dict[UUID, Standing]) -> list[Finding]:
    """Those a newer report no longer holds as findings to re-check, newest report first, each in its report's order."""
    gone = [finding_id for finding_id, one in standing.items() if not one.current]
    rows = Finding.objects.filter(id__in=gone).select_related("report").defer("report__content") if gone else []
    return sorted(rows, key=lambda one: (-one.report.iteration, one.position))


def decisions_of(case: Case) -> list[Decision]:
    related = ("finding", "author", "verdict", "approval__by", "reversed_by__author")
    rows = Decision.objects.filter(case=case, tenant_id=case.tenant_id).select_related(*related)
    unread = ("finding__content", "verdict__evidence", "reversed_by__evidence")
    return list(rows.defer(*unread).order_by("decided_at", "id"))


# Why it waits


def review_reasons(loaded: Loaded) -> list[dict[str, Any]]:
    """The structural gate first, then a failed run, then findings as reported, the newest report's first."""
    forced = [row for row in loaded.waiting if row.forced]
    case_first = {ReviewReason.STRUCTURAL_GATE: -2, ReviewReason.VERIFICATION_FAILED: -1}

    def place(row: Waiting) -> tuple[int, int]:
        if row.finding is None:
            return case_first[ReviewReason(row.reason)], 0
        return loaded.iterations_ago(row.finding), row.finding.position

    return [
        {
            "code": row.reason,
            "finding_id": row.finding.finding_id if row.finding else None,
            "text": sentence(row, loaded),
        }
        for row in sorted(forced, key=place)
    ]


def sentence(row: Waiting, loaded: Loaded) -> str:
    said = SENTENCES[ReviewReason(row.reason)]
    return f"{said} {NO_LONGER_TOLD}" if row.finding and loaded.iterations_ago(row.finding) else said


def gate_json(loaded: Loaded) -> str:
    """The report's own gate; ours added only where the correctness check was on."""
    parts, reported = apart(members_of(loaded.report.quality_gate), GATE_KEYS)
    if loaded.correctness is not None:
        driving = [finding for finding in loaded.findings if finding.selected]
        checked = [check(finding, loaded) for finding in sorted(driving, key=lambda one: one.recheck_position or 0)]
        failed = loaded.correctness.status == Verification.Status.FAILED
        needs = correctness_needs_review([one.verdict for one in checked], run_failed=failed)
        parts.append(("correctness_needs_review", dump(needs)))
        parts.append(("correctness_verdicts", dump(correctness_verdicts(checked))))
    if reported:
        parts.append(("reported", assemble(reported)))
    return assemble(parts)


def check(finding: Finding, loaded: Loaded) -> CheckedFinding:
    standing = loaded.standings.get(finding.id)
    kind = finding.material_type or None
    if standing is None or standing.verdict == PENDING:
        return CheckedFinding(finding.finding_id, kind, None, None)
    return CheckedFinding(finding.finding_id, kind, Verdict(standing.verdict), Cause(standing.cause))


def is_simulated(loaded: Loaded) -> bool:
    return any(verdict.simulated for verdict in loaded.verdicts.values())


# Findings


def finding_json(finding: Finding, loaded: Loaded) -> str:
    parts, reported = apart(members(finding.content), FINDING_KEYS)
    if finding.source_trust is not None:
        parts += labels(finding)
    checked = loaded.correctness is not None or finding.id in loaded.standings
    if checked:
        parts.append(("selection", dump(selection(finding))))
        parts.append(("verdict", dump(verdict_in_force(finding, loaded))))
    decision = decision_on(finding, loaded)
    if decision is not None or checked:
        parts.append(("decision", dump(decision)))
    if reported:
        parts.append(("reported", assemble(reported)))
    return assemble(parts)


def earlier_json(finding: Finding, loaded: Loaded) -> str:
    """A finding only an earlier report holds, with the iteration that reported it last."""
    parts: Members = [("iteration", dump(finding.report.iteration)), ("finding", finding_json(finding, loaded))]
    return assemble(parts)


def labels(finding: Finding) -> Members:
    count = finding.corroboration_count or 0
    return [
        ("source_trust", dump(finding.source_trust)),
        ("corroboration_count", dump(count)),
        ("corroborated", dump(count >= 2)),
        ("uncorroborated", dump(count < 2)),
    ]


def selection(finding: Finding) -> dict[str, Any]:
    return {
        "selected": finding.selected,
        "why": finding.selection_why,
        "material_type": finding.material_type or None,
    }


def verdict_in_force(finding: Finding, loaded: Loaded) -> dict[str, Any] | None:
    """The latest verdict; while there is none yet, none. A run that ended without one leaves it indeterminate."""
    standing = loaded.standings.get(finding.id)
    if standing is None or standing.verdict == PENDING:
        return None
    if standing.verdict_row_id is not None:
        return verdict_values(loaded.verdicts[standing.verdict_row_id])
    return {**NO_VERDICT, "verification_id": str(standing.run_id), "started_at": moment(standing.run.started_at)}


# Decisions


def decision_on(finding: Finding, loaded: Loaded) -> dict[str, Any] | None:
    """The newest decision on this very text of the finding, whatever became of it; a withdrawal is told with what it
    took back.
    """
    mine = [one for one in loaded.decisions if one.reverses_id is None and is_about(one, finding)]
    if not mine:
        return None
    standing = loaded.standings.get(finding.id)
    answers = standing is not None and standing.answered and standing.decision_id == mine[-1].id
    return {**decision_values(mine[-1]), "answers": answers}


def is_about(decision: Decision, finding: Finding) -> bool:
    same = decision.finding
    return same.finding_id == finding.finding_id and same.content_sha256 == finding.content_sha256


# What was ever said


def all_verdicts(case: Case) -> list[dict[str, Any]]:
    rows = FindingVerdict.objects.filter(case=case, tenant_id=case.tenant_id).select_related("finding__report")
    unread = ("finding__content", "finding__report__content")
    return [
        {
            "finding_id": verdict.finding.finding_id,
            "iteration": verdict.finding.report.iteration,
            "content_sha256": verdict.finding.content_sha256,
            **verdict_values(verdict),
        }
        for verdict in rows.defer(*unread).order_by("recorded_at", "id")
    ]


def all_decisions(loaded: Loaded) -> list[dict[str, Any]]:
    return [
        {
            "finding_id": decision.finding.finding_id,
            "content_sha256": decision.finding.content_sha256,
            "verification_id": str(decision.verdict.verification_id) if decision.verdict else None,
            "reverses": str(decision.reverses_id) if decision.reverses_id else None,
            **decision_values(decision),
        }
        for decision in loaded.decisions
    ]


def verification(run: Verification) -> dict[str, Any]:
    return {
        "id": str(run.id),
        "status": run.status,
        "queued_at": moment(run.queued_at),
        "started_at": moment(run.started_at),
        "finished_at": moment(run.finished_at),
    }
