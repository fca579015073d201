"""Formex 4 of the Publications Office: an act as adopted (ACT) or consolidated (CONS.ACT).

Deleted text stays in a consolidated file between two processing instructions, which may nest; notes and page marks
stand inside sentences. None of them is part of the law as it stands.
"""

import re
from datetime import date
from typing import Any

from lxml import etree

from verifier.law.blocks import structure
from verifier.law.lines import Lines
from verifier.law.normalise import normalised
from verifier.law.numbers import article_number
from verifier.law.parsing import local, parse_xml
from verifier.law.texts import Act, Article, Unreadable

ROOTS = {"ACT", "CONS.ACT", "CONS.DOC"}
OUTSIDE = {"NOTE", "TI.ART", "STI.ART"}
BLOCKS = set("P TXT ALINEA ITEM NP PARAG LIST CELL ROW TBL QUOT.S DLIST DLIST.ITEM TERM DEFINITION".split())  # noqa: SIM905
LABELS = {"NO.PARAG", "NO.P"}
QUOTES = {"QUOT.START": "‘", "QUOT.END": "’"}
MARK = re.compile(r'(\w+(?:\.\w+)*)\s*=\s*["\']([^"\']*)')
CONTAINERS = {"ANNEX", "CONS.ANNEX"}


def is_formex(root: Any) -> bool:
    return local(root) in ROOTS or root.find(".//ENACTING.TERMS") is not None


def read(content: bytes) -> Act:
    return read_tree(parse_xml(content))


def read_tree(root: Any) -> Act:
    reader = Reader()
    for element in root.iter("ENACTING.TERMS", "CONS.ANNEX", "ANNEX"):
        reader.read(element, container_of(element))
    if not reader.articles:
        raise Unreadable("no_articles", "The file holds no article.")
    info = root.find(".//INFO.CONSLEG") if root.tag != "INFO.CONSLEG" else root
    started = info.get("START.DATE", "") if info is not None else ""
    language = (root.findtext(".//LG.DOC") or "").strip().lower()[:2]
    celex = (root.findtext(".//FAM.COMP//NO.CELEX") or root.findtext(".//NO.CELEX") or "").strip()
    return Act(
        format="formex",
        language=language,
        articles=tuple(reader.articles),
        title=title_of(root),
        identifiers={"celex": celex} if celex else {},
        version_date=day(started),
    )


def title_of(root: Any) -> str:
    title = root.find(".//TITLE")
    lines = ["".join(text_of(each)) for each in title.iter("P")] if title is not None else []
    return normalised(" ".join(lines))[:1000]


def day(text: str) -> date | None:
    return date(int(text[:4]), int(text[4:6]), int(text[6:8])) if re.fullmatch(r"\d{8}", text) else None


def container_of(element: Any) -> str:
    if local(element) == "ENACTING.TERMS":
        return ""
    title = element.find(".//TITLE")
    return " ".join("".join(title.itertext()).split()).casefold()[:100] if title is not None else "annex"


class Reader:
    """In the order of the document, so that what is deleted is known wherever its marks stand."""

    def __init__(self) -> None:
        self.articles: list[Article] = []
        self.deleted: set[str] = set()  # the marks that are open
        self.quoted = 0

    def read(self, element: Any, container: str) -> None:
        for child in element:
            if child.tag is etree.PI:
                self.mark(child)
            elif local(child) == "QUOT.S" or (local(child) in CONTAINERS and container):
                continue
            elif local(child) == "ARTICLE":
                self.add(child, container)
            elif local(child):
                self.read(child, container)

    def add(self, element: Any, container: str) -> None:
        gone = bool(self.deleted)
        title = element.find("TI.ART")
        lines = Lines()
        self.gather(element, lines)
        if gone and self.deleted:
            return  # the whole article is deleted; where a number is left, it stands without the marks
        told = "".join(text_of(title)) if title is not None else element.get("IDENTIFIER", "")
        paragraphs = structure(lines.all())
        self.articles.append(
            Article(
                number=article_number(told),
                paragraphs=paragraphs,
                heading=" ".join(" ".join("".join(text_of(each)).split()) for each in element.iter("STI.ART")),
                container=container,
                deleted=not paragraphs,
                line=element.sourceline or 0,
            )
        )

    def mark(self, instruction: Any) -> None:
        values = dict(MARK.findall(instruction.text or ""))
        if instruction.target == "CLG.MDFO" and values.get("ACTION") == "DELETED":
            self.deleted.add(values.get("ID", ""))
        elif instruction.target == "CLG.MDFC":
            self.deleted.discard(values.get("IDREF", ""))

    def gather(self, element: Any, lines: Lines) -> None:
        """All that stands in the element and is law."""
        if not self.deleted:
            lines.write(element.text)
        for child in element:
            name = local(child)
            if child.tag is etree.PI:
                self.mark(child)
            elif name in OUTSIDE or not name:
                self.pass_marks(child)
            elif name in QUOTES:
                if not self.deleted:
                    lines.write(QUOTES[name])
            elif name in LABELS:
                if self.deleted:
                    self.pass_marks(child)
                else:
                    lines.label("".join(text_of(child)).strip())
            elif name in BLOCKS:
                lines.block()
                self.gather(child, lines)
                lines.block()
            else:
                self.gather(child, lines)
            if not self.deleted:
                lines.write(child.tail)

    def pass_marks(self, element: Any) -> None:
        for each in element.iter(etree.PI):
            self.mark(each)


def text_of(element: Any) -> list[str]:
    """Without notes; their tails stay."""
    if element is None:
        return []
    parts = [element.text or ""]
    for child in element:
        if local(child) in QUOTES:
            parts.append(QUOTES[local(child)])
        elif local(child) and local(child) != "NOTE":
            parts += text_of(child)
        parts.append(child.tail or "")
    return parts
