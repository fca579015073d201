"""Akoma Ntoso (LegalDocML), in any of its namespaces.

An article's number is what `num` says, never its id. Other publishers' elements stand beside the text and are none of
it; law that is quoted stands in `mod` and `quotedStructure`.
"""

import re
from datetime import date
from typing import Any

from lxml import etree

from verifier.law.blocks import EU, FRENCH, structure
from verifier.law.lines import Lines
from verifier.law.normalise import normalised
from verifier.law.numbers import article_number
from verifier.law.parsing import local
from verifier.law.texts import Act, Article, Unreadable

AKN = "akn"
SCL = "{http://www.scl.lu}"  # Legilux' own elements and attributes
WORDS = "p alinea subparagraph paragraph list point content intro wrapUp item blockList li ol ul table tr td"
BLOCKS = set(WORDS.split())
OUTSIDE = {"num", "heading", "meta", "authorialNote", "noteRef", "mod", "quotedStructure", "remark"}
LANGUAGES = {"FRA": "fr", "fra": "fr", "eng": "en", "ENG": "en", "DEU": "de", "deu": "de", "NLD": "nl"}
DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def is_akn(root: Any) -> bool:
    return local(root) == "akomaNtoso"


def own(element: Any) -> str:
    """The name of an element of the standard; empty for any other."""
    if not isinstance(element.tag, str) or AKN not in (etree.QName(element).namespace or ""):
        return ""
    return local(element)


def read_tree(root: Any) -> Act:
    language = next((spoken(each) for each in root.iter() if own(each) == "FRBRlanguage"), "")
    articles = [article(each, language) for each in root.iter() if is_article(each)]
    if not articles:
        raise Unreadable("no_articles", "The file holds no article.")
    return Act(
        format="akn",
        language=language,
        articles=tuple(articles),
        title=first_text(root, "docTitle", "shortTitle")[:1000],
        identifiers=identifiers_of(root),
        version_date=stands_at(root),
    )


def first_text(root: Any, *names: str) -> str:
    return next((normalised("".join(each.itertext())) for each in root.iter() if own(each) in names), "")


def identifiers_of(root: Any) -> dict[str, str]:
    work = next((each.get("value", "") for each in root.iter() if own(each) == "FRBRthis"), "")
    path = work.partition("/eli/")[2].removesuffix("/jo")
    return {"eli": f"/eli/{path}"} if path else {}


def stands_at(root: Any) -> date | None:
    """The day from which its newest article applies, where that is said, else the text's own day."""
    told = (each for each in root.iter(f"{SCL}jolux") if each.get(f"{SCL}name") == "dateApplicability")
    applies = [normalised(each.text or "") for each in told]
    own_day = [each.get("date", "") for each in root.iter() if own(each) == "FRBRdate"]
    days = [day for day in applies if DAY.fullmatch(day)] or [day[:10] for day in own_day[:1] if DAY.match(day)]
    return date.fromisoformat(max(days)) if days else None


def spoken(element: Any) -> str:
    code = (element.get("language") or "").rpartition("/")[2]
    return LANGUAGES.get(code, code.lower()[:2])


def is_article(element: Any) -> bool:
    if own(element) != "article" and not (own(element) == "hcontainer" and element.get("name") == "regulation"):
        return False
    return not any(own(each) in {"mod", "quotedStructure"} for each in element.iterancestors())


def article(element: Any, language: str) -> Article:
    number = next((each for each in element if own(each) == "num"), None)
    heading = next((each for each in element if own(each) == "heading"), None)
    lines = Lines()
    gather(element, lines)
    paragraphs = structure(lines.all(), FRENCH if language == "fr" else EU)
    return Article(
        number=article_number("".join(number.itertext())) if number is not None else "",
        paragraphs=paragraphs,
        heading=normalised("".join(heading.itertext())) if heading is not None else "",
        deleted=not paragraphs,
        line=element.sourceline or 0,
    )


def gather(element: Any, lines: Lines) -> None:
    lines.write(element.text)
    place = int(element.get(f"{SCL}start") or 1) if own(element) == "ol" else 0
    for child in element:
        name = own(child)
        if name == "num" and own(element) != "article":
            lines.label(normalised("".join(child.itertext())))
        elif name and name not in OUTSIDE:
            if name in BLOCKS:
                lines.block()
            if name == "li" and place:
                lines.label(label(place, element.get(f"{SCL}symbol") or "a)"))
                place += 1
            gather(child, lines)
            if name in BLOCKS:
                lines.block()
        lines.write(child.tail)


def label(place: int, symbol: str) -> str:
    """Of a list that is numbered by its position: the letter or the number, with the marks of the symbol."""
    if symbol[:1].isdigit():
        return f"{place}{symbol[1:] or '.'}"
    letters = ""
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters + (symbol[1:] or ")")
