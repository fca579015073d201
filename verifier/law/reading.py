"""A file of law, read: its format and language found in its content, and refused where it is not a text of law."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from verifier.law.formats import akn, bwb, clml, consolidated, ecfr, eurlex, formex, markdown, plain
from verifier.law.language import language_of
from verifier.law.numbers import HEADING, article_number, is_next
from verifier.law.parsing import check_size, local, parse_html, parse_xml, unzipped
from verifier.law.texts import Act, Article, Unreadable

ZIP = b"PK\x03\x04"
Reader = tuple[Callable[[Any], bool], Callable[[Any], Act]]
XML: list[Reader] = [
    (formex.is_formex, formex.read_tree),
    (bwb.is_bwb, bwb.read_tree),
    (akn.is_akn, akn.read_tree),
    (clml.is_clml, clml.read_tree),
    (ecfr.is_ecfr, ecfr.read_tree),
]
HTML: list[Reader] = [
    (consolidated.is_consolidated, consolidated.read_tree),
    (eurlex.is_adopted, eurlex.read_tree),
    (plain.is_plain, plain.read_tree),
]
CHALLENGES = (b"awswaf", b"challenge-container", b"enable JavaScript", b"cf-challenge", b"captcha")


def read_law(content: bytes) -> Act:
    """Raises Unreadable, with its place, for whatever is not one whole text of law."""
    check_size(content)
    if content.startswith(ZIP):
        content = unzipped(content)
    if not content.strip():
        raise Unreadable("no_articles", "The file is empty.")
    if not content.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<") or b"\n#" in content[:20_000]:
        text = content.decode("utf-8", "replace")
        if markdown.is_markdown(text):
            return checked(markdown.read(content), "")
    root, readers = tree_of(content)
    for fits, read in readers:
        if fits(root):
            return checked(read(root), root.get("lang") or "")
    raise unknown(content)


def tree_of(content: bytes) -> tuple[Any, list[Reader]]:
    start = content.lstrip(b"\xef\xbb\xbf \r\n\t")[:3000].lower()
    if b"<html" in start or b"<!doctype html" in start:
        return parse_html(content), HTML
    if start.startswith(b"<"):
        root = parse_xml(content)
        return (root, HTML) if local(root) == "html" else (root, XML)
    raise unknown(content)


def unknown(content: bytes) -> Unreadable:
    if len(content) < 20_000 and any(sign in content for sign in CHALLENGES):
        return Unreadable("challenge_page", "It is a page that asks for a browser, not the text.")
    if b"<html" in content[:3000].lower():
        return Unreadable("no_articles", "The page holds no article of a text of law.")
    return Unreadable("unknown_format", "It is none of the official formats that are read here.")


def checked(act: Act, declared: str) -> Act:
    """`declared`: the language that the page says it is in."""
    if declared and act.language and declared.lower()[:2] != act.language:
        told = f"The page says it is in {declared.lower()[:2]}, and the text is in {act.language}."
        raise Unreadable("wrong_language", told)
    found = language_of("\n".join(article.text for article in act.articles[:40]))
    if found and act.language and found != act.language:
        raise Unreadable("wrong_language", f"The text is said to be in {act.language}, and is in {found}.")
    act = replace(act, language=act.language or found)
    twice = [key for key, times in Counter(article.key for article in act.articles).items() if times > 1]
    if twice:
        container, number = twice[0]
        where = f" of {container}" if container else ""
        lines = [str(article.line) for article in act.articles if article.key == twice[0]]
        raise Unreadable(
            "duplicate_article", f"Article {number}{where} stands there twice.", f"lines {', '.join(lines)}"
        )
    unnumbered = next((article for article in act.articles if not article.number), None)
    if unnumbered is not None:
        raise Unreadable("no_number", "An article has no number that can be read.", f"line {unnumbered.line}")
    swallowed = next(swallowed_headings(act), None)
    if swallowed is not None:
        article, line = swallowed
        raise Unreadable(
            "broken", f"Behind article {article.number} stands “{line}”, which is no heading.", place_of(article)
        )
    if all(article.deleted for article in act.articles):
        raise Unreadable("no_articles", "No article has a text.")
    return act


def swallowed_headings(act: Act) -> Iterator[tuple[Article, str]]:
    """Where an article's text holds a line that reads like the heading of the next one, which is not there itself."""
    known = {article.key for article in act.articles}
    for article in act.articles:
        for line in article.text.split("\n"):
            number = article_number(line) if HEADING.fullmatch(line) else ""
            if number and is_next(article.number, number) and (article.container, number) not in known:
                yield article, line


def place_of(article: Article) -> str:
    return f"line {article.line}" if article.line else ""


__all__ = ["Article", "read_law"]
