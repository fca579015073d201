"""The case page's context: identity, what is running, the findings, and the one in view with its evidence."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Q

from reviews import words
from reviews.models import Claim, Standing, User, Waiting
from reviews.views.codes import countries, plain
from reviews.views.finding_list import FindingList, Findings, read_list
from reviews.views.finding_rows import unchecked_notice, was_checked
from reviews.views.items import Item, items, subject_of
from verifier.domain.gate import SENTENCES, ReviewReason
from verifier.intake import VERIFICATION_SWITCH
from verifier.models import Case, Finding, FindingVerdict, Switch, Verification


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
    findings: FindingList
    item: Item | None
    simulated: bool


def case_page(
    *, case: Case, user: User, finding_id: str, query: dict[str, str], at: datetime, part: str = ""
) -> CasePage:
    """`query`: the queue's filters, kept in every link so that next and previous follow them. `part`: the page of the
    list; without one, that of the finding in view.
    """
    found = Findings(case)
    waits = Waits(case)
    in_view = choose(found, finding_id, waits)
    run = case.current_verification
    assert run is not None, "a case is saved together with its first run"
    claim = current_claim(case, at)
    checked = was_checked(case)
    switched_on = Switch.is_on(VERIFICATION_SWITCH)
    unchecked = 0 if checked else found.current.filter(selected=True).count()
    any_checked = Standing.objects.filter(case=case, tenant_id=case.tenant_id).exists()
    return CasePage(
        case=case,
        facts=identity(case),
        state=state_of(waits, found.total, run, checked=checked),
        held=held(claim, user, at),
        claim=claim,
        checked=checked,
        switched_on=switched_on,
        unchecked=unchecked_notice(unchecked=unchecked, any_checked=any_checked, switched_on=switched_on),
        running=not run.ended,
        progress=None if run.ended else progress(run, at),
        reasons=waits.reasons(),
        findings=read_list(found, in_view, part, query),
        item=items(case, [in_view])[0] if in_view else None,
        simulated=FindingVerdict.objects.filter(case=case, simulated=True).exists(),
    )


def choose(found: Findings, finding_id: str, waits: "Waits") -> Finding | None:
    """The finding asked for, else the most urgent that waits, else the first."""
    return (
        (found.find(finding_id) if finding_id else None)
        or (found.find(str(waits.most_urgent)) if waits.most_urgent else None)
        or next(iter(found.part(0, 1)), None)
    )


class Waits:
    """What of a case waits, counted."""

    def __init__(self, case: Case) -> None:
        waiting = Waiting.objects.filter(case=case, tenant_id=case.tenant_id)
        self.whole = list(waiting.filter(finding=None).order_by("urgency").values_list("reason", "forced"))
        counted = waiting.exclude(finding=None).aggregate(all=Count("id"), forced=Count("id", filter=Q(forced=True)))
        self.findings, self.forced = counted["all"], counted["forced"]
        urgent = waiting.exclude(finding=None).order_by("urgency", "severity_rank", "id")
        self.most_urgent = urgent.values_list("finding_id", flat=True).first() if self.findings else None

    @property
    def any_forced(self) -> bool:
        return bool(self.forced) or any(forced for _, forced in self.whole)

    @property
    def anything(self) -> bool:
        return bool(self.findings or self.whole)

    def reasons(self) -> list[str]:
        """The reasons that are no single finding's: those stand in the list."""
        told = [ReviewReason(reason) for reason, _ in self.whole]
        return [f"{SENTENCES[reason]} {WHAT_ENDS.get(reason, '')}".strip() for reason in told]


def identity(case: Case) -> list[str]:
    subject = subject_of(case)
    kind = plain(words.say("entity", subject.entity_type.casefold() or "company"))
    return [
        kind[:1].upper() + kind[1:],
        *([countries([subject.country])] if subject.country else []),
        *([f"no. {subject.registration_number}"] if subject.registration_number else []),
        *([f"born {subject.birth_date}"] if subject.birth_date else []),
    ]


def state_of(waits: Waits, total: int, run: Verification, *, checked: bool) -> str:
    """`checked`: whether every finding that drives a decision was put to a re-check."""
    unchecked = "" if checked else ", not re-checked"
    if waits.any_forced:
        return f"needs review{f' ({waits.forced} of {total} findings)' if waits.forced else ''}{unchecked}"
    if waits.anything:
        return f"advisory: {waits.findings} of {total} findings would need review{unchecked}"
    if not run.ended:
        return "being re-checked"
    return "nothing waits" if checked else "not re-checked"


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
