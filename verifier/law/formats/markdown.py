"""Plain structured Markdown, as public conversions of national law give it: a heading an article, a line a block.

Conversions lose content: an official file is to be preferred. What says of itself that it is an excerpt is one.
"""

import re
from datetime import date

from verifier.law.blocks import CZECH, DUTCH, EU, FRENCH, Style, structure
from verifier.law.language import language_of
from verifier.law.normalise import normalised
from verifier.law.numbers import HEADING, article_number
from verifier.law.texts import Act, Article, Unreadable

STYLES: dict[str, Style] = {"cs": CZECH, "nl": DUTCH, "fr": FRENCH}
MATTER = re.compile(r"\A\ufeff?---\n(.*?)\n---\n", re.DOTALL)
FIELD = re.compile(r'^(\w+): "?(.*?)"?$', re.MULTILINE)
COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
NOTE = re.compile(r"\^\d+[a-z]*\)")  # a mark of a footnote; a line that begins with one is the note itself
EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}|[*_]{1,3}(?!\w)")
BULLET = re.compile(r"^[-*]\s+")
DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
BWB = re.compile(r"BWBR\d{7}")
NO_TEXT = re.compile(r"\(?(?:zrušen[ao]?|vervallen|weggefallen|abrogé|repealed|deleted)\)?\.?", re.IGNORECASE)


def is_markdown(text: str) -> bool:
    return any(line.startswith("#") for line in text.split("\n")) and "<html" not in text[:3000].lower()


def read(content: bytes) -> Act:
    try:
        return read_text(content.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise Unreadable("broken", "It is not UTF-8.", f"byte {problem.start}") from None


def read_text(text: str) -> Act:
    matter = MATTER.match(text)
    said = dict(FIELD.findall(matter[1])) if matter else {}
    comment = " ".join(COMMENT.findall(text))
    body = COMMENT.sub("", text[matter.end() :] if matter else text)
    language = language_of(body)
    articles = read_articles(body.split("\n"), STYLES.get(language, EU))
    if not articles:
        raise Unreadable("no_articles", "No heading names an article.")
    stands = DATE.search(said.get("last_updated") or said.get("eli") or comment)
    return Act(
        format="markdown",
        language=language,
        articles=tuple(articles),
        title=normalised(said.get("title") or first_heading(body))[:1000],
        identifiers=identifiers_of(said, comment),
        version_date=date(int(stands[1]), int(stands[2]), int(stands[3])) if stands else None,
        excerpt="EXCERPT" in comment.upper(),
    )


def identifiers_of(said: dict[str, str], comment: str) -> dict[str, str]:
    eli = re.sub(r"/\d{4}-\d{2}-\d{2}$", "", said.get("eli", ""))  # of the act, not of one state of it
    found = {"number": said.get("official_code") or said.get("identifier", ""), "eli": eli}
    if bwb := BWB.search(comment):
        found["bwb"] = bwb[0]
    return {name: value for name, value in found.items() if value}


def first_heading(body: str) -> str:
    return next((line.lstrip("# ") for line in body.split("\n") if line.startswith("#")), "")


def read_articles(lines: list[str], style: Style) -> list[Article]:
    headings = [normalised(line.lstrip("#")) for line in lines if line.startswith("#")]
    by_article = any(HEADING.match(each) and each[:1] != "§" for each in headings)  # then § are divisions
    reader = Reader(style, by_article)
    for place, line in enumerate(lines, 1):
        reader.read(place, line)
    reader.close()
    return reader.articles


class Reader:
    def __init__(self, style: Style, by_article: bool) -> None:
        self.style, self.by_article = style, by_article
        self.articles: list[Article] = []
        self.number = self.heading = ""
        self.line = 0
        self.texts: list[str] | None = None

    def read(self, place: int, line: str) -> None:
        if line.startswith("#"):
            self.read_heading(place, normalised(line.lstrip("#")))
        elif self.texts is not None and not line.startswith("^"):
            text = EMPHASIS.sub("", NOTE.sub("", LINK.sub(r"\1", BULLET.sub("", line.strip()))))
            if text.strip():
                self.texts.append(text)

    def read_heading(self, place: int, heading: str) -> None:
        found = HEADING.match(heading)
        if found and (heading[:1] != "§" or not self.by_article):
            self.close()
            self.number, self.line, self.texts = article_number(heading), place, []
            self.heading = heading[found.end() :].strip(" .")
        elif self.texts == [] and not self.heading:
            self.heading = heading
        else:
            self.close()

    def close(self) -> None:
        if self.texts is None:
            return
        gone = not self.texts or (len(self.texts) == 1 and NO_TEXT.fullmatch(normalised(self.texts[0])) is not None)
        paragraphs = () if gone else structure(self.texts, self.style)
        self.articles.append(
            Article(
                number=self.number,
                paragraphs=paragraphs,
                heading="" if NO_TEXT.fullmatch(self.heading) else self.heading,
                deleted=not paragraphs,
                line=self.line,
            )
        )
        self.texts, self.heading = None, ""
