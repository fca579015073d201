"""From an article's lines, as any format gives them, to its paragraphs and points."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from verifier.law.normalise import normalised
from verifier.law.texts import Paragraph, Point

NUMBERED = re.compile(r"(\d{1,4}(?:-?[a-z]{1,3})?)\s?\.\s*(?=\D|$)(.*)", re.DOTALL)
POINT = re.compile(r"[(]\s?([0-9]{1,3}[a-z]{0,2}|[a-zA-Z]{1,5}|[ivxlIVXL]{1,7})\s?[)]\s*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Style:
    """How numbers of paragraphs and labels of points are printed. The first group that fits is the label."""

    number: re.Pattern[str]
    point: re.Pattern[str]


EU = Style(NUMBERED, POINT)
CZECH = Style(
    re.compile(r"\((\d{1,3})\)\s*(.*)", re.DOTALL),
    re.compile(r"([a-z]{1,2})\)\s*(.*)|(\d{1,3})\.\s+(.*)", re.DOTALL),
)
DUTCH = Style(
    re.compile(r"(\d{1,3}[a-z]?)\s?\.?\s+(.*)", re.DOTALL),
    re.compile(r"([a-z]{1,2})\s?\.\s*(.*)|(\d{1,3}°)\s?\.?\s*(.*)", re.DOTALL),
)
FRENCH = Style(
    re.compile(r"\((\d{1,3}(?:bis|ter|quater|[a-z])?)\)\s*(.*)", re.DOTALL),
    re.compile(r"([a-z]{1,2}|\d{1,3}(?:bis|ter|quater)?)\s?[).°]\s*(.*)", re.DOTALL),
)
NUMERALS = """i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx xxi xxii xxiii xxiv xxv"""
ROMAN = {numeral: value for value, numeral in enumerate(NUMERALS.split(), 1)}
CLOSES = re.compile(r"[’'”][;.,:]?(?: (?:and|or))?$")
OPENS = "‘“"


def structure(lines: Iterable[str], style: Style = EU) -> tuple[Paragraph, ...]:
    """Numbers and labels are read where a line begins with one; what has neither goes on with what stands before."""
    builder = Builder(style)
    for line in without_quoted_law([text for each in lines if (text := normalised(each))]):
        if any(sign.isalnum() for sign in line):
            builder.add(line)
    return builder.paragraphs()


def without_quoted_law(lines: list[str]) -> list[str]:
    """Lines of another act that this one quotes, from an opening mark that no word closes to its closing mark.

    A quotation that is never closed is none.
    """
    left, place = [], 0
    while place < len(lines):
        end = quoted_until(lines, place)
        if end is None:
            left.append(lines[place])
            place += 1
        else:
            place = end + 1
    return left


def quoted_until(lines: list[str], place: int) -> int | None:
    """The last line of the quotation that begins with the line at `place`, if one does."""
    words = lines[place].lstrip("(0123456789. )")
    if not words[:1] or words[0] not in OPENS:
        return None
    closed = words.find("’", 1)
    if 0 <= closed < len(words) - 3:  # a term in quotes, of which something is said
        return None
    for end in range(place, len(lines)):
        if CLOSES.search(lines[end]):
            return end
    return None


@dataclass
class Draft:
    """A paragraph or point in the making; `level` orders points among each other."""

    label: str
    texts: list[str] = field(default_factory=list)
    points: list["Draft"] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    def point(self) -> Point:
        return Point(self.label, self.text, tuple(each.point() for each in self.points))


class Builder:
    def __init__(self, style: Style) -> None:
        self.style = style
        self.drafts: list[Draft] = []
        self.open: list[Draft] = []  # the points that are open, the outermost first

    def add(self, line: str) -> None:
        if numbered := self.style.number.fullmatch(line):
            self.begin(*parts_of(numbered))
        elif labelled := self.style.point.fullmatch(line):
            self.add_point(*parts_of(labelled))
        elif self.drafts and not self.drafts[-1].points:
            self.drafts[-1].texts.append(line)
        else:
            self.begin("", line)

    def begin(self, number: str, text: str) -> None:
        self.drafts.append(Draft(number, [text] if text else []))
        self.open = []

    def add_point(self, label: str, text: str) -> None:
        if not self.drafts:
            self.begin("", "")
        level = self.level_of(label)
        del self.open[level:]
        draft = Draft(label, [text] if text else [])
        (self.open[-1].points if self.open else self.drafts[-1].points).append(draft)
        self.open.append(draft)

    def level_of(self, label: str) -> int:
        """Behind its predecessor, else inside the innermost point where it is a first one, else beside that."""
        for level in range(len(self.open) - 1, -1, -1):
            if follows(self.open[level].label, label):
                return level
        if not self.open or is_first(label):
            return len(self.open)
        same = [level for level, each in enumerate(self.open) if kind(each.label) == kind(label)]
        return same[-1] if same else len(self.open) - 1

    def paragraphs(self) -> tuple[Paragraph, ...]:
        return tuple(
            Paragraph(draft.label, draft.text, tuple(each.point() for each in draft.points)) for draft in self.drafts
        )


def parts_of(found: re.Match[str]) -> tuple[str, str]:
    label, text = (each for each in found.groups() if each is not None)
    return label, text


def is_first(label: str) -> bool:
    return label in {"a", "i", "1", "1°", "A", "I", "aa"}


def kind(label: str) -> str:
    if label[0].isdigit():
        return "number"
    return "upper" if label.isupper() else "lower"


def follows(before: str, label: str) -> bool:
    """Whether `label` is the next one, or an inserted one, after `before`."""
    before, label = before.removesuffix("°"), label.removesuffix("°")
    if before.isdigit() and label.rstrip("abcdefgh").isdigit():
        return int(label.rstrip("abcdefgh")) - int(before) in {0, 1} and label != before
    low_before, low = before.lower(), label.lower()
    if before.isupper() != label.isupper():
        return False
    if low_before in ROMAN and low in ROMAN and ROMAN[low] == ROMAN[low_before] + 1:
        return True
    if len(low_before) == len(low) == 1 and ord(low) == ord(low_before) + 1:
        return True
    return len(low) == len(low_before) + 1 and low.startswith(low_before) and low not in ROMAN
