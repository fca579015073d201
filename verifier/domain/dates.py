"""Dates as reports spell them, in ISO form. What is ambiguous or impossible gives the year alone, and says so.

A screening provider drops a date it can't read without a word, so only ISO forms are sent.
"""

import re
from dataclasses import dataclass
from datetime import date

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
OLDEST_YEAR, NEWEST_YEAR = 1850, 2100

YEAR = r"(?P<year>\d{4})"
NAME = r"(?P<name>[a-z]{3,9})\.?"
ISO = re.compile(rf"{YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?:[t ].*)?")
COMPACT = re.compile(rf"{YEAR}(?P<month>\d{{2}})(?P<day>\d{{2}})")
YEAR_MONTH = re.compile(rf"{YEAR}[-/.](?P<month>\d{{1,2}})|(?P<month2>\d{{1,2}})[-/.](?P<year2>\d{{4}})")
DOTTED = re.compile(rf"(?P<day>\d{{1,2}})\. ?(?P<month>\d{{1,2}})\. ?{YEAR}\.?")
EITHER = re.compile(rf"(?P<one>\d{{1,2}})[-/ ](?P<two>\d{{1,2}})[-/ ]{YEAR}")
DAY_NAME = re.compile(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[ -]+(?:of )?{NAME}[ ,-]+{YEAR}")
NAME_DAY = re.compile(rf"{NAME}[ -]+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ ,-]+{YEAR}")
NAME_YEAR = re.compile(rf"{NAME}[ ,-]+{YEAR}")
ABOUT_YEAR = re.compile(rf"(?:circa|ca\.?|c\.?|about|around|approx\.?|approximately|~) ?{YEAR}")
ANY_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")


@dataclass(frozen=True, slots=True)
class ReadDate:
    value: str = ""  # yyyy-mm-dd, yyyy-mm, yyyy or nothing
    note: str = ""  # what was lost, in plain words


def read_date(text: str) -> ReadDate:
    text = " ".join(text.casefold().split())
    if re.fullmatch(r"\d{4}", text):
        return year_alone(text, "")
    if match := ABOUT_YEAR.fullmatch(text):
        return year_alone(match["year"], "it is approximate; the year was used.")
    if match := EITHER.fullmatch(text):
        return day_or_month_first(match)
    for pattern in (ISO, COMPACT, DOTTED, DAY_NAME, NAME_DAY):
        if match := pattern.fullmatch(text):
            return whole(match["year"], month_number(match), int(match["day"]))
    if match := YEAR_MONTH.fullmatch(text):
        return year_and_month(match["year"] or match["year2"], int(match["month"] or match["month2"]))
    if match := NAME_YEAR.fullmatch(text):
        return year_and_month(match["year"], month_number(match))
    return only_year_in(text)


def month_number(match: re.Match[str]) -> int:
    """0 when it is the name of no month."""
    groups = match.groupdict()
    if groups.get("month"):
        return int(groups["month"])
    return next((number for number, name in enumerate(MONTHS, 1) if name.startswith(groups["name"][:3])), 0)


def day_or_month_first(match: re.Match[str]) -> ReadDate:
    one, two = int(match["one"]), int(match["two"])
    if one == two or one > 12:
        return whole(match["year"], two, one)
    if two > 12:
        return whole(match["year"], one, two)
    return year_alone(match["year"], "day and month could be either way round; only the year was used.")


def whole(year: str, month: int, day: int) -> ReadDate:
    try:
        value = date(int(year), month, day)
    except ValueError:
        return year_alone(year, "there is no such day; only the year was used.")
    return ReadDate(value.isoformat()) if is_plausible(year) else year_alone(year, "")


def year_and_month(year: str, month: int) -> ReadDate:
    if not 1 <= month <= 12:
        return year_alone(year, "there is no such month; only the year was used.")
    return ReadDate(f"{year}-{month:02}") if is_plausible(year) else year_alone(year, "")


def year_alone(year: str, note: str) -> ReadDate:
    if not is_plausible(year):
        return ReadDate(note="it could not be read and was not used.")
    return ReadDate(year, note)


def only_year_in(text: str) -> ReadDate:
    years = set(ANY_YEAR.findall(text))
    if len(years) == 1:
        return year_alone(years.pop(), "it could not be read in full; only the year was used.")
    return ReadDate(note="it could not be read and was not used.")


def is_plausible(year: str) -> bool:
    return OLDEST_YEAR <= int(year) <= NEWEST_YEAR
