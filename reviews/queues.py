"""What waits for whom: queries over `reviews.models.Waiting`. Nothing is hidden unless a filter was asked for."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Case as Choice
from django.db.models import Count, Q, QuerySet, Value, When

from audit.models import Tenant
from reviews.models import Claim, Decision, Standing, User, Waiting
from reviews.permissions import can_second
from verifier.domain.gate import SENTENCES, ReviewReason
from verifier.models import Case, FindingVerdict

PAGE = 50
OUTAGE_CAUSES = ("provider_error", "provider_timeout", "quota", "capacity", "unanswered_query")
NOBODY, MINE, OTHERS = "nobody", "mine", "others"
SECOND, MORE, ESCALATED, REOPENED, UNDECIDED = "second", "needs_more", "escalated", "reopened", "undecided"
CORROBORATED, UNCORROBORATED, UNLABELLED = "corroborated", "uncorroborated", "unlabelled"
MOST_URGENT_FIRST = ("urgency", "severity_rank", "since", "id")


# How far people have come with what waits. Whatever else was decided and waits all the same was opened again.
ASKED_FOR_MORE = Q(awaiting_second=False, decision__reverses=None, decision__outcome=Decision.Outcome.NEEDS_MORE)
WAS_ESCALATED = Q(awaiting_second=False, decision__reverses=None, decision__outcome=Decision.Outcome.ESCALATED)
STAGES = {
    UNDECIDED: Q(decision=None),
    SECOND: Q(awaiting_second=True),
    MORE: ASKED_FOR_MORE,
    ESCALATED: WAS_ESCALATED,
    REOPENED: Q(awaiting_second=False, decision__isnull=False) & ~ASKED_FOR_MORE & ~WAS_ESCALATED,
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What to show of a queue; empty shows all of it. `verdict` may also be `pending` or a case's reason."""

    verdict: str = ""
    cause: str = ""
    severity: str = ""  # compared without case
    material_type: str = ""
    holder: str = ""  # nobody | mine | others
    corroboration: str = ""  # corroborated | uncorroborated | unlabelled
    provider: str = ""
    stage: str = ""  # second | needs_more | escalated | reopened | undecided
    text: str = ""  # in subject, report, finding id or title
    page: int = 1

    @property
    def chosen(self) -> bool:
        return any([*self.choices(), self.text.strip()])

    def choices(self) -> tuple[str, ...]:
        return (
            self.verdict,
            self.cause,
            self.severity,
            self.material_type,
            self.holder,
            self.corroboration,
            self.provider,
            self.stage,
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that waits: a finding, or a whole case (then `finding_id` is None and `title` says what of it)."""

    id: str
    case_id: UUID
    report_id: str
    subject_name: str
    finding_pk: UUID | None
    finding_id: str | None
    title: str
    severity: str  # as spelled
    severity_rank: int
    material_type: str
    reason: str
    why: str  # in words
    verdict: str
    cause: str
    provider: str
    rechecked_at: datetime | None
    simulated: bool
    since: datetime
    lane: str  # how the report attributes the finding; `subject` where it doesn't say
    source_trust: float | None
    corroboration_count: int | None
    awaiting_second: bool
    decided_by: str
    holder: str
    holder_id: int | None
    held_since: datetime | None
    held_until: datetime | None


@dataclass(frozen=True, slots=True)
class Page:
    rows: list[Row]
    matching: int  # with the filters
    total: int  # without
    number: int
    pages: int
    counts: dict[str, dict[str, int]] = field(default_factory=dict)  # of the whole queue: by verdict, cause, …

    @property
    def hidden(self) -> int:
        return self.total - self.matching


@dataclass(frozen=True, slots=True)
class Outage:
    """A provider that left findings without an answer, and how many wait for that."""

    provider: str
    causes: tuple[str, ...]
    findings: int


@dataclass(frozen=True, slots=True)
class Short:
    """How much waits, and for whose silence."""

    waiting: int
    outages: list[Outage]


def everything(tenant: Tenant, *, forced: bool) -> "QuerySet[Waiting]":
    return Waiting.objects.filter(tenant=tenant, forced=forced)


def waiting(
    tenant: Tenant, filters: Filters | None = None, *, user: User | None = None, at: datetime, size: int = PAGE
) -> Page:
    """The findings and cases that need a person, most urgent first: one query for the rows, one for the counts."""
    return read_page(everything(tenant, forced=True), filters or Filters(), user, at, size)


def advisory(
    tenant: Tenant, filters: Filters | None = None, *, user: User | None = None, at: datetime, size: int = PAGE
) -> Page:
    """The same of advisory cases, which are listed and not forced."""
    return read_page(everything(tenant, forced=False), filters or Filters(), user, at, size)


def count_advisory(tenant: Tenant) -> int:
    return everything(tenant, forced=False).count()


def read_page(queue: "QuerySet[Waiting]", filters: Filters, user: User | None, at: datetime, size: int) -> Page:
    found = narrow(queue, filters, user, at)
    counts = count(queue)
    total = sum(counts["verdict"].values())
    matching = found.count() if filters.chosen else total
    pages = max(1, -(-matching // size))
    number = min(max(filters.page, 1), pages)
    shown = with_facts(found).order_by(*MOST_URGENT_FIRST)[(number - 1) * size : number * size]
    return Page([make_row(waiting_row, at) for waiting_row in shown], matching, total, number, pages, counts)


def with_facts(queue: "QuerySet[Waiting]") -> "QuerySet[Waiting]":
    related = ("case", "finding", "verdict_row", "decision__author", "case__claim__holder")
    return queue.select_related(*related).defer(
        "finding__content", "verdict_row__evidence", "decision__evidence", "decision__reason"
    )


def narrow(queue: "QuerySet[Waiting]", filters: Filters, user: User | None, at: datetime) -> "QuerySet[Waiting]":
    wanted = Q()
    if filters.verdict:
        wanted &= Q(verdict=filters.verdict) | Q(reason=filters.verdict)
    if filters.cause:
        wanted &= Q(cause=filters.cause)
    if filters.severity:
        wanted &= Q(finding__severity__iexact=filters.severity)
    if filters.material_type:
        wanted &= Q(finding__material_type=filters.material_type)
    if filters.provider:
        wanted &= Q(verdict_row__provider__contains=filters.provider)
    wanted &= of_holder(filters.holder, user, at) & of_corroboration(filters.corroboration)
    wanted &= STAGES.get(filters.stage, Q())
    for word in filters.text.replace("\0", " ").split():
        wanted &= (
            Q(case__subject_name__icontains=word)
            | Q(case__report_id__icontains=word)
            | Q(finding__title__icontains=word)
            | Q(finding__finding_id__icontains=word)
        )
    return queue.filter(wanted)


def of_holder(holder: str, user: User | None, at: datetime) -> Q:
    held = Q(case__claim__expires_at__gt=at)
    if holder == NOBODY:
        return Q(case__claim=None) | Q(case__claim__expires_at__lte=at)
    if holder == MINE:
        return held & Q(case__claim__holder=user)
    if holder == OTHERS:
        return held & ~Q(case__claim__holder=user)
    return Q()


def of_corroboration(label: str) -> Q:
    return {
        CORROBORATED: Q(finding__corroboration_count__gte=2),
        UNCORROBORATED: Q(finding__corroboration_count__lt=2),
        UNLABELLED: Q(finding__corroboration_count=None),
    }.get(label, Q())


def count(queue: "QuerySet[Waiting]") -> dict[str, dict[str, int]]:
    """How much of the whole queue stands under each choice of a filter, in one query."""
    stage = Choice(*(When(condition, then=Value(name)) for name, condition in STAGES.items()), default=Value(""))
    columns = ("verdict", "reason", "cause", "finding__severity", "finding__material_type", "reached")
    groups = queue.annotate(reached=stage).values_list(*columns).annotate(Count("id")).order_by()
    names = ("verdict", "cause", "severity", "material_type", "stage")
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for verdict, reason, cause, severity, material_type, reached, number in groups:
        counts["verdict"][verdict or reason] += number
        severity = (severity or "").lower()
        values = {"cause": cause, "severity": severity, "material_type": material_type, "stage": reached}
        for name, value in values.items():
            if value:
                counts[name][value] += number
    return {name: dict(counter) for name, counter in counts.items()}


def make_row(row: Waiting, at: datetime) -> Row:
    finding, verdict, decision = row.finding, row.verdict_row, row.decision
    claim = live_claim(row.case, at)
    return Row(
        id=row.id,
        case_id=row.case_id,
        report_id=row.case.report_id,
        subject_name=row.case.subject_name,
        finding_pk=row.finding_id,
        finding_id=finding.finding_id if finding else None,
        title=finding.title if finding else "The whole case",
        severity=finding.severity if finding else "",
        severity_rank=row.severity_rank,
        material_type=finding.material_type if finding else "",
        reason=row.reason,
        why=why(row),
        verdict=row.verdict,
        cause=row.cause,
        provider=verdict.provider if verdict else "",
        rechecked_at=verdict.started_at if verdict else None,
        simulated=verdict.simulated if verdict else False,
        since=row.since,
        lane=finding.lane if finding else "",
        source_trust=finding.source_trust if finding else None,
        corroboration_count=finding.corroboration_count if finding else None,
        awaiting_second=row.awaiting_second,
        decided_by=decision.author.display_name if decision else "",
        holder=claim.holder.display_name if claim else "",
        holder_id=claim.holder_id if claim else None,
        held_since=claim.claimed_at if claim else None,
        held_until=claim.expires_at if claim else None,
    )


def why(row: Waiting) -> str:
    """Why it is here, in a sentence or two."""
    sentence = row.verdict_row.reason if row.verdict_row else SENTENCES[ReviewReason(row.reason)]
    decision = row.decision
    if decision is None:
        return sentence
    if row.awaiting_second:
        who = decision.author.display_name
        return f"{sentence} {who} decided that it does not stand; a second officer must approve."
    return f"{sentence} {after_decision(decision)}"


def after_decision(decision: Decision) -> str:
    """Why a finding that was decided about waits all the same."""
    who = decision.author.display_name
    if decision.reverses_id is not None:
        return f"{who} took an earlier decision back."
    if decision.outcome == Decision.Outcome.NEEDS_MORE:
        return f"{who} asked for more."
    if decision.outcome == Decision.Outcome.ESCALATED:
        return f"{who} escalated it."
    return f"{who} decided under an earlier verdict, which has changed."


def live_claim(case: Case, at: datetime) -> Claim | None:
    try:
        claim = case.claim
    except Claim.DoesNotExist:
        return None
    return claim if claim.expires_at > at else None


def in_short(tenant: Tenant) -> Short:
    """What every page says of the queue, in one query. Outages come with the one that most waits for first."""
    told = Choice(When(cause__in=OUTAGE_CAUSES, then="cause"), default=Value(""))
    waits = everything(tenant, forced=True).annotate(silence=told)
    by_whom = Choice(When(cause__in=OUTAGE_CAUSES, then="verdict_row__provider"), default=Value(""))
    groups = waits.annotate(by_whom=by_whom).values_list("by_whom", "silence").annotate(Count("id")).order_by()
    total = 0
    findings: Counter[str] = Counter()
    causes: dict[str, set[str]] = {}
    for provider, cause, number in groups:
        total += number
        if cause:
            findings[provider or "unknown"] += number
            causes.setdefault(provider or "unknown", set()).add(cause)
    silent = [Outage(provider, tuple(sorted(causes[provider])), number) for provider, number in findings.most_common()]
    return Short(total, silent)


@dataclass(frozen=True, slots=True)
class SecondRow:
    """A decision that waits for another person. `own`: the one who looks made it, so can't be that person."""

    decision: Decision
    case: Case
    verdict: FindingVerdict | None
    own: bool
    actionable: bool


def second_person(tenant: Tenant, user: User) -> list[SecondRow]:
    """The decisions that wait for a second officer, oldest first; one's own are shown and not actionable."""
    awaiting = Standing.objects.filter(tenant=tenant, awaiting_second=True).select_related(
        *("decision__author", "decision__finding__report", "decision__case__current_report", "verdict_row")
    )
    rows = []
    for standing in awaiting.order_by("decision__decided_at", "decision_id"):
        decision = standing.decision
        assert decision is not None, "it is what waits"
        own = decision.author_id == user.pk
        rows.append(SecondRow(decision, decision.case, standing.verdict_row, own, can_second(user, decision)))
    return rows


def count_second(tenant: Tenant, user: User) -> int:
    """How many of them this person could answer."""
    awaiting = Standing.objects.filter(tenant=tenant, awaiting_second=True)
    return awaiting.exclude(decision__author=user).count() if user.has_perm("reviews.decide") else 0
