"""What a reader of the trail asks for: the filters in the address of the page, read strictly and said back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID

from audit.chain import EPOCH, microseconds
from audit.words import event_in_words, outcome_in_words

LONGEST = 200
CURSOR = re.compile(r"(\d{1,18})-([0-9a-f]{32})", re.ASCII)
NUMBER = re.compile(r"#\s*(\d{1,19})", re.ASCII)
PLACE = re.compile(r"\d{1,18}", re.ASCII)
OWN, SYSTEM = "own", "system"
NAMES = {
    "case": "Case",
    "actor": "Who",
    "type": "What",
    "outcome": "Outcome",
    "about": "About",
    "since": "From",
    "until": "To",
}
IN_WORDS = {"type": event_in_words, "outcome": outcome_in_words}
LOST = "This place in the list can't be found. Start again from the newest event."


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

    case: str = ""
    actor: str = ""
    type: str = ""
    outcome: str = ""
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
    def about_case(self) -> UUID | None:
        """A case by its id, typed where a part of its name may stand as well."""
        try:
            return UUID(self.about)
        except ValueError:
            return None

    @property
    def case_id(self) -> UUID | None:
        if not self.case:
            return None
        try:
            return UUID(self.case)
        except ValueError:
            raise Unreadable("case", "There is no case with this id. Look for it by its name instead.") from None

    @property
    def start(self) -> datetime | None:
        return read_moment("since", self.since)

    @property
    def by_place(self) -> bool:
        """Whether the list follows the chain itself: a whole trail, or a whole case of it.

        Any other choice is read by the clock, for which there are indexes, and each page of it put in chain order.
        """
        return not any(getattr(self, name) for name in NAMES if name != "case")

    @property
    def before_sequence(self) -> int | None:
        """Of a list by place: the number that its next event stays below."""
        if not self.before:
            return None
        if not PLACE.fullmatch(self.before):
            raise Unreadable("before", LOST)
        return int(self.before)

    @property
    def place(self) -> Place | None:
        """Of a list by the clock, where it begins: the upper time bound and the cursor are one and the same bound."""
        end = read_moment("until", self.until, end_of_day=True)
        bounds = [Place(end, UUID(int=0))] if end else []
        if self.before:
            bounds.append(read_place(self.before))
        return min(bounds, key=lambda place: (place.recorded_at, place.event_id), default=None)

    def chips(self, case_name: str = "") -> list[tuple[str, str]]:
        """Each filter in force in words, with the address of the list without it."""
        given = {name: getattr(self, name) for name in NAMES if getattr(self, name)}
        said = {name: IN_WORDS[name](value) if name in IN_WORDS else value for name, value in given.items()}
        if case_name and "case" in said:
            said["case"] = case_name
        return [
            (f"{NAMES[name]}: {value}", replace(self, **{name: "", "before": ""}).address())
            for name, value in said.items()
        ]

    def older(self, place: Place | int) -> str:
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
    _ = filters.case_id
    if filters.by_place:
        _ = filters.before_sequence
        return filters
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
        raise Unreadable("before", LOST) from None
