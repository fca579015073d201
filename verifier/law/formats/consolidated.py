"""Consolidated texts of EUR-Lex in HTML, with ids of their articles and without.

They are cut at their headings either way: the headings are there in every file. Marks of amendments stand between and
inside the blocks and are no part of the law; neither are the notes, which stand at the end.
"""

import re
from datetime import date
from typing import Any

from verifier.law.blocks import structure
from verifier.law.lines import Lines
from verifier.law.normalise import normalised
from verifier.law.numbers import HEADING, article_number, is_next
from verifier.law.parsing import classes, local, parse_html
from verifier.law.texts import Act, Article, Unreadable

REFERENCE = re.compile(r"0?(\d{4}[A-Z]\d{4})\s*—\s*([A-Z]{2})\s*—\s*(\d{2})\.(\d{2})\.(\d{4})")
BLOCKS = {"p", "div", "td", "tr", "table", "li", "ul", "ol", "dl", "dt", "dd", "body", "tbody", "center", "hr", "br"}
OUTSIDE = {"modref", "footnote", "reference", "disclaimer", "arrow", "hd-modifiers"}
# What ends an article, beside the heading of the next one.
ENDS = ("title-division", "title-annex", "title-doc", "separator-annex", "title-gr-seq", "final", "signatory")
FINAL_IDS = {"fnp_1", "fnp"}
MARKS = re.compile("[►▼◄][A-Z]?\\d*")


def is_consolidated(root: Any) -> bool:
    return any(
        "title-article-norm" in classes(each) or "title-annex-1" in classes(each)
        for each in root.iter()
        if local(each) == "p"
    )


def read(content: bytes) -> Act:
    return read_tree(parse_html(content))


def read_tree(root: Any) -> Act:
    reader = Reader()
    reader.walk(root)
    reader.close()
    if not reader.articles:
        raise Unreadable("no_articles", "The page holds no article.")
    found = REFERENCE.search(normalised(reader.reference))
    celex, language, stands = (
        ("3" + found[1], found[2].lower(), date(int(found[5]), int(found[4]), int(found[3])))
        if found
        else ("", "", None)
    )
    return Act(
        format="eurlex_consolidated",
        language=language,
        articles=tuple(reader.articles),
        title=normalised(reader.title)[:1000],
        identifiers={"celex": celex} if celex else {},
        version_date=stands,
    )


class Reader:
    """Walks the page once, in its order."""

    def __init__(self) -> None:
        self.articles: list[Article] = []
        self.reference = self.title = self.container = self.number = self.heading = ""
        self.line = 0
        self.lines: Lines | None = None  # of the article that is open
        self.last = ""  # the number of the article that was open last

    def walk(self, element: Any) -> None:
        names = classes(element)
        if "reference" in names:
            self.reference = self.reference or "".join(element.itertext())
        if names & OUTSIDE or local(element) in {"head", "script", "style"}:
            return
        if any(name.startswith(ENDS) for name in names) or element.get("id") in FINAL_IDS:
            self.close()
            if "title-annex-1" in names:
                self.container = normalised("".join(element.itertext())).casefold()[:100]
            elif "title-doc-first" in names or "title-doc-last" in names:
                self.title += " " + "".join(element.itertext())
            return
        if "title-article-norm" in names:
            self.begin(element)
            return
        if "stitle-article-norm" in names:
            self.heading = normalised(f"{self.heading} {text_of(element)}")
            return
        self.inside(element, names)

    def check_stray(self, element: Any) -> None:
        """Between articles nothing reads like the heading of the next one, unless its own mark was lost."""
        text = normalised("".join(element.itertext()))
        if len(text) < 40 and HEADING.fullmatch(text) and is_next(self.last, article_number(text)):
            raise Unreadable("broken", f"“{text}” is marked as no heading.", f"line {element.sourceline}")

    def inside(self, element: Any, names: set[str]) -> None:
        name = local(element)
        if name == "p" and self.lines is None and self.last:
            self.check_stray(element)
        if "no-parag" in names or "grid-list-column-1" in names:
            if self.lines is not None:
                self.lines.label(text_of(element).strip())
            return
        if name == "a" and is_mark(element):
            return
        if self.lines is not None and name in BLOCKS and "inline-element" not in names:
            self.lines.block()
        if self.lines is not None:
            self.lines.write(clean(element.text))
        for child in element:
            if local(child):
                self.walk(child)
            if self.lines is not None:
                self.lines.write(clean(child.tail))
        if self.lines is not None and name in BLOCKS and "inline-element" not in names:
            self.lines.block()

    def begin(self, element: Any) -> None:
        self.close()
        self.number, self.heading = article_number(text_of(element)), ""
        self.line, self.lines = element.sourceline or 0, Lines()
        self.last = self.number

    def close(self) -> None:
        if self.lines is None:
            return
        paragraphs = structure(self.lines.all())
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


def is_mark(element: Any) -> bool:
    """Of an amendment, or of a note."""
    text = "".join(element.itertext()).strip()
    return text[:1] in "►▼◄" or (
        element.get("href", "").startswith("#") and bool(re.fullmatch(r"[*(]*\s*\d*\s*[*)]*", text))
    )


def clean(text: str | None) -> str:
    return MARKS.sub("", text) if text else ""


def text_of(element: Any) -> str:
    parts = [clean(element.text)]
    for child in element:
        if local(child) and not (local(child) == "a" and is_mark(child)):
            parts.append(text_of(child))
        parts.append(clean(child.tail))
    return "".join(parts)
