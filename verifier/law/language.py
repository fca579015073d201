"""The language of a text, by the little words it is full of."""

import re
from collections import Counter

from verifier.law.normalise import normalised

LITTLE_WORDS = {
    "en": "the of and to in shall for or by that with be",
    "fr": "le la les des et du à en par une dans aux",
    "de": "der die und das den des zu für ist nicht eine",
    "nl": "de het een van en of in te voor bij wordt zijn",
    "cs": "a v na se je podle nebo která osoba který z odst",
    "it": "il di e del della che per dei un alla",
    "es": "el los y del las que una por se al",
    "bg": "на и за от да се в по",
}
SETS = {language: frozenset(words.split()) for language, words in LITTLE_WORDS.items()}
ENOUGH, AHEAD = 12, 1.5  # words seen, and how far the first must be before the second
SAMPLE = 30_000  # letters


def language_of(text: str) -> str:
    """ISO 639-1; empty where a text is too short or its words could be of two languages."""
    words = Counter(re.findall(r"[^\W\d_]+", normalised(text[:SAMPLE]).casefold()))
    scores = sorted(((sum(words[word] for word in known), name) for name, known in SETS.items()), reverse=True)
    (best, name), (second, _) = scores[:2]
    return name if best >= ENOUGH and best >= second * AHEAD else ""
