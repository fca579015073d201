"""Article numbers as they are printed, and folded so that they can be compared."""

import re

from verifier.law.normalise import normalised

# The words before a number, in the languages of the corpus.
WORDS = r"(?:artikelen|artikel|articles|article|art|článek|čl|sections|section|sec|regulation|reg|ss|s|§§|§)"
LEADING = re.compile(rf"\W*{WORDS}\s?\.?\s*", re.IGNORECASE)
NUMBER = re.compile(
    r"(\d+(?:\s?-\s?)?[0-9a-z]*(?:\s?(?:bis|ter|quater|quinquies|sexies|septies|octies))?|premier|[A-Z]\.?\d[\d-]*)",
    re.IGNORECASE,
)
FIRST = {"premier": "1", "1er": "1"}


def article_number(heading: str) -> str:
    """Of "Article 18a", "§ 23a", "Artikel 59-a", "Art. 7-1bis."; empty where there is none."""
    text = normalised(heading)
    found = NUMBER.match(LEADING.sub("", text, count=1))
    if found is None:
        return ""
    number = re.sub(r"\s", "", found[1]).rstrip("-.")
    return FIRST.get(number.casefold(), number)


PARTS = re.compile(r"(\d+)-?([a-z]*)", re.IGNORECASE)
HEADING = re.compile(rf"{WORDS}\s?\.?\s*\d+\s?[a-z]{{0,2}}\s*(?:\(ex .{{1,40}}\))?", re.IGNORECASE)


def is_next(before: str, number: str) -> bool:
    """Whether `number` may stand directly behind `before`: 21 or 20a behind 20, 33 or 32b behind 32a."""
    one, other = PARTS.fullmatch(before), PARTS.fullmatch(number)
    if not one or not other:
        return False
    if int(other[1]) == int(one[1]) + 1:
        return not other[2]
    return int(other[1]) == int(one[1]) and other[2] > one[2]
