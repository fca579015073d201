"""How values look on a page: icons, verdicts, severities, times, quotes marked in place."""

from datetime import UTC, datetime

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from reviews import words
from reviews.rules import REASON_CODES
from reviews.text import readable

register = template.Library()
STYLESHEETS = [
    "tokens",
    "base",
    "layout",
    "forms",
    "notices",
    "verdicts",
    "tables",
    "queue",
    "case",
    "law",
    "reports",
    "decide",
    "upload",
    "administration",
    "sign_in",
    "trail",
    "print",
]  # print last: it has the last word
SEVERITIES = {"critical", "high", "medium", "low"}
VERDICT_ICONS = {
    "contradicted": "cross",
    "unsupported": "question",
    "indeterminate": "dots",
    "confirmed": "check",
    "pending": "clock",
    "none": "dash",
}


@register.simple_tag
def icon(name: str) -> SafeString:
    """A decoration: what it means always stands beside it in words."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static("icons.svg"), name)


@register.simple_tag
def verdict(code: str | None, simulated: bool = False) -> SafeString:
    """The verdict in a word, with its icon and its shape; and in words where its answer was simulated."""
    code = str(code or "none")
    shape = code if code in VERDICT_ICONS else "indeterminate"
    word = format_html(
        '<span class="verdict {}">{}{}</span>', shape, icon(VERDICT_ICONS[shape]), words.VERDICTS.get(code, code)
    )
    return format_html('{} <span class="tag">simulated answer</span>', word) if simulated else word


@register.simple_tag
def severity(spelled: str, rank: int, beside_its_name: bool = False) -> SafeString:
    """The severity as the report spells it; only its typography is ours. A word that could be read as a verdict of
    ours, such as "verified", is quoted and called what it is.
    """
    said = shown(spelled)
    if spelled.strip().casefold() not in SEVERITIES:
        name = "" if beside_its_name else "reported severity: "
        return format_html('<span class="severity worded rank-{}">{}“{}”</span>', rank, name, said)
    return format_html('<span class="severity rank-{}">{}</span>', rank, said)


@register.filter
def shown(text: object) -> str:
    """Text as it can be put on a page: NUL and controls of direction are shown as U+FFFD."""
    return readable(str("" if text is None else text))


@register.filter
def said(code: object, group: str) -> str:
    """A code in plain words, by the tables of `reviews.words`."""
    return words.say(group, str(code or ""))


@register.filter
def reason_words(code: object, outcome: object) -> str:
    """A decision's reason code in plain words."""
    code = str(code or "")
    return REASON_CODES.get(str(outcome), {}).get(code) or code.replace("_", " ")


@register.filter
def when(at: datetime | str | None) -> SafeString | str:
    """A moment with its date, to the second, in UTC, and named so."""
    if not at:
        return ""
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    moment = moment.astimezone(UTC)
    return format_html(
        '<time datetime="{}">{} {}</time>',
        moment.isoformat(timespec="seconds"),
        moment.strftime("%-d %b %Y, %H:%M:%S"),
        "UTC",
    )


@register.filter
def clock(at: datetime | None) -> SafeString | str:
    if at is None:
        return ""
    moment = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" class="nowrap">{} UTC</time>',
        moment.isoformat(timespec="seconds"),
        moment.strftime("%H:%M"),
    )


@register.filter
def lasted(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


@register.filter
def prefix(digest: str | bytes | memoryview | None) -> str:
    """The first characters of a hash, enough to tell it apart."""
    if digest is None:
        return ""
    text = digest if isinstance(digest, str) else bytes(digest).hex()
    return text[:12]


@register.filter
def marking(text: str, quote: str) -> SafeString:
    """The text with the quote marked where it literally stands in it."""
    text, quote = shown(text), shown(quote)
    if not quote or quote not in text:
        return format_html("{}", text)
    parts = text.split(quote)
    marked = format_html("<mark>{}</mark>", quote)
    return format_html_join(
        "", "{}{}", ((part, marked if place < len(parts) - 1 else "") for place, part in enumerate(parts))
    )


@register.simple_tag
def stylesheets() -> SafeString:
    """One file a block, in this order; no build step."""
    return format_html_join(
        "\n", '<link rel="stylesheet" href="{}">', ((static(f"css/{name}.css"),) for name in STYLESHEETS)
    )
