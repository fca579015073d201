"""Reads one page of the trail's list, in the order of the chain."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleLessThan

from audit import chain
from audit.filters import Filters, Place
from audit.log import case_names
from audit.models import AuditEvent
from audit.sealed import Closed, Opened, open_events
from audit.words import actor_kind, event_in_words, outcome_in_words

PAGE = 50
MOST_APART = timedelta(seconds=5)  # of the two clocks, before the list says so
VALUES = (
    "recorded_at",
    "id",
    "seal__sequence",
    "seal__event_hash",
    "event_type",
    "actor",
    "actor_type",
    "subject",
    "outcome",
    "sealed",
    "case_id",
    "body",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list, every value as it is shown."""

    id: UUID
    sequence: int | None
    time: str
    iso_time: str
    clocks: str  # where the clocks of application and database were far apart, how far
    words: str
    code: str
    actor: str
    icon: str
    actor_kind: str
    subject: str
    finding: str  # the finding of the case that the event tells of, as its report names it
    outcome: str
    case_id: UUID | None
    case_known: bool  # there is a page of this case
    hash_prefix: str


@dataclass(frozen=True, slots=True)
class Page:
    rows: list[Row]
    older: str | None  # the address of the next page
    case_name: str  # of the case the list is narrowed to, where one is known

    @property
    def count(self) -> int:
        return len(self.rows)


def read_page(*, tenant_id: UUID, filters: Filters) -> Page:
    """Newest first. One row more than shown tells whether there are older ones."""
    found = list(matching(tenant_id, filters)[: PAGE + 1])
    shown, more = found[:PAGE], len(found) > PAGE
    older = filters.older(place_of(shown[-1], filters)) if more else None
    asked = {filters.case_id} if filters.case_id else set()
    names = references_of(tenant_id, asked | {values[-2] for values in shown})
    shown.sort(key=chain_order, reverse=True)
    case_name = names.get(filters.case_id, "") if filters.case_id else ""
    rows = [dict(zip(VALUES, values, strict=True)) for values in shown]
    findings = findings_of([values for values in rows if values["case_id"] is not None])
    return Page([to_row(values, names, findings) for values in rows], older, case_name)


def findings_of(rows: list[dict[str, Any]]) -> dict[UUID, str]:
    events = [AuditEvent(**{name: row[name] for name in VALUES if not name.startswith("seal__")}) for row in rows]
    return findings_in(events, open_events(events))


def findings_in(events: Sequence[AuditEvent], opened: Sequence[Opened | Closed]) -> dict[UUID, str]:
    """The name of the finding that each event tells of, by the event's id, where its words can be opened."""
    found = zip(events, opened, strict=True)
    told = {event.id: said.details.get("finding_id") for event, said in found if isinstance(said, Opened)}
    return {event_id: name for event_id, name in told.items() if isinstance(name, str)}


def place_of(values: tuple[Any, ...], filters: Filters) -> Place | int:
    recorded_at, event_id, sequence = values[:3]
    return sequence if filters.by_place else Place(recorded_at, event_id)


def chain_order(values: tuple[Any, ...]) -> tuple[bool, int]:
    """What has no place in the chain comes first: it is to be seen."""
    sequence = values[2]
    return sequence is None, sequence or 0


def matching(tenant_id: UUID, filters: Filters) -> "QuerySet[Any, Any]":
    events = AuditEvent.objects.filter(tenant_id=tenant_id)
    if filters.case_id:
        events = events.filter(case_id=filters.case_id)
    if filters.by_place:
        return by_place(events.filter(seal__tenant_id=tenant_id), filters).values_list(*VALUES)
    events = by_clock(narrowed(events, filters), filters)
    if filters.about:
        return about(events, tenant_id, filters)
    return events.values_list(*VALUES)


def by_place(events: "QuerySet[AuditEvent]", filters: Filters) -> "QuerySet[AuditEvent]":
    before = filters.before_sequence
    if before is not None:
        events = events.filter(seal__sequence__lt=before)
    return events.order_by("-seal__sequence")


def narrowed(events: "QuerySet[AuditEvent]", filters: Filters) -> "QuerySet[AuditEvent]":
    equal = {"actor": filters.actor, "event_type": filters.type, "outcome": filters.outcome}
    return events.filter(**{name: value for name, value in equal.items() if value})


def by_clock(events: "QuerySet[AuditEvent]", filters: Filters) -> "QuerySet[AuditEvent]":
    if filters.start:
        events = events.filter(recorded_at__gte=filters.start)
    if filters.place:
        before = (filters.place.recorded_at, filters.place.event_id)
        events = events.filter(TupleLessThan(Tuple(F("recorded_at"), F("id")), before))
    return events.order_by("-recorded_at", "-id")


def about(events: "QuerySet[AuditEvent]", tenant_id: UUID, filters: Filters) -> "QuerySet[Any, Any]":
    """By what an event is about. A case's events keep its name sealed: the app that holds the cases says which are
    meant. Two lists, each by an index of its own, are quicker than one that asks for either.
    """
    if filters.sequence is not None:
        return events.filter(seal__tenant_id=tenant_id, seal__sequence=filters.sequence).values_list(*VALUES)
    if filters.about_case:
        return events.filter(case_id=filters.about_case).values_list(*VALUES)
    named = events.exclude(subject="").filter(subject__icontains=filters.about).values_list(*VALUES)
    cases = list(case_names.find(tenant_id, filters.about))
    if not cases:
        return named
    of_cases = events.filter(case_id__in=cases).values_list(*VALUES)
    both = named[: PAGE + 1].union(of_cases[: PAGE + 1], all=True)
    return both.order_by("-recorded_at", "-id")


def references_of(tenant_id: UUID, case_ids: Iterable[UUID | None]) -> dict[UUID, str]:
    wanted = {case_id for case_id in case_ids if case_id is not None}
    return case_names.of(tenant_id, wanted) if wanted else {}


def to_row(values: dict[str, Any], names: dict[UUID, str], findings: dict[UUID, str]) -> Row:
    """`names`: of the cases that are known, by their ids; `findings`: by the ids of events."""
    icon, kind = actor_kind(values["actor_type"])
    case_id, event_hash = values["case_id"], values["seal__event_hash"]
    return Row(
        id=values["id"],
        sequence=values["seal__sequence"],
        time=clock_time(values["recorded_at"]),
        iso_time=values["recorded_at"].isoformat(),
        clocks=clocks_apart(values["body"], values["recorded_at"], MOST_APART),
        words=event_in_words(values["event_type"]),
        code=values["event_type"],
        actor=values["actor"],
        icon=icon,
        actor_kind=kind,
        subject=names.get(case_id, "") if case_id else values["subject"],
        finding=findings.get(values["id"], ""),
        outcome=outcome_in_words(values["outcome"]),
        case_id=case_id,
        case_known=case_id in names,
        hash_prefix=bytes(event_hash).hex()[:8] if event_hash else "",
    )


def clock_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def application_clock(body: str) -> datetime | None:
    """As it stands in an event's content; None where that can't be read, which its proof tells of."""
    try:
        moment = datetime.fromisoformat(str(chain.read_body(body).get("app_at")))
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, RecursionError, OverflowError):
        return None


def clocks_apart(body: str, recorded_at: datetime, most: timedelta) -> str:
    """How far the application's clock stood from the database's, where that is more than `most`."""
    moment = application_clock(body)
    if moment is None or abs(moment - recorded_at) <= most:
        return ""
    side = "earlier" if moment < recorded_at else "later"
    return f"{span(abs(moment - recorded_at))} {side}"


def span(time: timedelta) -> str:
    """Roughly, in the unit people would say it in."""
    seconds = time.total_seconds()
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.3f} s" if seconds < 1 else f"{seconds:.1f} s"
