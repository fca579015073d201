"""How long a case is kept (Regulation (EU) 2024/1624, Article 77): years from the end, longer under a legal hold."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import transaction

from audit.log import record
from audit.models import ActorType, CaseKey
from reviews.models import RetentionRecord
from reviews.recorded import retention_details
from verifier.models import Case

Kind = RetentionRecord.Kind
MOST_CHARACTERS = 2000


class InvalidRetention(Exception):
    """What was said can't be recorded. `problems`: a sentence for each field that is wrong."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Hand:
    """Who records something: an admin on the page, or the operator's shell."""

    actor: str
    actor_type: ActorType
    actor_role: str = ""


@dataclass(frozen=True, slots=True)
class Retention:
    """How a case's keeping stands."""

    ended_on: date | None
    held: bool
    erased_at: datetime | None = None

    @property
    def erasable_from(self) -> date | None:
        """The day after the anniversary: a term of years runs to the end of that day. None: no end is recorded."""
        if self.ended_on is None:
            return None
        return anniversary(self.ended_on, settings.RETENTION_YEARS) + timedelta(days=1)

    def refusal(self, today: date) -> str | None:
        """Why the case can't be erased today, in a sentence that says from when."""
        first = self.erasable_from
        if self.erased_at is not None:
            return f"The case was erased on {self.erased_at:%Y-%m-%d}."
        if first is None:
            return "No end of the relationship and no refusal is recorded, so the time of keeping has not begun."
        if self.held:
            return f"A legal hold is set. Once it is lifted, the case may be erased from {max(first, today)} on."
        if today < first:
            return f"The case may be erased from {first} on: {settings.RETENTION_YEARS} years after {self.ended_on}."
        return None


def anniversary(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February
        return date(day.year + years, 3, 1)


def retention_of(case: Case) -> Retention:
    """The newest end, the newest word on a hold."""
    said = list(RetentionRecord.objects.filter(case=case).order_by("recorded_at", "id"))
    ends = [each.ended_on for each in said if each.kind == Kind.ENDED]
    holds = [each.kind for each in said if each.kind != Kind.ENDED]
    return Retention(
        ended_on=ends[-1] if ends else None,
        held=bool(holds) and holds[-1] == Kind.HELD,
        erased_at=CaseKey.objects.filter(case_id=case.id).values_list("destroyed_at", flat=True).first(),
    )


def record_end(*, case: Case, ended_on: date, reason: str, hand: Hand, at: datetime) -> RetentionRecord:
    """The relationship ended, or was refused, on that day. Said again, the later word counts."""
    if ended_on > at.date():
        raise InvalidRetention({"ended_on": "The end can’t lie in the future."})
    if ended_on.year < 1900:
        raise InvalidRetention({"ended_on": "Check the year."})
    return keep(case=case, kind=Kind.ENDED, ended_on=ended_on, reason=reason, hand=hand, at=at)


def hold(*, case: Case, on: bool, reason: str, hand: Hand, at: datetime) -> RetentionRecord:
    """Sets a legal hold, or lifts it. Raises InvalidRetention where it stands so already."""
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(id=case.id)
        if retention_of(case).held == on:
            raise InvalidRetention({"reason": f"A legal hold is {'set already' if on else 'not set'}."})
        return keep(case=case, kind=Kind.HELD if on else Kind.LIFTED, ended_on=None, reason=reason, hand=hand, at=at)


def keep(*, case: Case, kind: str, ended_on: date | None, reason: str, hand: Hand, at: datetime) -> RetentionRecord:
    """The row and its event, in one transaction."""
    reason = reason.strip()
    if not reason or len(reason) > MOST_CHARACTERS:
        raise InvalidRetention({"reason": f"Say why, in at most {MOST_CHARACTERS} characters."})
    said = RetentionRecord(
        tenant_id=case.tenant_id,
        case=case,
        kind=kind,
        ended_on=ended_on,
        reason=reason,
        by=hand.actor,
        recorded_at=at,
    )
    with transaction.atomic():
        said.event_id = record(
            tenant_id=case.tenant_id,
            event_type=str(kind),
            actor=hand.actor,
            actor_type=hand.actor_type,
            actor_role=hand.actor_role,
            case_id=case.id,
            subject=case.report_id,
            details=retention_details(said),
            at=at,
        ).id
        said.save(force_insert=True)
    return said
