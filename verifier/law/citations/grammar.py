"""The grammar of citations, as they are written in English, French, German, Dutch and Czech.

A citation names one or several bases (`+`, `;`), each an instrument with provisions of it: articles, sections or
paragraphs, alone, listed or in ranges, each down to its points. What it doesn't name is never added, and text that
can't be read is a result of its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from verifier.law.normalise import normalised

LONGEST = 1000  # characters
MOST_MEMBERS = 400  # of a range


@dataclass(frozen=True, slots=True)
class Target:
    """One provision. `points` from the outermost: `("a", "i")`."""

    number: str
    paragraph: str = ""
    points: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.number + (f"({self.paragraph})" if self.paragraph else "") + "".join(f"({x})" for x in self.points)


@dataclass(frozen=True, slots=True)
class Basis:
    """An instrument as it is called there, and the provisions of it; none: the instrument as a whole."""

    instrument: str
    targets: tuple[Target, ...] = ()
    noun: str = "Art."
    gloss: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    bases: tuple[Basis, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Ungrammatical:
    """`code` for programs, a sentence for people, and the offset in the text at which nothing fits any more."""

    code: str
    sentence: str
    offset: int = 0


NOUN = re.compile(
    r"(?<![\w.])(?:(?P<article>articles?|arts?\.?|artikelen|artikel|čl\.)|(?P<section>sections?|secs?\.|ss?\.)"
    r"|(?P<paragraph>§{1,2})|(?P<regulation>regs?\.))\s*(?!\d{4}/)(?=\d|[A-Z]\.?\s?\d|premier)",
    re.IGNORECASE,
)
CODE = re.compile(r"(?P<title>\d{1,3})\s+(?P<code>CFR|U\.?S\.?C\.?)\s+(?P<rest>\d[\w.\-]*)", re.IGNORECASE)
NUMBER = re.compile(
    r"premier\b|1er\b|[LRD]\.?\s?\d+(?:-\d+)+|\d+(?:\.\d+)?(?:-\d+(?:bis|ter|quater|quinquies)|[a-z]{1,2}\b|(?:bis|ter|quater)\b"
    r"|-[a-z]\b)?",
    re.IGNORECASE,
)
BRACKET = re.compile(r"\s?\(\s?([0-9]{1,3}(?:°|[a-z]{0,2})|[a-z]{1,5}|[ivxl]{1,7})\s?\)", re.IGNORECASE)
WORDED = re.compile(
    r",?\s*(?:(?P<paragraph>(?:odst\.|Abs\.|Absatz|paragraph|paragraphs|lid)\s*(?P<n>\d{1,3}[a-z]{0,2})|(?P<ordinal>\w+)\s+lid\b)"
    r"|(?:points?|písm\.|Buchst\.|lit\.|onderdeel|onder|sub)\s*\(?(?P<point>[a-z]{1,3}|\d{1,3}°?)\)?"
    r"|(?:Satz|věta|zin|sentence)\s*(?P<sentence>\d{1,2})|(?:Nr\.|Nummer|bod)\s*(?P<item>\d{1,3}[a-z]?)(?:\((?P<letter>[a-z])\))?)",
    re.IGNORECASE,
)
ORDINALS_IN_DUTCH = "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde"
ORDINALS = {word: str(place) for place, word in enumerate(ORDINALS_IN_DUTCH.split(), 1)}
RANGE = re.compile(r"\s*(?:[-–—]|\bto\b|\bbis\b|\baž\b|\bt/m\b|\bà\b)\s*(?=[(\dA-Z])", re.IGNORECASE)
LIST = re.compile(r"\s*(?:,\s*(?:and|et|und|en|a)?|/|\band\b|\bet\b|\bund\b|\ben\b|&)\s*(?=[(\d])", re.IGNORECASE)
GLOSS = re.compile(r"\s*\(([^()]*)\)\s*$")
BETWEEN = re.compile(r"^[\s,.:]*(?:of(?: the)?|der|des|van de|van|de la|de|du)?[\s,]+|[\s,.:]+$", re.IGNORECASE)


class Unfit(Exception):
    def __init__(self, code: str, sentence: str, offset: int) -> None:
        super().__init__(sentence)
        self.problem = Ungrammatical(code, sentence, offset)


def parse(text: str) -> Citation | Ungrammatical:
    """Never raises. A citation whose instrument alone is named has no targets, and grounds nothing."""
    told = normalised(text) if len(text) <= LONGEST else ""
    if not told:
        return Ungrammatical("empty" if len(text) <= LONGEST else "too_long", "It says nothing that can be read.")
    try:
        bases = tuple(parse_basis(part, offset) for part, offset in parts_of(told))
    except Unfit as unfit:
        return unfit.problem
    if not any(sign.isalpha() for sign in told):
        return Ungrammatical("no_instrument", "It names no instrument.")
    return Citation(carried_on(bases))


def carried_on(bases: tuple[Basis, ...]) -> tuple[Basis, ...]:
    """A basis that names no instrument is one of the instrument before it."""
    found: list[Basis] = []
    for basis in bases:
        called = basis.instrument or (found[-1].instrument if found else "")
        found.append(Basis(called, basis.targets, basis.noun, basis.gloss))
    return tuple(found)


def parts_of(text: str) -> Iterator[tuple[str, int]]:
    depth, start = 0, 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign in "+;" and depth <= 0:
            yield text[start:place], start
            start = place + 1
    yield text[start:], start


def parse_basis(part: str, offset: int) -> Basis:
    if not part.strip():
        raise Unfit("empty_basis", "Between two signs nothing is named.", offset)
    code = CODE.search(part)
    if code:
        target, end = provision(part, code.start("rest"))
        return Basis(f"{code['title']} {code['code']}", (target,), "", gloss_of(part[end:]))
    noun = NOUN.search(part)
    if noun is None:
        gloss = GLOSS.search(part)
        return Basis(trimmed(part[: gloss.start()] if gloss else part), (), "", gloss[1] if gloss else "")
    targets, end = provisions(part, noun.end(), offset)
    after = part[end:]
    gloss = GLOSS.search(after)
    rest = trimmed(after[: gloss.start()] if gloss else after)
    before = trimmed(part[: noun.start()])
    if before and rest:
        raise Unfit("unread", f"“{rest}” can't be read.", offset + end)
    kind = "s." if noun["section"] else "§" if noun["paragraph"] else "reg." if noun["regulation"] else "Art."
    return Basis(before or rest, tuple(targets), kind, gloss[1] if gloss else "")


def trimmed(text: str) -> str:
    return BETWEEN.sub("", f" {text}").strip()


def gloss_of(text: str) -> str:
    found = GLOSS.search(text)
    return found[1] if found else ""


def provisions(text: str, place: int, offset: int) -> tuple[list[Target], int]:
    target, place = provision(text, place)
    found = [target]
    while True:
        if between := RANGE.match(text, place):
            place = range_to(text, between.end(), found, offset)
        elif between := LIST.match(text, place):
            if text[between.end()] == "(":
                target, after = continued(text, between.end(), found[-1])
            else:
                target, after = provision(text, between.end())
            if after == between.end():
                return found, place
            found.append(target)
            place = after
        else:
            return found, place


def provision(text: str, place: int) -> tuple[Target, int]:
    number = NUMBER.match(text, place)
    if number is None:
        return Target(""), place
    place = number.end()
    spelled = re.sub(r"\s|\.(?=\D|$)", "", number[0])
    named = "1" if spelled.casefold() in {"premier", "1er"} else spelled
    levels: list[str] = []
    while bracket := BRACKET.match(text, place):
        levels.append(bracket[1])
        place = bracket.end()
    paragraph = levels.pop(0) if levels and re.fullmatch(r"\d+[a-z]{0,2}", levels[0]) else ""
    while worded := WORDED.match(text, place):
        if worded["ordinal"] is not None and worded["ordinal"].casefold() not in ORDINALS:
            break
        place = worded.end()
        if worded["sentence"]:
            continue  # a sentence has no hash of its own; what holds it has
        if worded["paragraph"]:
            paragraph = worded["n"] or ORDINALS[worded["ordinal"].casefold()]
        else:
            levels += [each for each in (worded["point"], worded["item"], worded["letter"]) if each]
    return Target(named, paragraph, tuple(levels)), place


def continued(text: str, place: int, before: Target) -> tuple[Target, int]:
    """`(4)` behind `34(1)`: another paragraph, or point, of the same article."""
    bracket = BRACKET.match(text, place)
    if bracket is None:
        return before, place
    label = bracket[1]
    if before.points and not label[0].isdigit():
        return Target(before.number, before.paragraph, (*before.points[:-1], label)), bracket.end()
    return Target(before.number, label), bracket.end()


def range_to(text: str, place: int, found: list[Target], offset: int) -> int:
    first = found[-1]
    if text[place] == "(":
        last, end = continued(text, place, first)
        labels = (first.points[-1], last.points[-1]) if first.points else (first.paragraph, last.paragraph)
        for label in members(*labels, offset + place):
            points = (*first.points[:-1], label) if first.points else ()
            found.append(Target(first.number, first.paragraph if first.points else label, points))
        return end
    last, end = provision(text, place)
    found += [Target(number) for number in members(first.number, last.number, offset + place)]
    found[-1] = last if last.paragraph or last.points else found[-1]
    return end


def members(first: str, last: str, offset: int) -> list[str]:
    """All behind the first one. A range whose members only the act itself knows is not guessed."""
    if first.isdigit() and last.isdigit():
        begin, end = int(first), int(last)
        if end <= begin:
            raise Unfit("reversed_range", f"The range from {first} to {last} runs backwards.", offset)
        if end - begin > MOST_MEMBERS:
            raise Unfit("wide_range", f"The range from {first} to {last} is too wide.", offset)
        return [str(number) for number in range(begin + 1, end + 1)]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        if ord(last) <= ord(first):
            raise Unfit("reversed_range", f"The range from {first} to {last} runs backwards.", offset)
        return [chr(code) for code in range(ord(first) + 1, ord(last) + 1)]
    raise Unfit("open_range", f"What lies between {first} and {last} can't be told from the citation.", offset)


def canonical(citation: Citation) -> str:
    """One spelling; read again it gives the same citation."""
    return " + ".join(spelled_basis(basis) for basis in citation.bases)


def spelled_basis(basis: Basis) -> str:
    listed = ", ".join(str(target) for target in basis.targets)
    told = " ".join(each for each in (basis.instrument, basis.noun, listed) if each)
    return f"{told} ({basis.gloss})" if basis.gloss else told
