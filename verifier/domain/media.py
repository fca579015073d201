"""Several searches as one answer, and the summary of it that the judge reads.

Nothing here depends on a provider's ranking, which changes from one run to the next: which items are kept, their order
and how much of each is shown follow from what they say and what was asked.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from urllib.parse import urlsplit

from verifier.domain.answers import MediaAnswer, MediaItem, MergedMedia, NotAnswered

WINDOW = 20
CHARACTERS = 4000
CUT = "[…]"
HOST_CHARACTERS = 60
DATE_CHARACTERS = 30
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
WORD = re.compile(r"\w+")
PASSAGE_START = re.compile(r"(?:(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+|(?P<space>\s+))(?=\S)")
PASSAGE_CHARACTERS = 300  # where a text has no sentences, a passage begins at a word after so many
MIRRORS = ("www.", "m.", "amp.", "mobile.")
TRACKING = re.compile(r"^(?:utm_\w+|fbclid|gclid|ref|ref_src|cmpid|ocid)(?:=|$)", re.IGNORECASE)
MARK = re.compile(r"\[#(\d+)")
LEAST_QUOTED = 4  # letters and digits
LABEL = re.compile(r"\[#(\d+) item \d+ of \d+\]")


def merge(
    answers: Sequence[MediaAnswer | NotAnswered], *, window: int = WINDOW, characters: int = CHARACTERS
) -> MergedMedia | NotAnswered:
    """Hits count even when another provider failed; finding nothing counts only when all answered."""
    answered = [answer for answer in answers if isinstance(answer, MediaAnswer)]
    silent = [answer for answer in answers if isinstance(answer, NotAnswered)]
    if silent and not any(answer.items for answer in answered):
        return silent[0]
    if not answered:
        raise ValueError("nobody was asked")
    found = [Found(answer) for answer in answered]
    items, left_out = choose(found, window)
    summary, shown = summarise(items, {word for one in found for word in one.asked}, characters)
    return MergedMedia(
        providers=tuple(answer.provider for answer in answered),
        items=shown,
        queries={answer.provider: answer.query for answer in answered},
        partial=tuple(silent),
        notes=tuple(note for answer in answered for note in answer.notes) + window_notes(shown, left_out),
        summary=summary,
        simulated=any(answer.simulated for answer in answers),
    )


def window_notes(shown: Sequence[MediaItem], left_out: int) -> tuple[str, ...]:
    cut = sum(item.cut for item in shown)
    notes = [f"{left_out} more results were not looked at."] if left_out else []
    return (*notes, f"{cut} of {len(shown)} texts are cut.") if cut else tuple(notes)


class Found:
    """One provider's items, sanitised, those nearest to the question first."""

    def __init__(self, answer: MediaAnswer) -> None:
        self.asked = words_of(answer.query)
        self.items = sorted(map(sanitised, answer.items), key=self.nearness)

    def nearness(self, item: MediaItem) -> tuple[int, tuple[str, ...]]:
        """How many of the question's words an item lacks, then its own text: never its rank."""
        return len(self.asked - words_of(f"{item.title} {item.text}")), stable_key(item)


def words_of(text: str) -> set[str]:
    return set(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def sanitised(item: MediaItem) -> MediaItem:
    return replace(item, title=storable(item.title), text=storable(item.text), published=storable(item.published))


def storable(text: str) -> str:
    return UNSTORABLE.sub("\ufffd", text)


def stable_key(item: MediaItem) -> tuple[str, ...]:
    return (page_of(item.url), item.title, item.text, item.url, item.published, item.provider)


def choose(found: Sequence[Found], window: int) -> tuple[list[MediaItem], int]:
    """Up to `window` distinct items, the providers taking turns, and how many were left out."""
    turns = [item for row in zip_longest(*(one.items for one in found)) for item in row if item is not None]
    copies: dict[tuple[str, ...], list[MediaItem]] = {}
    for item in turns:
        copies.setdefault(same_text(item), []).append(item)
    distinct = [one_of(same) for same in copies.values()]
    asked = {word for one in found for word in one.asked}
    kept = distinct[:window]
    return sorted(kept, key=lambda item: (-len(asked & words_of(f"{item.title} {item.text}")), stable_key(item))), len(
        distinct
    ) - len(kept)


def same_text(item: MediaItem) -> tuple[str, ...]:
    """Copies of one text, whoever found or published them, are one item."""
    return tuple(" ".join(unicodedata.normalize("NFKC", part).casefold().split()) for part in (item.title, item.text))


def one_of(copies: Sequence[MediaItem]) -> MediaItem:
    """One item for all its copies, naming the other places where the same text stands."""
    first, *_ = ordered = sorted(copies, key=stable_key)
    others = {host_of(item.url) for item in ordered} - {host_of(first.url), ""}
    return replace(first, cut=all(item.cut for item in copies), copies=tuple(sorted(others)))


def host_of(url: str) -> str:
    """The publication's host, without the prefixes under which it shows the same page to others."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    for prefix in MIRRORS:
        if host.startswith(prefix) and host.count(".") > 1:
            return host.removeprefix(prefix)
    return host


def page_of(url: str) -> str:
    """An address for comparing: without scheme, mirror, tracking parameters and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    query = "&".join(part for part in parts.query.split("&") if part and not TRACKING.match(part))
    return f"{host_of(url)}{parts.path.rstrip('/')}{'?' + query if query else ''}"


def summarise(items: Sequence[MediaItem], asked: set[str], characters: int) -> tuple[str, tuple[MediaItem, ...]]:
    """The text that the judge reads, at most `characters` long, and the items with `cut` where it shows less of them.

    Every item begins with a label line. Its mark stands in no item, so a text can't pretend to be another item.
    """
    mark = free_mark(items)
    heads = [label_line(item, f"[#{mark} item {number} of {len(items)}]") for number, item in enumerate(items, 1)]
    room = characters - sum(len(head) + 1 for head in heads) - 2 * max(len(items) - 1, 0)
    shares = fair_shares([len(body_of(item)) for item in items], max(room, 0))
    bodies = [shown_of(item, share, asked) for item, share in zip(items, shares, strict=True)]
    summary = "\n\n".join(f"{head}\n{body}" for head, body in zip(heads, bodies, strict=True))
    shown = (replace(item, cut=item.cut or body != body_of(item)) for item, body in zip(items, bodies, strict=True))
    return summary[:characters], tuple(shown)


def free_mark(items: Iterable[MediaItem]) -> int:
    """The least number whose mark no item contains."""
    taken = {int(found) for item in items for found in MARK.findall(f"{item.title}\n{item.text}") if len(found) < 10}
    return next(number for number in range(1, len(taken) + 2) if number not in taken)


def label_line(item: MediaItem, mark: str) -> str:
    """Where a text stands and since when, on one line. Hosts and dates are the provider's word, so they are bounded."""
    host = host_of(item.url) or item.provider
    parts = [host if len(host) <= HOST_CHARACTERS else host[:HOST_CHARACTERS] + "…"]
    parts += [" ".join(item.published.split())[:DATE_CHARACTERS]] if item.published.strip() else []
    parts += [f"the same text on {len(item.copies)} more"] if item.copies else []
    return f"{mark} {', '.join(MARK.sub('[', part) for part in parts)}"


def body_of(item: MediaItem) -> str:
    return "\n".join(part for part in (item.title.strip(), item.text.strip()) if part)


def shown_of(item: MediaItem, share: int, asked: set[str]) -> str:
    """Title and text, or as much of both as the item's share has room for. The title takes at most half of it."""
    body = body_of(item)
    if len(body) <= share:
        return body
    title, text = item.title.strip(), item.text.strip()
    if not text:
        return beginning(title, share)
    if not title:
        return excerpt(text, share, asked)
    title = beginning(title, max(share // 2, share - len(text) - 1))
    return f"{title}\n{excerpt(text, max(share - len(title) - 1, 0), asked)}"[:share]


def beginning(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[: room - len(CUT) - 1]} {CUT}" if room > len(CUT) else text[:room]


def fair_shares(wanted: Sequence[int], room: int) -> list[int]:
    """Equal shares of the room; what a short text doesn't need goes to the longer ones."""
    shares = [0] * len(wanted)
    left = room
    for served, place in enumerate(sorted(range(len(wanted)), key=lambda place: (wanted[place], place))):
        shares[place] = min(wanted[place], left // (len(wanted) - served))
        left -= shares[place]
    return shares


def excerpt(text: str, room: int, asked: set[str]) -> str:
    """As much of a text as there is room for, around the passage that holds most of the words that were asked about."""
    room_between = room - 2 * len(CUT) - 2
    if len(text) <= room or room_between <= 0:
        return text[:room]
    starts = passage_starts(text)
    ends = [*starts[1:], len(text)]
    best = max(range(len(starts)), key=lambda place: (len(asked & words_of(text[starts[place] : ends[place]])), -place))
    lead = max(room_between - (ends[best] - starts[best]), 0) // 3
    start = next(start for start in starts if start >= starts[best] - lead)
    if start == 0:
        return beginning(text, room)
    if len(text) - start <= room_between:
        return f"{CUT} {text[-(room - len(CUT) - 1) :]}"
    return f"{CUT} {text[start : start + room_between]} {CUT}"


def passage_starts(text: str) -> list[int]:
    starts = [0]
    for match in PASSAGE_START.finditer(text):
        if not match["space"] or match.end() - starts[-1] > PASSAGE_CHARACTERS:
            starts.append(match.end())
    return starts


def is_quote_of(quote: str, summary: str) -> bool:
    """Whether the quote stands literally in what the items say. Our own label lines are no evidence, and neither is a
    quote of less than a word.
    """
    if sum(character.isalnum() for character in quote) < LEAST_QUOTED:
        return False
    return quote in summary and quote in evidence_of(summary)


def evidence_of(summary: str) -> str:
    """The summary without its label lines."""
    first = LABEL.match(summary)
    if first is None:
        return summary
    mark = f"[#{first[1]} item "
    return "\n".join(line for line in summary.split("\n") if not line.startswith(mark))
