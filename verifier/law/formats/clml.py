"""Crown Legislation Markup Language of legislation.gov.uk: sections of Acts, regulations, articles of orders."""

from datetime import date
from typing import Any

from verifier.law.blocks import FRENCH, structure
from verifier.law.lines import Lines
from verifier.law.normalise import normalised
from verifier.law.numbers import article_number
from verifier.law.parsing import local
from verifier.law.texts import Act, Article, Unreadable

BLOCKS = {"Text", "P1para", "P2", "P2para", "P3", "P3para", "P4", "P4para", "P5", "P5para", "Para", "ListItem", "P1"}
OUTSIDE = {
    "BlockAmendment",
    "Commentary",
    "CommentaryRef",
    "Citation",
    "FootnoteRef",
    "Title",
    "MarginNote",
    "Versions",
}


def is_clml(root: Any) -> bool:
    return local(root) == "Legislation"


def read_tree(root: Any) -> Act:
    found = [each for each in root.iter() if local(each) == "P1" and counts(each)]
    if not found:
        raise Unreadable("no_articles", "The file holds no provision.")
    told = {local(each): normalised(each.text or "") for each in root.iter() if local(each) in {"title", "valid"}}
    uri = root.get("DocumentURI") or root.get("IdURI") or ""
    path = uri.partition("legislation.gov.uk/")[2]
    return Act(
        format="clml",
        language="en",
        articles=tuple(article(each) for each in found),
        title=told.get("title", "")[:1000],
        identifiers={"eli": f"/{path}"} if path else {},
        version_date=day(told.get("valid", "")),
        excerpt=any(local(each) == "identifier" and "/article/" in (each.text or "") for each in root.iter()),
    )


def day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def counts(element: Any) -> bool:
    """Not quoted from another act, nor one of several texts of one provision beyond the first, nor repealed."""
    around = [local(each) for each in element.iterancestors()]
    return not {"BlockAmendment", "Versions"} & set(around) and element.get("Status") != "Repealed"


def container_of(element: Any) -> str:
    schedule = next((each for each in element.iterancestors() if local(each) == "Schedule"), None)
    if schedule is None:
        return ""
    number = next((normalised("".join(each.itertext())) for each in schedule if local(each) == "Number"), "")
    return (number or schedule.get("id", "schedule")).casefold()[:100]


def article(element: Any) -> Article:
    number = next((normalised("".join(each.itertext())) for each in element if local(each) == "Pnumber"), "")
    group = element.getparent()
    title = next((each for each in group if local(each) == "Title"), None) if group is not None else None
    lines = Lines()
    gather(element, lines)
    paragraphs = structure(lines.all(), FRENCH)
    return Article(
        number=article_number(number),
        paragraphs=paragraphs,
        heading=normalised("".join(title.itertext())) if title is not None else "",
        container=container_of(element),
        deleted=not paragraphs,
        line=element.sourceline or 0,
    )


def gather(element: Any, lines: Lines) -> None:
    lines.write(element.text)
    for child in element:
        name = local(child)
        if name == "Pnumber":
            if local(element) != "P1":
                label = normalised("".join(child.itertext()))
                lines.label(f"({label})" if local(element) == "P2" else f"{label})")
        elif name == "Repeal" and child.get("RetainText") != "true":
            pass
        elif name and name not in OUTSIDE:
            if name in BLOCKS:
                lines.block()
            gather(child, lines)
            if name in BLOCKS:
                lines.block()
        lines.write(child.tail)
