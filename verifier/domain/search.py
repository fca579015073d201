"""Text as it is searched in and for: what differs only by capitals, accents, width or invisible marks is the same."""

import unicodedata
from collections.abc import Iterable

# Letters that Unicode takes apart into nothing simpler.
LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ŋ": "n"}
    | dict.fromkeys("‘’ʼ`´", "'")
    | dict.fromkeys("‐‑‒–—", "-")
    | {"\u0640": ""}  # the stroke that lengthens an Arabic word
)
UNSEEN = {"Mn", "Me", "Cf", "Cc"}  # marks on letters, formatting and controls


def folded(text: str) -> str:
    """Every script is folded by the same rule; letters and their order stay."""
    apart = unicodedata.normalize("NFKD", " ".join(text.split())).casefold()
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", apart) if unicodedata.category(sign) not in UNSEEN)
    return " ".join(bare.translate(LETTERS).split())


def search_text(texts: Iterable[str], *, before: str = "") -> str:
    """One line a text, each once; what an earlier report was found by stays."""
    lines = dict.fromkeys([*before.split("\n"), *map(folded, texts)])
    return "\n".join(line for line in lines if line)
