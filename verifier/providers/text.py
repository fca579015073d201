"""Text from outside, made storable and comparable."""

import re
import unicodedata
from collections.abc import Iterable

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # PostgreSQL takes neither NUL nor half a surrogate pair
UNSPACED = ("CJK ", "HIRAGANA", "KATAKANA", "HANGUL", "THAI ", "LAO ", "KHMER ", "MYANMAR ")
QUOTES = set("\"'`´")


def clean(text: str) -> str:
    return UNSTORABLE.sub("\ufffd", text)


def bounded(text: str, most: int) -> str:
    return clean(text[:most])


def web_address(text: str) -> str:
    """The address if a page may link to it, else nothing: no data: images, no javascript:."""
    return bounded(text.strip(), 2000) if text.strip().lower().startswith(("http://", "https://")) else ""


def folded(text: str) -> str:
    """For comparing a name with its echo: a provider may fold width, case, spaces and quotation marks."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = (character for character in text if character.isspace() or not is_invisible_or_quote(character))
    return " ".join("".join(kept).split())


def is_invisible_or_quote(character: str) -> bool:
    return character in QUOTES or unicodedata.category(character) in {"Cf", "Cc", "Pi", "Pf"}


def is_single_token(name: str) -> bool:
    """One word only. Where a script writes words without spaces, each character counts as one."""
    words = re.findall(r"\w+", folded(name))
    return len(words) == 1 and sum(unicodedata.name(sign, "").startswith(UNSPACED) for sign in words[0]) < 2


def strings(values: Iterable[object], *, most: int, length: int) -> list[str]:
    return [bounded(value, length) for value in values if isinstance(value, str)][:most]
