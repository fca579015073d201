"""What a reader of the trail asks for: the filters in the address of the page, read strictly and said back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID

from audit.chain import EPOCH, microseconds
from audit.words import event_in_words

LONGEST = 200
CURSOR = re.compile(r"(\d{1,18})-([0-9a-f]{32})", re.ASCII)
NUMBER = re.compile(r"#\s*(\d{1,18})", re.ASCII)
OWN, SYSTEM = "own", "system"
NAMES = {"actor": "Who", "type": "What", "about": "About", "since": "From", "until": "To"}


class Unreadable(Exception):
    """A filter that can't be understood: its name, and a sentence for the reader."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name, self.sentence = name, sentence


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two events of the list: what is shown stands before it (older)."""

    recorded_at: datetime
    event_id: UUID

    def __str__(self) -> str:
        return f"{microseconds(self.recorded_at)}-{self.event_id.hex}"


@dataclass(frozen=True, slots=True)
class Filters:
    """As typed; what they mean is in the properties, which `read_filters` has already tried."""

    actor: str = ""
    type: str = ""
    about: str = ""
    since: str = ""
    until: str = ""
    chain: str = OWN
    before: str = ""

    @property
    def sequence(self) -> int | None:
        """`#1042` names an event by its number."""
        number = NUMBER.fullmatch(self.about)
        return int(number[1]) if number and int(number[1]) < 2**63 else None

    @property
    def case_id(self) -> UUID | None:
        try:
            return UUID(self.about)
        except ValueError:
            return None

    @property
    def start(self) -> datetime | None:
        return read_moment("since", self.since)

    @property
    def place(self) -> Place | None:
        """Where the list begins: the upper time bound and the cursor are one and the same bound."""
        end = read_moment("until", self.until, end_of_day=True)
        bounds = [Place(end, UUID(int=0))] if end else []
        if self.before:
            bounds.append(read_place(self.before))
        return min(bounds, key=lambda place: (place.recorded_at, place.event_id), default=None)

    def chips(self) -> list[tuple[str, str]]:
        """Each filter in force in words, with the address of the list without it."""
        shown = {name: getattr(self, name) for name in NAMES if getattr(self, name)}
        if "type" in shown:
            shown["type"] = event_in_words(shown["type"])
        return [
            (f"{NAMES[name]}: {value}", replace(self, **{name: "", "before": ""}).address())
            for name, value in shown.items()
        ]

    def older(self, place: Place) -> str:
        """The address of the list that goes on behind `place`."""
        return replace(self, before=str(place)).address()

    def newest(self) -> str:
        """The address of the list from its beginning."""
        return replace(self, before="").address()

    def address(self) -> str:
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return "?" + urlencode(
            {name: value for name, value in given.items() if value and (name, value) != ("chain", OWN)}
        )


def read_filters(query: Mapping[str, str]) -> Filters:
    """Raises Unreadable, which names the filter, for whatever can't be meant."""
    given = {each.name: query.get(each.name, "").strip() for each in fields(Filters)}
    for name, value in given.items():
        if len(value) > LONGEST or "\0" in value:
            raise Unreadable(
                name, f"“{NAMES.get(name, name)}” is longer than {LONGEST} characters or holds unreadable ones."
            )
    filters = Filters(**{**given, "chain": given["chain"] or OWN})
    if filters.chain not in {OWN, SYSTEM}:
        raise Unreadable("chain", "There is no such trail. Choose your organisation's or the system's.")
    start, place = filters.start, filters.place
    if start and not filters.before and place and start >= place.recorded_at:
        raise Unreadable("since", "“From” is not before “To”, so nothing can lie between them.")
    return filters


def read_moment(name: str, text: str, *, end_of_day: bool = False) -> datetime | None:
    """A date (the whole day) or a date with time, in UTC where no zone is given."""
    if not text:
        return None
    try:
        if len(text) <= len("2026-11-30"):
            day = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
            return day + timedelta(days=1) if end_of_day else day
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unreadable(
            name, f"“{NAMES[name]}” is not a date. Write it as 2026-11-30, or with a time as 2026-11-30T14:02."
        ) from None


def read_place(text: str) -> Place:
    try:
        match = CURSOR.fullmatch(text)
        if match is None:
            raise ValueError
        return Place(EPOCH + timedelta(microseconds=int(match[1])), UUID(match[2]))
    except (ValueError, OverflowError):
        raise Unreadable(
            "before", "This place in the list can't be found. Start again from the newest event."
        ) from None
