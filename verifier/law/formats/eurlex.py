"""Acts of the European Union as adopted, in the XHTML of EUR-Lex: its classes with `oj-` and the older ones without.

Where articles have ids, a heading counts only inside the block of its own: an act that amends another quotes whole
articles, with headings that look the same. Pages without ids are cut at their headings.
"""

import re
from contextlib import suppress
from datetime import date
from typing import Any

from verifier.law.blocks import POINT, structure
from verifier.law.lines import Lines
from verifier.law.normalise import normalised
from verifier.law.numbers import HEADING, article_number, is_next
from verifier.law.parsing import classes, local, parse_html
from verifier.law.texts import Act, Article, Unreadable

OF_ARTICLE = re.compile(r"art_[^.]+")
IN_ANNEX = re.compile(r"art_[^.]+|\d{3}[A-Z]*")  # an agreement or a statute that the act adopts
BLOCKS = {"p", "div", "td", "tr", "table", "tbody", "li", "ul", "ol", "dl", "dt", "dd", "body", "center", "hr", "br"}
OUTSIDE = {"note", "hd-ti", "hd-lg", "hd-coll", "hd-uniq", "hd-date", "hd-oj", "doc-end", "note-tag"}
ENDS = {"ti-section-1", "ti-section-2", "ti-grseq-1", "doc-ti", "signatory", "doc-sep", "final"}
FINAL = re.compile(
    "|".join(
        (
            "This (?:Regulation|Directive|Decision) shall be binding in its entirety",
            "Le présent règlement est obligatoire dans tous",
            "Diese Verordnung ist in allen ihren Teilen verbindlich",
            "Deze verordening is verbindend in al haar onderdelen",
            "Toto nařízení je závazné v celém rozsahu",
            r"(?:Done at|Fait à|Geschehen zu|Gedaan te|Ve?) \w+, ?(?:the|le|am|den|dne) \d",
        )
    )
)
NUMBER = re.compile(r"\((?:EU|UE|EC|CE|EEC|CEE|EG|ES)\)\s*(?:No|n o|Nr|č\.)?\s*(\d{4})/(\d{1,4})\b")
OLD_NUMBER = re.compile(r"\((?:EU|EC|EEC)\)\s*No\s*(\d{1,4})/(\d{4})\b|(\d{4})/(\d{1,3})/(?:EC|EU|EEC)\b")
KINDS = {
    **dict.fromkeys(("regulation", "règlement", "verordnung", "verordening", "nařízení"), "R"),
    **dict.fromkeys(("directive", "richtlinie", "richtlijn", "směrnice"), "L"),
    **dict.fromkeys(("decision", "décision", "beschluss", "besluit", "rozhodnutí"), "D"),
}
ANNEXES = ("annex", "annexe", "anhang", "bijlage", "příloha")
DAY = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")


def own(names: set[str]) -> set[str]:
    """The classes as the older converters spelled them."""
    return {name.removeprefix("oj-") for name in names}


def is_adopted(root: Any) -> bool:
    return any("ti-art" in own(classes(each)) for each in root.iter() if local(each) == "p")


def read(content: bytes) -> Act:
    return read_tree(parse_html(content))


def read_tree(root: Any) -> Act:
    with_ids = any(OF_ARTICLE.fullmatch(each.get("id") or "") for each in root.iter() if local(each) == "div")
    reader = Reader(with_ids)
    reader.walk(root)
    reader.close()
    if not reader.articles:
        raise Unreadable("no_articles", "The page holds no article.")
    celex = celex_of(reader.title)
    return Act(
        format="eurlex",
        language=reader.language.lower(),
        articles=tuple(reader.articles),
        title=normalised(reader.title)[:1000],
        identifiers={"celex": celex} if celex else {},
        version_date=day_of(reader.title) or reader.published,
    )


MONTHS = {
    month: place
    for names in (
        "january february march april may june july august september october november december",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "ledna února března dubna května června července srpna září října listopadu prosince",
    )
    for place, month in enumerate(names.split(), 1)
}
SPELLED = re.compile(r"\b(\d{1,2})\.?\s+([^\W\d]+)\s+(\d{4})\b")


def day_of(title: str) -> date | None:
    """The day of the act, by which it is called; its publication comes later."""
    for found in SPELLED.finditer(normalised(title)):
        if month := MONTHS.get(found[2].casefold()):
            with suppress(ValueError):  # no such day: not a date
                return date(int(found[3]), month, int(found[1]))
    return None


def celex_of(title: str) -> str:
    """From the act's own title; empty where it doesn't say."""
    words = normalised(title)
    kind = next((letter for word, letter in KINDS.items() if word in words.casefold()[:60]), "")
    found = NUMBER.search(words[:200])
    if kind and found:
        return f"3{found[1]}{kind}{int(found[2]):04}"
    older = OLD_NUMBER.search(words[:200])
    if kind and older:
        year, number = (older[2], older[1]) if older[1] else (older[3], older[4])
        return f"3{year}{kind}{int(number):04}"
    return ""


class Reader:
    """Walks the page once, in its order."""

    def __init__(self, with_ids: bool) -> None:
        self.with_ids = with_ids
        self.articles: list[Article] = []
        self.title = self.container = self.number = self.heading = self.language = ""
        self.published: date | None = None
        self.titled = False
        self.line = 0
        self.lines: Lines | None = None  # of the article that is open
        self.last = ""  # the number of the article that was open last

    def walk(self, element: Any) -> None:
        names = own(classes(element))
        self.look(element, names)
        if names & OUTSIDE or local(element) in {"head", "script", "style"}:
            return
        container = element.get("id", "") if "eli-container" in names else ""
        if normalised(container).startswith("anx_"):
            self.close()
            self.container = f"annex {normalised(container).removeprefix('anx_').strip()}".casefold().strip()
        if element.get("id") in {"fnp_1", "fnp"} or names & ENDS:
            self.close()
            if "doc-ti" in names and not self.articles and not self.titled:
                self.title += " " + "".join(element.itertext())
            elif "doc-ti" in names:
                title = normalised("".join(element.itertext())).casefold()
                self.container = title[:60] if title.startswith(ANNEXES) else self.container
            if names & ENDS:
                return
        if "ti-art" in names and self.is_heading(element):
            self.begin(element)
            return
        if "sti-art" in names and self.lines is not None and not self.heading:
            self.heading = normalised("".join(element.itertext()))
            return
        self.inside(element)

    def look(self, element: Any, names: set[str]) -> None:
        if "hd-lg" in names and not self.language:
            self.language = normalised("".join(element.itertext()))[:2]
        if "hd-date" in names and self.published is None and (found := DAY.search("".join(element.itertext()))):
            self.published = date(int(found[3]), int(found[2]), int(found[1]))

    def is_heading(self, element: Any) -> bool:
        around = element.getparent().get("id") or ""
        return not self.with_ids or bool((IN_ANNEX if self.container else OF_ARTICLE).fullmatch(around))

    def check_stray(self, element: Any) -> None:
        """Between articles nothing reads like the heading of the next one, unless its own mark was lost."""
        text = normalised("".join(element.itertext()))
        if len(text) < 40 and HEADING.fullmatch(text) and is_next(self.last, article_number(text)):
            raise Unreadable("broken", f"“{text}” is marked as no heading.", f"line {element.sourceline}")

    def inside(self, element: Any) -> None:
        name = local(element)
        if name == "p" and self.lines is None and self.last:
            self.check_stray(element)
        if name == "td" and self.lines is not None and is_label(element):
            self.lines.label(normalised("".join(element.itertext())))
            return
        if name == "a" and is_note(element):
            return
        if self.lines is not None:
            if name in BLOCKS:
                self.lines.block()
            self.lines.write(element.text)
        for child in element:
            if local(child):
                self.walk(child)
            if self.lines is not None:
                self.lines.write(child.tail)
        if self.lines is not None and name in BLOCKS:
            self.lines.block()

    def begin(self, element: Any) -> None:
        self.close()
        self.titled = True
        self.number, self.heading = article_number("".join(element.itertext())), ""
        self.line, self.lines = element.sourceline or 0, Lines()
        self.last = self.number

    def close(self) -> None:
        if self.lines is None:
            return
        lines = self.lines.all()
        end = next((place for place, line in enumerate(lines) if FINAL.match(normalised(line))), len(lines))
        paragraphs = structure(lines[:end])
        self.lines = None
        self.articles.append(
            Article(
                number=self.number,
                paragraphs=paragraphs,
                heading=self.heading,
                container=self.container,
                deleted=not paragraphs,
                line=self.line,
            )
        )


def is_label(cell: Any) -> bool:
    """The first of two cells, which holds nothing but the label of what stands in the second."""
    if cell.getprevious() is not None or cell.getnext() is None:
        return False
    text = normalised("".join(cell.itertext()))
    return bool(POINT.fullmatch(text)) or bool(re.fullmatch(r"\d{1,3}[a-z]?\.|[—–-]", text))


def is_note(element: Any) -> bool:
    text = normalised("".join(element.itertext()))
    return element.get("href", "").startswith("#") and bool(re.fullmatch(r"\(?\s*[*\d]*\s*\)?", text))
