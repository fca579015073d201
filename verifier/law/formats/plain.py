"""Pages of EUR-Lex from before its classes: nothing but paragraphs, with headings as short lines of their own."""

import re
from datetime import date
from typing import Any

from verifier.law.blocks import structure
from verifier.law.normalise import normalised
from verifier.law.numbers import HEADING, article_number
from verifier.law.texts import Act, Article, Unreadable

REFERENCE = re.compile(r"(\d{4}[A-Z]\d{4})\s*—\s*([A-Z]{2})\s*—\s*(\d{2})\.(\d{2})\.(\d{4})")
CELEX = re.compile(r"CELEX[:%]?(?:3A)?(\d{5}[A-Z]{1,2}\d{3,4})")
MARK = re.compile("[►▼◄][A-Z]?\\d*")
LANGUAGE = re.compile(r":([A-Z]{2}):HTML")


def is_plain(root: Any) -> bool:
    """Of the portal's pages none has such a line."""
    return any(HEADING.fullmatch(line) for _, line in lines_of(root))


def lines_of(root: Any) -> list[tuple[int, str]]:
    told = (
        (each.sourceline or 0, normalised(MARK.sub("", "".join(each.itertext())))) for each in root.iter("p", "{*}p")
    )
    return [(line, text) for line, text in told if text]


def read_tree(root: Any) -> Act:
    articles: list[Article] = []
    heading: tuple[int, str] | None = None
    texts: list[str] = []
    for line, text in [*lines_of(root), (0, "")]:
        if text and not HEADING.fullmatch(text):
            texts.append(text)
            continue
        if heading is not None:
            paragraphs = structure(texts)
            number = article_number(heading[1])
            articles.append(Article(number, paragraphs, deleted=not paragraphs, line=heading[0]))
        heading, texts = (line, text), []
    if not articles:
        raise Unreadable("no_articles", "The page holds no article.")
    whole = normalised("".join(root.itertext()))[:4000]
    found = REFERENCE.search(whole)
    head = "".join(str(value) for each in root.iter("meta", "{*}meta") for value in each.values())
    celex = found[1] if found else (named[1] if (named := CELEX.search(head)) else "")
    return Act(
        format="eurlex_plain",
        language=found[2].lower() if found else (spoken[1].lower() if (spoken := LANGUAGE.search(head)) else ""),
        articles=tuple(articles),
        title=normalised(root.findtext(".//title") or "")[:1000],
        identifiers={"celex": celex} if celex else {},
        version_date=date(int(found[5]), int(found[4]), int(found[3])) if found else None,
    )
