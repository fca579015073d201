"""One spelling of a text, whatever a publisher's converter made of its blanks, and the hash over it."""

import hashlib
import re
import unicodedata

UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))  # soft hyphen, zero widths, byte order mark
BLANKS = re.compile(r"\s+")  # no-break, thin and narrow spaces and line breaks among them


def normalised(text: str) -> str:
    """Composed letters, every run of blanks one space, nothing unseen."""
    return BLANKS.sub(" ", unicodedata.normalize("NFC", text).translate(UNSEEN)).strip()


def sha256_of(text: str) -> str:
    """Over letters and digits alone: publishers' formats of one state differ in marks and in blanks at joints."""
    folded = "".join(sign for sign in normalised(text) if sign.isalnum())
    return hashlib.sha256(folded.encode()).hexdigest()
