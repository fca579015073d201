"""One word for one thing on the pages of a decision, and no word that means two."""

from pathlib import Path

import pytest
from django.conf import settings

from reviews import words
from reviews.views import deciding

PAGES = ("check", "second", "recorded", "held", "queue", "case", "case/decide", "case/decisions", "case/stale")
# `claim` is what a report claims; a case is taken, held and given back. Nobody sets a finding aside: it does not stand.
SAID_OTHERWISE = ("Claim<", "the claim lapses", "set aside", "aside", "second person", "another person", "Agreement")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_one_thing_by_one_word(page: str) -> None:
    text = (Path(settings.BASE_DIR) / "templates" / f"{page}.html").read_text()
    assert [word for word in SAID_OTHERWISE if word in text] == []


def test_so_do_the_words_of_codes_and_consequences() -> None:
    told = [*words.KINDS.values(), *words.STATUSES.values(), *words.SWITCHES.values(), *words.SWITCH_EFFECTS.values()]
    told += [deciding.SECOND, *deciding.CONSEQUENCES.values(), *deciding.ACTS.values()]
    assert [sentence for sentence in told if any(word in sentence for word in SAID_OTHERWISE)] == []
