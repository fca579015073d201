"""The Electronic Code of Federal Regulations in its XML. Levels of paragraphs stand as markers before the words."""

import re
from datetime import datetime
from typing import Any

from verifier.law.blocks import EU, structure
from verifier.law.normalise import normalised
from verifier.law.parsing import local
from verifier.law.texts import Act, Article, Unreadable

NUMBER = re.compile(r"§+\s*([\dA-Za-z.\-]+)")
MARKERS = re.compile(r"((?:\([A-Za-z0-9]{1,5}\)\s*)+)(.*)", re.DOTALL)
ONE = re.compile(r"\([A-Za-z0-9]{1,5}\)")
AMENDED = re.compile(r"([A-Z][a-z]{2,8}\.? \d{1,2}, \d{4})")


def is_ecfr(root: Any) -> bool:
    return local(root) == "DLPSTEXTCLASS" or root.find(".//DIV8") is not None


def read_tree(root: Any) -> Act:
    found = [each for each in root.iter("DIV8") if each.get("TYPE") == "SECTION"]
    if not found:
        raise Unreadable("no_articles", "The file holds no section.")
    title = normalised(root.findtext(".//TITLESTMT/TITLE") or "")
    number = normalised(root.findtext(".//IDNO") or "")
    told = AMENDED.search(normalised(root.findtext(".//AMDDATE") or ""))
    return Act(
        format="ecfr",
        language="en",
        articles=tuple(article(each) for each in found),
        title=title,
        identifiers={"number": f"{number} CFR"} if number else {},
        version_date=datetime.strptime(told[1].replace(".", "")[:3] + told[1][told[1].index(" ") :], "%b %d, %Y").date()  # noqa: DTZ007
        if told
        else None,
    )


def article(element: Any) -> Article:
    number = NUMBER.match(normalised(element.get("N") or ""))
    heading = normalised("".join(element.find("HEAD").itertext())) if element.find("HEAD") is not None else ""
    lines: list[str] = []
    for each in element.iter("P", "FP"):
        text = normalised("".join(each.itertext()))
        marked = MARKERS.fullmatch(text)
        lines += [*ONE.findall(marked[1])[:-1], f"{ONE.findall(marked[1])[-1]} {marked[2]}"] if marked else [text]
    paragraphs = structure(lines, EU)
    return Article(
        number=number[1].rstrip(".") if number else "",
        paragraphs=paragraphs,
        heading=NUMBER.sub("", heading, count=1).strip(" ."),
        deleted=not paragraphs,
        line=element.sourceline or 0,
    )
