"""The Dutch basic collection of law (Basiswettenbestand) in its XML."""

import re
from datetime import date
from typing import Any

from verifier.law.blocks import DUTCH, structure
from verifier.law.lines import Lines
from verifier.law.normalise import normalised
from verifier.law.numbers import article_number
from verifier.law.parsing import local
from verifier.law.texts import Act, Article, Unreadable

BLOCKS = {"al", "lid", "lijst", "li", "table", "row", "entry", "tussenkop", "wat"}
LABELS = {"lidnr", "li.nr"}
OUTSIDE = {"kop", "noot", "meta-data", "jcis", "jci", "redactie", "brondata"}
QUOTED = {"wijzig-artikel", "wijziging", "nieuwe-tekst"}
DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def is_bwb(root: Any) -> bool:
    return root.find(".//wettekst") is not None or root.get("bwb-id") is not None


def read_tree(root: Any) -> Act:
    bodies = [body for name in ("wettekst", "regeling-tekst") for body in root.iter(name)]
    found = [each for body in bodies for each in body.iter("artikel") if not is_quoted(each)]
    if not found:
        raise Unreadable("no_articles", "The file holds no artikel.")
    named = next((each.get("bwb-id") for each in root.iter() if local(each) and each.get("bwb-id")), "")
    title = root.find(".//intitule")
    return Act(
        format="bwb",
        language="nl",
        articles=tuple(article(each) for each in found),
        title=normalised("".join(title.itertext()))[:1000] if title is not None else "",
        identifiers={"bwb": named} if named else {},
        version_date=stands_at(root),
    )


def is_quoted(element: Any) -> bool:
    return any(local(each) in QUOTED for each in element.iterancestors())


def stands_at(root: Any) -> date | None:
    told = (each.get("inwerkingtreding") or "" for each in root.iter() if local(each))
    return next((date.fromisoformat(day) for day in told if DAY.fullmatch(day)), None)


def article(element: Any) -> Article:
    number = element.findtext("kop/nr") or element.findtext("kop/label") or ""
    title = element.find("kop/titel")
    lines = Lines()
    gather(element, lines)
    paragraphs = structure(lines.all(), DUTCH)
    return Article(
        number=article_number(number),
        paragraphs=paragraphs,
        heading=normalised("".join(title.itertext())) if title is not None else "",
        deleted=not paragraphs or element.get("status") == "vervallen",
        line=element.sourceline or 0,
    )


def gather(element: Any, lines: Lines) -> None:
    lines.write(element.text)
    for child in element:
        name = local(child)
        if name in LABELS:
            label = normalised("".join(child.itertext()))
            lines.label(label if label.endswith(".") else f"{label}.")
        elif name and name not in OUTSIDE:
            if name in BLOCKS:
                lines.block()
            gather(child, lines)
            if name in BLOCKS:
                lines.block()
        lines.write(child.tail)
