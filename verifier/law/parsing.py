"""Files of strangers into trees: bounded, without entities, and with nothing fetched."""

import re
from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile

from lxml import etree, html

from verifier.law.texts import Unreadable

MOST_BYTES = 32 * 1024 * 1024
MOST_MEMBERS = 200
ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)


def check_size(content: bytes) -> bytes:
    if len(content) > MOST_BYTES:
        raise Unreadable("too_large", f"The file is larger than {MOST_BYTES // 1024 // 1024} MiB.")
    return content


def unzipped(content: bytes) -> bytes:
    """The largest XML file of an archive, which holds the text; the others tell of it."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            members = [each for each in archive.infolist() if each.filename.lower().endswith((".xml", ".html"))]
            if len(archive.infolist()) > MOST_MEMBERS or sum(each.file_size for each in members) > MOST_BYTES:
                raise Unreadable("unsafe", "The archive holds more than a text of law does.")
            if not members:
                raise Unreadable("no_articles", "The archive holds no XML file.")
            return archive.read(max(members, key=lambda each: each.file_size))
    except (BadZipFile, NotImplementedError, RuntimeError) as problem:
        raise Unreadable("broken", f"The archive can't be read: {problem}.") from None


def parse_xml(content: bytes) -> Any:
    """Strictly: a file that breaks off is none."""
    if ENTITY.search(content):
        raise Unreadable("unsafe", "The file declares entities, which no text of law needs.")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(check_size(content), parser)
    except etree.XMLSyntaxError as problem:
        raise Unreadable("broken", f"It is not whole: {problem.msg}.", f"line {problem.lineno}") from None


def parse_html(content: bytes) -> Any:
    """A page that says it is XHTML is read as XML, so that a broken one is noticed; others as the HTML they are."""
    if b"http://www.w3.org/1999/xhtml" in content[:2000]:
        return parse_xml(content)
    if ENTITY.search(content):
        raise Unreadable("unsafe", "The file declares entities, which no text of law needs.")
    if b"</html>" not in content[-400:].lower():
        raise Unreadable("broken", "It breaks off before its end.", f"byte {len(content)}")
    parser = html.HTMLParser(no_network=True, huge_tree=False, encoding="utf-8")
    try:
        return html.document_fromstring(check_size(content), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as problem:
        raise Unreadable("broken", f"It can't be read: {problem}.") from None


def local(element: Any) -> str:
    """The element's name without its namespace; empty for comments and processing instructions."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def classes(element: Any) -> set[str]:
    return set((element.get("class") or "").split())
